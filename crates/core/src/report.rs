//! Stage six: what happened, as one structured form. Text and diffs are made from it afterwards.

mod diff;
mod refusal;
mod snippet;
mod text;

use serde::Serialize;

pub use diff::unified;
pub use snippet::snippet;
pub(crate) use text::shortened;
pub use text::{plain, read_text};

use crate::change::{Base, ChangeSet, Fate, FileChange, Placed};
use crate::commit::Receipt;
use crate::guard::{Checked, Refusal};
use crate::journal::{ChangeId, ProposalId};
use crate::path::FilePath;
use crate::plan::EditPlan;
use crate::resolve::{Candidate, Snapshots};
use crate::snapshot::{ContentHash, Encoding, Newline, Snapshot};

/// The code of a change that another writer was quicker than.
pub const CONFLICT: &str = "conflict";

/// The outcome of a call, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Written.
    Applied,
    /// A dry run that would write.
    WouldApply,
    /// The result would be the same; nothing was written.
    NoChange,
    /// The new text is there already; nothing was written.
    AlreadyApplied,
    /// A look at a file.
    Shown,
    /// Understood, and not done: no match, ambiguous, stale, declined, …
    Refused,
    /// The request makes no sense, or names what is not there.
    Invalid,
    /// The system or the journal failed; nothing was written.
    Failed,
}

impl Status {
    /// Whether the caller got what it asked for.
    pub fn is_success(self) -> bool {
        match self {
            Self::Applied | Self::WouldApply | Self::NoChange | Self::AlreadyApplied | Self::Shown => true,
            Self::Refused | Self::Invalid | Self::Failed => false,
        }
    }
}

/// What happened.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// In one word.
    pub status: Status,
    /// More closely, for programs.
    pub code: &'static str,
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
    pub edits: Vec<Placed>,
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
    /// Why, for programs.
    pub code: &'static str,
    /// Why, in a sentence.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// The cause, where a text was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<crate::resolve::Cause>,
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
    pub fn new(status: Status, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
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

    /// A dry run's outcome.
    pub fn would_apply(checked: &Checked, seen: &Snapshots) -> Self {
        let changes = checked.changes();
        let mut report = Self::new(Status::WouldApply, "would_apply", summary("Would change", changes));
        report.files = files(changes, seen);
        report.warnings = notes(changes);
        report.warnings.extend(checked.warnings().iter().cloned());
        report.warnings.extend(checked.asks().iter().map(|why| format!("a person must agree first: {why}")));
        report
    }

    /// A written change.
    pub fn applied(receipt: &Receipt, seen: &Snapshots) -> Self {
        let mut report = Self::new(Status::Applied, "applied", summary("Changed", &receipt.changes));
        report.change = Some(receipt.id);
        report.files = files(&receipt.changes, seen);
        for (file, written) in report.files.iter_mut().zip(&receipt.written) {
            file.write_mode = Some(written.write_mode);
        }
        report.warnings = notes(&receipt.changes);
        report.warnings.extend(receipt.warnings.iter().cloned());
        report
    }

    /// A file that was looked at.
    pub fn shown(path: &FilePath, snapshot: &Snapshot, message: String) -> Self {
        let mut report = Self::new(Status::Shown, "shown", message);
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
            mixed_newlines: snapshot.newlines().mixed(),
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

    fn changed(file: &FileChange, snapshot: Option<&Snapshot>) -> Self {
        let newlines = snapshot.map(Snapshot::newlines).unwrap_or_default();
        Self {
            path: file.path.clone(),
            action: match (file.base, &file.fate) {
                (Base::Absent, _) => Action::Created,
                (_, Fate::Stays) => Action::Modified,
                (_, Fate::Moves(_)) => Action::Moved,
                (_, Fate::Goes) => Action::Deleted,
            },
            moved_to: match &file.fate {
                Fate::Moves(to) => Some(to.clone()),
                Fate::Stays | Fate::Goes => None,
            },
            hash_before: match file.base {
                Base::Absent => None,
                Base::Content(hash) => Some(hash),
            },
            hash: file.after,
            newline: newlines.dominant(),
            mixed_newlines: newlines.mixed(),
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

fn files(changes: &ChangeSet, seen: &Snapshots) -> Vec<FileReport> {
    changes.files().iter().map(|file| FileReport::changed(file, seen.get(&file.path))).collect()
}

fn notes(changes: &ChangeSet) -> Vec<String> {
    changes.files().iter().flat_map(|file| &file.notes).chain(changes.notes()).cloned().collect()
}

fn summary(verb: &str, changes: &ChangeSet) -> String {
    match changes.files() {
        [file] => {
            let places: usize = file.edits.iter().map(|edit| edit.occurrences).sum();
            match (file.base, &file.fate) {
                (Base::Absent, _) => format!("{verb}: created `{}`", file.path),
                (_, Fate::Goes) => format!("{verb}: deleted `{}`", file.path),
                (_, Fate::Moves(to)) => format!("{verb}: moved `{}` to `{to}`", file.path),
                (_, Fate::Stays) if places > 1 => format!("{verb} `{}` in {places} places", file.path),
                (_, Fate::Stays) => match file.edits.first().and_then(|edit| edit.places.first()) {
                    Some(place) if place.before.count == 0 => {
                        format!("{verb} `{}` {}", file.path, place.before)
                    }
                    Some(place) => format!("{verb} `{}` at {}", file.path, place.before),
                    None => format!("{verb} `{}`", file.path),
                },
            }
        }
        files => format!("{verb} {} files", files.len()),
    }
}
