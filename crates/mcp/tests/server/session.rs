//! Sessions: who did what, and what each conversation remembers.

use rmcp::model::CallToolResponse;
use serde_json::json;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Decision};
use slipstitch::core::ports::journal::Filter;
use slipstitch::core::settings::Mode;
use tokio::sync::oneshot;

use crate::rig::{Client, ERAS, Era, Person, Rig, approve, edit, failed, request, text};

#[tokio::test]
async fn the_journal_knows_the_session_and_the_agent() {
    for era in ERAS {
        let rig = Rig::with(&[("a.txt", "one\n")]);
        let client = rig.connect("native", era).await;
        client.call("edit_file", edit("a.txt", "one", "two")).await;
        let log = rig.workspace("x").log(&Filter::default()).unwrap();
        assert_eq!(log[0].origin.session, client.session);
        assert_eq!(log[0].origin.agent.as_deref(), Some("rig"));
    }
}

#[tokio::test]
async fn each_client_takes_back_its_own_changes() {
    let rig = Rig::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let (one, two) =
        (rig.connect("native", Era::Handshake).await, rig.connect("native", Era::Stateless).await);
    assert_ne!(one.session, two.session);
    one.call("edit_file", edit("a.txt", "a", "A")).await;
    two.call("edit_file", edit("b.txt", "b", "B")).await;
    assert!(!failed(&one.call("undo_edit", json!({})).await));
    assert_eq!((rig.text("a.txt"), rig.text("b.txt")), ("a\n".into(), "B\n".into()));
}

#[tokio::test]
async fn clipboards_belong_to_a_session() {
    let rig = Rig::with(&[("a.txt", "one\ntwo\n"), ("b.txt", "")]);
    let (one, two) =
        (rig.connect("phoenix", Era::Handshake).await, rig.connect("phoenix", Era::Handshake).await);
    let cut = json!([{"operation": "replace", "oldText": "one\n", "toClipboard": "c"}]);
    assert!(!failed(&one.call("patch", json!({"path": "a.txt", "patches": cut})).await));
    let paste = json!({"path": "b.txt", "patches": [{"operation": "append_eof", "fromClipboard": "c"}]});
    assert!(failed(&two.call("patch", paste.clone()).await), "the other session has no such clipboard");
    assert!(!failed(&one.call("patch", paste).await));
    assert_eq!(rig.text("b.txt"), "one\n");
}

#[tokio::test]
async fn a_restricted_session_asks_for_more() {
    for era in ERAS {
        let rig = Rig::with(&[("a.txt", "one\n")]);
        let mut options = rig.options("phoenix");
        options.mode = Mode::Restricted;
        options.dialects.push("codex".into());
        let mut client = Client::connect(options, Person::default(), era).await;
        let info = client.service.peer_info().unwrap();
        assert!(info.instructions.as_ref().unwrap().contains("restricted"));
        let patch = json!({"path": "a.txt", "patches": [{"operation": "replace", "oldText": "one", "newText": "two"}]});
        let refused = client.call("patch", patch.clone()).await;
        let sentence =
            "Patch tool is disabled in Restricted mode. Use request_mode_upgrade to request write access.";
        assert_eq!(text(&refused), sentence);

        client.say(json!({"action": "accept", "content": {"verdict": "reject", "reason": "not today"}}));
        let no = client.call("request_mode_upgrade", json!({"reason": "to mend a.txt"})).await;
        assert!(failed(&no) && text(&no).contains("not today"), "{}", text(&no));
        let question = client.question().await;
        assert!(question.contains("rig") && question.contains("to mend a.txt"), "{question}");
        assert_eq!(text(&client.call("patch", patch.clone()).await), sentence);

        client.say(json!({"action": "cancel"}));
        let later = client.call("request_mode_upgrade", json!({})).await;
        assert!(text(&later).contains("slipstitch mode unrestricted"), "{}", text(&later));
        client.question().await;

        client.say(approve());
        let yes = client.call("request_mode_upgrade", json!({"reason": "to mend a.txt"})).await;
        assert_eq!(text(&yes), "Unrestricted mode: a person through rig allowed write access.");
        client.question().await;
        assert!(!failed(&client.call("patch", patch).await));
        assert_eq!(rig.text("a.txt"), "two\n");
    }
}

