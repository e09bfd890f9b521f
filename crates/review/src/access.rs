//! Who may use the page.
//!
//! The page can change files, so a request must show that it comes from the person who started the server. The printed
//! address has a token that works once; the browser sends it back in exchange for a cookie that other sites cannot use
//! (`SameSite=Strict`) and a second secret. Cookies have no port: another server on this machine that the person visits gets the cookie too. So a request that changes
//! something also has to send the second secret, which the browser keeps for this port alone (`token.rs`). The `Host` must be the
//! address that the server listens on, so that a name which leads to the loopback interface does not work, and a request that changes
//! something must come from the page itself.

use std::net::SocketAddr;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::page;
use crate::token::Session;

/// No script but our own, nothing from elsewhere, and no frame around the page.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                              form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The longest form, in bytes: a decision with edited hunks.
pub(crate) const MAX_BODY: usize = 8 << 20;

/// The field with the second secret.
const SECRET_FIELD: &str = "secret=";

/// Refuses what does not come from the page, and sets the headers that protect it.
pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = match admit(&app, request).await {
        Err((status, message)) => (status, page::message_page("No access", message)).into_response(),
        Ok(request) => next.run(request).await,
    };
    let headers = response.headers_mut();
    // With a stricter referrer policy, browsers send `Origin: null` with the page's own forms.
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Why a request is refused.
type Refusal = (StatusCode, &'static str);

/// Returns the request if it may be answered.
async fn admit(app: &App, mut request: Request) -> Result<Request, Refusal> {
    let headers = request.headers();
    if !names_this_server(headers, app.address) {
        return Err((StatusCode::MISDIRECTED_REQUEST, "This address does not belong to the review page."));
    }
    let is_read = request.method() == Method::GET || request.method() == Method::HEAD;
    if !is_read && !comes_from_page(headers, app.address) {
        return Err((StatusCode::FORBIDDEN, "This request does not come from the review page."));
    }
    // The style sheet has no secrets, and the page of a refused request needs it. The token is checked where it is exchanged.
    let path = request.uri().path();
    if path == "/" || (is_read && path.starts_with("/assets/")) {
        return Ok(request);
    }
    let session = find_session(app, headers).ok_or((StatusCode::UNAUTHORIZED, NOT_OPENED))?;
    request.extensions_mut().insert(session.clone());
    if is_read {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY)
        .await
        .map_err(|_| (StatusCode::PAYLOAD_TOO_LARGE, "This form is too long."))?;
    let mut fields = body.split(|byte| *byte == b'&').filter_map(|field| std::str::from_utf8(field).ok());
    let secret = fields.find_map(|field| field.strip_prefix(SECRET_FIELD));
    match secret.is_some_and(|secret| session.signs(secret)) {
        true => Ok(Request::from_parts(parts, Body::from(body))),
        false => Err((StatusCode::FORBIDDEN, UNSIGNED)),
    }
}

/// Said to whoever has no session.
pub(crate) const NOT_OPENED: &str = "Open the address that `slipstitch review --web` printed last; it has the token for this page and \
                                     works once.";

/// Said to whoever has the cookie only.
const UNSIGNED: &str = "This form lacks the secret that the browser keeps for this page. Deciding needs JavaScript; if it is on, \
                        open the address that `slipstitch review --web` printed last.";

fn find_session(app: &App, headers: &HeaderMap) -> Option<Session> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut values =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    values.find_map(|(name, value)| app.access.session(name, value))
}

/// The names under which the server can be reached.
fn own_names(address: SocketAddr) -> [String; 3] {
    let port = address.port();
    [address.to_string(), format!("localhost:{port}"), format!("127.0.0.1:{port}")]
}

fn names_this_server(headers: &HeaderMap, address: SocketAddr) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(|host| own_names(address).iter().any(|name| name == host))
}

/// Browsers send `Origin` with every form and every fetch that is not a plain read.
fn comes_from_page(headers: &HeaderMap, address: SocketAddr) -> bool {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    origin.is_some_and(|origin| own_names(address).iter().any(|name| origin == format!("http://{name}")))
}
