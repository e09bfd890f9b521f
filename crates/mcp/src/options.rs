//! What a server is told when it starts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use slipstitch::core::settings::Mode;
use slipstitch::core::text::Encoding;
use slipstitch::{Fsync, Workspace, WorkspaceOpenError};

use crate::roots::{self, RootSource, RootsError};

/// How a server works; the same for all its clients.
#[derive(Debug, Clone)]
pub struct Options {
    /// The families of tools that it offers, by name.
    pub dialects: Vec<String>,
    /// Where the folders that it may touch come from.
    pub roots: RootSource,
    /// Where the journal and the locks are, if not in the user's state folder.
    pub state_dir: Option<PathBuf>,
    /// The settings, if not those in the user's configuration folder.
    pub config: Option<PathBuf>,
    /// The session that all clients share; each has its own if none is named.
    pub session: Option<String>,
    /// What the journal calls the agent, whatever the client calls itself.
    pub agent: Option<String>,
    /// The encoding of all files, whatever their bytes suggest.
    pub encoding: Option<Encoding>,
    /// Whether changes wait for the disk, if the settings are not to say.
    pub fsync: Option<Fsync>,
    /// What a session may do at its start.
    pub mode: Mode,
    /// How long a person has time to answer a question.
    pub patience: Duration,
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
            patience: Duration::from_secs(10 * 60),
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
    /// Opens what a session works in.
    pub(crate) fn open(
        &self,
        folders: &[PathBuf],
        session: &str,
        agent: Option<&str>,
    ) -> Result<Workspace, OpenError> {
        let mut builder = roots::builder(folders).session(session).mode(self.mode);
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
