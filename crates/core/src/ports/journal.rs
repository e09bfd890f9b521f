//! The journal port: who changed what, when and why, and how to undo it.
//!
//! A change goes through the journal in two steps. [`Journal::begin`] records it, with its inverse, before any file
//! changes; it is then *pending*. [`Journal::seal`] marks it as done once the files have changed, or
//! [`Journal::abandon`] marks it as never applied. A change that stays pending was interrupted: its process died, and
//! the workspace has to settle it (see [`workspace`](crate::ports::workspace)).

mod proposal;

use std::fmt;

pub use proposal::{
    Proposal, ProposalDecision, ProposalHunk, ProposalId, ProposalNotes, ProposalSubject, RejectedHunk,
    StoredProposal, describe_hunks,
};
use serde::{Serialize, Serializer};

use crate::cancel::CancelToken;
use crate::change::{FileChange, Rung};
use crate::path::FilePath;
use crate::plan::{ChangeId, ChangeLabels};
use slipstitch_text::display::join_items;
use slipstitch_text::{ContentHash, Splices};

/// Where a change came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The conversation or terminal it belongs to.
    pub session: String,
    /// The calling program's name for itself.
    pub agent: Option<String>,
    /// The dialect of the call.
    pub dialect: String,
    /// The tool of the call.
    pub tool: String,
}

/// The changes that one undo reverts, newest first; at least one.
///
/// Serialized as one id, or as a list if there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneChanges(Vec<ChangeId>);

impl UndoneChanges {
    /// Changes, newest first; `None` if the list is empty.
    pub fn new(ids: Vec<ChangeId>) -> Option<Self> {
        (!ids.is_empty()).then_some(Self(ids))
    }

    /// Their ids, newest first.
    pub fn ids(&self) -> &[ChangeId] {
        &self.0
    }
}

impl From<ChangeId> for UndoneChanges {
    fn from(id: ChangeId) -> Self {
        Self(vec![id])
    }
}

impl fmt::Display for UndoneChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join_items(&self.0))
    }
}

impl Serialize for UndoneChanges {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

/// How a change relates to other changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "of")]
pub enum ChangeKind {
    /// A new change.
    Edit,
    /// Reverts those changes.
    Undo(UndoneChanges),
    /// Reverts that undo.
    Redo(ChangeId),
}

/// What the journal says about a change, apart from its bytes.
#[derive(Debug, Clone)]
pub struct Label {
    /// Where it came from.
    pub origin: Origin,
    /// How it relates to other changes.
    pub kind: ChangeKind,
    /// What it is for, in the caller's words.
    pub description: Option<String>,
    /// How the dialect classifies it.
    pub labels: Option<ChangeLabels>,
    /// The change as a unified diff.
    pub diff: String,
}

/// A change to be recorded.
#[derive(Debug, Clone)]
pub struct Record {
    /// Where it came from.
    pub origin: Origin,
    /// How it relates to other changes.
    pub kind: ChangeKind,
    /// What it is for, in the caller's words.
    pub description: Option<String>,
    /// How the dialect classifies it.
    pub labels: Option<ChangeLabels>,
    /// Who approved it.
    pub approval: String,
    /// Its files, with the inverse of each file's change.
    pub files: Vec<FileRecord>,
    /// The change as a unified diff, for display.
    pub diff: String,
    /// What the workspace needs to settle the change if its process dies.
    pub intent: Option<String>,
}

/// One file of a recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    /// The change that reverts this one; it has both paths and both hashes.
    pub inverse: FileChange,
    /// The loosest rung that was needed to find a place.
    pub rung: Option<Rung>,
    /// What someone else did to the file between the previous recorded change and this one.
    pub foreign_edit: Option<ForeignEdit>,
    /// Whether the inverse has its text.
    pub text: RecordedText,
}

/// Whether the journal has the text of a recorded change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordedText {
    /// The inverse is complete.
    #[default]
    Kept,
    /// The inverse is complete, but the file is private (see [`Journal::keeps_text_of`]): the journal keeps the text only
    /// as long as this process runs.
    Private,
    /// The file is private, and its text is not known in this process. The splices of the inverse are empty and mean
    /// nothing.
    Withheld,
}

/// What someone else did to a file between two recorded changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignEdit {
    /// Its inverse: from the text before the later change to the text after the earlier one.
    pub splices: Splices,
    /// The content after the earlier change.
    pub hash_before: ContentHash,
}

impl FileRecord {
    /// A record that has only the inverse.
    pub fn new(inverse: FileChange) -> Self {
        Self { inverse, rung: None, foreign_edit: None, text: RecordedText::Kept }
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

/// What is recorded together with the completion of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aftereffects {
    /// What its session will remember, by key.
    pub memory: Vec<(String, String)>,
    /// The new text of each path. A journal keeps it until the next change at that path.
    pub texts: Vec<(FilePath, LastText)>,
}

/// The text of a path after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastText {
    /// A text that is short enough to keep.
    Short {
        /// The text.
        text: Vec<u8>,
        /// Its hash.
        hash: ContentHash,
    },
    /// There is no file, or its text is too long to keep.
    Unknown,
}

