//! How a call asks the user and continues with the answer, in either protocol era.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, InputRequest, InputRequests, InputRequiredResult, InputResponses, RequestId, ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use slipstitch::Workspace;
use slipstitch::core::cancel::CancelToken;
use slipstitch::core::engine::{Answer, unknown_proposal};
use slipstitch::core::ports::approver::Decision;
use slipstitch::core::ports::journal::{Proposal, ProposalId};
use slipstitch::core::report::Report;

use super::{Call, Response, cancelled_report, internal_error};
use crate::approval::approver::CallApprover;
use crate::approval::form::{
    AnswerTime, approval_form, decision_form, read_form, read_form_value, read_reason, reason_form,
    wants_to_explain,
};
use crate::approval::request_state::{RequestStateError, Subject, hash_part};
use crate::approval::{self, ApprovalOutcome};
use crate::call_queue::Turn;
use crate::caller::ProtocolEra;
use crate::display_text::one_line;

/// The name of the form in a request for input.
const FORM_NAME: &str = "approval";

/// What came of a form, and who answered it, for the journal.
struct FormVerdict {
    outcome: ApprovalOutcome,
    by: String,
}

impl FormVerdict {
    /// The answer to the model if an answered form decided nothing.
    fn note(&self) -> Option<String> {
        (self.outcome == ApprovalOutcome::Unattended).then(|| approval::unattended_note(&self.by))
    }
}

/// What came of a form.
enum FormAnswer {
    /// The client's answer, and how long it took.
    Sent(ElicitResult, Duration),
    /// The change was decided elsewhere, with this result.
    DecidedElsewhere(Box<Report>),
    /// No answer, because of this.
    Missing(ApprovalOutcome),
}

/// How a form ended.
enum FormEnd {
    Filled(FormVerdict),
    /// Somebody decided on the review page or in the terminal meanwhile; this is what the caller is told.
    DecidedElsewhere(Box<Report>),
}

impl Call {
    pub(super) async fn ask_about_change(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
        answer: Answer,
        turn: &Turn,
    ) -> Response {
        let Some(proposal) = self.proposal(workspace, id).await? else { return Ok(self.respond(&answer)) };
        let digest = approval::proposal_digest(&proposal);
        match self.caller.era {
            ProtocolEra::Stateless => self.request_change_approval(id, &proposal, digest),
            ProtocolEra::Handshake => {
                let message = approval::change_message(id, &proposal, self.caller.agent.as_deref());
                let Some(message) = message else {
                    let pending = Answer::from(approval::too_long_report(id, &proposal));
                    return self.wait_for_review(workspace, id, pending, turn).await;
                };
                turn.pause_for_approval();
                let end = self.show_change_form(workspace, id, message).await;
                let end = match end {
                    // Whoever has the review open may decide, since nobody has read the form.
                    Ok(FormEnd::Filled(verdict)) if verdict.outcome == ApprovalOutcome::Unattended => {
                        self.decision_in_review(workspace, id).await.map(|decided| match decided {
                            Some(report) => FormEnd::DecidedElsewhere(Box::new(report)),
                            None => FormEnd::Filled(verdict),
                        })
                    }
                    end => end,
                };
                turn.resume();
                match end? {
                    FormEnd::Filled(verdict) => {
                        self.settle_change(workspace, id, verdict, Some(answer)).await
                    }
                    FormEnd::DecidedElsewhere(report) => {
                        if report.change.is_some() {
                            self.server.watchers.notify_change();
                        }
                        Ok(self.respond_with_report(*report))
                    }
                }
            }
        }
    }

    pub(super) async fn ask_about_mode(
        &self,
        workspace: &Arc<Workspace>,
        reason: &str,
        answer: Answer,
    ) -> Response {
        match self.caller.era {
            // The state keeps as much of the reason as a form shows.
            ProtocolEra::Stateless => self.request_mode_approval(one_line(reason)),
            ProtocolEra::Handshake => {
                let message = approval::mode_message(reason, self.caller.agent.as_deref());
                let reply = self.show_form(message).await?;
                match reply.outcome.clone().into_decision(&reply.by) {
                    Some(decision) => self.set_mode(workspace, decision).await,
                    None => Ok(self.respond_undecided(answer, &reply)),
                }
            }
        }
    }

    /// The answer to a call that still waits after its form was shown; if nobody can have read the form, the answer says so.
    fn respond_undecided(&self, mut answer: Answer, verdict: &FormVerdict) -> CallToolResponse {
        match verdict.note() {
            Some(note) => {
                answer.report.warnings.push(note);
                self.respond_with_report(answer.report)
            }
            None => self.respond(&answer),
        }
    }

