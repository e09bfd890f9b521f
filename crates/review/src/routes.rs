//! What each address answers.

use axum::extract::{Extension, Form, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use slipstitch::core::outcome::{Invalid, Outcome, Status};
use slipstitch::core::plan::{ChangeId, Direction, Run};
use slipstitch::core::ports::journal::ProposalId;
use slipstitch::core::report::Report;
use slipstitch::{Reviewer, Workspace};

use crate::access::NOT_OPENED;
use crate::app::App;
use crate::decision::{self, Decision};
use crate::notice::PageState;
use crate::page::{self, Deciding};
use crate::revert::run_undo;
use crate::selection::Selection;
use crate::statistics::CallsShown;
use crate::token::Session;

/// The token in the address, or in the form that sends it back.
#[derive(Debug, Deserialize)]
pub(crate) struct Entry {
    #[serde(default)]
    token: String,
}

/// The page that the printed address leads to. It sends the token back at once; reading alone does not use it up, because browsers
/// and other programs read addresses ahead.
pub(crate) async fn door(
    State(app): State<App>,
    Query(entry): Query<Entry>,
    Query(selection): Query<Selection>,
) -> Response {
    match app.access.is_token(&entry.token) {
        true => page::door_page(&entry.token, &selection).into_response(),
        false => no_access(),
    }
}

fn no_access() -> Response {
    (StatusCode::UNAUTHORIZED, page::message_page("No access", NOT_OPENED)).into_response()
}

/// Exchanges the token for a session. It is of no use in a history or a bookmark after that.
pub(crate) async fn enter(
    State(app): State<App>,
    Query(selection): Query<Selection>,
    Form(entry): Form<Entry>,
) -> Response {
    let Ok(Some(session)) = app.access.enter(&entry.token) else { return no_access() };
    app.notice.send(&app.url(), PageState::Opened);
    let headers = [(header::SET_COOKIE, app.access.cookie_header(&session))];
    (headers, page::entry_page(session.form.text(), app.workspace.root(), &selection)).into_response()
}

pub(crate) async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("../assets/review.css"))
        .into_response()
}

pub(crate) async fn icon() -> Response {
    ([(header::CONTENT_TYPE, "image/svg+xml")], include_str!("../assets/icon.svg")).into_response()
}

pub(crate) async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("../assets/review.js"))
        .into_response()
}

pub(crate) async fn queue(
    State(app): State<App>,
    Extension(session): Extension<Session>,
    Query(selection): Query<Selection>,
) -> Result<Response, Response> {
    let deciding = Deciding { is_locked: app.is_locked(&session), problem: None };
    let page = app.read(move |workspace| page::queue_page(workspace, None, &selection, deciding)).await?;
    Ok(page.into_response())
}

pub(crate) async fn proposal(
    State(app): State<App>,
    Extension(session): Extension<Session>,
    Path(id): Path<String>,
    Query(selection): Query<Selection>,
) -> Result<Response, Response> {
    let Some(id) = ProposalId::parse(&id) else { return Err(not_found("There is no such proposal.")) };
    let deciding = Deciding { is_locked: app.is_locked(&session), problem: None };
    let page = app.read(move |workspace| page::queue_page(workspace, Some(id), &selection, deciding)).await?;
    Ok(page.into_response())
}

/// One hunk, for pages that load long diffs on demand.
pub(crate) async fn hunk(
    State(app): State<App>,
    Path((id, number)): Path<(String, usize)>,
) -> Result<Response, Response> {
    let Some(id) = ProposalId::parse(&id) else { return Err(not_found("There is no such proposal.")) };
    let part = app.read(move |workspace| page::hunk_part(workspace, id, number)).await?;
    part.map(IntoResponse::into_response).ok_or_else(|| not_found("There is no such hunk."))
}

/// A file of a proposal with all of its lines. The file is named by the number of its first hunk.
pub(crate) async fn file(
    State(app): State<App>,
    Path((id, hunk)): Path<(String, usize)>,
    Query(selection): Query<Selection>,
) -> Result<Response, Response> {
    let Some(id) = ProposalId::parse(&id) else { return Err(not_found("There is no such proposal.")) };
    let page = app.read(move |workspace| page::file_page(workspace, id, hunk, &selection)).await?;
    page.map(IntoResponse::into_response).ok_or_else(|| not_found("This file cannot be shown as a whole."))
}

