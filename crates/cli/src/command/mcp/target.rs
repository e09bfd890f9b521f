//! The options that `install` and `uninstall` share, and how their errors are reported.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use slipstitch::Fsync;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch_install::{Error, HOSTS, Host, Options, Scope, ServerName, Target};

use crate::error::CommandError;
use crate::global::Global;
use crate::shell;

/// Which entries in which settings files.
#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    /// The agent hosts, separated by commas [default: those found on this machine, after asking]
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = host_parser())]
    client: Vec<&'static Host>,
    /// All hosts found on this machine, without asking
    #[arg(long, conflicts_with = "client")]
    all: bool,
    /// Whose settings: the user's, for all projects, or those of the project in `--root`
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    scope: ScopeName,
    /// The same as `--scope project`
    #[arg(long, conflicts_with = "scope")]
    project: bool,
    /// The server's name in the settings file
    #[arg(long, value_name = "NAME", default_value_t = ServerName::default())]
    name: ServerName,
    /// Show what would change, but write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeName {
    User,
    Project,
}

/// How the hosts were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// By name.
    Named,
    /// `--all`.
    All,
    /// By looking which are there. The user has to confirm.
    Found,
}

impl TargetArgs {
    pub(super) fn choice(&self) -> Choice {
        match (self.all, self.client.is_empty()) {
            (true, _) => Choice::All,
            (false, true) => Choice::Found,
            (false, false) => Choice::Named,
        }
    }

    /// The targets of the named hosts, else of all hosts for which `is_meant` holds.
    pub(super) fn targets(
        &self,
        global: &Global,
        is_meant: impl Fn(&Target) -> bool,
    ) -> Result<Vec<Target>, CommandError> {
        let scope = self.scope(global)?;
        let target = |host| Target { host, scope: scope.clone(), name: self.name.clone() };
        if self.choice() == Choice::Named {
            return Ok(self.client.iter().copied().map(target).collect());
        }
        let in_scope = |host: &&Host| !self.is_project() || host.has_project_settings();
        Ok(HOSTS.iter().filter(in_scope).map(target).filter(is_meant).collect())
    }

    fn scope(&self, global: &Global) -> Result<Scope, CommandError> {
        match (self.is_project(), global.root.as_slice()) {
            (false, _) => Ok(Scope::User),
            (true, []) => Ok(Scope::Project(PathBuf::from("."))),
            (true, [root]) => Ok(Scope::Project(root.clone())),
            (true, roots) => Err(several_projects(roots.len())),
        }
    }

    fn is_project(&self) -> bool {
        self.project || self.scope == ScopeName::Project
    }

    /// The command that removes what an installation with these options added.
    pub(super) fn uninstall_command(&self, target: &Target, global: &Global) -> String {
        let mut command = format!("slipstitch mcp uninstall --client {}", target.host.id);
        if self.is_project() {
            command.push_str(" --project");
            for root in &global.root {
                command.push_str(&format!(" --root {}", shell::quote(&root.to_string_lossy())));
            }
        }
        if self.name != ServerName::default() {
            command.push_str(&format!(" --name {}", self.name));
        }
        command
    }
}

/// Accepts the identifiers of [`HOSTS`], with their names as help.
fn host_parser() -> impl TypedValueParser<Value = &'static Host> {
    let ids = HOSTS.iter().map(|host| PossibleValue::new(host.id).help(host.name));
    PossibleValuesParser::new(ids).try_map(|id| Host::find(&id).ok_or("unknown host"))
}

/// Where the journal is and how files are written.
pub(in crate::command) fn options(global: &Global) -> Options {
    Options {
        state_dir: global.state_dir.clone(),
        config: global.config.clone(),
        fsync: global.no_fsync.then_some(Fsync::Off),
    }
}

/// Reports an error; `by_hand` says how to make the change without this program.
pub(super) fn report(error: Error, by_hand: &str) -> CommandError {
    let message = error.to_string();
    let (status, code, hint) = match error {
        Error::Engine(report) => return report.into(),
        Error::NoHome => {
            (Status::Invalid, "no_home", "Set HOME, or use a project's settings file with `--project`.")
        }
        Error::NoProjectFile { .. } => {
            (Status::Invalid, "no_project_file", "Omit `--project` to use the user's settings file.")
        }
        Error::BadRoot { .. } => (Status::Invalid, "bad_root", "Pass an existing directory with `--root`."),
        Error::DifferentEntry { .. } => (
            Status::Refused,
            "different_entry",
            "Nothing was written. `--force` replaces it, `--name NAME` adds a second server, `--print` shows the new entry.",
        ),
        Error::DifferentSetting { .. } => (
            Status::Refused,
            "different_setting",
            "Nothing was written. `--force` replaces it; `uninstall` restores it as long as the file does not change.",
        ),
        Error::ForeignEntry { .. } => (
            Status::Refused,
            "different_entry",
            "Nothing was written. `--command PROGRAM` names a program that is yours, `--force` removes it anyway.",
        ),
        Error::DanglingLink { .. } => (
            Status::Refused,
            "dangling_link",
            "Nothing was written. Create the missing file or remove the symlink, then try again. `mcp install --print` shows the entry.",
        ),
        Error::Unsafe { .. } | Error::NoPermission { .. } => {
            let (status, code) = match error {
                Error::NoPermission { .. } => (Status::Failed, "permission_denied"),
                _ => (Status::Refused, "unsafe_config"),
            };
            let hint = format!("Nothing was written. {by_hand}");
            return CommandError::with_multiline_hint(Report::custom(status, code, message).hint(hint));
        }
        Error::Unusable { .. } => (
            Status::Failed,
            "config_error",
            "`mcp install --print` shows the entry, so that you can add it by hand.",
        ),
        _ => return Report::custom(Status::Failed, "internal", message).into(),
    };
    Report::custom(status, code, message).hint(hint).into()
}

fn several_projects(count: usize) -> CommandError {
    Report::custom(Status::Invalid, "bad_root", format!("`--project` needs one root, but {count} were given"))
        .hint("Pass `--root` once, with the project whose settings file to change.")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_may_not_be_written_is_shown_with_what_belongs_in_it() {
        let error = report(Error::NoPermission { file: "/s.json".into() }, "Add this by hand:\n{}");
        assert_eq!(error.report.status(), Status::Failed);
        assert_eq!(error.report.message, "no permission to write `/s.json`");
        assert_eq!(error.report.hint.as_deref(), Some("Nothing was written. Add this by hand:\n{}"));
    }
}
