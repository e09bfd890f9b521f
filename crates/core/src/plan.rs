//! What a tool call asks for, with nothing looked up yet: paths and operations.

mod error;
pub mod patch;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

pub use error::ParseError;

use crate::path::FilePath;
use serde::{Serialize, Serializer};
use slipstitch_patch::{Hunk, Role};
use slipstitch_text::VersionClaim;

/// A change's name in the journal, written `c` and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId(pub u64);

impl ChangeId {
    /// Reads `c12` or `12`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        text.strip_prefix(['c', 'C']).unwrap_or(text).parse().ok().map(Self)
    }
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

impl Serialize for ChangeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A parsed tool call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Plan {
    /// Change files.
    Edit(EditPlan),
    /// Show a file's lines.
    Read(ReadPlan),
    /// Show what a folder holds; the root if none is named.
    List(Option<FilePath>),
    /// Describe a file without showing it.
    Info(FilePath),
    /// Take a change back.
    Undo(UndoPlan),
    /// Read a file whose text belongs to the call, and read the call again with it.
    Fetch(FetchPlan),
    /// Ask for leave to write.
    ModeUpgrade {
        /// What for.
        reason: Option<String>,
    },
}

impl Plan {
    /// Whether it leaves every file as it is.
    pub fn only_reads(&self) -> bool {
        match self {
            Self::Read(_) | Self::List(_) | Self::Info(_) | Self::ModeUpgrade { .. } => true,
            Self::Edit(_) | Self::Undo(_) | Self::Fetch(_) => false,
        }
    }
}

/// A file whose text takes the place of its name in a call.
#[derive(Debug, Clone)]
pub struct FetchPlan {
    /// The file.
    pub path: FilePath,
    /// The field that names it.
    pub named_in: &'static str,
    /// The field that its text goes into.
    pub text_for: &'static str,
}

/// Changes to one or more files that go in together or not at all.
#[derive(Debug, Clone)]
pub struct EditPlan {
    /// The files, in the order the request names them. One entry per file.
    pub files: Vec<FilePlan>,
    /// How the dialect wants its edits carried out.
    pub rules: EditRules,
    /// Whether to say what would happen and stop there.
    pub run: Run,
    /// What the change is for, in the caller's words.
    pub description: Option<String>,
    /// What was odd about the request and how it was read.
    pub warnings: Vec<String>,
    /// Text that edits take out of the files and put in elsewhere.
    pub clips: Clips,
    /// Whether a person looks at the change before it is made.
    pub review: Review,
    /// Whether the caller may choose among places that come close.
    pub choice: Choice,
}

/// Whether a caller may choose among places that come close to a text that has no place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// No.
    #[default]
    None,
    /// If the plan has no place, the places that come close are remembered.
    Offered,
    /// The plan is the last one that was refused for its file, and goes to that one of the places, from 1.
    Taken(usize),
}

/// Which changes wait for a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Review {
    /// None: whoever approves decides alone.
    #[default]
    No,
    /// This one, whatever it is.
    Always {
        /// Why, for the person.
        why: String,
    },
    /// This one if it affects more lines than that; else it is made and logged as one to look at.
    OverLines {
        /// The most lines that need no review.
        lines: usize,
    },
}

impl EditPlan {
    /// Operations to carry out, with nothing said beside them.
    pub fn new(files: Vec<FilePlan>, rules: EditRules) -> Self {
        Self {
            files,
            rules,
            run: Run::Real,
            description: None,
            warnings: Vec::new(),
            clips: Clips::default(),
            review: Review::default(),
            choice: Choice::None,
        }
    }
}

/// The clipboards of a request.
#[derive(Debug, Clone, Default)]
pub struct Clips {
    /// What edits do with them, by the edit's number from 1.
    pub uses: BTreeMap<usize, Clip>,
    /// What the session knows already.
    pub known: BTreeMap<String, String>,
}

/// What one edit does with clipboards.
#[derive(Debug, Clone, Default)]
pub struct Clip {
    /// Where the text that is replaced goes.
    pub to: Option<String>,
    /// Where the new text comes from.
    pub from: Option<String>,
    /// How the new text is indented anew.
    pub reindent: Option<Reindent>,
}

/// A prefix to take off every line that is not empty, and one to put on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reindent {
    /// What goes; it must be there.
    pub strip: String,
    /// What comes.
    pub add: String,
}

/// The operations on one file.
#[derive(Debug, Clone)]
pub struct FilePlan {
    /// The file.
    pub path: FilePath,
    /// The content that the caller believes the file has.
    pub version: Option<VersionClaim>,
    /// What to do, in the order given.
    pub operations: Vec<Operation>,
}

