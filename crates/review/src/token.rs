//! The secrets that open the page.
//!
//! | secret | where it is | what it is for |
//! | --- | --- | --- |
//! | token | in the address that is printed | opens the page once |
//! | cookie | in the browser | reading; browsers also send it to other servers on this machine, whatever their port |
//! | form secret | in the storage that the browser keeps for this port alone | deciding, together with the cookie |

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use slipstitch::Reviewer;

/// A random text, which is compared by its hash.
#[derive(Clone)]
pub(crate) struct Secret {
    text: String,
    hash: blake3::Hash,
}

impl Secret {
    pub(crate) fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let hash = blake3::hash(text.as_bytes());
        Ok(Self { text, hash })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether `candidate` is this secret. Hashes are compared in constant time.
    fn matches(&self, candidate: &str) -> bool {
        blake3::hash(candidate.as_bytes()) == self.hash
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A browser that opened the page.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    cookie: Secret,
    /// Goes to the browser once, and comes back with every request that changes something.
    pub(crate) form: Secret,
    /// Who entered the passphrase in this browser, and when it was last used.
    pub(crate) unlocked: Arc<Mutex<Option<(Reviewer, Instant)>>>,
}

impl Session {
    /// Whether a request that changes something comes from this browser's page.
    pub(crate) fn signs(&self, candidate: &str) -> bool {
        self.form.matches(candidate)
    }
}

/// The secrets of one server.
#[derive(Debug)]
pub(crate) struct Access {
    /// Differs from server to server: browsers have one set of cookies for all ports of an address.
    cookie_name: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    token: Secret,
    sessions: Vec<Session>,
}

impl Access {
    pub(crate) fn new() -> std::io::Result<Self> {
        let cookie_name = format!("slipstitch_review_{}", &Secret::random()?.text[..12]);
        let state = State { token: Secret::random()?, sessions: Vec::new() };
        Ok(Self { cookie_name, state: Mutex::new(state) })
    }

    /// The token for the next browser.
    pub(crate) fn token(&self) -> String {
        self.lock().token.text.clone()
    }

    /// Whether this is the token for the next browser.
    pub(crate) fn is_token(&self, candidate: &str) -> bool {
        self.lock().token.matches(candidate)
    }

    /// Exchanges the token for a session; after that, another token is needed.
    pub(crate) fn enter(&self, token: &str) -> std::io::Result<Option<Session>> {
        let mut state = self.lock();
        if !state.token.matches(token) {
            return Ok(None);
        }
        let session =
            Session { cookie: Secret::random()?, form: Secret::random()?, unlocked: Arc::default() };
        state.token = Secret::random()?;
        state.sessions.push(session.clone());
        Ok(Some(session))
    }

    /// The header that stores a session's cookie in the browser.
    pub(crate) fn cookie_header(&self, session: &Session) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name, session.cookie.text)
    }

    /// The session that a cookie belongs to.
    pub(crate) fn session(&self, name: &str, value: &str) -> Option<Session> {
        if name != self.cookie_name {
            return None;
        }
        self.lock().sessions.iter().find(|session| session.cookie.matches(value)).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
