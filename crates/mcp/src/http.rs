//! Streamable HTTP. rmcp implements the protocol; this file accepts connections, and `http/filter.rs` rejects requests
//! that must not reach it.

mod filter;
mod session_tracker;
mod token;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use filter::Access;
pub use token::Token;

use crate::error::ServeError;
use crate::options::Options;
use crate::runtime;
use crate::server::Server;
use crate::server_state::{Clients, ServerState};
use crate::session_table::SessionTable;
use filter::{Accepted, RequestFilter};
use session_tracker::SessionTracker;

/// How many connections can be open at once; more wait.
const MAX_CONNECTIONS: usize = 256;
/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a session may be idle before it ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// How long responses, and then connections, may take to finish when the server stops. Responses usually fit into the
/// system's buffers, so this is enough even for a slow reader, and a client that sent half a request cannot delay the end.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(75);

type Body = BoxBody<Bytes, Infallible>;
type HttpResponse = Response<Body>;

/// Handles requests that the filter has accepted.
#[derive(Clone)]
struct Service {
    protocol: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<SessionTracker>,
    /// Tracks the responses to POST requests that are being sent.
    responses: TaskTracker,
}

/// How a server is reached over HTTP.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The address to listen on.
    pub address: SocketAddr,
    /// The token that clients must send. Without one, every program and every user of this machine can edit; the server
    /// refuses to start if other machines could connect.
    pub token: Option<Token>,
    /// Additional hosts and origins that requests may name.
    pub access: Access,
    /// The longest request body, in bytes.
    pub max_body: usize,
    /// How long a client may take to send a request body.
    pub body_timeout: Duration,
    /// How many sessions are kept. One more ends the one that has been unused for longest; if all are in use, it is refused.
    pub max_sessions: usize,
}

impl HttpOptions {
    /// The path of the server's endpoint.
    pub const PATH: &str = "/mcp";
    /// The default of [`HttpOptions::max_body`].
    pub const MAX_BODY: usize = 20 << 20;
    /// The default of [`HttpOptions::body_timeout`].
    pub const BODY_TIMEOUT: Duration = Duration::from_secs(10);
    /// The default of [`HttpOptions::max_sessions`], unless the limit of open files allows fewer.
    pub const MAX_SESSIONS: usize = 256;

    /// Listens on `address`, without a token.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            token: None,
            access: Access::default(),
            max_body: Self::MAX_BODY,
            body_timeout: Self::BODY_TIMEOUT,
            max_sessions: sessions_within(slipstitch_platform::process::max_open_files()),
        }
    }
}

/// How many descriptors a session may need: its workspace, journal, locks and connection.
const DESCRIPTORS_PER_SESSION: u64 = 6;
/// How many descriptors are left for everything else, such as connections and files in use.
const SPARE_DESCRIPTORS: u64 = 320;

/// How many sessions a limit of open files allows.
fn sessions_within(max_files: Option<u64>) -> usize {
    let allowed =
        max_files.map_or(u64::MAX, |max| max.saturating_sub(SPARE_DESCRIPTORS) / DESCRIPTORS_PER_SESSION);
    usize::try_from(allowed).unwrap_or(usize::MAX).clamp(8, HttpOptions::MAX_SESSIONS)
}

/// Serves any number of clients over HTTP until the process is asked to stop. Calls `on_listening` with the address.
pub fn serve_http(
    options: Options,
    http: HttpOptions,
    on_listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    runtime::run(async {
        let stop = CancellationToken::new();
        runtime::cancel_on_signal(&stop)?;
        serve_http_until(options, http, on_listening, stop).await
    })
}

/// Like [`serve_http`], on the caller's runtime and until `stop` is cancelled.
pub async fn serve_http_until(
    options: Options,
    http: HttpOptions,
    on_listening: impl FnOnce(SocketAddr),
    stop: CancellationToken,
) -> Result<(), ServeError> {
    if !http.address.ip().is_loopback() && http.token.is_none() {
        return Err(ServeError::Unprotected(http.address));
    }
    let server = ServerState::new(options, Clients::Many)?;
    runtime::interrupt_after_stop(&server);
    let table = SessionTable::new().map_err(ServeError::Start)?;
    let listen_error = |source| ServeError::Listen { address: http.address, source };
    let listener = TcpListener::bind(http.address).await.map_err(listen_error)?;
    let address = listener.local_addr().map_err(listen_error)?;
    let filter = RequestFilter::new(address, http.access.clone(), http.token.clone())?;
    let filter = Arc::new(filter.with_max_body(http.max_body).with_body_timeout(http.body_timeout));
    let streams = CancellationToken::new();
    let service = service(&server, &table, &http, &streams);
    on_listening(address);
    let connections = TaskTracker::new();
    accept_connections(&listener, &filter, &service, &connections, &stop).await;
    drop(listener);
    // First the calls, then their responses, then the event streams, which would never end by themselves.
    runtime::finish_calls(&server).await;
    service.responses.close();
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, service.responses.wait()).await;
    streams.cancel();
    connections.close();
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, connections.wait()).await;
    Ok(())
}

