//! Configuration of a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use slipstitch::core::cancel::CancelToken;
use slipstitch::core::settings::Mode;
use slipstitch::{Overrides, Workspace, WorkspaceOpenError};

use crate::roots::{self, RootSource, RootsError};

/// Configuration of a server; the same for all its clients.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of the dialects to serve.
    pub dialects: Vec<String>,
    /// Names of the tools to offer; empty for each dialect's default.
    pub tools: Vec<String>,
    /// Whether results have structured content and diffs beside the text, and tools an output schema, for clients that are
    /// programs. Hosts show models the structured content instead of the text, or both.
    pub structured: bool,
    /// Where the root folders come from.
    pub roots: RootSource,
    /// The journal's folder, the settings file and how files are read and written.
    pub overrides: Overrides,
    /// The session that all clients share; each has its own if `None`.
    pub session: Option<String>,
    /// The agent's name in the journal, overriding what the client calls itself.
    pub agent: Option<String>,
    /// The model to record for calls whose client does not say which one makes them.
    pub model: Option<String>,
    /// The mode in which a session starts.
    pub mode: Mode,
    /// How long to wait for the user to answer an approval form.
    pub approval_timeout: Duration,
    /// The shortest time in which a person can read a form and answer it. A faster answer was given by a program, or by a key that
    /// was meant for something else, so it decides nothing.
    pub min_answer_time: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dialects: vec!["native".into()],
            tools: Vec::new(),
            structured: false,
            roots: RootSource::default(),
            overrides: Overrides::default(),
            session: None,
            agent: None,
            model: None,
            mode: Mode::default(),
            approval_timeout: Duration::from_secs(10 * 60),
            min_answer_time: Duration::from_secs(1),
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
        interrupt: CancelToken,
    ) -> Result<Workspace, OpenError> {
        let builder = roots::workspace_builder(folders).session(session).mode(self.mode).interrupt(interrupt);
        let mut builder = builder.overrides(&self.overrides);
        if let Some(agent) = self.agent.as_deref().or(agent) {
            builder = builder.agent(agent);
        }
        if let Some(model) = &self.model {
            builder = builder.model(model);
        }
        Ok(builder.open()?)
    }

    /// Serves exactly one folder.
    pub fn with_root(mut self, root: impl AsRef<Path>) -> Self {
        self.roots = RootSource { given: vec![root.as_ref().to_owned()], ..self.roots };
        self
    }
}
