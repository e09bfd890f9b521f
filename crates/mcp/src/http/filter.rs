//! Which HTTP requests reach the server: those with an allowed host and origin, and with the token if there is one.
//!
//! A web page in the user's browser can send requests to this machine. It cannot forge its `Origin`, and if it gets here
//! through a domain name that was pointed at this machine (DNS rebinding), `Host` is that name. So both are compared with
//! exact lists.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Body;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CONTENT_LENGTH,
    CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY, WWW_AUTHENTICATE,
};
use hyper::{Method, Response, StatusCode, Uri};

use super::{HttpOptions, HttpResponse, Token};
use crate::error::ServeError;

/// Hosts and origins that requests may name, in addition to the server's own.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// As `name:port` or `name`, compared with the `Host` header.
    pub hosts: Vec<String>,
    /// As `scheme://name:port`, compared with the `Origin` header.
    pub origins: Vec<String>,
}

/// Checks requests before they reach the protocol.
#[derive(Debug)]
pub(super) struct RequestFilter {
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<Token>,
    max_body: usize,
    body_timeout: Duration,
}

/// A request that may proceed.
#[derive(Debug)]
pub(super) enum Accepted {
    /// A request for the protocol; pages of `origin` may read the response.
    Request { origin: Option<HeaderValue> },
    /// A CORS preflight request for an allowed origin.
    Preflight { origin: HeaderValue },
}

/// The response to a request that may not proceed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rejection {
    status: StatusCode,
    message: String,
}

impl Rejection {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(super) fn into_response(self) -> HttpResponse {
        let mut response = Response::new(Full::new(Bytes::from(format!("{}\n", self.message))).boxed());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"slipstitch\""));
        }
        response
    }
}

