//! What each address answers.

use axum::extract::{Form, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use slipstitch::Workspace;
use slipstitch::core::outcome::Outcome;
use slipstitch::core::plan::{ChangeId, Direction, Run};
use slipstitch::core::ports::journal::ProposalId;
use slipstitch::core::report::Report;

use crate::app::App;
use crate::decision::{self, Decision};
use crate::page::{self, Filters};
use crate::revert::{DECIDED_BY, run_undo};

/// Exchanges the token in the address for a cookie, so that it is in no history and no bookmark.
pub(crate) async fn enter(State(app): State<App>) -> Response {
    let headers = [(header::SET_COOKIE, app.token.cookie())];
    (headers, Redirect::to("/review")).into_response()
}

pub(crate) async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("../assets/review.css"))
        .into_response()
}

pub(crate) async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("../assets/review.js"))
        .into_response()
}

pub(crate) async fn queue(
    State(app): State<App>,
    Query(filters): Query<Filters>,
) -> Result<Response, Response> {
    let page = app.work(move |workspace| page::queue_page(workspace, None, &filters, None)).await?;
    Ok(page.into_response())
}

pub(crate) async fn proposal(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(filters): Query<Filters>,
) -> Result<Response, Response> {
    let Some(id) = ProposalId::parse(&id) else { return Err(not_found("There is no such proposal.")) };
    let page = app.work(move |workspace| page::queue_page(workspace, Some(id), &filters, None)).await?;
    Ok(page.into_response())
}

/// One hunk, for pages that load long diffs on demand.
pub(crate) async fn hunk(
    State(app): State<App>,
    Path((id, number)): Path<(String, usize)>,
) -> Result<Response, Response> {
    let Some(id) = ProposalId::parse(&id) else { return Err(not_found("There is no such proposal.")) };
    let part = app.work(move |workspace| page::hunk_part(workspace, id, number)).await?;
    part.map(IntoResponse::into_response).ok_or_else(|| not_found("There is no such hunk."))
}

pub(crate) async fn decide(
    State(app): State<App>,
    Path(id): Path<String>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Response> {
    let Some(id) = ProposalId::parse(&id) else { return Err(not_found("There is no such proposal.")) };
    let decided = app.work(move |workspace| decide_proposal(workspace, id, &fields)).await?;
    match decided {
        Ok(()) => Ok(Redirect::to(&format!("/review/{id}")).into_response()),
        Err(problem) => {
            let show = move |workspace: &Workspace| {
                page::queue_page(workspace, Some(id), &Filters::default(), Some(&problem))
            };
            Ok((StatusCode::CONFLICT, app.work(show).await?).into_response())
        }
    }
}

fn decide_proposal(
    workspace: &Workspace,
    id: ProposalId,
    fields: &[(String, String)],
) -> Result<(), Box<Report>> {
    let invalid =
        |message: String| Box::new(Report::new(slipstitch::core::outcome::Invalid::BadRequest, message));
    let found = workspace.proposal(id).map_err(|error| Box::new(Report::from(error)))?;
    let found = found.ok_or_else(|| Box::new(slipstitch::core::engine::unknown_proposal(id)))?;
    let report = match decision::read(fields, &found).map_err(invalid)? {
        Decision::Reject(reason) => workspace.reject(id, DECIDED_BY, reason.as_deref()),
        Decision::Apply(verdict) => workspace.decide(id, DECIDED_BY, &verdict),
    };
    match report.outcome {
        Outcome::Applied | Outcome::ProposalRejected | Outcome::ModeUpgraded => Ok(()),
        _ => Err(Box::new(report)),
    }
}

pub(crate) async fn history(
    State(app): State<App>,
    Query(filters): Query<Filters>,
) -> Result<Response, Response> {
    let page = app.work(move |workspace| page::history_page(workspace, &filters, None, None)).await?;
    Ok(page.into_response())
}

pub(crate) async fn change(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(filters): Query<Filters>,
) -> Result<Response, Response> {
    let Some(id) = ChangeId::parse(&id) else { return Err(not_found("There is no such change.")) };
    let page = app.work(move |workspace| page::history_page(workspace, &filters, Some(id), None)).await?;
    Ok(page.into_response())
}

/// What the form of a change asks for.
#[derive(Debug, Deserialize)]
pub(crate) struct Revert {
    action: String,
}

pub(crate) async fn revert(
    State(app): State<App>,
    Path(id): Path<String>,
    Form(form): Form<Revert>,
) -> Result<Response, Response> {
    let Some(id) = ChangeId::parse(&id) else { return Err(not_found("There is no such change.")) };
    let direction = match form.action.as_str() {
        "undo" => Direction::Undo,
        "redo" => Direction::Redo,
        _ => return Err(not_found("The form does not say what to do.")),
    };
    let report = app.work(move |workspace| run_undo(workspace, id, direction, Run::Real)).await?;
    if report.is_success() {
        let target = report.change.unwrap_or(id);
        return Ok(Redirect::to(&format!("/history/{target}")).into_response());
    }
    let show = move |workspace: &Workspace| {
        page::history_page(workspace, &Filters::default(), Some(id), Some(&report))
    };
    Ok((StatusCode::CONFLICT, app.work(show).await?).into_response())
}

pub(crate) async fn statistics(State(app): State<App>) -> Result<Response, Response> {
    Ok(app.work(page::statistics_page).await?.into_response())
}

fn not_found(message: &str) -> Response {
    (StatusCode::NOT_FOUND, page::message_page("Not found", message)).into_response()
}
