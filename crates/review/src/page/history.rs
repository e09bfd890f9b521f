//! The history: every change, with undo and redo.

use maud::{Markup, html};
use slipstitch::Workspace;
use slipstitch::core::plan::{ChangeId, Direction, Run};
use slipstitch::core::ports::journal::{ChangeKind, ChangeState, Entry, FileSummary, Filter, Summary};
use slipstitch::core::report::{ConflictReport, Report};

use super::layout::{Tab, page};
use super::{Filters, diff, local_time, visible, who};
use crate::diff_view::{HunkView, split_files, split_hunks};
use crate::revert::run_undo;
use crate::summary::{ago, how_found};

/// How many changes are listed.
const MAX_LISTED: usize = 200;
/// How many changes are searched.
const MAX_SEARCHED: usize = 10_000;
/// How much of a diff is drawn, in bytes.
const MAX_DIFF: usize = 400_000;

/// The history with one change, the last one if none is chosen.
pub(crate) fn history_page(
    workspace: &Workspace,
    filters: &Filters,
    chosen: Option<ChangeId>,
    problem: Option<&Report>,
) -> Markup {
    let named = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let (since, until) = filters.times();
    let filter = Filter {
        since,
        until,
        session: named(&filters.session),
        agent: named(&filters.agent),
        // Some filters are not available in the journal, so more changes are searched than listed.
        limit: Some(if filters.q.is_empty() && filters.file.is_empty() { MAX_LISTED } else { MAX_SEARCHED }),
        ..Filter::default()
    };
    let changes = workspace.log(&filter).unwrap_or_default();
    let is_shown = |change: &&Summary| {
        let paths = change.files.iter().filter_map(path_of);
        filters.allow(change.at, &change.origin, change.description.as_deref(), paths)
    };
    let shown: Vec<&Summary> = changes.iter().filter(is_shown).take(MAX_LISTED).collect();
    let chosen_id = chosen.or_else(|| shown.first().map(|change| change.id));
    let list = html! {
        (filters.form("/history"))
        h2 { "History" }
        @for change in &shown { (item(change, chosen_id, &filters.query())) }
        @if shown.len() == MAX_LISTED { p.empty { "Search or filter to find older changes." } }
        @if shown.is_empty() { p.empty { @if filters.is_empty() { "No changes recorded here." } @else { "Nothing matches." } } }
    };
    let entry = chosen_id.and_then(|id| workspace.change(id).ok().flatten());
    let content = match (&entry, chosen_id) {
        (Some(entry), _) => change_content(workspace, entry, problem),
        (None, Some(id)) => {
            html! { h1 { "No change " (id) } p.why { "It is not in this project's journal any more." } }
        }
        (None, None) => {
            html! { h1 { "No changes yet" } p.why { "Every change that agents or you make through Slipstitch is listed here, and can be undone." } }
        }
    };
    let pending = workspace.pending_count().unwrap_or(0);
    page("History", Tab::History, pending, filters, list, content)
}

fn path_of(file: &FileSummary) -> Option<&str> {
    file.path_after.as_ref().or(file.path_before.as_ref()).map(|path| path.as_str())
}

fn describe_file(file: &FileSummary) -> String {
    visible(&match (&file.path_before, &file.path_after) {
        (None, Some(path)) => format!("created {path}"),
        (Some(path), None) => format!("deleted {path}"),
        (Some(from), Some(to)) if from != to => format!("moved {from} to {to}"),
        (Some(path), _) => path.to_string(),
        (None, None) => "nothing".into(),
    })
}

fn title_of(change: &Summary) -> String {
    let files = || match &change.files[..] {
        [one] => describe_file(one),
        files => format!("{} files", files.len()),
    };
    match (&change.kind, &change.description) {
        (ChangeKind::Undo(of), _) => format!("Undo of {of}"),
        (ChangeKind::Redo(of), _) => format!("Redo of {of}"),
        (ChangeKind::Edit, Some(description)) => visible(description),
        (ChangeKind::Edit, None) => files(),
    }
}

fn item(change: &Summary, chosen: Option<ChangeId>, query: &str) -> Markup {
    let files: Vec<String> = change.files.iter().take(2).map(describe_file).collect();
    html! {
        a.item href={ "/history/" (change.id) (query) } aria-current=[(chosen == Some(change.id)).then_some("true")] {
            span.t { span.name { (title_of(change)) } time { (ago(change.at)) } }
            span.p { (files.join(", ")) @if change.files.len() > 2 { " and " (change.files.len() - 2) " more" } }
            span.m {
                span { (change.id) } span { (visible(change.origin.agent.as_deref().unwrap_or(&change.origin.session))) }
                @if let Some(found) = how_found(change) { span.tag { (found) } }
                @if change.undone_by.is_some() { span.minus { "undone" } }
            }
        }
    }
}

fn change_content(workspace: &Workspace, entry: &Entry, problem: Option<&Report>) -> Markup {
    let change = &entry.summary;
    html! {
        h1 { (title_of(change)) }
        p.why {
            (who(&change.origin)) " · " (local_time(change.at)) " · " (change.id) " · " (visible(&change.origin.tool))
            " · approved by " b { (visible(&change.approval)) }
        }
        @if let Some(problem) = problem { (problem_note(problem)) }
        @if let Some(by) = change.undone_by { div.note { "Undone by " a href={ "/history/" (by) } { (by) } "." } }
        @if problem.is_none() { (revert_form(workspace, change)) }
        (file_diffs(entry))
    }
}

/// Undo or redo, if it would work; otherwise why not.
fn revert_form(workspace: &Workspace, change: &Summary) -> Markup {
    let (direction, action, label) = match (&change.kind, change.undone_by) {
        (_, Some(_)) => (Direction::Redo, "redo", "Redo"),
        (ChangeKind::Undo(_), None) => (Direction::Redo, "redo", "Redo what it reverted"),
        (ChangeKind::Edit | ChangeKind::Redo(_), None) => (Direction::Undo, "undo", "Undo"),
    };
    if change.state != ChangeState::Done {
        return html! { div.note { "This change is not complete." } };
    }
    let preview = run_undo(workspace, change.id, direction, Run::Dry, "");
    html! {
        @if preview.is_success() {
            form.revert method="post" action={ "/history/" (change.id) } {
                button #revert name="action" value=(action) { (label) " " kbd { "u" } }
                span { (visible(&preview.message)) ". Later changes elsewhere are kept." }
            }
        } @else { (problem_note(&preview)) }
    }
}

fn problem_note(report: &Report) -> Markup {
    html! {
        div.note.bad role="alert" {
            (visible(&report.message))
            @for line in report.conflicts.iter().flat_map(ConflictReport::lines) { pre { (visible(&line)) } }
        }
    }
}

/// The diff of a change, by file and hunk.
fn file_diffs(entry: &Entry) -> Markup {
    let is_long = entry.diff.len() > MAX_DIFF;
    html! {
        @if is_long { div.note { "The diff is too long to show here. " code { "slipstitch show " (entry.summary.id) } " prints it." } }
        @else {
            @for (file, text) in entry.summary.files.iter().zip(split_files(&entry.diff)) {
                section.file aria-label=(describe_file(file)) {
                    div.fh { h2.path { (describe_file(file)) } }
                    @for hunk in split_hunks(text) { div.hunk { (diff::rows(&HunkView::parse(hunk, path_of(file).unwrap_or_default()))) } }
                }
            }
        }
    }
}
