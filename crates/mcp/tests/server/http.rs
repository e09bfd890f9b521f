//! The server over HTTP: rmcp clients in both eras, and raw requests that must be rejected.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slipstitch_mcp::{Access, CancellationToken, HttpOptions, ServeError, Token, serve_http_until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{
    ERAS, Era, TIMEOUT, TestProject, TestUser, agent_q_proposal, approve, edit, is_error, text,
};
use crate::http_server::{HttpServer, session_id, stateless_call, stateless_headers};
use crate::raw_client::{call, initialize_request, notification, request, response, stateless_meta};

const TOKEN: &str = "0123456789abcdef-token";

fn initialize() -> String {
    initialize_request(1, json!({})).to_string()
}

#[tokio::test]
async fn clients_of_both_eras_can_edit_and_approve() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "one\n")]);
        let server = HttpServer::start(&project, "agent-q", |_| {}).await;
        let mut client = server.client(TestUser::default(), era, None).await;
        assert_eq!(client.service.list_all_tools().await.unwrap().len(), 6);
        let done =
            client.call("edit_file", json!({"path": "a.txt", "old_str": "one", "new_str": "two"})).await;
        assert!(!is_error(&done), "{}", text(&done));
        client.answer_next_form(approve());
        let call = json!({"path": "a.txt", "new_content": "three\n", "description": "d"});
        let done = client.call("propose_file_edit", call).await;
        assert!(!is_error(&done), "{era:?}: {}", text(&done));
        assert!(client.next_form().await.contains("+three"));
        assert_eq!(project.read("a.txt"), "three\n");
        let log = project.workspace("x").log(&Default::default()).unwrap();
        assert_eq!(log[0].origin.agent.as_deref(), Some("test-client"));
        assert_eq!(log[0].origin.session, log[1].origin.session, "one client, one session: {era:?}");
        client.service.cancel().await.unwrap();
        server.stop.cancel();
        tokio::time::timeout(TIMEOUT, server.running).await.unwrap().unwrap().unwrap();
    }
}

#[tokio::test]
async fn clients_have_separate_sessions() {
    let project = TestProject::with_files(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let server = HttpServer::start(&project, "native", |_| {}).await;
    let one = server.client(TestUser::default(), Era::Handshake, None).await;
    let two = server.client(TestUser::default(), Era::Handshake, None).await;
    one.call("edit_file", edit("a.txt", "a", "A")).await;
    two.call("edit_file", edit("b.txt", "b", "B")).await;
    assert!(!is_error(&one.call("undo_edit", json!({})).await));
    assert_eq!((project.read("a.txt"), project.read("b.txt")), ("a\n".into(), "B\n".into()));
}

#[tokio::test]
async fn rejects_foreign_hosts_and_origins() {
    let project = TestProject::new();
    let access = Access { hosts: vec!["edit.example".into()], origins: vec!["https://app.example".into()] };
    let server = HttpServer::start(&project, "native", |http| http.access = access).await;
    let port = server.address.port();
    for (headers, status) in [
        (vec![], 200),
        (vec![("Host", format!("localhost:{port}"))], 200),
        (vec![("Host", "edit.example".to_owned())], 200),
        (vec![("Origin", format!("http://localhost:{port}"))], 200),
        (vec![("Origin", "https://app.example".to_owned())], 200),
        // A domain name that was pointed at this machine.
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
async fn a_form_posted_by_a_web_page_writes_nothing() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project, "native", |_| {}).await;
    let call = stateless_call(1, "edit_file", edit("a.txt", "one", "two"));
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
    assert_eq!(project.read("a.txt"), "one\n");
    let (status, answer) = server.post(&[era, method, name], &call).await;
    assert_eq!((status, project.read("a.txt").as_str()), (200, "two\n"), "the same as JSON works: {answer}");
}

#[tokio::test]
async fn requires_the_token_if_there_is_one() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let server =
        HttpServer::start(&project, "native", |http| http.token = Some(Token::new(TOKEN).unwrap())).await;
    for headers in
        [vec![], vec![("Authorization", "Bearer wrong-wrong-wrong")], vec![("Authorization", TOKEN)]]
    {
        let (status, answer) = server.post(&headers, &initialize()).await;
        assert_eq!(status, 401, "{headers:?}");
        assert!(answer.to_ascii_lowercase().contains("www-authenticate: bearer"), "{answer}");
    }
    let client = server.client(TestUser::default(), Era::Handshake, Some(TOKEN)).await;
    assert!(!is_error(&client.call("edit_file", edit("a.txt", "one", "two")).await));
}

