//! A server over HTTP, with clients that send raw requests.

use std::net::SocketAddr;
use std::time::Duration;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use slipstitch_mcp::{CancellationToken, HttpOptions, ServeError, serve_http_until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::harness::{Client, Era, TIMEOUT, TestProject, TestUser};
use crate::raw_client::{call, initialize_request, request, stateless_meta};

/// A running server; it stops with the test at the latest.
pub(crate) struct HttpServer {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) running: JoinHandle<Result<(), ServeError>>,
}

impl HttpServer {
    pub(crate) async fn start(
        project: &TestProject,
        dialect: &str,
        configure: impl FnOnce(&mut HttpOptions),
    ) -> Self {
        let mut http = HttpOptions::new("127.0.0.1:0".parse().unwrap());
        configure(&mut http);
        let (sender, address) = oneshot::channel();
        let (options, stop) = (project.options(dialect), CancellationToken::new());
        let on_listening = move |address| sender.send(address).unwrap();
        let running = tokio::spawn(serve_http_until(options, http, on_listening, stop.clone()));
        Self { address: address.await.unwrap(), stop, running }
    }

    pub(crate) async fn client(&self, user: TestUser, era: Era, token: Option<&str>) -> Client {
        let mut config =
            StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", self.address));
        if let Some(token) = token {
            config = config.auth_header(token);
        }
        Client::connect_over(StreamableHttpClientTransport::from_config(config), user, era, String::new())
            .await
    }

    /// Sends bytes and reads the response until the server closes the connection or falls silent.
    pub(crate) async fn send_raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // The server may close the connection before all is sent.
        let _ = stream.write_all(bytes).await;
        let mut response = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(Ok(count @ 1..)) =
            tokio::time::timeout(Duration::from_millis(400), stream.read(&mut buffer)).await
        {
            response.extend_from_slice(&buffer[..count]);
        }
        let response = String::from_utf8_lossy(&response).into_owned();
        let status = response.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, response)
    }

    /// Sends a POST with these headers and the default ones that they do not replace.
    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let headers: Vec<_> = headers.iter().copied().chain([("Connection", "close")]).collect();
        self.send_raw(self.post_request(&headers, body).as_bytes()).await
    }

    /// Sends a POST whose response may stay open.
    pub(crate) async fn open(&self, headers: &[(&str, &str)], body: &str) -> OpenResponse {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(self.post_request(headers, body).as_bytes()).await.unwrap();
        OpenResponse { stream, text: String::new() }
    }

    /// Makes a call whose response may stay open. With the older protocol it belongs to `session` and asks for progress.
    pub(crate) async fn open_call(
        &self,
        era: Era,
        session: &str,
        id: u32,
        tool: &str,
        arguments: Value,
    ) -> OpenResponse {
        if era == Era::Stateless {
            let headers = stateless_headers("tools/call", tool);
            return self.open(&headers, &stateless_call(id, tool, arguments)).await;
        }
        let mut call = call(id, tool, arguments);
        call["params"]["_meta"] = json!({"progressToken": id});
        self.open(&[("Mcp-Session-Id", session)], &call.to_string()).await
    }

    fn post_request(&self, headers: &[(&str, &str)], body: &str) -> String {
        let host = self.address.to_string();
        let defaults = [
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let mut request = String::from("POST /mcp HTTP/1.1\r\n");
        let given = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        for (name, value) in defaults.iter().filter(|(name, _)| !given(name)).chain(headers) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        request
    }

    /// Starts a session of the older protocol whose client supports forms.
    pub(crate) async fn start_session(&self) -> String {
        let initialize = initialize_request(1, json!({"elicitation": {}})).to_string();
        let (_, response) = self.post(&[], &initialize).await;
        let session = session_id(&response);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        assert_eq!(self.post(&[("Mcp-Session-Id", &session)], &ready).await.0, 202);
        session
    }
}

/// A response that is still being received.
pub(crate) struct OpenResponse {
    stream: TcpStream,
    /// What has been received so far.
    text: String,
}

impl OpenResponse {
    /// Receives until `wanted` has arrived, and returns everything so far.
    pub(crate) async fn read_until(&mut self, wanted: &str) -> &str {
        let mut buffer = [0; 4096];
        while !self.text.contains(wanted) {
            let more = tokio::time::timeout(TIMEOUT, self.stream.read(&mut buffer)).await;
            let count = more.unwrap_or_else(|_| panic!("no `{wanted}` in {}", self.text)).unwrap();
            assert!(count > 0, "it ended without `{wanted}`: {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        &self.text
    }

    /// The first message from the server that has a method.
    pub(crate) async fn read_request(&mut self) -> Value {
        self.read_until("\"method\"").await;
        self.read_until("\n\n").await;
        let data = self.text.lines().filter_map(|line| line.strip_prefix("data: "));
        let mut messages = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        messages.find(|message| message["method"].is_string()).expect("a request")
    }
}

/// The session's id in the headers of a response.
pub(crate) fn session_id(response: &str) -> String {
    let id = response.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    id.expect("a session id").trim().to_owned()
}

/// A call of the stateless protocol.
pub(crate) fn stateless_call(id: u32, tool: &str, arguments: Value) -> String {
    let mut params = stateless_meta("2026-07-28");
    params["name"] = tool.into();
    params["arguments"] = arguments;
    request(id, "tools/call", params).to_string()
}

/// The headers of a request of the stateless protocol.
pub(crate) fn stateless_headers<'a>(method: &'a str, tool: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    headers.extend((!tool.is_empty()).then_some(("Mcp-Name", tool)));
    headers
}
