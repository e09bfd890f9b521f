//! The server over HTTP on this machine: rmcp clients in both eras, and requests that should not get through.

use std::net::SocketAddr;

use crate::rig::{Client, ERAS, Era, Person, Rig, SOON, approve, edit, failed, text};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use slipstitch_mcp::{Access, CancellationToken, HttpOptions, ServeError, Token, serve_http_until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const TOKEN: &str = "0123456789abcdef-token";

/// A server that stops when it is told to, or with the test.
struct Server {
    address: SocketAddr,
    stop: CancellationToken,
    running: JoinHandle<Result<(), ServeError>>,
}

impl Server {
    async fn start(rig: &Rig, dialect: &str, change: impl FnOnce(&mut HttpOptions)) -> Self {
        let mut http = HttpOptions::new("127.0.0.1:0".parse().unwrap());
        change(&mut http);
        let (listening, at) = oneshot::channel();
        let (options, stop) = (rig.options(dialect), CancellationToken::new());
        let stopped = stop.clone();
        let told = move |address| listening.send(address).unwrap();
        let running = tokio::spawn(serve_http_until(options, http, told, stopped));
        Self { address: at.await.unwrap(), stop, running }
    }

    async fn client(&self, person: Person, era: Era, token: Option<&str>) -> Client {
        let mut config =
            StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", self.address));
        if let Some(token) = token {
            config = config.auth_header(token);
        }
        Client::over(StreamableHttpClientTransport::from_config(config), person, era, String::new()).await
    }

    /// Sends bytes and reads the answer, as far as it is there when the server closes or falls silent.
    async fn raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that has seen enough may close before all is sent.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(Ok(count @ 1..)) =
            tokio::time::timeout(std::time::Duration::from_millis(400), stream.read(&mut buffer)).await
        {
            answer.extend_from_slice(&buffer[..count]);
        }
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    /// A POST with these headers besides the usual ones; one that is given replaces the usual.
    async fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let headers: Vec<_> = headers.iter().copied().chain([("Connection", "close")]).collect();
        self.raw(self.message(&headers, body).as_bytes()).await
    }

    /// The same where the answer may stay open.
    async fn open(&self, headers: &[(&str, &str)], body: &str) -> Open {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(self.message(headers, body).as_bytes()).await.unwrap();
        Open { stream, read: String::new() }
    }

    fn message(&self, headers: &[(&str, &str)], body: &str) -> String {
        let host = self.address.to_string();
        let usual = [
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let mut message = String::from("POST /mcp HTTP/1.1\r\n");
        let given = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        for (name, value) in usual.iter().filter(|(name, _)| !given(name)).chain(headers) {
            message.push_str(&format!("{name}: {value}\r\n"));
        }
        message.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        message
    }

    /// A session of the older protocol whose client shows forms.
    async fn session(&self) -> String {
        let mut hello: Value = serde_json::from_str(&initialize()).unwrap();
        hello["params"]["capabilities"]["elicitation"] = json!({});
        let (_, answer) = self.post(&[], &hello.to_string()).await;
        let session = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session = session.expect("a session").trim().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        assert_eq!(self.post(&[("Mcp-Session-Id", &session)], &ready).await.0, 202);
        session
    }
}

/// An answer that is being read.
struct Open {
    stream: TcpStream,
    read: String,
}

impl Open {
    /// Reads until a text has come, and answers with everything so far.
    async fn until(&mut self, wanted: &str) -> &str {
        let mut buffer = [0; 4096];
        while !self.read.contains(wanted) {
            let more = tokio::time::timeout(SOON, self.stream.read(&mut buffer)).await;
            let count = more.unwrap_or_else(|_| panic!("no `{wanted}` in {}", self.read)).unwrap();
            assert!(count > 0, "it ended without `{wanted}`: {}", self.read);
            self.read.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        &self.read
    }

    /// The first message of the server that has a method.
    async fn request(&mut self) -> Value {
        self.until("\"method\"").await;
        self.until("\n\n").await;
        let data = self.read.lines().filter_map(|line| line.strip_prefix("data: "));
        let mut messages = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        messages.find(|message| message["method"].is_string()).expect("a request")
    }
}

fn initialize() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"},
    }})
    .to_string()
}

/// A whole call of the stateless era.
fn stateless(id: u32, tool: &str, arguments: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }})
    .to_string()
}

