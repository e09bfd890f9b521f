//! `slipstitch redo`: reapply what an undo reverted.

use clap::Args;
use clap_complete::ArgValueCandidates;
use slipstitch::core::plan::{Direction, Target};
use slipstitch::core::ports::journal::{Filter, UndoFilter};

use super::undo::{parse_change_id, reject_filters, run_undo};
use crate::change::run_mode;
use crate::complete;
use crate::consent::Consent;
use crate::global::Global;
use crate::output::CommandResult;
use crate::selection::{Selection, nothing_selected};
use slipstitch::core::plan::ChangeId;

const EXAMPLES: &str = "\
Examples:
  slipstitch redo
  slipstitch redo c7 --dry-run
  slipstitch redo --agent claude-code      redo the last undo of an agent's change

An undo of several changes is one change, so one `redo` reapplies all of them.";

/// Reapply what the last undo reverted, or a specific change
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Redo {
    /// The undone change, or the undo itself
    #[arg(value_name = "ID", value_parser = parse_change_id, add = ArgValueCandidates::new(complete::change_ids))]
    id: Option<ChangeId>,
    #[command(flatten)]
    selection: Selection,
    /// Show what would change without writing it
    #[arg(long, short = 'n')]
    dry_run: bool,
    #[command(flatten)]
    consent: Consent,
}

impl Redo {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open_to_select()?;
        let target = match self.id {
            Some(id) => {
                reject_filters(&self.selection, global)?;
                Target::Change(id)
            }
            None if self.selection.is_given(global) => {
                let redoable =
                    Filter { undo: Some(UndoFilter::Redoable), limit: Some(1), ..Filter::default() };
                let listed = self.selection.changes(redoable, &workspace, global)?;
                Target::Change(listed.first().ok_or_else(|| nothing_selected("redo"))?.id)
            }
            None => Target::Last { path: None },
        };
        let run = run_mode(self.dry_run);
        Ok(Box::new(run_undo(&workspace, target, Direction::Redo, run, self.consent, global)))
    }
}
