//! Who may use the page.
//!
//! The page can change files, so a request must show that it comes from the person who started the server. The address that is
//! printed has a random token, which is exchanged for a cookie that other sites cannot use (`SameSite=Strict`). The `Host`
//! must be the address that the server listens on, so that a name which leads to the loopback interface does not work, and a
//! request that changes something must come from the page itself.

use std::net::SocketAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::page;
use crate::token::COOKIE;

/// No script but our own, nothing from elsewhere, and no frame around the page.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                              form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Refuses what does not come from the page, and sets the headers that protect it.
pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = match refusal(&app, &request) {
        Some((status, message)) => (status, page::message_page("No access", message)).into_response(),
        None => next.run(request).await,
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

fn refusal(app: &App, request: &Request) -> Option<(StatusCode, &'static str)> {
    let headers = request.headers();
    if !names_this_server(headers, app.address) {
        return Some((StatusCode::MISDIRECTED_REQUEST, "This address does not belong to the review page."));
    }
    if request.method() != Method::GET
        && request.method() != Method::HEAD
        && !comes_from_page(headers, app.address)
    {
        return Some((StatusCode::FORBIDDEN, "This request does not come from the review page."));
    }
    // The style sheet has no secrets, and the page of a refused request needs it.
    let is_open = request.uri().path().starts_with("/assets/") || has_token_parameter(app, request);
    if !is_open && !has_cookie(app, headers) {
        let message =
            "Open the address that `slipstitch review --web` printed; it has the token for this page.";
        return Some((StatusCode::UNAUTHORIZED, message));
    }
    None
}

fn has_token_parameter(app: &App, request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let token = query.split('&').find_map(|part| part.strip_prefix("token="));
    request.uri().path() == "/" && token.is_some_and(|token| app.token.matches(token))
}

fn has_cookie(app: &App, headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut values =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    values.any(|(name, value)| name == COOKIE && app.token.matches(value))
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
