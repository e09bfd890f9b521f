//! `slipstitch undo`: undo changes.

use std::collections::BTreeSet;

use clap::Args;
use clap_complete::ArgValueCompleter;
use slipstitch::Workspace;
use slipstitch::core::guard::ConsentRule;
use slipstitch::core::outcome::{Outcome, Refused, Status};
use slipstitch::core::plan::{ChangeId, Direction, OtherSessionsConsent, Plan, Run, Target, UndoPlan};
use slipstitch::core::ports::journal::{Filter, Summary, UndoFilter};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::{escape_controls, join_items};

use super::log;
use crate::change::run_mode;
use crate::complete;
use crate::consent::Consent;
use crate::error::CommandError;
use crate::global::Global;
use crate::ids::{IdRange, parse_ids};
use crate::other_roots::{OtherRoots, follow_ids, root_note};
use crate::output::CommandResult;
use crate::progress::Progress;
use crate::prompt::{self, Answer};
use crate::reviewer;
use crate::selection::{Selection, expand_ids, nothing_selected, reject_filters};

/// How many changes a question lists.
const MAX_LISTED: usize = 12;

const EXAMPLES: &str = "\
Examples:
  slipstitch undo                                   undo the last change of this session
  slipstitch undo c7 --dry-run                      show what undoing c7 would change
  slipstitch undo c3 c5..c7                         undo four changes as one
  slipstitch undo --agent claude-code --since 1h    undo what an agent did in the last hour
  slipstitch undo --session agent --all             undo everything that a session did
  slipstitch undo --file src/main.rs --since 2h

Later changes elsewhere in the files are kept. If the same place was changed again, nothing is
written and both versions are shown. Before several changes are undone, they are listed and you
are asked; elsewhere than on a terminal, add `--yes`. Without a terminal, `undo.others` in the settings
applies to changes of other sessions. `slipstitch redo` reapplies what was undone.";

/// Undo the session's last change, or everything that the options select
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Undo {
    /// The changes, such as c7 or c3..c7; `slipstitch log` lists them
    #[arg(value_name = "ID", value_parser = parse_ids::<ChangeId>, add = ArgValueCompleter::new(complete::change_ids))]
    ids: Vec<IdRange>,
    /// Undo everything that is selected, not only the last change of the session
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Show what would change without writing it
    #[arg(long, short = 'n')]
    dry_run: bool,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    selection: Selection,
}

impl Undo {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let run = run_mode(self.dry_run);
        let workspace = {
            let _progress = Progress::start("Opening the journal", global);
            global.open_to_select()?
        };
        let undoable = Filter { undo: Some(UndoFilter::Undoable), ..Filter::default() };
        if !self.ids.is_empty() {
            reject_filters(&self.selection, global)?;
            let workspace = follow_ids(workspace, &self.ids, global)?;
            let ids = expand_ids(&self.ids, &undoable, &workspace)?;
            let target = match &ids[..] {
                [] => return Err(nothing_selected("undo", &self.selection, &workspace, global)),
                [one] => Target::Change(*one),
                _ => Target::Changes(ids),
            };
            return Ok(Box::new(run_undo(&workspace, target, Direction::Undo, run, self.consent, global)));
        }
        if !self.all && !self.selection.is_given(global) {
            let target = Target::Last { path: None };
            return Ok(Box::new(run_undo(&workspace, target, Direction::Undo, run, self.consent, global)));
        }
        let listed = match self.selection.is_given(global) || global.session.is_some() {
            true => self.selection.changes(undoable.clone(), &workspace, global)?,
            // `--all` alone means this session.
            false => workspace
                .log(&Filter { session: Some(workspace.session().into()), ..undoable.clone() })
                .map_err(Report::from)?,
        };
        let ids: Vec<ChangeId> = listed.iter().map(|change| change.id).collect();
        if ids.is_empty() {
            return Err(nothing_selected("undo", &self.selection, &workspace, global));
        }
        let elsewhere = self.selection.other_roots(undoable, &workspace, global);
        let elsewhere = elsewhere.map(|roots| format!("changes that are not undone here {roots}"));
        if run == Run::Real && !self.consent.is_given() {
            let mut lines = list_changes(&listed);
            lines.extend(elsewhere.iter().map(|text| format!("note: {text}")));
            let preview = prompt::join_lines(&lines);
            match prompt::ask(preview.as_bytes(), "Undo these changes?") {
                Answer::Yes => {}
                Answer::No => return Err(CommandError::declined("nothing was undone")),
                Answer::Nobody => return Err(needs_confirmation(&listed, &workspace)),
            }
        }
        let target = Target::Changes(ids);
        let mut report = run_undo(&workspace, target, Direction::Undo, run, self.consent, global);
        report.warnings.extend(elsewhere);
        Ok(Box::new(report))
    }
}