/// One part of a long file.
pub(crate) async fn file_part(
    State(app): State<App>,
    Path((id, hunk, part)): Path<(String, usize, usize)>,
) -> Result<Response, Response> {
    let Some(id) = ProposalId::parse(&id) else { return Err(not_found("There is no such proposal.")) };
    let part = app.read(move |workspace| page::file_part(workspace, id, hunk, part)).await?;
    part.map(IntoResponse::into_response).ok_or_else(|| not_found("There is no such part of the file."))
}

pub(crate) async fn decide(
    State(app): State<App>,
    Extension(session): Extension<Session>,
    Path(id): Path<String>,
    Query(selection): Query<Selection>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Response> {
    let Some(id) = ProposalId::parse(&id) else { return Err(not_found("There is no such proposal.")) };
    let decided = match app.reviewer(&session) {
        Ok(reviewer) => {
            app.write(move |workspace| decide_proposal(workspace, id, &reviewer, &fields)).await?
        }
        Err(error) => Err(refused("needs_passphrase", error.to_string())),
    };
    match decided {
        Ok(()) => Ok(Redirect::to(&format!("/review/{id}{}", selection.query())).into_response()),
        Err(problem) => show_problem(&app, &session, Shown::Proposal(Some(id)), selection, problem).await,
    }
}

fn decide_proposal(
    workspace: &Workspace,
    id: ProposalId,
    reviewer: &Reviewer,
    fields: &[(String, String)],
) -> Result<(), Box<Report>> {
    let found = workspace.proposal(id).map_err(|error| Box::new(Report::from(error)))?;
    let found = found.ok_or_else(|| Box::new(slipstitch::core::engine::unknown_proposal(id)))?;
    let verdict = decision::read(fields, &found);
    let report = match verdict.map_err(|message| Box::new(Report::new(Invalid::BadRequest, message)))? {
        Decision::Reject(reason) => workspace.reject(id, reviewer, reason.as_deref()),
        Decision::Apply(verdict) => workspace.decide(id, reviewer, &verdict),
    };
    match report.outcome {
        Outcome::Applied | Outcome::PartlyAccepted | Outcome::ProposalRejected | Outcome::ModeUpgraded => {
            Ok(())
        }
        _ => Err(Box::new(report)),
    }
}

/// The passphrase, and the proposal or change that was shown.
#[derive(Debug, Deserialize)]
pub(crate) struct Unlock {
    passphrase: String,
    next: String,
}

pub(crate) async fn unlock(
    State(app): State<App>,
    Extension(session): Extension<Session>,
    Query(selection): Query<Selection>,
    Form(form): Form<Unlock>,
) -> Result<Response, Response> {
    let shown = match ChangeId::parse(&form.next) {
        Some(id) if form.next.starts_with('c') => Shown::Change(id),
        _ => Shown::Proposal(ProposalId::parse(&form.next)),
    };
    let (unlocking, unlocked) = (app.clone(), session.clone());
    let unlocked = app.read(move |_| unlocking.unlock(&unlocked, &form.passphrase)).await?;
    match unlocked {
        Ok(()) => Ok(Redirect::to(&format!("{}{}", shown.address(), selection.query())).into_response()),
        Err(error) => {
            let problem = refused("wrong_passphrase", error.to_string());
            show_problem(&app, &session, shown, selection, problem).await
        }
    }
}

/// The response to a wrong passphrase has the URL of the form; reloading it leads back.
pub(crate) async fn leave_unlock() -> Redirect {
    Redirect::to("/review")
}

/// What a page shows next to its list.
#[derive(Debug, Clone, Copy)]
enum Shown {
    Proposal(Option<ProposalId>),
    Change(ChangeId),
}

impl Shown {
    fn address(self) -> String {
        match self {
            Self::Proposal(Some(id)) => format!("/review/{id}"),
            Self::Proposal(None) => "/review".into(),
            Self::Change(id) => format!("/history/{id}"),
        }
    }
}

fn refused(code: &'static str, message: String) -> Box<Report> {
    Box::new(Report::custom(Status::Refused, code, message))
}

/// Shows a proposal or a change, and why nothing was done with it.
async fn show_problem(
    app: &App,
    session: &Session,
    shown: Shown,
    selection: Selection,
    problem: Box<Report>,
) -> Result<Response, Response> {
    let is_locked = app.is_locked(session);
    let show = move |workspace: &Workspace| {
        let deciding = Deciding { problem: Some(&problem), is_locked };
        match shown {
            Shown::Proposal(id) => page::queue_page(workspace, id, &selection, deciding),
            Shown::Change(id) => page::history_page(workspace, &selection, Some(id), deciding),
        }
    };
    let status = if is_locked { StatusCode::FORBIDDEN } else { StatusCode::CONFLICT };
    Ok((status, app.read(show).await?).into_response())
}

pub(crate) async fn history(
    State(app): State<App>,
    Extension(session): Extension<Session>,
    Query(selection): Query<Selection>,
) -> Result<Response, Response> {
    let deciding = Deciding { is_locked: app.is_locked(&session), problem: None };
    let page = app.read(move |workspace| page::history_page(workspace, &selection, None, deciding)).await?;
    Ok(page.into_response())
}

pub(crate) async fn change(
    State(app): State<App>,
    Extension(session): Extension<Session>,
    Path(id): Path<String>,
    Query(selection): Query<Selection>,
) -> Result<Response, Response> {
    let Some(id) = ChangeId::parse(&id) else { return Err(not_found("There is no such change.")) };
    let deciding = Deciding { is_locked: app.is_locked(&session), problem: None };
    let page =
        app.read(move |workspace| page::history_page(workspace, &selection, Some(id), deciding)).await?;
    Ok(page.into_response())
}

/// What the form of a change asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Revert {
    action: String,
}