impl LastText {
    /// Longer texts are not kept.
    pub const MAX_BYTES: usize = 256 << 10;
}

/// Limits for the texts that a journal keeps because a session saw them.
pub struct ShownTexts;

impl ShownTexts {
    /// Longer texts are not kept.
    pub const MAX_BYTES: usize = LastText::MAX_BYTES;
    /// How many texts of a path are kept for a session.
    pub const MAX_PER_PATH: usize = 8;
}

/// How far a recorded change got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeState {
    /// Begun; whether it reached the files is not recorded yet.
    Pending,
    /// In the files.
    Done,
    /// Never reached the files.
    Abandoned,
}

/// A change in the journal, without its inverse.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Its id.
    pub id: ChangeId,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Where it came from.
    #[serde(flatten)]
    pub origin: Origin,
    /// How it relates to other changes.
    #[serde(flatten)]
    pub kind: ChangeKind,
    /// What it is for, in the caller's words.
    pub description: Option<String>,
    /// How the dialect classifies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<ChangeLabels>,
    /// Who approved it.
    pub approval: String,
    /// How far it got.
    pub state: ChangeState,
    /// The change that undid it, unless that one was undone in turn.
    pub undone_by: Option<ChangeId>,
    /// Its files.
    pub files: Vec<FileSummary>,
    /// What is wrong with its record. A damaged change is listed with what can still be read, and never used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
}

/// One file of a change in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileSummary {
    /// The path before, if there was a file.
    pub path_before: Option<FilePath>,
    /// The path after, if there is a file.
    pub path_after: Option<FilePath>,
    /// The content before.
    #[serde(rename = "version_before")]
    pub hash_before: Option<ContentHash>,
    /// The content after.
    #[serde(rename = "version_after")]
    pub hash_after: Option<ContentHash>,
    /// The loosest rung that was needed to find a place.
    pub rung: Option<Rung>,
}

/// A change in the journal with all that is needed to show and to undo it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What lists show of it.
    pub summary: Summary,
    /// Its files, with the inverse of each file's change.
    pub files: Vec<FileRecord>,
    /// The change as a unified diff.
    pub diff: String,
}

/// What one change left at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathState {
    /// The change.
    pub change: ChangeId,
    /// How far it got.
    pub state: ChangeState,
    /// The content that it left; `None` if it left no file there.
    pub hash: Option<ContentHash>,
}

/// Which changes to list. The default lists them all.
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
    /// Only changes after this one.
    pub after: Option<ChangeId>,
    /// Only changes before this one.
    pub before: Option<ChangeId>,
    /// Only changes that `undo` or `redo` without an id would choose from.
    pub undo: Option<UndoFilter>,
    /// At most this many.
    pub limit: Option<usize>,
}

/// Which changes can be undone or redone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoFilter {
    /// Edits that are not undone.
    Undoable,
    /// Undos that are not redone.
    Redoable,
}

/// The record of changes. Several processes may share one.
pub trait Journal: Send + Sync {
    /// Durably records a change before its files change. Called with the files locked.
    fn begin(&self, record: &Record) -> Result<ChangeId, JournalError> {
        let begun = self.begin_unless_cancelled(record, &CancelToken::default())?;
        begun.ok_or_else(|| JournalError::new("record a change", "the call was cancelled"))
    }

    /// Records a change for a call that may be cancelled while this waits for others. The call claims the right to write
    /// ([`CancelToken::begin_writing`]) right before the record is written, and cannot be cancelled from then on. `None` if
    /// it was cancelled before that; then nothing is recorded.
    fn begin_unless_cancelled(
        &self,
        record: &Record,
        cancel: &CancelToken,
    ) -> Result<Option<ChangeId>, JournalError>;

    /// Marks a pending change as done, and records its aftereffects.
    fn seal(&self, id: ChangeId, aftereffects: &Aftereffects) -> Result<(), JournalError>;

    /// Marks a pending change as never applied.
    fn abandon(&self, id: ChangeId) -> Result<(), JournalError>;

    /// The pending changes, oldest first, with their intents.
    fn pending(&self) -> Result<Vec<(ChangeId, Option<String>)>, JournalError>;

    /// A pending change of another root that concerns the file at this path, and that root.
    fn pending_in_other_root(&self, path: &FilePath) -> Result<Option<(ChangeId, String)>, JournalError> {
        let _ = path;
        Ok(None)
    }

    /// Stores values for a session, by key.
    fn remember(&self, session: &str, memory: &[(String, String)]) -> Result<(), JournalError>;

    /// A session's values whose keys start with `prefix`, sorted by key.
    fn recall(&self, session: &str, prefix: &str) -> Result<Vec<(String, String)>, JournalError>;

    /// Keeps a text that was shown to a session, so that an edit made for it can be understood after the file changed. A
    /// journal keeps the last [`ShownTexts::MAX_PER_PATH`] of a path, and drops texts longer than
    /// [`ShownTexts::MAX_BYTES`]. Called on every read, so it must not wait for other writers.
    fn note_shown(
        &self,
        session: &str,
        path: &FilePath,
        hash: ContentHash,
        text: &[u8],
    ) -> Result<(), JournalError>;

