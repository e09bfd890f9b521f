//! Concurrent calls, the order of calls, cancelled calls, and progress.

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ProgressToken, RequestMetaObject};
use serde_json::json;
use slipstitch_mcp::{Options, RootSource};

use crate::harness::{
    Client, ClientEvent, ERAS, Era, TIMEOUT, TestProject, TestUser, agent_q_proposal, approve, edit,
    folder_uri, is_error, request, text,
};

fn append(path: &str, text: &str) -> serde_json::Value {
    json!({"path": path, "content": text, "mode": "append"})
}

#[tokio::test]
async fn edits_of_one_file_are_applied_in_the_order_of_arrival() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "")]);
        let client = project.connect("native", era).await;
        let service = &client.service;
        // All are sent before the first answer is awaited.
        let calls: Vec<_> = (0..60)
            .map(|n| {
                let peer = service.peer().clone();
                tokio::spawn(async move {
                    peer.call_tool_once(request("write_file", append("a.txt", &format!("{n}\n")))).await
                })
            })
            .collect();
        for call in calls {
            tokio::time::timeout(TIMEOUT, call).await.unwrap().unwrap().unwrap();
        }
        let expected: String = (0..60).map(|n| format!("{n}\n")).collect();
        assert_eq!(project.read("a.txt"), expected, "{era:?}");
    }
}

/// Asks for approval of a change to `asked`. Meanwhile an edit of the same file, named `same`, must wait, and an edit of
/// the file `other` must not.
async fn assert_only_the_same_file_waits(client: &mut Client, asked: &str, same: &str, other: (&str, &str)) {
    let first = start(client, "propose_file_edit", agent_q_proposal(asked, "1\n"));
    client.next_form().await;
    let second = start(client, "edit_file", json!({"path": same, "old_str": "1", "new_str": "2"}));
    let (path, old) = other;
    let other = client.call("edit_file", json!({"path": path, "old_str": old, "new_str": "X"})).await;
    assert!(!is_error(&other), "{}", text(&other));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!second.is_finished(), "it edits the result of the first");
    client.answer_next_form(approve());
    first.await.unwrap();
    second.await.unwrap();
}

#[tokio::test]
async fn a_pending_approval_blocks_only_the_same_file() {
    let project = TestProject::with_files(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let mut client = project.connect("agent-q", Era::Handshake).await;
    assert_only_the_same_file_waits(&mut client, "a.txt", "./a.txt", ("b.txt", "b")).await;
    assert_eq!((project.read("a.txt"), project.read("b.txt")), ("2\n".into(), "X\n".into()));
}

#[tokio::test]
async fn files_are_identified_by_their_real_location() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    std::fs::create_dir(project.root().join("sub")).unwrap();
    project.write("sub/a.txt", "one\n");
    std::os::unix::fs::symlink("a.txt", project.root().join("link")).unwrap();
    let mut client = project.connect("agent-q", Era::Handshake).await;
    assert_only_the_same_file_waits(&mut client, "link", "a.txt", ("sub/a.txt", "one")).await;
    assert_eq!((project.read("a.txt"), project.read("sub/a.txt")), ("2\n".into(), "X\n".into()));
}

/// The first two calls arrive before the client has listed its roots.
#[tokio::test]
async fn a_pending_approval_blocks_only_the_same_file_with_client_roots() {
    let project = TestProject::with_files(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let options = Options { roots: RootSource::default(), ..project.options("agent-q") };
    let user = TestUser::with_roots(&[folder_uri(&project.root())]);
    let mut client = Client::connect(options, user, Era::Handshake).await;
    let first = start(&client, "propose_file_edit", agent_q_proposal("a.txt", "1\n"));
    let other = start(&client, "edit_file", json!({"path": "b.txt", "old_str": "b", "new_str": "B"}));
    client.next_form().await;
    let second = start(&client, "edit_file", json!({"path": "a.txt", "old_str": "1", "new_str": "2"}));
    tokio::time::timeout(TIMEOUT, other).await.expect("it is not blocked").unwrap();
    assert!(!second.is_finished());
    client.answer_next_form(approve());
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!((project.read("a.txt"), project.read("b.txt")), ("2\n".into(), "B\n".into()));
}

#[tokio::test]
async fn a_file_can_be_read_while_a_change_awaits_approval() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut client = project.connect("agent-q", Era::Handshake).await;
    let first = start(&client, "propose_file_edit", agent_q_proposal("a.txt", "1\n"));
    client.next_form().await;
    let second = start(&client, "edit_file", json!({"path": "a.txt", "old_str": "1", "new_str": "2"}));
    for _ in 0..2 {
        let read = client.call("read_file", json!({"path": "a.txt"})).await;
        assert!(text(&read).contains("one"), "{}", text(&read));
    }
    assert!(!first.is_finished() && !second.is_finished(), "changes wait for the approval");
    client.answer_next_form(approve());
    // A read that is sent now waits for the second change.
    first.await.unwrap();
    let read = client.call("read_file", json!({"path": "a.txt"})).await;
    assert!(text(&read).contains('2'), "{}", text(&read));
    second.await.unwrap();
}