pub(crate) async fn revert(
    State(app): State<App>,
    Extension(session): Extension<Session>,
    Path(id): Path<String>,
    Query(selection): Query<Selection>,
    Form(form): Form<Revert>,
) -> Result<Response, Response> {
    let Some(id) = ChangeId::parse(&id) else { return Err(not_found("There is no such change.")) };
    let direction = match form.action.as_str() {
        "undo" => Direction::Undo,
        "redo" => Direction::Redo,
        _ => return Err(not_found("The form does not say what to do.")),
    };
    let report = match app.reviewer(&session) {
        Ok(reviewer) => {
            let undo =
                move |workspace: &Workspace| run_undo(workspace, id, direction, Run::Real, reviewer.name());
            app.write(undo).await?
        }
        Err(error) => *refused("needs_passphrase", error.to_string()),
    };
    if report.is_success() {
        let target = report.change.unwrap_or(id);
        return Ok(Redirect::to(&format!("/history/{target}{}", selection.query())).into_response());
    }
    show_problem(&app, &session, Shown::Change(id), selection, Box::new(report)).await
}

pub(crate) async fn statistics(
    State(app): State<App>,
    Query(shown): Query<CallsShown>,
    Query(selection): Query<Selection>,
) -> Result<Response, Response> {
    let page = app.read(move |workspace| page::statistics_page(workspace, shown, &selection)).await?;
    Ok(page.into_response())
}

/// Accepts or rejects several proposals.
pub(crate) async fn decide_several(
    State(app): State<App>,
    Extension(session): Extension<Session>,
    Query(selection): Query<Selection>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Response> {
    let decided = match app.reviewer(&session) {
        Ok(reviewer) => app.write(move |workspace| decide_selected(workspace, &reviewer, &fields)).await?,
        Err(error) => Err(refused("needs_passphrase", error.to_string())),
    };
    match decided {
        Ok(()) => Ok(Redirect::to(&format!("/review{}", selection.query())).into_response()),
        Err(problem) => show_problem(&app, &session, Shown::Proposal(None), selection, problem).await,
    }
}

fn decide_selected(
    workspace: &Workspace,
    reviewer: &Reviewer,
    fields: &[(String, String)],
) -> Result<(), Box<Report>> {
    let named = fields.iter().filter(|(name, _)| name == "id");
    let ids: Vec<ProposalId> = named.filter_map(|(_, value)| ProposalId::parse(value)).collect();
    let mut problems = Vec::new();
    for &id in &ids {
        // The fields for the hunks of a proposal are prefixed with its id.
        let prefix = format!("{id}.");
        let own = |(name, value): &(String, String)| {
            let name = if name == "action" { Some("action") } else { name.strip_prefix(&prefix) };
            name.map(|name| (name.to_owned(), value.clone()))
        };
        let own: Vec<(String, String)> = fields.iter().filter_map(own).collect();
        if let Err(report) = decide_proposal(workspace, id, reviewer, &own) {
            problems.push(format!("{id}: {}", report.message));
        }
    }
    match &problems[..] {
        [] => Ok(()),
        _ => {
            let message = format!("{} of {} selected: {}", problems.len(), ids.len(), problems.join("; "));
            Err(refused("some_not_decided", message))
        }
    }
}

fn not_found(message: &str) -> Response {
    (StatusCode::NOT_FOUND, page::message_page("Not found", message)).into_response()
}
