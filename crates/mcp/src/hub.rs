//! What all clients of one server share.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use slipstitch::Workspace;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::approval::seal::{Seal, hex, random};
use crate::caller::{Caller, Era};
use crate::error::ServeError;
use crate::lookout::Lookouts;
use crate::options::Options;
use crate::session::Session;
use crate::tools::Catalogue;

/// How many sessions are kept for clients of the protocol that has none.
const MAX_SHARED: usize = 256;

/// How many sessions there are at most; clients that keep starting new ones do not fill the memory.
const MAX_SESSIONS: usize = 2_000;

/// How many `subscriptions/listen` there are at once. Over HTTP each keeps a connection to itself; there must be others
/// left.
pub(crate) const MAX_LISTENERS: usize = 128;

/// How long notes on calls may wait to be written, for statistics.
const NOTES_WAIT: Duration = Duration::from_millis(100);

/// How clients are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// One client, and it started this process: what it says about its folders counts.
    Own,
    /// Anyone who may connect.
    Shared,
}

/// One server.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) options: Options,
    pub(crate) catalogue: Catalogue,
    pub(crate) seal: Seal,
    pub(crate) link: Link,
    /// What tells this process's sessions apart from those of others.
    id: String,
    shared: Mutex<HashMap<String, Arc<Session>>>,
    /// Held once by every session there is.
    live: Arc<()>,
    /// Who looks out for changes.
    pub(crate) lookouts: Lookouts,
    /// A place for everyone who listens in the way of the newer protocol.
    pub(crate) listeners: Semaphore,
    /// Counts the changes that were made here.
    pub(crate) changed: watch::Sender<u64>,
    /// The server stops: what has not begun is not begun any more.
    pub(crate) stopping: CancellationToken,
    /// Nobody can answer questions any more: the client has said its last word, or the server stops.
    pub(crate) closing: CancellationToken,
    /// The calls in progress, and the engine's work.
    pub(crate) tasks: TaskTracker,
}

impl Hub {
    pub(crate) fn new(options: Options, link: Link) -> Result<Arc<Self>, ServeError> {
        let catalogue = Catalogue::new(&options.dialects)?;
        options.roots.check()?;
        let seal = Seal::new(options.patience).map_err(ServeError::Start)?;
        let id = hex(&random::<4>().map_err(ServeError::Start)?);
        let stopping = CancellationToken::new();
        Ok(Arc::new(Self {
            catalogue,
            seal,
            link,
            id,
            shared: Mutex::default(),
            live: Arc::new(()),
            lookouts: Lookouts::default(),
            listeners: Semaphore::new(MAX_LISTENERS),
            changed: watch::channel(0).0,
            closing: stopping.child_token(),
            stopping,
            tasks: TaskTracker::new(),
            options,
        }))
    }

    /// Has the notes on calls written when a moment has passed, or when the server stops: together they cost hardly more
    /// than one.
    pub(crate) fn write_notes_soon(&self, workspace: Arc<Workspace>) {
        let stopping = self.stopping.clone();
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(NOTES_WAIT) => {}
                    () = stopping.cancelled() => {}
                }
                let writing = workspace.clone();
                let written = tokio::task::spawn_blocking(move || writing.write_notes()).await;
                // A server that stops leaves the rest to the workspace, which tries again when it is closed.
                if written.unwrap_or(true) || stopping.is_cancelled() {
                    return;
                }
            }
        });
    }

    /// A session for a client that has just connected.
    pub(crate) fn new_session(&self) -> io::Result<Arc<Session>> {
        if Arc::strong_count(&self.live) > MAX_SESSIONS {
            return Err(io::Error::other(format!("there are {MAX_SESSIONS} sessions already")));
        }
        let name = match &self.options.session {
            Some(name) => name.clone(),
            None => format!("mcp-{}", hex(&random::<6>()?)),
        };
        Ok(Arc::new(Session::new(name, self.live.clone())))
    }

    /// The session that a request belongs to. Where many clients send requests that stand for themselves, those of
    /// one client are known by its name.
    pub(crate) fn session_of(&self, own: &Arc<Session>, caller: &Caller) -> Arc<Session> {
        if self.link == Link::Own || caller.era == Era::Handshake {
            return own.clone();
        }
        let agent = caller.agent.as_deref().unwrap_or("unnamed");
        let name = match &self.options.session {
            Some(name) => name.clone(),
            None => format!("mcp-{}-{}", self.id, agent),
        };
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.len() >= MAX_SHARED && !shared.contains_key(&name) {
            shared.retain(|_, session| Arc::strong_count(session) > 1);
        }
        shared.entry(name.clone()).or_insert_with(|| Arc::new(Session::new(name, self.live.clone()))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_bounded_and_end() {
        let hub = Hub::new(Options::default(), Link::Shared).unwrap();
        let sessions: Vec<_> = (0..MAX_SESSIONS).map(|_| hub.new_session().unwrap()).collect();
        assert!(hub.new_session().unwrap_err().to_string().contains("already"));
        drop(sessions);
        assert!(hub.new_session().is_ok());
    }
}
