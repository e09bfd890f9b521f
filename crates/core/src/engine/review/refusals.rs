//! Reports for proposals that cannot be applied or decided.

use crate::outcome::{Failed, Invalid, Refused};
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::ports::journal::{ProposalDecision, ProposalId, RejectedHunk};
use crate::report::{ConflictReport, Report};
use slipstitch_text::display::join_items;

pub(super) const LIST_HINT: &str = "`slipstitch review` lists the proposals that wait for review.";

/// How many changes are listed.
const MAX_CHANGES: usize = 5;

/// The report for a proposal that is not in the journal.
pub fn unknown_proposal(id: ProposalId) -> Report {
    Report::new(Invalid::UnknownProposal, format!("there is no proposal {id} in this root's journal"))
        .hint(LIST_HINT)
}

pub(super) fn already_decided(id: ProposalId, decision: &ProposalDecision) -> Report {
    Report::new(Refused::AlreadyDecided, format!("{id} was already {decision}")).hint(LIST_HINT)
}

pub(super) fn damaged(id: ProposalId, problem: &str) -> Report {
    let message = format!("the journal's record of {id} is damaged: {problem}");
    Report::new(Failed::Journal, message)
        .hint("Nothing was written. Reject it and have the change proposed again.")
}

pub(super) fn no_hunk_named(id: ProposalId) -> Report {
    Report::new(Invalid::BadRequest, "no hunk is named").hint(show_hint(id))
}

pub(super) fn no_such_hunk(id: ProposalId, number: usize, count: usize) -> Report {
    let hunks = if count == 1 { "1 hunk".into() } else { format!("{count} hunks") };
    let message = format!("{id} has {hunks}, so there is no hunk {number}");
    Report::new(Invalid::BadRequest, message).hint(show_hint(id))
}

fn show_hint(id: ProposalId) -> String {
    format!("`slipstitch review show {id}` lists the hunks with their numbers.")
}

pub(super) fn rejected_before(id: ProposalId, rejected: &RejectedHunk) -> Report {
    let RejectedHunk { hunk, by, reason } = rejected;
    let reason = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    Report::new(Invalid::BadRequest, format!("hunk {hunk} of {id} was rejected by {by}{reason}")).hint(
        "Nothing was written. Leave this hunk out, or reject the proposal and have the change proposed again.",
    )
}

pub(super) fn cannot_select_hunks(id: ProposalId) -> Report {
    let message = format!("{id} cannot be applied in part: its diff is too long, or no hunk would be left");
    Report::new(Invalid::BadRequest, message)
        .hint(format!("Nothing was written. Accept or reject {id} as a whole."))
}

pub(super) fn cannot_edit_hunk(id: ProposalId, hunk: usize, problem: &str) -> Report {
    Report::new(Invalid::BadRequest, format!("hunk {hunk} of {id} cannot be edited: {problem}"))
        .hint("Nothing was written. Accept or reject the hunk as it is.")
}

/// What happened to a file since a proposal was made for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFate {
    Created,
    Changed,
    Deleted,
}

/// The report for a proposal whose file changed in a way that it cannot be carried over.
pub(super) fn changed_since(id: ProposalId, path: &FilePath, fate: FileFate, by: &[ChangeId]) -> Report {
    let fate = match fate {
        FileFate::Created => "was created",
        FileFate::Changed => "was changed",
        FileFate::Deleted => "was deleted or moved",
    };
    let by = describe_changes(by);
    Report::stale_proposal(id, &format!("`{path}` {fate}{by} since {id} was proposed"))
}

/// The report for a proposal whose own lines were changed.
pub(super) fn conflicting_lines(id: ProposalId, conflict: ConflictReport) -> Report {
    let by = describe_changes(&conflict.by);
    let message =
        format!("`{}` was changed{by} at line {}, which {id} changes too", conflict.path, conflict.line);
    let mut report = Report::new(Refused::StaleFile, message).hint(format!(
        "Nothing was written. Leave that hunk out, or reject {id} and have the change proposed again for the current file."
    ));
    report.proposal = Some(id);
    report.conflicts.push(conflict);
    report
}

fn describe_changes(by: &[ChangeId]) -> String {
    match by {
        [] => String::new(),
        [first, .., last] if by.len() > MAX_CHANGES => {
            format!(" by {} changes, {first} to {last},", by.len())
        }
        ids => format!(" by {}", join_items(ids)),
    }
}
