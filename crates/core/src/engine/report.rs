//! Builds the report of each stage.

use super::commit::Receipt;
use crate::change::{Base, ChangeSet, FileChange, Lines, PathChange};
use crate::engine::approve::Declined;
use crate::engine::commit::CommitError;
use crate::find::{Diagnosis, Failure, Reason, ResolveError};
use crate::guard::{Checked, Refusal};
use crate::hint::HintPhrases;
use crate::outcome::{Failed, Invalid, Outcome, Refused, Unplaced};
use crate::plan::ParseError;
use crate::ports::journal::{JournalError, JournalErrorKind, ProposalId};
use crate::ports::workspace::{WorkspaceError, Written};
use crate::report::{FailureReport, FileReport, Report};
use crate::snapshot::Snapshots;

/// How many places of an edit a summary lists.
const MAX_PLACES: usize = 12;

impl Report {
    /// How the warning of a dry run starts that says why the change needs approval.
    pub const NEEDS_APPROVAL: &str = "needs the user's approval: ";

    /// The report of a dry run.
    pub fn would_apply(checked: &Checked, snapshots: &Snapshots) -> Self {
        let changes = checked.changes();
        let mut report = Self::new(Outcome::WouldApply, summary(Tense::Would, changes));
        report.files = file_reports(changes, snapshots);
        report.allowed_by = checked.allowed_by().to_vec();
        report.warnings = notes(changes);
        report.warnings.extend(checked.warnings().iter().cloned());
        let reasons = checked.approval_reasons().iter();
        report.warnings.extend(reasons.map(|reason| format!("{}{reason}", Self::NEEDS_APPROVAL)));
        report
    }

    /// The report of a written change.
    pub fn applied(receipt: &Receipt, snapshots: &Snapshots) -> Self {
        let mut report = Self::new(Outcome::Applied, summary(Tense::Done, &receipt.changes));
        report.change = Some(receipt.id);
        report.files = file_reports(&receipt.changes, snapshots);
        report.warnings = notes(&receipt.changes);
        for (file, written) in report.files.iter_mut().zip(&receipt.written) {
            file.write_mode = Some(written.write_mode);
            if written.write_mode == Written::IN_PLACE {
                report.warnings.push(format!(
                    "`{}` was written in place, because no new file can take its place: a program that read it \
                     meanwhile may have seen part of the change",
                    written.path
                ));
            }
        }
        report.warnings.extend(receipt.warnings.iter().cloned());
        report
    }

    /// The report of a guard's refusal.
    pub(crate) fn refused(refusal: Refusal, phrases: &HintPhrases) -> Self {
        let mut report = Self::new(refusal.outcome(), refusal.to_string()).hint(refusal.hint(phrases));
        report.refusal = Some(refusal);
        report
    }
}

impl FailureReport {
    fn of(failure: &Failure, phrases: &HintPhrases) -> Self {
        let reason = match &failure.reason {
            Reason::Displaced(reason) => &**reason,
            reason => reason,
        };
        let (candidates, cause, resend) = match reason {
            Reason::NotFound(diagnosis) | Reason::AlreadyApplied(diagnosis) => {
                (diagnosis.candidates.clone(), Some(diagnosis.cause), diagnosis.resend.clone())
            }
            Reason::OutsideScope { place, .. } => (place.candidates.clone(), None, place.resend.clone()),
            Reason::Ambiguous { candidates, .. } => (candidates.clone(), None, None),
            _ => (Vec::new(), None, None),
        };
        let diagnosis = match reason {
            Reason::NotFound(diagnosis) => Some(diagnosis),
            Reason::OutsideScope { place, .. } => Some(&**place),
            _ => None,
        };
        let (lines, matches, overlapping) = match reason {
            Reason::Ambiguous { lines, count, non_overlapping, .. } => {
                (lines.clone(), Some(*non_overlapping), count - non_overlapping)
            }
            Reason::WrongCount { lines, count, .. } => (lines.clone(), Some(*count), 0),
            Reason::Recount { after, .. } => (Vec::new(), Some(*after), 0),
            _ => (Vec::new(), None, 0),
        };
        let (line, expected, actual) = match reason {
            Reason::NotFound(Diagnosis { mismatch: Some(mismatch), .. }) => {
                (mismatch.line, Some(mismatch.expected.clone()), mismatch.found.clone())
            }
            Reason::NotAtEnd { line, .. } | Reason::OutsideScope { line, .. } => (Some(*line), None, None),
            _ => (None, None, None),
        };
        Self {
            path: failure.path.clone(),
            edit: failure.edit,
            reason: failure.reason.unplaced(),
            message: failure.reason.to_string(),
            hint: failure.reason.hint(phrases),
            cause,
            lines,
            matches,
            overlapping,
            candidates,
            resend,
            resend_edit: diagnosis.and_then(|diagnosis| diagnosis.resend_edit.clone()),
            read: diagnosis.map(|diagnosis| diagnosis.read.clone()).unwrap_or_default(),
            changed_by: diagnosis.and_then(|diagnosis| diagnosis.changed_by.clone()),
            line,
            expected,
            found: actual,
            sent: None,
            is_removed_line: matches!(
                reason,
                Reason::NotFound(Diagnosis { mismatch: Some(mismatch), .. }) if mismatch.is_removed
            ),
        }
    }
}

