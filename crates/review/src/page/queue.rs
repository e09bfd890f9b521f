//! The queue: what waits for a decision, and one proposal with its hunks.

use maud::{Markup, html};
use slipstitch::Workspace;
use slipstitch::core::change::{Base, FileChange, PathChange, Rung};
use slipstitch::core::engine::approve::Declined;
use slipstitch::core::outcome::Status;
use slipstitch::core::ports::journal::{
    Proposal, ProposalDecision, ProposalHunk, ProposalId, ProposalSubject, StoredProposal, describe_hunks,
};
use slipstitch::core::report::{ConflictReport, Report};

use super::layout::{Tab, page};
use super::{Filters, ago, diff, visible, who};
use crate::diff_view::HunkView;
use crate::revert;

/// How many decided proposals are listed below the pending ones.
const MAX_DECIDED: usize = 12;
/// How many hunks are drawn at once; the others are loaded when they are opened.
const MAX_HUNKS: usize = 40;
/// How many rows a hunk may have to be drawn at once.
const MAX_ROWS: usize = 400;

/// The queue with one proposal, the first one if none is chosen. `problem` is why a decision could not be carried out.
pub(crate) fn queue_page(
    workspace: &Workspace,
    chosen: Option<ProposalId>,
    filters: &Filters,
    problem: Option<&Report>,
) -> Markup {
    let pending = workspace.proposals().unwrap_or_default();
    let count = pending.len();
    let decided = workspace.decided_proposals(MAX_DECIDED).unwrap_or_default();
    let is_shown = |found: &&StoredProposal| {
        let proposal = &found.proposal;
        filters.allow(
            &proposal.origin,
            proposal.description.as_deref(),
            proposal.files.iter().map(|file| file.path.as_str()),
        )
    };
    let pending: Vec<&StoredProposal> = pending.iter().filter(is_shown).collect();
    let chosen_id = chosen.or_else(|| pending.first().map(|found| found.id));
    let list = html! {
        h2 { "Waiting" @if !pending.is_empty() { " · " (pending.len()) } }
        @for found in &pending { (item(found, chosen_id)) }
        @if pending.is_empty() { p.empty { @if filters.is_empty() { "Nothing to review." } @else { "Nothing matches." } } }
        @if !decided.is_empty() {
            h2 { "Decided" }
            @for found in decided.iter().filter(is_shown) { (item(found, chosen_id)) }
        }
    };
    let found = chosen_id.and_then(|id| workspace.proposal(id).ok().flatten());
    let content = match (&found, chosen_id) {
        (Some(found), _) => proposal_content(workspace, found, problem),
        (None, Some(id)) => {
            html! { h1 { "No proposal " (id) } p.why { "It is not in this project's journal." } }
        }
        (None, None) => nothing_to_review(),
    };
    let title = found.as_ref().map_or("Review".to_owned(), |found| title_of(&found.proposal));
    page(&title, Tab::Review, count, &filters.q, list, content)
}

fn nothing_to_review() -> Markup {
    html! {
        h1 { "Nothing to review" }
        p.why { "Changes that need your approval appear here by themselves. Everything that was written is in the " a href="/history" { "history" } "." }
        p.why { "To try it, have an agent change a protected file, such as " code { ".github/workflows/ci.yml" } ", or add a rule to your settings: " }
        pre.sample { "[[rules]]\npaths = [\"src/**\"]\nverdict = \"ask\"\n" }
    }
}

/// What a proposal is for, in a few words.
fn title_of(proposal: &Proposal) -> String {
    match (&proposal.description, proposal.notes.subject) {
        (_, ProposalSubject::WriteAccess) => "Write access for a session".into(),
        (Some(description), _) if !description.trim().is_empty() => visible(description.trim()),
        _ => match &proposal.files[..] {
            [file] => format!("{} {}", verb(file), visible(file.path.as_str())),
            files => format!("Change {} files", files.len()),
        },
    }
}

fn verb(file: &FileChange) -> &'static str {
    match (file.base, &file.path_change) {
        (Base::Absent, _) => "Create",
        (_, PathChange::Delete) => "Delete",
        (_, PathChange::Move(_)) => "Move",
        (_, PathChange::Keep) => "Change",
    }
}

