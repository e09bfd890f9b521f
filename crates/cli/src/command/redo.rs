//! `slipstitch redo`: bring back what an undo took away.

use clap::Args;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::plan::{Direction, Target};

use super::undo::{change_id, step};
use crate::args::Global;
use crate::consent::Consent;
use crate::output::Done;

const EXAMPLES: &str = "\
Examples:
  slipstitch redo
  slipstitch redo c7 --dry-run";

/// Bring back what the session's last undo took away, or the change named
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Redo {
    /// The change that was taken back, or the undo that did it
    #[arg(value_parser = change_id)]
    id: Option<ChangeId>,
    /// Show what would change and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
    #[command(flatten)]
    consent: Consent,
}

impl Redo {
    pub(super) fn run(self, global: &Global) -> Done {
        let target = self.id.map_or(Target::Last { path: None }, Target::Change);
        step(target, Direction::Redo, self.dry_run, self.consent, global)
    }
}
