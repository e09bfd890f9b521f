//! Which HTTP requests reach the server: those that name it by its own name, come from no foreign page, and know the
//! token if there is one.
//!
//! A page in a browser can send requests to this machine. It cannot choose its `Origin`, and where it came by a name that
//! was made to point here, `Host` is that name. So both are compared with exact lists.

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

use super::{Answer, HttpOptions, Token};
use crate::error::ServeError;

/// Hosts and origins that requests may name, besides the server's own.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// As `name:port` or `name`, compared with the header `Host`.
    pub hosts: Vec<String>,
    /// As `scheme://name:port`, compared with the header `Origin`.
    pub origins: Vec<String>,
}

/// The rules of one server.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<Token>,
    max_body: usize,
    body_within: Duration,
}

/// A request that may go on.
#[derive(Debug)]
pub(super) enum Passed {
    /// To the protocol; a page of `origin` may read the answer.
    Request { origin: Option<HeaderValue> },
    /// A browser that asks first, on behalf of a page that is allowed.
    Preflight { origin: HeaderValue },
}

/// A request that ends here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    status: StatusCode,
    message: String,
}

impl Refused {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(super) fn into_response(self) -> Answer {
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

impl Guard {
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
            // The usual port is left out.
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
            let fine = origin.split_once("://").is_some_and(|(scheme, host)| {
                ["http", "https"].contains(&scheme) && !host.is_empty() && !host.contains(['/', '*', ' '])
            });
            if !fine {
                return Err(ServeError::Access(origin, "an origin such as `https://example.com`"));
            }
            origins.push(origin.to_ascii_lowercase());
        }
        Ok(Self { hosts, origins, token, max_body: usize::MAX, body_within: HttpOptions::BODY_WITHIN })
    }

    /// The same for bodies of at most so many bytes.
    pub(super) fn with_max_body(self, bytes: usize) -> Self {
        Self { max_body: bytes, ..self }
    }

    /// Bodies that take longer to come are refused.
    pub(super) fn with_body_within(self, time: Duration) -> Self {
        Self { body_within: time, ..self }
    }

    /// Reads a body, as long as it may be and for as long as it may take: a client that stops in the middle must not
    /// keep its connection from others.
    pub(super) async fn read<B>(&self, body: B) -> Result<Bytes, Refused>
    where
        B: Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let read = Limited::new(body, self.max_body).collect();
        match tokio::time::timeout(self.body_within, read).await {
            Ok(Ok(read)) => Ok(read.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let message = format!(
                    "The body has more than {} bytes, which are the most that are taken.",
                    self.max_body
                );
                Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, message))
            }
            Ok(Err(error)) => {
                Err(Refused::new(StatusCode::BAD_REQUEST, format!("The body cannot be read: {error}.")))
            }
            Err(_) => {
                let message = format!(
                    "The body did not come within {} seconds. Nothing was done; send the request again.",
                    self.body_within.as_secs_f32()
                );
                Err(Refused::new(StatusCode::REQUEST_TIMEOUT, message))
            }
        }
    }

    /// Whether a request may go on; the first rule that it breaks ends it.
    pub(super) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Passed, Refused> {
        self.check_host(uri, headers)?;
        let origin = self.check_origin(headers)?;
        if uri.path() != HttpOptions::PATH {
            let message = format!("There is nothing here; the server answers at {}.", HttpOptions::PATH);
            return Err(Refused::new(StatusCode::NOT_FOUND, message));
        }
        if method == Method::OPTIONS
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
            && let Some(origin) = origin
        {
            return Ok(Passed::Preflight { origin });
        }
        self.check_token(headers)?;
        if method == Method::POST {
            check_type(headers)?;
            self.check_length(headers)?;
        }
        Ok(Passed::Request { origin })
    }

    /// A body that says it is too long is refused before it is read: the client need not send it.
    fn check_length(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let said = headers.get(CONTENT_LENGTH).and_then(|said| said.to_str().ok()?.parse::<u64>().ok());
        match said {
            Some(bytes) if bytes > self.max_body as u64 => {
                let message = format!("The body has {bytes} bytes; at most {} are taken.", self.max_body);
                Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, message))
            }
            _ => Ok(()),
        }
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let mut named: Vec<String> = Vec::new();
        named.extend(uri.authority().map(|authority| authority.as_str().to_ascii_lowercase()));
        for host in headers.get_all(HOST) {
            let Ok(host) = host.to_str() else {
                return Err(Refused::new(StatusCode::BAD_REQUEST, "The header Host is not text."));
            };
            named.push(host.to_ascii_lowercase());
        }
        match named.iter().find(|host| !self.hosts.contains(host)) {
            None if named.is_empty() => {
                Err(Refused::new(StatusCode::BAD_REQUEST, "The header Host is missing."))
            }
            None => Ok(()),
            Some(host) => {
                let message = format!(
                    "The host `{}` is not served here; `--allow-host` adds one.",
                    host.escape_debug()
                );
                Err(Refused::new(StatusCode::FORBIDDEN, message))
            }
        }
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<Option<HeaderValue>, Refused> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(None) };
        let text = origin.to_str().unwrap_or_default();
        let known = self.origins.contains(&text.to_ascii_lowercase());
        if !known || origins.next().is_some() {
            let message = format!(
                "The origin `{}` may not use this server; `--allow-origin` adds one.",
                text.escape_debug()
            );
            return Err(Refused::new(StatusCode::FORBIDDEN, message));
        }
        Ok(Some(origin.clone()))
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let guess = given
            .and_then(|text| text.split_once(' '))
            .filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        match guess {
            Some((_, guess)) if token.is(guess.trim()) => Ok(()),
            Some(_) => {
                Err(Refused::new(StatusCode::UNAUTHORIZED, "The token is not the one of this server."))
            }
            None => Err(Refused::new(
                StatusCode::UNAUTHORIZED,
                "This server needs a token: send the header `Authorization: Bearer TOKEN`.",
            )),
        }
    }
}