/// The ways in which dialects differ beneath their field names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditRules {
    /// Whether old text may be found that is not quite what the file has.
    pub matching: Matching,
    /// Whether the second and later edits of a file see the first.
    pub batch: Batch,
    /// What happens to a line's newline that the new text leaves out.
    pub final_newline: FinalNewline,
    /// Whether an edit that shrinks the file to a third is refused.
    pub shrink: Shrink,
    /// The most bytes a file may have after an edit, where the dialect has a limit of its own.
    pub max_file_bytes: Option<u64>,
    /// Whether overwriting a file that has text is agreed to.
    pub overwrite: OverwriteConsent,
    /// What an edit is whose old text is gone and whose new text stands there.
    pub repeated: Repeated,
    /// How many lines around a change its diff shows.
    pub context: usize,
    /// How new lines end in a file whose lines end in several ways.
    pub newline: NewLineEnd,
    /// How far the lines of a hunk may differ from the file's.
    pub placing: Placing,
    /// What becomes of an edit for a version that the file has no more.
    pub stale: Stale,
}

impl EditRules {
    /// How Slipstitch's own tools and commands work.
    pub const NATIVE: Self = Self {
        matching: Matching::Recover,
        final_newline: FinalNewline::Kept,
        newline: NewLineEnd::Nearby,
        placing: Placing::Recover,
        stale: Stale::Carried,
        ..Self::STRICT
    };

    /// Exact, simultaneous, literal, with the shrink guard: what dialects start from.
    pub const STRICT: Self = Self {
        matching: Matching::Exact,
        batch: Batch::Original,
        final_newline: FinalNewline::Literal,
        shrink: Shrink::Guarded,
        max_file_bytes: None,
        overwrite: OverwriteConsent::Given,
        repeated: Repeated::AlreadyApplied,
        context: 3,
        newline: NewLineEnd::Dominant,
        placing: Placing::Strict,
        stale: Stale::Refused,
    };
}

/// What becomes of an edit that was made for a version which the file has no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// It is refused.
    Refused,
    /// It is carried over what was done since, if the journal knows that and it was done elsewhere in the file.
    Carried,
}

/// How far the lines of a hunk may differ from the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placing {
    /// Not at all.
    Strict,
    /// In the blanks at the ends of lines, which are taken for a mistake of the diff.
    Mended,
    /// In the white space at their ends.
    Tolerant,
    /// Lines that stay may differ as long as the whole is similar enough.
    Fuzzy {
        /// The least similarity, in thousandths.
        per_mille: u16,
    },
    /// As far as leaves no doubt about the place.
    Recover,
}

/// How old text is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// As it stands in the file, line ends aside.
    Exact,
    /// If it does not stand there, also with mistakes that leave no doubt about the place.
    Recover,
}

/// Whether overwriting a file that has text needs a confirmation that the request lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverwriteConsent {
    /// It was given, or is not asked for.
    Given,
    /// It is asked for and was not given.
    Lacking,
}

/// How new lines end in a file whose lines end in several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewLineEnd {
    /// As most lines of the file do.
    Dominant,
    /// As the line in whose place they come, or else the one before it.
    Nearby,
}

/// What an edit is that seems to have been made before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeated {
    /// Done: a success without a write.
    AlreadyApplied,
    /// Text that is not found, as any other; the answer says where the new text stands.
    NoMatch,
}

/// Which text the edits of one batch are matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// All of them against the file as it was; overlaps are errors.
    Original,
    /// Each against what the ones before it left.
    Sequential,
    /// The same, and each must also stand in the file as it was. Places are told as they were.
    SequentialInOriginal,
}

/// What to do when old text is whole lines and the new text lacks a newline at an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalNewline {
    /// The newline stays, and the answer says so. So does indentation that the new text repeats.
    Kept,
    /// The text is written as it is, with a warning that two lines were joined.
    Literal,
}

/// Whether the shrink guard applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shrink {
    /// Edits that leave less than a third of the file are refused.
    Guarded,
    /// The dialect does not ask for it.
    Allowed,
}

/// Carry the plan out, or only work out what it would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Write.
    Real,
    /// Everything but the approval and the write.
    Dry,
}

