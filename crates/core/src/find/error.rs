//! Why an operation could not be placed.

use super::diagnosis::{Candidate, Diagnosis};
use super::notebook_problem::NotebookProblem;
use crate::change::DifferenceKind;
use crate::hint::{HintPhrases, and_then, either};
use crate::outcome::Unplaced;
use crate::path::FilePath;
use slipstitch_text::Unencodable;
use slipstitch_text::display::join_items;

/// All operations of a plan that could not be placed; at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} of {edits} edits could not be placed", .failures.len())]
pub struct ResolveError {
    /// The failures, in request order.
    pub failures: Vec<Failure>,
    /// The number of operations in the plan.
    pub edits: usize,
}

/// One operation that could not be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The file.
    pub path: FilePath,
    /// The operation's number in the request, from 1; `None` if the whole file is concerned.
    pub edit: Option<usize>,
    /// The reason.
    pub reason: Reason,
}

/// Why an operation could not be placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The file does not exist.
    #[error("no such file")]
    FileMissing,
    /// The file already exists.
    #[error("`{path}` already exists")]
    FileExists {
        /// Its path.
        path: FilePath,
    },
    /// The file is not text.
    #[error("the file is binary: it contains NUL bytes")]
    Binary,
    /// The old text is empty or only whitespace.
    #[error("the old text is {}", if *.empty { "empty" } else { "only whitespace" })]
    BlankOld {
        /// Whether it is empty.
        empty: bool,
    },
    /// The old text was not found.
    #[error("{}", .0.message())]
    NotFound(Diagnosis),
    /// The old text was not found, but the new text was: the edit is already applied.
    #[error("{}", .0.message())]
    AlreadyApplied(Diagnosis),
    /// The old text occurs more than once.
    #[error("the old text occurs {} ({}){}", times(*.non_overlapping), list_lines(.lines, *.count), if *.overlapping { describe_overlap(*.non_overlapping, *.count - *.non_overlapping) } else { "; it must occur exactly once".into() })]
    Ambiguous {
        /// The first line of each match, up to a thousand matches.
        lines: Vec<usize>,
        /// The number of places, overlapping ones included.
        count: usize,
        /// The number of matches, as messages give it: one that overlaps the match before it is not counted.
        non_overlapping: usize,
        /// Whether some matches overlap, so that not even all of them can be replaced.
        overlapping: bool,
        /// The first few matches.
        candidates: Vec<Candidate>,
    },
    /// The hunk's lines were found, but not at the end of the file, where the hunk says they are.
    #[error("the hunk matches at line {line}, but {}", if *.newline { "the file ends with a newline and the hunk says it does not" } else { "not at the end of the file, where it says it is" })]
    NotAtEnd {
        /// Where they were found.
        line: usize,
        /// Whether only the newline at the end of the file differs.
        newline: bool,
    },
    /// The hunk's lines were found, but not below the scope line after `@@`.
    #[error("the hunk matches at line {line}{}, but not below `{scope}`, its scope after `@@`", .block.as_ref().map_or(String::new(), |block| format!(" in `{block}`")))]
    OutsideScope {
        /// Where they were found.
        line: usize,
        /// The scope line.
        scope: String,
        /// The line that names the block they are in.
        block: Option<String>,
        /// The place, and what to send to edit it.
        place: Box<Diagnosis>,
    },
    /// The scope line after `@@` was not found.
    #[error("the hunk's scope after `@@`, `{scope}`, was not found in the file")]
    ScopeMissing {
        /// The scope line.
        scope: String,
    },
    /// The hunk has no old lines and no position.
    #[error("the hunk only adds lines and gives no position")]
    NoPlace,
    /// The search exceeded its budget.
    #[error("its lines occur too often in the file to find one place")]
    TooCostly,
    /// A patch that deletes the file does not list all of its lines.
    #[error("the patch deletes the file, but does not list all of its lines")]
    NotAllDeleted,
    /// The operation has a place in the original file, but none after the edits before it.
    #[error("after the edits before it, {0}")]
    Displaced(Box<Reason>),
    /// All occurrences are to be replaced, and the edits before this one changed their number.
    #[error("the old text occurs {after} times, but {before} times in the original file")]
    Recount {
        /// Occurrences in the original file.
        before: usize,
        /// Occurrences when the edit is applied.
        after: usize,
    },
    /// The old text does not occur as often as the caller says.
    #[error("the old text occurs {count} {}, at {}, not {expected} {}", if *.count == 1 { "time" } else { "times" }, list_lines(.lines, *.count), if *.expected == 1 { "time" } else { "times" })]
    WrongCount {
        /// How often the caller says it occurs.
        expected: usize,
        /// How often it occurs.
        count: usize,
        /// The lines of the first occurrences.
        lines: Vec<usize>,
    },
    /// The lines given are not in the file.
    #[error("{}", out_of_range(*.first, *.last, *.count))]
    OutOfRange {
        /// The first line given.
        first: usize,
        /// The last line given.
        last: usize,
        /// How many lines the file has.
        count: usize,
    },
    /// The lines given do not contain the expected text.
    #[error("{} not what was expected", if *.first == *.last { format!("line {first} is") } else { format!("lines {first}-{last} are") })]
    Unexpected {
        /// The first line given.
        first: usize,
        /// The last line given.
        last: usize,
        /// The file's text.
        found: String,
    },
    /// Two edits change the same text.
    #[error("edits {first} and {second} overlap at line {line}")]
    Overlap {
        /// The first edit.
        first: usize,
        /// The second edit.
        second: usize,
        /// Where they overlap.
        line: usize,
    },
    /// The new text has a character that the file's encoding cannot represent.
    #[error(transparent)]
    Unencodable(#[from] Unencodable),
    /// The match starts or ends inside an encoded character.
    #[error(
        "the edit starts or ends inside an encoded character, or next to bytes that would change its meaning"
    )]
    SplitsCharacter,
    /// The edit would merge two line endings into one.
    #[error(
        "the edit would merge the `\\r` that ends one line and the `\\n` that ends the next into one line ending"
    )]
    JoinsNewlines,
    /// The clipboard is empty.
    #[error("there is no clipboard `{name}`")]
    NoClipboard {
        /// The clipboard's name.
        name: String,
        /// The clipboards that are not empty.
        available: Vec<String>,
    },
    /// A line does not start with the prefix to strip.
    #[error(
        "line {line} of the inserted text does not start with the prefix to strip, {prefix:?}: {found:?}"
    )]
    CannotStrip {
        /// The line of the inserted text, from 1.
        line: usize,
        /// The prefix.
        prefix: String,
        /// The line's text.
        found: String,
    },
    /// The old text of a reindented edit differs from the file's in more than indentation.
    #[error(
        "at line {line} the file differs from the old text in more than indentation ({}), so the text can't be reindented safely",
        join_items(differences.iter().map(|difference| difference.label()))
    )]
    CannotReindent {
        /// The line of the closest text.
        line: usize,
        /// How the two differ.
        differences: Vec<DifferenceKind>,
    },
    /// Another path in the request is the same file.
    #[error("it is the same file as `{other}`")]
    SameFile {
        /// The other path.
        other: FilePath,
    },
    /// The request changes one path twice.
    #[error("the request changes the same path twice")]
    PathTwice,
    /// A part of a sketch does not say where its lines belong.
    #[error(
        "the part of the code at line {line} does not say where it belongs: it must start and end with lines of one place in the file, and have all lines between them"
    )]
    SketchUnclear {
        /// The part's first line in the sketch.
        line: usize,
    },
    /// A cell of a notebook cannot be changed.
    #[error(transparent)]
    Notebook(NotebookProblem),
    /// A whole-file operation is combined with other edits to the file.
    #[error("creating, overwriting or deleting a file cannot be combined with other edits to it")]
    NotAlone,
}