#[tokio::test]
async fn clients_of_both_eras_edit_and_are_asked() {
    for era in ERAS {
        let rig = Rig::with(&[("a.txt", "one\n")]);
        let server = Server::start(&rig, "agent-q", |_| {}).await;
        let mut client = server.client(Person::default(), era, None).await;
        assert_eq!(client.service.list_all_tools().await.unwrap().len(), 6);
        let done =
            client.call("edit_file", json!({"path": "a.txt", "old_str": "one", "new_str": "two"})).await;
        assert!(!failed(&done), "{}", text(&done));
        client.say(approve());
        let call = json!({"path": "a.txt", "new_content": "three\n", "description": "d"});
        let done = client.call("propose_file_edit", call).await;
        assert!(!failed(&done), "{era:?}: {}", text(&done));
        assert!(client.question().await.contains("+three"));
        assert_eq!(rig.text("a.txt"), "three\n");
        let log = rig.workspace("x").log(&Default::default()).unwrap();
        assert_eq!(log[0].origin.agent.as_deref(), Some("rig"));
        assert_eq!(log[0].origin.session, log[1].origin.session, "one client, one session: {era:?}");
        client.service.cancel().await.unwrap();
        server.stop.cancel();
        tokio::time::timeout(SOON, server.running).await.unwrap().unwrap().unwrap();
    }
}

#[tokio::test]
async fn clients_have_sessions_of_their_own() {
    let rig = Rig::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let server = Server::start(&rig, "native", |_| {}).await;
    let one = server.client(Person::default(), Era::Handshake, None).await;
    let two = server.client(Person::default(), Era::Handshake, None).await;
    one.call("edit_file", edit("a.txt", "a", "A")).await;
    two.call("edit_file", edit("b.txt", "b", "B")).await;
    assert!(!failed(&one.call("undo_edit", json!({})).await));
    assert_eq!((rig.text("a.txt"), rig.text("b.txt")), ("a\n".into(), "B\n".into()));
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_forbidden() {
    let rig = Rig::new();
    let access = Access { hosts: vec!["edit.example".into()], origins: vec!["https://app.example".into()] };
    let server = Server::start(&rig, "native", |http| http.access = access).await;
    let port = server.address.port();
    for (headers, status) in [
        (vec![], 200),
        (vec![("Host", format!("localhost:{port}"))], 200),
        (vec![("Host", "edit.example".to_owned())], 200),
        (vec![("Origin", format!("http://localhost:{port}"))], 200),
        (vec![("Origin", "https://app.example".to_owned())], 200),
        // A name that was made to point to this machine.
        (vec![("Host", format!("rebound.example:{port}"))], 403),
        (vec![("Host", "localhost".to_owned())], 403),
        (vec![("Origin", "https://evil.example".to_owned())], 403),
        (vec![("Origin", "null".to_owned())], 403),
        (vec![("Origin", "http://app.example".to_owned())], 403),
    ] {
        let given: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (found, answer) = server.post(&given, &initialize()).await;
        assert_eq!(found, status, "{headers:?}: {answer}");
    }
}

#[tokio::test]
async fn a_form_of_another_page_writes_nothing() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let server = Server::start(&rig, "native", |_| {}).await;
    let call = stateless(1, "edit_file", &edit("a.txt", "one", "two"));
    let era = ("MCP-Protocol-Version", "2026-07-28");
    let (method, name) = (("Mcp-Method", "tools/call"), ("Mcp-Name", "edit_file"));
    for media in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
    ] {
        let (status, answer) = server.post(&[("Content-Type", media), era, method, name], &call).await;
        assert_eq!(status, 415, "{media}: {answer}");
    }
    assert_eq!(rig.text("a.txt"), "one\n");
    let (status, answer) = server.post(&[era, method, name], &call).await;
    assert_eq!((status, rig.text("a.txt").as_str()), (200, "two\n"), "the same as JSON works: {answer}");
}

#[tokio::test]
async fn a_token_is_needed_where_there_is_one() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let server = Server::start(&rig, "native", |http| http.token = Some(Token::new(TOKEN).unwrap())).await;
    for headers in
        [vec![], vec![("Authorization", "Bearer wrong-wrong-wrong")], vec![("Authorization", TOKEN)]]
    {
        let (status, answer) = server.post(&headers, &initialize()).await;
        assert_eq!(status, 401, "{headers:?}");
        assert!(answer.to_ascii_lowercase().contains("www-authenticate: bearer"), "{answer}");
    }
    let client = server.client(Person::default(), Era::Handshake, Some(TOKEN)).await;
    assert!(!failed(&client.call("edit_file", edit("a.txt", "one", "two")).await));
}