    /// Continues a call that the client repeats with a request state.
    pub(super) async fn resume(
        &self,
        workspace: &Arc<Workspace>,
        state: &str,
        responses: Option<InputResponses>,
    ) -> Response {
        let (subject, after) = match self.server.request_states.redeem(state, &self.binding()) {
            Ok(redeemed) => redeemed,
            Err(RequestStateError::Expired(Subject::Change { proposal, .. })) => {
                let id = ProposalId(proposal);
                return self.settle_change(workspace, id, self.undecided(), None).await;
            }
            Err(error) => {
                let message = format!("{error}. Nothing was written. Retry the call without `requestState`.");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let filled = responses.and_then(|mut responses| responses.remove(FORM_NAME));
        let filled = filled.map(|filled| {
            let outcome = read_form_value(filled, self.answer_time(after));
            self.verdict(outcome, after)
        });
        match (subject, filled) {
            (Subject::Change { proposal, digest }, filled) => {
                self.resume_change(workspace, ProposalId(proposal), digest, filled).await
            }
            (Subject::Mode { reason }, None) => self.request_mode_approval(reason),
            (Subject::Mode { .. }, Some(filled)) => {
                match filled.outcome.clone().into_decision(&filled.by) {
                    Some(decision) => self.set_mode(workspace, decision).await,
                    // The answer says how else the user can allow it.
                    None => {
                        let approver = CallApprover::undecided(self.caller.cancelled.clone());
                        let result = self.run_engine(workspace, self.plan(workspace), approver).await;
                        Ok(match result {
                            Ok(result) => self.respond_undecided(result.answer, &filled),
                            Err(report) => self.respond_with_report(*report),
                        })
                    }
                }
            }
        }
    }

    async fn resume_change(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
        digest: String,
        filled: Option<FormVerdict>,
    ) -> Response {
        let proposal = self.proposal(workspace, id).await?;
        let Some(proposal) = proposal.filter(|proposal| approval::proposal_digest(proposal) == digest) else {
            let message = format!("{id} is not the change that the form was about. Nothing was written.");
            return Err(ErrorData::invalid_params(message, None));
        };
        match filled {
            Some(filled) => self.settle_change(workspace, id, filled, None).await,
            None => self.request_change_approval(id, &proposal, digest),
        }
    }

    /// Shows a form about a change and waits for the user, who can also decide on the review page or in the terminal.
    async fn show_change_form(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
        message: String,
    ) -> Result<FormEnd, ErrorData> {
        // Shown to the reviewer; the wait works without it.
        let _waiting = workspace.await_decision(id).ok();
        let elsewhere = self.next_decision(workspace, id);
        tokio::pin!(elsewhere);
        self.show_form_until(message, elsewhere).await
    }

    /// Shows a form and waits for the user.
    async fn show_form(&self, message: String) -> Result<FormVerdict, ErrorData> {
        match self.show_form_until(message, std::future::pending()).await? {
            FormEnd::Filled(verdict) => Ok(verdict),
            FormEnd::DecidedElsewhere(_) => Ok(self.undecided()),
        }
    }

    /// Asks the user for a decision, and for the reason of a rejection if the user wants to give one, unless `elsewhere` has
    /// the decision first.
    async fn show_form_until(
        &self,
        message: String,
        elsewhere: impl Future<Output = Box<Report>>,
    ) -> Result<FormEnd, ErrorData> {
        let form = decision_form(message).map_err(internal_error)?;
        let (result, after) = match self.wait_for_form(form, elsewhere).await {
            FormAnswer::Sent(result, after) => (result, after),
            FormAnswer::DecidedElsewhere(report) => return Ok(FormEnd::DecidedElsewhere(report)),
            FormAnswer::Missing(outcome) => {
                return Ok(FormEnd::Filled(FormVerdict { outcome, ..self.undecided() }));
            }
        };
        let mut outcome = read_form(&result, self.answer_time(after));
        if matches!(outcome, ApprovalOutcome::Rejected { .. }) && wants_to_explain(&result) {
            let form = reason_form().map_err(internal_error)?;
            // The decision stands if this form is not answered.
            let reason = match self.wait_for_form(form, std::future::pending()).await {
                FormAnswer::Sent(result, _) => read_reason(&result),
                FormAnswer::DecidedElsewhere(_) | FormAnswer::Missing(_) => None,
            };
            outcome = ApprovalOutcome::Rejected { reason };
        }
        Ok(FormEnd::Filled(self.verdict(outcome, after)))
    }

    /// Shows a form and waits for the answer.
    async fn wait_for_form(
        &self,
        form: ElicitRequestParams,
        elsewhere: impl Future<Output = Box<Report>>,
    ) -> FormAnswer {
        let timeout = PeerRequestOptions::with_timeout(self.server.options.approval_timeout);
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
        let Ok(request) = self.caller.peer.send_request_with_option(request, timeout).await else {
            return FormAnswer::Missing(ApprovalOutcome::Undecided);
        };
        let shown_at = Instant::now();
        let id = request.id.clone();
        let outcome = tokio::select! {
            // A cancellation that arrived before the answer wins.
            biased;
            () = self.caller.cancelled.cancelled() => ApprovalOutcome::of_cancelled_call(&self.server.closing),
            response = request.await_response() => {
                return match response {
                    Ok(ClientResult::ElicitResult(result)) => FormAnswer::Sent(result, shown_at.elapsed()),
                    Ok(_) | Err(_) => FormAnswer::Missing(ApprovalOutcome::Undecided),
                };
            }
            report = elsewhere => {
                self.withdraw_form(id, "the change was decided elsewhere");
                return FormAnswer::DecidedElsewhere(report);
            }
            () = self.server.closing.cancelled() => ApprovalOutcome::Undecided,
        };
        self.withdraw_form(id, "the call was cancelled");
        FormAnswer::Missing(outcome)
    }

    /// The verdict of a form that was answered.
    fn verdict(&self, outcome: ApprovalOutcome, after: Duration) -> FormVerdict {
        FormVerdict { outcome, by: self.caller.approver_name(Some(after)) }
    }

    /// The verdict of a form that was not answered.
    fn undecided(&self) -> FormVerdict {
        FormVerdict { outcome: ApprovalOutcome::Undecided, by: self.caller.approver_name(None) }
    }

    fn answer_time(&self, after: Duration) -> AnswerTime {
        AnswerTime { after, min_answer_time: self.server.options.min_answer_time }
    }

    /// Tells the client that a form is no longer needed, without waiting: a client that does not read must not hold up the
    /// call.
    fn withdraw_form(&self, id: RequestId, reason: &'static str) {
        let peer = self.caller.peer.clone();
        tokio::spawn(async move {
            let reason = Some(reason.into());
            // A client that is gone shows no form.
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
        });
    }

    fn request_change_approval(&self, id: ProposalId, proposal: &Proposal, digest: String) -> Response {
        match approval::change_message(id, proposal, self.caller.agent.as_deref()) {
            Some(message) => self.request_input(Subject::Change { proposal: id.0, digest }, message),
            None => Ok(self.respond(&Answer::from(approval::too_long_report(id, proposal)))),
        }
    }

    fn request_mode_approval(&self, reason: String) -> Response {
        let message = approval::mode_message(&reason, self.caller.agent.as_deref());
        self.request_input(Subject::Mode { reason }, message)
    }

    /// Answers with a form; the client repeats the call when it is filled in.
    fn request_input(&self, subject: Subject, message: String) -> Response {
        let state = self.server.request_states.issue(subject, &self.binding()).map_err(internal_error)?;
        let form = ElicitRequest::new(approval_form(message).map_err(internal_error)?);
        let requests: InputRequests = [(FORM_NAME.to_owned(), InputRequest::Elicitation(form))].into();
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }

    /// What a request state is bound to: the session, the tool and the arguments.
    fn binding(&self) -> Vec<u8> {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.session.name, self.dialect.name, self.tool.name, &self.arguments.to_string()] {
            hash_part(&mut hasher, part);
        }
        hasher.finalize().as_bytes().to_vec()
    }

    /// Carries out the user's decision on a proposal. If there is none, answers with `pending`.
    async fn settle_change(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
        verdict: FormVerdict,
        pending: Option<Answer>,
    ) -> Response {
        let note = verdict.note();
        let FormVerdict { outcome, by: approver } = verdict;
        let engine = workspace.clone();
        let (cancelled, closing) = (self.caller.cancelled.clone(), self.server.closing.clone());
        let cancel = CancelToken::default();
        let token = cancel.clone();
        let is_approved = outcome == ApprovalOutcome::Approved;
        let settle = move || {
            let outcome = outcome.unless_cancelled(&cancelled, &closing);
            approval::record_decision(&engine, id, outcome, &approver, &token)
        };
        let mut settling = self.server.tasks.spawn_blocking(settle);
        let settled = tokio::select! {
            biased;
            settled = &mut settling => settled,
            () = self.caller.cancelled.cancelled(), if is_approved => {
                if cancel.cancel() {
                    // All that the thread can still write is that the proposal was withdrawn.
                    return Ok(self.respond_with_report(*cancelled_report("the call was cancelled")));
                }
                settling.await
            }
        };
        let settled = settled.map_err(internal_error)?;
        let mut report = match (settled, pending) {
            (Some(report), _) => report,
            (None, Some(answer)) => answer.report,
            (None, None) => match self.proposal(workspace, id).await? {
                Some(proposal) => approval::pending_report(id, &proposal),
                None => unknown_proposal(id),
            },
        };
        report.warnings.extend(note);
        if report.change.is_some() {
            self.server.watchers.notify_change();
        }
        Ok(self.respond_with_report(report))
    }

    /// Carries out the user's decision on a request for write access.
    async fn set_mode(&self, workspace: &Arc<Workspace>, decision: Decision) -> Response {
        if matches!(decision, Decision::Approve { .. }) {
            // The mode must not change under a call in flight.
            let engine = workspace.clone();
            let waited = self.server.tasks.spawn_blocking(move || engine.wait_for_calls()).await;
            if let Err(error) = waited.map_err(internal_error)? {
                return Ok(self.respond_with_report(error.into()));
            }
        }
        let approver = CallApprover::with_mode_decision(self.caller.cancelled.clone(), decision);
        self.run_and_respond(workspace, approver).await
    }

    async fn proposal(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
    ) -> Result<Option<Proposal>, ErrorData> {
        let workspace = workspace.clone();
        let read = move || workspace.proposal(id);
        let found = self.server.tasks.spawn_blocking(read).await.map_err(internal_error)?;
        Ok(found.map_err(internal_error)?.map(|found| found.proposal))
    }
}
