//! One tool call, from its turn to its answer.

use std::io;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CancelledNotificationParam, ClientResult, ElicitRequest, ElicitResult, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, ProgressToken, RequestId, ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use serde_json::Value;
use slipstitch::Workspace;
use slipstitch::core::dialect::{Dialect, Tool};
use slipstitch::core::engine::{Answer, Request};
use slipstitch::core::outcome::Status;
use slipstitch::core::ports::approver::Decision;
use slipstitch::core::ports::journal::ProposalId;
use slipstitch::core::report::Report;
use tokio::sync::mpsc;

use crate::answer::{result, told};
use crate::approval::form::{Verdict, form, verdict};
use crate::approval::seal::{SealError, Subject};
use crate::approval::words::one_line;
use crate::approval::{self, Desk, Outcome};
use crate::caller::{Caller, Era, Forms};
use crate::hub::Hub;
use crate::order::{Claim, Ground, Turn};
use crate::progress::Step;
use crate::session::{Session, broken};

/// The name of the one form in a request for input.
const APPROVAL: &str = "approval";

/// A call that is being answered.
pub(crate) struct Call {
    pub(crate) hub: Arc<Hub>,
    pub(crate) session: Arc<Session>,
    pub(crate) caller: Caller,
    pub(crate) dialect: &'static Dialect,
    pub(crate) tool: &'static Tool,
    pub(crate) arguments: Value,
}

/// What a client sends along when it makes a call again.
#[derive(Debug, Default)]
pub(crate) struct Again {
    pub(crate) state: Option<String>,
    pub(crate) responses: Option<InputResponses>,
}

type Response = Result<CallToolResponse, ErrorData>;

impl Call {
    /// Takes the call's turn at once and answers when it has come.
    pub(crate) async fn answer(self, again: Again) -> Response {
        // Before anything is waited for: the order of the messages is the order of the turns.
        let ground = self.session.ground(&self.hub, &self.caller);
        let turn = self.session.order.take(self.claim(&ground));
        let opened = tokio::select! {
            biased;
            opened = self.session.workspace(&self.hub, &self.caller) => opened,
            () = self.caller.cancelled.cancelled() => return Err(cancelled()),
        };
        let workspace = match opened {
            Ok(workspace) => workspace,
            Err(report) => return Ok(self.told(*report)),
        };
        if matches!(ground, Ground::Unknown) {
            turn.narrow(self.claim(&Ground::Open(workspace.clone())));
        }
        tokio::select! {
            biased;
            () = turn.come() => {}
            () = self.caller.cancelled.cancelled() => return Err(cancelled()),
            () = self.hub.stopping.cancelled() => return Ok(self.told(*stops())),
        }
        match again.state {
            Some(state) => self.go_on(&workspace, &state, again.responses).await,
            None => self.start(&workspace, &turn).await,
        }
    }

    fn claim(&self, ground: &Ground) -> Claim {
        Claim::of(self.dialect, self.tool, &self.arguments, ground)
    }

    /// The turn is held to the end: what comes next for these files may not overtake a person who is looking at them.
    async fn start(&self, workspace: &Arc<Workspace>, turn: &Turn) -> Response {
        let done = match &self.caller.progress {
            Some(token) if !self.tool.effect.is_read_only() => {
                self.work_with_progress(workspace, token).await
            }
            _ => self.work(workspace, Desk::new(self.caller.cancelled.clone(), None)).await,
        };
        let (answer, wish) = match done {
            Ok(done) => done,
            Err(report) => return Ok(self.told(*report)),
        };
        match (answer.report.proposal, wish) {
            _ if self.caller.forms == Forms::None => Ok(self.said(&answer)),
            (Some(id), _) => self.ask_about_change(workspace, id, answer, turn).await,
            (None, Some(reason)) => self.ask_about_mode(workspace, &reason, answer).await,
            (None, None) => Ok(self.said(&answer)),
        }
    }