#[tokio::test]
async fn other_machines_need_a_token() {
    let rig = Rig::new();
    let http = HttpOptions::new("0.0.0.0:0".parse().unwrap());
    let told = |address| panic!("it listens on {address}");
    let error =
        serve_http_until(rig.options("native"), http, told, CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, ServeError::Unprotected(_)) && error.hint().contains("--token-file"), "{error}");
}

#[tokio::test]
async fn long_bodies_are_refused() {
    let rig = Rig::new();
    let server = Server::start(&rig, "native", |http| http.max_body = 10_000).await;
    let long = format!("{{\"x\": \"{}\"}}", "x".repeat(20_000));
    assert_eq!(server.post(&[], &long).await.0, 413);
    // Without saying how long it is.
    let chunk = format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}",
        server.address
    );
    assert_eq!(server.raw(head.as_bytes()).await.0, 413);
    assert_eq!(server.post(&[], &initialize()).await.0, 200, "the server is alive");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let rig = Rig::new();
    let soon = std::time::Duration::from_millis(200);
    let server = Server::start(&rig, "native", |http| http.body_within = soon).await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: 500\r\n\r\n{{\"json",
        server.address
    );
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    // To the end: the connection is closed, so that it is free for others.
    let read = tokio::time::timeout(SOON, stream.read_to_string(&mut answer)).await;
    read.expect("an end in time").unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("send the request again"), "{answer}");
    assert_eq!(server.post(&[], &initialize()).await.0, 200, "the server is alive");
}

#[tokio::test]
async fn the_session_that_was_unused_for_longest_makes_room() {
    let rig = Rig::new();
    let server = Server::start(&rig, "native", |http| http.max_sessions = 3).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let make = async || {
        let (status, answer) = server.post(&[], &initialize()).await;
        assert_eq!(status, 200, "{answer}");
        let line = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        line.expect("a session").trim().to_owned()
    };
    let status = async |session: &str| server.post(&[("Mcp-Session-Id", session)], &list).await.0;
    let (first, second, third) = (make().await, make().await, make().await);
    // Unused for longest, but someone listens.
    let listen = format!(
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {first}\r\n\r\n",
        server.address
    );
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(listen.as_bytes()).await.unwrap();
    assert!(stream.read(&mut [0; 12]).await.unwrap() > 0);
    assert_eq!(status(&second).await, 200);
    let fourth = make().await;
    assert_eq!(status(&third).await, 404, "it made room");
    for session in [&first, &second, &fourth] {
        assert_eq!(status(session).await, 200, "the others are there");
    }
}

#[tokio::test]
async fn sessions_are_made_by_the_server_only() {
    let rig = Rig::new();
    let server = Server::start(&rig, "native", |_| {}).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let chosen = ("Mcp-Session-Id", "11111111-1111-1111-1111-111111111111");
    assert_eq!(server.post(&[chosen], &list).await.0, 404, "nobody has that session");
    let (status, answer) = server.post(&[chosen], &initialize()).await;
    // Naming a session when one is asked for does not make it.
    assert!(status == 404 || !answer.contains(chosen.1), "{answer}");
    assert_eq!(server.post(&[chosen], &list).await.0, 404);
    let (_, first) = server.post(&[], &initialize()).await;
    let (_, second) = server.post(&[], &initialize()).await;
    let id = |answer: &str| {
        let line = answer
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"))
            .expect("an id");
        line.split_once(':').unwrap().1.trim().to_owned()
    };
    assert_ne!(id(&first), id(&second));
    assert!(id(&first).len() >= 32, "too long to guess: {}", id(&first));
}

#[tokio::test]
async fn what_is_no_request_is_answered_and_harms_nothing() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let server = Server::start(&rig, "native", |_| {}).await;
    let host = server.address;
    for (bytes, least) in [
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), 404),
        (format!("PUT /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n"), 405),
        (format!("GET /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n"), 400),
        ("POST /mcp HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("nonsense\r\n\r\n".to_owned(), 400),
    ] {
        let (status, answer) = server.raw(bytes.as_bytes()).await;
        assert!((least..500).contains(&status), "{bytes}: {answer}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in ["", "{", "null", "[]", "\"x\"", "{\"jsonrpc\": \"1.0\"}", deep.as_str()] {
        let (status, answer) = server.post(&[], body).await;
        assert!((400..500).contains(&status), "{:.40}: {answer}", body);
    }
    assert_eq!(server.post(&[], &initialize()).await.0, 200);
    assert_eq!(rig.text("a.txt"), "one\n");
}

#[tokio::test]
async fn pages_that_are_allowed_can_ask_first_and_read_the_answer() {
    let rig = Rig::new();
    let access = Access { hosts: Vec::new(), origins: vec!["https://app.example".into()] };
    let server = Server::start(&rig, "native", |http| http.access = access).await;
    let ask = |origin: &str| {
        format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\r\n",
            server.address
        )
    };
    let (status, answer) = server.raw(ask("https://app.example").as_bytes()).await;
    assert_eq!(status, 204);
    assert!(answer.contains("access-control-allow-origin: https://app.example"), "{answer}");
    assert_eq!(server.raw(ask("https://evil.example").as_bytes()).await.0, 403);
    let (_, answer) = server.post(&[("Origin", "https://app.example")], &initialize()).await;
    assert!(answer.contains("access-control-allow-origin: https://app.example"), "{answer}");
}

