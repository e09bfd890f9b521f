//! Stage four: someone agrees, or nothing is written.

use crate::guard::Checked;
use crate::ports::approver::{Approver, Decision, Question};
use crate::ports::journal::Label;

/// Why a change was not approved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    /// Someone said no.
    #[error("declined by {by}: {reason}")]
    No {
        /// Who.
        by: String,
        /// Why.
        reason: String,
    },
    /// Nobody has said anything yet.
    #[error("the change waits for approval")]
    Pending {
        /// How to approve it.
        how: String,
        /// The change, to be kept until then.
        checked: Box<Checked>,
    },
}

/// Proof that someone agreed. Only [`approve`] makes one; only
/// [`commit`](crate::engine::commit::commit) spends it.
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

/// Asks `who`, and turns a yes into the proof of it.
pub fn approve(checked: Checked, label: &Label, who: &mut dyn Approver) -> Result<Approved, Declined> {
    let question = Question {
        checked: &checked,
        origin: &label.origin,
        description: label.description.as_deref(),
        diff: &label.diff,
    };
    match who.decide(&question) {
        Decision::Approve { by } => Ok(Approved { checked, by }),
        Decision::Decline { by, reason } => Err(Declined::No { by, reason }),
        Decision::Pend { how } => Err(Declined::Pending { how, checked: Box::new(checked) }),
    }
}

impl Approved {
    /// What was agreed to.
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// Who agreed.
    pub fn by(&self) -> &str {
        &self.by
    }

    pub(crate) fn into_checked(self) -> Checked {
        self.checked
    }
}
