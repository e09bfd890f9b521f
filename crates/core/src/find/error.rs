//! Why operations have no place.

use super::diagnosis::{Candidate, Diagnosis};
use crate::hint::{HintPhrases, and_then, either};
use crate::outcome::Unplaced;
use crate::path::FilePath;
use slipstitch_text::Unencodable;

/// Every operation of a plan that could not be placed; at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} of the request's edits cannot be made", .failures.len())]
pub struct ResolveError {
    /// The failures, in the order of the request.
    pub failures: Vec<Failure>,
    /// How many operations the plan has.
    pub edits: usize,
}

/// One operation that could not be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The file.
    pub path: FilePath,
    /// The operation's number in the request, from 1; `None` if it is about the file as a whole.
    pub edit: Option<usize>,
    /// Why.
    pub reason: Reason,
}

/// Why an operation could not be placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// There is no such file.
    #[error("there is no such file")]
    FileMissing,
    /// There is a file already.
    #[error("`{path}` exists already")]
    FileExists {
        /// Where.
        path: FilePath,
    },
    /// The file is not text.
    #[error("the file is binary: it holds NUL bytes")]
    Binary,
    /// The old text is empty, or white space alone.
    #[error("the old text is {}", if *.empty { "empty" } else { "only white space" })]
    BlankOld {
        /// Whether it has no characters at all.
        empty: bool,
    },
    /// The old text is not in the file.
    #[error("{}", .0.message())]
    NotFound(Diagnosis),
    /// The old text is not in the file, and the new text stands there: the edit was made before.
    #[error("{}", .0.message())]
    AlreadyApplied(Diagnosis),
    /// The old text is in the file more than once.
    #[error("the old text matches in {count} places{}: {}", if *.overlapping { ", some of which overlap" } else { "" }, list_lines(.lines, *.count))]
    Ambiguous {
        /// The line each match starts in; not more than the first thousand.
        lines: Vec<usize>,
        /// How many matches there are.
        count: usize,
        /// How many of them stand clear of each other.
        apart: usize,
        /// Whether some of them overlap, so that not even all of them could be replaced.
        overlapping: bool,
        /// The first few of them.
        candidates: Vec<Candidate>,
    },
    /// The lines of a hunk are not in the file.
    #[error("{}", hunk_missing(*.line, .expected, .found.as_deref()))]
    HunkMissing {
        /// Where it stops fitting, at the place that comes closest.
        line: Option<usize>,
        /// The hunk's line.
        expected: String,
        /// What stands there; `None` after the end of the file.
        found: Option<String>,
        /// The place that comes closest.
        closest: Option<Candidate>,
    },
    /// The lines of a hunk stand in the file, but should be its last ones.
    #[error("the hunk's lines stand at line {line}, but {}", if *.newline { "the file ends in a newline, and the hunk says that it has none" } else { "not at the end of the file as it says" })]
    NotAtEnd {
        /// Where they stand.
        line: usize,
        /// Whether only the newline at the end of the file stands against it.
        newline: bool,
    },
    /// The lines of a hunk stand in the file, but not below the line that they should stand under.
    #[error("the hunk's lines stand at line {line}, but not under `{scope}` as it says")]
    OutsideScope {
        /// Where they stand.
        line: usize,
        /// The line that they should stand under.
        scope: String,
    },
    /// A line that should stand before the place is not in the file.
    #[error("the line `{scope}`, which the hunk should stand under, is not in the file")]
    ScopeMissing {
        /// The line.
        scope: String,
    },
    /// A hunk has no old lines and names no place either.
    #[error("the hunk only adds lines and does not say where")]
    NoPlace,
    /// Lines that come could be indented in several ways.
    #[error("the hunk is indented in another way than the file, and not by one rule, near line {line}")]
    UnclearIndent {
        /// Near where.
        line: usize,
    },
    /// The search was given up.
    #[error("the hunk's lines occur too often in the file to be told apart")]
    TooCostly,
    /// A patch that deletes the file does not name all of its lines.
    #[error("the patch deletes the file, but the file has lines that the patch does not name")]
    NotAllDeleted,
    /// The operation has a place in the file, but none once the ones before it are made.
    #[error("once the edits before it are made, {0}")]
    Displaced(Box<Reason>),
    /// All occurrences are to be replaced, and edits before it made more or fewer of them.
    #[error("the old text occurs {after} times, and {before} times in the file as it was")]
    Recount {
        /// In the file as it was.
        before: usize,
        /// When its turn comes.
        after: usize,
    },
    /// The lines named are not in the file.
    #[error("{}", out_of_range(*.first, *.last, *.count))]
    OutOfRange {
        /// The first line named.
        first: usize,
        /// The last line named.
        last: usize,
        /// How many lines the file has.
        count: usize,
    },
    /// The lines named do not say what the caller believes.
    #[error("{} not what was expected", if *.first == *.last { format!("line {first} is") } else { format!("lines {first}-{last} are") })]
    Unexpected {
        /// The first line named.
        first: usize,
        /// The last line named.
        last: usize,
        /// What stands there.
        found: String,
    },
    /// Two edits claim the same text.
    #[error("edits {first} and {second} overlap at line {line}")]
    Overlap {
        /// The one.
        first: usize,
        /// The other.
        second: usize,
        /// Where they meet.
        line: usize,
    },
    /// The new text has a character that the file's encoding cannot hold.
    #[error(transparent)]
    Unencodable(#[from] Unencodable),
    /// An end of the match lies inside what the file's encoding writes as one character.
    #[error(
        "the edit starts or ends inside an encoded character, or beside bytes that would change its meaning"
    )]
    SplitsCharacter,
    /// What is left would make one end of line out of two.
    #[error(
        "the edit would join the `\\r` that ends one line and the `\\n` that ends the next into one end of line"
    )]
    JoinsNewlines,
    /// Nothing was ever put into the clipboard.
    #[error("there is no clipboard `{name}`")]
    NoClipboard {
        /// Its name.
        name: String,
        /// The clipboards there are.
        there: Vec<String>,
    },
    /// A line lacks the prefix that should be taken off it.
    #[error(
        "line {line} of the inserted text does not start with the prefix to strip, {prefix:?}: {found:?}"
    )]
    CannotStrip {
        /// The line, from 1.
        line: usize,
        /// The prefix.
        prefix: String,
        /// What stands there.
        found: String,
    },
    /// Another path of the request leads to the same file.
    #[error("`{other}` is the same file")]
    SameFile {
        /// The other path.
        other: FilePath,
    },
    /// The request changes one path twice.
    #[error("the path is changed twice in one request")]
    PathTwice,
    /// A whole-file operation beside others on the same file.
    #[error("creating, overwriting or deleting a file cannot be combined with other edits of it")]
    NotAlone,
}

