//! Plans: the paths and operations that a tool call asks for, before any file is read.

mod anchor;
mod error;
mod folder;
mod notebook;
mod operation;
pub mod patch;
mod sketch;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;

pub use anchor::LineAnchor;
pub use error::{ParseError, ParseProblem};
pub use folder::{EntryOrder, HiddenEntries, ListPlan, SearchPlan};
pub use notebook::{CellChange, CellContent, CellEdit, CellPlace};
pub use operation::{IfMissing, InsertAfter, LineRange, Operation, Overwriting, Separator, Which};
pub use sketch::Sketch;
pub(crate) use sketch::{is_certain_elision, is_elided_comment};

use crate::path::FilePath;
use serde::{Deserialize, Serialize, Serializer};
use slipstitch_text::VersionClaim;

/// The id of a change in the journal, written as `c` and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId(pub u64);

impl ChangeId {
    /// Parses `c12` or `12`.
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
    /// List a folder.
    List(ListPlan),
    /// Find files by their names.
    Search(SearchPlan),
    /// Show the name of the root.
    ShowRoot,
    /// Describe a file without showing its content.
    Info(FilePath),
    /// Undo or redo changes.
    Undo(UndoPlan),
    /// Read a file whose text is an argument of the call, then parse the call again.
    Fetch(FetchPlan),
    /// Ask for permission to write.
    ModeUpgrade {
        /// The caller's reason.
        reason: Option<String>,
    },
}

impl Plan {
    /// Whether the plan changes no files.
    pub fn is_read_only(&self) -> bool {
        match self {
            Self::Read(_)
            | Self::List(_)
            | Self::Search(_)
            | Self::ShowRoot
            | Self::Info(_)
            | Self::ModeUpgrade { .. } => true,
            Self::Edit(_) | Self::Undo(_) | Self::Fetch(_) => false,
        }
    }
}

/// A file whose text replaces its path in a call.
#[derive(Debug, Clone)]
pub struct FetchPlan {
    /// The file.
    pub path: FilePath,
    /// The field that names it.
    pub named_in: &'static str,
    /// The field to put its text into.
    pub text_for: &'static str,
}

/// Changes to one or more files, applied all or none.
#[derive(Debug, Clone)]
pub struct EditPlan {
    /// The files, in the order of the request. One entry per path, or two for a path that one file leaves and another
    /// takes.
    pub files: Vec<FilePlan>,
    /// The dialect's rules for its edits.
    pub rules: EditRules,
    /// Whether to write, or only to report what would happen.
    pub run: Run,
    /// What the change is for, in the caller's words.
    pub description: Option<String>,
    /// How unusual parts of the request were interpreted.
    pub warnings: Vec<String>,
    /// The clipboards that edits copy to and paste from.
    pub clipboards: Clipboards,
    /// Whether a user must review the change before it is applied.
    pub review: Review,
    /// Whether the caller may choose among close matches.
    pub choice: Choice,
    /// How the dialect classifies the change, for the log.
    pub labels: Option<Box<ChangeLabels>>,
    /// Lines that a plan for one file names by number and hash. They say which version the plan's line numbers count in.
    pub anchors: Vec<LineAnchor>,
}

/// How a dialect classifies a change, for the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLabels {
    /// The level under which the change is logged.
    pub log_level: String,
    /// The safety level of its tool.
    pub safety_level: String,
    /// The categories of its tool.
    pub categories: Vec<String>,
}

/// Whether a caller may choose among close matches when there is no acceptable one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// No.
    #[default]
    None,
    /// If the old text is not found, close matches are remembered for a later choice.
    Offered,
    /// The plan repeats the last refused one for its file, at the close match with this number, from 1.
    Taken(usize),
}

impl Choice {
    /// The choice of a call that may name a candidate.
    pub fn of(candidate: Option<usize>) -> Self {
        candidate.map_or(Self::Offered, Self::Taken)
    }
}

/// Whether a change needs a user's review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Review {
    /// Never; the approver alone decides.
    #[default]
    No,
    /// Always.
    Always {
        /// The reason to show to the user.
        why: String,
    },
    /// If it affects more lines than this. Otherwise it is applied and logged for a later review.
    OverLines {
        /// The maximum number of lines without review.
        lines: usize,
    },
}

impl EditPlan {
    /// Creates a plan with default options.
    pub fn new(files: Vec<FilePlan>, rules: EditRules) -> Self {
        Self {
            files,
            rules,
            run: Run::Real,
            description: None,
            warnings: Vec::new(),
            clipboards: Clipboards::default(),
            review: Review::default(),
            choice: Choice::None,
            labels: None,
            anchors: Vec::new(),
        }
    }
}

