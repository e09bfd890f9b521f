//! Streamable HTTP. rmcp speaks the protocol; this file takes connections, and `http/guard.rs` refuses what should not
//! reach it.

mod guard;
mod sessions;
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

pub use guard::Access;
pub use token::Token;

use crate::error::ServeError;
use crate::hub::{Hub, Link};
use crate::options::Options;
use crate::runtime;
use crate::server::Server;
use guard::{Guard, Passed};
use sessions::Sessions;

/// How many connections are open at once; more wait.
const CONNECTIONS: usize = 256;
/// How long a client may take to send the head of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// How long a session may be silent before it is forgotten.
const IDLE: Duration = Duration::from_secs(60 * 60);
/// How long open answers may take when the server stops.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

type Body = BoxBody<Bytes, Infallible>;
type Answer = Response<Body>;

/// What answers requests that the guard lets through.
#[derive(Clone)]
struct Service {
    protocol: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<Sessions>,
    /// The answers to requests that are being sent.
    answers: TaskTracker,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Where it listens.
    pub address: SocketAddr,
    /// What a client must know. Needed wherever other machines can connect.
    pub token: Option<Token>,
    /// Which hosts and origins requests may name, besides the server's own.
    pub access: Access,
    /// The longest body of a request, in bytes.
    pub max_body: usize,
    /// How long a client may take to send the body of a request.
    pub body_within: Duration,
    /// How many sessions are kept; for one more, the one that was unused for longest is ended.
    pub max_sessions: usize,
}

impl HttpOptions {
    /// The path at which the server answers.
    pub const PATH: &str = "/mcp";
    /// The longest body of a request, if nothing else is said.
    pub const MAX_BODY: usize = 20 << 20;

    /// How long a client may take to send a body, if nothing else is said.
    pub const BODY_WITHIN: Duration = Duration::from_secs(10);

    /// How many sessions are kept, if nothing else is said.
    pub const MAX_SESSIONS: usize = 1_500;

    /// Listens there, without a token.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            token: None,
            access: Access::default(),
            max_body: Self::MAX_BODY,
            body_within: Self::BODY_WITHIN,
            max_sessions: Self::MAX_SESSIONS,
        }
    }
}

/// Serves any number of clients over HTTP until the process is asked to stop. `listening` is told where.
pub fn serve_http(
    options: Options,
    http: HttpOptions,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    runtime::run(async {
        let stop = CancellationToken::new();
        runtime::cancel_on_signal(&stop)?;
        serve_http_until(options, http, listening, stop).await
    })
}

