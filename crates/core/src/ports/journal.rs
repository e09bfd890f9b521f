//! The port to the memory of what was changed: who, when, why, and how to take it back.

mod proposal;

use std::fmt;

pub use proposal::{Proposal, ProposalId, Proposed, Remarks, Settled};
use serde::{Serialize, Serializer};

use crate::change::{FileChange, Rung};
use crate::path::FilePath;
use crate::plan::ChangeId;
use slipstitch_text::ContentHash;
use slipstitch_text::Splices;

/// Where a change came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The conversation or terminal it belongs to.
    pub session: String,
    /// The program that asked, as it calls itself.
    pub agent: Option<String>,
    /// The dialect of the call.
    pub dialect: String,
    /// The tool of the call.
    pub tool: String,
}

/// The changes that one undo takes back, in the order in which it does; never none.
///
/// As data it is one name, or a list where there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken(Vec<ChangeId>);

impl Taken {
    /// Several changes, newest first.
    pub fn several(ids: Vec<ChangeId>) -> Option<Self> {
        (!ids.is_empty()).then_some(Self(ids))
    }

    /// All of them.
    pub fn ids(&self) -> &[ChangeId] {
        &self.0
    }
}

impl From<ChangeId> for Taken {
    fn from(id: ChangeId) -> Self {
        Self(vec![id])
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, id) in self.0.iter().enumerate() {
            let gap = if number == 0 { "" } else { ", " };
            write!(f, "{gap}{id}")?;
        }
        Ok(())
    }
}

impl Serialize for Taken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

/// What a change is with regard to other changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "of")]
pub enum Kind {
    /// A change of its own.
    Edit,
    /// Takes those changes back.
    Undo(Taken),
    /// Brings back what that undo took away.
    Redo(ChangeId),
}

/// What a change is called in the journal besides its bytes.
#[derive(Debug, Clone)]
pub struct Label {
    /// Where it came from.
    pub origin: Origin,
    /// What it is with regard to other changes.
    pub kind: Kind,
    /// What it is for.
    pub description: Option<String>,
    /// The change as a unified diff.
    pub diff: String,
}

/// A change on its way into the journal.
#[derive(Debug, Clone)]
pub struct Record {
    /// Where it came from.
    pub origin: Origin,
    /// What it is with regard to other changes.
    pub kind: Kind,
    /// What it is for.
    pub description: Option<String>,
    /// Who agreed to it.
    pub approval: String,
    /// The files: what takes each one back.
    pub files: Vec<FileRecord>,
    /// The change as a unified diff, for people.
    pub diff: String,
    /// What the workspace needs to settle the change if its process dies.
    pub intent: Option<String>,
}

/// One file of a recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    /// The change that takes this one back; it knows both paths and both hashes.
    pub inverse: FileChange,
    /// The loosest rung that found a place.
    pub rung: Option<Rung>,
    /// What someone else did to the file between our last change of it and this one.
    pub gap: Option<Gap>,
}

/// What someone else did to a file between two of our changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What takes it back: from what our later change found to what the earlier one left.
    pub splices: Splices,
    /// The content that the earlier one left.
    pub left: ContentHash,
}

impl FileRecord {
    /// A record of nothing but what takes the change back.
    pub fn plain(inverse: FileChange) -> Self {
        Self { inverse, rung: None, gap: None }
    }

    /// The path before the change, if there was a file.
    pub fn path_before(&self) -> Option<&FilePath> {
        self.inverse.path_after()
    }

    /// The path after the change, if there is a file.
    pub fn path_after(&self) -> Option<&FilePath> {
        match self.inverse.base {
            crate::change::Base::Absent => None,
            crate::change::Base::Content(_) => Some(&self.inverse.path),
        }
    }

    /// The content before.
    pub fn hash_before(&self) -> Option<ContentHash> {
        self.inverse.after
    }

    /// The content after.
    pub fn hash_after(&self) -> Option<ContentHash> {
        match self.inverse.base {
            crate::change::Base::Absent => None,
            crate::change::Base::Content(hash) => Some(hash),
        }
    }
}

/// What a change leaves behind once it is in the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// What its session is to remember, by name.
    pub memory: Vec<(String, String)>,
    /// What its files hold now, one for each path. A journal keeps a text until the next change at its path.
    pub texts: Vec<(FilePath, LastText)>,
}

/// What a path holds after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastText {
    /// A text that is short enough to be kept.
    Short {
        /// The text.
        text: Vec<u8>,
        /// Its hash.
        hash: ContentHash,
    },
    /// No file, or a text that is too long to be kept.
    Unknown,
}

impl LastText {
    /// The most bytes of a text that are kept.
    pub const MAX_BYTES: usize = 256 << 10;
}

