//! The queue: what waits for a decision, and one proposal with its hunks.

use maud::{Markup, html};
use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::ports::journal::{
    Filter, ProposalDecision, ProposalHunk, ProposalId, ProposalSubject, StoredProposal, describe_hunks,
};

use super::layout::{Frame, Tab, page};
use super::{Deciding, diff, problem_note, unlock_form, visible, who};
use crate::diff_view::{HunkView, file_notes};
use crate::revert;
use crate::selection::Selection;
use crate::summary::{
    ago, ago_in_words, answer_to_agent, author_of, count_lines, shorten_item, state_of, tags_of, title_of,
    undo_note, unseen_note,
};
use crate::whole_file::FileBefore;

/// How many pending proposals are listed.
const MAX_LISTED: usize = 200;
/// How many decided proposals are listed below the pending ones.
const MAX_DECIDED: usize = 12;
/// How many lines of diffs are drawn at once; other hunks are loaded when they come into view.
const MAX_LINES: usize = 600;
/// How many files are read to say which item a hunk is in. The others' hunks must do with their own lines.
const MAX_FILES_READ: usize = 10;
/// How many lines a hunk may have to be loaded without being asked for.
const MAX_AUTO_LINES: usize = 400;

/// The queue with one proposal, the first one if none is chosen.
pub(crate) fn queue_page(
    workspace: &Workspace,
    chosen: Option<ProposalId>,
    selection: &Selection,
    deciding: Deciding<'_>,
) -> Markup {
    let frame = Frame::new(workspace, Tab::Review, selection);
    let queue = Queue::read(workspace, selection);
    let chosen_id = chosen.or_else(|| queue.pending.first().map(|found| found.id));
    let found = chosen_id.and_then(|id| workspace.proposal(id).ok().flatten());
    let next = queue.pending.iter().find(|found| Some(found.id) != chosen_id);
    let content = match (&found, chosen_id) {
        (Some(found), _) => proposal_content(workspace, found, deciding, next, &selection.query()),
        (None, Some(id)) => {
            html! { h1 { "No proposal " (id) } p.why { "It is not in this project's journal." } }
        }
        (None, None) => nothing_to_review(workspace),
    };
    let title = found.as_ref().map_or("Review".to_owned(), |found| title_of(&found.proposal));
    page(&title, frame, queue.list(chosen_id, selection, deciding.is_locked), content)
}

/// The list on the left.
pub(super) fn queue_list(workspace: &Workspace, chosen: Option<ProposalId>, selection: &Selection) -> Markup {
    Queue::read(workspace, selection).list(chosen, selection, true)
}

/// The selected proposals: pending ones, and those decided last.
#[derive(Default)]
struct Queue {
    pending: Vec<StoredProposal>,
    decided: Vec<StoredProposal>,
}

impl Queue {
    fn read(workspace: &Workspace, selection: &Selection) -> Self {
        let Ok(filter) = selection.filter() else { return Self::default() };
        let mut pending = workspace.proposals().unwrap_or_default();
        let mut decided = workspace.decided_proposals(MAX_DECIDED).unwrap_or_default();
        pending.retain(|found| filter.has_proposal(found));
        decided.retain(|found| filter.has_proposal(found));
        Self { pending, decided }
    }

    fn list(&self, chosen: Option<ProposalId>, selection: &Selection, is_locked: bool) -> Markup {
        let (pending, query) = (&self.pending, selection.query());
        html! {
            (selection.form("/review"))
            h2 { "Waiting" @if !pending.is_empty() { " · " (pending.len()) } }
            @let is_batch = pending.len() > 1 && !is_locked;
            @for found in pending.iter().take(MAX_LISTED) {
                @if is_batch { div.pick { (pick_box(found)) (item(found, chosen, &query)) } } @else { (item(found, chosen, &query)) }
            }
            @if is_batch { (batch_form(&query)) }
            @if pending.len() > MAX_LISTED { p.empty { (pending.len() - MAX_LISTED) " more. Search or filter to find them, or decide the ones above first." } }
            @if pending.is_empty() { p.empty { @if selection.is_empty() { "Nothing to review." } @else { "Nothing matches." } } }
            @if !self.decided.is_empty() {
                h2 { "Decided" }
                @for found in &self.decided { (item(found, chosen, &query)) }
            }
        }
    }
}

