//! What a client may write, line by line: out of turn, all at once, or without ever listening.

use std::time::Duration;

use rmcp::ServiceExt;
use serde_json::{Value, json};
use slipstitch::core::ports::journal::{ProposalDecision, ProposalId};
use slipstitch::core::settings::Mode;
use slipstitch_mcp::{Options, Server};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::rig::{Rig, SOON, approve};

/// A client that writes lines as they are.
pub(crate) struct Lines {
    pub(crate) from: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) to: WriteHalf<DuplexStream>,
}

impl Lines {
    pub(crate) fn start(options: Options) -> Self {
        let server = Server::new(options).unwrap();
        let (here, there) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(there);
        let transport = server.transport(reader, writer);
        tokio::spawn(async move { server.serve(transport).await.unwrap().waiting().await });
        let (from, to) = tokio::io::split(here);
        Self { from: BufReader::new(from), to }
    }

    /// Writes messages in one go.
    pub(crate) async fn send(&mut self, messages: &[Value]) {
        let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
        self.to.write_all(lines.as_bytes()).await.unwrap();
    }

    /// The next message; nothing if the server has hung up.
    pub(crate) async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.from.read_line(&mut line);
        match tokio::time::timeout(SOON, read).await.expect("a line in time") {
            Ok(1..) => Some(serde_json::from_str(&line).unwrap()),
            Ok(0) | Err(_) => None,
        }
    }

    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Option<Value> {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "lines", "version": "1"}});
        self.send(&[request("init", "initialize", params)]).await;
        self.read().await
    }
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

pub(crate) fn answer(to: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": to["id"], "result": result})
}

pub(crate) fn meta(version: &str) -> Value {
    json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }})
}

#[tokio::test]
async fn requests_that_open_no_session_may_be_followed_by_anything() {
    let firsts = [
        request(1, "ping", json!({})),
        request(1, "initialize", json!({"protocolVersion": 7})),
        request(1, "nope", json!({})),
        call(1, "get_file_info", json!({"path": "a.txt"})),
        request(1, "server/discover", json!({})),
        request(1, "server/discover", meta("2026-07-28")),
        request(1, "tools/list", meta("2099-01-01")),
    ];
    let nexts = [
        notification("notifications/initialized", json!({})),
        notification("notifications/cancelled", json!({"requestId": 1})),
        notification("notifications/unheard-of", json!({})),
        json!({"jsonrpc": "2.0", "id": 9, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "x"}}),
    ];
    let rig = Rig::with(&[("a.txt", "one\n")]);
    for first in &firsts {
        for next in &nexts {
            let mut client = Lines::start(rig.options("native"));
            client.send(std::slice::from_ref(first)).await;
            assert_eq!(client.read().await.expect("an answer")["id"], 1, "{first}");
            client.send(std::slice::from_ref(next)).await;
            let opened = client.initialize(json!({})).await;
            let opened = opened.unwrap_or_else(|| panic!("hung up after {first} and {next}"));
            assert!(opened["result"]["serverInfo"].is_object(), "{first}, {next}: {opened}");
        }
    }
}

#[tokio::test]
async fn a_request_that_stands_for_itself_may_be_cancelled_when_it_is_the_first() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut client = Lines::start(rig.options("native"));
    let list = |id: u64| request(id, "tools/list", meta("2026-07-28"));
    let cancel = notification("notifications/cancelled", json!({"requestId": 1}));
    client.send(&[list(1), cancel, list(2)]).await;
    while client.read().await.expect("the server goes on")["id"] != 2 {}
}

/// A client with a form open about the change of `a.txt`, and the form.
async fn asked(rig: &Rig) -> (Lines, Value) {
    let mut client = Lines::start(rig.options("agent-q"));
    client.initialize(json!({"elicitation": {}})).await.unwrap();
    let change = json!({"path": "a.txt", "new_content": "two\n", "description": "d"});
    client.send(&[call(1, "propose_file_edit", change)]).await;
    let form = client.read().await.unwrap();
    assert_eq!(form["method"], "elicitation/create");
    (client, form)
}