/// The changes that would be undone, in lines.
fn list_changes(changes: &[Summary]) -> Vec<String> {
    let line = |change: &Summary| {
        let who = change.origin.agent.as_ref().unwrap_or(&change.origin.session);
        let files: Vec<String> = change.files.iter().take(3).map(log::describe_file).collect();
        escape_controls(&format!(
            "  {}  {}  {who}  {}",
            change.id,
            log::local_time(change.at),
            files.join(", ")
        ))
    };
    let mut lines: Vec<String> = changes.iter().take(MAX_LISTED).map(line).collect();
    if changes.len() > MAX_LISTED {
        lines.push(format!("  and {} more", changes.len() - MAX_LISTED));
    }
    lines
}

fn needs_confirmation(changes: &[Summary], workspace: &Workspace) -> CommandError {
    let count = match changes.len() {
        1 => "1 change is selected".to_owned(),
        count => format!("{count} changes are selected"),
    };
    let ids: Vec<String> = changes.iter().take(MAX_LISTED).map(|change| change.id.to_string()).collect();
    let more = if changes.len() > MAX_LISTED { ", …" } else { "" };
    let message = format!("{count} ({}{more}), and the undo needs confirmation", ids.join(", "));
    // A session confirms its own changes. Those of others follow the settings, and without a terminal `--yes` does not help.
    let is_others = |change: &Summary| change.origin.session != workspace.session();
    let asks_about_others = workspace.config().policy.undo_others != ConsentRule::Allow;
    let nobody_can = !reviewer::can_accept(workspace) && asks_about_others && changes.iter().any(is_others);
    let hint = match nobody_can {
        true => reviewer::LEAVE_TO_USER,
        false => "Nothing was written. Check with `--dry-run`, then add `--yes` to confirm it.",
    };
    Report::custom(Status::Refused, "needs_consent", message).hint(hint).into()
}

/// Runs an undo or a redo.
pub(super) fn run_undo(
    workspace: &Workspace,
    target: Target,
    direction: Direction,
    run: Run,
    consent: Consent,
    global: &Global,
) -> Report {
    let what = match direction {
        Direction::Undo => "Undoing changes",
        Direction::Redo => "Redoing changes",
    };
    let _progress = Progress::start(what, global);
    let others = match reviewer::is_person(workspace) {
        true => OtherSessionsConsent::Given,
        false => OtherSessionsConsent::Needed,
    };
    let targets = ids_of(&target, workspace);
    let plan = UndoPlan { target, direction, run, others };
    let tool = match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    };
    let mut report = consent.run(workspace, Plan::Undo(plan), tool);
    if report.outcome == Outcome::Refused(Refused::ChangedSince) {
        report.hint = report.hint.map(|hint| hint + &describe_changes_elsewhere(&targets, workspace));
    }
    let is_empty = report.outcome == Outcome::Refused(Refused::NothingToUndo);
    if let Some(roots) = is_empty.then(|| describe_undoable_elsewhere(direction, workspace)).flatten() {
        report.hint = Some(report.hint.map_or(roots.clone(), |hint| format!("{hint} {roots}")));
    }
    report.warnings.extend(root_note(workspace, global));
    report
}

fn ids_of(target: &Target, workspace: &Workspace) -> Vec<ChangeId> {
    match target {
        Target::Change(id) => vec![*id],
        Target::Changes(ids) => ids.clone(),
        Target::Last { .. } | Target::Session => {
            let session = Some(workspace.session().to_owned());
            let limit = matches!(target, Target::Last { .. }).then_some(1);
            let filter = Filter { session, undo: Some(UndoFilter::Undoable), limit, ..Filter::default() };
            workspace.log(&filter).unwrap_or_default().iter().map(|change| change.id).collect()
        }
    }
}

/// Names other roots of the project with what the session could undo or redo there. Here, it has nothing.
fn describe_undoable_elsewhere(direction: Direction, workspace: &Workspace) -> Option<String> {
    let (undo, what) = match direction {
        Direction::Undo => (UndoFilter::Undoable, "Changes"),
        Direction::Redo => (UndoFilter::Redoable, "Undos"),
    };
    let session = Some(workspace.session().to_owned());
    let filter = Filter { session, undo: Some(undo), ..Filter::default() };
    let roots = OtherRoots::of(workspace).describe(&filter)?;
    Some(format!("{what} of this session {roots}."))
}

/// Names the changes of other roots to the same files, which the engine does not know: to it they are another program's.
fn describe_changes_elsewhere(ids: &[ChangeId], workspace: &Workspace) -> String {
    let roots = OtherRoots::of(workspace);
    let mut found = BTreeSet::new();
    for &id in ids {
        let Ok(Some(entry)) = workspace.change(id) else { continue };
        let paths = entry.summary.files.iter().filter_map(|file| file.path_after.as_ref());
        found.extend(paths.flat_map(|path| roots.changes_of(path, id, None)));
    }
    let Some((last, root)) = found.last() else { return String::new() };
    let ids: Vec<ChangeId> = found.iter().filter(|(_, other)| other == root).map(|(id, _)| *id).collect();
    let (listed, root) = (join_items(ids.iter().rev().take(MAX_LISTED)), escape_controls(root));
    format!(
        " The same file was changed since by {listed}, made with the root `{root}`: see `slipstitch show {last}`."
    )
}
