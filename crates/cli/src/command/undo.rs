//! `incise undo`: take a change back.

use clap::Args;
use incise::core::journal::ChangeId;
use incise::core::plan::{Direction, Plan, UndoPlan};

use crate::args::Global;
use crate::change::run;
use crate::consent::Consent;
use crate::output::Done;

const EXAMPLES: &str = "\
Examples:
  incise undo                  the last change of this session
  incise undo c7 --dry-run     what taking c7 back would change
  incise undo --session agent  the last change of another session";

/// Take back the session's last change, or the one named
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Undo {
    /// The change, such as c7; `incise log` shows them
    #[arg(value_parser = change_id)]
    id: Option<ChangeId>,
    /// Show what would change and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
    #[command(flatten)]
    consent: Consent,
}

impl Undo {
    pub(super) fn run(self, global: &Global) -> Done {
        step(self.id, Direction::Undo, self.dry_run, self.consent, global)
    }
}

/// Goes one step back or forth.
pub(super) fn step(
    change: Option<ChangeId>,
    direction: Direction,
    dry: bool,
    consent: Consent,
    global: &Global,
) -> Done {
    let plan = UndoPlan { change, path: None, direction, run: run(dry) };
    let tool = match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    };
    Ok(Box::new(consent.run(&global.open()?, Plan::Undo(plan), tool)))
}

/// Reads a change's name.
pub(super) fn change_id(text: &str) -> Result<ChangeId, String> {
    ChangeId::parse(text).ok_or_else(|| {
        format!("`{text}` names no change; their names are such as c7, and `incise log` shows them")
    })
}
