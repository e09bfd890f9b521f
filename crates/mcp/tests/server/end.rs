//! What is left of a conversation when the client has closed its end, or takes a call back.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::lines::{Lines, answer, call, meta, notification, request};
use crate::rig::{Rig, SOON, edit};

/// Everything that a server says until it hangs up, and the answers among it.
async fn rest(client: &mut Lines) -> (Vec<Value>, BTreeMap<i64, Value>) {
    let (mut said, mut answers) = (Vec::new(), BTreeMap::new());
    while let Some(message) = client.read().await {
        match message["id"].as_i64() {
            Some(id) if message["method"].is_null() => {
                assert!(answers.insert(id, message).is_none(), "{id} is answered twice");
            }
            _ => said.push(message),
        }
    }
    (said, answers)
}

fn failed(answer: &Value) -> bool {
    answer["result"]["isError"] != false
}

#[tokio::test]
async fn every_edit_that_was_sent_before_the_end_is_answered() {
    const EDITS: i64 = 300;
    let rig = Rig::with(&[("a.txt", "<0>\n")]);
    let mut client = Lines::start(rig.options("native"));
    client.initialize(json!({})).await.unwrap();
    client.send(&[call(-1, "read_file", json!({"path": "a.txt"}))]).await;
    client.read().await.unwrap();
    let held = rig.hold_calls();
    let next = |at: i64| call(at, "edit_file", edit("a.txt", &format!("<{at}>"), &format!("<{}>", at + 1)));
    let edits: Vec<Value> = (0..EDITS).map(next).collect();
    client.send(&edits).await;
    client.to.shutdown().await.unwrap();
    // Longer than rmcp waits.
    tokio::time::sleep(Duration::from_secs(6)).await;
    drop(held);
    let (_, answers) = rest(&mut client).await;
    let good = answers.values().filter(|answer| !failed(answer)).count();
    assert_eq!((answers.len(), good), (EDITS as usize, EDITS as usize));
    assert_eq!(rig.text("a.txt"), format!("<{EDITS}>\n"));
}

#[tokio::test]
async fn a_call_that_tells_how_far_it_is_is_answered_after_the_end() {
    let names: Vec<String> = (0..40).map(|at| format!("f{at}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "a\n")).collect();
    let rig = Rig::with(&files);
    let mut client = Lines::start(rig.options("native"));
    client.initialize(json!({})).await.unwrap();
    let one = |name: &String| format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n");
    let patch: String = names.iter().map(one).collect();
    let mut patch = call(1, "patch", json!({"patch": patch}));
    patch["params"]["_meta"] = json!({"progressToken": "p"});
    client.send(&[patch]).await;
    client.to.shutdown().await.unwrap();
    let (_, answers) = rest(&mut client).await;
    assert!(!failed(&answers[&1]), "{answers:?}");
    assert_eq!(rig.text("f39.txt"), "b\n");
}

#[tokio::test]
async fn those_who_listen_to_nothing_end_with_the_client() {
    let rig = Rig::new();
    let mut client = Lines::start(rig.options("native"));
    let mut listen = meta("2026-07-28");
    listen["notifications"] = json!({});
    client.send(&[request(1, "subscriptions/listen", listen)]).await;
    let acknowledged = client.read().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    client.to.shutdown().await.unwrap();
    let ended = tokio::time::timeout(SOON, rest(&mut client)).await.expect("it ends");
    assert!(ended.1.contains_key(&1), "{ended:?}");
}

#[tokio::test]
async fn an_id_that_was_taken_back_is_not_answered_for_another() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let mut client = Lines::start(rig.options("native"));
    client.initialize(json!({})).await.unwrap();
    client.send(&[call(1, "read_file", json!({"path": "a.txt"}))]).await;
    client.read().await.unwrap();
    let held = rig.hold_calls();
    let cancel = notification("notifications/cancelled", json!({"requestId": 7}));
    let edits = [
        call(7, "edit_file", edit("a.txt", "one", "two")),
        cancel,
        call(7, "edit_file", edit("b.txt", "b", "B")),
    ];
    client.send(&edits).await;
    let refused = client.read().await.unwrap();
    assert!(refused["error"]["message"].as_str().unwrap().contains("id of its own"), "{refused}");
    drop(held);
    // Once the first has ended the id is free, and what is answered is about the new request.
    let again = async {
        loop {
            client.send(&[call(7, "read_file", json!({"path": "b.txt"}))]).await;
            let answer = client.read().await.unwrap();
            if answer["error"].is_null() {
                return answer;
            }
        }
    };
    let answer = tokio::time::timeout(SOON, again).await.expect("the id is free again");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains('b'), "{answer}");
    assert_eq!((rig.text("a.txt"), rig.text("b.txt")), ("one\n".into(), "b\n".into()));
}