impl RequestFilter {
    pub(super) fn new(address: SocketAddr, access: Access, token: Option<Token>) -> Result<Self, ServeError> {
        let port = address.port();
        let mut names = vec![match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        }];
        if address.ip().is_loopback() {
            names.extend(["localhost".into(), "127.0.0.1".into(), "[::1]".into()]);
        }
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            // Clients omit the default port.
            hosts.extend(names);
        }
        for host in access.hosts {
            if host.is_empty() || host.contains(['/', '*', ' ', '@']) {
                return Err(ServeError::Access(host, "a host such as `example.com:8080`"));
            }
            hosts.push(host.to_ascii_lowercase());
        }
        let mut origins: Vec<String> = hosts.iter().map(|host| format!("http://{host}")).collect();
        for origin in access.origins {
            let is_valid = origin.split_once("://").is_some_and(|(scheme, host)| {
                ["http", "https"].contains(&scheme) && !host.is_empty() && !host.contains(['/', '*', ' '])
            });
            if !is_valid {
                return Err(ServeError::Access(origin, "an origin such as `https://example.com`"));
            }
            origins.push(origin.to_ascii_lowercase());
        }
        Ok(Self { hosts, origins, token, max_body: usize::MAX, body_timeout: HttpOptions::BODY_TIMEOUT })
    }

    pub(super) fn with_max_body(self, bytes: usize) -> Self {
        Self { max_body: bytes, ..self }
    }

    pub(super) fn with_body_timeout(self, time: Duration) -> Self {
        Self { body_timeout: time, ..self }
    }

    /// Reads a body within the limits of size and time: a client that stops in the middle must not occupy a connection.
    pub(super) async fn read_body<B>(&self, body: B) -> Result<Bytes, Rejection>
    where
        B: Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let read = Limited::new(body, self.max_body).collect();
        match tokio::time::timeout(self.body_timeout, read).await {
            Ok(Ok(read)) => Ok(read.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let message = format!("The body exceeds the limit of {} bytes.", self.max_body);
                Err(Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, message))
            }
            Ok(Err(error)) => {
                Err(Rejection::new(StatusCode::BAD_REQUEST, format!("The body cannot be read: {error}.")))
            }
            Err(_) => {
                let message = format!(
                    "The body did not arrive within {} seconds. The request was not processed; send it again.",
                    self.body_timeout.as_secs_f32()
                );
                Err(Rejection::new(StatusCode::REQUEST_TIMEOUT, message))
            }
        }
    }

    /// Whether a request may proceed; the first rule that it violates decides the response.
    pub(super) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Accepted, Rejection> {
        self.check_host(uri, headers)?;
        let origin = self.check_origin(headers)?;
        if uri.path() != HttpOptions::PATH {
            let message = format!("Not found; the endpoint is {}.", HttpOptions::PATH);
            return Err(Rejection::new(StatusCode::NOT_FOUND, message));
        }
        if method == Method::OPTIONS
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
            && let Some(origin) = origin
        {
            return Ok(Accepted::Preflight { origin });
        }
        self.check_token(headers)?;
        if method == Method::POST {
            check_content_type(headers)?;
            self.check_length(headers)?;
        }
        Ok(Accepted::Request { origin })
    }

    /// Rejects a body that is declared too long before it is sent.
    fn check_length(&self, headers: &HeaderMap) -> Result<(), Rejection> {
        let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        match length {
            Some(bytes) if bytes > self.max_body as u64 => {
                let message = format!("The body has {bytes} bytes; the limit is {}.", self.max_body);
                Err(Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, message))
            }
            _ => Ok(()),
        }
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Rejection> {
        let mut named: Vec<String> = Vec::new();
        named.extend(uri.authority().map(|authority| authority.as_str().to_ascii_lowercase()));
        for host in headers.get_all(HOST) {
            let Ok(host) = host.to_str() else {
                return Err(Rejection::new(StatusCode::BAD_REQUEST, "The Host header is not text."));
            };
            named.push(host.to_ascii_lowercase());
        }
        match named.iter().find(|host| !self.hosts.contains(host)) {
            None if named.is_empty() => {
                Err(Rejection::new(StatusCode::BAD_REQUEST, "The Host header is missing."))
            }
            None => Ok(()),
            Some(host) => {
                let message =
                    format!("The host `{}` is not allowed; `--allow-host` adds it.", host.escape_debug());
                Err(Rejection::new(StatusCode::FORBIDDEN, message))
            }
        }
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<Option<HeaderValue>, Rejection> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(None) };
        let text = origin.to_str().unwrap_or_default();
        let is_allowed = self.origins.contains(&text.to_ascii_lowercase());
        if !is_allowed || origins.next().is_some() {
            let message =
                format!("The origin `{}` is not allowed; `--allow-origin` adds it.", text.escape_debug());
            return Err(Rejection::new(StatusCode::FORBIDDEN, message));
        }
        Ok(Some(origin.clone()))
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Rejection> {
        let Some(token) = &self.token else { return Ok(()) };
        let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = header
            .and_then(|text| text.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match bearer {
            Some((_, candidate)) if token.matches(candidate.trim()) => Ok(()),
            Some(_) => Err(Rejection::new(StatusCode::UNAUTHORIZED, "The token is wrong.")),
            None => Err(Rejection::new(
                StatusCode::UNAUTHORIZED,
                "A token is required: send the header `Authorization: Bearer TOKEN`.",
            )),
        }
    }
}

/// Requires JSON: other pages can post forms without a preflight request, but never JSON.
fn check_content_type(headers: &HeaderMap) -> Result<(), Rejection> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let given = types.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = given.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/json") && types.next().is_none() {
        return Ok(());
    }
    Err(Rejection::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "Send JSON, with the header `Content-Type: application/json`.",
    ))
}

/// Lets pages of `origin` read a response.
pub(super) fn allow_origin(origin: &HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("mcp-session-id, mcp-protocol-version"),
    );
    headers.append(VARY, HeaderValue::from_name(HeaderName::from_static("origin")));
}