#[tokio::test]
async fn requires_a_token_if_other_machines_can_connect() {
    let project = TestProject::new();
    let http = HttpOptions::new("0.0.0.0:0".parse().unwrap());
    let on_listening = |address| panic!("it listens on {address}");
    let served = serve_http_until(project.options("native"), http, on_listening, CancellationToken::new());
    let error = served.await.unwrap_err();
    assert!(matches!(error, ServeError::Unprotected(_)) && error.hint().contains("--no-token"), "{error}");
}

#[tokio::test]
async fn rejects_long_bodies() {
    let project = TestProject::new();
    let server = HttpServer::start(&project, "native", |http| http.max_body = 10_000).await;
    let long = format!("{{\"x\": \"{}\"}}", "x".repeat(20_000));
    assert_eq!(server.post(&[], &long).await.0, 413);
    // Without a declared length.
    let chunk = format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}",
        server.address
    );
    assert_eq!(server.send_raw(head.as_bytes()).await.0, 413);
    assert_eq!(server.post(&[], &initialize()).await.0, 200, "the server is alive");
}

#[tokio::test]
async fn does_not_wait_for_a_body_that_does_not_arrive() {
    let project = TestProject::new();
    let short = Duration::from_millis(200);
    let server = HttpServer::start(&project, "native", |http| http.body_timeout = short).await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: 500\r\n\r\n{{\"json",
        server.address
    );
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    // To the end: the connection must be closed, to be free for others.
    let read = tokio::time::timeout(TIMEOUT, stream.read_to_string(&mut answer)).await;
    read.expect("an end in time").unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("send it again"), "{answer}");
    assert_eq!(server.post(&[], &initialize()).await.0, 200, "the server is alive");
}

#[tokio::test]
async fn the_session_unused_for_longest_makes_room() {
    let project = TestProject::new();
    let server = HttpServer::start(&project, "native", |http| http.max_sessions = 3).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let start_session = async || {
        let (status, answer) = server.post(&[], &initialize()).await;
        assert_eq!(status, 200, "{answer}");
        session_id(&answer)
    };
    let status = async |session: &str| server.post(&[("Mcp-Session-Id", session)], &list).await.0;
    let (first, second, third) = (start_session().await, start_session().await, start_session().await);
    // The first is unused for longest, but has an open stream.
    let listen = format!(
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {first}\r\n\r\n",
        server.address
    );
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(listen.as_bytes()).await.unwrap();
    assert!(stream.read(&mut [0; 12]).await.unwrap() > 0);
    assert_eq!(status(&second).await, 200);
    let fourth = start_session().await;
    assert_eq!(status(&third).await, 404, "it made room");
    for session in [&first, &second, &fourth] {
        assert_eq!(status(session).await, 200, "the others are still there");
    }
}

#[tokio::test]
async fn more_sessions_than_the_limit_are_not_kept() {
    const LIMIT: usize = 8;
    let project = TestProject::new();
    let server = HttpServer::start(&project, "native", |http| http.max_sessions = LIMIT).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let mut sessions = Vec::new();
    for _ in 0..5 * LIMIT {
        let (status, answer) = server.post(&[], &initialize()).await;
        assert_eq!(status, 200, "{answer}");
        sessions.push(session_id(&answer));
    }
    let mut alive = 0;
    for session in &sessions {
        alive += usize::from(server.post(&[("Mcp-Session-Id", session)], &list).await.0 == 200);
    }
    assert_eq!(alive, LIMIT);
}