    /// Has the engine answer, on a thread that may wait for disks and locks.
    async fn work(
        &self,
        workspace: &Arc<Workspace>,
        mut desk: Desk,
    ) -> Result<(Answer, Option<String>), Box<Report>> {
        let (workspace, arguments) = (workspace.clone(), self.arguments.clone());
        let (dialect, tool) = (self.dialect.name, self.tool.name);
        let (noting, stopping) = (workspace.clone(), self.hub.stopping.clone());
        let work = move || {
            // It may have waited for a thread.
            if stopping.is_cancelled() {
                return Err(stops());
            }
            let request = Request { dialect: dialect.into(), tool: tool.into(), arguments };
            let (answer, call) = workspace.run_unrecorded(workspace.plan(request)?, &mut desk);
            let waits = answer.report.proposal.is_some() || desk.wish.is_some();
            let mut first = false;
            match desk.again {
                true => workspace.note_again(&call),
                // Written before the person can answer.
                false if waits => workspace.note(&call),
                false => first = workspace.queue_record(call),
            }
            Ok(((answer, desk.wish), first))
        };
        let done = self.hub.tasks.spawn_blocking(work).await;
        let (done, first) = done.map_err(|error| broken(&error.to_string()))??;
        if first {
            self.hub.write_notes_soon(noting);
        }
        if done.0.report.change.is_some() {
            self.hub.changed.send_modify(|count| *count += 1);
        }
        Ok(done)
    }

    async fn work_with_progress(
        &self,
        workspace: &Arc<Workspace>,
        token: &ProgressToken,
    ) -> Result<(Answer, Option<String>), Box<Report>> {
        let (tell, mut told) = mpsc::unbounded_channel();
        let work = self.work(workspace, Desk::new(self.caller.cancelled.clone(), Some(tell)));
        tokio::pin!(work);
        let mut last: Option<Step> = None;
        let done = loop {
            tokio::select! {
                biased;
                Some(step) = told.recv() => {
                    last = Some(step);
                    self.progress(step, token).await;
                }
                done = &mut work => break done?,
            }
        };
        // The engine may have taken its last steps while it was asked whether it is done.
        while let Ok(step) = told.try_recv() {
            last = Some(step);
            self.progress(step, token).await;
        }
        if let (true, Some(last)) = (done.0.report.is_success(), last) {
            self.progress(last.done(), token).await;
        }
        Ok(done)
    }

    async fn progress(&self, step: Step, token: &ProgressToken) {
        tokio::select! {
            // A client that cannot be told will not get the answer either; the call goes on.
            _ = self.caller.peer.notify_progress(step.told(token.clone())) => {}
            // Whoever closes wants the answer alone, and nobody may be left who would send this.
            () = self.hub.closing.cancelled() => {}
        }
    }

    async fn ask_about_change(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
        answer: Answer,
        turn: &Turn,
    ) -> Response {
        let Some(proposal) = self.proposal(workspace, id).await? else { return Ok(self.said(&answer)) };
        let message = approval::change_message(id, &proposal, self.caller.agent.as_deref());
        let subject = Subject::Change { proposal: id.0, digest: approval::digest(&proposal) };
        match self.caller.era {
            Era::Stateless => self.input_required(subject, message),
            Era::Handshake => {
                turn.hold();
                let outcome = self.ask(message).await;
                turn.go_on();
                self.settle(workspace, id, outcome?, Some(answer)).await
            }
        }
    }

    async fn ask_about_mode(&self, workspace: &Arc<Workspace>, reason: &str, answer: Answer) -> Response {
        match self.caller.era {
            // As much of it as a form shows.
            Era::Stateless => self.ask_for_mode(one_line(reason)),
            Era::Handshake => {
                let message = approval::mode_message(reason, self.caller.agent.as_deref());
                let outcome = self.ask(message).await?;
                match approval::decision(outcome, &self.caller.person()) {
                    Some(decision) => self.grant(workspace, decision).await,
                    None => Ok(self.said(&answer)),
                }
            }
        }
    }

