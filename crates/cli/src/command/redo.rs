//! `slipstitch redo`: reapply what an undo reverted.

use clap::Args;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::plan::{Direction, Target};

use super::undo::{parse_change_id, run_undo};
use crate::consent::Consent;
use crate::global::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch redo
  slipstitch redo c7 --dry-run";

/// Reapply what the session's last undo reverted, or a specific change
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Redo {
    /// The undone change, or the undo itself
    #[arg(value_parser = parse_change_id)]
    id: Option<ChangeId>,
    /// Show what would change without writing it
    #[arg(long, short = 'n')]
    dry_run: bool,
    #[command(flatten)]
    consent: Consent,
}

impl Redo {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let target = self.id.map_or(Target::Last { path: None }, Target::Change);
        run_undo(target, Direction::Redo, self.dry_run, self.consent, global)
    }
}