/// A form of another page can be posted without asking, but never as JSON.
fn check_type(headers: &HeaderMap) -> Result<(), Refused> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let given = types.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = given.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/json") && types.next().is_none() {
        return Ok(());
    }
    Err(Refused::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "Send JSON, with the header `Content-Type: application/json`.",
    ))
}

/// Lets a page of `origin` read an answer.
pub(super) fn allow(origin: &HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("mcp-session-id, mcp-protocol-version"),
    );
    headers.append(VARY, HeaderValue::from_name(HeaderName::from_static("origin")));
}

/// The answer to a browser that asks first.
pub(super) fn preflight(origin: &HeaderValue) -> Answer {
    let mut response = Response::new(Full::new(Bytes::new()).boxed());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    allow(origin, headers);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    let names = "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name";
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(names));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(token: Option<&str>) -> Guard {
        let access =
            Access { hosts: vec!["Edit.example".into()], origins: vec!["https://app.example:8443".into()] };
        let token = token.map(|text| Token::new(text).unwrap());
        Guard::new("127.0.0.1:7777".parse().unwrap(), access, token).unwrap()
    }

    /// What a POST with these headers is answered; 200 if it goes on.
    fn status(guard: &Guard, headers: &[(&str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap());
        }
        match guard.check(&Method::POST, &Uri::from_static("/mcp"), &map) {
            Ok(_) => 200,
            Err(refused) => refused.status.as_u16(),
        }
    }

    const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

    #[test]
    fn hosts_are_compared_exactly() {
        let guard = guard(None);
        for host in ["127.0.0.1:7777", "localhost:7777", "LOCALHOST:7777", "[::1]:7777", "edit.example"] {
            assert_eq!(status(&guard, &[("host", host), JSON]), 200, "{host}");
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
            assert_eq!(status(&guard, &[("host", host), JSON]), 403, "{host}");
        }
        assert_eq!(status(&guard, &[JSON]), 400);
        assert_eq!(status(&guard, &[("host", "localhost:7777"), ("host", "evil.example"), JSON]), 403);
    }

    #[test]
    fn the_usual_port_is_left_out() {
        let guard = Guard::new("127.0.0.1:80".parse().unwrap(), Access::default(), None).unwrap();
        for host in ["localhost", "localhost:80", "127.0.0.1"] {
            assert_eq!(status(&guard, &[("host", host), JSON]), 200, "{host}");
        }
        assert_eq!(status(&guard, &[("host", "evil.example"), JSON]), 403);
    }

    #[test]
    fn origins_are_compared_exactly() {
        let guard = guard(None);
        let host = ("host", "localhost:7777");
        for origin in ["http://localhost:7777", "http://127.0.0.1:7777", "https://app.example:8443"] {
            assert_eq!(status(&guard, &[host, JSON, ("origin", origin)]), 200, "{origin}");
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
            assert_eq!(status(&guard, &[host, JSON, ("origin", origin)]), 403, "{origin}");
        }
    }

    #[test]
    fn only_json_is_taken() {
        let guard = guard(None);
        let host = ("host", "localhost:7777");
        for media in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "application/jsonp",
            "",
        ] {
            assert_eq!(status(&guard, &[host, ("content-type", media)]), 415, "{media}");
        }
        assert_eq!(status(&guard, &[host]), 415);
        assert_eq!(status(&guard, &[host, JSON, ("content-type", "text/plain")]), 415);
    }

    #[test]
    fn the_token_is_needed_where_there_is_one() {
        let guard = guard(Some("0123456789abcdef"));
        let host = ("host", "localhost:7777");
        assert_eq!(status(&guard, &[host, JSON, ("authorization", "Bearer 0123456789abcdef")]), 200);
        assert_eq!(status(&guard, &[host, JSON, ("authorization", "bearer 0123456789abcdef")]), 200);
        for given in ["Bearer 0123456789abcde", "Bearer", "Basic 0123456789abcdef", "0123456789abcdef"] {
            assert_eq!(status(&guard, &[host, JSON, ("authorization", given)]), 401, "{given}");
        }
        assert_eq!(status(&guard, &[host, JSON]), 401);
    }

    #[test]
    fn lists_are_checked_when_the_server_starts() {
        let address: SocketAddr = "127.0.0.1:1".parse().unwrap();
        for host in ["", "*", "http://x"] {
            let access = Access { hosts: vec![host.into()], origins: Vec::new() };
            assert!(Guard::new(address, access, None).is_err(), "{host}");
        }
        for origin in ["example.com", "*", "https://x/", "ftp://x", "null"] {
            let access = Access { hosts: Vec::new(), origins: vec![origin.into()] };
            assert!(Guard::new(address, access, None).is_err(), "{origin}");
        }
    }
}
