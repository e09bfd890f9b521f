//! What happens to calls in flight when the client closes its end or cancels them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::harness::{TIMEOUT, TestProject, edit, folder_uri};
use crate::raw_client::{RawClient, call, notification, request, response, stateless_meta};

/// The responses that the server sends until it hangs up, by request id.
async fn remaining_responses(client: &mut RawClient) -> BTreeMap<i64, Value> {
    let mut responses = BTreeMap::new();
    while let Some(message) = client.read().await {
        if let Some(id) = message["id"].as_i64().filter(|_| message["method"].is_null()) {
            assert!(responses.insert(id, message).is_none(), "{id} is answered twice");
        }
    }
    responses
}

fn is_error(response: &Value) -> bool {
    response["result"]["isError"] != false
}

#[tokio::test]
async fn edits_sent_before_the_input_closes_are_answered() {
    const EDITS: i64 = 300;
    let project = TestProject::with_files(&[("a.txt", "<0>\n")]);
    let mut client = RawClient::start(project.options("native"));
    client.initialize(json!({})).await.unwrap();
    client.send(&[call(-1, "read_file", json!({"path": "a.txt"}))]).await;
    client.read().await.unwrap();
    let locks = project.block_calls();
    let next = |at: i64| call(at, "edit_file", edit("a.txt", &format!("<{at}>"), &format!("<{}>", at + 1)));
    let edits: Vec<Value> = (0..EDITS).map(next).collect();
    client.send(&edits).await;
    client.writer.shutdown().await.unwrap();
    // Longer than rmcp would wait.
    tokio::time::sleep(Duration::from_secs(6)).await;
    drop(locks);
    let responses = remaining_responses(&mut client).await;
    let good = responses.values().filter(|response| !is_error(response)).count();
    assert_eq!((responses.len(), good), (EDITS as usize, EDITS as usize));
    assert_eq!(project.read("a.txt"), format!("<{EDITS}>\n"));
}