#[tokio::test]
async fn a_session_too_many_is_refused_if_all_are_in_use() {
    let project = TestProject::new();
    let server = HttpServer::start(&project, "native", |http| http.max_sessions = 1).await;
    let (_, answer) = server.post(&[], &initialize()).await;
    let listen = format!(
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {}\r\n\r\n",
        server.address,
        session_id(&answer)
    );
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(listen.as_bytes()).await.unwrap();
    assert!(stream.read(&mut [0; 12]).await.unwrap() > 0);
    let (status, answer) = server.post(&[], &initialize()).await;
    assert_eq!(status, 503, "{answer}");
    assert!(answer.contains("All 1 sessions are in use") && answer.contains("DELETE"), "{answer}");
}

#[tokio::test]
async fn only_the_server_chooses_session_ids() {
    let project = TestProject::new();
    let server = HttpServer::start(&project, "native", |_| {}).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let chosen = ("Mcp-Session-Id", "11111111-1111-1111-1111-111111111111");
    assert_eq!(server.post(&[chosen], &list).await.0, 404, "there is no such session");
    let (status, answer) = server.post(&[chosen], &initialize()).await;
    // Naming a session in `initialize` does not create it.
    assert!(status == 404 || !answer.contains(chosen.1), "{answer}");
    assert_eq!(server.post(&[chosen], &list).await.0, 404);
    let (_, first) = server.post(&[], &initialize()).await;
    let (_, second) = server.post(&[], &initialize()).await;
    assert_ne!(session_id(&first), session_id(&second));
    assert!(session_id(&first).len() >= 32, "too long to guess: {}", session_id(&first));
}

#[tokio::test]
async fn malformed_requests_get_an_error_and_do_no_harm() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project, "native", |_| {}).await;
    let host = server.address;
    for (bytes, min_status) in [
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), 404),
        (format!("PUT /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n"), 405),
        (format!("GET /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n"), 400),
        ("POST /mcp HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("nonsense\r\n\r\n".to_owned(), 400),
    ] {
        let (status, answer) = server.send_raw(bytes.as_bytes()).await;
        assert!((min_status..500).contains(&status), "{bytes}: {answer}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in ["", "{", "null", "[]", "\"x\"", "{\"jsonrpc\": \"1.0\"}", deep.as_str()] {
        let (status, answer) = server.post(&[], body).await;
        assert!((400..500).contains(&status), "{:.40}: {answer}", body);
    }
    assert_eq!(server.post(&[], &initialize()).await.0, 200);
    assert_eq!(project.read("a.txt"), "one\n");
}

#[tokio::test]
async fn allowed_origins_can_send_preflight_requests_and_read_responses() {
    let project = TestProject::new();
    let access = Access { hosts: Vec::new(), origins: vec!["https://app.example".into()] };
    let server = HttpServer::start(&project, "native", |http| http.access = access).await;
    let preflight = |origin: &str| {
        format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\r\n",
            server.address
        )
    };
    let (status, answer) = server.send_raw(preflight("https://app.example").as_bytes()).await;
    assert_eq!(status, 204);
    assert!(answer.contains("access-control-allow-origin: https://app.example"), "{answer}");
    assert_eq!(server.send_raw(preflight("https://evil.example").as_bytes()).await.0, 403);
    let (_, answer) = server.post(&[("Origin", "https://app.example")], &initialize()).await;
    assert!(answer.contains("access-control-allow-origin: https://app.example"), "{answer}");
}