impl Reason {
    /// The reason for an edit that has a place in the original file. If the text is there when the edit's turn comes, the
    /// earlier edits are not the cause.
    pub(super) fn after_earlier_edits(self) -> Self {
        match self {
            Self::Unencodable(_) | Self::SplitsCharacter | Self::JoinsNewlines => self,
            reason => Self::Displaced(Box::new(reason)),
        }
    }

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
            Self::NotAtEnd { .. } => Unplaced::NotAtEnd,
            Self::OutsideScope { .. } => Unplaced::OutsideScope,
            Self::ScopeMissing { .. } => Unplaced::ScopeNotFound,
            Self::NoPlace => Unplaced::NoPlace,
            Self::TooCostly => Unplaced::TooCostly,
            Self::NotAllDeleted => Unplaced::ContentDiffers,
            Self::Displaced(_) | Self::Recount { .. } => Unplaced::Displaced,
            Self::WrongCount { .. } => Unplaced::WrongCount,
            Self::OutOfRange { .. } => Unplaced::OutOfRange,
            Self::Unexpected { .. } => Unplaced::UnexpectedLines,
            Self::Overlap { .. } => Unplaced::Overlap,
            Self::Unencodable(_) => Unplaced::Unencodable,
            Self::SplitsCharacter => Unplaced::SplitsCharacter,
            Self::JoinsNewlines => Unplaced::JoinsNewlines,
            Self::NoClipboard { .. } => Unplaced::NoClipboard,
            Self::CannotStrip { .. } => Unplaced::CannotStrip,
            Self::CannotReindent { .. } => Unplaced::CannotReindent,
            Self::SameFile { .. } => Unplaced::SameFile,
            Self::PathTwice => Unplaced::PathTwice,
            Self::SketchUnclear { .. } => Unplaced::NoPlace,
            Self::Notebook(problem) => match problem {
                NotebookProblem::NotANotebook(_) | NotebookProblem::SameId(_) => Unplaced::NotANotebook,
                NotebookProblem::NoCell { .. } => Unplaced::CellNotFound,
                NotebookProblem::OtherType { .. } | NotebookProblem::OtherLanguage { .. } => {
                    Unplaced::UnexpectedCell
                }
            },
            Self::NotAlone => Unplaced::NotAlone,
        }
    }

    /// What the caller can do next, in the terms of its tools.
    pub fn hint(&self, phrases: &HintPhrases) -> String {
        match self {
            Self::FileMissing => and_then("Check the path", ", or ", phrases.create, ""),
            Self::FileExists { .. } => {
                and_then("Edit the file", ", or ", phrases.overwrite, " to replace its content")
            }
            Self::Binary => {
                and_then("Only text files can be edited", "; to replace the whole file, ", phrases.overwrite, "")
            }
            Self::BlankOld { .. } => "Give the text to replace, with enough context to occur exactly once. To insert, include a neighbouring line in both texts.".into(),
            Self::NotFound(diagnosis) => with_choice(diagnosis.hint(phrases.old), phrases),
            Self::AlreadyApplied(diagnosis) => diagnosis.hint(phrases.old),
            Self::Ambiguous { overlapping: true, .. } => "Use a longer text, so that its occurrences do not overlap.".into(),
            Self::Ambiguous { .. } => {
                let hint = format!("Include more surrounding lines in {}", phrases.old);
                with_choice(either(&hint, [phrases.within, phrases.all]), phrases)
            }
            Self::NotAtEnd { .. } => "Drop the end-of-file marker, or include the file's last lines in the hunk.".into(),
            Self::OutsideScope { block: Some(block), .. } => {
                format!("If that is the place, put `{block}` after `@@`, or leave it out.")
            }
            Self::OutsideScope { block: None, .. } => "Put a line above the place after `@@`, or leave it out.".into(),
            Self::ScopeMissing { .. } => "Copy the line after `@@` from the file, or leave it out.".into(),
            Self::NoPlace => "Add a neighbouring line as context, a line number, or a scope after `@@`.".into(),
            Self::TooCostly => "Add context lines that occur only once.".into(),
            Self::NotAllDeleted => "Read the file again; delete it without listing its lines, or list all of them.".into(),
            Self::Displaced(_) | Self::Recount { .. } => "Combine the edits that change the same text, or reorder them.".into(),
            Self::WrongCount { count, .. } => format!(
                "Send {count} as the number if that is right; otherwise include more surrounding lines in {}.",
                phrases.old
            ),
            Self::OutOfRange { count: 0, .. } => {
                and_then("It has no lines to change", ": ", phrases.fill, "")
            }
            Self::OutOfRange { .. } => and_then(
                "Read the file and use line numbers that exist",
                "; to add at the end, ",
                phrases.append,
                "",
            ),
            Self::Unexpected { found, .. } => format!("Read the file again. The lines are now:\n{found}"),
            Self::Overlap { .. } => "Combine the two edits into one.".into(),
            Self::Unencodable(_) => "Leave out that character: the file's encoding cannot represent it.".into(),
            Self::SplitsCharacter => format!("Include one more character in {}.", phrases.old),
            Self::JoinsNewlines => format!("Include one of the two line endings in {}.", phrases.old),
            Self::NoClipboard { available, .. } if available.is_empty() => "Fill it with `toClipboard` first; all clipboards are empty.".into(),
            Self::NoClipboard { available, .. } => format!("Fill it with `toClipboard` first, or use one of: {}.", available.join(", ")),
            Self::CannotReindent { .. } => format!("Copy {} from the file, or send the new text at its final indentation without `reindent`.", phrases.old),
            Self::CannotStrip { .. } => "Strip only a prefix that every non-empty line starts with.".into(),
            Self::SameFile { .. } | Self::PathTwice => "Put all edits of one file under one path.".into(),
            Self::SketchUnclear { .. } => "Add the neighbouring lines of the file. To change or delete lines, send the old and the new text with the tool that replaces text.".into(),
            Self::Notebook(problem) => problem.hint().into(),
            Self::NotAlone => "Send it as a separate request.".into(),
        }
    }
}