fn item(found: &StoredProposal, chosen: Option<ProposalId>) -> Markup {
    let proposal = &found.proposal;
    let paths: Vec<&str> = proposal.files.iter().map(|file| file.path.as_str()).collect();
    let files = if paths.len() > 2 { format!("{} files", paths.len()) } else { visible(&paths.join(", ")) };
    let (added, removed) = count_lines(&proposal.diff);
    html! {
        a.item href={ "/review/" (found.id) } aria-current=[(chosen == Some(found.id)).then_some("true")] {
            span.t { span.name { (title_of(proposal)) } time { (ago(found.at)) } }
            span.p { (files) }
            span.m {
                span { (visible(proposal.origin.agent.as_deref().unwrap_or(&proposal.origin.session))) }
                @match &found.decision {
                    None => {
                        span.plus { "+" (added) } span.minus { "−" (removed) }
                        @if is_recovered(proposal) { span.tag { "recovered" } }
                        @if proposal.reason.contains("protected") { span.tag { "protected" } }
                    }
                    Some(ProposalDecision::Rejected { reason, .. }) => {
                        span.minus { "rejected" }
                        @if let Some(reason) = reason { span.p { "“" (visible(reason)) "”" } }
                    }
                    Some(ProposalDecision::Accepted { left_out, .. }) if !left_out.is_empty() => { span.plus { "partly accepted" } }
                    Some(_) => { span.plus { "accepted" } }
                }
            }
        }
    }
}

/// Whether a place was found although the request differs from the file.
fn is_recovered(proposal: &Proposal) -> bool {
    proposal.files.iter().flat_map(|file| &file.edits).any(|edit| edit.rung > Rung::Exact)
}

/// The added and removed lines of a diff.
fn count_lines(diff: &str) -> (usize, usize) {
    let is_header = |line: &str| line.starts_with("+++ ") || line.starts_with("--- ");
    let count = |sign: char| diff.lines().filter(|line| line.starts_with(sign) && !is_header(line)).count();
    (count('+'), count('-'))
}

fn proposal_content(workspace: &Workspace, found: &StoredProposal, problem: Option<&Report>) -> Markup {
    let proposal = &found.proposal;
    let is_pending = found.decision.is_none();
    html! {
        h1 { (title_of(proposal)) }
        p.why {
            (who(&proposal.origin)) " · proposed " (ago(found.at)) @if ago(found.at) != "now" { " ago" }
            @if is_pending { " · waits because " b { (visible(&proposal.reason)) } }
        }
        @if let Some(problem) = problem { (problem_note(problem)) }
        @match &found.decision {
            Some(decision) => { (decision_note(found.id, decision)) }
            None if problem.is_none() => { (state_note(workspace, found)) }
            None => {}
        }
        @if is_pending {
            form #decision method="post" action={ "/review/" (found.id) } {
                (files(found))
                @if proposal.notes.subject == ProposalSubject::WriteAccess { p { "If you accept, the session can change files until it ends. Every change can be undone." } }
                div.reason { label for="reason" { "Reason for the agent" } input #reason name="reason" maxlength="2000" placeholder="Optional"; }
                footer {
                    button.main name="action" value="send" { "Send decision " kbd { "⏎" } }
                    button name="action" value="accept" { "Accept all " kbd { "A" } }
                    button name="action" value="reject" { "Reject all " kbd { "R" } }
                    span #tally.sp aria-live="polite" {}
                    button #show-help type="button" aria-label="Keys" { kbd { "?" } }
                }
            }
        } @else { (files(found)) }
    }
}

/// What was found to be different since the proposal was made, or when its place was found.
fn state_note(workspace: &Workspace, found: &StoredProposal) -> Markup {
    let report = revert::preview(workspace, found.id);
    let differences: Vec<&String> = found.proposal.files.iter().flat_map(|file| &file.notes).collect();
    html! {
        @if report.status() == Status::Refused || report.status() == Status::Invalid { (problem_note(&report)) }
        @else if let Some(carried) = report.warnings.iter().find(|warning| warning.contains("carried over")) {
            div.note { b { "The file has changed since. " } (visible(carried)) }
        }
        @if !differences.is_empty() {
            div.note { b { "Found with differences. " } @for note in differences { (visible(note)) " " } "The diff shows what would be written." }
        }
    }
}

fn problem_note(report: &Report) -> Markup {
    html! {
        div.note.bad role="alert" {
            b { "Not written. " } (visible(&report.message))
            @for line in report.conflicts.iter().flat_map(ConflictReport::lines) { pre { (visible(&line)) } }
            @if let Some(hint) = &report.hint { p { (visible(hint)) } }
        }
    }
}