/// The clipboards that a request uses.
#[derive(Debug, Clone, Default)]
pub struct Clipboards {
    /// What each edit does with them, by the edit's number from 1.
    pub uses: BTreeMap<usize, ClipboardUse>,
    /// The clipboards saved earlier in the session, by name.
    pub known: BTreeMap<String, String>,
}

/// What one edit does with clipboards.
#[derive(Debug, Clone, Default)]
pub struct ClipboardUse {
    /// The clipboard to copy the replaced text to.
    pub to: Option<String>,
    /// The clipboard to paste the new text from.
    pub from: Option<String>,
    /// How to re-indent the new text.
    pub reindent: Option<Reindent>,
}

/// A prefix to strip from every non-empty line, and one to add.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reindent {
    /// The prefix to strip; every non-empty line must have it.
    pub strip: String,
    /// The prefix to add.
    pub add: String,
}

/// The operations on one file.
#[derive(Debug, Clone)]
pub struct FilePlan {
    /// The file.
    pub path: FilePath,
    /// The version of the file that the caller expects.
    pub version: Option<VersionClaim>,
    /// The operations, in the order of the request.
    pub operations: Vec<Operation>,
}

/// How a dialect's edits are matched and applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditRules {
    /// How far old text and the lines of a hunk may differ from the file's.
    pub tolerance: Tolerance,
    /// Whether later edits of a file see the results of earlier ones.
    pub batch: Batch,
    /// What to do with a line's newline that the new text omits.
    pub omitted_newline: OmittedNewline,
    /// Whether an edit that shrinks the file to less than a third is refused.
    pub shrink: Shrink,
    /// The dialect's own limit for a file's size in bytes after an edit.
    pub max_file_bytes: Option<u64>,
    /// Whether overwriting a non-empty file is confirmed.
    pub overwrite: OverwriteConsent,
    /// Whether the caller confirms what a guard refuses.
    pub confirmation: Confirmation,
    /// What to do with an edit whose old text is absent and whose new text is already there.
    pub if_already_applied: IfAlreadyApplied,
    /// The number of context lines in diffs.
    pub context: usize,
    /// The line ending of new lines in a file with mixed line endings.
    pub newline: NewlineStyle,
    /// What to do with an edit for an older version of the file.
    pub if_stale: IfStale,
}

impl EditRules {
    /// The rules of Slipstitch's own tools and commands.
    pub const NATIVE: Self = Self {
        tolerance: Tolerance::Recover,
        omitted_newline: OmittedNewline::Keep,
        if_stale: IfStale::Rebase,
        ..Self::STRICT
    };

    /// Exact, simultaneous and literal edits with the shrink guard: the base of other dialects' rules.
    pub const STRICT: Self = Self {
        tolerance: Tolerance::Exact,
        batch: Batch::Original,
        omitted_newline: OmittedNewline::Literal,
        shrink: Shrink::Guarded,
        max_file_bytes: None,
        overwrite: OverwriteConsent::Given,
        confirmation: Confirmation::Unused,
        if_already_applied: IfAlreadyApplied::Succeed,
        context: 3,
        newline: NewlineStyle::Nearby,
        if_stale: IfStale::Refuse,
    };
}

/// What to do with an edit that was made for an older version of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfStale {
    /// Refuse it.
    Refuse,
    /// Rebase it onto the changes since, if the journal has them and they do not touch the edit.
    Rebase,
}

/// How far a request may differ from the file: a bound on the finder's ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tolerance {
    /// Not at all, apart from line endings.
    Exact,
    /// Only in trailing whitespace, which is treated as a mistake of the request.
    TrailingWhitespace,
    /// Only in whitespace that does not separate tokens.
    Whitespace,
    /// Context lines may differ if the request as a whole is similar enough.
    Similar {
        /// The minimum similarity.
        threshold: Similarity,
    },
    /// As far as the place stays beyond doubt.
    Recover,
}

impl Tolerance {
    /// Tolerates context that is at least this similar, from 0 to 1.
    pub fn similar(threshold: f64) -> Self {
        Self::Similar { threshold: Similarity::new(threshold) }
    }
}

/// A similarity from 0 to 1. It is not rounded: a threshold of 0.9604 is above 0.96, and the ratio 2/3 reaches itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity(f64);

// The value is never NaN.
impl Eq for Similarity {}