fn nothing_to_review(workspace: &Workspace) -> Markup {
    let last = workspace.log(&Filter { limit: Some(1), ..Filter::default() }).unwrap_or_default().pop();
    html! {
        h1 { "Nothing to review" }
        p.why {
            "Changes that need your approval appear here by themselves. "
            @match &last {
                Some(last) => {
                    "The last change was " a href={ "/history/" (last.id) } { (last.id) } " by "
                    (visible(last.origin.agent.as_deref().unwrap_or(&last.origin.session))) ", " (ago_in_words(last.at)) "; the "
                    a href="/history" { "history" } " has all of them."
                }
                None => { "Everything that is written is in the " a href="/history" { "history" } "." }
            }
        }
        p.why { "To try it, have an agent change a protected file, such as " code { ".github/workflows/ci.yml" } ", or add a rule to your settings: " }
        pre.sample { "[[rules]]\npaths = [\"src/**\"]\nverdict = \"ask\"\n" }
    }
}

/// The box that selects a proposal to be decided with others.
fn pick_box(found: &StoredProposal) -> Markup {
    html! { input type="checkbox" form="batch" name="id" value=(found.id) id={ "pick-" (found.id) } aria-label={ "Select " (title_of(&found.proposal)) " (" (found.id) ")" }; }
}

/// The buttons for all selected proposals, shown once one is selected.
fn batch_form(query: &str) -> Markup {
    html! {
        form #batch method="post" action={ "/review" (query) } {
            button name="action" value="accept" { "Accept selected" }
            button name="action" value="reject" { "Reject selected" }
        }
    }
}

fn item(found: &StoredProposal, chosen: Option<ProposalId>, query: &str) -> Markup {
    let proposal = &found.proposal;
    let paths: Vec<&str> = proposal.files.iter().map(|file| file.path.as_str()).collect();
    let files = if paths.len() > 2 { format!("{} files", paths.len()) } else { visible(&paths.join(", ")) };
    let (added, removed) = count_lines(&proposal.diff);
    html! {
        a.item href={ "/review/" (found.id) (query) } aria-current=[(chosen == Some(found.id)).then_some("true")] {
            span.t { span.name { (title_of(proposal)) } time { (ago(found.at)) } }
            span.p { (files) }
            span.m {
                span { (author_of(proposal)) }
                @match &found.decision {
                    None => {
                        (line_counts(added, removed))
                        @for tag in tags_of(proposal) { span.tag { (tag) } }
                    }
                    Some(ProposalDecision::Rejected { reason, .. }) => {
                        span.minus { "rejected" }
                        @if let Some(reason) = reason { span.p { "“" (visible(reason)) "”" } }
                    }
                    Some(_) => { span.plus { (state_of(found)) } }
                }
            }
        }
    }
}