fn service(
    server: &Arc<ServerState>,
    table: &Arc<SessionTable>,
    http: &HttpOptions,
    streams: &CancellationToken,
) -> Service {
    // The filter checks hosts and origins, more strictly than rmcp does.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(http.max_body)
        .with_cancellation_token(streams.clone());
    let mut sessions = LocalSessionManager::default();
    // A model may think for long, and the user may take the whole approval timeout.
    sessions.session_config.keep_alive = Some(IDLE_TIMEOUT.max(server.options.approval_timeout * 2));
    let (server, manager) = (server.clone(), Arc::new(sessions));
    let table = table.clone();
    let sessions = Arc::new(SessionTracker::new(manager.clone(), http.max_sessions));
    let protocol = StreamableHttpService::new(
        move || Server::for_connection(server.clone(), table.clone()),
        manager,
        config,
    );
    Service { protocol, sessions, responses: TaskTracker::new() }
}

async fn accept_connections(
    listener: &TcpListener,
    filter: &Arc<RequestFilter>,
    service: &Service,
    connections: &TaskTracker,
    stop: &CancellationToken,
) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = async {
            // The semaphore is never closed.
            let permit = permits.clone().acquire_owned().await.ok();
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = stop.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let (filter, service, stop) = (filter.clone(), service.clone(), stop.clone());
                connections.spawn(async move {
                    serve_connection(stream, filter, service, stop).await;
                    drop(permit);
                });
            }
            // Out of file descriptors, or the client is already gone: keep accepting.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve_connection(
    stream: TcpStream,
    filter: Arc<RequestFilter>,
    service: Service,
    stop: CancellationToken,
) {
    // Responses are small and awaited; Nagle's algorithm would delay them. A failure only costs time.
    let _ = stream.set_nodelay(true);
    let handler = service_fn(move |request: Request<Incoming>| {
        let (filter, service) = (filter.clone(), service.clone());
        async move { Ok::<HttpResponse, Infallible>(handle_request(&filter, &service, request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), handler);
    tokio::pin!(connection);
    // An error on a connection concerns only its client.
    let _ = tokio::select! {
        result = connection.as_mut() => result,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}

async fn handle_request(
    filter: &RequestFilter,
    service: &Service,
    request: Request<Incoming>,
) -> HttpResponse {
    match filter.check(request.method(), request.uri(), request.headers()) {
        Err(rejection) => rejection.into_response(),
        Ok(Accepted::Preflight { origin }) => filter::preflight_response(&origin),
        Ok(Accepted::Request { origin }) => {
            let method = request.method().clone();
            let (mut head, body) = request.into_parts();
            if method == Method::POST {
                // The filter has checked it in any spelling; rmcp knows only one.
                head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
            let body = match filter.read_body(body).await {
                Ok(body) => body,
                Err(rejection) => return rejection.into_response(),
            };
            let sending = (method == Method::POST).then(|| service.responses.token());
            let mut response = match service.sessions.begin(&method, &head.headers, &body).await {
                Ok(session_use) => {
                    let response = service.protocol.handle(Request::from_parts(head, Full::new(body))).await;
                    service.sessions.finish(session_use, response)
                }
                Err(rejection) => *rejection,
            };
            correct_status(&method, response.status_mut());
            if let Some(origin) = origin {
                filter::allow_origin(&origin, response.headers_mut());
            }
            match sending {
                Some(sending) => response.map(|body| keep_until_sent(body, sending)),
                None => response,
            }
        }
    }
}

/// Keeps `guard` until the body is sent or dropped.
fn keep_until_sent<T: Send + Sync + 'static>(body: Body, guard: T) -> Body {
    let keep = move |frame| {
        let _ = &guard;
        frame
    };
    body.map_frame(keep).boxed()
}

/// Corrects two statuses of rmcp. The filter has already checked the content type, so an unsupported body is a malformed
/// one; and when a session is deleted it is gone, not just accepted for deletion.
fn correct_status(method: &Method, status: &mut StatusCode) {
    match (method.clone(), *status) {
        (Method::POST, StatusCode::UNSUPPORTED_MEDIA_TYPE) => *status = StatusCode::BAD_REQUEST,
        (Method::DELETE, StatusCode::ACCEPTED) => *status = StatusCode::NO_CONTENT,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_fit_into_the_limit_of_open_files() {
        assert_eq!(sessions_within(None), HttpOptions::MAX_SESSIONS);
        assert_eq!(sessions_within(Some(1 << 20)), HttpOptions::MAX_SESSIONS);
        let sessions = sessions_within(Some(1_024)) as u64;
        assert!(
            sessions >= 64 && sessions * DESCRIPTORS_PER_SESSION + SPARE_DESCRIPTORS <= 1_024,
            "{sessions}"
        );
        assert_eq!(sessions_within(Some(64)), 8);
    }
}
