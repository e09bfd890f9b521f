//! What all clients of one server share.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use slipstitch::Workspace;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::approval::request_state::RequestStates;
use crate::caller::{Caller, ProtocolEra};
use crate::change_watcher::ChangeWatchers;
use crate::error::ServeError;
use crate::options::Options;
use crate::random;
use crate::session::Session;
use crate::tools::Catalogue;

/// How many sessions are kept for clients of the stateless protocol before unused ones are dropped.
const MAX_STATELESS_SESSIONS: usize = 256;

/// How many sessions can exist, so that clients that keep starting new ones do not exhaust the memory.
const MAX_SESSIONS: usize = 2_000;

/// How many `subscriptions/listen` requests can be open. Over HTTP each occupies a connection, and some must be left for
/// others.
pub(crate) const MAX_LISTENERS: usize = 128;

/// How long call records, the source of `slipstitch stats`, may wait to be written.
const RECORD_DELAY: Duration = Duration::from_millis(100);

/// Who can connect to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// The one client that started this process. It may choose the root.
    Single,
    /// Anyone with access to the server.
    Many,
}

/// What all clients of one server share.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) options: Options,
    pub(crate) catalogue: Catalogue,
    pub(crate) request_states: RequestStates,
    pub(crate) clients: Clients,
    /// Distinguishes this process's stateless sessions from those of other processes.
    instance: String,
    /// Sessions of the stateless protocol, by name.
    stateless_sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// Cloned into every session, so that the strong count gives their number.
    session_count: Arc<()>,
    pub(crate) watchers: Arc<ChangeWatchers>,
    /// One permit per open `subscriptions/listen`.
    pub(crate) listeners: Semaphore,
    /// The server is stopping: calls that have not started are refused.
    pub(crate) stopping: CancellationToken,
    /// Nobody can answer forms any more: the client has closed its end, or the server is stopping.
    pub(crate) closing: CancellationToken,
    /// Calls in flight, and the engine's work.
    pub(crate) tasks: TaskTracker,
}

impl ServerState {
    pub(crate) fn new(options: Options, clients: Clients) -> Result<Arc<Self>, ServeError> {
        let catalogue = Catalogue::new(&options.dialects)?;
        options.roots.check()?;
        let request_states = RequestStates::new(options.approval_timeout).map_err(ServeError::Start)?;
        let instance = random::hex::<4>().map_err(ServeError::Start)?;
        let stopping = CancellationToken::new();
        Ok(Arc::new(Self {
            catalogue,
            request_states,
            clients,
            instance,
            stateless_sessions: Mutex::default(),
            session_count: Arc::new(()),
            watchers: Arc::default(),
            listeners: Semaphore::new(MAX_LISTENERS),
            closing: stopping.child_token(),
            stopping,
            tasks: TaskTracker::new(),
            options,
        }))
    }

    /// Writes queued call records after a short delay, or when the server stops: a batch costs hardly more than one.
    pub(crate) fn write_records_soon(&self, workspace: Arc<Workspace>) {
        let stopping = self.stopping.clone();
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(RECORD_DELAY) => {}
                    () = stopping.cancelled() => {}
                }
                let workspace = workspace.clone();
                let written = tokio::task::spawn_blocking(move || workspace.write_call_records()).await;
                // When the server stops, the workspace tries again as it is closed.
                if written.unwrap_or(true) || stopping.is_cancelled() {
                    return;
                }
            }
        });
    }

    /// A session for a new connection.
    pub(crate) fn new_session(&self) -> io::Result<Arc<Session>> {
        if Arc::strong_count(&self.session_count) > MAX_SESSIONS {
            return Err(io::Error::other(format!("the limit of {MAX_SESSIONS} sessions is reached")));
        }
        let name = match &self.options.session {
            Some(name) => name.clone(),
            None => format!("mcp-{}", random::hex::<6>()?),
        };
        Ok(Arc::new(Session::new(name, self.session_count.clone())))
    }

    /// The session of a request: the connection's, except for stateless requests of many clients, which are assigned by
    /// the client's name.
    pub(crate) fn session_for(&self, connection: &Arc<Session>, caller: &Caller) -> Arc<Session> {
        if self.clients == Clients::Single || caller.era == ProtocolEra::Handshake {
            return connection.clone();
        }
        let agent = caller.agent.as_deref().unwrap_or("unnamed");
        let name = match &self.options.session {
            Some(name) => name.clone(),
            None => format!("mcp-{}-{}", self.instance, agent),
        };
        let mut sessions = self.stateless_sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MAX_STATELESS_SESSIONS && !sessions.contains_key(&name) {
            sessions.retain(|_, session| Arc::strong_count(session) > 1);
        }
        let new = || Arc::new(Session::new(name.clone(), self.session_count.clone()));
        sessions.entry(name.clone()).or_insert_with(new).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_bounded_and_freed() {
        let server = ServerState::new(Options::default(), Clients::Many).unwrap();
        let sessions: Vec<_> = (0..MAX_SESSIONS).map(|_| server.new_session().unwrap()).collect();
        assert!(server.new_session().unwrap_err().to_string().contains("limit"));
        drop(sessions);
        assert!(server.new_session().is_ok());
    }
}