impl Similarity {
    /// The similarity closest to `value`; NaN becomes 1, the strictest.
    pub const fn new(value: f64) -> Self {
        Self(if value.is_nan() { 1.0 } else { value.clamp(0.0, 1.0) })
    }

    /// The value, from 0 to 1.
    pub const fn value(self) -> f64 {
        self.0
    }
}

/// Whether a required confirmation to overwrite a non-empty file was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverwriteConsent {
    /// It was given, or none is required.
    Given,
    /// It is required and was not given.
    Lacking,
}

/// Whether the caller confirms a change that a guard refuses without a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// Nothing can be confirmed.
    Unused,
    /// The next call can confirm it; the refusal shows the change.
    Awaited,
    /// The call confirms it. That counts if the session was shown the change before.
    Sent,
}

/// The line ending of new lines in a file with mixed line endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewlineStyle {
    /// The file's dominant line ending.
    Dominant,
    /// That of the replaced line; for inserted lines, that of the line before them.
    Nearby,
}

/// What to do with an edit that seems to be applied already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfAlreadyApplied {
    /// Report success without writing.
    Succeed,
    /// Report that the old text was not found, and where the new text is.
    NoMatch,
}

/// Which text the edits of one batch are matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// All against the original file; overlaps are errors.
    Original,
    /// All against the original file, in its order: a text that occurs several times means its only occurrence after the
    /// edit before it, if there is just one.
    InOrder,
    /// Each against the result of the edits before it.
    Sequential,
    /// Sequential, but each must also match in the original file, and line numbers refer to the original.
    SequentialInOriginal,
}

/// What to do if the old text is whole lines and the new text lacks the final newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmittedNewline {
    /// Keep the file's newline, and report that. The same goes for indentation that the new text repeats.
    Keep,
    /// Write the text literally, and warn that two lines were joined.
    Literal,
}

/// Whether the shrink guard applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shrink {
    /// Edits that leave less than a third of the file are refused.
    Guarded,
    /// Edits are refused beyond the dialect's own limits.
    Limited {
        /// The guard applies to files with at least this many lines.
        from_lines: usize,
        /// An edit that leaves less than one in this many lines is refused.
        to_one_in: NonZeroUsize,
    },
    /// Any shrinking edit is allowed.
    Allowed,
}

/// Whether to apply the plan or only to report what it would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Apply it.
    Real,
    /// Do everything except ask for approval and write.
    Dry,
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
    /// The maximum number of bytes of text to return.
    pub budget: usize,
    /// What to do if the path is a folder.
    pub folders: Folders,
    /// What to show below the lines.
    pub footer: Footer,
    /// What to show in front of each line.
    pub prefix: LinePrefix,
    /// How the tool names the line to read on from.
    pub read_on: ReadOn,
}

/// How a tool names the first line to show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReadOn {
    /// By its number, from 1.
    #[default]
    Line,
    /// By the number of lines before it.
    Offset,
}

/// What a read shows in front of each line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LinePrefix {
    /// The line's number, aligned, and a tab.
    #[default]
    Number,
    /// The line's number and a colon: `12: text`.
    Colon,
    /// The line's number and a hash of its text: `12:a3|text`.
    Hash,
    /// Nothing.
    None,
}

/// What to do if the path to read is a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folders {
    /// Refuse.
    Refused,
    /// List it.
    Listed,
}

/// What to show about a file below its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Footer {
    /// Its version, and its line endings and encoding if they are unusual.
    Version,
    /// Only unusual line endings and encodings.
    Unusual,
}

/// Which changes to undo or redo.
#[derive(Debug, Clone)]
pub struct UndoPlan {
    /// The changes.
    pub target: Target,
    /// Whether to undo or redo.
    pub direction: Direction,
    /// Whether to write, or only to report what would happen.
    pub run: Run,
    /// Whether changes of other sessions may be reverted without asking.
    pub others: OtherSessionsConsent,
}

/// Whether the caller of an undo has the user's consent to revert changes of other sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherSessionsConsent {
    /// The user gave the command, or the program decides.
    Given,
    /// The policy decides.
    Needed,
}

/// The changes to undo or redo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// This change.
    Change(ChangeId),
    /// The session's last change.
    Last {
        /// Only changes of this file count.
        path: Option<FilePath>,
    },
    /// All changes of the session that are still in effect, all or none.
    Session,
    /// These changes, all or none. They are reverted newest first, whatever their order.
    Changes(Vec<ChangeId>),
}

/// Whether to undo or redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Undo an edit.
    Undo,
    /// Redo what an undo reverted.
    Redo,
}