/// Makes a call in the background; aborting the task cancels it.
fn start(client: &Client, tool: &str, arguments: serde_json::Value) -> tokio::task::JoinHandle<()> {
    let (peer, call) = (client.service.peer().clone(), request(tool, arguments));
    tokio::spawn(async move {
        // A cancelled call has no answer.
        let _ = peer.call_tool_once(call).await;
    })
}

#[tokio::test]
async fn cancelled_calls_write_nothing() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut client = project.connect("agent-q", Era::Handshake).await;
    let asking = start(&client, "propose_file_edit", agent_q_proposal("a.txt", "1\n"));
    client.next_form().await;
    let waiting = start(&client, "edit_file", json!({"path": "a.txt", "old_str": "one", "new_str": "2"}));
    tokio::time::sleep(Duration::from_millis(50)).await;
    for call in [waiting, asking] {
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    // The next change to the file runs after both of them.
    let next = client.call("edit_file", json!({"path": "a.txt", "old_str": "2", "new_str": "3"})).await;
    assert!(is_error(&next), "there is no `2`: {}", text(&next));
    assert_eq!(project.read("a.txt"), "one\n");
    assert!(project.workspace("x").log(&Default::default()).unwrap().is_empty());
    let pending = project.workspace("x").proposals().unwrap();
    assert!(pending.is_empty(), "the cancelled call leaves no proposal: {pending:?}");
}

/// A call with a progress token.
fn with_progress(tool: &str, arguments: serde_json::Value) -> CallToolRequestParams {
    let mut call = request(tool, arguments);
    let mut meta = RequestMetaObject::new();
    meta.set_progress_token(ProgressToken(rmcp::model::NumberOrString::Number(7)));
    call.meta = Some(meta);
    call
}

#[tokio::test]
async fn patches_of_several_files_report_progress() {
    const FILES: usize = 60;
    for era in ERAS {
        let project = TestProject::new();
        let files: Vec<String> = (0..FILES).map(|n| format!("{n:02}.txt")).collect();
        files.iter().for_each(|name| project.write(name, "old\n"));
        let mut client = project.connect("native", era).await;
        let patch: String =
            files.iter().map(|n| format!("--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-old\n+new\n")).collect();
        let done = client.service.call_tool(with_progress("patch", json!({"patch": patch}))).await.unwrap();
        assert!(!is_error(&done), "{}", text(&done));
        for n in 1..=FILES + 2 {
            let ClientEvent::Progress { step, total, message } = client.next_event().await else {
                panic!("progress")
            };
            assert_eq!((step, total), (n as f64, Some((FILES + 2) as f64)), "{era:?}");
            let expected = match n - FILES.min(n) {
                0 => format!("{n} of 60 files"),
                1 => "writing 60 files".to_owned(),
                _ => "60 files done".to_owned(),
            };
            assert!(message.contains(&expected), "{message}");
        }
        // A refused patch reports the files that were checked, and no more.
        let patch = patch.replacen("-old\n+new", "-new\n+newer", FILES - 1);
        let refused =
            client.service.call_tool(with_progress("patch", json!({"patch": patch}))).await.unwrap();
        assert!(is_error(&refused), "the last file no longer contains `old`");
        for n in 1..=FILES {
            let ClientEvent::Progress { step, .. } = client.next_event().await else { panic!("progress") };
            assert_eq!(step, n as f64);
        }
        // A single file needs no progress.
        let edit = with_progress("edit_file", edit("00.txt", "new", "newer"));
        assert!(!is_error(&client.service.call_tool(edit).await.unwrap()));
        assert!(client.events.try_recv().is_err());
    }
}

#[tokio::test]
async fn a_change_stays_proposed_when_its_client_disconnects() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut client = project.connect("agent-q", Era::Handshake).await;
    let _asking = start(&client, "propose_file_edit", agent_q_proposal("a.txt", "1\n"));
    client.next_form().await;
    client.service.cancel().await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(project.workspace("x").proposals().unwrap().len(), 1);
    assert_eq!(project.read("a.txt"), "one\n");
}
