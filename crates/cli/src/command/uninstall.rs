//! `slipstitch uninstall`: remove everything but the program itself.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use slipstitch::WorkspaceOpenError;
use slipstitch::config::{Config, OWN_FILE_RECORD};
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;
use slipstitch::{NOTICE_FAILURE, passphrase};
use slipstitch_install::{HOSTS, OnConflict, Removal, Scope, ServerName, Target, Uninstalled};

use super::mcp::target_options;
use crate::error::CommandError;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::prompt::{self, Answer};
use crate::reviewer;
use crate::streams::Streams;
use crate::workspace::open_error_report;

const EXAMPLES: &str = "\
Examples:
  slipstitch uninstall --dry-run       show what would be removed
  slipstitch uninstall                 remove the server from all agent hosts
  slipstitch uninstall --purge         also delete the journal and your settings

After `--purge` nothing can be undone any more. The program itself and `slipstitch.toml` files in
projects are left to you; the output says where the program is.";

/// The files in the state folder. Others are not ours and stay.
const STATE_FILES: &[&str] = &[
    "journal.db",
    "journal.db-wal",
    "journal.db-shm",
    "journal.lock",
    "journal.damage",
    "journal.forgotten",
    "unfinished-erasing",
    OWN_FILE_RECORD,
    passphrase::FILE,
    passphrase::ATTEMPTS,
    NOTICE_FAILURE,
];
/// The folders in it.
const STATE_FOLDERS: &[&str] = &["locks", "presence"];

/// Remove Slipstitch from agent hosts, and on request its journal and settings
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UninstallAll {
    /// Also delete the journal, with which changes can be undone, and your settings
    #[arg(long)]
    purge: bool,
    /// Show what would be removed without removing it
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Do not ask before the journal is deleted
    #[arg(long, short = 'y')]
    yes: bool,
}

/// What was or would be removed.
struct Removed {
    dry_run: bool,
    lines: Vec<String>,
    problems: Vec<String>,
    program: Option<PathBuf>,
}

/// Deleting the journal forgets everything in it, so it needs what `slipstitch forget` needs. A journal that cannot be opened can
/// be deleted at a terminal.
fn check_purge(global: &Global) -> Result<(), CommandError> {
    let what = "the journal can only be deleted";
    match global.open() {
        Ok(workspace) => reviewer::for_acceptance(&workspace, None, what).map(drop),
        Err(_) if reviewer::has_terminal() => Ok(()),
        Err(_) => Err(reviewer::needs_terminal(&format!("{what} at a terminal"))),
    }
}

impl UninstallAll {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let root = global.project_root();
        let state = slipstitch::state::folder(global.state_dir.as_deref(), &[root.as_path()])
            .map_err(|error| open_error_report(WorkspaceOpenError::State(error)))?;
        let mut removed = Removed {
            dry_run: self.dry_run,
            lines: Vec::new(),
            problems: Vec::new(),
            program: std::env::current_exe().ok(),
        };
        if self.purge && !self.dry_run {
            check_purge(global)?;
        }
        if self.purge && !self.dry_run && !self.yes {
            let question =
                format!("Delete the journal in {}? Nothing can be undone after that.", state.display());
            match prompt::ask(b"", &question) {
                Answer::Yes => {}
                Answer::No => return Err(CommandError::declined("nothing was removed")),
                Answer::Nobody => return Err(needs_consent(&state)),
            }
        }
        // First the hosts: the journal knows how their settings were before.
        self.remove_from_hosts(&mut removed, &root, global);
        if self.purge {
            self.delete_state(&state, &mut removed);
            if let Some(settings) = Config::file(global.config.as_deref()).filter(|file| file.exists()) {
                self.delete(&settings, &mut removed);
                self.delete_empty_folder(settings.parent());
            }
        }
        Ok(Box::new(removed))
    }

    fn remove_from_hosts(&self, removed: &mut Removed, root: &Path, global: &Global) {
        let scopes = [Scope::User, Scope::Project(root.to_owned())];
        for host in HOSTS {
            for scope in scopes.iter().filter(|scope| **scope == Scope::User || host.has_project_settings()) {
                let target = Target { host, scope: scope.clone(), name: ServerName::default() };
                if !target.is_installed().unwrap_or(false) {
                    continue;
                }
                let removal = Removal { on_conflict: OnConflict::Refuse, program: None };
                let result = match self.dry_run {
                    true => target.plan_uninstall(&removal, &target_options(global)).map(|_| true),
                    false => target
                        .uninstall(&removal, &target_options(global))
                        .map(|done| matches!(done, Uninstalled::Removed { .. })),
                };
                match result {
                    Ok(true) => removed.lines.push(format!("the server in the settings of {}", host.name)),
                    Ok(false) => {}
                    Err(error) => removed.problems.push(format!("{}: {error}", host.name)),
                }
            }
        }
    }

    fn delete_state(&self, state: &Path, removed: &mut Removed) {
        for name in STATE_FILES {
            let file = state.join(name);
            if file.exists() {
                self.delete(&file, removed);
            }
        }
        for folder in STATE_FOLDERS.iter().map(|name| state.join(name)).filter(|folder| folder.is_dir()) {
            let result = if self.dry_run { Ok(()) } else { std::fs::remove_dir_all(&folder) };
            removed.note(&folder, result);
        }
        self.delete_empty_folder(Some(state));
    }

    fn delete(&self, file: &Path, removed: &mut Removed) {
        let result = if self.dry_run { Ok(()) } else { std::fs::remove_file(file) };
        removed.note(file, result);
    }

    /// A folder with anything else in it stays.
    fn delete_empty_folder(&self, folder: Option<&Path>) {
        if let Some(folder) = folder.filter(|_| !self.dry_run) {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

impl Removed {
    fn note(&mut self, file: &Path, result: std::io::Result<()>) {
        match result {
            Ok(()) => self.lines.push(file.display().to_string()),
            Err(error) => self.problems.push(format!("{}: {error}", file.display())),
        }
    }
}

fn needs_consent(state: &Path) -> CommandError {
    let message = format!("deleting the journal in {} needs confirmation", state.display());
    Report::custom(Status::Refused, "needs_consent", message)
        .hint("Nothing was removed. Check with `--dry-run`, then add `--yes`.")
        .into()
}

impl CommandOutput for Removed {
    fn status(&self) -> Status {
        match (self.problems.is_empty(), self.dry_run) {
            (false, _) => Status::Failed,
            (true, true) => Status::WouldApply,
            (true, false) => Status::Shown,
        }
    }

    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&json!({
            "dry_run": self.dry_run,
            "removed": self.lines,
            "problems": self.problems,
            "program": self.program,
        }))
    }

    fn write(&self, streams: &mut Streams) {
        let verb = if self.dry_run { "Would remove" } else { "Removed" };
        for line in &self.lines {
            streams.out.line(escape_controls(&format!("{verb} {line}")));
        }
        if self.lines.is_empty() && self.problems.is_empty() {
            streams.out.line("Nothing to remove.");
        }
        for problem in &self.problems {
            streams.err.line(escape_controls(&format!("error: cannot remove {problem}")));
        }
        if let Some(program) = &self.program {
            streams.err.line(escape_controls(&format!("The program itself is {}.", program.display())));
        }
    }
}
