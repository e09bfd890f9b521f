//! `slipstitch mcp install`: adds the server to hosts' settings.

use slipstitch::core::outcome::Outcome;
use std::path::{Path, PathBuf};

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch_install::{
    Change, EditApproval, Extras, Installed, Launch, OnConflict, Preview, Program, Request, Scope, Target,
    server_args,
};

use super::check;
use super::several::{self, FileNames, HostReports, Plan};
use super::target::{Choice, TargetArgs, options, report};
use crate::error::CommandError;
use crate::global::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch mcp install                                  # finds the hosts, shows the changes, asks
  slipstitch mcp install --all --dry-run
  slipstitch mcp install --client claude-code,codex --allow-edits
  slipstitch mcp install --client vscode --scope project
  slipstitch mcp install --client codex --dialect codex --print
  slipstitch mcp install --client zed --name slipstitch-notes --root ~/notes
  slipstitch mcp install --client cursor -- --mode restricted

Arguments that `slipstitch mcp` would reject are rejected before anything is written. Every other
byte of the settings file is unchanged. The output shows only what is added, and masks values of a
replaced entry that may be secret. To remove it, run `slipstitch mcp uninstall` with the same
`--client`, `--scope` and `--name`.

Without `--root`, the server works in the project that the host has open. With `--scope project`,
`--root` is the project whose settings file is changed.";

/// Add Slipstitch to agent hosts as an MCP server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Install {
    #[command(flatten)]
    target: TargetArgs,
    /// Print the entry and the name of its settings file, but write nothing
    #[arg(long, conflicts_with = "dry_run")]
    print: bool,
    /// Replace a different entry of the same name
    #[arg(long)]
    force: bool,
    /// Let the host run the server's tools without asking, where it has a setting for that. Slipstitch itself still asks
    /// about protected paths
    #[arg(long)]
    allow_edits: bool,
    /// Let the host ask before edits, also where it runs its own edits without asking
    #[arg(long, conflicts_with = "allow_edits")]
    ask_for_edits: bool,
    /// Switch the host's own edit tools off, where it has a setting for that
    #[arg(long)]
    disable_builtin_edits: bool,
    /// Dialects of the tools to offer, separated by commas [default: native]
    #[arg(long, value_name = "DIALECT", value_delimiter = ',')]
    dialect: Vec<String>,
    /// Program that the host starts [default: slipstitch if it is on the PATH, else this program's path]
    #[arg(long, value_name = "PROGRAM")]
    command: Option<String>,
    /// More arguments for the server
    #[arg(last = true, value_name = "ARGUMENTS")]
    rest: Vec<String>,
}

