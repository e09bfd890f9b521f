//! One tool call, from its place in the queue to its answer.

mod approval_flow;
mod brief;
mod review_wait;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, InputResponses, ProgressToken};
use serde_json::Value;
use slipstitch::Workspace;
use slipstitch::core::cancel::CancelToken;
use slipstitch::core::dialect::{Dialect, Tool};
use slipstitch::core::engine::{Answer, Planned};
use slipstitch::core::outcome::{Refused, Status};
use slipstitch::core::report::Report;
use slipstitch::stats::CallRecord;
use tokio::sync::mpsc;

use crate::approval::approver::CallApprover;
use crate::call_queue::{FileAccess, Turn, touched_files};
use crate::caller::Caller;
use crate::engine_thread::EngineThread;
use crate::progress::Progress;
use crate::server_state::ServerState;
use crate::session::{Session, internal_failure, stopping_report};
use crate::tool_result::{Extras, render_report, tool_result};

/// A call that is being processed.
pub(crate) struct Call {
    pub(crate) server: Arc<ServerState>,
    pub(crate) session: Arc<Session>,
    pub(crate) caller: Caller,
    pub(crate) dialect: &'static Dialect,
    pub(crate) tool: &'static Tool,
    pub(crate) arguments: Value,
}

/// What a client of the stateless protocol adds when it repeats a call after showing a form.
#[derive(Debug, Default)]
pub(crate) struct FormReply {
    pub(crate) request_state: Option<String>,
    pub(crate) responses: Option<InputResponses>,
}

/// What the engine returned.
struct EngineAnswer {
    answer: Answer,
    /// The reason of a request for write access that the user has to decide on.
    mode_request: Option<String>,
}

/// The engine's answer, and what is left to do to record the call.
struct Executed {
    answer: EngineAnswer,
    record: Recording,
}

enum Recording {
    /// The record is written, or will be with those before it.
    Done,
    /// The record is the first in the queue.
    Queued,
    /// The record must be written before the user can answer.
    Due(Box<CallRecord>),
}

type Response = Result<CallToolResponse, ErrorData>;

impl Call {
    /// Joins the queue immediately, and answers when it is the call's turn.
    pub(crate) async fn answer(self, reply: FormReply) -> Response {
        // Join before waiting for anything: the order of the messages is the order of the turns.
        let known = self.session.open_workspace();
        let planned = known.as_ref().map(|workspace| self.plan(workspace));
        let access = match (&known, &planned) {
            (Some(workspace), Some(planned)) => touched_files(planned, Path::new(workspace.root())),
            // Nothing can be read before the workspace is open: the call may touch any file.
            _ => FileAccess::unknown(self.tool),
        };
        let turn = self.session.queue.join(access);
        let opened = tokio::select! {
            biased;
            opened = self.session.workspace(&self.server, &self.caller) => opened,
            () = self.caller.cancelled.cancelled() => return Err(cancelled_error()),
        };
        let workspace = match opened {
            Ok(workspace) => workspace,
            Err(report) => return Ok(self.respond_with_report(*report)),
        };
        let planned = match (planned, known) {
            (Some(planned), Some(known)) if Arc::ptr_eq(&known, &workspace) => planned,
            _ => {
                let planned = self.plan(&workspace);
                turn.set_access(touched_files(&planned, Path::new(workspace.root())));
                planned
            }
        };
        tokio::select! {
            biased;
            () = self.wait_until_it_may_run(&turn) => {}
            () = self.caller.cancelled.cancelled() => return Err(cancelled_error()),
            () = self.server.stopping.cancelled() => {
                return Ok(self.respond_with_report(*stopping_report()));
            }
        }
        match reply.request_state {
            Some(state) => self.resume(&workspace, &state, reply.responses).await,
            None => self.start(&workspace, planned, &turn).await,
        }
    }

    /// Waits for the call's turn, and until few enough answers are unread.
    async fn wait_until_it_may_run(&self, turn: &Turn) {
        turn.wait().await;
        if let Some(slot) = &self.caller.slot {
            slot.acquire().await;
        }
    }

    fn plan(&self, workspace: &Workspace) -> Planned {
        workspace.plan_for(self.dialect, self.tool, self.arguments.clone())
    }

