//! Decisions, undo and redo from the keyboard.

use std::collections::BTreeMap;

use slipstitch::core::engine::{HunkVerdict, Verdict};
use slipstitch::core::plan::{Direction, Run};
use slipstitch::core::ports::journal::{ChangeKind, ProposalId};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;

use super::model::{Choice, Model};
use super::whole_file::WholeFile;
use crate::diff_view::views_of_files;
use crate::editor::edit_text;
use crate::revert::run_undo;
use crate::summary::answer_to_agent;

/// Sends the choices, if every hunk has one.
pub(super) fn send(model: &mut Model<'_>) {
    let Some(open) = &model.proposal else { return };
    if let Some(index) = open.choices.iter().position(|choice| *choice == Choice::Open) {
        let count = open.choices.iter().filter(|choice| **choice == Choice::Open).count();
        model.message = Some(match open.choices.len() {
            1 => "accept (a) or reject (r) the hunk first".into(),
            _ => format!("{count} hunks are open, hunk {} first: a or r; A accepts all", index + 1),
        });
        return;
    }
    if open.hunks.is_empty() {
        model.message = Some("A accepts, R rejects".into());
        return;
    }
    accept_rest(model);
}

/// What was chosen for the hunks of a proposal; those without a choice are accepted.
fn verdict_of(choices: &[Choice]) -> Verdict {
    let verdict = |(index, choice): (usize, &Choice)| {
        let verdict = match choice {
            Choice::Accept => HunkVerdict::Accept,
            Choice::Reject { reason } => HunkVerdict::Reject { reason: reason.clone() },
            Choice::Edit(text) => HunkVerdict::Edit { text: text.clone() },
            Choice::Open | Choice::RejectedBefore(_) => return None,
        };
        // Hunks are numbered from 1.
        Some((index + 1, verdict))
    };
    let hunks: BTreeMap<usize, HunkVerdict> = choices.iter().enumerate().filter_map(verdict).collect();
    Verdict { hunks, others: HunkVerdict::Accept }
}

/// Lets the user edit the current hunk. Returns a message for them; an error is one too.
pub(super) fn edit_current(model: &mut Model<'_>) -> Result<Option<String>, String> {
    let Some(open) = &mut model.proposal else { return Ok(None) };
    let (Some(hunk), Some(view)) = (open.hunks.get(open.current), open.views.get(open.current)) else {
        return Ok(None);
    };
    let choice = &mut open.choices[open.current];
    let before = if let Choice::Edit(text) = choice { text.clone() } else { view.editable.clone() };
    match edit_text(model.workspace, hunk, &before)? {
        Some(text) => *choice = Choice::Edit(text),
        None => return Ok(Some("the text is as it was, so nothing is edited".into())),
    }
    Ok(None)
}

/// Shows the whole file of the current hunk, or the hunks again.
pub(super) fn toggle_whole_file(model: &mut Model<'_>) {
    let Some(open) = &mut model.proposal else { return };
    if open.whole_file.take().is_none() {
        match WholeFile::read(model.workspace, &open.found, &open.hunks, open.current) {
            Ok(file) => open.whole_file = Some(file),
            Err(message) => model.message = Some(message),
        }
    }
    model.scroll = 0;
    model.follows_hunk = true;
}

/// Accepts everything that is not rejected; what was edited is written as edited.
pub(super) fn accept_rest(model: &mut Model<'_>) {
    let Some(open) = &model.proposal else { return };
    let (id, verdict) = (open.found.id, verdict_of(&open.choices));
    let report = model.workspace.decide(id, &model.reviewer, &verdict);
    finish(model, id, &report);
}

/// Rejects everything. The first reason that was given for a hunk is the reason.
pub(super) fn reject_all(model: &mut Model<'_>) {
    let Some(open) = &model.proposal else { return };
    let id = open.found.id;
    let reason = open.choices.iter().find_map(|choice| match choice {
        Choice::Reject { reason } => reason.clone(),
        _ => None,
    });
    let report = model.workspace.reject(id, &model.reviewer, reason.as_deref());
    finish(model, id, &report);
}

/// Accepts or rejects all marked proposals. What was chosen for single hunks counts.
pub(super) fn decide_marked(model: &mut Model<'_>, accepts: bool) {
    let (mut done, mut problems) = (0, Vec::new());
    for id in std::mem::take(&mut model.marked) {
        let verdict = verdict_of(model.choices_of(id));
        let report = match accepts {
            true => model.workspace.decide(id, &model.reviewer, &verdict),
            false => model.workspace.reject(id, &model.reviewer, None),
        };
        match report.is_success() {
            true => done += 1,
            false => problems.push(format!("{id}: {}", escape_controls(&report.message))),
        }
    }
    model.decided += done;
    let verb = if accepts { "accepted" } else { "rejected" };
    let mut message = format!("{done} {verb}");
    if !problems.is_empty() {
        message = format!("{message}, {} not: {}", problems.len(), problems.join("; "));
    }
    model.message = Some(message);
    model.reload();
}

/// Shows what the caller is answered, or why nothing was decided, and goes on with the next proposal.
fn finish(model: &mut Model<'_>, id: ProposalId, report: &Report) {
    let found = model.workspace.proposal(id).ok().flatten();
    let decided = found.as_ref().and_then(|found| Some((found, found.decision.as_ref()?)));
    model.message = Some(match decided {
        Some((found, decision)) => {
            format!("The agent gets this answer: {}", answer_to_agent(model.workspace, found, decision))
        }
        None => format!("Not written: {}", escape_controls(&report.message)),
    });
    model.decided += usize::from(decided.is_some() && report.is_success());
    model.reload();
}

/// Previews undoing the change that is shown, or redoing it if it is undone; the second press does it.
pub(super) fn undo_or_redo(model: &mut Model<'_>) {
    let Some(change) = model.change.as_ref().map(|open| &open.entry.summary) else { return };
    let id = change.id;
    let (direction, verb) = match (&change.kind, change.undone_by) {
        (_, Some(_)) | (ChangeKind::Undo(_), None) => (Direction::Redo, "redo"),
        _ => (Direction::Undo, "undo"),
    };
    let run = if model.undo_asked == Some(id) { Run::Real } else { Run::Dry };
    let report = run_undo(model.workspace, id, direction, run, model.reviewer.name());
    let message = escape_controls(&report.message);
    model.forget_undo();
    model.message = Some(match (report.is_success(), run) {
        (true, Run::Dry) => {
            model.undo_asked = Some(id);
            if let (Some(open), Some(diff)) = (&mut model.change, &report.diff) {
                open.preview = Some(views_of_files(report.files.iter().map(|file| file.path.as_str()), diff));
            }
            format!("{message}. Press u again to {verb} it, Esc to keep it")
        }
        (true, _) => message,
        (false, _) => format!("Cannot {verb} {id}: {message}"),
    });
    if run == Run::Real {
        model.reload();
    }
}
