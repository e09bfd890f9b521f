//! What the handlers of requests share.

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use slipstitch::passphrase::PassphraseError;
use slipstitch::{Reviewer, Workspace};
use tokio::sync::{RwLock, watch};

use crate::notice::Notice;
use crate::page;
use crate::selection::Selection;
use crate::token::{Access, Session};

/// How long the passphrase counts after the last decision.
const UNLOCKED_FOR: Duration = Duration::from_secs(15 * 60);

/// What the handlers share.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) address: SocketAddr,
    pub(crate) access: Arc<Access>,
    /// What the page shows when it is opened.
    pub(crate) selection: Selection,
    /// Tells whoever started the server.
    pub(crate) notice: Notice,
    /// Who decides, for the journal.
    pub(crate) decided_by: Arc<str>,
    /// Changes whenever something happens in the journal.
    pub(crate) activity: watch::Receiver<String>,
    /// Held for reading by work that must be finished before the server ends.
    pub(crate) writes: Arc<RwLock<()>>,
}

impl App {
    /// The address to open in the next browser.
    pub(crate) fn url(&self) -> String {
        let selection = self.selection.query().replacen('?', "&", 1);
        format!("http://{}/?token={}{selection}", self.address, self.access.token())
    }

    /// Runs a decision, an undo or a redo. The server does not end before it is done, even if the browser has disconnected.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Workspace) -> T + Send + 'static,
    ) -> Result<T, Response> {
        let writing = self.writes.clone().read_owned().await;
        self.read(move |workspace| {
            let _writing = writing;
            work(workspace)
        })
        .await
    }

    /// Runs work that only reads. It is abandoned if the server is stopped meanwhile.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Workspace) -> T + Send + 'static,
    ) -> Result<T, Response> {
        let workspace = self.workspace.clone();
        tokio::task::spawn_blocking(move || work(&workspace)).await.map_err(|_| {
            let message = "Something went wrong here. The terminal that runs this page may say more.";
            (StatusCode::INTERNAL_SERVER_ERROR, page::message_page("Internal error", message)).into_response()
        })
    }

    /// Whoever uses the page, if they may decide. With a passphrase, they must have entered it lately, in the same
    /// browser: whoever started the page may have opened it too.
    pub(crate) fn reviewer(&self, session: &Session) -> Result<Reviewer, PassphraseError> {
        if !self.workspace.needs_passphrase() {
            return self.workspace.reviewer(&*self.decided_by, None);
        }
        let mut unlocked = session.unlocked.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *unlocked {
            Some((reviewer, used)) if used.elapsed() < UNLOCKED_FOR => {
                *used = Instant::now();
                Ok(reviewer.clone())
            }
            _ => Err(PassphraseError::Needed),
        }
    }

    /// Whether the passphrase must be entered before anything can be decided. An open page asks this again and again, so it
    /// does not count as use.
    pub(crate) fn is_locked(&self, session: &Session) -> bool {
        let unlocked = session.unlocked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unlocked = unlocked.as_ref().is_some_and(|(_, used)| used.elapsed() < UNLOCKED_FOR);
        self.workspace.needs_passphrase() && !is_unlocked
    }

    /// Checks the passphrase, and remembers that it was right. Slow on purpose.
    pub(crate) fn unlock(&self, session: &Session, passphrase: &str) -> Result<(), PassphraseError> {
        let mut unlocked = session.unlocked.lock().unwrap_or_else(PoisonError::into_inner);
        let reviewer = self.workspace.reviewer(&*self.decided_by, Some(passphrase))?;
        *unlocked = Some((reviewer, Instant::now()));
        Ok(())
    }
}