/// The headers of a request of the stateless era.
fn modern<'a>(method: &'a str, tool: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    headers.extend((!tool.is_empty()).then_some(("Mcp-Name", tool)));
    headers
}

#[tokio::test]
async fn those_who_listen_leave_connections_for_others() {
    const MOST: usize = 128;
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let server = Server::start(&rig, "native", |_| {}).await;
    let listen = async |name: &str| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
            "notifications": {"resourceSubscriptions": ["slipstitch://changes"]}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }});
        server.open(&modern("subscriptions/listen", ""), &body.to_string()).await
    };
    let mut listening = Vec::new();
    for n in 0..MOST {
        let mut open = listen(&format!("client {}", n / 20)).await;
        open.until("acknowledged").await;
        listening.push(open);
    }
    let mut one_more = listen("one more").await;
    let answer = one_more.until("128 subscriptions").await;
    assert!(answer.contains("-32600") && answer.contains("end one of them"), "{answer}");
    let call = stateless(1, "edit_file", &edit("a.txt", "one", "two"));
    assert_eq!(server.post(&modern("tools/call", "edit_file"), &call).await.0, 200);
    assert_eq!(rig.text("a.txt"), "two\n");
    // Whoever hangs up makes room.
    listening.clear();
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let mut one_more = listen("one more").await;
    one_more.until("acknowledged").await;
    rig.workspace("x").call("native", "edit_file", edit("a.txt", "two", "three"));
    one_more.until("resources/updated").await;
}

#[tokio::test]
async fn a_session_is_initialized_once() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let server = Server::start(&rig, "agent-q", |_| {}).await;
    let session = server.session().await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let (_, answer) = server.post(&headers, &initialize()).await;
    assert!(answer.contains("-32600") && answer.contains("initialized already"), "{answer}");
    // It stays as it was: the second one could not show forms.
    let mut call = server.open(&headers, &propose(2)).await;
    assert_eq!(call.request().await["method"], "elicitation/create");
}

/// A change that a person is asked about.
fn propose(id: u32) -> String {
    let change = json!({"path": "a.txt", "new_content": "two\n", "description": "d"});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "propose_file_edit", "arguments": change}})
    .to_string()
}

#[tokio::test]
async fn two_requests_of_one_session_cannot_have_one_id() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let server = Server::start(&rig, "agent-q", |_| {}).await;
    let session = server.session().await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let mut first = server.open(&headers, &propose(5)).await;
    let form = first.request().await;
    let list = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}).to_string();
    let (status, answer) = server.post(&headers, &list).await;
    assert_eq!(status, 400, "{answer}");
    assert!(answer.contains("-32600") && answer.contains("id of its own"), "{answer}");
    let agreed = json!({"jsonrpc": "2.0", "id": form["id"], "result": approve()}).to_string();
    assert_eq!(server.post(&headers, &agreed).await.0, 202);
    let answer = first.until("\"id\":5").await;
    assert!(answer.contains("Edit applied"), "{answer}");
    assert_eq!(server.post(&headers, &list).await.0, 200, "it is free again");
}

/// How a client lets a call go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LetGo {
    /// It says so, in the older protocol.
    Cancels,
    /// It closes the answer, in the older protocol: only the connection is gone.
    HangsUpOlder,
    /// The same in the newer one, where that is how calls are cancelled.
    HangsUp,
    Not,
}

