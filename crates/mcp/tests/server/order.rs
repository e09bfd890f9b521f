//! Calls side by side, calls in order, and calls that are taken back.

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ProgressToken, RequestMetaObject};
use serde_json::json;
use slipstitch_mcp::{Options, RootSource};

use crate::rig::{Client, ERAS, Era, Heard, Person, Rig, SOON, approve, edit, failed, request, text};

fn append(path: &str, text: &str) -> serde_json::Value {
    json!({"path": path, "content": text, "mode": "append"})
}

#[tokio::test]
async fn edits_of_one_file_are_made_in_the_order_in_which_they_come() {
    for era in ERAS {
        let rig = Rig::with(&[("a.txt", "")]);
        let client = rig.connect("native", era).await;
        let service = &client.service;
        // All are sent before the first answer is waited for.
        let calls: Vec<_> = (0..60)
            .map(|n| {
                let peer = service.peer().clone();
                tokio::spawn(async move {
                    peer.call_tool_once(request("write_file", append("a.txt", &format!("{n}\n")))).await
                })
            })
            .collect();
        for call in calls {
            tokio::time::timeout(SOON, call).await.unwrap().unwrap().unwrap();
        }
        let wanted: String = (0..60).map(|n| format!("{n}\n")).collect();
        assert_eq!(rig.text("a.txt"), wanted, "{era:?}");
    }
}

/// While a person looks at one file, others go on; what comes for the same file waits.
/// A person is asked about the file `asked`; an edit of it by the name `same` waits, and one of the file `other` does not.
async fn only_the_same_file_waits(client: &mut Client, asked: &str, same: &str, other: (&str, &str)) {
    let first = start(client, "propose_file_edit", proposal(asked, "1\n"));
    client.question().await;
    let second = start(client, "edit_file", json!({"path": same, "old_str": "1", "new_str": "2"}));
    let (path, old) = other;
    let other = client.call("edit_file", json!({"path": path, "old_str": old, "new_str": "X"})).await;
    assert!(!failed(&other), "{}", text(&other));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!second.is_finished(), "it would find the file as it was before");
    client.say(approve());
    first.await.unwrap();
    second.await.unwrap();
}

#[tokio::test]
async fn a_question_holds_up_only_what_is_about_the_same_file() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let mut client = rig.connect("agent-q", Era::Handshake).await;
    only_the_same_file_waits(&mut client, "a.txt", "./a.txt", ("b.txt", "b")).await;
    assert_eq!((rig.text("a.txt"), rig.text("b.txt")), ("2\n".into(), "X\n".into()));
}

/// One file under two names, and two files of one name.
#[tokio::test]
async fn files_are_told_apart_by_where_they_are() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    std::fs::create_dir(rig.root().join("sub")).unwrap();
    rig.put("sub/a.txt", "one\n");
    std::os::unix::fs::symlink("a.txt", rig.root().join("link")).unwrap();
    let mut client = rig.connect("agent-q", Era::Handshake).await;
    only_the_same_file_waits(&mut client, "link", "a.txt", ("sub/a.txt", "one")).await;
    assert_eq!((rig.text("a.txt"), rig.text("sub/a.txt")), ("2\n".into(), "X\n".into()));
}

/// The first two calls come before the client has named its folder.
#[tokio::test]
async fn a_question_holds_up_no_other_file_where_the_client_names_the_folder() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let options = Options { roots: RootSource::default(), ..rig.options("agent-q") };
    let person = Person::with_roots(&[format!("file://{}", rig.root().display())]);
    let mut client = Client::connect(options, person, Era::Handshake).await;
    let first = start(&client, "propose_file_edit", proposal("a.txt", "1\n"));
    let other = start(&client, "edit_file", json!({"path": "b.txt", "old_str": "b", "new_str": "B"}));
    client.question().await;
    let second = start(&client, "edit_file", json!({"path": "a.txt", "old_str": "1", "new_str": "2"}));
    tokio::time::timeout(SOON, other).await.expect("it waits for nobody").unwrap();
    assert!(!second.is_finished());
    client.say(approve());
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!((rig.text("a.txt"), rig.text("b.txt")), ("2\n".into(), "B\n".into()));
}

