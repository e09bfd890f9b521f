//! Waits for a decision that is made on the review page or in the terminal.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use slipstitch::Workspace;
use slipstitch::core::engine::Answer;
use slipstitch::core::ports::journal::ProposalId;
use slipstitch::core::report::Report;
use tokio::time::Instant;

use super::{Call, Response, internal_error};
use crate::call_queue::Turn;

/// How often the journal is looked at. Other processes write to it, and SQLite tells nobody.
const INTERVAL: Duration = Duration::from_millis(250);
/// How often a client that follows the progress hears from a waiting call, so that it does not give up.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

impl Call {
    /// Answers with the decision on a proposal if it is made while somebody has the review open, and with `pending` if not.
    pub(super) async fn wait_for_review(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
        pending: Answer,
        turn: &Turn,
    ) -> Response {
        turn.pause_for_approval();
        let decided = self.decision_in_review(workspace, id).await;
        turn.resume();
        match decided? {
            Some(report) => {
                if report.change.is_some() {
                    self.server.watchers.notify_change();
                }
                Ok(self.respond_with_report(report))
            }
            None => Ok(self.respond(&pending)),
        }
    }

    /// What the caller is told about a proposal; `None` if nobody is there to decide, or not in time.
    pub(super) async fn decision_in_review(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
    ) -> Result<Option<Report>, ErrorData> {
        let patience = workspace.config().review.wait;
        if patience.is_zero() || !self.is_attended(workspace).await? {
            return Ok(None);
        }
        // Shown to the reviewer; the wait works without it.
        let _waiting = workspace.await_decision(id).ok();
        let begin = Instant::now();
        let mut last_progress = begin;
        while begin.elapsed() < patience {
            tokio::select! {
                biased;
                () = self.caller.cancelled.cancelled() => return Ok(None),
                () = self.server.closing.cancelled() => return Ok(None),
                () = tokio::time::sleep(INTERVAL) => {}
            }
            if let Some(report) = self.decision(workspace, id).await? {
                return Ok(Some(report));
            }
            if let (Some(token), true) =
                (&self.caller.progress_token, last_progress.elapsed() > PROGRESS_INTERVAL)
            {
                last_progress = Instant::now();
                self.say_waiting(token, begin.elapsed()).await;
                if !self.is_attended(workspace).await? {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Waits for a decision that is made on the review page or in the terminal while a form is shown.
    pub(super) async fn next_decision(&self, workspace: &Arc<Workspace>, id: ProposalId) -> Box<Report> {
        loop {
            tokio::time::sleep(INTERVAL).await;
            // What cannot be read now is read next time; the form has its own end.
            if let Ok(Some(report)) = self.decision(workspace, id).await {
                return Box::new(report);
            }
        }
    }

    async fn is_attended(&self, workspace: &Arc<Workspace>) -> Result<bool, ErrorData> {
        let workspace = workspace.clone();
        let look = move || workspace.is_review_attended();
        self.server.tasks.spawn_blocking(look).await.map_err(internal_error)
    }

    /// The decision on a proposal, if there is one, for the caller.
    pub(super) async fn decision(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
    ) -> Result<Option<Report>, ErrorData> {
        let workspace = workspace.clone();
        let read = move || workspace.report_decision(id);
        let report = self.server.tasks.spawn_blocking(read).await.map_err(internal_error)?;
        report.map_err(internal_error)
    }

    async fn say_waiting(&self, token: &ProgressToken, waited: Duration) {
        let mut progress = ProgressNotificationParam::new(token.clone(), waited.as_secs_f64());
        progress.message = Some("waiting for the user's review".into());
        tokio::select! {
            _ = self.caller.peer.notify_progress(progress) => {}
            () = self.server.closing.cancelled() => {}
        }
    }
}
