//! `slipstitch undo`: undo changes.

use clap::Args;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::plan::{Direction, OtherSessionsConsent, Plan, Target, UndoPlan};

use crate::change::run_mode;
use crate::consent::Consent;
use crate::global::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch undo                    undo the last change of this session
  slipstitch undo c7 --dry-run       show what undoing c7 would change
  slipstitch undo --session          undo all changes of this session, as one change
  slipstitch undo --session agent    undo all changes of another session

Later changes elsewhere in the files are kept. If the same place was changed again, nothing is
written and both versions are shown. `slipstitch redo` reapplies what was undone.";

/// Undo the session's last change, a specific change, or a whole session
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Undo {
    /// The change, such as c7; `slipstitch log` lists them
    #[arg(value_parser = parse_change_id)]
    id: Option<ChangeId>,
    /// Without ID: undo all changes of this session, together or not at all
    // Shadows the global option of the same name, which gets the value too.
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    session: Option<Option<String>>,
    /// Show what would change without writing it
    #[arg(long, short = 'n')]
    dry_run: bool,
    #[command(flatten)]
    consent: Consent,
}

impl Undo {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let target = match (self.id, self.session) {
            (Some(id), _) => Target::Change(id),
            (None, Some(_)) => Target::Session,
            (None, None) => Target::Last { path: None },
        };
        run_undo(target, Direction::Undo, self.dry_run, self.consent, global)
    }
}

/// Runs an undo or a redo.
pub(super) fn run_undo(
    target: Target,
    direction: Direction,
    dry_run: bool,
    consent: Consent,
    global: &Global,
) -> CommandResult {
    let plan = UndoPlan { target, direction, run: run_mode(dry_run), others: OtherSessionsConsent::Given };
    let tool = match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    };
    Ok(Box::new(consent.run(&global.open()?, Plan::Undo(plan), tool)))
}

/// Parses a change id.
pub(super) fn parse_change_id(text: &str) -> Result<ChangeId, String> {
    ChangeId::parse(text).ok_or_else(|| {
        format!("`{text}` is not a change id; ids look like c7, and `slipstitch log` lists them")
    })
}
