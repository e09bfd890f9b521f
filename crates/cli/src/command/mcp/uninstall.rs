//! `slipstitch mcp uninstall`: removes the server from a host's settings file.

use clap::Args;
use slipstitch::core::outcome::Outcome;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch_install::{OnConflict, Uninstalled};

use super::target::{TargetArgs, options, report};
use crate::global::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch mcp uninstall --client claude-code
  slipstitch mcp uninstall --client vscode --project
  slipstitch mcp uninstall --client zed --name slipstitch-notes

If nothing but `slipstitch mcp install` has changed the settings file, it is restored byte for
byte; a file that did not exist before is deleted, together with the empty directories created for
it. Otherwise only the entry is removed.";

/// Remove Slipstitch from an agent host
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Uninstall {
    #[command(flatten)]
    target: TargetArgs,
    /// Remove the entry even if it starts another program
    #[arg(long)]
    force: bool,
}

impl Uninstall {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let target = self.target.target(global)?;
        let (name, host) = (&target.name, target.host);
        let on_conflict = if self.force { OnConflict::Force } else { OnConflict::Refuse };
        let by_hand = format!("Remove `{name}` under `{}` by hand.", host.servers_key);
        let uninstalled = target.uninstall(on_conflict, &options(global));
        Ok(Box::new(match uninstalled.map_err(|error| report(error, &by_hand))? {
            Uninstalled::NotInstalled { file } => {
                let message = format!("`{}` has no server `{name}`", file.display());
                Report::custom(Status::NoChange, "not_installed", message)
            }
            Uninstalled::Removed { change, restored } => {
                let mut report = change.report;
                report.outcome = Outcome::Custom { status: report.status(), code: "uninstalled" };
                report.message =
                    format!("Removed `{name}` from `{}` for {}", change.file.display(), host.name);
                if restored {
                    report.message.push_str("; the entry it had replaced was restored");
                }
                report.text = change.diff;
                report.warnings.extend(change.warnings);
                report
            }
        }))
    }
}
