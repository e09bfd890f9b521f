//! The history: every change, with undo and redo.

use maud::{Markup, html};
use slipstitch::Workspace;
use slipstitch::core::plan::{ChangeId, Direction, Run};
use slipstitch::core::ports::journal::{ChangeKind, ChangeState, Entry, FileSummary, Filter, Summary};
use slipstitch::core::report::Report;

use super::layout::{Frame, Tab, page};
use super::{Deciding, diff, local_time, problem_note, unlock_form, visible, who};
use crate::diff_view::{HunkView, split_files, split_hunks, views_of_files};
use crate::revert::run_undo;
use crate::selection::Selection;
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
    selection: &Selection,
    chosen: Option<ChangeId>,
    deciding: Deciding<'_>,
) -> Markup {
    let frame = Frame::new(workspace, Tab::History, selection);
    let shown = selected_changes(workspace, selection);
    let chosen_id = chosen.or_else(|| shown.first().map(|change| change.id));
    let list = html! {
        (selection.form("/history"))
        h2 { "History" }
        @for change in &shown { (item(change, chosen_id, &selection.query())) }
        @if shown.len() == MAX_LISTED { p.empty { "Search or filter to find older changes." } }
        @if shown.is_empty() { p.empty { @if selection.is_empty() { "No changes recorded here." } @else { "Nothing matches." } } }
    };
    let entry = chosen_id.and_then(|id| workspace.change(id).ok().flatten());
    let content = match (&entry, chosen_id) {
        (Some(entry), _) => change_content(workspace, entry, deciding, &selection.query()),
        (None, Some(id)) => {
            html! { h1 { "No change " (id) } p.why { "It is not in this project's journal any more." } }
        }
        (None, None) => {
            html! { h1 { "No changes yet" } p.why { "Every change that agents or you make through Slipstitch is listed here, and can be undone." } }
        }
    };
    page("History", frame, list, content)
}

/// The changes to list, newest first.
fn selected_changes(workspace: &Workspace, selection: &Selection) -> Vec<Summary> {
    let Ok(selected) = selection.filter() else { return Vec::new() };
    let named = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    // The journal cannot filter by text or folder, so more changes are searched than listed.
    let is_searched = !selection.text.is_empty() || !selection.file.is_empty();
    let filter = Filter {
        since: selected.since,
        until: selected.until,
        session: named(&selection.session),
        agent: named(&selection.agent),
        limit: Some(if is_searched { MAX_SEARCHED } else { MAX_LISTED }),
        ..Filter::default()
    };
    let changes = workspace.log(&filter).unwrap_or_default();
    changes.into_iter().filter(|change| selected.has_change(change)).take(MAX_LISTED).collect()
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

fn change_content(workspace: &Workspace, entry: &Entry, deciding: Deciding<'_>, query: &str) -> Markup {
    let change = &entry.summary;
    html! {
        h1 { (title_of(change)) }
        p.why {
            (who(&change.origin)) " · " (local_time(change.at)) " · " (change.id) " · " (visible(&change.origin.tool))
            " · approved by " b { (visible(&change.approval)) }
        }
        @if let Some(problem) = deciding.problem { div #problem { (problem_note(problem, "Not written. ", false)) } }
        @if let Some(by) = change.undone_by { div.note { "Undone by " a href={ "/history/" (by) } { (by) } "." } }
        @if deciding.is_locked { (unlock_form(&change.id, query)) } @else { (revert_form(workspace, change, query)) }
        (file_diffs(entry))
    }
}

/// Undo or redo, if it would work; otherwise why not.
fn revert_form(workspace: &Workspace, change: &Summary, query: &str) -> Markup {
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
            form.revert method="post" action={ "/history/" (change.id) (query) } {
                button #revert name="action" value=(action) { (label) " " kbd { "u" } }
                span { (visible(&preview.message)) ". Later changes elsewhere are kept." }
            }
            (preview_diff(&preview))
        } @else { (problem_note(&preview, "", false)) }
    }
}

/// The preview of an undo or a redo, which can be unfolded.
fn preview_diff(preview: &Report) -> Markup {
    let text = preview.diff.as_deref().filter(|text| text.len() <= MAX_DIFF).unwrap_or_default();
    let views = views_of_files(preview.files.iter().map(|file| file.path.as_str()), text);
    html! {
        @if !views.is_empty() {
            details.preview {
                summary { "What this would write" }
                @for group in views.chunk_by(|one, other| one.0 == other.0) {
                    section.file aria-label={ "Preview of " (visible(&group[0].0)) } {
                        div.fh { h2.path { (visible(&group[0].0)) } }
                        @for (_, view) in group { div.hunk { (diff::rows(view)) } }
                    }
                }
            }
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
