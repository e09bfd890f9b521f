//! The workspace that the options name.

use std::path::Path;

use incise::config::ConfigError;
use incise::core::dialect::ParseError;
use incise::core::path::FilePath;
use incise::core::report::{Report, Status};
use incise::core::settings::Mode;
use incise::{Fsync, OpenError, Workspace, WorkspaceOpenError};

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
        let root = self.root.as_deref().unwrap_or(Path::new("."));
        let mut builder = Workspace::builder(root).session(session.as_deref().unwrap_or(SESSION));
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
        builder.open().map_err(refusal)
    }

    /// The session that an option or a variable names.
    pub(crate) fn session_name(&self) -> Result<Option<String>, Box<Report>> {
        match &self.session {
            Some(session) => Ok(Some(session.clone())),
            None => variable("INCISE_SESSION"),
        }
    }

    /// The agent that an option or a variable names.
    pub(crate) fn agent_name(&self) -> Result<Option<String>, Box<Report>> {
        match &self.agent {
            Some(agent) => Ok(Some(agent.clone())),
            None => variable("INCISE_AGENT"),
        }
    }

    /// A FILE argument as a path beneath the root.
    pub(crate) fn file(&self, text: &str, workspace: &Workspace) -> Result<FilePath, Box<Report>> {
        workspace.path(text).map_err(|error| {
            let error = ParseError::from(error);
            Report::new(Status::Invalid, error.code, error.message).hint(error.hint).into()
        })
    }
}

pub(crate) fn variable(name: &str) -> Result<Option<String>, Box<Report>> {
    match std::env::var_os(name).map(|value| value.into_string()) {
        None => Ok(None),
        Some(Ok(value)) => Ok(Some(value).filter(|value| !value.is_empty())),
        Some(Err(value)) => {
            let message = format!("the variable {name} is `{}`, which is not UTF-8", value.display());
            Err(Report::new(Status::Invalid, "usage", message).hint("Set it to plain text.").into())
        }
    }
}

fn refusal(error: WorkspaceOpenError) -> Box<Report> {
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
    Report::new(status, code, message).hint(hint).into()
}
