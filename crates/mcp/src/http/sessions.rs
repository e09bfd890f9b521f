//! Which sessions are kept: when there are too many, the one that nobody has used for longest makes room.
//!
//! rmcp forgets a session that was silent for long, but has no bound on how many there are. Clients that go away without
//! a word must not keep others out until then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http_body_util::BodyExt;
use hyper::header::HeaderMap;
use hyper::{Method, StatusCode};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::Value;

use super::Answer;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// The sessions of one server.
#[derive(Debug)]
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    kept: Mutex<HashMap<Arc<str>, Kept>>,
    most: usize,
}

#[derive(Debug)]
struct Kept {
    used: Instant,
    /// Held by every answer that is still being sent.
    busy: Arc<()>,
}

/// A request, as far as it concerns its session.
#[derive(Debug)]
pub(super) struct Visit {
    method: Method,
    session: Option<Arc<str>>,
    busy: Option<Arc<()>>,
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>, most: usize) -> Self {
        Self { manager, kept: Mutex::default(), most }
    }

    /// Notes that a session is used, or makes room for one that will be made.
    pub(super) async fn enter(&self, method: &Method, headers: &HeaderMap, body: &[u8]) -> Visit {
        let session = named(headers);
        let busy = session.as_ref().and_then(|session| {
            let mut kept = self.kept();
            let kept = kept.get_mut(session)?;
            kept.used = Instant::now();
            Some(kept.busy.clone())
        });
        if session.is_none() && self.kept().len() >= self.most && makes_one(body) {
            self.make_room().await;
        }
        Visit { method: method.clone(), session, busy }
    }

    /// Notes what came of a request. Its session is in use until the answer is sent.
    pub(super) fn leave(&self, visit: Visit, answer: Answer) -> Answer {
        let busy = match (visit.session, named(answer.headers())) {
            (Some(session), _) => {
                let ended = visit.method == Method::DELETE && answer.status().is_success();
                if ended || answer.status() == StatusCode::NOT_FOUND {
                    self.kept().remove(&session);
                }
                visit.busy
            }
            (None, Some(made)) => {
                let busy = Arc::new(());
                self.kept().insert(made, Kept { used: Instant::now(), busy: busy.clone() });
                Some(busy)
            }
            (None, None) => None,
        };
        match busy {
            None => answer,
            Some(busy) => answer.map(|body| {
                let held = move |frame| {
                    let _ = &busy;
                    frame
                };
                body.map_frame(held).boxed()
            }),
        }
    }

    async fn make_room(&self) {
        let alive: Vec<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let ended = {
            let mut kept = self.kept();
            kept.retain(|session, _| alive.contains(session));
            if kept.len() < self.most {
                return;
            }
            let idle = kept.iter().filter(|(_, kept)| Arc::strong_count(&kept.busy) == 1);
            let longest = idle.min_by_key(|(_, kept)| kept.used).map(|(session, _)| session.clone());
            longest.inspect(|session| drop(kept.remove(session)))
        };
        if let Some(session) = ended {
            // One that has ended by itself meanwhile has made room too.
            let _ = self.manager.close_session(&session).await;
        }
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Arc<str>, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(SESSION)?.to_str().ok().map(Into::into)
}

/// Whether a request asks for a session.
fn makes_one(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|message| message["method"] == "initialize")
}
