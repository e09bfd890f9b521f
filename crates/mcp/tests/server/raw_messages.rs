//! Messages that a client may send line by line: out of turn, all at once, or without reading the answers.

use std::time::Duration;

use serde_json::{Value, json};
use slipstitch::core::ports::journal::{ProposalDecision, ProposalId};
use slipstitch::core::settings::Mode;
use slipstitch_mcp::Options;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use crate::harness::{TIMEOUT, TestProject, agent_q_proposal, approve, edit, phoenix_patch};
use crate::raw_client::{RawClient, call, notification, request, response, stateless_meta};

#[tokio::test]
async fn any_message_may_follow_a_request_that_starts_no_session() {
    let firsts = [
        request(1, "ping", json!({})),
        request(1, "initialize", json!({"protocolVersion": 7})),
        request(1, "nope", json!({})),
        call(1, "get_file_info", json!({"path": "a.txt"})),
        request(1, "server/discover", json!({})),
        request(1, "server/discover", stateless_meta("2026-07-28")),
        request(1, "tools/list", stateless_meta("2099-01-01")),
    ];
    let nexts = [
        notification("notifications/initialized", json!({})),
        notification("notifications/cancelled", json!({"requestId": 1})),
        notification("notifications/unheard-of", json!({})),
        json!({"jsonrpc": "2.0", "id": 9, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "x"}}),
    ];
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    for first in &firsts {
        for next in &nexts {
            let mut client = RawClient::start(project.options("native"));
            client.send(std::slice::from_ref(first)).await;
            assert_eq!(client.read().await.expect("a response")["id"], 1, "{first}");
            client.send(std::slice::from_ref(next)).await;
            let initialized = client.initialize(json!({})).await;
            let initialized = initialized.unwrap_or_else(|| panic!("hung up after {first} and {next}"));
            assert!(initialized["result"]["serverInfo"].is_object(), "{first}, {next}: {initialized}");
        }
    }
}

#[tokio::test]
async fn the_first_stateless_request_can_be_cancelled() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut client = RawClient::start(project.options("native"));
    let list = |id: u64| request(id, "tools/list", stateless_meta("2026-07-28"));
    let cancel = notification("notifications/cancelled", json!({"requestId": 1}));
    client.send(&[list(1), cancel, list(2)]).await;
    while client.read().await.expect("the server keeps running")["id"] != 2 {}
}

/// A client that shows a form about a change to `a.txt`, and the form.
async fn client_with_form(project: &TestProject) -> (RawClient, Value) {
    let mut client = RawClient::start(project.options("agent-q"));
    client.initialize(json!({"elicitation": {}})).await.unwrap();
    client.send(&[call(1, "propose_file_edit", agent_q_proposal("a.txt", "two\n"))]).await;
    let form = client.read().await.unwrap();
    assert_eq!(form["method"], "elicitation/create");
    (client, form)
}

/// Waits until the proposal is accepted or rejected.
async fn wait_until_settled(project: &TestProject) -> ProposalDecision {
    let workspace = project.workspace("x");
    let settled = async {
        loop {
            if let Some(settled) = workspace.proposal(ProposalId(1)).unwrap().expect("a proposal").decision {
                return settled;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, settled).await.expect("settled in time")
}

#[tokio::test]
async fn an_approval_after_the_cancellation_writes_nothing() {
    for _ in 0..5 {
        let project = TestProject::with_files(&[("a.txt", "one\n")]);
        let (mut client, form) = client_with_form(&project).await;
        let cancel = notification("notifications/cancelled", json!({"requestId": 1}));
        client.send(&[cancel, response(&form, approve())]).await;
        assert!(matches!(wait_until_settled(&project).await, ProposalDecision::Rejected { .. }));
        assert_eq!(project.read("a.txt"), "one\n");
    }
}

#[tokio::test]
async fn a_late_approval_does_not_grant_write_access() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut client = RawClient::start(Options { mode: Mode::Restricted, ..project.options("phoenix") });
    client.initialize(json!({"elicitation": {}})).await.unwrap();
    client.send(&[call(1, "request_mode_upgrade", json!({"reason": "r"}))]).await;
    let form = client.read().await.unwrap();
    let cancel = notification("notifications/cancelled", json!({"requestId": 1}));
    client.send(&[cancel, response(&form, approve())]).await;
    // Enough time for write access to be granted.
    tokio::time::sleep(Duration::from_millis(300)).await;
    client.send(&[call(2, "patch", phoenix_patch("a.txt"))]).await;
    let refused = loop {
        let read = client.read().await.unwrap();
        if read["id"] == 2 && read["method"].is_null() {
            break read;
        }
    };
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(project.read("a.txt"), "one\n");
}

#[tokio::test]
async fn cancelling_a_call_withdraws_its_form() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let (mut client, form) = client_with_form(&project).await;
    client.send(&[notification("notifications/cancelled", json!({"requestId": 1}))]).await;
    let withdrawn = client.read().await.unwrap();
    assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], form["id"]);
}

#[tokio::test]
async fn a_session_can_be_initialized_only_once() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut client = RawClient::start(project.options("agent-q"));
    client.initialize(json!({"elicitation": {}})).await.unwrap();
    let refused = client.initialize(json!({})).await.unwrap();
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("already initialized"), "{refused}");
    // The capabilities of the first still hold: the second has no forms.
    client.send(&[call(1, "propose_file_edit", agent_q_proposal("a.txt", "two\n"))]).await;
    assert_eq!(client.read().await.unwrap()["method"], "elicitation/create");
}

