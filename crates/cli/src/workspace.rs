//! Opening the workspace that the options describe.

use std::path::{Path, PathBuf};

use slipstitch::config::{ConfigError, Relaxing};
use slipstitch::confine::ConfineError;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::ParseError;
use slipstitch::core::report::Report;
use slipstitch::core::settings::Mode;
use slipstitch::state::StateError;
use slipstitch::{Fsync, OpenError, Overrides, Workspace, WorkspaceOpenError};

use crate::environment::env_variable;
use crate::error::CommandError;
use crate::global::Global;
use crate::model_option::ModelOption;

/// The default session.
const DEFAULT_SESSION: &str = "cli";

/// Facts about the caller that only tool calls have.
#[derive(Debug, Default)]
struct Caller {
    mode: Option<Mode>,
    model: Option<String>,
}

impl Global {
    /// Opens the project for a command that `--agent` attributes changes of.
    pub(crate) fn open(&self) -> Result<Workspace, CommandError> {
        self.open_at(&self.project_root(), self.agent_name()?, Caller::default())
    }

    /// Opens the project for a command that selects changes: `--agent` says whose, not who runs the command.
    pub(crate) fn open_to_select(&self) -> Result<Workspace, CommandError> {
        self.open_to_select_at(&self.project_root())
    }

    /// Opens another root for a command that selects changes.
    pub(crate) fn open_to_select_at(&self, root: &Path) -> Result<Workspace, CommandError> {
        self.open_at(root, env_variable("SLIPSTITCH_AGENT")?, Caller::default())
    }

    /// Opens the working folder or `--root` for a tool call, as a server there would, and sets the session's mode.
    pub(crate) fn open_for_call(
        &self,
        mode: Option<Mode>,
        model: &ModelOption,
    ) -> Result<Workspace, CommandError> {
        let root = self.root.first().map_or_else(|| PathBuf::from("."), Clone::clone);
        self.open_at(&root, self.agent_name()?, Caller { mode, model: model.name()? })
    }

    /// `--root`, or the project around the working folder.
    pub(crate) fn project_root(&self) -> PathBuf {
        let given = self.root.first().map(PathBuf::as_path);
        given.or_else(|| self.project.root()).unwrap_or(Path::new(".")).to_owned()
    }

    fn open_at(
        &self,
        first: &Path,
        agent: Option<String>,
        caller: Caller,
    ) -> Result<Workspace, CommandError> {
        let session = self.session_name()?;
        let roots = self.root.iter().skip(1);
        let session = session.as_deref().unwrap_or(DEFAULT_SESSION);
        let mut builder = Workspace::builder(first).session(session).overrides(&self.overrides());
        for other in roots {
            builder = builder.also_root(other);
        }
        if let Some(agent) = agent {
            builder = builder.agent(agent);
        }
        if let Some(model) = caller.model {
            builder = builder.model(model);
        }
        if let Some(mode) = caller.mode {
            builder = builder.mode(mode);
        }
        let workspace = builder.open().map_err(open_error_report)?;
        if self.landlock {
            workspace.confine().map_err(landlock_error_report)?;
        }
        Ok(workspace)
    }

    /// What the options override.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            state_dir: self.state_dir.clone(),
            config: self.config.clone(),
            relaxing: match slipstitch_platform::terminal::exists() {
                true => Relaxing::AtTerminal,
                false => Relaxing::ByOwnFile,
            },
            encoding: self.encoding,
            fsync: self.no_fsync.then_some(Fsync::Off),
        }
    }

    /// The session from `--session` or the environment.
    pub(crate) fn session_name(&self) -> Result<Option<String>, CommandError> {
        match &self.session {
            Some(session) => Ok(Some(session.clone())),
            None => env_variable("SLIPSTITCH_SESSION"),
        }
    }

    /// The agent from `--agent` or the environment.
    pub(crate) fn agent_name(&self) -> Result<Option<String>, CommandError> {
        match &self.agent {
            Some(agent) => Ok(Some(agent.clone())),
            None => env_variable("SLIPSTITCH_AGENT"),
        }
    }

    /// A path relative to the working folder as one relative to the project; `None` if it already is, or leads out of it.
    pub(crate) fn path_from_root(&self, text: &str) -> Option<String> {
        self.root.is_empty().then(|| self.project.path_from_root(text)).flatten()
    }

    /// Parses a FILE argument as a path inside a root.
    pub(crate) fn file(&self, text: &str, workspace: &Workspace) -> Result<FilePath, CommandError> {
        let named = self.path_from_root(text);
        workspace.path(named.as_deref().unwrap_or(text)).map_err(|error| {
            let error = ParseError::from(error);
            Report::from(error).into()
        })
    }
}

pub(crate) fn landlock_error_report(error: ConfineError) -> CommandError {
    Report::custom(Status::Failed, "not_confined", error.to_string())
        .hint("Nothing was done. Run without `--landlock`, or on a system that supports it; `slipstitch doctor` shows whether this one does.")
        .into()
}

pub(crate) fn open_error_report(error: WorkspaceOpenError) -> CommandError {
    let message = error.to_string();
    let (status, code, hint) = match error {
        WorkspaceOpenError::Root(error) => match error {
            OpenError::Missing(_) | OpenError::NotAFolder(_) | OpenError::NotUtf8(_) => {
                (Status::Invalid, "bad_root", "Pass an existing folder with `--root`.")
            }
            OpenError::Locks { .. } => {
                (Status::Failed, "state_error", "Use another state folder with `--state-dir`.")
            }
            _ => (Status::Failed, "root_error", "Check that the folder is readable."),
        },
        WorkspaceOpenError::Config(error) => return config_error_report(&error),
        WorkspaceOpenError::Journal(error) => {
            return Report::from(error)
                .hint(
                    "Check the permissions and the free space of the state folder, or use another one with \
                     `--state-dir`. A journal that is moved away is replaced by an empty one, and its changes can't \
                     be undone any more.",
                )
                .into();
        }
        WorkspaceOpenError::State(StateError::NotPrivate { .. }) => (
            Status::Failed,
            "state_error",
            "The journal holds text from your files. Run `chmod 700` on the folder if nothing else uses it, or choose \
             another one with `--state-dir`.",
        ),
        _ => (Status::Failed, "state_error", "Use another state folder with `--state-dir`."),
    };
    Report::custom(status, code, message).hint(hint).into()
}

fn config_error_report(error: &ConfigError) -> CommandError {
    let hint = match error {
        ConfigError::Io { .. } => "Pass a readable file with `--config`.",
        _ => "Fix the file and try again.",
    };
    let report = Report::custom(Status::Invalid, "bad_config", error.to_string()).hint(hint);
    CommandError::with_multiline_message(report)
}
