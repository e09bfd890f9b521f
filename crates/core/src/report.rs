//! Stage six: what happened, as one structured form. Text and diffs are made from it afterwards.

mod diff;
mod snippet;
mod text;

use serde::Serialize;

pub use diff::unified;
pub use snippet::snippet;
pub use text::{plain, read_text, shortened};

use crate::change::{Base, FileChange, PathChange, PlacedEdit};
use crate::find::Candidate;
use crate::guard::Refusal;
use crate::outcome::{Outcome, Status, Unplaced};
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::plan::EditPlan;
use crate::ports::journal::ProposalId;
use crate::snapshot::Snapshot;
use crate::snapshot::Snapshots;
use slipstitch_text::{ContentHash, Encoding, Newline};

/// What happened.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// How the call ended; serialised as `status` and `code`.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// In a sentence.
    pub message: String,
    /// What the caller should do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The change's name in the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// The proposal's name in the journal, if the change waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalId>,
    /// The files concerned.
    pub files: Vec<FileReport>,
    /// Every edit that could not be made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureReport>,
    /// Places that were changed again, where a change cannot be taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictReport>,
    /// What the caller should know besides.
    pub warnings: Vec<String>,
    /// The places that come closest to what was not found.
    pub candidates: Vec<Candidate>,
    /// The change as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The text that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The same diff with the file's own bytes, where they are not valid UTF-8.
    #[serde(skip)]
    pub raw_diff: Option<Vec<u8>>,
    /// How many edits the request has, where some of them could not be made.
    #[serde(skip)]
    pub edits: usize,
    /// The guard's refusal, for dialects that put its facts into words of their own.
    #[serde(skip)]
    pub refusal: Option<Refusal>,
}

/// One file of a report.
#[derive(Debug, Clone, Serialize)]
pub struct FileReport {
    /// Its path before, or where it was made.
    pub path: FilePath,
    /// What was done to it.
    pub action: Action,
    /// Its new path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<FilePath>,
    /// Its content before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_before: Option<ContentHash>,
    /// Its content now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<ContentHash>,
    /// Its dominant end of line.
    pub newline: Newline,
    /// Whether it has others too.
    pub mixed_newlines: bool,
    /// Its encoding.
    pub encoding: Encoding,
    /// Whether it starts with a byte order mark.
    pub bom: bool,
    /// Its size in bytes now.
    pub bytes: u64,
    /// How many lines it has now.
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
    /// By which means it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_mode: Option<&'static str>,
    /// Where each edit went in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<PlacedEdit>,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Looked at.
    Read,
    /// Its text changed.
    Modified,
    /// It was made.
    Created,
    /// It was removed.
    Deleted,
    /// It has another name.
    Moved,
}

/// One edit that could not be made.
#[derive(Debug, Clone, Serialize)]
pub struct FailureReport {
    /// The file.
    pub path: FilePath,
    /// The edit's number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<usize>,
    /// Why; serialised as `code`.
    #[serde(rename = "code")]
    pub reason: Unplaced,
    /// Why, in a sentence.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// The cause, where a text was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<crate::find::Cause>,
    /// The line each match starts in, where there were several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<usize>,
    /// How many matches there were, overlapping ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<usize>,
    /// How many of them stand clear of each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches_apart: Option<usize>,
    /// The places that come closest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// The file's own text in the first of them: the old text to send if that place is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend: Option<String>,
    /// The line at which a hunk stops fitting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What the hunk says that line is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// A place that was changed again after a change that is to be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConflictReport {
    /// The file.
    pub path: FilePath,
    /// The change that is to be taken back.
    pub change: ChangeId,
    /// The changes that came after it there; none of ours if empty.
    pub by: Vec<ChangeId>,
    /// The line at which the place begins now.
    pub line: usize,
    /// The lines that the change left.
    pub left: String,
    /// The lines that are there now.
    pub now: String,
}

impl ConflictReport {
    /// Both sides, line by line.
    pub fn lines(&self) -> Vec<String> {
        let titled = |title: String, text: &str| {
            let empty = text.is_empty().then(|| "    (nothing)".to_owned());
            let lines = text.lines().map(|line| format!("    {line}")).chain(empty);
            std::iter::once(title).chain(lines).collect::<Vec<_>>()
        };
        let mut lines = titled(format!("{} left in `{}`:", self.change, self.path), &self.left);
        lines.extend(titled(format!("there is now, at line {}:", self.line), &self.now));
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
            files: Vec::new(),
            failures: Vec::new(),
            conflicts: Vec::new(),
            warnings: Vec::new(),
            candidates: Vec::new(),
            diff: None,
            text: None,
            raw_diff: None,
            edits: 0,
            refusal: None,
        }
    }

    /// A report with an outcome that a program around the engine defines.
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

    /// Whether the caller got what it asked for.
    pub fn is_success(&self) -> bool {
        self.outcome.is_success()
    }

    /// The same with a next step.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with more warnings in front.
    pub fn warn_first(mut self, warnings: &[String]) -> Self {
        self.warnings.splice(0..0, warnings.iter().cloned());
        self
    }

    /// The same with a diff.
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

    /// The same with the files as they are: whoever is refused should know the current version.
    pub fn with_files(mut self, plan: &EditPlan, seen: &Snapshots) -> Self {
        let found =
            plan.files.iter().filter_map(|file| Some(FileReport::of(&file.path, seen.get(&file.path)?)));
        self.files.extend(found);
        self
    }

    /// A file that was looked at.
    pub fn shown(path: &FilePath, snapshot: &Snapshot, message: String) -> Self {
        let mut report = Self::new(Outcome::Shown, message);
        report.files.push(FileReport::of(path, snapshot));
        report
    }
}

impl FileReport {
    /// A file as it is.
    pub fn of(path: &FilePath, snapshot: &Snapshot) -> Self {
        Self {
            path: path.clone(),
            action: Action::Read,
            moved_to: None,
            hash_before: None,
            hash: Some(snapshot.hash()),
            newline: snapshot.newlines().dominant(),
            mixed_newlines: snapshot.newlines().is_mixed(),
            encoding: snapshot.encoding(),
            bom: snapshot.has_bom(),
            bytes: snapshot.bytes().len() as u64,
            lines: (!snapshot.is_binary()).then(|| snapshot.line_count()),
            mode: snapshot.meta().mode.map(|mode| format!("{mode:04o}")),
            writable: Some(snapshot.meta().writable),
            binary: snapshot.is_binary(),
            write_mode: None,
            edits: Vec::new(),
        }
    }

    /// A file as a change leaves it.
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
            hash_before: match file.base {
                Base::Absent => None,
                Base::Content(hash) => Some(hash),
            },
            hash: file.after,
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