/// The response to a CORS preflight request.
pub(super) fn preflight_response(origin: &HeaderValue) -> HttpResponse {
    let mut response = Response::new(Full::new(Bytes::new()).boxed());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    allow_origin(origin, headers);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    let names = "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name";
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(names));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(token: Option<&str>) -> RequestFilter {
        let access =
            Access { hosts: vec!["Edit.example".into()], origins: vec!["https://app.example:8443".into()] };
        let token = token.map(|text| Token::new(text).unwrap());
        RequestFilter::new("127.0.0.1:7777".parse().unwrap(), access, token).unwrap()
    }

    /// The status of a POST with these headers; 200 if it is accepted.
    fn status(filter: &RequestFilter, headers: &[(&str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap());
        }
        match filter.check(&Method::POST, &Uri::from_static("/mcp"), &map) {
            Ok(_) => 200,
            Err(rejection) => rejection.status.as_u16(),
        }
    }

    const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

    #[test]
    fn hosts_are_compared_exactly() {
        let filter = filter(None);
        for host in ["127.0.0.1:7777", "localhost:7777", "LOCALHOST:7777", "[::1]:7777", "edit.example"] {
            assert_eq!(status(&filter, &[("host", host), JSON]), 200, "{host}");
        }
        for host in [
            "evil.example:7777",
            "localhost",
            "localhost:80",
            "localhost:7777.evil.example",
            "127.0.0.1.evil.example:7777",
            "localhost:7777@evil.example",
            "edit.example:7777",
            "",
        ] {
            assert_eq!(status(&filter, &[("host", host), JSON]), 403, "{host}");
        }
        assert_eq!(status(&filter, &[JSON]), 400);
        assert_eq!(status(&filter, &[("host", "localhost:7777"), ("host", "evil.example"), JSON]), 403);
    }

    #[test]
    fn the_default_port_can_be_omitted() {
        let filter = RequestFilter::new("127.0.0.1:80".parse().unwrap(), Access::default(), None).unwrap();
        for host in ["localhost", "localhost:80", "127.0.0.1"] {
            assert_eq!(status(&filter, &[("host", host), JSON]), 200, "{host}");
        }
        assert_eq!(status(&filter, &[("host", "evil.example"), JSON]), 403);
    }

    #[test]
    fn origins_are_compared_exactly() {
        let filter = filter(None);
        let host = ("host", "localhost:7777");
        for origin in ["http://localhost:7777", "http://127.0.0.1:7777", "https://app.example:8443"] {
            assert_eq!(status(&filter, &[host, JSON, ("origin", origin)]), 200, "{origin}");
        }
        for origin in [
            "http://evil.example",
            "https://localhost:7777",
            "http://localhost:7778",
            "http://localhost:7777.evil.example",
            "https://app.example",
            "null",
            "",
        ] {
            assert_eq!(status(&filter, &[host, JSON, ("origin", origin)]), 403, "{origin}");
        }
    }

    #[test]
    fn requires_json() {
        let filter = filter(None);
        let host = ("host", "localhost:7777");
        for media in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "application/jsonp",
            "",
        ] {
            assert_eq!(status(&filter, &[host, ("content-type", media)]), 415, "{media}");
        }
        assert_eq!(status(&filter, &[host]), 415);
        assert_eq!(status(&filter, &[host, JSON, ("content-type", "text/plain")]), 415);
    }

    #[test]
    fn requires_the_token_if_there_is_one() {
        let filter = filter(Some("0123456789abcdef"));
        let host = ("host", "localhost:7777");
        assert_eq!(status(&filter, &[host, JSON, ("authorization", "Bearer 0123456789abcdef")]), 200);
        assert_eq!(status(&filter, &[host, JSON, ("authorization", "bearer 0123456789abcdef")]), 200);
        for given in ["Bearer 0123456789abcde", "Bearer", "Basic 0123456789abcdef", "0123456789abcdef"] {
            assert_eq!(status(&filter, &[host, JSON, ("authorization", given)]), 401, "{given}");
        }
        assert_eq!(status(&filter, &[host, JSON]), 401);
    }

    #[test]
    fn rejects_malformed_hosts_and_origins() {
        let address: SocketAddr = "127.0.0.1:1".parse().unwrap();
        for host in ["", "*", "http://x"] {
            let access = Access { hosts: vec![host.into()], origins: Vec::new() };
            assert!(RequestFilter::new(address, access, None).is_err(), "{host}");
        }
        for origin in ["example.com", "*", "https://x/", "ftp://x", "null"] {
            let access = Access { hosts: Vec::new(), origins: vec![origin.into()] };
            assert!(RequestFilter::new(address, access, None).is_err(), "{origin}");
        }
    }
}