/// One thing to do to one file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Operation {
    /// Put `new` where `old` stands.
    Replace {
        /// The text to find, with any line ends.
        old: String,
        /// The text to put there.
        new: String,
        /// One place or all of them.
        which: Which,
        /// Only matches that lie inside these lines count.
        within: Option<LineRange>,
    },
    /// Put `new` where the caller says that `old` stands, however it differs.
    ReplaceAt {
        /// The text that was looked for.
        old: String,
        /// The text to put there.
        new: String,
        /// Where.
        lines: LineRange,
    },
    /// Put `new` in the place of whole lines.
    ReplaceLines {
        /// The lines that go.
        lines: LineRange,
        /// The lines that come; empty deletes.
        new: String,
        /// What the caller believes stands there.
        expect: Option<String>,
    },
    /// Insert lines after line `after`; 0 is the start of the file.
    InsertLines {
        /// The line before the insertion.
        after: InsertAfter,
        /// The lines that come.
        text: String,
    },
    /// Add text at the end of the file.
    Append {
        /// What to add.
        text: String,
        /// What stands between the file's text and the new one.
        separator: Separator,
        /// What a file that is not there means.
        missing: Missing,
    },
    /// Put text at the start of the file, after the byte order mark.
    Prepend {
        /// What to put there.
        text: String,
        /// What stands between the new text and the file's.
        separator: Separator,
        /// What a file that is not there means.
        missing: Missing,
    },
    /// Make a file that is not there yet, and its folders.
    Create {
        /// The whole content.
        content: String,
    },
    /// Give the file other content.
    Overwrite {
        /// The whole content.
        content: String,
        /// What a file that is not there means.
        missing: Missing,
    },
    /// Put lines in and take lines out where the hunk's lines stand.
    Hunk(Box<Hunk>),
    /// Make a file, or give one that is empty its text.
    Fill {
        /// The whole content.
        content: String,
    },
    /// Remove the file; hunks before it must leave nothing of its text.
    Delete,
    /// Give the file another name; operations before it change its text.
    Move {
        /// The new path.
        to: FilePath,
        /// What a file that is there already means.
        over: Overwriting,
    },
    /// Let the file be run as a program, or not; operations before it make or change it.
    SetExecutable(bool),
}

/// The line after which lines are inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertAfter {
    /// This line, counted from 1; 0 is the start of the file.
    Line(usize),
    /// The file's last line, whichever that is.
    LastLine,
}

impl From<usize> for InsertAfter {
    fn from(line: usize) -> Self {
        Self::Line(line)
    }
}

/// What a file in the way of a move means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwriting {
    /// The move is refused.
    Refused,
    /// The file is overwritten.
    Allowed,
}

impl Operation {
    /// The text that it looks for.
    pub fn old_text(&self) -> &str {
        match self {
            Self::Replace { old, .. } | Self::ReplaceAt { old, .. } => old,
            _ => "",
        }
    }

    /// The text that it puts in.
    pub fn new_text(&self) -> Cow<'_, str> {
        match self {
            Self::Replace { new, .. } | Self::ReplaceAt { new, .. } | Self::ReplaceLines { new, .. } => {
                new.into()
            }
            Self::InsertLines { text, .. } | Self::Append { text, .. } | Self::Prepend { text, .. } => {
                text.into()
            }
            Self::Create { content } | Self::Overwrite { content, .. } | Self::Fill { content } => {
                content.into()
            }
            Self::Hunk(hunk) => {
                let come = hunk.lines.iter().filter(|line| line.role == Role::Added);
                come.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n").into()
            }
            Self::Delete | Self::Move { .. } | Self::SetExecutable(_) => "".into(),
        }
    }
}

/// How many places a replacement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Exactly one: several matches are an error.
    Unique,
    /// Every one of them.
    All,
}

/// What an appended or prepended text is parted from the file's text by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// Nothing: the text is added as it is.
    Literal,
    /// A newline in the file's style, where without it two lines would become one.
    Newline,
}

/// What an operation does where there is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Make the file and its folders.
    Create,
    /// Refuse.
    Fail,
}

/// Whole lines, the first being 1, both ends included. Ends are checked against the file later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

/// Which lines of a file to show.
#[derive(Debug, Clone)]
pub struct ReadPlan {
    /// The file.
    pub path: FilePath,
    /// The first line; the start of the file if absent.
    pub first: Option<usize>,
    /// The last line; the end of the file if absent.
    pub last: Option<usize>,
    /// The most bytes of text to answer with.
    pub budget: usize,
    /// What a path that names a folder means.
    pub folders: Folders,
    /// What stands below the lines.
    pub footer: Footer,
}

/// What a look at a folder does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folders {
    /// Refuse: only files are shown.
    Refused,
    /// Show what it holds.
    Listed,
}

/// What is told of a file below its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Footer {
    /// Its version, and its line ends and encoding where they are unusual.
    Version,
    /// Only what is unusual.
    Unusual,
}

/// Which changes to take back.
#[derive(Debug, Clone)]
pub struct UndoPlan {
    /// Which ones.
    pub target: Target,
    /// Take back an edit, or take back an undo.
    pub direction: Direction,
    /// Whether to say what would happen and stop there.
    pub run: Run,
}

/// What an undo or a redo is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// This change.
    Change(ChangeId),
    /// The session's last one.
    Last {
        /// Only changes of this file count.
        path: Option<FilePath>,
    },
    /// All changes of the session that stand, together or not at all.
    Session,
}

/// Back or forth through a session's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Take back the last edit.
    Undo,
    /// Bring back what the last undo took away.
    Redo,
}