/// A client that names folders when it is asked, and three calls of it; the server has asked.
async fn three_calls(rig: &Rig) -> (Lines, Value) {
    let mut options = rig.options("native");
    options.roots = Default::default();
    let mut client = Lines::start(options);
    client.initialize(json!({"roots": {}})).await.unwrap();
    let calls: Vec<Value> = (1..4).map(|id| call(id, "read_file", json!({"path": "a.txt"}))).collect();
    client.send(&calls).await;
    let asked = client.read().await.unwrap();
    assert_eq!(asked["method"], "roots/list", "{asked}");
    (client, asked)
}

#[tokio::test]
async fn a_client_that_fails_to_name_its_folders_is_asked_once_for_all_that_wait() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let (mut client, asked) = three_calls(&rig).await;
    let error = json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "not now"}});
    client.send(&[error]).await;
    for _ in 0..3 {
        let told = client.read().await.unwrap();
        assert!(
            told["result"]["content"][0]["text"].as_str().unwrap_or_default().contains("not now"),
            "{told}"
        );
    }
    // The next call asks again.
    client.send(&[call(9, "read_file", json!({"path": "a.txt"}))]).await;
    assert_eq!(client.read().await.unwrap()["method"], "roots/list");
    client.to.shutdown().await.unwrap();
    let (_, answers) = rest(&mut client).await;
    assert!(failed(&answers[&9]), "{answers:?}");
}

#[tokio::test]
async fn a_call_that_waits_for_folders_can_be_taken_back() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let (mut client, _) = three_calls(&rig).await;
    client.send(&[notification("notifications/cancelled", json!({"requestId": 1}))]).await;
    // The next of them asks for itself.
    let asked = loop {
        let message = client.read().await.unwrap();
        if message["method"] == "roots/list" {
            break message;
        }
    };
    let roots = json!({"roots": [{"uri": format!("file://{}", rig.root().display())}]});
    client.send(&[answer(&asked, roots)]).await;
    client.to.shutdown().await.unwrap();
    let (_, answers) = rest(&mut client).await;
    assert_eq!(answers.keys().copied().collect::<Vec<_>>(), [2, 3]);
    assert!(answers.values().all(|answer| !failed(answer)), "{answers:?}");
}

#[tokio::test]
async fn what_goes_through_a_clipboard_goes_in_order() {
    let rig = Rig::new();
    let mut client = Lines::start(rig.options("phoenix"));
    client.initialize(json!({})).await.unwrap();
    for round in 0..20 {
        let (from, to) = (format!("a{round}.txt"), format!("b{round}.txt"));
        rig.put(&from, &format!("x\ntext {round}\ny\n"));
        rig.put(&to, "x\nplace\ny\n");
        let cut = json!({"operation": "replace", "oldText": format!("text {round}\n"), "toClipboard": "c"});
        let paste = json!({"operation": "replace", "oldText": "place\n", "fromClipboard": "c"});
        let calls = [
            call(2 * round, "patch", json!({"path": from, "patches": [cut]})),
            call(2 * round + 1, "patch", json!({"path": to, "patches": [paste]})),
        ];
        client.send(&calls).await;
        for _ in 0..2 {
            let answer = client.read().await.unwrap();
            assert!(!failed(&answer), "{answer}");
        }
        assert_eq!(rig.text(&to), format!("x\ntext {round}\ny\n"));
    }
}