impl Reason {
    /// A hunk whose lines are not in the file, before anyone looked why.
    pub(super) const HUNK_MISSING: Self =
        Self::HunkMissing { line: None, expected: String::new(), found: None, closest: None };

    /// The reason without its details.
    pub fn unplaced(&self) -> Unplaced {
        match self {
            Self::FileMissing => Unplaced::FileNotFound,
            Self::FileExists { .. } => Unplaced::FileExists,
            Self::Binary => Unplaced::BinaryFile,
            Self::BlankOld { .. } => Unplaced::BlankOldText,
            Self::NotFound(_) => Unplaced::NoMatch,
            Self::AlreadyApplied(_) => Unplaced::AlreadyApplied,
            Self::Ambiguous { .. } => Unplaced::Ambiguous,
            Self::HunkMissing { .. } => Unplaced::HunkMismatch,
            Self::NotAtEnd { .. } => Unplaced::NotAtEnd,
            Self::OutsideScope { .. } => Unplaced::OutsideScope,
            Self::ScopeMissing { .. } => Unplaced::ScopeNotFound,
            Self::NoPlace => Unplaced::NoPlace,
            Self::UnclearIndent { .. } => Unplaced::UnclearIndentation,
            Self::TooCostly => Unplaced::TooCostly,
            Self::NotAllDeleted => Unplaced::ContentDiffers,
            Self::Displaced(_) | Self::Recount { .. } => Unplaced::Displaced,
            Self::OutOfRange { .. } => Unplaced::OutOfRange,
            Self::Unexpected { .. } => Unplaced::UnexpectedLines,
            Self::Overlap { .. } => Unplaced::Overlap,
            Self::Unencodable(_) => Unplaced::Unencodable,
            Self::SplitsCharacter => Unplaced::SplitsCharacter,
            Self::JoinsNewlines => Unplaced::JoinsNewlines,
            Self::NoClipboard { .. } => Unplaced::NoClipboard,
            Self::CannotStrip { .. } => Unplaced::CannotStrip,
            Self::SameFile { .. } => Unplaced::SameFile,
            Self::PathTwice => Unplaced::PathTwice,
            Self::NotAlone => Unplaced::NotAlone,
        }
    }

