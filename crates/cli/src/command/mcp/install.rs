//! `slipstitch mcp install`: adds the server to a host's settings file.

use slipstitch::core::outcome::Outcome;
use std::path::{Path, PathBuf};

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch_install::{
    Change, Installed, Launch, OnConflict, Preview, Program, Scope, Target, server_args,
};

use super::check;
use super::target::{TargetArgs, options, report};
use crate::error::CommandError;
use crate::global::Global;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch mcp install --client claude-code
  slipstitch mcp install --client vscode --project
  slipstitch mcp install --client codex --dialect codex --print
  slipstitch mcp install --client zed --name slipstitch-notes --root ~/notes
  slipstitch mcp install --client cursor -- --mode restricted

Arguments that `slipstitch mcp` would reject are rejected before anything is written. Every other
byte of the settings file is unchanged. The output shows only the entry, and masks values of a
replaced entry that may be secret. To remove the entry, run `slipstitch mcp uninstall` with the
same `--client`, `--project` and `--name`.

Without `--root`, the server works in the project that the host has open. With `--project`,
`--root` is the project whose settings file is changed.";

/// Add Slipstitch to an agent host as an MCP server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Install {
    #[command(flatten)]
    target: TargetArgs,
    /// Show the entry and its settings file, but write nothing
    #[arg(long)]
    print: bool,
    /// Replace a different entry of the same name
    #[arg(long)]
    force: bool,
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
        let target = self.target.target(global)?;
        target.file().map_err(|error| report(error, ""))?;
        let program = self.program(&target.scope);
        let launch = self.launch(&program, &target.scope, global)?;
        check::would_start(&launch.args)?;
        let preview = target.preview(&launch).map_err(|error| report(error, ""))?;
        if self.print {
            return Ok(Box::new(printed(&target, preview)));
        }
        let on_conflict = if self.force { OnConflict::Force } else { OnConflict::Refuse };
        let by_hand = format!("Add this to the file by hand:\n{}", preview.entry.trim_end());
        let installed = target.install(&launch, on_conflict, &options(global));
        Ok(Box::new(match installed.map_err(|error| report(error, &by_hand))? {
            Installed::AlreadyPresent { file } => already_installed(&target, &file),
            Installed::Written(change) => self.installed(&target, *change, &program, global),
        }))
    }

    fn program(&self, scope: &Scope) -> Program {
        match &self.command {
            Some(name) => Program { name: name.clone(), is_found: true },
            None => Program::locate(scope),
        }
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

    fn installed(&self, target: &Target, change: Change, program: &Program, global: &Global) -> Report {
        let mut report = change.report;
        report.outcome = Outcome::Custom { status: report.status(), code: "installed" };
        report.message =
            format!("Added `{}` to `{}` for {}", target.name, change.file.display(), target.host.name);
        report.text = change.diff;
        report.warnings.extend(change.warnings);
        if !program.is_found {
            let name = &program.name;
            let warning =
                format!("`{name}` is not on the PATH, or is another program; put this program on the PATH");
            report.warnings.push(warning);
        }
        let uninstall = self.target.uninstall_command(global);
        report.hint(format!("{} To remove it: {uninstall}", target.host.next_step))
    }
}

fn printed(target: &Target, preview: Preview) -> Report {
    let mut report = Report::custom(Status::Shown, "entry", format!("for {}", target.host.name))
        .hint(format!("Add this to `{}`, keeping its other entries.", preview.file.display()));
    report.text = Some(preview.entry.trim_end().into());
    report
}

fn already_installed(target: &Target, file: &Path) -> Report {
    let message = format!("`{}` already has this entry for `{}`", file.display(), target.name);
    Report::custom(Status::AlreadyApplied, "already_installed", message)
}
