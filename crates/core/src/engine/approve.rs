//! Stage four: nothing is written without approval.

use crate::guard::Checked;
use crate::ports::approver::{ApprovalRequest, Approver, Decision};
use crate::ports::journal::Label;

/// Why a change was not approved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    /// The approver declined.
    #[error("declined by {by}: {reason}")]
    No {
        /// Who declined.
        by: String,
        /// Why.
        reason: String,
    },
    /// Nobody has decided yet.
    #[error("the change is waiting for approval")]
    Pending {
        /// How to approve it.
        how: String,
        /// The change, to be stored until then.
        checked: Box<Checked>,
    },
}

/// Proof of approval. Only [`approve`] creates one; only [`commit`](crate::engine::commit::commit) consumes it.
///
/// ```compile_fail,E0451
/// use slipstitch_core::engine::approve::Approved;
/// use slipstitch_core::guard::Checked;
///
/// fn skip_the_approver(checked: Checked) -> Approved {
///     Approved { checked, by: "nobody".into() }
/// }
/// ```
#[must_use = "nothing is written until this is committed"]
#[derive(Debug)]
pub struct Approved {
    checked: Checked,
    by: String,
}

/// Asks the approver.
pub fn approve(checked: Checked, label: &Label, approver: &mut dyn Approver) -> Result<Approved, Declined> {
    let request = ApprovalRequest {
        checked: &checked,
        origin: &label.origin,
        description: label.description.as_deref(),
        diff: &label.diff,
    };
    match approver.decide(&request) {
        Decision::Approve { by } => Ok(Approved { checked, by }),
        Decision::Decline { by, reason } => Err(Declined::No { by, reason }),
        Decision::Pend { how } => Err(Declined::Pending { how, checked: Box::new(checked) }),
    }
}

impl Approved {
    /// The approved change.
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// Who approved it.
    pub fn by(&self) -> &str {
        &self.by
    }

    pub(crate) fn into_checked(self) -> Checked {
        self.checked
    }
}
