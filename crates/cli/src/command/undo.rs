//! `slipstitch undo`: take a change back.

use clap::Args;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::plan::{Direction, Plan, Target, UndoPlan};

use crate::args::Global;
use crate::change::run;
use crate::consent::Consent;
use crate::output::Done;

const EXAMPLES: &str = "\
Examples:
  slipstitch undo                    the last change of this session
  slipstitch undo c7 --dry-run       what taking c7 back would change
  slipstitch undo --session          all changes of this session that stand, as one change
  slipstitch undo --session agent    all changes of another session

What was changed since elsewhere in the files stays. Where it was changed in the same place, nothing
is written, and the lines are shown. `slipstitch redo` brings back what was taken back.";

/// Take back the session's last change, the one named, or all of a session
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Undo {
    /// The change, such as c7; `slipstitch log` shows them
    #[arg(value_parser = change_id)]
    id: Option<ChangeId>,
    /// Without ID: take back all changes of this session that stand, together or not at all
    // It takes the place of the global option of that name, which gets the value too.
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    session: Option<Option<String>>,
    /// Show what would change and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
    #[command(flatten)]
    consent: Consent,
}

impl Undo {
    pub(super) fn run(self, global: &Global) -> Done {
        let target = match (self.id, self.session) {
            (Some(id), _) => Target::Change(id),
            (None, Some(_)) => Target::Session,
            (None, None) => Target::Last { path: None },
        };
        step(target, Direction::Undo, self.dry_run, self.consent, global)
    }
}

/// Goes one step back or forth.
pub(super) fn step(
    target: Target,
    direction: Direction,
    dry: bool,
    consent: Consent,
    global: &Global,
) -> Done {
    let plan = UndoPlan { target, direction, run: run(dry) };
    let tool = match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    };
    Ok(Box::new(consent.run(&global.open()?, Plan::Undo(plan), tool)))
}

/// Reads a change's name.
pub(super) fn change_id(text: &str) -> Result<ChangeId, String> {
    ChangeId::parse(text).ok_or_else(|| {
        format!("`{text}` names no change; their names are such as c7, and `slipstitch log` shows them")
    })
}