#[tokio::test]
async fn open_listen_requests_leave_connections_for_others() {
    const MAX_LISTENERS: usize = 128;
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project, "native", |_| {}).await;
    let listen = async |name: &str| {
        let mut params = stateless_meta("2026-07-28");
        params["notifications"] = json!({"resourceSubscriptions": ["slipstitch://changes"]});
        params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = name.into();
        let body = request(1, "subscriptions/listen", params).to_string();
        server.open(&stateless_headers("subscriptions/listen", ""), &body).await
    };
    let mut listening = Vec::new();
    for n in 0..MAX_LISTENERS {
        let mut open = listen(&format!("client {}", n / 20)).await;
        open.read_until("acknowledged").await;
        listening.push(open);
    }
    let mut one_more = listen("one more").await;
    let answer = one_more.read_until("128 subscriptions").await;
    assert!(answer.contains("-32600") && answer.contains("end one of them"), "{answer}");
    let call = stateless_call(1, "edit_file", edit("a.txt", "one", "two"));
    assert_eq!(server.post(&stateless_headers("tools/call", "edit_file"), &call).await.0, 200);
    assert_eq!(project.read("a.txt"), "two\n");
    // Hanging up makes room.
    listening.clear();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut one_more = listen("one more").await;
    one_more.read_until("acknowledged").await;
    project.workspace("x").call("native", "edit_file", edit("a.txt", "two", "three"));
    one_more.read_until("resources/updated").await;
}

#[tokio::test]
async fn a_session_can_be_initialized_only_once() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project, "agent-q", |_| {}).await;
    let session = server.start_session().await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let (_, answer) = server.post(&headers, &initialize()).await;
    assert!(answer.contains("-32600") && answer.contains("already initialized"), "{answer}");
    // The capabilities of the first still hold: the second has no forms.
    let mut call = server.open(&headers, &proposal_call(2)).await;
    assert_eq!(call.read_request().await["method"], "elicitation/create");
}

/// A call that needs approval.
fn proposal_call(id: u32) -> String {
    call(id, "propose_file_edit", agent_q_proposal("a.txt", "two\n")).to_string()
}

#[tokio::test]
async fn requests_in_flight_need_unique_ids() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project, "agent-q", |_| {}).await;
    let session = server.start_session().await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let mut first = server.open(&headers, &proposal_call(5)).await;
    let form = first.read_request().await;
    let list = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}).to_string();
    let (status, answer) = server.post(&headers, &list).await;
    assert_eq!(status, 400, "{answer}");
    assert!(answer.contains("-32600") && answer.contains("unique id"), "{answer}");
    let approval = response(&form, approve()).to_string();
    assert_eq!(server.post(&headers, &approval).await.0, 202);
    let answer = first.read_until("\"id\":5").await;
    assert!(answer.contains("Edit applied"), "{answer}");
    assert_eq!(server.post(&headers, &list).await.0, 200, "the id is free again");
}

/// How a client gives up a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GiveUp {
    /// With `notifications/cancelled`, in the older protocol.
    Notification,
    /// By closing the connection, in the older protocol. That does not cancel the call.
    DisconnectHandshake,
    /// By closing the connection, in the stateless protocol. That cancels the call.
    DisconnectStateless,
    Never,
}

/// Edits `a.txt` but gives up the call before anything is written. Returns the file's content and the number of changes.
async fn edit_and_give_up(how: GiveUp) -> (String, usize) {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project, "native", |_| {}).await;
    let session = server.start_session().await;
    let era = if how == GiveUp::DisconnectStateless { Era::Stateless } else { Era::Handshake };
    let call = async |id: u32, tool: &'static str, arguments: Value| {
        server.open_call(era, &session, id, tool, arguments).await
    };
    // Calls can be blocked only once the session has made one.
    call(1, "read_file", json!({"path": "a.txt"})).await.read_until("one").await;
    let locks = project.block_calls();
    let editing = call(2, "edit_file", edit("a.txt", "one", "two")).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    match how {
        GiveUp::Notification => {
            let cancel = notification("notifications/cancelled", json!({"requestId": 2}));
            assert_eq!(server.post(&[("Mcp-Session-Id", &session)], &cancel.to_string()).await.0, 202);
        }
        GiveUp::DisconnectStateless | GiveUp::DisconnectHandshake => drop(editing),
        GiveUp::Never => {}
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(project.read("a.txt"), "one\n", "it waits");
    drop(locks);
    // The next call that touches the file runs after it.
    call(3, "read_file", json!({"path": "a.txt"})).await.read_until("\"id\":3").await;
    (project.read("a.txt"), project.workspace("x").log(&Default::default()).unwrap().len())
}

