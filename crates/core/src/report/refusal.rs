//! What each stage has to say when it ends a call, as a report.

use super::{CONFLICT, FailureReport, Report, Status};
use crate::approve::Declined;
use crate::commit::CommitError;
use crate::guard::Refusal;
use crate::journal::JournalError;
use crate::means::Means;
use crate::resolve::{Failure, Reason, ResolveError};
use crate::workspace::WorkspaceError;

impl Report {
    /// A guard's refusal, for a caller of these means.
    pub(crate) fn refused(refusal: Refusal, means: &Means) -> Self {
        let status = if refusal == Refusal::NoChange { Status::NoChange } else { Status::Refused };
        let mut report = Self::new(status, refusal.code(), refusal.to_string()).hint(refusal.hint(means));
        report.refusal = Some(refusal);
        report
    }
}

impl FailureReport {
    fn of(failure: &Failure, means: &Means) -> Self {
        let found = match &failure.reason {
            Reason::Displaced(reason) => &**reason,
            reason => reason,
        };
        let (candidates, cause, resend) = match found {
            Reason::NotFound(diagnosis) | Reason::AlreadyApplied(diagnosis) => {
                (diagnosis.candidates.clone(), Some(diagnosis.cause), diagnosis.resend.clone())
            }
            Reason::Ambiguous { candidates, .. } => (candidates.clone(), None, None),
            Reason::HunkMissing { closest, .. } => (closest.iter().cloned().collect(), None, None),
            _ => (Vec::new(), None, None),
        };
        let (lines, matches, matches_apart) = match found {
            Reason::Ambiguous { lines, count, apart, .. } => (lines.clone(), Some(*count), Some(*apart)),
            Reason::Recount { after, .. } => (Vec::new(), Some(*after), Some(*after)),
            _ => (Vec::new(), None, None),
        };
        let (line, expected, there) = match found {
            Reason::HunkMissing { line, expected, found, .. } => {
                (*line, Some(expected.clone()), found.clone())
            }
            Reason::NotAtEnd { line, .. } | Reason::OutsideScope { line, .. } => (Some(*line), None, None),
            _ => (None, None, None),
        };
        Self {
            path: failure.path.clone(),
            edit: failure.edit,
            code: failure.reason.code(),
            message: failure.reason.to_string(),
            hint: failure.reason.hint(means),
            cause,
            lines,
            matches,
            matches_apart,
            candidates,
            resend,
            line,
            expected,
            found: there,
        }
    }
}

impl Report {
    /// Edits that have no place, for a caller of these means.
    pub(crate) fn unresolved(error: &ResolveError, means: &Means) -> Self {
        let failures: Vec<FailureReport> =
            error.failures.iter().map(|failure| FailureReport::of(failure, means)).collect();
        let first = &failures[0];
        // Edits beside it that could be made were not.
        let done = failures.len() == error.edits && failures.iter().all(|f| f.code == "already_applied");
        let status = match first.code {
            "file_not_found" => Status::Invalid,
            "already_applied" if done => Status::AlreadyApplied,
            _ => Status::Refused,
        };
        // Already applied among real failures is beside the point.
        let telling = failures.iter().find(|f| f.code != "already_applied").unwrap_or(first);
        let message = match failures.len() {
            1 => format!("`{}`: {}", telling.path, telling.message),
            count => format!("{count} edits cannot be made, so nothing was written"),
        };
        let hint = match (telling.code, done) {
            ("already_applied", false) => {
                "Nothing was written. Leave that edit out and send the others.".into()
            }
            _ => telling.hint.clone(),
        };
        let mut report = Self::new(status, telling.code, message).hint(hint);
        report.candidates = failures.iter().flat_map(|failure| failure.candidates.iter().cloned()).collect();
        report.failures = failures;
        report.edits = error.edits;
        report
    }
}

impl From<Declined> for Report {
    fn from(declined: Declined) -> Self {
        let message = declined.to_string();
        match declined {
            Declined::No { .. } => Self::new(Status::Refused, "declined", message)
                .hint("Do not send it again unchanged; take the reason into account."),
            Declined::Pending { how, .. } => Self::new(Status::Refused, "pending_review", message).hint(how),
        }
    }
}

impl From<WorkspaceError> for Report {
    fn from(error: WorkspaceError) -> Self {
        let (status, code, hint) = match &error {
            WorkspaceError::Outside(_) => (
                Status::Invalid,
                "outside_root",
                "Only files beneath the root can be used; symlinks that lead out of it are not followed.",
            ),
            WorkspaceError::Folder(_) => (Status::Invalid, "is_a_folder", "Give the path of a file in it."),
            WorkspaceError::NotRegular { .. } => {
                (Status::Invalid, "not_a_regular_file", "Only regular files can be used.")
            }
            WorkspaceError::NoFolder(_) => (Status::Invalid, "file_not_found", "Check the path."),
            WorkspaceError::NotAFolder(_) => (Status::Invalid, "not_a_folder", "Check the path."),
            WorkspaceError::Denied { .. } => {
                (Status::Failed, "permission_denied", "Ask the user to give this process access to the file.")
            }
            WorkspaceError::Conflict { .. } => {
                (Status::Refused, CONFLICT, "Nothing was written. Read the file again and repeat the edit.")
            }
            WorkspaceError::Refused { .. } => (
                Status::Refused,
                "cannot_keep",
                "Nothing was written. Ask the user how to go on with this file.",
            ),
            WorkspaceError::Unsaved { path, editor } => {
                let hint = format!(
                    "Nothing was written. Ask the user to save or revert the buffer of `{path}` in {editor}, \
                     then read the file and send the edit again."
                );
                return Self::new(Status::Refused, "unsaved_buffer", error.to_string()).hint(hint);
            }
            WorkspaceError::BadPath { .. } => (Status::Invalid, "bad_path", "Check the path."),
            WorkspaceError::Torn { .. } => (
                Status::Failed,
                "half_changed",
                "The next start tries to put it back; `slipstitch doctor` says what is left to do.",
            ),
            WorkspaceError::Unsettled(_) => (
                Status::Failed,
                "unsettled",
                "Nothing was written. `slipstitch doctor` shows what is left to settle and why.",
            ),
            WorkspaceError::Locked { .. } => {
                (Status::Refused, "locked", "Nothing was written. Try again in a moment.")
            }
            WorkspaceError::Io { .. } => {
                (Status::Failed, "io_error", "No file was changed. Mend the cause and try again.")
            }
        };
        Self::new(status, code, error.to_string()).hint(hint)
    }
}

impl From<JournalError> for Report {
    fn from(error: JournalError) -> Self {
        Self::new(Status::Failed, "journal_error", error.to_string())
            .hint("Nothing was written, as it could not be taken back. Check the state folder.")
    }
}

impl From<CommitError> for Report {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Files(error) => error.into(),
            CommitError::Journal(error) => error.into(),
        }
    }
}