async fn settled(rig: &Rig) -> ProposalDecision {
    let workspace = rig.workspace("x");
    let settled = async {
        loop {
            if let Some(settled) = workspace.proposal(ProposalId(1)).unwrap().expect("a proposal").decision {
                return settled;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, settled).await.expect("settled in time")
}

#[tokio::test]
async fn an_approval_that_comes_after_the_call_was_cancelled_writes_nothing() {
    for _ in 0..5 {
        let rig = Rig::with(&[("a.txt", "one\n")]);
        let (mut client, form) = asked(&rig).await;
        let cancel = notification("notifications/cancelled", json!({"requestId": 1}));
        client.send(&[cancel, answer(&form, approve())]).await;
        assert!(matches!(settled(&rig).await, ProposalDecision::Rejected { .. }));
        assert_eq!(rig.text("a.txt"), "one\n");
    }
}

#[tokio::test]
async fn a_wish_that_was_cancelled_is_not_granted_by_a_late_approval() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut client = Lines::start(Options { mode: Mode::Restricted, ..rig.options("phoenix") });
    client.initialize(json!({"elicitation": {}})).await.unwrap();
    client.send(&[call(1, "request_mode_upgrade", json!({"reason": "r"}))]).await;
    let form = client.read().await.unwrap();
    let cancel = notification("notifications/cancelled", json!({"requestId": 1}));
    client.send(&[cancel, answer(&form, approve())]).await;
    // Time in which a grant would be made.
    tokio::time::sleep(Duration::from_millis(300)).await;
    client.send(&[call(2, "patch", patch("a.txt"))]).await;
    let refused = loop {
        let read = client.read().await.unwrap();
        if read["id"] == 2 && read["method"].is_null() {
            break read;
        }
    };
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(rig.text("a.txt"), "one\n");
}

#[tokio::test]
async fn a_call_that_is_cancelled_takes_its_form_back() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let (mut client, form) = asked(&rig).await;
    client.send(&[notification("notifications/cancelled", json!({"requestId": 1}))]).await;
    let told = client.read().await.unwrap();
    assert_eq!(told["method"], "notifications/cancelled", "{told}");
    assert_eq!(told["params"]["requestId"], form["id"]);
}

#[tokio::test]
async fn a_session_is_initialized_once() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut client = Lines::start(rig.options("agent-q"));
    client.initialize(json!({"elicitation": {}})).await.unwrap();
    let refused = client.initialize(json!({})).await.unwrap();
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("initialized already"), "{refused}");
    // It stays as it was: the second one could not show forms.
    let change = json!({"path": "a.txt", "new_content": "two\n", "description": "d"});
    client.send(&[call(1, "propose_file_edit", change)]).await;
    assert_eq!(client.read().await.unwrap()["method"], "elicitation/create");
}

#[tokio::test]
async fn two_requests_in_flight_cannot_have_one_id() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let (mut client, form) = asked(&rig).await;
    let append = json!({"path": "b.txt", "content": "b\n"});
    client.send(&[call(1, "write_file", append)]).await;
    let refused = client.read().await.unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)), "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("id of its own"), "{refused}");
    assert!(!rig.root().join("b.txt").exists());
    // The first is answered as if nothing had been.
    client.send(&[answer(&form, approve())]).await;
    let done = client.read().await.unwrap();
    assert_eq!((&done["id"], &done["result"]["isError"]), (&json!(1), &json!(false)), "{done}");
    // Then the id is free; so is that of a call that was cancelled.
    let read = || call(1, "read_file", json!({"path": "a.txt"}));
    client.send(&[read()]).await;
    assert_eq!(client.read().await.unwrap()["result"]["isError"], false);
    let cancel = notification("notifications/cancelled", json!({"requestId": 1}));
    client.send(&[read(), cancel]).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    client.send(&[call(1, "read_file", json!({"path": "a.txt"}))]).await;
    assert!(client.read().await.unwrap()["error"].is_null());
}