#[tokio::test]
async fn a_call_cancelled_before_the_commit_writes_nothing() {
    let (unchanged, changed) = (("one\n".to_owned(), 0), ("two\n".to_owned(), 1));
    for (how, expected) in [
        (GiveUp::Notification, &unchanged),
        (GiveUp::DisconnectStateless, &unchanged),
        (GiveUp::DisconnectHandshake, &changed),
        (GiveUp::Never, &changed),
    ] {
        assert_eq!(&edit_and_give_up(how).await, expected, "{how:?}");
    }
}

#[tokio::test]
async fn the_content_type_is_case_insensitive() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let server = HttpServer::start(&project, "native", |_| {}).await;
    let body = stateless_call(1, "read_file", json!({"path": "a.txt"}));
    for media in ["APPLICATION/JSON", "Application/Json; charset=utf-8"] {
        let mut headers = stateless_headers("tools/call", "read_file");
        headers.push(("Content-Type", media));
        let (status, answer) = server.post(&headers, &body).await;
        assert_eq!(status, 200, "{media}: {answer}");
        assert!(answer.contains("one"), "{answer}");
    }
}

#[tokio::test]
async fn a_stopping_server_answers_and_records_what_it_writes() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "0\n"), ("b.txt", "0\n")]);
        let server = HttpServer::start(&project, "native", |_| {}).await;
        let session = server.start_session().await;
        let call = async |id: u32, tool: &'static str, arguments: Value| {
            server.open_call(era, &session, id, tool, arguments).await
        };
        call(1, "read_file", json!({"path": "a.txt"})).await.read_until("\"id\":1").await;
        let locks = project.block_calls();
        let mut started = call(2, "edit_file", edit("a.txt", "0", "1")).await;
        let mut other = call(3, "edit_file", edit("b.txt", "0", "1")).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        // Waits for the first.
        let mut waiting = call(4, "edit_file", edit("a.txt", "1", "2")).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.stop.cancel();
        let refused = waiting.read_until("\"id\":4").await;
        assert!(refused.contains("the server is stopping"), "{refused}");
        drop(locks);
        for (answer, id) in [(&mut started, 2), (&mut other, 3)] {
            let answer = answer.read_until(&format!("\"id\":{id}")).await;
            assert!(answer.contains("\"isError\":false"), "{answer}");
        }
        tokio::time::timeout(TIMEOUT, server.running).await.expect("it stops").unwrap().unwrap();
        assert_eq!((project.read("a.txt"), project.read("b.txt")), ("1\n".into(), "1\n".into()));
        let stats = project.workspace("x").stats(&Default::default()).unwrap();
        assert_eq!(stats.iter().map(|group| group.tally.applied).sum::<u64>(), 2, "{era:?}");
    }
}

#[tokio::test]
async fn a_stopping_server_does_not_wait_for_half_a_request() {
    let project = TestProject::with_files(&[("a.txt", "0\n")]);
    for rest in ["", "Content-Length: 9\r\n\r\n{"] {
        let server = HttpServer::start(&project, "native", |_| {}).await;
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{rest}",
            server.address
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        let start = Instant::now();
        server.stop.cancel();
        tokio::time::timeout(TIMEOUT, server.running).await.expect("it stops").unwrap().unwrap();
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    }
}
