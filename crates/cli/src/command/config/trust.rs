//! `slipstitch config trust`: which settings file is the user's.

use clap::Args;
use slipstitch::config::Config;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;

use crate::error::CommandError;
use crate::global::Global;
use crate::output::CommandResult;
use crate::reviewer;

const EXAMPLES: &str = "\
Examples:
  slipstitch config trust                       your usual settings file
  slipstitch config trust --config ~/work.toml

Only one settings file can relax what needs your approval: the one that was in use when the state
folder was created. Trust another one after you have moved your settings. This needs a terminal, and
the review passphrase if one is set.";

/// Choose the settings file that can relax what needs your approval
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Trust {}

impl Trust {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open()?;
        let reviewer = reviewer::for_acceptance(&workspace, None, "a settings file can only be trusted")?;
        let file = Config::file(global.config.as_deref()).ok_or_else(|| {
            CommandError::usage("there is no home folder with a settings file", "Name one with `--config`.")
        })?;
        let file = workspace.trust_settings(&file, &reviewer).map_err(|error| {
            Report::custom(Status::Failed, "state_error", format!("cannot record the settings file: {error}"))
        })?;
        let name = escape_controls(&file.display().to_string());
        let message = format!("`{name}` can now relax what needs your approval.");
        Ok(Box::new(Report::custom(Status::Applied, "trusted", message)))
    }
}