    /// Runs the call and asks the user if necessary. The turn is kept to the end, so that no later call changes the files
    /// while the user reviews them.
    async fn start(&self, workspace: &Arc<Workspace>, planned: Planned, turn: &Turn) -> Response {
        let result = match &self.caller.progress_token {
            Some(token) if !self.tool.effect.is_read_only() => {
                self.run_engine_with_progress(workspace, planned, token).await
            }
            _ => match self.try_here(workspace, &planned) {
                Some(Ok(executed)) => Ok(self.finish(workspace, executed).await),
                Some(Err(report)) => Err(report),
                None => {
                    let approver = CallApprover::new(self.caller.cancelled.clone(), None);
                    self.run_engine(workspace, planned, approver).await
                }
            },
        };
        let EngineAnswer { answer, mode_request } = match result {
            Ok(result) => result,
            Err(report) => return Ok(self.respond_with_report(*report)),
        };
        let can_show_form = self.caller.supports_forms && workspace.may_ask_in_forms();
        // A call that is sent again may get the decision on its proposal; there is nothing left to ask.
        let is_open = answer.report.status() == Status::Pending;
        match (answer.report.proposal.filter(|_| is_open), mode_request) {
            (Some(id), _) if !can_show_form => self.wait_for_review(workspace, id, answer, turn).await,
            (None, _) if !can_show_form => Ok(self.respond(&answer)),
            // A request for write access is stored as a proposal too.
            (_, Some(reason)) => self.ask_about_mode(workspace, &reason, answer).await,
            (Some(id), None) => self.ask_about_change(workspace, id, answer, turn).await,
            (None, None) => Ok(self.respond(&answer)),
        }
    }

    /// Runs the engine on a thread that may block on disks and locks.
    async fn run_engine(
        &self,
        workspace: &Arc<Workspace>,
        planned: Planned,
        mut approver: CallApprover,
    ) -> Result<EngineAnswer, Box<Report>> {
        let engine = workspace.clone();
        let stopping = self.server.stopping.clone();
        let session = self.session.clone();
        let cancel = CancelToken::default();
        // A stopping server waits for the call, unless it is abandoned.
        let awaited = Arc::new(Mutex::new(Some(self.server.tasks.token())));
        let (token, until_done) = (cancel.clone(), awaited.clone());
        let thread = EngineThread::default();
        let own_thread = thread.clone();
        let model = self.caller.model.clone();
        let run = move || {
            own_thread.start();
            let _until_done = until_done;
            // The server may have been asked to stop while this waited for a thread.
            if stopping.is_cancelled() {
                return Err(stopping_report());
            }
            let started = Instant::now();
            let mut executed = execute(&engine, planned, &mut approver, &token, model.as_deref());
            session.last_call_time.note(started.elapsed());
            if let Recording::Due(record) = &executed.record {
                engine.record_call(record);
                executed.record = Recording::Done;
            }
            Ok(executed)
        };
        let mut running = tokio::task::spawn_blocking(run);
        let result = tokio::select! {
            biased;
            result = &mut running => result,
            report = self.give_up_early(&thread) => {
                if cancel.cancel() {
                    // The thread stops at its next check and can write nothing from now on, so nobody has to wait for it.
                    awaited.lock().unwrap_or_else(PoisonError::into_inner).take();
                    return Err(report);
                }
                running.await
            }
        };
        let executed = result.map_err(|error| internal_failure(&error.to_string()))??;
        Ok(self.finish(workspace, executed).await)
    }

    /// Records an executed call, and notifies those who watch for changes.
    async fn finish(
        &self,
        workspace: &Arc<Workspace>,
        Executed { answer, record }: Executed,
    ) -> EngineAnswer {
        match record {
            Recording::Done => {}
            Recording::Queued => self.server.write_records_soon(workspace.clone()),
            Recording::Due(record) => {
                let workspace = workspace.clone();
                // The record is for statistics; a failure to write it does not fail the call.
                let _ = tokio::task::spawn_blocking(move || workspace.record_call(&record)).await;
            }
        }
        if answer.answer.report.change.is_some() {
            self.server.watchers.notify_change();
        }
        answer
    }