    /// Shows the form now and waits for the person.
    async fn ask(&self, message: String) -> Result<Outcome, ErrorData> {
        let form = ServerRequest::ElicitRequest(ElicitRequest::new(form(message).map_err(internal)?));
        let patience = PeerRequestOptions::with_timeout(self.hub.options.patience);
        let Ok(asked) = self.caller.peer.send_request_with_option(form, patience).await else {
            return Ok(Outcome::Said(Verdict::Later));
        };
        let id = asked.id.clone();
        let outcome = tokio::select! {
            // A call that was taken back first is not brought back by an answer that came right after.
            biased;
            () = self.caller.cancelled.cancelled() => Outcome::taken_back(&self.hub.closing),
            answered = asked.await_response() => return Ok(Outcome::Said(match answered {
                Ok(ClientResult::ElicitResult(result)) => verdict(&result),
                Ok(_) | Err(_) => Verdict::Later,
            })),
            () = self.hub.closing.cancelled() => Outcome::Said(Verdict::Later),
        };
        self.take_form_back(id);
        Ok(outcome)
    }

    /// Tells the client that nobody waits for a form any more, beside the call: a client that does not listen must not
    /// hold it up.
    fn take_form_back(&self, id: RequestId) {
        let peer = self.caller.peer.clone();
        tokio::spawn(async move {
            let taken_back = CancelledNotificationParam::new(Some(id), Some("the call was cancelled".into()));
            // A client that is gone shows no form.
            let _ = peer.notify_cancelled(taken_back).await;
        });
    }

    fn ask_for_mode(&self, reason: String) -> Response {
        let message = approval::mode_message(&reason, self.caller.agent.as_deref());
        self.input_required(Subject::Mode { reason }, message)
    }

    /// Answers with the form; the client makes the call again when it is filled in.
    fn input_required(&self, subject: Subject, message: String) -> Response {
        let state = self.hub.seal.close(subject, &self.bound()).map_err(internal)?;
        let form = InputRequest::Elicitation(ElicitRequest::new(form(message).map_err(internal)?));
        let requests: InputRequests = [(APPROVAL.to_owned(), form)].into();
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }

