//! `slipstitch mcp uninstall`: removes the server from hosts' settings.

use clap::Args;
use slipstitch::core::outcome::Outcome;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch_install::{Change, OnConflict, Removal, Target, Uninstalled};

use super::several::{self, FileNames, HostReports, Plan};
use super::target::{Choice, TargetArgs, options, report};
use crate::error::CommandError;
use crate::global::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch mcp uninstall                                # finds the entries, shows them, asks
  slipstitch mcp uninstall --all
  slipstitch mcp uninstall --client claude-code
  slipstitch mcp uninstall --client vscode --scope project
  slipstitch mcp uninstall --client zed --name slipstitch-notes

If nothing but `slipstitch mcp install` has changed the settings file, it is restored byte for
byte; a file that did not exist before is deleted, together with the empty directories created for
it. Otherwise only the entry, and the permissions that were installed with it, are removed.";

/// Remove Slipstitch from agent hosts
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Uninstall {
    #[command(flatten)]
    target: TargetArgs,
    /// Remove the entry even if it starts another program
    #[arg(long)]
    force: bool,
    /// The program that the entry starts; only needed if `install --command` is no longer in the journal
    #[arg(long, value_name = "PROGRAM")]
    command: Option<String>,
}

impl Uninstall {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        // A file that cannot be read is reported by the removal.
        let targets = self.target.targets(global, |target| target.is_installed().unwrap_or(true))?;
        match (self.target.choice(), targets.as_slice()) {
            (_, []) => Ok(Box::new(nothing_installed())),
            (Choice::Named, [target]) => Ok(Box::new(self.run_one(target, FileNames::IfSeveral, global)?)),
            (choice, targets) => {
                if choice == Choice::Found && !self.target.dry_run {
                    let plan = |target: &Target| Ok(Plan { changes: self.plan(target, global)?, note: None });
                    several::confirm(targets, plan, "Remove", global)?;
                }
                let names = FileNames::of(targets);
                let run = |target: &Target| self.run_one(target, names, global);
                Ok(Box::new(HostReports::collect(targets, run)))
            }
        }
    }

    fn run_one(&self, target: &Target, names: FileNames, global: &Global) -> Result<Report, CommandError> {
        if self.target.dry_run {
            let changes = self.plan(target, global)?;
            return match changes.as_slice() {
                [] => Ok(not_installed(target, &target.file().map_err(|error| report(error, ""))?)),
                _ => Ok(planned(target, &changes, names)),
            };
        }
        let by_hand = by_hand(target);
        let uninstalled = target.uninstall(&self.removal(), &options(global));
        Ok(match uninstalled.map_err(|error| report(error, &by_hand))? {
            Uninstalled::NotInstalled { file } => not_installed(target, &file),
            Uninstalled::Removed { changes, restored, mut report } => {
                report.outcome = Outcome::Custom { status: report.status(), code: "uninstalled" };
                let files = several::list_files(&changes);
                report.message = format!("Removed `{}` from {files} for {}", target.name, target.host.name);
                if restored {
                    report.message.push_str("; the entry it had replaced was restored");
                }
                report.text = several::join_diffs(&changes, names);
                report.warnings.extend(changes.into_iter().flat_map(|change| change.warnings));
                *report
            }
        })
    }

    fn plan(&self, target: &Target, global: &Global) -> Result<Vec<Change>, CommandError> {
        let planned = target.plan_uninstall(&self.removal(), &options(global));
        planned.map_err(|error| report(error, &by_hand(target)))
    }

    fn removal(&self) -> Removal {
        let on_conflict = if self.force { OnConflict::Force } else { OnConflict::Refuse };
        Removal { on_conflict, program: self.command.clone() }
    }
}

fn by_hand(target: &Target) -> String {
    let key = target.servers_key().unwrap_or_default();
    format!("Remove `{}` under `{key}` by hand.", target.name)
}

fn planned(target: &Target, changes: &[Change], names: FileNames) -> Report {
    let files = several::list_files(changes);
    let message = format!("Would remove `{}` from {files} for {}", target.name, target.host.name);
    let mut report = Report::custom(Status::WouldApply, "would_uninstall", message);
    report.text = several::join_diffs(changes, names);
    report
}

fn not_installed(target: &Target, file: &std::path::Path) -> Report {
    let message = format!("`{}` has no server `{}`", file.display(), target.name);
    Report::custom(Status::NoChange, "not_installed", message)
}

fn nothing_installed() -> Report {
    Report::custom(Status::NoChange, "not_installed", "no host has this server in these settings")
}