fn proposal_content(
    workspace: &Workspace,
    found: &StoredProposal,
    deciding: Deciding<'_>,
    next: Option<&StoredProposal>,
    query: &str,
) -> Markup {
    let proposal = &found.proposal;
    let is_pending = found.decision.is_none();
    html! {
        h1 { (title_of(proposal)) }
        p.why {
            (who(&proposal.origin)) " · proposed " (ago_in_words(found.at))
            @if is_pending { " · waits because " b { (visible(&proposal.reason)) } }
        }
        @if let Some(note) = unseen_note(proposal) { div.note.bad { b { "Not everything is shown. " } (note) } }
        @if let Some(note) = undo_note(proposal).filter(|_| is_pending) { div.note { b { "Can't be undone later. " } (note) } }
        @if let Some(problem) = deciding.problem { div #problem { (problem_note(problem, "Not written. ", is_pending)) } }
        @match &found.decision {
            Some(decision) => { (decision_note(workspace, found, decision, next, query)) }
            None if deciding.problem.is_none() => { (state_note(workspace, found)) }
            None => {}
        }
        @if is_pending && deciding.is_locked { (unlock_form(&found.id, query)) (files(workspace, found)) }
        @else if is_pending {
            form #decision method="post" action={ "/review/" (found.id) (query) } data-address={ "/review/" (found.id) } {
                (files(workspace, found))
                @if proposal.notes.subject == ProposalSubject::WriteAccess { p { "If you accept, the session can change files until it ends. Every change can be undone, except those of private files." } }
                div.reason { label for="reason" { "Reason for the agent" } input #reason name="reason" maxlength="2000" placeholder="Optional"; }
                (decision_bar(workspace.is_decision_awaited(found.id), !proposal.hunks().is_empty()))
            }
        } @else { (files(workspace, found)) }
    }
}

/// The buttons that send a decision. Without hunks there is only all or nothing.
fn decision_bar(is_awaited: bool, has_hunks: bool) -> Markup {
    html! {
        footer {
            @if has_hunks { button.main name="action" value="send" { "Send decision " kbd { "⏎" } } }
            button name="action" value="accept" { span #accept-label { "Accept all" } " " kbd { "A" } }
            button name="action" value="reject" { "Reject all " kbd { "R" } }
            span #tally.sp aria-live="polite" {}
            @if is_awaited { span.waiting { "The agent is waiting" } }
            button #show-help type="button" aria-label="Keys" { kbd { "?" } }
        }
    }
}

/// What was found to be different since the proposal was made, or when its place was found.
fn state_note(workspace: &Workspace, found: &StoredProposal) -> Markup {
    let report = revert::preview(workspace, found.id);
    let differences: Vec<&String> = found.proposal.files.iter().flat_map(|file| &file.notes).collect();
    html! {
        @if report.status() == Status::Refused || report.status() == Status::Invalid { (problem_note(&report, "Cannot be applied now. ", true)) }
        @else if let Some(carried) = report.warnings.iter().find(|warning| warning.contains("carried over")) {
            div.note { b { "The file has changed since. " } (visible(carried)) ". Now: " (visible(&report.message)) "." }
        }
        @if !differences.is_empty() {
            div.note { b { "Found with differences. " } @for note in differences { (visible(note)) " " } "The diff shows what would be written." }
        }
    }
}

/// What was decided, and what the agent gets to read.
fn decision_note(
    workspace: &Workspace,
    found: &StoredProposal,
    decision: &ProposalDecision,
    next: Option<&StoredProposal>,
    query: &str,
) -> Markup {
    html! {
        div.note.done role="status" {
            b { "Decided. " }
            @if let ProposalDecision::Accepted { change, .. } = decision { " " a href={ "/history/" (change) } { "Show or undo " (change) } }
            @if let Some(next) = next { p { a #next href={ "/review/" (next.id) (query) } { "Next: " (title_of(&next.proposal)) " " kbd { "⏎" } } } }
            p { "The agent gets this answer:" }
            pre.answer tabindex="0" role="region" aria-label="The answer to the agent" { (answer_to_agent(workspace, found, decision)) }
        }
    }
}

/// The hunks, grouped by file. The first lines are drawn, the others when they come into view.
fn files(workspace: &Workspace, found: &StoredProposal) -> Markup {
    let hunks = found.proposal.hunks();
    let mut lines_left = MAX_LINES;
    let mut drawn = Vec::new();
    for (index, group) in hunks.chunk_by(|one, other| one.path == other.path).enumerate() {
        let text = |hunk: &ProposalHunk| found.proposal.hunk_diff(hunk);
        let counts: Vec<(usize, usize)> = group.iter().map(|hunk| count_lines(text(hunk))).collect();
        let path = visible(group[0].path.as_str());
        let before = match index < MAX_FILES_READ {
            true => FileBefore::read(workspace, found, &group[0].path),
            false => FileBefore::unread(found, &group[0].path),
        };
        let items = before.items_around(&group.iter().map(text).collect::<Vec<_>>());
        drawn.push(html! {
            section.file aria-label=(path) {
                div.fh {
                    h2.path { (path) }
                    @for note in file_notes(text(&group[0])) { span.tag { (visible(&note)) } }
                    (line_counts(counts.iter().map(|count| count.0).sum(), counts.iter().map(|count| count.1).sum()))
                    @if before.can_be_shown() { a.whole href={ "/review/" (found.id) "/file/" (group[0].number) } { "Whole file " kbd { "w" } } }
                    button.layout type="button" hidden { "Unified " kbd { "x" } }
                }
                @for (hunk, item) in group.iter().zip(items) { (hunk_section(found, hunk, item, &mut lines_left)) }
            }
        });
    }
    html! { @for file in drawn { (file) } }
}

/// How many lines are added and removed; nothing if a file changes in another way.
fn line_counts(added: usize, removed: usize) -> Markup {
    html! { @if added + removed > 0 { span.plus { "+" (added) } span.minus { "−" (removed) } } }
}

fn view(found: &StoredProposal, hunk: &ProposalHunk) -> HunkView {
    HunkView::parse(found.proposal.hunk_diff(hunk), hunk.path.as_str())
}

/// The rows of one hunk and its text to edit, loaded on demand.
pub(crate) fn hunk_part(workspace: &Workspace, id: ProposalId, number: usize) -> Option<Markup> {
    let found = workspace.proposal(id).ok().flatten()?;
    let hunks = found.proposal.hunks();
    let hunk = hunks.iter().find(|hunk| hunk.number == number)?;
    let view = view(&found, hunk);
    Some(html! { div { (diff::rows(&view)) (edit_field(number, Some(&view))) } })
}

fn hunk_section(
    found: &StoredProposal,
    hunk: &ProposalHunk,
    item: Option<&str>,
    lines_left: &mut usize,
) -> Markup {
    let number = hunk.number;
    let rejected = found.rejected_hunks.iter().find(|rejected| rejected.hunk == number);
    let lines = found.proposal.hunk_diff(hunk).lines().count();
    let drawn = (lines <= *lines_left).then(|| view(found, hunk));
    let is_editable = rejected.is_none() && found.proposal.can_edit_hunk(hunk);
    *lines_left -= if drawn.is_some() { lines } else { 0 };
    html! {
        div.hunk #{ "hunk-" (number) } tabindex="-1" data-hunk=(number) {
            div.hh {
                span {
                    (crate::diff_view::describe_lines(found.proposal.hunk_diff(hunk)))
                    @if let Some(item) = item { ", in " code { (visible(&shorten_item(item))) } }
                }
                @if found.decision.is_none() { (controls(number, rejected.is_some(), is_editable, drawn.as_ref())) }
                @else if let Some(ProposalDecision::Accepted { left_out, edited, .. }) = &found.decision {
                    @if left_out.iter().any(|left| left.hunk == number) { span.minus { "left out" } }
                    @if edited.contains(&number) { span.tag { "edited" } }
                }
            }
            @match &drawn {
                Some(view) => { (diff::rows(view)) }
                None => {
                    a.more href={ "/review/" (found.id) "/hunk/" (number) } data-auto[lines <= MAX_AUTO_LINES] { "Show " (lines) " lines" }
                }
            }
            @if let Some(rejected) = rejected { p.left-out { (visible(&describe_hunks(std::slice::from_ref(rejected)))) } }
        }
    }
}

/// Accept, reject and edit, as a group of radio buttons that look like buttons.
fn controls(number: usize, is_rejected: bool, is_editable: bool, view: Option<&HunkView>) -> Markup {
    let choice = |value: &str, label: &str, key: &str, checked: bool| {
        let id = format!("{value}-{number}");
        html! {
            input type="radio" id=(id) name={ "hunk-" (number) } value=(value) checked[checked];
            label for=(id) class=(value) { (label) " " kbd aria-hidden="true" { (key) } }
        }
    };
    html! {
        fieldset.choice {
            legend { "Hunk " (number) }
            @if !is_rejected { (choice("accept", "Accept", "a", false)) }
            (choice("reject", "Reject", "r", is_rejected))
            @if is_editable { (choice("edit", "Edit", "e", false)) }
            div.extra.for-reject {
                label for={ "reason-" (number) } { "Reason for the agent" }
                input id={ "reason-" (number) } name={ "reason-" (number) } maxlength="2000" placeholder="Optional";
            }
            @if is_editable {
                div.extra.for-edit {
                    label for={ "text-" (number) } { "Write this instead" }
                    // A hunk that is not drawn yet gets its text when it is loaded.
                    (edit_field(number, view))
                }
            }
        }
    }
}

fn edit_field(number: usize, view: Option<&HunkView>) -> Markup {
    let text = view.map_or("", |view| view.editable.as_str());
    html! {
        textarea id={ "text-" (number) } name=[view.map(|_| format!("text-{number}"))] spellcheck="false"
            placeholder="Nothing: these lines are removed"
            rows=(text.lines().count().clamp(2, 24)) { "\n" (text) }
    }
}
