//! Stage six: the report, one structured form of what happened. Text is rendered from it.

mod diff;
mod excerpt;
mod snippet;
mod text;

use serde::Serialize;

pub(crate) use diff::{
    HunkChange, OMITTED_DIFF, changes_by_hunk, truncate_proposed_diff, truncate_stored_diff, unified_diff_of,
};
pub use diff::{is_whole_diff, unified_diff};
pub(crate) use excerpt::{excerpt, whole_lines};
pub use snippet::snippet;
pub(crate) use text::numbered_excerpt;
pub use text::{diff_for_model, numbered_lines, plain_text, truncate_diff};

use crate::change::{Base, FileChange, Lines, PathChange, PlacedEdit, Rung};
use crate::find::Candidate;
use crate::guard::Refusal;
use crate::outcome::{Outcome, Status, Unplaced};
use crate::path::FilePath;
use crate::plan::{ChangeId, ChangeLabels, EditPlan};
use crate::ports::journal::{ProposalId, RejectedHunk};
use crate::snapshot::{LargeFile, Snapshot, Snapshots};
use slipstitch_text::{ContentHash, Encoding, Newline};

/// The result of a call.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// How the call ended; serialized as `status` and `code`.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What happened, in a sentence.
    pub message: String,
    /// What the caller should do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The change's id in the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// The proposal's id in the journal, if the change is pending review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalId>,
    /// What the log says about a written or proposed change, in the terms of its dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Box<LogEntry>>,
    /// The hunks of an accepted proposal that were not applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<RejectedHunk>,
    /// The hunks of an accepted proposal that the reviewer changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited_hunks: Vec<usize>,
    /// The files concerned.
    pub files: Vec<FileReport>,
    /// The edits that could not be applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureReport>,
    /// How many further edits could not be applied. They are counted, not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_failures: usize,
    /// The places that prevent an undo or an acceptance, because they were changed again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictReport>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// The places closest to the texts that were not found.
    pub candidates: Vec<Candidate>,
    /// The existing path closest to one that does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closest_path: Option<FilePath>,
    /// The change as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The requested text, for calls that read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The diff with the file's own bytes, if they are not valid UTF-8.
    #[serde(skip)]
    pub raw_diff: Option<Vec<u8>>,
    /// The number of edits in the request, if some of them failed.
    #[serde(skip)]
    pub edits: usize,
    /// The guard's refusal, for dialects that word it in their own way.
    #[serde(skip)]
    pub refusal: Option<Refusal>,
    /// Which settings allow the change of a dry run, for people who ask what decides about a call.
    #[serde(skip)]
    pub allowed_by: Vec<String>,
}

/// What the log says about a change, for dialects that classify changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogEntry {
    /// How the dialect classifies it.
    #[serde(flatten)]
    pub labels: ChangeLabels,
    /// What it is for, in the caller's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One file of a report.
#[derive(Debug, Clone, Serialize)]
pub struct FileReport {
    /// Its path before the change, or where it was created.
    pub path: FilePath,
    /// What was done to it.
    pub action: Action,
    /// Its new path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<FilePath>,
    /// Its version before: the hash of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_before: Option<ContentHash>,
    /// Its version now: the hash of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<ContentHash>,
    /// Its dominant line ending.
    pub newline: Newline,
    /// Whether it has other line endings too.
    pub mixed_newlines: bool,
    /// Its encoding.
    pub encoding: Encoding,
    /// Whether it starts with a byte order mark.
    pub bom: bool,
    /// Its size in bytes now.
    pub bytes: u64,
    /// Its number of lines now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
    /// Its permission bits, in octal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Whether it can be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writable: Option<bool>,
    /// Whether it is binary.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// How it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_mode: Option<&'static str>,
    /// Where each edit was applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<PlacedEdit>,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It was only read.
    Read,
    /// Its text was changed.
    Modified,
    /// It was created.
    Created,
    /// It was deleted.
    Deleted,
    /// It was renamed, and possibly changed.
    Moved,
}

