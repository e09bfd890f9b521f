//! `slipstitch redo`: reapply what an undo reverted.

use clap::Args;
use clap_complete::ArgValueCompleter;
use slipstitch::Workspace;
use slipstitch::core::engine::unknown_change;
use slipstitch::core::plan::{ChangeId, Direction, Target};
use slipstitch::core::ports::journal::{ChangeKind, Filter, Summary, UndoFilter};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::join_items;

use super::undo::run_undo;
use crate::change::run_mode;
use crate::complete;
use crate::consent::{Consent, PHRASES};
use crate::error::CommandError;
use crate::global::Global;
use crate::ids::{IdRange, parse_ids};
use crate::other_roots::follow_ids;
use crate::output::CommandResult;
use crate::selection::{Selection, expand_ids, nothing_selected, reject_filters};

const EXAMPLES: &str = "\
Examples:
  slipstitch redo
  slipstitch redo c7 --dry-run
  slipstitch redo --agent claude-code      redo the last undo of an agent's changes

An undo of several changes is one change, so one `redo` reapplies all of them.";

/// Reapply what the last undo reverted, or a specific change
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Redo {
    /// The undone changes, or the undo itself, such as c7 or c3..c7
    #[arg(value_name = "ID", value_parser = parse_ids::<ChangeId>, add = ArgValueCompleter::new(complete::change_ids))]
    ids: Vec<IdRange>,
    /// Show what would change without writing it
    #[arg(long, short = 'n')]
    dry_run: bool,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    selection: Selection,
}

impl Redo {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = follow_ids(global.open_to_select()?, &self.ids, global)?;
        let target = if !self.ids.is_empty() {
            reject_filters(&self.selection, global)?;
            Target::Change(undo_of(&self.ids, &self.selection, &workspace, global)?)
        } else if self.selection.is_given(global) {
            let last = last_selected(&self.selection, &workspace, global)?;
            Target::Change(last.ok_or_else(|| nothing_selected("redo", &self.selection, &workspace, global))?)
        } else {
            Target::Last { path: None }
        };
        let run = run_mode(self.dry_run);
        Ok(Box::new(run_undo(&workspace, target, Direction::Redo, run, self.consent, global)))
    }
}

/// The change to redo: the undo that reverted all of these. For a single change, the engine decides and says what is wrong with it.
fn undo_of(
    ranges: &[IdRange],
    selection: &Selection,
    workspace: &Workspace,
    global: &Global,
) -> Result<ChangeId, CommandError> {
    let ids = expand_ids(ranges, &Filter::default(), workspace)?;
    let mut undos: Vec<ChangeId> = Vec::new();
    for &id in &ids {
        let change = workspace.change(id).map_err(Report::from)?;
        let change = change.ok_or_else(|| unknown_change(id, &PHRASES))?.summary;
        undos.extend(match (&change.kind, change.undone_by) {
            (ChangeKind::Edit, Some(undo)) => Some(undo),
            (ChangeKind::Undo(_), _) => Some(id),
            // In a range, changes that are not undone are skipped.
            _ if ranges.iter().any(|range| range.single() == Some(id)) => Some(id),
            _ => None,
        });
    }
    undos.sort_unstable();
    undos.dedup();
    match (&ids[..], &undos[..]) {
        ([one], _) => Ok(*one),
        (_, []) => Err(nothing_selected("redo", selection, workspace, global)),
        (_, [one]) => Ok(*one),
        (_, several) => Err(CommandError::usage(
            format!("these changes were not undone together: redo {} one at a time", join_items(several)),
            "Nothing was written. Start with the last one.",
        )),
    }
}

/// The last undo that is selected itself, or that only reverted selected changes.
fn last_selected(
    selection: &Selection,
    workspace: &Workspace,
    global: &Global,
) -> Result<Option<ChangeId>, CommandError> {
    let redoable = Filter { undo: Some(UndoFilter::Redoable), ..Filter::default() };
    let files = selection.path_filter(workspace, global)?;
    let includes = |change: &Summary| {
        let paths = change.files.iter().flat_map(|file| [&file.path_before, &file.path_after]).flatten();
        selection.includes(change.at, &change.origin, paths, files.as_ref(), global)
    };
    for undo in workspace.log(&redoable).map_err(Report::from)? {
        let reverted = match &undo.kind {
            ChangeKind::Undo(of) => of.ids(),
            ChangeKind::Edit | ChangeKind::Redo(_) => &[],
        };
        let is_selected = |id: &ChangeId| {
            let entry = workspace.change(*id).ok().flatten();
            entry.is_some_and(|entry| includes(&entry.summary))
        };
        if includes(&undo) || (!reverted.is_empty() && reverted.iter().all(is_selected)) {
            return Ok(Some(undo.id));
        }
    }
    Ok(None)
}
