//! Which HTTP sessions are kept: when there are too many, the one that has been unused for longest is ended.
//!
//! rmcp ends idle sessions but does not limit how many there are. Clients that go away without closing their session must
//! not keep others out until then.
//!
//! The requests in flight of each session are tracked here too, because no two of them can have the same id.

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

use super::{HttpResponse, keep_until_sent};
use crate::in_flight::{InFlightGuard, InFlightRequests};

/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";

/// How often, and after what delay, registering an id is retried.
const ID_RETRIES: usize = 10;
const ID_RETRY_DELAY: Duration = Duration::from_millis(10);

/// The sessions of one server.
#[derive(Debug)]
pub(super) struct SessionTracker {
    manager: Arc<LocalSessionManager>,
    sessions: Mutex<HashMap<Arc<str>, TrackedSession>>,
    max_sessions: usize,
}

#[derive(Debug)]
struct TrackedSession {
    last_used: Instant,
    /// Cloned into every response that is being sent.
    busy: Arc<()>,
    in_flight: InFlightRequests,
}

/// A request's use of its session.
#[derive(Debug)]
pub(super) struct SessionUse {
    method: Method,
    session: Option<Arc<str>>,
    guard: Option<BusyGuard>,
}

/// Keeps a session busy, and a request's id in use, until the response is sent.
#[derive(Debug)]
struct BusyGuard {
    _session: Arc<()>,
    _id: Option<InFlightGuard>,
}

impl SessionTracker {
    pub(super) fn new(manager: Arc<LocalSessionManager>, max_sessions: usize) -> Self {
        Self { manager, sessions: Mutex::default(), max_sessions }
    }

    /// Marks a request's session as used, or makes room for the one that it will create. Rejects a request whose id is in
    /// use.
    pub(super) async fn begin(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<SessionUse, Box<HttpResponse>> {
        let session = session_name(headers);
        let guard = match &session {
            Some(session) => self.use_session(session, body).await?,
            None => None,
        };
        if session.is_none() && self.lock().len() >= self.max_sessions && is_initialize(body) {
            self.make_room().await.map_err(|()| Box::new(self.full_response()))?;
        }
        Ok(SessionUse { method: method.clone(), session, guard })
    }

    async fn use_session(&self, session: &str, body: &[u8]) -> Result<Option<BusyGuard>, Box<HttpResponse>> {
        let Some((busy, in_flight)) = self.lock().get_mut(session).map(|session| {
            session.last_used = Instant::now();
            (session.busy.clone(), session.in_flight.clone())
        }) else {
            return Ok(None);
        };
        // A message that is not a request has no id; rmcp handles it.
        let Ok(RequestHead { id, .. }) = serde_json::from_slice(body) else {
            return Ok(Some(BusyGuard { _session: busy, _id: None }));
        };
        let mut registered = in_flight.register_guarded(&id);
        for _ in 0..ID_RETRIES {
            // A client that has read its response may be faster than the server's end of it.
            if registered.is_err() {
                tokio::time::sleep(ID_RETRY_DELAY).await;
                registered = in_flight.register_guarded(&id);
            }
        }
        let guard = registered.map_err(|error| Box::new(error_response(error, id)))?;
        Ok(Some(BusyGuard { _session: busy, _id: Some(guard) }))
    }

    /// Updates the session after a request. It stays in use until the response is sent.
    pub(super) fn finish(&self, session_use: SessionUse, response: HttpResponse) -> HttpResponse {
        let guard = match (session_use.session, session_name(response.headers())) {
            (Some(session), _) => {
                let ended = session_use.method == Method::DELETE && response.status().is_success();
                if ended || response.status() == StatusCode::NOT_FOUND {
                    self.lock().remove(&session);
                }
                session_use.guard
            }
            (None, Some(created)) => {
                let busy = Arc::new(());
                let session = TrackedSession {
                    last_used: Instant::now(),
                    busy: busy.clone(),
                    in_flight: InFlightRequests::default(),
                };
                self.lock().insert(created, session);
                Some(BusyGuard { _session: busy, _id: None })
            }
            (None, None) => None,
        };
        match guard {
            None => response,
            Some(guard) => response.map(|body| keep_until_sent(body, guard)),
        }
    }

    /// Ends the session that has been unused for longest. Fails if all of them are in use.
    async fn make_room(&self) -> Result<(), ()> {
        let alive: Vec<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let ended = {
            let mut sessions = self.lock();
            sessions.retain(|name, _| alive.contains(name));
            if sessions.len() < self.max_sessions {
                return Ok(());
            }
            let idle = sessions.iter().filter(|(_, session)| Arc::strong_count(&session.busy) == 1);
            let oldest = idle.min_by_key(|(_, session)| session.last_used).map(|(name, _)| name.clone());
            oldest.inspect(|name| drop(sessions.remove(name)))
        };
        let Some(session) = ended else { return Err(()) };
        // An error means that it has already ended.
        let _ = self.manager.close_session(&session).await;
        Ok(())
    }

    /// The response to a request for one session too many.
    fn full_response(&self) -> HttpResponse {
        let message = format!(
            "All {} sessions are in use. End one with DELETE, or try again later.\n",
            self.max_sessions
        );
        let mut response = HttpResponse::new(Full::new(Bytes::from(message)).boxed());
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, TrackedSession>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn session_name(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(SESSION_HEADER)?.to_str().ok().map(Into::into)
}

/// The fields that make a message a request.
#[derive(Deserialize)]
struct RequestHead {
    id: RequestId,
    #[serde(rename = "method")]
    _method: IgnoredAny,
}

/// The response to a request whose id is in use.
fn error_response(error: ErrorData, id: RequestId) -> HttpResponse {
    let body = serde_json::to_vec(&ServerJsonRpcMessage::error(error, Some(id))).unwrap_or_default();
    let mut response = HttpResponse::new(Full::new(Bytes::from(body)).boxed());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Whether a request creates a session.
fn is_initialize(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|message| message["method"] == "initialize")
}