/// Makes an edit of `a.txt` that is let go before it is written; answers with what the file has then, and how many changes
/// there were.
async fn let_go(how: LetGo) -> (String, usize) {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let server = Server::start(&rig, "native", |_| {}).await;
    let session = server.session().await;
    let older = how != LetGo::HangsUp;
    let call = async |id: u32, tool: &'static str, arguments: Value| {
        let mut body: Value = serde_json::from_str(&stateless(id, tool, &arguments)).unwrap();
        if !older {
            return server.open(&modern("tools/call", tool), &body.to_string()).await;
        }
        body["params"].as_object_mut().unwrap().remove("_meta");
        server.open(&[("Mcp-Session-Id", &session)], &body.to_string()).await
    };
    // The session is known from now on.
    call(1, "read_file", json!({"path": "a.txt"})).await.until("one").await;
    let held = rig.hold_calls();
    let edits = call(2, "edit_file", edit("a.txt", "one", "two")).await;
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    match how {
        LetGo::Cancels => {
            let cancel =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
            assert_eq!(server.post(&[("Mcp-Session-Id", &session)], &cancel.to_string()).await.0, 202);
        }
        LetGo::HangsUp | LetGo::HangsUpOlder => drop(edits),
        LetGo::Not => {}
    }
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert_eq!(rig.text("a.txt"), "one\n", "it waits");
    drop(held);
    // The next call about the file comes after it.
    call(3, "read_file", json!({"path": "a.txt"})).await.until("\"id\":3").await;
    (rig.text("a.txt"), rig.workspace("x").log(&Default::default()).unwrap().len())
}

#[tokio::test]
async fn a_call_that_is_let_go_before_it_is_written_leaves_nothing() {
    let (nothing, made) = (("one\n".to_owned(), 0), ("two\n".to_owned(), 1));
    for (how, left) in [
        (LetGo::Cancels, &nothing),
        (LetGo::HangsUp, &nothing),
        // A connection that breaks takes nothing back in the older protocol.
        (LetGo::HangsUpOlder, &made),
        (LetGo::Not, &made),
    ] {
        assert_eq!(&let_go(how).await, left, "{how:?}");
    }
}

#[tokio::test]
async fn the_type_of_a_body_may_be_spelled_in_any_case() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let server = Server::start(&rig, "native", |_| {}).await;
    let body = stateless(1, "read_file", &json!({"path": "a.txt"}));
    for media in ["APPLICATION/JSON", "Application/Json; charset=utf-8"] {
        let mut headers = modern("tools/call", "read_file");
        headers.push(("Content-Type", media));
        let (status, answer) = server.post(&headers, &body).await;
        assert_eq!(status, 200, "{media}: {answer}");
        assert!(answer.contains("one"), "{answer}");
    }
}

#[tokio::test]
async fn a_server_that_stops_answers_and_counts_what_it_writes() {
    for era in ERAS {
        let rig = Rig::with(&[("a.txt", "0\n"), ("b.txt", "0\n")]);
        let server = Server::start(&rig, "native", |_| {}).await;
        let session = server.session().await;
        let call = async |id: u32, tool: &'static str, arguments: Value| {
            let mut body: Value = serde_json::from_str(&stateless(id, tool, &arguments)).unwrap();
            if era == Era::Stateless {
                return server.open(&modern("tools/call", tool), &body.to_string()).await;
            }
            body["params"].as_object_mut().unwrap().remove("_meta");
            body["params"]["_meta"] = json!({"progressToken": id});
            server.open(&[("Mcp-Session-Id", &session)], &body.to_string()).await
        };
        call(1, "read_file", json!({"path": "a.txt"})).await.until("\"id\":1").await;
        let held = rig.hold_calls();
        let mut begun = call(2, "edit_file", edit("a.txt", "0", "1")).await;
        let mut other = call(3, "edit_file", edit("b.txt", "0", "1")).await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        // This one waits for the first.
        let mut waits = call(4, "edit_file", edit("a.txt", "1", "2")).await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        server.stop.cancel();
        let left = waits.until("\"id\":4").await;
        assert!(left.contains("the server stops"), "{left}");
        drop(held);
        for (answer, id) in [(&mut begun, 2), (&mut other, 3)] {
            let answer = answer.until(&format!("\"id\":{id}")).await;
            assert!(answer.contains("\"isError\":false"), "{answer}");
        }
        tokio::time::timeout(SOON, server.running).await.expect("it stops").unwrap().unwrap();
        assert_eq!((rig.text("a.txt"), rig.text("b.txt")), ("1\n".into(), "1\n".into()));
        let counted = rig.workspace("x").stats(&Default::default()).unwrap();
        assert_eq!(counted.iter().map(|group| group.tally.applied).sum::<u64>(), 2, "{era:?}");
    }
}