/// What was decided, and what the agent gets to read.
fn decision_note(id: ProposalId, decision: &ProposalDecision) -> Markup {
    let told = match decision {
        ProposalDecision::Rejected { by, reason } => {
            let reason = reason.clone().unwrap_or_else(|| "no reason was given".into());
            Declined::No { by: by.clone(), reason }.to_string()
        }
        decision => format!("{id} was {decision}"),
    };
    html! {
        div.note.done role="status" {
            b { "Decided. " } "The agent is told: " q { (visible(&told)) }
            @if let ProposalDecision::Accepted { change, .. } = decision { " " a href={ "/history/" (change) } { "Show or undo " (change) } }
        }
    }
}

/// The hunks, grouped by file.
fn files(found: &StoredProposal) -> Markup {
    let hunks = found.proposal.hunks();
    let groups = hunks.chunk_by(|one, other| one.path == other.path);
    html! {
        @for group in groups {
            @let views: Vec<HunkView> = group.iter().map(|hunk| view(found, hunk)).collect();
            section.file aria-label=(visible(group[0].path.as_str())) {
                div.fh {
                    h2.path { (visible(group[0].path.as_str())) }
                    span.plus { "+" (views.iter().map(|view| view.added).sum::<usize>()) }
                    span.minus { "−" (views.iter().map(|view| view.removed).sum::<usize>()) }
                    button.layout type="button" hidden { "Unified " kbd { "x" } }
                }
                @for (hunk, view) in group.iter().zip(&views) {
                    @let is_long = hunk.number > MAX_HUNKS || view.rows.len() > MAX_ROWS;
                    (hunk_section(found, hunk, view, is_long))
                }
            }
        }
    }
}

fn view(found: &StoredProposal, hunk: &ProposalHunk) -> HunkView {
    HunkView::parse(found.proposal.hunk_diff(hunk), hunk.path.as_str())
}

/// The rows of one hunk, loaded on demand.
pub(crate) fn hunk_part(workspace: &Workspace, id: ProposalId, number: usize) -> Option<Markup> {
    let found = workspace.proposal(id).ok().flatten()?;
    let hunks = found.proposal.hunks();
    let hunk = hunks.iter().find(|hunk| hunk.number == number)?;
    Some(diff::rows(&view(&found, hunk)))
}

fn hunk_section(found: &StoredProposal, hunk: &ProposalHunk, view: &HunkView, is_long: bool) -> Markup {
    let number = hunk.number;
    let rejected = found.rejected_hunks.iter().find(|rejected| rejected.hunk == number);
    let (first, last) = view.lines;
    html! {
        div.hunk #{ "hunk-" (number) } tabindex="-1" data-hunk=(number) {
            div.hh {
                span { @if first == last { "line " (first) } @else { "lines " (first) "–" (last) } }
                @if found.decision.is_none() { (controls(number, rejected.is_some(), view)) }
                @else if let Some(ProposalDecision::Accepted { left_out, edited, .. }) = &found.decision {
                    @if left_out.iter().any(|left| left.hunk == number) { span.minus { "left out" } }
                    @if edited.contains(&number) { span.tag { "edited" } }
                }
            }
            @if is_long {
                a.more href={ "/review/" (found.id) "/hunk/" (number) } { "Show " (view.rows.len()) " rows" }
            } @else { (diff::rows(view)) }
            @if let Some(rejected) = rejected { p.left-out { (visible(&describe_hunks(std::slice::from_ref(rejected)))) } }
        }
    }
}

/// Accept, reject and edit, as a group of radio buttons that look like buttons.
fn controls(number: usize, is_rejected: bool, view: &HunkView) -> Markup {
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
            @if !is_rejected { (choice("edit", "Edit", "e", false)) }
            div.extra.for-reject {
                label for={ "reason-" (number) } { "Reason for the agent" }
                input id={ "reason-" (number) } name={ "reason-" (number) } maxlength="2000" placeholder="Optional";
            }
            @if !is_rejected {
                div.extra.for-edit {
                    label for={ "text-" (number) } { "Write this instead" }
                    textarea id={ "text-" (number) } name={ "text-" (number) } spellcheck="false" rows=(view.editable.lines().count().clamp(2, 24)) { "\n" (view.editable) }
                }
            }
        }
    }
}
