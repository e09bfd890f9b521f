//! The options that `install` and `uninstall` share, and how their errors are reported.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use slipstitch::Fsync;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch_install::{Error, HOSTS, Host, Options, Scope, ServerName, Target};

use crate::error::CommandError;
use crate::global::Global;
use crate::shell;

/// Which entry in which settings file.
#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    /// The agent host
    #[arg(long, value_name = "HOST", value_parser = host_parser())]
    client: &'static Host,
    /// Use the settings file of the project in `--root` instead of the user's
    #[arg(long)]
    project: bool,
    /// The server's name in the settings file
    #[arg(long, value_name = "NAME", default_value_t = ServerName::default())]
    name: ServerName,
}

impl TargetArgs {
    pub(super) fn target(&self, global: &Global) -> Result<Target, CommandError> {
        let scope = match (self.project, global.root.as_slice()) {
            (false, _) => Scope::User,
            (true, []) => Scope::Project(PathBuf::from(".")),
            (true, [root]) => Scope::Project(root.clone()),
            (true, roots) => return Err(several_projects(roots.len())),
        };
        Ok(Target { host: self.client, scope, name: self.name.clone() })
    }

    /// The command that removes what an installation with these options added.
    pub(super) fn uninstall_command(&self, global: &Global) -> String {
        let mut command = format!("slipstitch mcp uninstall --client {}", self.client.id);
        if self.project {
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
pub(super) fn options(global: &Global) -> Options {
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
        Error::ForeignEntry { .. } => {
            (Status::Refused, "different_entry", "Nothing was written. `--force` removes it anyway.")
        }
        Error::DanglingLink { .. } => (
            Status::Refused,
            "dangling_link",
            "Nothing was written. Create the missing file or remove the symlink, then try again. `mcp install --print` shows the entry.",
        ),
        Error::Unsafe { .. } => {
            let hint = format!("Nothing was written. {by_hand}");
            let report = Report::custom(Status::Refused, "unsafe_config", message).hint(hint);
            return CommandError::with_multiline_hint(report);
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