/// How many failures of a batch are listed; the others are counted.
const MAX_FAILURES: usize = 40;

impl Report {
    /// The report of edits that have no place.
    pub(crate) fn unresolved(error: &ResolveError, phrases: &HintPhrases) -> Self {
        let is_done = |failure: &Failure| failure.reason.unplaced() == Unplaced::AlreadyApplied;
        // If there are other edits, they were not applied.
        let all_done = error.failures.len() == error.edits && error.failures.iter().all(is_done);
        // An edit that is already applied does not explain why the others failed.
        let main = error.failures.iter().find(|failure| !is_done(failure)).unwrap_or(&error.failures[0]);
        let is_main_done = is_done(main);
        let main = FailureReport::of(main, phrases);
        let mut listed: Vec<&Failure> = error.failures.iter().collect();
        // A failure of a whole file is reported once.
        listed.dedup_by(|a, b| a.edit.is_none() && a == b);
        let count = listed.len();
        let listed = listed.into_iter().take(MAX_FAILURES);
        let failures: Vec<FailureReport> =
            listed.map(|failure| FailureReport::of(failure, phrases)).collect();
        let outcome = if all_done { Outcome::AlreadyApplied } else { main.reason.into() };
        let message = match count {
            // A message that starts with the path needs no second one.
            1 if main.message.starts_with(&format!("`{}` ", main.path)) => main.message.clone(),
            1 => format!("`{}`: {}", main.path, main.message),
            count if all_done => format!("the result of all {count} edits is already there"),
            count => format!("{count} edits cannot be applied, so nothing was written"),
        };
        let hint = if is_main_done && !all_done {
            "Nothing was written. Leave that edit out and retry the others.".into()
        } else {
            main.hint.clone()
        };
        let mut report = Self::new(outcome, message).hint(hint);
        report.candidates = failures.iter().flat_map(|failure| failure.candidates.iter().cloned()).collect();
        report.more_failures = count - failures.len();
        report.failures = failures;
        report.edits = error.edits;
        report
    }
}

impl From<Declined> for Report {
    fn from(declined: Declined) -> Self {
        let message = declined.to_string();
        match declined {
            Declined::No { .. } => Self::new(Refused::Declined, message)
                .hint("Do not retry it unchanged; take the reason into account."),
            Declined::Pending { how, .. } => Self::new(Refused::PendingReview, message).hint(how),
        }
    }
}

impl From<WorkspaceError> for Report {
    fn from(error: WorkspaceError) -> Self {
        let (outcome, hint) = match &error {
            WorkspaceError::Outside(_) => (
                Outcome::from(Invalid::OutsideRoot),
                "Only files inside the root can be used; symlinks that lead out of it are not followed.",
            ),
            WorkspaceError::Folder(_) => {
                (Outcome::from(Invalid::IsAFolder), "Give the path of a file in it.")
            }
            WorkspaceError::NotRegular { .. } => {
                (Outcome::from(Invalid::NotARegularFile), "Only regular files can be used.")
            }
            WorkspaceError::NoFolder(_) => (Outcome::from(Invalid::FileNotFound), "Check the path."),
            WorkspaceError::NotAFolder(_) => (Outcome::from(Invalid::NotAFolder), "Check the path."),
            WorkspaceError::Denied { .. } => (
                Outcome::from(Failed::PermissionDenied),
                "Ask the user to give this process access to the file.",
            ),
            WorkspaceError::Conflict { .. } => (
                Outcome::from(Refused::Conflict),
                "Nothing was written. Read the file again and repeat the edit.",
            ),
            WorkspaceError::SavedMeanwhile { .. } => (
                Outcome::from(Refused::SavedMeanwhile),
                "Read the file again; repeat the edit only if the file does not have it.",
            ),
            WorkspaceError::Refused { .. } => (
                Outcome::from(Refused::CannotKeep),
                "Nothing was written. Ask the user how to proceed with this file.",
            ),
            WorkspaceError::Unsaved { path, editor, evidence } => {
                let mut hint = format!(
                    "Nothing was written. Ask the user to save or revert the buffer of `{path}` in {editor}, \
                     then read the file and retry the edit."
                );
                if let Some(evidence) = evidence {
                    hint.push_str(&format!(" This is known from {evidence}."));
                }
                return Self::new(Refused::UnsavedBuffer, error.to_string()).hint(hint);
            }
            WorkspaceError::BadPath { .. } => (Outcome::from(Invalid::BadPath), "Check the path."),
            WorkspaceError::Torn { .. } => (
                Outcome::from(Failed::HalfChanged),
                "The next start tries to roll it back; `slipstitch doctor` shows what is left to do.",
            ),
            WorkspaceError::Unsettled(_) => (
                Outcome::from(Failed::Unsettled),
                "Nothing was written. `slipstitch doctor` shows what is still unrecovered, and why.",
            ),
            WorkspaceError::Locked { .. } => {
                (Outcome::from(Refused::Locked), "Nothing was written. Try again in a moment.")
            }
            WorkspaceError::Io { .. } => {
                (Outcome::from(Failed::Io), "No file was changed. Fix the cause and try again.")
            }
        };
        Self::new(outcome, error.to_string()).hint(hint)
    }
}