#[tokio::test]
async fn nobody_to_ask_leaves_a_session_restricted() {
    for era in ERAS {
        let rig = Rig::with(&[("a.txt", "one\n")]);
        let mut options = rig.options("phoenix");
        options.mode = Mode::Restricted;
        let client = Client::connect(options, Person::without_forms(), era).await;
        let later = client.call("request_mode_upgrade", json!({"reason": "x"})).await;
        assert!(
            failed(&later) && text(&later).contains(&format!("--session {}", client.session)),
            "{}",
            text(&later)
        );
        // The way that the answer names works.
        rig.workspace(&client.session).set_mode(Mode::Unrestricted).unwrap();
        let patch = json!({"path": "a.txt", "patches": [{"operation": "replace", "oldText": "one", "newText": "two"}]});
        assert!(!failed(&client.call("patch", patch).await));
    }
}

/// Someone who says when asked, and agrees when told to.
struct Slow(Option<(oneshot::Sender<()>, oneshot::Receiver<()>)>);

impl Approver for Slow {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> Decision {
        let (asked, go_on) = self.0.take().expect("asked once");
        asked.send(()).unwrap();
        go_on.blocking_recv().unwrap();
        Decision::Approve { by: "a slow person".into() }
    }
}

#[tokio::test]
async fn a_session_gets_more_rights_when_its_calls_in_flight_are_done_and_reads_meanwhile() {
    for era in ERAS {
        let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
        let mut options = rig.options("phoenix");
        (options.mode, options.session) = (Mode::Restricted, Some("s".into()));
        options.dialects.push("agent-q".into());
        let mut client = Client::connect(options, Person::default(), era).await;
        let (asked, in_flight) = oneshot::channel();
        let (done, go_on) = oneshot::channel();
        // A call of the same session, through another process.
        let workspace = rig.workspace("s");
        let other = tokio::task::spawn_blocking(move || {
            let mut slow = Slow(Some((asked, go_on)));
            workspace.call_with("native", "edit_file", edit("a.txt", "one", "two"), &mut slow)
        });
        in_flight.await.unwrap();
        if era == Era::Handshake {
            client.say(approve());
        }
        let (peer, wish) =
            (client.service.peer().clone(), request("request_mode_upgrade", json!({"reason": "x"})));
        let upgrade = match era {
            Era::Handshake => tokio::spawn(async move { peer.call_tool_once(wish).await.unwrap() }),
            Era::Stateless => {
                let CallToolResponse::InputRequired(form) = peer.call_tool_once(wish.clone()).await.unwrap()
                else {
                    panic!("a form")
                };
                let mut again = wish;
                again.request_state = form.request_state;
                again.input_responses = Some([("approval".to_owned(), approve())].into());
                tokio::spawn(async move { peer.call_tool_once(again).await.unwrap() })
            }
        };
        if era == Era::Handshake {
            client.question().await;
        }
        for _ in 0..3 {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            let read = client.call("read_file", json!({"path": "a.txt"})).await;
            assert!(text(&read).contains("one"), "{}", text(&read));
            let patch = json!({"path": "b.txt", "patches": [{"operation": "replace", "oldText": "one", "newText": "two"}]});
            assert!(text(&client.call("patch", patch).await).contains("Restricted mode"), "not yet");
        }
        assert!(!upgrade.is_finished(), "a call is in flight");
        done.send(()).unwrap();
        assert!(other.await.unwrap().report.is_success());
        let CallToolResponse::Complete(yes) = upgrade.await.unwrap() else { panic!("an answer") };
        assert!(!failed(&yes) && text(&yes).contains("allowed write access"), "{}", text(&yes));
        let patch = json!({"path": "b.txt", "patches": [{"operation": "replace", "oldText": "one", "newText": "two"}]});
        assert!(!failed(&client.call("patch", patch).await));
    }
}