/// An edit that could not be applied.
#[derive(Debug, Clone, Serialize)]
pub struct FailureReport {
    /// The file.
    pub path: FilePath,
    /// The edit's number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<usize>,
    /// Why it failed; serialized as `code`.
    #[serde(rename = "code")]
    pub reason: Unplaced,
    /// Why it failed, in a sentence.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// The cause, if the old text was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<crate::find::Cause>,
    /// The line of each match, if there were several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<usize>,
    /// The number of matches. One that overlaps the match before it is not counted, so `aa` has one match in `aaa`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<usize>,
    /// The number of matches that were not counted, because they overlap others.
    #[serde(skip_serializing_if = "is_zero")]
    pub overlapping: usize,
    /// The closest places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// The file's text at the first candidate: the old text to send if that place is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend: Option<String>,
    /// The edit to send instead if that place is meant and the new text has to change as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend_edit: Option<crate::find::ResendEdit>,
    /// The lines to read again if there is nothing to send instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<crate::change::Lines>,
    /// Who changed the text that was quoted from an earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<crate::ports::versions::ChangedBy>,
    /// The line because of which a hunk does not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// That line according to the hunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// That line according to the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The first line of the request's old text that is not blank or punctuation, for whoever looks at the failure later.
    #[serde(skip)]
    pub sent: Option<String>,
    /// Whether the hunk removes that line.
    #[serde(skip)]
    pub is_removed_line: bool,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A place that was changed again: after the change to undo, or since the proposal to accept was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConflictReport {
    /// The file.
    pub path: FilePath,
    /// The change to undo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// The proposal to accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalId>,
    /// The recorded changes that changed the place again; empty for a foreign change.
    pub by: Vec<ChangeId>,
    /// What changed the place again, oldest first: what has to be undone first, beginning with the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<LaterChange>,
    /// The line at which the place starts now.
    pub line: usize,
    /// The lines that the proposal was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The lines after the change, or as the proposal would write them.
    pub left: String,
    /// The current lines.
    pub now: String,
}

/// A change that changed the place of an earlier one again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LaterChange {
    /// Its id; `None` for a change that is not in the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// Its current lines that overlap; empty if they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Lines>,
}

impl ConflictReport {
    /// Both versions of the place, as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let section = |title: String, text: &str| {
            let empty = text.is_empty().then(|| "    (nothing)".to_owned());
            let lines = text.lines().map(|line| format!("    {line}")).chain(empty);
            std::iter::once(title).chain(lines).collect::<Vec<_>>()
        };
        let title = match (self.change, self.proposal) {
            (Some(change), _) => format!("after {change}, in `{}`:", self.path),
            (None, Some(proposal)) => format!("{proposal} would write, in `{}`:", self.path),
            (None, None) => format!("before, in `{}`:", self.path),
        };
        let mut lines = match &self.expected {
            Some(expected) => section(format!("it was made for, in `{}`:", self.path), expected),
            None => Vec::new(),
        };
        lines.extend(section(title, &self.left));
        lines.extend(section(format!("now, at line {}:", self.line), &self.now));
        lines
    }
}

impl Report {
    /// A report without files.
    pub fn new(outcome: impl Into<Outcome>, message: impl Into<String>) -> Self {
        Self {
            outcome: outcome.into(),
            message: message.into(),
            hint: None,
            change: None,
            proposal: None,
            log: None,
            left_out: Vec::new(),
            edited_hunks: Vec::new(),
            files: Vec::new(),
            failures: Vec::new(),
            more_failures: 0,
            conflicts: Vec::new(),
            warnings: Vec::new(),
            candidates: Vec::new(),
            closest_path: None,
            diff: None,
            text: None,
            raw_diff: None,
            edits: 0,
            refusal: None,
            allowed_by: Vec::new(),
        }
    }