impl From<JournalError> for Report {
    fn from(error: JournalError) -> Self {
        let hint = match error.kind {
            JournalErrorKind::Failed => "Check the state folder.",
            JournalErrorKind::Damaged => {
                "Nothing was written. `slipstitch doctor` lists all damaged records; other changes can still be undone."
            }
        };
        Self::new(Failed::Journal, error.to_string()).hint(hint)
    }
}

impl Report {
    /// The report for a proposal that was made for other files than those that are there now.
    pub(super) fn stale_proposal(id: ProposalId, message: &str) -> Self {
        Self::new(Refused::StaleFile, message).hint(format!(
            "Nothing was written. Reject {id} and have the change proposed again for the current file."
        ))
    }
}

/// The report of a cancelled call.
pub(super) fn cancelled() -> Report {
    Report::new(Refused::Cancelled, "the call was cancelled; nothing was written")
        .hint("Send it again if it is still wanted.")
}

impl From<CommitError> for Report {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Files(error) => error.into(),
            CommitError::Journal(error) if error.kind == JournalErrorKind::Failed => Self::from(error).hint(
                "Nothing was written: without the journal the change could not be undone. Check the state folder.",
            ),
            CommitError::Journal(error) => error.into(),
            CommitError::Cancelled => cancelled(),
        }
    }
}

impl From<ParseError> for Report {
    fn from(error: ParseError) -> Self {
        Self::new(error.outcome, error.problem.to_string()).hint(error.hint)
    }
}

fn file_reports(changes: &ChangeSet, snapshots: &Snapshots) -> Vec<FileReport> {
    changes.files().iter().map(|file| FileReport::changed(file, snapshots.before(file))).collect()
}

fn notes(changes: &ChangeSet) -> Vec<String> {
    changes.files().iter().flat_map(|file| &file.notes).chain(changes.notes()).cloned().collect()
}

/// The new line numbers of a file's places, if they are few.
fn new_lines(file: &FileChange) -> String {
    let mut places: Vec<Lines> =
        file.edits.iter().flat_map(|edit| &edit.places).map(|place| place.after).collect();
    let occurrences: usize = file.edits.iter().map(|edit| edit.occurrences).sum();
    if places.len() < occurrences || places.len() > MAX_PLACES {
        return String::new();
    }
    places.sort_by_key(|lines| lines.start);
    places.dedup();
    let word = match &places[..] {
        [lines] if lines.count <= 1 => "line",
        _ => "lines",
    };
    let ranges = places.iter().map(|lines| match lines.count {
        0 | 1 => lines.start.to_string(),
        count => format!("{}-{}", lines.start, lines.start + count - 1),
    });
    format!(", now {word} {}", ranges.collect::<Vec<_>>().join(", "))
}

/// Whether a summary says what was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tense {
    Would,
    Done,
}

impl Tense {
    /// A verb at the start of a summary.
    fn of(self, would: &str, done: &str) -> String {
        match self {
            Self::Would => format!("Would {would}"),
            Self::Done => done.to_owned(),
        }
    }
}

fn summary(tense: Tense, changes: &ChangeSet) -> String {
    let verb = tense.of("change", "Changed");
    match changes.files() {
        [file] => {
            let places: usize = file.edits.iter().map(|edit| edit.occurrences).sum();
            match (file.base, &file.path_change) {
                (Base::Absent, _) => format!("{} `{}`", tense.of("create", "Created"), file.path),
                (_, PathChange::Delete) => format!("{} `{}`", tense.of("delete", "Deleted"), file.path),
                (_, PathChange::Move(to)) => {
                    format!("{} `{}` to `{to}`", tense.of("move", "Moved"), file.path)
                }
                (_, PathChange::Keep) if places > 1 => {
                    format!("{verb} `{}` in {places} places{}", file.path, new_lines(file))
                }
                (_, PathChange::Keep) => match file.edits.first().and_then(|edit| edit.places.first()) {
                    Some(place) if place.before.count == 0 && place.after.count > 0 => {
                        format!("{verb} `{}` by adding {}", file.path, place.after)
                    }
                    Some(place) => format!("{verb} `{}` at {}", file.path, place.before),
                    None => format!("{verb} `{}`", file.path),
                },
            }
        }
        files => {
            let places: usize = files.iter().flat_map(|file| &file.edits).map(|edit| edit.occurrences).sum();
            let in_places = if places > files.len() { format!(" in {places} places") } else { String::new() };
            format!("{verb} {} files{in_places}", files.len())
        }
    }
}
