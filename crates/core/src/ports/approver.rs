//! The approval port: decides whether a change may be written.

use crate::guard::{Caution, Checked};
use crate::ports::journal::{Origin, ProposalId};

/// Approves or declines changes: a policy, a user at a terminal, a host's dialog.
pub trait Approver: Send {
    /// Decides on a change that passed the guards.
    fn decide(&mut self, request: &ApprovalRequest<'_>) -> Decision;

    /// Called after each file of a call was searched: `files` of `total` are done. Starts over if another process
    /// writes one of the files meanwhile and the call is retried.
    fn on_progress(&mut self, files: usize, total: usize) {
        let _ = (files, total);
    }

    /// Decides whether a read-only session may write from now on.
    fn grant(&mut self, request: &ModeRequest<'_>) -> Decision {
        Decision::Pend { how: format!("Only the user can give session `{}` write access.", request.session) }
    }
}

/// A change that needs a decision.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalRequest<'a> {
    /// The change and the guards' findings.
    pub checked: &'a Checked,
    /// Where it comes from.
    pub origin: &'a Origin,
    /// What it is for, in the caller's words.
    pub description: Option<&'a str>,
    /// The change as a unified diff.
    pub diff: &'a str,
}

/// A session's request for write access.
#[derive(Debug, Clone, Copy)]
pub struct ModeRequest<'a> {
    /// The session.
    pub session: &'a str,
    /// What for, in the model's words.
    pub reason: Option<&'a str>,
}

/// An approver's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Yes.
    Approve {
        /// Who approved, for the journal.
        by: String,
    },
    /// No.
    Decline {
        /// Who declined.
        by: String,
        /// Why, for the model.
        reason: String,
    },
    /// Not yet: the change is stored as a proposal until a user reviews it.
    Pend {
        /// What the caller should do meanwhile; `{id}` becomes the proposal's id.
        how: String,
    },
}

/// The answer to a caller whose change waits for review, with `{id}` for the proposal. It names no command: a caller with a shell must
/// not be led to approve its own change.
pub const PENDING_HINT: &str = "Nothing was written: only the user can approve it, and resending does not help. Tell the user that it waits and \
                                continue with other work. Later, the same call or the resource slipstitch://proposals/{id} returns the decision.";

/// [`PENDING_HINT`], or another hint like it, for a proposal.
pub fn pending_hint(hint: &str, id: ProposalId) -> String {
    hint.replace("{id}", &id.to_string())
}

/// Approves everything that passed the guards, unless a guard asks for a user's approval.
#[derive(Debug, Clone, Copy, Default)]
pub struct Auto;

impl Approver for Auto {
    fn decide(&mut self, request: &ApprovalRequest<'_>) -> Decision {
        match (request.checked.approval_reasons(), request.checked.caution()) {
            ([], Caution::Normal) => Decision::Approve { by: "auto".into() },
            ([], Caution::Cautious) => Decision::Approve { by: "auto (cautious)".into() },
            _ => Decision::Pend { how: PENDING_HINT.into() },
        }
    }
}

/// A user who has already reviewed the change and approved it.
#[derive(Debug, Clone)]
pub struct Person {
    /// The user's name.
    pub name: String,
}

impl Approver for Person {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> Decision {
        Decision::Approve { by: self.name.clone() }
    }
}