    /// A report with an outcome that an embedding program defines.
    pub fn custom(status: Status, code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Outcome::Custom { status, code }, message)
    }

    /// The outcome without its reason.
    pub fn status(&self) -> Status {
        self.outcome.status()
    }

    /// Stable machine-readable code of the outcome.
    pub fn code(&self) -> &'static str {
        self.outcome.code()
    }

    /// Whether the call failed. A call that waits for a user's decision neither succeeded nor failed.
    pub fn is_error(&self) -> bool {
        self.outcome.is_error()
    }

    /// Whether it says that a person accepted a proposal, completely or in part, and this call wrote nothing.
    pub fn is_decision(&self) -> bool {
        let is_accepted = matches!(self.outcome, Outcome::Applied | Outcome::PartlyAccepted);
        is_accepted && self.proposal.is_some() && self.files.is_empty()
    }

    /// Whether the caller got what it asked for.
    pub fn is_success(&self) -> bool {
        self.outcome.is_success()
    }

    /// Whether the caller needs the diff to know what was written. An edit that was applied exactly as sent needs none:
    /// the caller has both texts, and the answer has the line numbers.
    pub fn needs_diff(&self) -> bool {
        match self.status() {
            Status::Applied => self.files.iter().any(|file| file.is_surprising()),
            Status::Pending => false,
            Status::WouldApply
            | Status::NoChange
            | Status::AlreadyApplied
            | Status::Shown
            | Status::Refused
            | Status::Invalid
            | Status::Failed => true,
        }
    }

    /// A question that names the closest existing path, if a path does not exist.
    pub fn did_you_mean(&self) -> Option<String> {
        self.closest_path.as_ref().map(|path| format!("Did you mean `{path}`?"))
    }

    /// Sets the hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds warnings in front of the others.
    pub fn with_leading_warnings(mut self, warnings: &[String]) -> Self {
        self.warnings.splice(0..0, warnings.iter().cloned());
        self
    }

    /// Sets the diff.
    pub fn diff(mut self, diff: Vec<u8>) -> Self {
        match String::from_utf8(diff) {
            Ok(text) => self.diff = Some(text),
            Err(error) => {
                self.diff = Some(String::from_utf8_lossy(error.as_bytes()).into_owned());
                self.raw_diff = Some(error.into_bytes());
            }
        }
        self
    }

    /// Adds the current files of a plan, because the caller of a refused edit needs their current versions.
    pub fn with_files(mut self, plan: &EditPlan, snapshots: &Snapshots) -> Self {
        let existing =
            plan.files.iter().filter_map(|file| Some(FileReport::of(&file.path, snapshots.get(&file.path)?)));
        self.files.extend(existing);
        self
    }

    /// The report of a file that was read.
    pub fn shown(path: &FilePath, snapshot: &Snapshot, message: String) -> Self {
        let mut report = Self::new(Outcome::Shown, message);
        report.files.push(FileReport::of(path, snapshot));
        report
    }
}

impl FileReport {
    /// Whether something other than the request's own text was written: its place was recovered, or the change is not
    /// an edit, such as an undo.
    fn is_surprising(&self) -> bool {
        let is_recovered = self.edits.iter().any(|edit| edit.rung > Rung::Exact);
        is_recovered || (self.edits.is_empty() && self.action == Action::Modified)
    }

    /// An unchanged file.
    pub fn of(path: &FilePath, snapshot: &Snapshot) -> Self {
        Self {
            path: path.clone(),
            action: Action::Read,
            moved_to: None,
            version_before: None,
            version: Some(snapshot.hash()),
            newline: snapshot.newlines().dominant(),
            mixed_newlines: snapshot.newlines().is_mixed(),
            encoding: snapshot.encoding(),
            bom: snapshot.has_bom(),
            bytes: snapshot.byte_len() as u64,
            lines: (!snapshot.is_binary()).then(|| snapshot.line_count()),
            mode: snapshot.meta().mode.map(|mode| format!("{mode:04o}")),
            writable: Some(snapshot.meta().writable),
            binary: snapshot.is_binary(),
            write_mode: None,
            edits: Vec::new(),
        }
    }

    /// A large file of which only some lines were read.
    pub(crate) fn of_excerpt(path: &FilePath, file: &LargeFile) -> Self {
        Self {
            path: path.clone(),
            action: Action::Read,
            moved_to: None,
            version_before: None,
            version: None,
            newline: Newline::Lf,
            mixed_newlines: false,
            encoding: Encoding::Utf8,
            bom: false,
            bytes: file.source.content_len() as u64,
            lines: None,
            mode: file.meta.mode.map(|mode| format!("{mode:04o}")),
            writable: Some(file.meta.writable),
            binary: false,
            write_mode: None,
            edits: Vec::new(),
        }
    }

    /// A file after a change.
    pub(crate) fn changed(file: &FileChange, snapshot: Option<&Snapshot>) -> Self {
        let newlines = snapshot.map(Snapshot::newlines).unwrap_or_default();
        Self {
            path: file.path.clone(),
            action: match (file.base, &file.path_change) {
                (Base::Absent, _) => Action::Created,
                (_, PathChange::Keep) => Action::Modified,
                (_, PathChange::Move(_)) => Action::Moved,
                (_, PathChange::Delete) => Action::Deleted,
            },
            moved_to: match &file.path_change {
                PathChange::Move(to) => Some(to.clone()),
                PathChange::Keep | PathChange::Delete => None,
            },
            version_before: match file.base {
                Base::Absent => None,
                Base::Content(hash) => Some(hash),
            },
            version: file.after,
            newline: newlines.dominant(),
            mixed_newlines: newlines.is_mixed(),
            encoding: snapshot.map_or(Encoding::Utf8, Snapshot::encoding),
            bom: snapshot.is_some_and(Snapshot::has_bom),
            bytes: file.splices.new_len() as u64,
            lines: file.totals.map(|totals| totals.after),
            mode: None,
            writable: None,
            binary: false,
            write_mode: None,
            edits: file.edits.clone(),
        }
    }
}
