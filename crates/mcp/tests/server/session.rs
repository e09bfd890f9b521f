//! Sessions: what the journal records about them, and what they remember.

use rmcp::model::CallToolResponse;
use serde_json::json;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Decision};
use slipstitch::core::ports::journal::Filter;
use slipstitch::core::settings::Mode;
use tokio::sync::oneshot;

use crate::harness::{
    Client, ERAS, Era, TestProject, TestUser, approve, edit, is_error, phoenix_patch, request, text,
};

#[tokio::test]
async fn the_journal_records_the_session_and_the_agent() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "one\n")]);
        let client = project.connect("native", era).await;
        client.call("edit_file", edit("a.txt", "one", "two")).await;
        let log = project.workspace("x").log(&Filter::default()).unwrap();
        assert_eq!(log[0].origin.session, client.session);
        assert_eq!(log[0].origin.agent.as_deref(), Some("test-client"));
    }
}

#[tokio::test]
async fn the_statistics_record_the_model_that_a_client_names() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "one\n")]);
        let mut options = project.options("native");
        options.model = Some("from the options".into());
        let client = Client::connect(options, TestUser::default(), era).await;
        let codex = json!({"session_id": "x", "model": "gpt-5.2", "reasoning_effort": "high"});
        for meta in [
            Some(("x-codex-turn-metadata", codex)),
            Some(("slipstitch/model", json!("opus\u{1b}[2J"))),
            Some(("x-codex-turn-metadata", json!("no object"))),
            None,
        ] {
            let mut call = request("read_file", json!({"path": "a.txt"}));
            if let (Some((key, value)), Some(all)) = (meta, &mut call.meta) {
                all.0.0.insert(key.into(), value);
            }
            client.service.call_tool(call).await.unwrap();
        }
        let workspace = project.workspace("x");
        let counts = || -> Vec<(Option<String>, u64)> {
            let groups = workspace.stats(&Default::default()).unwrap();
            groups.into_iter().map(|group| (group.model, group.tally.calls)).collect()
        };
        // Records are written soon after the answer.
        for _ in 0..100 {
            if counts().iter().map(|(_, calls)| calls).sum::<u64>() == 4 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        let named = |name: &str, calls| (Some(name.to_owned()), calls);
        assert_eq!(
            counts(),
            [named("gpt-5.2", 1), named("opus[2J", 1), named("from the options", 2)],
            "{era:?}"
        );
    }
}

#[tokio::test]
async fn each_client_undoes_its_own_changes() {
    let project = TestProject::with_files(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let (one, two) =
        (project.connect("native", Era::Handshake).await, project.connect("native", Era::Stateless).await);
    assert_ne!(one.session, two.session);
    one.call("edit_file", edit("a.txt", "a", "A")).await;
    two.call("edit_file", edit("b.txt", "b", "B")).await;
    assert!(!is_error(&one.call("undo_edit", json!({})).await));
    assert_eq!((project.read("a.txt"), project.read("b.txt")), ("a\n".into(), "B\n".into()));
}

#[tokio::test]
async fn clipboards_belong_to_one_session() {
    let project = TestProject::with_files(&[("a.txt", "one\ntwo\n"), ("b.txt", "")]);
    let (one, two) =
        (project.connect("phoenix", Era::Handshake).await, project.connect("phoenix", Era::Handshake).await);
    let cut = json!([{"operation": "replace", "oldText": "one\n", "toClipboard": "c"}]);
    assert!(!is_error(&one.call("patch", json!({"path": "a.txt", "patches": cut})).await));
    let paste = json!({"path": "b.txt", "patches": [{"operation": "append_eof", "fromClipboard": "c"}]});
    assert!(is_error(&two.call("patch", paste.clone()).await), "the other session has no such clipboard");
    assert!(!is_error(&one.call("patch", paste).await));
    assert_eq!(project.read("b.txt"), "one\n");
}

#[tokio::test]
async fn a_restricted_session_can_request_write_access() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "one\n")]);
        let mut options = project.options("phoenix");
        options.mode = Mode::Restricted;
        options.dialects.push("codex".into());
        let mut client = Client::connect(options, TestUser::default(), era).await;
        let info = client.service.peer_info().unwrap();
        assert!(info.instructions.as_ref().unwrap().contains("restricted"));
        let patch = phoenix_patch("a.txt");
        let refused = client.call("patch", patch.clone()).await;
        let restricted =
            "Patch tool is disabled in Restricted mode. Use request_mode_upgrade to request write access.";
        assert_eq!(text(&refused), restricted);

        client.answer_next_form(
            json!({"action": "accept", "content": {"decision": "reject", "reason": "not today"}}),
        );
        let no = client.call("request_mode_upgrade", json!({"reason": "to fix a.txt"})).await;
        assert!(is_error(&no) && text(&no).contains("not today"), "{}", text(&no));
        let form = client.next_form().await;
        assert!(form.contains("test-client") && form.contains("to fix a.txt"), "{form}");
        assert_eq!(text(&client.call("patch", patch.clone()).await), restricted);

        client.answer_next_form(json!({"action": "cancel"}));
        let later = client.call("request_mode_upgrade", json!({})).await;
        assert!(text(&later).contains("waiting for review as p"), "{}", text(&later));
        client.next_form().await;

        client.answer_next_form(approve());
        let yes = client.call("request_mode_upgrade", json!({"reason": "to fix a.txt"})).await;
        let by = text(&yes)
            .strip_prefix("Unrestricted mode: test-client 1.0 (form, after ")
            .unwrap_or_else(|| panic!("{}", text(&yes)));
        assert!(by.contains(" s)") && by.ends_with(" allowed write access."), "{by}");
        client.next_form().await;
        assert!(!is_error(&client.call("patch", patch).await));
        assert_eq!(project.read("a.txt"), "two\n");
    }
}

