//! Configuration of a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use slipstitch::core::settings::Mode;
use slipstitch::core::text::Encoding;
use slipstitch::{Fsync, Workspace, WorkspaceOpenError};

use crate::roots::{self, RootSource, RootsError};

/// Configuration of a server; the same for all its clients.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of the dialects to serve.
    pub dialects: Vec<String>,
    /// Where the root folders come from.
    pub roots: RootSource,
    /// The folder for the journal and the locks; the user's state folder if `None`.
    pub state_dir: Option<PathBuf>,
    /// The settings file; the one in the user's configuration folder if `None`.
    pub config: Option<PathBuf>,
    /// The session that all clients share; each has its own if `None`.
    pub session: Option<String>,
    /// The agent's name in the journal, overriding what the client calls itself.
    pub agent: Option<String>,
    /// The encoding of all files, overriding detection.
    pub encoding: Option<Encoding>,
    /// Whether changes are synced to disk, overriding the settings.
    pub fsync: Option<Fsync>,
    /// The mode in which a session starts.
    pub mode: Mode,
    /// How long to wait for the user to answer an approval form.
    pub approval_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dialects: vec!["native".into()],
            roots: RootSource::default(),
            state_dir: None,
            config: None,
            session: None,
            agent: None,
            encoding: None,
            fsync: None,
            mode: Mode::default(),
            approval_timeout: Duration::from_secs(10 * 60),
        }
    }
}

/// Why a session has no workspace.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceOpenError),
}

impl Options {
    /// Opens a session's workspace.
    pub(crate) fn open_workspace(
        &self,
        folders: &[PathBuf],
        session: &str,
        agent: Option<&str>,
    ) -> Result<Workspace, OpenError> {
        let mut builder = roots::workspace_builder(folders).session(session).mode(self.mode);
        if let Some(agent) = self.agent.as_deref().or(agent) {
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
        if let Some(fsync) = self.fsync {
            builder = builder.fsync(fsync);
        }
        Ok(builder.open()?)
    }

    /// Serves exactly one folder.
    pub fn with_root(mut self, root: impl AsRef<Path>) -> Self {
        self.roots = RootSource { given: vec![root.as_ref().to_owned()], ..self.roots };
        self
    }
}