/// The same on a runtime of the caller's, until `stop` is cancelled.
pub async fn serve_http_until(
    options: Options,
    http: HttpOptions,
    listening: impl FnOnce(SocketAddr),
    stop: CancellationToken,
) -> Result<(), ServeError> {
    if !http.address.ip().is_loopback() && http.token.is_none() {
        return Err(ServeError::Unprotected(http.address));
    }
    let hub = Hub::new(options, Link::Shared)?;
    let failed = |source| ServeError::Listen { address: http.address, source };
    let listener = TcpListener::bind(http.address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let guard = Guard::new(address, http.access.clone(), http.token.clone())?;
    let guard = Arc::new(guard.with_max_body(http.max_body).with_body_within(http.body_within));
    let streams = CancellationToken::new();
    let service = service(&hub, &http, &streams);
    listening(address);
    let connections = TaskTracker::new();
    take_connections(&listener, &guard, &service, &connections, &stop).await;
    drop(listener);
    // First the work, then its answers, then the streams that would never end.
    runtime::finish(&hub).await;
    service.answers.close();
    let _ = tokio::time::timeout(CLOSE_WITHIN, service.answers.wait()).await;
    streams.cancel();
    connections.close();
    let _ = tokio::time::timeout(CLOSE_WITHIN, connections.wait()).await;
    Ok(())
}

fn service(hub: &Arc<Hub>, http: &HttpOptions, streams: &CancellationToken) -> Service {
    // The guard checks hosts and origins, more strictly than rmcp does.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(http.max_body)
        .with_cancellation_token(streams.clone());
    let mut sessions = LocalSessionManager::default();
    // A model may think for long, and a person may take all the time that a question leaves.
    sessions.session_config.keep_alive = Some(IDLE.max(hub.options.patience * 2));
    let (hub, manager) = (hub.clone(), Arc::new(sessions));
    let sessions = Arc::new(Sessions::new(manager.clone(), http.max_sessions));
    let protocol = StreamableHttpService::new(move || Server::on(hub.clone()), manager, config);
    Service { protocol, sessions, answers: TaskTracker::new() }
}

async fn take_connections(
    listener: &TcpListener,
    guard: &Arc<Guard>,
    service: &Service,
    connections: &TaskTracker,
    stop: &CancellationToken,
) {
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = async {
            // The semaphore is never closed.
            let permit = free.clone().acquire_owned().await.ok();
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = stop.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let (guard, service, stop) = (guard.clone(), service.clone(), stop.clone());
                connections.spawn(async move {
                    connection(stream, guard, service, stop).await;
                    drop(permit);
                });
            }
            // Out of file handles, or a client that is gone already: others will come.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn connection(stream: TcpStream, guard: Arc<Guard>, service: Service, stop: CancellationToken) {
    // Answers are small and awaited; without this they are held back. Failing costs time only.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request: Request<Incoming>| {
        let (guard, service) = (guard.clone(), service.clone());
        async move { Ok::<Answer, Infallible>(answer(&guard, &service, request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::pin!(connection);
    // A connection that breaks concerns nobody but its client.
    let _ = tokio::select! {
        done = connection.as_mut() => done,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}

async fn answer(guard: &Guard, service: &Service, request: Request<Incoming>) -> Answer {
    match guard.check(request.method(), request.uri(), request.headers()) {
        Err(refused) => refused.into_response(),
        Ok(Passed::Preflight { origin }) => guard::preflight(&origin),
        Ok(Passed::Request { origin }) => {
            let method = request.method().clone();
            let (mut head, body) = request.into_parts();
            if method == Method::POST {
                // The guard has checked it, however it is spelled; rmcp knows one spelling.
                head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
            let body = match guard.read(body).await {
                Ok(body) => body,
                Err(refused) => return refused.into_response(),
            };
            let sending = (method == Method::POST).then(|| service.answers.token());
            let mut response = match service.sessions.enter(&method, &head.headers, &body).await {
                Ok(visit) => {
                    let response = service.protocol.handle(Request::from_parts(head, Full::new(body))).await;
                    service.sessions.leave(visit, response)
                }
                Err(refused) => *refused,
            };
            mend(&method, response.status_mut());
            if let Some(origin) = origin {
                guard::allow(&origin, response.headers_mut());
            }
            match sending {
                Some(sending) => response.map(|body| held(body, sending)),
                None => response,
            }
        }
    }
}

/// Keeps something until a body is sent, or nobody wants it any more.
fn held<T: Send + Sync + 'static>(body: Body, kept: T) -> Body {
    let keep = move |frame| {
        let _ = &kept;
        frame
    };
    body.map_frame(keep).boxed()
}

/// Two statuses of rmcp that say something else than what happened. The guard has checked the type by then, so that a
/// body which cannot be taken is one that cannot be read; and the end of a session is done, not only begun.
fn mend(method: &Method, status: &mut StatusCode) {
    match (method.clone(), *status) {
        (Method::POST, StatusCode::UNSUPPORTED_MEDIA_TYPE) => *status = StatusCode::BAD_REQUEST,
        (Method::DELETE, StatusCode::ACCEPTED) => *status = StatusCode::NO_CONTENT,
        _ => {}
    }
}