#[tokio::test]
async fn requests_in_flight_need_unique_ids() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let (mut client, form) = client_with_form(&project).await;
    let append = json!({"path": "b.txt", "content": "b\n"});
    client.send(&[call(1, "write_file", append)]).await;
    let refused = client.read().await.unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)), "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("unique id"), "{refused}");
    assert!(!project.root().join("b.txt").exists());
    // The first is answered as usual.
    client.send(&[response(&form, approve())]).await;
    let done = client.read().await.unwrap();
    assert_eq!((&done["id"], &done["result"]["isError"]), (&json!(1), &json!(false)), "{done}");
    // Then the id is free again, also after a cancelled call.
    let read = || call(1, "read_file", json!({"path": "a.txt"}));
    client.send(&[read()]).await;
    assert_eq!(client.read().await.unwrap()["result"]["isError"], false);
    let cancel = notification("notifications/cancelled", json!({"requestId": 1}));
    client.send(&[read(), cancel]).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    client.send(&[call(1, "read_file", json!({"path": "a.txt"}))]).await;
    assert!(client.read().await.unwrap()["error"].is_null());
}

#[tokio::test]
async fn a_second_approval_does_not_revoke_the_first() {
    const REQUESTS: usize = 12;
    const PATCHES: usize = 8;
    let project = TestProject::new();
    let mut client = RawClient::start(Options { mode: Mode::Restricted, ..project.options("phoenix") });
    client.initialize(json!({"elicitation": {}})).await.unwrap();
    let mut forms = Vec::new();
    for n in 0..REQUESTS {
        client.send(&[call(format!("mode{n}"), "request_mode_upgrade", json!({"reason": "r"}))]).await;
        forms.push(client.read().await.unwrap());
    }
    client.send(&[response(&forms[0], approve())]).await;
    assert_eq!(client.read().await.unwrap()["result"]["isError"], false);
    for (at, form) in forms.iter().enumerate().skip(1) {
        let names: Vec<String> = (0..PATCHES).map(|n| format!("f{at}-{n}")).collect();
        let mut messages = vec![response(form, approve())];
        for name in &names {
            project.write(name, "one\n");
            messages.push(call(name.as_str(), "patch", phoenix_patch(name)));
        }
        client.send(&messages).await;
        for _ in 0..=PATCHES {
            let done = client.read().await.unwrap();
            assert_eq!(done["result"]["isError"], false, "{done}");
        }
    }
}

#[tokio::test]
async fn errors_for_a_client_that_does_not_read_are_bounded() {
    const MAX_BYTES: usize = 8 << 20;
    let project = TestProject::new();
    let mut client = RawClient::start(project.options("native"));
    let garbage = b"{bad}\n".repeat(1_000);
    let mut written = 0;
    let writing = async {
        while written < MAX_BYTES {
            client.writer.write_all(&garbage).await.unwrap();
            written += garbage.len();
        }
    };
    let all = tokio::time::timeout(Duration::from_secs(2), writing).await;
    assert!(
        all.is_err() && written < MAX_BYTES / 4,
        "{written} bytes were read although the client reads no answers"
    );
    // Once it reads, it is served.
    let (mut reader, mut writer) = (client.reader, client.writer);
    let reading = tokio::spawn(async move {
        let mut line = String::new();
        while !line.contains("\"ping\"") {
            line.clear();
            assert!(reader.read_line(&mut line).await.unwrap() > 0, "the server keeps running");
        }
    });
    let ping = format!("\n{}\n", request("ping", "ping", json!({})));
    writer.write_all(ping.as_bytes()).await.unwrap();
    tokio::time::timeout(TIMEOUT, reading).await.expect("in time").unwrap();
}

#[tokio::test]
async fn open_listen_requests_are_bounded_per_client() {
    const MAX_LISTENERS: u64 = 32;
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut client = RawClient::start(project.options("native"));
    let listen = |id: u64| {
        let mut params = stateless_meta("2026-07-28");
        params["notifications"] = json!({"resourceSubscriptions": ["slipstitch://changes"]});
        request(id, "subscriptions/listen", params)
    };
    for id in 0..MAX_LISTENERS {
        client.send(&[listen(id)]).await;
        let message = client.read().await.unwrap();
        assert_eq!(message["method"], "notifications/subscriptions/acknowledged", "{message}");
    }
    client.send(&[listen(MAX_LISTENERS)]).await;
    let refused = loop {
        let message = client.read().await.unwrap();
        if message["id"] == MAX_LISTENERS {
            break message;
        }
    };
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("32 subscriptions") && message.contains("end one of them"), "{message}");
    // One that ends makes room for another, which is notified of changes.
    client.send(&[notification("notifications/cancelled", json!({"requestId": 0}))]).await;
    let is_for = |message: &Value, method: &str, id: u64| {
        let subscription = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        message["method"] == method && *subscription == id
    };
    let (mut old, mut new) = ("one", "two");
    for id in 100.. {
        client.send(&[listen(id)]).await;
        while !is_for(&client.read().await.unwrap(), "notifications/subscriptions/acknowledged", id) {}
        project.workspace("x").call("native", "edit_file", edit("a.txt", old, new));
        std::mem::swap(&mut old, &mut new);
        loop {
            let message = client.read().await.unwrap();
            if is_for(&message, "notifications/resources/updated", id) {
                return;
            }
            if message["id"] == id {
                // Refused, although acknowledged: the cancelled request has not ended yet.
                assert_eq!(message["error"]["code"], -32600, "{message}");
                break;
            }
        }
        assert!(id < 1_000, "there is room for another");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
