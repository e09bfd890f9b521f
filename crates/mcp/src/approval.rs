//! Asks the user for approval where the engine requires it.
//!
//! The engine stores a change that needs approval in the journal as a proposal. If the client can show forms, the user
//! decides right away:
//!
//! | era | how |
//! | --- | --- |
//! | handshake | the server sends `elicitation/create`, and the call waits for the answer |
//! | stateless | the call is answered with the form; the client repeats it with the filled form and the request state |
//!
//! If it cannot, or if nobody decides, the proposal stays in the journal. While somebody has the review open, the call waits
//! for their decision (`call/review_wait.rs`); otherwise the answer says that the change waits. So nothing is lost when a
//! client goes away. No form is shown with a review passphrase, because the host would read what the user types, or with
//! `review.forms = false`.

pub(crate) mod approver;
pub(crate) mod form;
pub(crate) mod request_state;

use slipstitch::core::cancel::CancelToken;
use slipstitch::core::change::{Base, PathChange};
use slipstitch::core::engine::approve::Declined;
use slipstitch::core::outcome::{Outcome, Refused, Status};
use slipstitch::core::ports::approver::{Decision, PENDING_HINT, pending_hint};
use slipstitch::core::ports::journal::{Proposal, ProposalId};
use slipstitch::core::report::{Report, is_whole_diff};
use slipstitch::{Reviewer, Workspace};
use tokio_util::sync::CancellationToken;

use crate::display_text::{one_line, quoted};
use request_state::hash_part;
use slipstitch::core::text::display::escape_text;

/// The longest diff that a form shows, in characters.
const MAX_DIFF_CHARS: usize = 6_000;

/// Who cancels a call, and why, for the journal and the model.
const CANCELLED_BY: &str = "the client";
const CANCELLED_REASON: &str = "the call was cancelled";

/// The result of asking the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApprovalOutcome {
    Approved,
    Rejected {
        /// The user's reason, for the model.
        reason: Option<String>,
    },
    /// The form was closed, not answered in time, or came back without a valid answer.
    Undecided,
    /// The client answered faster than a person can, so nobody has decided.
    Unattended,
    /// The client cancelled the call meanwhile.
    Cancelled,
}

impl ApprovalOutcome {
    /// The outcome of a cancelled call. A server that stops cancels its calls too; what they asked about stays open.
    pub(crate) fn of_cancelled_call(closing: &CancellationToken) -> Self {
        if closing.is_cancelled() { Self::Undecided } else { Self::Cancelled }
    }

    /// Revokes an approval if the call was cancelled meanwhile.
    pub(crate) fn unless_cancelled(self, cancelled: &CancellationToken, closing: &CancellationToken) -> Self {
        match self {
            Self::Approved if cancelled.is_cancelled() => Self::of_cancelled_call(closing),
            other => other,
        }
    }

    /// The engine's decision on a request for write access; `None` if it stays undecided.
    pub(crate) fn into_decision(self, approver: &str) -> Option<Decision> {
        match self {
            Self::Approved => Some(Decision::Approve { by: approver.into() }),
            Self::Rejected { reason } => {
                Some(Decision::Decline { by: approver.into(), reason: reason_text(reason) })
            }
            Self::Undecided | Self::Unattended => None,
            Self::Cancelled => Some(cancelled_decision()),
        }
    }
}

fn cancelled_decision() -> Decision {
    Decision::Decline { by: CANCELLED_BY.into(), reason: CANCELLED_REASON.into() }
}

fn reason_text(reason: Option<String>) -> String {
    reason.unwrap_or_else(|| "no reason was given".into())
}

