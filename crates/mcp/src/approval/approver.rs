//! The engine's approver during a call.

use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Auto, Decision, ModeRequest};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::cancelled_decision;
use crate::progress::Progress;

/// Approves what the policy allows unless the client has cancelled the call, and forwards progress.
///
/// It never waits for the user: what needs approval is put off and asked about after the engine has answered.
#[derive(Debug)]
pub(crate) struct CallApprover {
    cancelled: CancellationToken,
    /// The user's decision on a request for write access, if it was made before this call.
    mode_decision: Option<Decision>,
    /// The reason of a request for write access that is not decided yet.
    pub(crate) mode_request: Option<String>,
    progress: Option<UnboundedSender<Progress>>,
    last_progress: Option<Progress>,
    /// Whether the call was made before and the user was asked.
    pub(crate) is_repeated: bool,
}

impl CallApprover {
    pub(crate) fn new(cancelled: CancellationToken, progress: Option<UnboundedSender<Progress>>) -> Self {
        Self {
            cancelled,
            mode_decision: None,
            mode_request: None,
            progress,
            last_progress: None,
            is_repeated: false,
        }
    }

    /// For a repeated request for write access on which the user has decided.
    pub(crate) fn with_mode_decision(cancelled: CancellationToken, decision: Decision) -> Self {
        Self { mode_decision: Some(decision), ..Self::undecided(cancelled) }
    }

    /// For a repeated request for write access that the user has left undecided.
    pub(crate) fn undecided(cancelled: CancellationToken) -> Self {
        Self { is_repeated: true, ..Self::new(cancelled, None) }
    }

    /// Sends progress that goes beyond what was sent before: the engine starts over if a file changes meanwhile.
    fn send_progress(&mut self, progress: Progress) {
        if let Some(sender) = &self.progress
            && self.last_progress.is_none_or(|last| progress > last)
        {
            self.last_progress = Some(progress);
            // The receiver may be gone; the change is applied all the same.
            let _ = sender.send(progress);
        }
    }
}

impl Approver for CallApprover {
    fn on_progress(&mut self, files: usize, of: usize) {
        // A single file needs no progress.
        if of > 1 {
            self.send_progress(Progress::checked(files, of));
        }
    }

    fn decide(&mut self, question: &ApprovalRequest<'_>) -> Decision {
        // The last moment before anything is written.
        if self.cancelled.is_cancelled() {
            return cancelled_decision();
        }
        let decision = Auto.decide(question);
        if let (Decision::Approve { .. }, Some(last)) = (&decision, self.last_progress) {
            self.send_progress(last.writing());
        }
        decision
    }

    fn grant(&mut self, wish: &ModeRequest<'_>) -> Decision {
        if let Some(decision) = self.mode_decision.take() {
            // The call may have been cancelled since the user decided.
            return if self.cancelled.is_cancelled() { cancelled_decision() } else { decision };
        }
        self.mode_request = Some(wish.reason.unwrap_or_default().to_owned());
        Auto.grant(wish)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use slipstitch::Workspace;

    use super::*;

    #[test]
    fn a_call_cancelled_before_the_commit_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.txt"), "one\n").unwrap();
        let workspace = Workspace::builder(&root).state_dir(folder.path().join("state")).open().unwrap();
        let edit = json!({"path": "a.txt", "old_text": "one", "new_text": "two"});
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let mut approver = CallApprover::new(cancelled, None);
        let answer = workspace.call_with("native", "edit_file", edit.clone(), &mut approver);
        assert_eq!(answer.report.code(), "declined");
        assert_eq!(std::fs::read_to_string(root.join("a.txt")).unwrap(), "one\n");
        let mut approver = CallApprover::new(CancellationToken::new(), None);
        assert_eq!(workspace.call_with("native", "edit_file", edit, &mut approver).report.code(), "applied");
    }
}
