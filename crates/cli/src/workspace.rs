//! The workspace that the options name.

use std::path::{Path, PathBuf};

use slipstitch::config::ConfigError;
use slipstitch::confine::ConfineError;
use slipstitch::core::outcome::Status;
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::ParseError;
use slipstitch::core::report::Report;
use slipstitch::core::settings::Mode;
use slipstitch::{Fsync, OpenError, Workspace, WorkspaceOpenError};

use crate::args::Global;

/// The session of changes made at a terminal.
const SESSION: &str = "cli";

impl Global {
    /// Opens the root.
    pub(crate) fn open(&self) -> Result<Workspace, Box<Report>> {
        self.open_in(None)
    }

    /// Opens the root for a session that may do what `mode` says.
    pub(crate) fn open_in(&self, mode: Option<Mode>) -> Result<Workspace, Box<Report>> {
        let session = self.session_name()?;
        let agent = self.agent_name()?;
        let mut roots = self.root.iter();
        let first = roots.next().map_or(Path::new("."), PathBuf::as_path);
        let mut builder = Workspace::builder(first).session(session.as_deref().unwrap_or(SESSION));
        for other in roots {
            builder = builder.also_root(other);
        }
        if let Some(agent) = agent {
            builder = builder.agent(agent);
        }
        if let Some(folder) = &self.state_dir {
            builder = builder.state_dir(folder);
        }
        if let Some(file) = &self.config {
            builder = builder.config(file);
        }
        if let Some(encoding) = self.encoding {
            builder = builder.encoding(encoding);
        }
        if let Some(mode) = mode {
            builder = builder.mode(mode);
        }
        if self.no_fsync {
            builder = builder.fsync(Fsync::Off);
        }
        let workspace = builder.open().map_err(refusal)?;
        if self.landlock {
            workspace.confine().map_err(unconfined)?;
        }
        Ok(workspace)
    }

    /// The session that an option or a variable names.
    pub(crate) fn session_name(&self) -> Result<Option<String>, Box<Report>> {
        match &self.session {
            Some(session) => Ok(Some(session.clone())),
            None => variable("SLIPSTITCH_SESSION"),
        }
    }

    /// The agent that an option or a variable names.
    pub(crate) fn agent_name(&self) -> Result<Option<String>, Box<Report>> {
        match &self.agent {
            Some(agent) => Ok(Some(agent.clone())),
            None => variable("SLIPSTITCH_AGENT"),
        }
    }

    /// A FILE argument as a path beneath the root.
    pub(crate) fn file(&self, text: &str, workspace: &Workspace) -> Result<FilePath, Box<Report>> {
        workspace.path(text).map_err(|error| {
            let error = ParseError::from(error);
            Report::new(error.outcome, error.message).hint(error.hint).into()
        })
    }
}

pub(crate) fn unconfined(error: ConfineError) -> Box<Report> {
    Report::custom(Status::Failed, "not_confined", error.to_string())
        .hint("Nothing was done. Leave `--landlock` out, or use a system that has it; `slipstitch doctor` tells.")
        .into()
}

pub(crate) fn variable(name: &str) -> Result<Option<String>, Box<Report>> {
    match std::env::var_os(name).map(|value| value.into_string()) {
        None => Ok(None),
        Some(Ok(value)) => Ok(Some(value).filter(|value| !value.is_empty())),
        Some(Err(value)) => {
            let message = format!("the variable {name} is `{}`, which is not UTF-8", value.display());
            Err(Report::custom(Status::Invalid, "usage", message).hint("Set it to plain text.").into())
        }
    }
}

pub(crate) fn refusal(error: WorkspaceOpenError) -> Box<Report> {
    let message = error.to_string();
    let (status, code, hint) = match error {
        WorkspaceOpenError::Root(error) => match error {
            OpenError::Missing(_) | OpenError::NotAFolder(_) | OpenError::NotUtf8(_) => {
                (Status::Invalid, "bad_root", "Name an existing folder with `--root`.")
            }
            OpenError::Locks { .. } => {
                (Status::Failed, "state_error", "Name another state folder with `--state-dir`.")
            }
            _ => (Status::Failed, "root_error", "Check that the folder can be read."),
        },
        WorkspaceOpenError::Config(ConfigError::Io { .. }) => {
            (Status::Invalid, "bad_config", "Name a file that can be read with `--config`.")
        }
        WorkspaceOpenError::Config(_) => (Status::Invalid, "bad_config", "Correct the file and try again."),
        WorkspaceOpenError::Journal(error) => return Box::new(error.into()),
        _ => (Status::Failed, "state_error", "Name another state folder with `--state-dir`."),
    };
    Report::custom(status, code, message).hint(hint).into()
}