#[tokio::test]
async fn a_session_stays_restricted_if_the_client_has_no_forms() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "one\n")]);
        let mut options = project.options("phoenix");
        options.mode = Mode::Restricted;
        let client = Client::connect(options, TestUser::without_forms(), era).await;
        let later = client.call("request_mode_upgrade", json!({"reason": "x"})).await;
        assert!(!is_error(&later) && text(&later).contains("waiting for review as p1"), "{}", text(&later));
        project.workspace(&client.session).set_mode(Mode::Unrestricted).unwrap();
        let patch = phoenix_patch("a.txt");
        assert!(!is_error(&client.call("patch", patch).await));
    }
}

/// Reports when it is asked, and approves when it is released.
struct SlowApprover(Option<(oneshot::Sender<()>, oneshot::Receiver<()>)>);

impl Approver for SlowApprover {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> Decision {
        let (asked, released) = self.0.take().expect("asked once");
        asked.send(()).unwrap();
        released.blocking_recv().unwrap();
        Decision::Approve { by: "a slow user".into() }
    }
}

#[tokio::test]
async fn write_access_waits_for_calls_in_flight_while_reads_go_on() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
        let mut options = project.options("phoenix");
        (options.mode, options.session) = (Mode::Restricted, Some("s".into()));
        options.dialects.push("agent-q".into());
        let mut client = Client::connect(options, TestUser::default(), era).await;
        let (asked, in_flight) = oneshot::channel();
        let (release, released) = oneshot::channel();
        // A call of the same session by another process.
        let workspace = project.workspace("s");
        let other = tokio::task::spawn_blocking(move || {
            let mut slow = SlowApprover(Some((asked, released)));
            workspace.call_with("native", "edit_file", edit("a.txt", "one", "two"), &mut slow)
        });
        in_flight.await.unwrap();
        if era == Era::Handshake {
            client.answer_next_form(approve());
        }
        let (peer, mode_request) =
            (client.service.peer().clone(), request("request_mode_upgrade", json!({"reason": "x"})));
        let upgrade = match era {
            Era::Handshake => tokio::spawn(async move { peer.call_tool_once(mode_request).await.unwrap() }),
            Era::Stateless => {
                let CallToolResponse::InputRequired(form) =
                    peer.call_tool_once(mode_request.clone()).await.unwrap()
                else {
                    panic!("a form")
                };
                let mut repeated = mode_request;
                repeated.request_state = form.request_state;
                repeated.input_responses = Some([("approval".to_owned(), approve())].into());
                tokio::spawn(async move { peer.call_tool_once(repeated).await.unwrap() })
            }
        };
        if era == Era::Handshake {
            client.next_form().await;
        }
        for _ in 0..3 {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            let read = client.call("read_file", json!({"path": "a.txt"})).await;
            assert!(text(&read).contains("one"), "{}", text(&read));
            let patch = phoenix_patch("b.txt");
            assert!(text(&client.call("patch", patch).await).contains("Restricted mode"), "not yet");
        }
        assert!(!upgrade.is_finished(), "a call is still in flight");
        release.send(()).unwrap();
        assert!(other.await.unwrap().report.is_success());
        let CallToolResponse::Complete(yes) = upgrade.await.unwrap() else { panic!("an answer") };
        assert!(!is_error(&yes) && text(&yes).contains("allowed write access"), "{}", text(&yes));
        let patch = phoenix_patch("b.txt");
        assert!(!is_error(&client.call("patch", patch).await));
    }
}