    /// What the caller should do next, of what it can do.
    pub fn hint(&self, phrases: &HintPhrases) -> String {
        match self {
            Self::FileMissing => and_then("Check the path", ", or ", phrases.create, ""),
            Self::FileExists { .. } => {
                and_then("Edit the file", ", or ", phrases.overwrite, " if its content is to go")
            }
            Self::Binary => {
                and_then("Only text can be edited", "; to replace the file as a whole, ", phrases.overwrite, "")
            }
            Self::BlankOld { .. } => "Give the text to replace, with enough around it to be found once. To insert, name a line beside the place in both texts.".into(),
            Self::NotFound(diagnosis) => with_choice(diagnosis.hint(phrases.old), phrases),
            Self::AlreadyApplied(diagnosis) => diagnosis.hint(phrases.old),
            Self::Ambiguous { overlapping: true, .. } => "Give a longer text, so that its occurrences do not overlap.".into(),
            Self::Ambiguous { .. } => {
                let hint = format!("Add lines before or after it to {}", phrases.old);
                with_choice(either(&hint, [phrases.within, phrases.all]), phrases)
            }
            Self::HunkMissing { closest: Some(_), .. } => "Make the hunk from the lines that the file has now, as shown.".into(),
            Self::HunkMissing { .. } => "Read the file and make the hunk from the lines that it has now.".into(),
            Self::NotAtEnd { .. } => "Leave the end-of-file mark out, or take the file's last lines into the hunk.".into(),
            Self::OutsideScope { .. } => "Name a line above the place after `@@`, or leave it out.".into(),
            Self::ScopeMissing { .. } => "Copy the line after `@@` from the file, or leave it out.".into(),
            Self::NoPlace => "Give a line beside the place as context, a line number, or a scope after `@@`.".into(),
            Self::UnclearIndent { .. } => "Copy the context lines from the file with their own indentation.".into(),
            Self::TooCostly => "Give more context, with lines that occur once.".into(),
            Self::NotAllDeleted => "Read the file again; delete it without naming its lines, or name all of them.".into(),
            Self::Displaced(_) | Self::Recount { .. } => "Make one edit of those that concern the same text, or give them in another order.".into(),
            Self::OutOfRange { count: 0, .. } => {
                and_then("There are no lines in it to change", ": ", phrases.fill, "")
            }
            Self::OutOfRange { .. } => and_then(
                "Read the file and give lines that it has",
                "; to add at the end, ",
                phrases.append,
                "",
            ),
            Self::Unexpected { found, .. } => format!("Read the file again. The lines are now:\n{found}"),
            Self::Overlap { .. } => "Make one edit of the two.".into(),
            Self::Unencodable(_) => "Write it without that character; only in another encoding could the file hold it.".into(),
            Self::SplitsCharacter => format!("Take one more character into {}.", phrases.old),
            Self::JoinsNewlines => format!("Take one of the two line ends into {}.", phrases.old),
            Self::NoClipboard { there, .. } if there.is_empty() => "Fill it with `toClipboard` first; no clipboard holds anything yet.".into(),
            Self::NoClipboard { there, .. } => format!("Fill it with `toClipboard` first, or use one of: {}.", there.join(", ")),
            Self::CannotStrip { .. } => "Strip only what every line that is not empty starts with.".into(),
            Self::SameFile { .. } | Self::PathTwice => "Put all edits of one file under one path.".into(),
            Self::NotAlone => "Send it as a request of its own.".into(),
        }
    }
}

/// A hint, and the way to choose one of the places that were shown.
fn with_choice(hint: String, phrases: &HintPhrases) -> String {
    match phrases.choose {
        Some(choose) => format!("{hint} Or {choose}."),
        None => hint,
    }
}

/// Line numbers for a message; `count` is how many matches there are, of which `lines` may list only the first.
fn list_lines(lines: &[usize], count: usize) -> String {
    slipstitch_text::display::list_lines(lines, 12, count > lines.len())
}

fn hunk_missing(line: Option<usize>, expected: &str, found: Option<&str>) -> String {
    match (line, found) {
        (Some(line), Some(found)) => {
            format!("the hunk does not fit: line {line} should be `{expected}` and is `{found}`")
        }
        (Some(line), None) => {
            format!("the hunk does not fit: line {line} should be `{expected}`, and the file ends before it")
        }
        (None, _) => format!("the hunk's lines are not in the file; the first is `{expected}`"),
    }
}

fn out_of_range(first: usize, last: usize, count: usize) -> String {
    let named = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
    match count {
        0 => format!("{named} named, but the file is empty"),
        1 => format!("{named} named, but the file has 1 line"),
        _ => format!("{named} named, but the file has {count} lines"),
    }
}
