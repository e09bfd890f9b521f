//! Calls that wait for another process's lock on the journal stop when they are cancelled. The server does not wait forever for
//! a client that does not read its answers.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;

use super::{Rig, ServerProcess, code, edit};

/// Much longer than stopping may take, and much shorter than the wait for the other process would be (10 s).
const SOON: Duration = Duration::from_secs(4);

/// Gives a call time to start waiting. If that takes longer, the call is stopped even earlier.
fn wait_for_the_call() {
    std::thread::sleep(Duration::from_millis(400));
}

/// A form that is answered sooner than a person could decides nothing.
fn read_the_form() {
    std::thread::sleep(Duration::from_millis(1_200));
}

/// A server that has edited a file once, and a process that has locked the journal since, against writers but not readers.
fn locked_journal(rig: &Rig, capabilities: serde_json::Value, dialect: &str) -> (ServerProcess, Connection) {
    rig.put("a.txt", "one\n");
    rig.put("b.txt", "b\n");
    let mut server = rig.serve(&["--dialect", dialect]);
    server.initialize(capabilities);
    let first = match dialect {
        "native" => server.call("edit_file", edit("b.txt", "b", "B")),
        _ => server.call("edit_file", json!({"path": "b.txt", "old_str": "b", "new_str": "B"})),
    };
    assert_eq!(code(&first), "applied");
    let other = Connection::open(rig.0.path().join("state/journal.db")).unwrap();
    (server, other)
}

fn lock(other: &Connection) {
    other.busy_timeout(Duration::from_secs(30)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
}

#[test]
fn a_call_that_waits_for_the_journal_can_be_cancelled() {
    let rig = Rig::new();
    let (mut server, other) = locked_journal(&rig, json!({}), "native");
    lock(&other);
    let request = json!({"name": "edit_file", "arguments": edit("a.txt", "one", "two")});
    let id = server.request("tools/call", request);
    wait_for_the_call();
    let start = Instant::now();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    server.send(cancel.to_string());
    // Calls about the same file take turns, so this one is answered only after the other has ended.
    let read = server.call("read_file", json!({"path": "a.txt"}));
    assert!(read["content"][0]["text"].as_str().unwrap().contains("one"), "{read}");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    drop(other);
    assert_eq!(code(&server.call("edit_file", edit("a.txt", "one", "three"))), "applied");
    assert_eq!(rig.text("a.txt"), "three\n");
}

#[test]
fn sigterm_is_honoured_while_a_call_waits_for_the_journal() {
    let rig = Rig::new();
    let (mut server, other) = locked_journal(&rig, json!({}), "native");
    lock(&other);
    server.request("tools/call", json!({"name": "edit_file", "arguments": edit("a.txt", "one", "two")}));
    wait_for_the_call();
    let start = Instant::now();
    server.terminate();
    assert!(server.wait_for_success());
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    assert_eq!(rig.text("a.txt"), "one\n");
    drop(other);
    let log = rig.command(&["log", "--all"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&log.stdout).contains("a.txt"), "nothing was recorded");
}

#[test]
fn an_approved_change_that_waits_for_the_journal_can_be_cancelled() {
    let rig = Rig::new();
    let (mut server, other) = locked_journal(&rig, json!({"elicitation": {}}), "agent-q");
    let propose = json!({"path": "a.txt", "new_content": "two\n", "description": "d"});
    let id = server.request("tools/call", json!({"name": "propose_file_edit", "arguments": propose}));
    let form = server.read();
    assert_eq!(form["method"], "elicitation/create");
    read_the_form();
    lock(&other);
    let approved = json!({"action": "accept", "content": {"decision": "approve"}});
    server.send(json!({"jsonrpc": "2.0", "id": form["id"], "result": approved}).to_string());
    wait_for_the_call();
    let start = Instant::now();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    server.send(cancel.to_string());
    let read = server.call("read_file", json!({"path": "a.txt"}));
    assert!(read["content"][0]["text"].as_str().unwrap().contains("one"), "{read}");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    drop(other);
    drop(server.to.take());
    assert!(server.wait_for_success());
    assert_eq!(rig.text("a.txt"), "one\n");
    let review = rig.command(&["review"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&review.stdout).contains("p1"), "nobody wants it any more");
}

#[test]
fn sigterm_is_honoured_while_an_approved_change_waits_for_the_journal() {
    let rig = Rig::new();
    let (mut server, other) = locked_journal(&rig, json!({"elicitation": {}}), "agent-q");
    let propose = json!({"path": "a.txt", "new_content": "two\n", "description": "d"});
    server.request("tools/call", json!({"name": "propose_file_edit", "arguments": propose}));
    let form = server.read();
    assert_eq!(form["method"], "elicitation/create");
    read_the_form();
    lock(&other);
    let approved = json!({"action": "accept", "content": {"decision": "approve"}});
    server.send(json!({"jsonrpc": "2.0", "id": form["id"], "result": approved}).to_string());
    wait_for_the_call();
    let start = Instant::now();
    server.terminate();
    assert!(server.wait_for_success());
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    assert_eq!(rig.text("a.txt"), "one\n");
    drop(other);
    let review = rig.command(&["review"]).output().unwrap();
    assert!(String::from_utf8_lossy(&review.stdout).contains("p1"), "it is still pending");
}

#[test]
fn sigterm_is_honoured_while_the_client_does_not_read() {
    let rig = Rig::new();
    // More than fits into a pipe.
    rig.put("a.txt", &"a line of text\n".repeat(20_000));
    let mut server = ServerProcess::start_unread(rig.command(&["mcp"]));
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    server.request("initialize", hello);
    server.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    server.request("tools/call", json!({"name": "read_file", "arguments": {"path": "a.txt"}}));
    wait_for_the_call();
    let start = Instant::now();
    server.terminate();
    assert!(server.wait_for_success());
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}