    /// Waits until a running call is no longer wanted, and returns the report for it.
    async fn give_up_early(&self, thread: &EngineThread) -> Box<Report> {
        tokio::select! {
            () = self.caller.cancelled.cancelled() => return cancelled_report("the call was cancelled"),
            () = thread.had_enough(&self.server.stopping, &self.server.closing) => {},
        }
        cancelled_report(match self.server.stopping.is_cancelled() {
            true => "the server is stopping, so the call was cancelled",
            false => "the client closed the connection, so the call was cancelled",
        })
    }

    async fn run_engine_with_progress(
        &self,
        workspace: &Arc<Workspace>,
        planned: Planned,
        token: &ProgressToken,
    ) -> Result<EngineAnswer, Box<Report>> {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let approver = CallApprover::new(self.caller.cancelled.clone(), Some(sender));
        let run = self.run_engine(workspace, planned, approver);
        tokio::pin!(run);
        let mut last: Option<Progress> = None;
        let result = loop {
            tokio::select! {
                biased;
                Some(progress) = receiver.recv() => {
                    last = Some(progress);
                    self.send_progress(progress, token).await;
                }
                result = &mut run => break result?,
            }
        };
        // The engine may have sent its last steps just before it returned.
        while let Ok(progress) = receiver.try_recv() {
            last = Some(progress);
            self.send_progress(progress, token).await;
        }
        if let (true, Some(last)) = (result.answer.report.is_success(), last) {
            self.send_progress(last.done(), token).await;
        }
        Ok(result)
    }

    async fn send_progress(&self, progress: Progress, token: &ProgressToken) {
        tokio::select! {
            // A client that cannot be reached will not get the answer either; the call continues.
            _ = self.caller.peer.notify_progress(progress.to_notification(token.clone())) => {}
            // A client that has closed its end only wants the answer, and the notification may never be sent.
            () = self.server.closing.cancelled() => {}
        }
    }

    /// Runs the engine and answers with what it returned, without asking the user.
    async fn run_and_respond(&self, workspace: &Arc<Workspace>, approver: CallApprover) -> Response {
        Ok(match self.run_engine(workspace, self.plan(workspace), approver).await {
            Ok(result) => self.respond(&result.answer),
            Err(report) => self.respond_with_report(*report),
        })
    }

    fn respond(&self, answer: &Answer) -> CallToolResponse {
        let structured = self.server.options.structured;
        let requested = self.caller.extras;
        let extras = Extras { structured, diff: requested.diff || structured, ..requested };
        tool_result(self.tool, answer, extras).into()
    }

    fn respond_with_report(&self, report: Report) -> CallToolResponse {
        self.respond(&render_report(self.dialect, self.tool, &self.arguments, report))
    }
}

/// Runs the engine.
fn execute(
    workspace: &Workspace,
    planned: Planned,
    approver: &mut CallApprover,
    token: &CancelToken,
    model: Option<&str>,
) -> Executed {
    let (answer, mut record) = workspace.run_unrecorded(planned, approver, token);
    if model.is_some() {
        record = record.with_model(model);
    }
    let needs_user = answer.report.proposal.is_some() || approver.mode_request.is_some();
    let record = match approver.is_repeated {
        true => {
            workspace.record_repeated_call(&record);
            Recording::Done
        }
        false if needs_user || token.is_cancelled() => Recording::Due(Box::new(record)),
        false if workspace.queue_call_record(record) => Recording::Queued,
        false => Recording::Done,
    };
    Executed { answer: EngineAnswer { answer, mode_request: approver.mode_request.take() }, record }
}

/// The report of a call that was abandoned while it was running.
fn cancelled_report(reason: &str) -> Box<Report> {
    let report = Report::new(Refused::Cancelled, format!("{reason}; nothing was written"));
    Box::new(report.hint("Send it again if it is still wanted."))
}

fn cancelled_error() -> ErrorData {
    ErrorData::internal_error("the call was cancelled before it started; nothing was written", None)
}

/// An error of the server, not of the request.
fn internal_error(error: impl std::error::Error + Send + Sync + 'static) -> ErrorData {
    ErrorData::internal_error(io::Error::other(error).to_string(), None)
}