/// Adds how to choose one of the candidates, if the tool can.
fn with_choice(hint: String, phrases: &HintPhrases) -> String {
    match phrases.choose {
        Some(choose) => format!("{hint} Or {choose}."),
        None => hint,
    }
}

/// How often something occurs.
pub(crate) fn times(count: usize) -> String {
    if count == 1 { "once".into() } else { format!("{count} times") }
}

/// That there are more places than counted matches, because some overlap; empty if there are not.
pub(crate) fn describe_overlap(matches: usize, overlapping: usize) -> String {
    let them = if matches == 1 { "it" } else { "them" };
    match overlapping {
        0 => String::new(),
        1 => format!(", and another one overlaps {them}"),
        more => format!(", and {more} others overlap {them}"),
    }
}

/// Line numbers for a message; `count` is how many matches there are, of which `lines` may list only the first.
fn list_lines(lines: &[usize], count: usize) -> String {
    slipstitch_text::display::list_lines(lines, 12, count > lines.len())
}

fn out_of_range(first: usize, last: usize, count: usize) -> String {
    let given = if first == last { format!("line {first} is") } else { format!("lines {first}-{last} are") };
    match count {
        0 => format!("{given} out of range: the file is empty"),
        1 => format!("{given} out of range: the file has 1 line"),
        _ => format!("{given} out of range: the file has {count} lines"),
    }
}