    /// A call that is made again with a sealed state.
    async fn go_on(
        &self,
        workspace: &Arc<Workspace>,
        state: &str,
        responses: Option<InputResponses>,
    ) -> Response {
        let subject = match self.hub.seal.open(state, &self.bound()) {
            Ok(subject) => subject,
            Err(SealError::Expired(Subject::Change { proposal, .. })) => {
                return self
                    .settle(workspace, ProposalId(proposal), Outcome::Said(Verdict::Later), None)
                    .await;
            }
            Err(error) => {
                let message =
                    format!("{error}. Nothing was written. Make the call again without `requestState`.");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let filled = responses.and_then(|mut responses| responses.remove(APPROVAL));
        match (subject, filled) {
            (Subject::Change { proposal, digest }, filled) => {
                self.go_on_with_change(workspace, ProposalId(proposal), digest, filled).await
            }
            (Subject::Mode { reason }, None) => self.ask_for_mode(reason),
            (Subject::Mode { .. }, Some(filled)) => {
                match approval::decision(read(filled), &self.caller.person()) {
                    Some(decision) => self.grant(workspace, decision).await,
                    // As if nobody had been asked: the answer says how a person can allow it elsewhere.
                    None => {
                        match self.work(workspace, Desk::undecided(self.caller.cancelled.clone())).await {
                            Ok((answer, _)) => Ok(self.said(&answer)),
                            Err(report) => Ok(self.told(*report)),
                        }
                    }
                }
            }
        }
    }

    async fn go_on_with_change(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
        digest: String,
        filled: Option<Value>,
    ) -> Response {
        let proposal = self.proposal(workspace, id).await?;
        let Some(proposal) = proposal.filter(|proposal| approval::digest(proposal) == digest) else {
            let message = format!("{id} is not the change that was asked about. Nothing was written.");
            return Err(ErrorData::invalid_params(message, None));
        };
        match filled {
            Some(filled) => self.settle(workspace, id, read(filled), None).await,
            None => {
                let message = approval::change_message(id, &proposal, self.caller.agent.as_deref());
                self.input_required(Subject::Change { proposal: id.0, digest }, message)
            }
        }
    }

    /// Carries out what was said about a proposal; `waiting` is the answer if nothing was.
    async fn settle(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
        outcome: Outcome,
        waiting: Option<Answer>,
    ) -> Response {
        let (settling, person) = (workspace.clone(), self.caller.person());
        let (cancelled, closing) = (self.caller.cancelled.clone(), self.hub.closing.clone());
        let work = move || {
            // The last moment at which nothing is written yet.
            let outcome = outcome.unless_taken_back(&cancelled, &closing);
            approval::settle(&settling, id, &outcome, &person)
        };
        let settled = self.hub.tasks.spawn_blocking(work).await.map_err(internal)?;
        let report = match (settled, waiting) {
            (Some(report), _) => report,
            (None, Some(answer)) => return Ok(self.said(&answer)),
            (None, None) => match self.proposal(workspace, id).await? {
                Some(proposal) => approval::waits(id, &proposal),
                None => slipstitch::core::engine::unknown_proposal(id),
            },
        };
        if report.change.is_some() {
            self.hub.changed.send_modify(|count| *count += 1);
        }
        Ok(self.told(report))
    }

    /// Tells the engine what a person said to a wish to write.
    async fn grant(&self, workspace: &Arc<Workspace>, decision: Decision) -> Response {
        if matches!(decision, Decision::Approve { .. }) {
            // None of the calls in flight may see the mode change.
            let waiting = workspace.clone();
            let waited = self.hub.tasks.spawn_blocking(move || waiting.wait_for_calls()).await;
            if let Err(error) = waited.map_err(internal)? {
                return Ok(self.told(error.into()));
            }
        }
        match self.work(workspace, Desk::decided(self.caller.cancelled.clone(), decision)).await {
            Ok((answer, _)) => Ok(self.said(&answer)),
            Err(report) => Ok(self.told(*report)),
        }
    }

    async fn proposal(
        &self,
        workspace: &Arc<Workspace>,
        id: ProposalId,
    ) -> Result<Option<slipstitch::core::ports::journal::Proposal>, ErrorData> {
        let workspace = workspace.clone();
        let found = self.hub.tasks.spawn_blocking(move || workspace.proposal(id)).await.map_err(internal)?;
        Ok(found.map_err(internal)?.map(|found| found.proposal))
    }

    /// What the answer to a question must come with: the same session, tool and arguments.
    fn bound(&self) -> Vec<u8> {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.session.name, self.dialect.name, self.tool.name, &self.arguments.to_string()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().as_bytes().to_vec()
    }

    fn said(&self, answer: &Answer) -> CallToolResponse {
        result(self.tool, answer, self.caller.detail).into()
    }

    fn told(&self, report: Report) -> CallToolResponse {
        self.said(&told(self.dialect, self.tool, &self.arguments, report))
    }
}

fn read(filled: Value) -> Outcome {
    let read = serde_json::from_value::<ElicitResult>(filled);
    Outcome::Said(read.map_or(Verdict::Later, |result| verdict(&result)))
}

/// What is said to a call that comes too late.
fn stops() -> Box<Report> {
    let message = "the server stops; the call was not begun and nothing was written";
    Box::new(
        Report::custom(Status::Failed, "server_stops", message)
            .hint("Make the call again when it runs again."),
    )
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the call was cancelled before it began; nothing was written", None)
}

/// A fault of the server, not of the request.
fn internal(error: impl std::error::Error + Send + Sync + 'static) -> ErrorData {
    ErrorData::internal_error(io::Error::other(error).to_string(), None)
}