/// A digest of a proposal's effects, so that an approval of one proposal cannot be used for another.
pub(crate) fn proposal_digest(proposal: &Proposal) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in &proposal.files {
        let base = match file.base {
            Base::Absent => "absent".to_owned(),
            Base::Content(hash) => hash.to_string(),
        };
        let fate = match &file.path_change {
            PathChange::Keep => "keep".to_owned(),
            PathChange::Move(to) => format!("move to {to}"),
            PathChange::Delete => "delete".to_owned(),
        };
        let after = file.after.map_or("none".to_owned(), |hash| hash.to_string());
        for part in [file.path.as_str(), &base, &fate, &after] {
            hash_part(&mut hasher, part);
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// The client's name, as a form shows it.
fn agent_label(agent: Option<&str>) -> String {
    agent.map_or_else(|| "The agent".to_owned(), quoted)
}

/// The text of the form that asks about a change; `None` if a form cannot show the whole change. Nobody should approve what
/// they have not seen.
pub(crate) fn change_message(id: ProposalId, proposal: &Proposal, agent: Option<&str>) -> Option<String> {
    let diff = escape_text(&proposal.diff);
    if !is_whole_diff(&proposal.diff) || diff.chars().nth(MAX_DIFF_CHARS).is_some() {
        return None;
    }
    let agent = agent_label(agent);
    let count = proposal.files.len();
    let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let mut message =
        format!("{agent} wants to change {files} ({id}).\nApproval needed: {}\n", one_line(&proposal.reason));
    if let Some(description) = &proposal.description {
        message.push_str(&format!("Description: {}\n", quoted(description)));
    }
    message.push('\n');
    message.push_str(&diff);
    Some(message)
}

/// The text of the form that asks for write access.
pub(crate) fn mode_message(reason: &str, agent: Option<&str>) -> String {
    let agent = agent_label(agent);
    let reason = if one_line(reason).is_empty() {
        "No reason was given.".to_owned()
    } else {
        format!("Reason: {}", quoted(reason))
    };
    format!(
        "{agent} requests write access; so far it can only read files.\n{reason}\n\n\
         If you approve, it can change files until the session ends. Every change can be undone with `slipstitch undo`."
    )
}

/// Accepts or rejects a proposal; `None` if the user has not decided.
///
/// A form is no place for a passphrase: the host would read it. If one was set while the form was shown, the proposal stays open.
pub(crate) fn record_decision(
    workspace: &Workspace,
    id: ProposalId,
    outcome: ApprovalOutcome,
    approver: &str,
    cancel: &CancelToken,
) -> Option<Report> {
    let report = match outcome {
        ApprovalOutcome::Undecided | ApprovalOutcome::Unattended => return None,
        ApprovalOutcome::Approved => {
            let accepted = accept_proposal(workspace, id, &workspace.reviewer(approver, None).ok()?, cancel);
            if accepted.outcome == Outcome::Refused(Refused::Cancelled) {
                return record_decision(workspace, id, ApprovalOutcome::Cancelled, approver, cancel);
            }
            accepted
        }
        ApprovalOutcome::Rejected { reason } => {
            let reviewer = workspace.reviewer(approver, None).ok()?;
            let report = workspace.reject(id, &reviewer, reason.as_deref());
            if report.outcome != Outcome::ProposalRejected {
                return Some(report);
            }
            let rejected = workspace.report_decision(id).ok().flatten();
            rejected
                .unwrap_or_else(|| Declined::No { by: approver.into(), reason: reason_text(reason) }.into())
        }
        ApprovalOutcome::Cancelled => {
            let _ = workspace.withdraw(id, CANCELLED_BY, Some(CANCELLED_REASON));
            Declined::No { by: CANCELLED_BY.into(), reason: CANCELLED_REASON.into() }.into()
        }
    };
    // The caller gets the decision now.
    if let Ok(Some(found)) = workspace.proposal(id) {
        workspace.decision_reported(&found);
    }
    Some(report)
}

fn accept_proposal(
    workspace: &Workspace,
    id: ProposalId,
    reviewer: &Reviewer,
    cancel: &CancelToken,
) -> Report {
    let report = workspace.accept_unless_cancelled(id, reviewer, cancel);
    if report.outcome != Outcome::Refused(Refused::StaleFile) {
        return report;
    }
    // The model will send the edit again, and this proposal can never be applied.
    let _ = workspace.withdraw(id, "slipstitch", Some("a file changed before the approval"));
    report.hint("Nothing was written. Read the file again and send an edit of its current content.")
}

/// The report of a call whose change is still waiting for approval.
pub(crate) fn pending_report(id: ProposalId, proposal: &Proposal) -> Report {
    let message = format!("the change is waiting for review as {id}: {}", proposal.reason);
    let mut report = Report::new(Refused::PendingReview, message).hint(pending_hint(PENDING_HINT, id));
    report.proposal = Some(id);
    report
}

/// The answer to the model if a form was answered too fast to have been read.
pub(crate) fn unattended_note(approver: &str) -> String {
    format!("{approver} answered the form faster than a person can read it, so nobody has decided")
}

/// The report of a change that is too long for a form. It leaves the decision to the user and tells the model nothing that
/// it could do itself, as the dialects' own words may do; so it is not rendered by them.
pub(crate) fn too_long_report(id: ProposalId, proposal: &Proposal) -> Report {
    let message = format!(
        "the change is waiting for the user's review as {id}: {}; it is too long for an approval form",
        one_line(&proposal.reason)
    );
    let hint = pending_hint(PENDING_HINT, id);
    let mut report = Report::custom(Status::Pending, "pending_review", message).hint(hint);
    report.proposal = Some(id);
    report
}
