//! Own approval: small changes are approved, large ones are declined.
//!
//! An approver sees the change with its diff after all guards have passed it and before anything is written. A real
//! application would show the diff to its user here; [`Decision::Pend`] keeps the change for a later review.

use slipstitch_core::ports::approver::{ApprovalRequest, Approver, Decision};

pub(crate) struct SizeLimit {
    pub(crate) max_lines: usize,
}

impl Approver for SizeLimit {
    fn decide(&mut self, question: &ApprovalRequest<'_>) -> Decision {
        let body = question.diff.lines().skip_while(|line| !line.starts_with("@@"));
        let changed = body.filter(|line| line.starts_with(['+', '-'])).count();
        if changed > self.max_lines {
            let reason = format!("it changes {changed} lines; the limit is {}", self.max_lines);
            return Decision::Decline { by: "size limit".into(), reason };
        }
        Decision::Approve { by: "size limit".into() }
    }
}