#[tokio::test]
async fn a_call_with_progress_is_answered_after_the_input_closes() {
    let names: Vec<String> = (0..40).map(|at| format!("f{at}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "a\n")).collect();
    let project = TestProject::with_files(&files);
    let mut client = RawClient::start(project.options("native"));
    client.initialize(json!({})).await.unwrap();
    let one = |name: &String| format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n");
    let patch: String = names.iter().map(one).collect();
    let mut patch = call(1, "patch", json!({"patch": patch}));
    patch["params"]["_meta"] = json!({"progressToken": "p"});
    client.send(&[patch]).await;
    client.writer.shutdown().await.unwrap();
    let responses = remaining_responses(&mut client).await;
    assert!(!is_error(&responses[&1]), "{responses:?}");
    assert_eq!(project.read("f39.txt"), "b\n");
}

#[tokio::test]
async fn a_call_that_waits_holds_up_nothing_although_those_before_were_short() {
    for block in [TestProject::block_calls, TestProject::block_edits] {
        let project = TestProject::with_files(&[("a.txt", "<0>\n")]);
        let mut client = RawClient::start(project.options("native"));
        client.initialize(json!({})).await.unwrap();
        let next =
            |at: i64| call(at, "edit_file", edit("a.txt", &format!("<{at}>"), &format!("<{}>", at + 1)));
        for at in 0..5 {
            client.send(&[next(at)]).await;
            client.read().await.unwrap();
        }
        let locks = block(&project);
        client.send(&[next(5), request(6, "ping", json!({}))]).await;
        let pong = tokio::time::timeout(TIMEOUT, client.read()).await.expect("the server reads on").unwrap();
        assert_eq!(pong["id"], 6, "{pong}");
        drop(locks);
        let edited = client.read().await.unwrap();
        assert!(edited["id"] == 5 && !is_error(&edited), "{edited}");
        assert_eq!(project.read("a.txt"), "<6>\n");
    }
}

#[tokio::test]
async fn a_search_for_a_text_that_is_not_there_does_not_count_twice() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut client = RawClient::start(project.options("native"));
    client.initialize(json!({})).await.unwrap();
    let edits = [("one", "two"), ("three", "four"), ("two", "one")];
    for (at, (old, new)) in (0i64..).zip(edits) {
        client.send(&[call(at, "edit_file", edit("a.txt", old, new))]).await;
        let answer = client.read().await.unwrap();
        assert_eq!(is_error(&answer), old == "three", "{answer}");
    }
    client.writer.shutdown().await.unwrap();
    remaining_responses(&mut client).await;
    let workspace = project.workspace("x");
    let count = || workspace.calls(&slipstitch::stats::CallSelection::default(), 10).unwrap().len();
    // The records are written when the server closes the workspace.
    for _ in 0..100 {
        if count() >= 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(count(), 3);
}

#[tokio::test]
async fn an_empty_listen_request_ends_with_the_client() {
    let project = TestProject::new();
    let mut client = RawClient::start(project.options("native"));
    let mut listen = stateless_meta("2026-07-28");
    listen["notifications"] = json!({});
    client.send(&[request(1, "subscriptions/listen", listen)]).await;
    let acknowledged = client.read().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    client.writer.shutdown().await.unwrap();
    let responses = tokio::time::timeout(TIMEOUT, remaining_responses(&mut client)).await.expect("it ends");
    assert!(responses.contains_key(&1), "{responses:?}");
}

#[tokio::test]
async fn the_id_of_a_cancelled_call_is_not_reused_too_early() {
    let project = TestProject::with_files(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let mut client = RawClient::start(project.options("native"));
    client.initialize(json!({})).await.unwrap();
    client.send(&[call(1, "read_file", json!({"path": "a.txt"}))]).await;
    client.read().await.unwrap();
    let locks = project.block_calls();
    let cancel = notification("notifications/cancelled", json!({"requestId": 7}));
    let edits = [
        call(7, "edit_file", edit("a.txt", "one", "two")),
        cancel,
        call(7, "edit_file", edit("b.txt", "b", "B")),
    ];
    client.send(&edits).await;
    let refused = client.read().await.unwrap();
    assert!(refused["error"]["message"].as_str().unwrap().contains("unique id"), "{refused}");
    drop(locks);
    // Once the first has ended, the id is free and the response is to the new request.
    let again = async {
        loop {
            client.send(&[call(7, "read_file", json!({"path": "b.txt"}))]).await;
            let response = client.read().await.unwrap();
            if response["error"].is_null() {
                return response;
            }
        }
    };
    let response = tokio::time::timeout(TIMEOUT, again).await.expect("the id is free again");
    assert!(response["result"]["content"][0]["text"].as_str().unwrap().contains('b'), "{response}");
    assert_eq!((project.read("a.txt"), project.read("b.txt")), ("one\n".into(), "b\n".into()));
}

/// A client that supports roots and has made three calls, and the server's request for its roots.
async fn three_calls_without_root(project: &TestProject) -> (RawClient, Value) {
    let mut options = project.options("native");
    options.roots = Default::default();
    let mut client = RawClient::start(options);
    client.initialize(json!({"roots": {}})).await.unwrap();
    let calls: Vec<Value> = (1..4).map(|id| call(id, "read_file", json!({"path": "a.txt"}))).collect();
    client.send(&calls).await;
    let roots_request = client.read().await.unwrap();
    assert_eq!(roots_request["method"], "roots/list", "{roots_request}");
    (client, roots_request)
}

#[tokio::test]
async fn waiting_calls_share_one_failed_request_for_roots() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let (mut client, roots_request) = three_calls_without_root(&project).await;
    let error =
        json!({"jsonrpc": "2.0", "id": roots_request["id"], "error": {"code": -1, "message": "not now"}});
    client.send(&[error]).await;
    for _ in 0..3 {
        let refused = client.read().await.unwrap();
        assert!(
            refused["result"]["content"][0]["text"].as_str().unwrap_or_default().contains("not now"),
            "{refused}"
        );
    }
    // The next call asks again.
    client.send(&[call(9, "read_file", json!({"path": "a.txt"}))]).await;
    assert_eq!(client.read().await.unwrap()["method"], "roots/list");
    client.writer.shutdown().await.unwrap();
    let responses = remaining_responses(&mut client).await;
    assert!(is_error(&responses[&9]), "{responses:?}");
}

#[tokio::test]
async fn a_call_waiting_for_roots_can_be_cancelled() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let (mut client, _) = three_calls_without_root(&project).await;
    client.send(&[notification("notifications/cancelled", json!({"requestId": 1}))]).await;
    // The next call sends its own request.
    let roots_request = loop {
        let message = client.read().await.unwrap();
        if message["method"] == "roots/list" {
            break message;
        }
    };
    let roots = json!({"roots": [{"uri": folder_uri(&project.root())}]});
    client.send(&[response(&roots_request, roots)]).await;
    client.writer.shutdown().await.unwrap();
    let responses = remaining_responses(&mut client).await;
    assert_eq!(responses.keys().copied().collect::<Vec<_>>(), [2, 3]);
    assert!(responses.values().all(|response| !is_error(response)), "{responses:?}");
}

#[tokio::test]
async fn calls_that_share_a_clipboard_run_in_order() {
    let project = TestProject::new();
    let mut client = RawClient::start(project.options("phoenix"));
    client.initialize(json!({})).await.unwrap();
    for round in 0..20 {
        let (from, to) = (format!("a{round}.txt"), format!("b{round}.txt"));
        project.write(&from, &format!("x\ntext {round}\ny\n"));
        project.write(&to, "x\nplace\ny\n");
        let cut = json!({"operation": "replace", "oldText": format!("text {round}\n"), "toClipboard": "c"});
        let paste = json!({"operation": "replace", "oldText": "place\n", "fromClipboard": "c"});
        let calls = [
            call(2 * round, "patch", json!({"path": from, "patches": [cut]})),
            call(2 * round + 1, "patch", json!({"path": to, "patches": [paste]})),
        ];
        client.send(&calls).await;
        for _ in 0..2 {
            let response = client.read().await.unwrap();
            assert!(!is_error(&response), "{response}");
        }
        assert_eq!(project.read(&to), format!("x\ntext {round}\ny\n"));
    }
}

/// A client that has sent many requests whose answers are long, and has read none of them.
async fn client_that_does_not_read(project: &TestProject, requests: &[Value]) -> (RawClient, usize) {
    let mut client = RawClient::start(project.options("native"));
    client.initialize(json!({})).await.unwrap();
    let mut sent = 0;
    for request in requests {
        let sending = client.send(std::slice::from_ref(request));
        if tokio::time::timeout(Duration::from_millis(500), sending).await.is_err() {
            break;
        }
        sent += 1;
    }
    (client, sent)
}

#[tokio::test]
async fn calls_wait_for_a_client_that_does_not_read() {
    const CALLS: usize = 600;
    let project = TestProject::with_files(&[("a.txt", &"x".repeat(2_000))]);
    let read = |id| call(id, "read_file", json!({"path": "a.txt"}));
    let calls: Vec<Value> = (0..CALLS).map(read).collect();
    let (mut client, sent) = client_that_does_not_read(&project, &calls).await;
    assert_eq!(sent, CALLS);
    let executed = || {
        let stats = project.workspace("x").stats(&Default::default()).unwrap();
        stats.iter().map(|group| group.tally.shown).sum::<u64>()
    };
    // Until nothing happens any more.
    let mut last = None;
    while last != Some(executed()) {
        last = Some(executed());
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(last.unwrap() < CALLS as u64 - 100, "{last:?} of {CALLS} calls were executed for nobody");
    client.writer.shutdown().await.unwrap();
    let responses = remaining_responses(&mut client).await;
    assert_eq!(responses.len(), CALLS, "nothing is lost once the client reads");
}

#[tokio::test]
async fn a_client_that_does_not_read_cannot_send_for_ever() {
    let project = TestProject::new();
    // Every answer repeats the id of its request.
    let long = "x".repeat(100_000);
    let requests: Vec<Value> =
        (0..1_000).map(|number| request(format!("{number}{long}"), "ping", json!({}))).collect();
    let (mut client, sent) = client_that_does_not_read(&project, &requests).await;
    assert!(sent < 1_000, "the server read everything");
    for number in 0..sent {
        let answer = client.read().await.expect("the connection is still open");
        assert!(answer["id"].as_str().unwrap().starts_with(&format!("{number}x")), "no answer is lost");
    }
}