impl Install {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let targets = self.target.targets(global, |target| target.host.is_present())?;
        match (self.target.choice(), targets.as_slice()) {
            (_, []) => Err(no_hosts()),
            (Choice::Named, [target]) => Ok(Box::new(self.run_one(target, FileNames::IfSeveral, global)?)),
            (choice, targets) => {
                if choice == Choice::Found && !self.print && !self.target.dry_run {
                    let plan = |target: &Target| self.plan(target, global);
                    several::confirm(targets, plan, "Install", global)?;
                }
                let names = FileNames::of(targets);
                let run = |target: &Target| self.run_one(target, names, global);
                Ok(Box::new(HostReports::collect(targets, run)))
            }
        }
    }

    fn run_one(&self, target: &Target, names: FileNames, global: &Global) -> Result<Report, CommandError> {
        target.file().map_err(|error| report(error, ""))?;
        let (program, request) = self.request(target, global)?;
        let previews = target.preview(&request).map_err(|error| report(error, ""))?;
        if self.print {
            return Ok(printed(target, &previews));
        }
        let by_hand = by_hand(&previews);
        let refused = |error| report(error, &by_hand);
        if self.target.dry_run {
            let changes = target.plan_install(&request).map_err(refused)?;
            return Ok(match changes.as_slice() {
                [] => already_installed(target, &target.file().map_err(|error| report(error, ""))?),
                _ => {
                    let report = planned(target, &changes);
                    self.described(target, report, (&changes, names), &program, &request.extras)
                }
            });
        }
        Ok(match target.install(&request, &options(global)).map_err(refused)? {
            Installed::AlreadyPresent { file } => already_installed(target, &file),
            Installed::Written { changes, report } => {
                let report = installed(target, &changes, *report);
                let uninstall = self.target.uninstall_command(target, global);
                let report = self.described(target, report, (&changes, names), &program, &request.extras);
                report.hint(format!("{} To remove it: {uninstall}", target.host.next_step))
            }
        })
    }

    /// What an installation would change, for the question to the user.
    fn plan(&self, target: &Target, global: &Global) -> Result<Plan, CommandError> {
        let (_, request) = self.request(target, global)?;
        let changes = target.plan_install(&request).map_err(|error| report(error, ""))?;
        Ok(Plan { changes, note: target.host.approval_note(self.edit_approval()) })
    }

    fn request(&self, target: &Target, global: &Global) -> Result<(Program, Request), CommandError> {
        let program = match &self.command {
            Some(name) => Program { name: name.clone(), is_found: true },
            None => Program::locate(target.host, &target.scope),
        };
        let launch = self.launch(&program, &target.scope, global)?;
        let tools = check::would_start(&launch.args)?;
        let extras =
            Extras { edits: self.edit_approval(), disable_builtin_edits: self.disable_builtin_edits, tools };
        let on_conflict = if self.force { OnConflict::Force } else { OnConflict::Refuse };
        Ok((program, Request { launch, extras, on_conflict }))
    }

    fn launch(&self, program: &Program, scope: &Scope, global: &Global) -> Result<Launch, CommandError> {
        let roots: &[PathBuf] = match scope {
            Scope::User => &global.root,
            // The root says which settings file is meant; the host tells the server which project is open.
            Scope::Project(_) => &[],
        };
        let args = server_args(&self.dialect, roots, &self.rest).map_err(|error| report(error, ""))?;
        Ok(Launch { program: program.name.clone(), args })
    }

    /// Adds the diff and what the user should know to a report.
    fn described(
        &self,
        target: &Target,
        mut report: Report,
        (changes, names): (&[Change], FileNames),
        program: &Program,
        extras: &Extras,
    ) -> Report {
        report.text = several::join_diffs(changes, names);
        report.warnings.extend(changes.iter().flat_map(|change| change.warnings.clone()));
        if !program.is_found {
            let name = &program.name;
            let warning =
                format!("`{name}` is not on the PATH, or is another program; put this program on the PATH");
            report.warnings.push(warning);
        }
        report.warnings.extend(target.host.unsupported_extras(extras));
        report.warnings.extend(target.host.approval_note(extras.edits));
        report
    }

    fn edit_approval(&self) -> EditApproval {
        match (self.allow_edits, self.ask_for_edits) {
            (true, _) => EditApproval::Allow,
            (_, true) => EditApproval::Ask,
            _ => EditApproval::LikeItsOwn,
        }
    }
}

fn installed(target: &Target, changes: &[Change], mut report: Report) -> Report {
    report.outcome = Outcome::Custom { status: report.status(), code: "installed" };
    report.message =
        format!("Added `{}` to {} for {}", target.name, several::list_files(changes), target.host.name);
    report
}

fn planned(target: &Target, changes: &[Change]) -> Report {
    let message =
        format!("Would add `{}` to {} for {}", target.name, several::list_files(changes), target.host.name);
    Report::custom(Status::WouldApply, "would_install", message)
}

fn printed(target: &Target, previews: &[Preview]) -> Report {
    let place = match previews {
        [preview] => format!("to `{}`", preview.file.display()),
        _ => "to these files".into(),
    };
    let mut report = Report::custom(Status::Shown, "entry", format!("for {}", target.host.name))
        .hint(format!("Add this {place}, keeping what else is in there."));
    report.text = Some(join_entries(previews));
    report
}

/// What to do if the files cannot be edited.
fn by_hand(previews: &[Preview]) -> String {
    let place = if previews.len() == 1 { "to the file " } else { "" };
    format!("Add this {place}by hand:\n{}", join_entries(previews))
}

/// The entries, below the names of their files if there are several.
fn join_entries(previews: &[Preview]) -> String {
    let entry = |preview: &Preview| match previews {
        [_] => preview.entry.trim_end().to_owned(),
        _ => format!("# {}\n{}", preview.file.display(), preview.entry.trim_end()),
    };
    previews.iter().map(entry).collect::<Vec<_>>().join("\n")
}

fn already_installed(target: &Target, file: &Path) -> Report {
    let message = format!("`{}` already has this entry for `{}`", file.display(), target.name);
    Report::custom(Status::AlreadyApplied, "already_installed", message)
}

fn no_hosts() -> CommandError {
    Report::custom(Status::Refused, "no_hosts", "no agent host was found on this machine")
        .hint("Name one with `--client`; `slipstitch mcp install --help` lists them.")
        .into()
}