fn patch(path: &str) -> Value {
    json!({"path": path, "patches": [{"operation": "replace", "oldText": "one", "newText": "two"}]})
}

#[tokio::test]
async fn a_second_approval_takes_nothing_back_from_the_first() {
    const WISHES: usize = 12;
    const EACH: usize = 8;
    let rig = Rig::new();
    let mut client = Lines::start(Options { mode: Mode::Restricted, ..rig.options("phoenix") });
    client.initialize(json!({"elicitation": {}})).await.unwrap();
    let mut forms = Vec::new();
    for wish in 0..WISHES {
        client.send(&[call(format!("w{wish}"), "request_mode_upgrade", json!({"reason": "r"}))]).await;
        forms.push(client.read().await.unwrap());
    }
    client.send(&[answer(&forms[0], approve())]).await;
    assert_eq!(client.read().await.unwrap()["result"]["isError"], false);
    for (at, form) in forms.iter().enumerate().skip(1) {
        let names: Vec<String> = (0..EACH).map(|n| format!("f{at}-{n}")).collect();
        let mut messages = vec![answer(form, approve())];
        for name in &names {
            rig.put(name, "one\n");
            messages.push(call(name.as_str(), "patch", patch(name)));
        }
        client.send(&messages).await;
        for _ in 0..=EACH {
            let done = client.read().await.unwrap();
            assert_eq!(done["result"]["isError"], false, "{done}");
        }
    }
}

#[tokio::test]
async fn refusals_for_a_client_that_does_not_listen_do_not_pile_up() {
    const MOST: usize = 8 << 20;
    let rig = Rig::new();
    let mut client = Lines::start(rig.options("native"));
    let garbage = b"{bad}\n".repeat(1_000);
    let mut taken = 0;
    let wrote = async {
        while taken < MOST {
            client.to.write_all(&garbage).await.unwrap();
            taken += garbage.len();
        }
    };
    let all = tokio::time::timeout(Duration::from_secs(2), wrote).await;
    assert!(all.is_err() && taken < MOST / 4, "{taken} bytes were taken although nobody reads the answers");
    // Once it listens, it is served.
    let (mut from, mut to) = (client.from, client.to);
    let listening = tokio::spawn(async move {
        let mut line = String::new();
        while !line.contains("\"ping\"") {
            line.clear();
            assert!(from.read_line(&mut line).await.unwrap() > 0, "the server goes on");
        }
    });
    let ping = format!("\n{}\n", request("ping", "ping", json!({})));
    to.write_all(ping.as_bytes()).await.unwrap();
    tokio::time::timeout(SOON, listening).await.expect("in time").unwrap();
}

#[tokio::test]
async fn a_client_that_listens_too_often_is_told_so() {
    const MOST: u64 = 32;
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut client = Lines::start(rig.options("native"));
    let listen = |id: u64| {
        let mut params = meta("2026-07-28");
        params["notifications"] = json!({"resourceSubscriptions": ["slipstitch://changes"]});
        request(id, "subscriptions/listen", params)
    };
    for id in 0..MOST {
        client.send(&[listen(id)]).await;
        let heard = client.read().await.unwrap();
        assert_eq!(heard["method"], "notifications/subscriptions/acknowledged", "{heard}");
    }
    client.send(&[listen(MOST)]).await;
    let refused = loop {
        let heard = client.read().await.unwrap();
        if heard["id"] == MOST {
            break heard;
        }
    };
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("32 subscriptions") && message.contains("end one of them"), "{message}");
    // One that ends makes room for another, which is told of changes.
    client.send(&[notification("notifications/cancelled", json!({"requestId": 0}))]).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    client.send(&[listen(100)]).await;
    for method in ["notifications/subscriptions/acknowledged", "notifications/resources/updated"] {
        loop {
            let heard = client.read().await.unwrap();
            assert!(heard["error"].is_null(), "{heard}");
            let told = &heard["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
            if heard["method"] == method && *told == 100 {
                break;
            }
        }
        rig.workspace("x").call("native", "edit_file", crate::rig::edit("a.txt", "one", "two"));
    }
}