    /// The texts of a path that were shown to a session and are still kept, newest first.
    fn shown(&self, session: &str, path: &FilePath) -> Result<Vec<(ContentHash, Vec<u8>)>, JournalError>;

    /// One change with its inverse; `None` if it does not exist or was pruned.
    fn entry(&self, id: ChangeId) -> Result<Option<Entry>, JournalError>;

    /// The text that the last change left at a path, if it was kept and does not have the hash `other_than`.
    fn last_text(&self, path: &FilePath, other_than: ContentHash) -> Result<Option<Vec<u8>>, JournalError>;

    /// [`Journal::last_text`] of several paths.
    fn last_texts(&self, paths: &[(&FilePath, ContentHash)]) -> Result<Vec<Option<Vec<u8>>>, JournalError> {
        paths.iter().map(|(path, other_than)| self.last_text(path, *other_than)).collect()
    }

    /// Whether a change existed and its inverse was removed to save space.
    fn was_pruned(&self, id: ChangeId) -> Result<bool, JournalError>;

    /// Changes, newest first, without abandoned and pruned ones.
    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, JournalError>;

    /// What the last changes of a path left there, newest first: at most `limit` changes, before the change `before` if
    /// that is given. Like [`Journal::list`] with a path, without reading the other files of each change.
    fn states_of(
        &self,
        path: &FilePath,
        before: Option<ChangeId>,
        limit: usize,
    ) -> Result<Vec<PathState>, JournalError> {
        let filter = Filter { path: Some(path.clone()), before, limit: Some(limit), ..Filter::default() };
        let left = |change: &Summary| {
            let file = change.files.iter().find(|file| file.path_after.as_ref() == Some(path));
            file.and_then(|file| file.hash_after)
        };
        let listed = self.list(&filter)?;
        Ok(listed
            .iter()
            .map(|change| PathState { change: change.id, state: change.state, hash: left(change) })
            .collect())
    }

    /// Whether one of the changes between two others, without those, was pruned.
    fn any_pruned_between(&self, after: ChangeId, before: ChangeId) -> Result<bool, JournalError> {
        for id in after.0 + 1..before.0 {
            if self.was_pruned(ChangeId(id))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the journal stores text of the file at a path. Text of a private file is neither handed to it for display
    /// nor remembered for the session beyond this process.
    fn keeps_text_of(&self, path: &FilePath) -> bool {
        let _ = path;
        true
    }

    /// The same for a file with a single name, so that only this name can make it private.
    fn keeps_text_of_name(&self, path: &FilePath) -> bool {
        self.keeps_text_of(path)
    }

    /// Stores values for a session, by key, for as long as this process runs.
    fn remember_in_process(&self, session: &str, memory: &[(String, String)]) -> Result<(), JournalError> {
        self.remember(session, memory)
    }

    /// Stores a change until it is reviewed.
    fn propose(&self, proposal: &Proposal) -> Result<ProposalId, JournalError> {
        let stored = self.propose_unless_cancelled(proposal, &CancelToken::default())?;
        stored.ok_or_else(|| JournalError::new("store a proposal", "the call was cancelled"))
    }

    /// Stores a change for a call that may be cancelled meanwhile, like [`Journal::begin_unless_cancelled`].
    fn propose_unless_cancelled(
        &self,
        proposal: &Proposal,
        cancel: &CancelToken,
    ) -> Result<Option<ProposalId>, JournalError>;

    /// The pending proposals, oldest first.
    fn proposals(&self) -> Result<Vec<StoredProposal>, JournalError>;

    /// One proposal, reviewed or not.
    fn proposal(&self, id: ProposalId) -> Result<Option<StoredProposal>, JournalError>;

    /// Records the hunks of a pending proposal that are rejected, all of them each time.
    fn record_rejected_hunks(&self, id: ProposalId, hunks: &[RejectedHunk]) -> Result<(), JournalError>;

    /// Records the decision on a pending proposal.
    fn record_decision(&self, id: ProposalId, decision: &ProposalDecision) -> Result<(), JournalError>;
}

/// Why the journal could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal cannot {action}: {reason}")]
pub struct JournalError {
    /// What was tried.
    pub action: &'static str,
    /// What went wrong.
    pub reason: String,
    /// What kind of problem it is.
    pub kind: JournalErrorKind,
}

/// A kind of [`JournalError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalErrorKind {
    /// The journal could not do what was asked.
    Failed,
    /// The record is damaged. Other records can still be used.
    Damaged,
}

impl JournalError {
    /// The journal could not do what was asked.
    pub fn new(action: &'static str, reason: impl Into<String>) -> Self {
        Self { action, reason: reason.into(), kind: JournalErrorKind::Failed }
    }

    /// The journal has a record, but it is damaged.
    pub fn damaged(action: &'static str, reason: impl Into<String>) -> Self {
        Self { kind: JournalErrorKind::Damaged, ..Self::new(action, reason) }
    }
}