/// How far a recorded change got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Announced; whether it reached the files is not recorded yet.
    Pending,
    /// In the files.
    Done,
    /// Never reached the files.
    Abandoned,
}

/// A change in the journal, without what is needed to take it back.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Its name.
    pub id: ChangeId,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Where it came from.
    #[serde(flatten)]
    pub origin: Origin,
    /// What it is with regard to other changes.
    #[serde(flatten)]
    pub kind: Kind,
    /// What it is for.
    pub description: Option<String>,
    /// Who agreed to it.
    pub approval: String,
    /// How far it got.
    pub state: State,
    /// The change that took it back, if one did and was not itself taken back.
    pub undone_by: Option<ChangeId>,
    /// Its files.
    pub files: Vec<FileSummary>,
}

/// One file of a change in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileSummary {
    /// The path before, if there was a file.
    pub path_before: Option<FilePath>,
    /// The path after, if there is a file.
    pub path_after: Option<FilePath>,
    /// The content before.
    pub hash_before: Option<ContentHash>,
    /// The content after.
    pub hash_after: Option<ContentHash>,
    /// The loosest rung that found a place.
    pub rung: Option<Rung>,
}

/// A change in the journal with what is needed to show it and to take it back.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What the list shows of it.
    pub summary: Summary,
    /// The files: what takes each one back.
    pub files: Vec<FileRecord>,
    /// The change as a unified diff.
    pub diff: String,
}

/// Which changes to list. Newest first; an empty filter lists them all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only changes of this file.
    pub path: Option<FilePath>,
    /// Only changes of this session.
    pub session: Option<String>,
    /// Only changes by this agent.
    pub agent: Option<String>,
    /// Only changes at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only changes before this time.
    pub until: Option<i64>,
    /// Only changes made after this one.
    pub after: Option<ChangeId>,
    /// Only changes made before this one.
    pub before: Option<ChangeId>,
    /// Only what `undo` or `redo` without a name would pick from.
    pub pick: Option<Pick>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// What a step back or forth can pick from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// Edits that stand.
    Undoable,
    /// Undos that stand.
    Redoable,
}

/// The memory of changes. Several processes may share one.
pub trait Journal: Send + Sync {
    /// Announces a change, durably. Called with the files locked, before they change.
    fn begin(&self, record: &Record) -> Result<ChangeId, JournalError>;

    /// Notes that an announced change is in the files, together with what it leaves behind.
    fn seal(&self, id: ChangeId, left: &Left) -> Result<(), JournalError>;

    /// Notes what a session is to remember, by name.
    fn remember(&self, session: &str, memory: &[(String, String)]) -> Result<(), JournalError>;

    /// What a session remembers under names that start with `prefix`, in the order of the names.
    fn recall(&self, session: &str, prefix: &str) -> Result<Vec<(String, String)>, JournalError>;

    /// Notes that an announced change did not reach the files.
    fn abandon(&self, id: ChangeId) -> Result<(), JournalError>;

    /// The changes that were announced and are neither sealed nor given up, oldest first, with their intents.
    fn pending(&self) -> Result<Vec<(ChangeId, Option<String>)>, JournalError>;

    /// A change of another root that was announced, is not settled, and has the file at this path; with that root.
    fn pending_elsewhere_at(&self, path: &FilePath) -> Result<Option<(ChangeId, String)>, JournalError> {
        let _ = path;
        Ok(None)
    }

    /// One change, whole; nothing if it is not there or was forgotten.
    fn entry(&self, id: ChangeId) -> Result<Option<Entry>, JournalError>;

    /// The text that the last change left at a path, if it was kept and is another than the one with this hash.
    fn text_left(&self, path: &FilePath, but: ContentHash) -> Result<Option<Vec<u8>>, JournalError>;

    /// Whether a change was there and what takes it back was removed to save space.
    fn forgotten(&self, id: ChangeId) -> Result<bool, JournalError>;

    /// Changes, newest first, abandoned and forgotten ones left out.
    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, JournalError>;

    /// Keeps a change until a person decides on it.
    fn propose(&self, proposal: &Proposal) -> Result<ProposalId, JournalError>;

    /// The proposals that wait, oldest first.
    fn proposals(&self) -> Result<Vec<Proposed>, JournalError>;

    /// One proposal, waiting or not.
    fn proposal(&self, id: ProposalId) -> Result<Option<Proposed>, JournalError>;

    /// Notes what became of a proposal that waits.
    fn settle_proposal(&self, id: ProposalId, settled: &Settled) -> Result<(), JournalError>;
}

/// Why the journal could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal cannot {action}: {reason}")]
pub struct JournalError {
    /// What was tried.
    pub action: &'static str,
    /// What went wrong.
    pub reason: String,
}
