//! The sessions of one server.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::caller::{Caller, ProtocolEra};
use crate::options::Options;
use crate::random;
use crate::server_state::{Clients, ServerState};
use crate::session::Session;

/// How many sessions are kept for clients of the stateless protocol before unused ones are dropped.
const MAX_STATELESS_SESSIONS: usize = 256;

/// How many sessions can exist, so that clients that keep starting new ones do not exhaust the memory.
const MAX_SESSIONS: usize = 1_000;

/// The sessions of one server.
#[derive(Debug)]
pub(crate) struct SessionTable {
    /// Distinguishes this process's stateless sessions from those of other processes.
    instance: String,
    /// Sessions of the stateless protocol, by name.
    stateless_sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// Cloned into every session, so that the strong count gives their number.
    session_count: Arc<()>,
}

impl SessionTable {
    pub(crate) fn new() -> io::Result<Arc<Self>> {
        let instance = random::hex::<4>()?;
        Ok(Arc::new(Self { instance, stateless_sessions: Mutex::default(), session_count: Arc::new(()) }))
    }

    /// A session for a new connection.
    pub(crate) fn new_session(&self, options: &Options) -> io::Result<Arc<Session>> {
        if Arc::strong_count(&self.session_count) > MAX_SESSIONS {
            return Err(io::Error::other(format!("the limit of {MAX_SESSIONS} sessions is reached")));
        }
        let name = match &options.session {
            Some(name) => name.clone(),
            None => format!("mcp-{}", random::hex::<6>()?),
        };
        Ok(Arc::new(Session::new(name, self.session_count.clone())))
    }

    /// The session of a request: the connection's, except for stateless requests of many clients, which are assigned by
    /// the client's name.
    pub(crate) fn session_for(
        &self,
        server: &ServerState,
        connection: &Arc<Session>,
        caller: &Caller,
    ) -> Arc<Session> {
        if server.clients == Clients::Single || caller.era == ProtocolEra::Handshake {
            return connection.clone();
        }
        let agent = caller.agent.as_deref().unwrap_or("unnamed");
        let name = match &server.options.session {
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
        let table = SessionTable::new().unwrap();
        let options = Options::default();
        let sessions: Vec<_> = (0..MAX_SESSIONS).map(|_| table.new_session(&options).unwrap()).collect();
        assert!(table.new_session(&options).unwrap_err().to_string().contains("limit"));
        drop(sessions);
        assert!(table.new_session(&options).is_ok());
    }
}