#[tokio::test]
async fn a_file_can_be_read_while_a_person_looks_at_a_change_of_it() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut client = rig.connect("agent-q", Era::Handshake).await;
    let first = start(&client, "propose_file_edit", proposal("a.txt", "1\n"));
    client.question().await;
    let second = start(&client, "edit_file", json!({"path": "a.txt", "old_str": "1", "new_str": "2"}));
    for _ in 0..2 {
        let read = client.call("read_file", json!({"path": "a.txt"})).await;
        assert!(text(&read).contains("one"), "{}", text(&read));
    }
    assert!(!first.is_finished() && !second.is_finished(), "changes wait for the person");
    client.say(approve());
    // Sent after both, and nobody is asked any more.
    first.await.unwrap();
    let read = client.call("read_file", json!({"path": "a.txt"})).await;
    assert!(text(&read).contains('2'), "{}", text(&read));
    second.await.unwrap();
}

fn proposal(path: &str, content: &str) -> serde_json::Value {
    json!({"path": path, "new_content": content, "description": "d"})
}

fn start(client: &Client, tool: &str, arguments: serde_json::Value) -> tokio::task::JoinHandle<()> {
    let (peer, call) = (client.service.peer().clone(), request(tool, arguments));
    tokio::spawn(async move {
        // A call that was taken back has no answer.
        let _ = peer.call_tool_once(call).await;
    })
}

#[tokio::test]
async fn a_call_that_is_taken_back_leaves_nothing() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut client = rig.connect("agent-q", Era::Handshake).await;
    let asks = start(&client, "propose_file_edit", proposal("a.txt", "1\n"));
    client.question().await;
    let waits = start(&client, "edit_file", json!({"path": "a.txt", "old_str": "one", "new_str": "2"}));
    tokio::time::sleep(Duration::from_millis(50)).await;
    // Whoever drops a call cancels it.
    for call in [waits, asks] {
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    // The next change of the file comes after both of them.
    let next = client.call("edit_file", json!({"path": "a.txt", "old_str": "2", "new_str": "3"})).await;
    assert!(failed(&next), "there is no `2`: {}", text(&next));
    assert_eq!(rig.text("a.txt"), "one\n");
    assert!(rig.workspace("x").log(&Default::default()).unwrap().is_empty());
    let waiting = rig.workspace("x").proposals().unwrap();
    assert!(waiting.is_empty(), "nobody is asked about it any more: {waiting:?}");
}

/// A call whose client wants to know how far it is.
fn with_progress(tool: &str, arguments: serde_json::Value) -> CallToolRequestParams {
    let mut call = request(tool, arguments);
    let mut meta = RequestMetaObject::new();
    meta.set_progress_token(ProgressToken(rmcp::model::NumberOrString::Number(7)));
    call.meta = Some(meta);
    call
}

#[tokio::test]
async fn patches_of_many_files_tell_how_far_they_are() {
    const MANY: usize = 60;
    for era in ERAS {
        let rig = Rig::new();
        let files: Vec<String> = (0..MANY).map(|n| format!("{n:02}.txt")).collect();
        files.iter().for_each(|name| rig.put(name, "old\n"));
        let mut client = rig.connect("native", era).await;
        let patch: String =
            files.iter().map(|n| format!("--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-old\n+new\n")).collect();
        let done = client.service.call_tool(with_progress("patch", json!({"patch": patch}))).await.unwrap();
        assert!(!failed(&done), "{}", text(&done));
        for n in 1..=MANY + 2 {
            let Heard::Progress { step, total, message } = client.hears().await else { panic!("progress") };
            assert_eq!((step, total), (n as f64, Some((MANY + 2) as f64)), "{era:?}");
            let wanted = match n - MANY.min(n) {
                0 => format!("{n} of 60 files"),
                1 => "writing 60 files".to_owned(),
                _ => "60 files are done".to_owned(),
            };
            assert!(message.contains(&wanted), "{message}");
        }
        // What is not written is looked through as well, and no more.
        let patch = patch.replacen("-old\n+new", "-new\n+newer", MANY - 1);
        let refused =
            client.service.call_tool(with_progress("patch", json!({"patch": patch}))).await.unwrap();
        assert!(failed(&refused), "the last file has no `old` any more");
        for n in 1..=MANY {
            let Heard::Progress { step, .. } = client.hears().await else { panic!("progress") };
            assert_eq!(step, n as f64);
        }
        // One file is not worth telling.
        let edit = with_progress("edit_file", edit("00.txt", "new", "newer"));
        assert!(!failed(&client.service.call_tool(edit).await.unwrap()));
        assert!(client.heard.try_recv().is_err());
    }
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_its_question_as_a_proposal() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut client = rig.connect("agent-q", Era::Handshake).await;
    let _asks = start(&client, "propose_file_edit", proposal("a.txt", "1\n"));
    client.question().await;
    client.service.cancel().await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(rig.workspace("x").proposals().unwrap().len(), 1);
    assert_eq!(rig.text("a.txt"), "one\n");
}
