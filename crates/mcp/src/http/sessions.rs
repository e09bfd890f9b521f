//! Which sessions are kept: when there are too many, the one that nobody has used for longest makes room.
//!
//! rmcp forgets a session that was silent for long, but has no bound on how many there are. Clients that go away without
//! a word must not keep others out until then.
//!
//! A session's requests in flight are known here too: two of them cannot have one id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Answer, held};
use crate::ids::{Ids, InUse};

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// How often, and after how long, it is looked again whether an id is free.
const TRIES: usize = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

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
    /// The requests that are being answered.
    ids: Ids,
}

/// A request, as far as it concerns its session.
#[derive(Debug)]
pub(super) struct Visit {
    method: Method,
    session: Option<Arc<str>>,
    busy: Option<Busy>,
}

/// Held until an answer is sent.
#[derive(Debug)]
struct Busy {
    _session: Arc<()>,
    _id: Option<InUse>,
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>, most: usize) -> Self {
        Self { manager, kept: Mutex::default(), most }
    }

    /// Notes that a session is used, or makes room for one that will be made. A request with an id that another one has
    /// goes no further.
    pub(super) async fn enter(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Visit, Box<Answer>> {
        let session = named(headers);
        let busy = match &session {
            Some(session) => self.use_session(session, body).await?,
            None => None,
        };
        if session.is_none() && self.kept().len() >= self.most && makes_one(body) {
            self.make_room().await;
        }
        Ok(Visit { method: method.clone(), session, busy })
    }

    async fn use_session(&self, session: &str, body: &[u8]) -> Result<Option<Busy>, Box<Answer>> {
        let Some((busy, ids)) = self.kept().get_mut(session).map(|kept| {
            kept.used = Instant::now();
            (kept.busy.clone(), kept.ids.clone())
        }) else {
            return Ok(None);
        };
        // What is no request has no id; rmcp knows what to do with it.
        let Ok(Asked { id, .. }) = serde_json::from_slice(body) else {
            return Ok(Some(Busy { _session: busy, _id: None }));
        };
        let mut held = ids.hold(&id);
        for _ in 0..TRIES {
            // A client that has read its answer may be faster than the end of it.
            if held.is_err() {
                tokio::time::sleep(BETWEEN_TRIES).await;
                held = ids.hold(&id);
            }
        }
        let held = held.map_err(|error| Box::new(refused(error, id)))?;
        Ok(Some(Busy { _session: busy, _id: Some(held) }))
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
                let kept = Kept { used: Instant::now(), busy: busy.clone(), ids: Ids::default() };
                self.kept().insert(made, kept);
                Some(Busy { _session: busy, _id: None })
            }
            (None, None) => None,
        };
        match busy {
            None => answer,
            Some(busy) => answer.map(|body| held(body, busy)),
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

/// A request, as far as it shows whether it can be one.
#[derive(Deserialize)]
struct Asked {
    id: RequestId,
    #[serde(rename = "method")]
    _method: IgnoredAny,
}

/// The answer to a request with an id that is in use.
fn refused(error: ErrorData, id: RequestId) -> Answer {
    let body = serde_json::to_vec(&ServerJsonRpcMessage::error(error, Some(id))).unwrap_or_default();
    let mut answer = Answer::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// Whether a request asks for a session.
fn makes_one(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|message| message["method"] == "initialize")
}
