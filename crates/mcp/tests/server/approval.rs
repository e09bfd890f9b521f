//! Approval by the user: through `elicitation/create`, and through a form that comes back with the repeated call.

use std::time::Duration;

use rmcp::model::{CallToolResponse, InputRequiredResult};
use rmcp::service::ServiceError;
use serde_json::{Value, json};
use slipstitch::core::ports::journal::{ProposalDecision, ProposalId};
use slipstitch::core::settings::Mode;
use slipstitch_mcp::Options;

use crate::harness::{
    Client, ClientEvent, ERAS, Era, TIMEOUT, TestProject, TestUser, approve, is_error, reported, request,
    text,
};

const OLD: &str = "one\ntwo\n";
const NEW: &str = "one\nTWO\n";

fn proposal() -> Value {
    json!({"path": "a.txt", "new_content": NEW, "description": "Shout"})
}

async fn connect(era: Era) -> (TestProject, Client) {
    let project = TestProject::with_files(&[("a.txt", OLD)]);
    let client = project.connect("agent-q", era).await;
    (project, client)
}

fn settled(project: &TestProject, id: u64) -> Option<ProposalDecision> {
    project.workspace("x").proposal(ProposalId(id)).unwrap().expect("a proposal").decision
}

/// A server to which the simulated user, who is fast, looks like a program.
fn unattended(options: Options) -> Options {
    Options { min_answer_time: Options::default().min_answer_time, ..options }
}

/// What an answer about a waiting change must say, and what it must not.
fn check_pending(answer: &str) {
    assert!(answer.contains("only the user can approve it"), "{answer}");
    assert!(answer.contains("the same call or the resource slipstitch://proposals/p"), "{answer}");
    assert!(!answer.contains("slipstitch review"), "nothing that an agent could run itself: {answer}");
}

/// The answers of clients without a person: Codex `exec` and Copilot `-p` decline, an agent's own client approves.
fn answers_by_program() -> [Value; 4] {
    let chosen = |decision: &str| json!({"action": "accept", "content": {"decision": decision}});
    [json!({"action": "decline"}), approve(), chosen("reject"), chosen("reject and say why")]
}

#[tokio::test]
async fn an_answer_that_nobody_gave_leaves_the_change_waiting() {
    for era in ERAS {
        for answer in answers_by_program() {
            let project = TestProject::with_files(&[("a.txt", OLD)]);
            let options = unattended(project.options("agent-q"));
            let client = Client::connect(options, TestUser::default(), era).await;
            client.answer_next_form(answer.clone());
            let pending = client.call("propose_file_edit", proposal()).await;
            assert_eq!(
                (is_error(&pending), reported(&pending, "code")),
                (false, &json!("pending_review")),
                "{era:?} {answer}"
            );
            check_pending(text(&pending));
            let note = "test-client 1.0 (form, after 0.";
            assert!(
                text(&pending).contains(note) && text(&pending).contains("nobody has decided"),
                "{}",
                text(&pending)
            );
            assert_eq!((project.read("a.txt"), settled(&project, 1)), (OLD.into(), None), "{era:?} {answer}");
            assert!(accept_as_ada(&project, ProposalId(1)).status().is_success());
        }
    }
}

#[tokio::test]
async fn write_access_that_nobody_granted_is_not_given() {
    for era in ERAS {
        for answer in answers_by_program() {
            let project = TestProject::with_files(&[("a.txt", OLD)]);
            let options = Options { mode: Mode::Restricted, ..unattended(project.options("phoenix")) };
            let client = Client::connect(options, TestUser::default(), era).await;
            client.answer_next_form(answer.clone());
            let pending = client.call("request_mode_upgrade", json!({"reason": "x"})).await;
            assert!(text(&pending).contains("nobody has decided"), "{era:?} {answer}: {}", text(&pending));
            let patch = json!({"path": "a.txt", "patches": [{"operation": "append_eof", "newText": "x"}]});
            let refused = client.call("patch", patch).await;
            assert!(is_error(&refused), "{era:?} {answer}: {}", text(&refused));
            assert_eq!((project.read("a.txt"), settled(&project, 1)), (OLD.into(), None), "{era:?} {answer}");
        }
    }
}

/// A host without anybody at its screen declines at once, but the review page may be open.
#[tokio::test]
async fn after_a_form_that_nobody_saw_the_call_waits_for_an_open_review() {
    let project = TestProject::with_files(&[("a.txt", OLD)]);
    let reviewer = project.workspace("x");
    let _present = reviewer.attend_review().unwrap();
    let options = unattended(project.options("agent-q"));
    let client = Client::connect(options, TestUser::default(), Era::Handshake).await;
    client.answer_next_form(json!({"action": "decline"}));
    let deciding = async {
        // The form is gone; the call keeps waiting.
        tokio::time::sleep(Duration::from_millis(700)).await;
        until_awaited(&project, ProposalId(1)).await;
        assert!(accept_as_ada(&project, ProposalId(1)).is_success());
    };
    let (answer, ()) = tokio::join!(client.call("propose_file_edit", proposal()), deciding);
    assert_eq!((reported(&answer, "change"), project.read("a.txt")), (&json!("c1"), NEW.into()));
}

#[tokio::test]
async fn no_dialect_tells_an_agent_how_to_approve_its_own_change() {
    for (dialect, tool, call) in [
        ("native", "edit_file", json!({"path": ".git/config", "old_text": "a", "new_text": "b"})),
        ("claude", "Edit", json!({"file_path": ".git/config", "old_string": "a", "new_string": "b"})),
        ("forge", "Edit", json!({"path": ".git/config", "old_snippet": "a", "new_snippet": "b"})),
        (
            "xzatoma",
            "edit_file",
            json!({"path": ".git/config", "mode": "edit", "old_text": "a", "content": "b"}),
        ),
        ("nexus3", "edit_file", json!({"path": ".git/config", "old_string": "a", "new_string": "b"})),
        ("agent-q", "edit_file", json!({"path": ".git/config", "old_str": "a", "new_str": "b"})),
        (
            "phoenix",
            "patch",
            json!({"path": ".git/config", "patches": [{"operation": "replace", "oldText": "a", "newText": "b"}]}),
        ),
        (
            "codex",
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Update File: .git/config\n@@\n-a\n+b\n*** End Patch"}),
        ),
    ] {
        let project = TestProject::new();
        std::fs::create_dir(project.root().join(".git")).unwrap();
        project.write(".git/config", "a\n");
        let client =
            Client::connect(project.options(dialect), TestUser::without_forms(), Era::Handshake).await;
        let pending = client.call(tool, call).await;
        assert_eq!(reported(&pending, "code"), "pending_review", "{dialect}: {}", text(&pending));
        check_pending(text(&pending));
    }
}

#[tokio::test]
async fn an_approved_change_is_applied() {
    for era in ERAS {
        let (project, mut client) = connect(era).await;
        client.answer_next_form(approve());
        let done = client.call("propose_file_edit", proposal()).await;
        assert_eq!(
            (is_error(&done), reported(&done, "status")),
            (false, &json!("applied")),
            "{}",
            text(&done)
        );
        assert!(
            text(&done).starts_with("✓ Edit applied to a.txt"),
            "in the dialect's words: {}",
            text(&done)
        );
        assert_eq!(project.read("a.txt"), NEW);
        let form = client.next_form().await;
        for part in ["\"test-client\" wants to change 1 file (p1)", "Description: \"Shout\"", "-two\n+TWO"] {
            assert!(form.contains(part), "{form}");
        }
        let change = project.workspace("x").log(&Default::default()).unwrap().remove(0);
        let by = &change.approval;
        assert!(by.starts_with("test-client 1.0 (form, after ") && !by.contains("user"), "{by}");
        assert!(by.ends_with(" s)"), "{by}");
        assert!(matches!(settled(&project, 1), Some(ProposalDecision::Accepted { .. })), "{era:?}");
    }
}

#[tokio::test]
async fn text_from_the_model_is_one_short_quoted_line_in_a_form() {
    let (_project, mut client) = connect(Era::Handshake).await;
    let forged = "tidy\n\n--- a/README\n+++ b/README\r\u{2028}\u{202e}\u{200b}\u{1b}[2J \"so\" ";
    let description = forged.to_owned() + &"x".repeat(3_000_000);
    client.answer_next_form(json!({"action": "decline"}));
    let change = json!({"path": "a.txt", "new_content": NEW, "description": description});
    client.call("propose_file_edit", change).await;
    let form = client.next_form().await;
    let line = form.lines().find(|line| line.starts_with("Description: ")).unwrap();
    let expected = "Description: \"tidy --- a/README +++ b/README [2J 'so' xxx";
    assert!(line.starts_with(expected) && line.ends_with("x…\""), "{line}");
    assert!(line.chars().count() < 520, "{}", line.len());
    assert!(!form.contains("\n--- a/README") && form.contains("-two\n+TWO"), "{form}");
}

#[tokio::test]
async fn a_change_that_a_form_cannot_show_whole_cannot_be_approved_there() {
    for era in ERAS {
        let (project, mut client) = connect(era).await;
        // A user who approves whatever is shown.
        client.answer_next_form(approve());
        let long = format!("one\n{}rm -rf\n", "harmless line\n".repeat(1_000));
        let change = json!({"path": "a.txt", "new_content": long, "description": "d"});
        let pending = client.call("propose_file_edit", change).await;
        assert_eq!((is_error(&pending), reported(&pending, "code")), (false, &json!("pending_review")));
        assert_eq!(project.read("a.txt"), OLD, "{era:?}");
        assert!(settled(&project, 1).is_none(), "it waits in the review queue");
        assert!(client.events.try_recv().is_err(), "no form was shown");
        let answer = text(&pending);
        assert!(answer.contains("waiting for the user's review as p1"), "{answer}");
        check_pending(answer);
    }
}

#[tokio::test]
async fn a_form_shows_invisible_characters_of_the_diff() {
    let (_project, mut client) = connect(Era::Handshake).await;
    client.answer_next_form(json!({"action": "decline"}));
    let change = json!({"path": "a.txt", "new_content": "one\nif a\u{202e}b\u{200b}\n", "description": "d"});
    client.call("propose_file_edit", change).await;
    let form = client.next_form().await;
    assert!(form.contains("+if a\\u{202e}b\\u{200b}\n"), "{form}");
}

#[tokio::test]
async fn a_rejected_change_is_not_applied_and_the_reason_is_passed_on() {
    for era in ERAS {
        for answer in [
            json!({"action": "accept", "content": {"decision": "reject", "reason": "too loud"}}),
            json!({"action": "decline"}),
        ] {
            let project = TestProject::with_files(&[("a.txt", OLD)]);
            let options = project.options("agent-q");
            let client = Client::connect(options, TestUser::default(), era).await;
            client.answer_next_form(answer.clone());
            let rejected = client.call("propose_file_edit", proposal()).await;
            assert_eq!((is_error(&rejected), reported(&rejected, "code")), (true, &json!("declined")));
            if answer["action"] == "accept" {
                assert!(text(&rejected).contains("too loud"), "{}", text(&rejected));
            }
            assert_eq!(project.read("a.txt"), OLD);
            assert!(matches!(settled(&project, 1), Some(ProposalDecision::Rejected { .. })));
        }
    }
}

#[tokio::test]
async fn the_reason_is_asked_for_in_a_second_form() {
    let explain = json!({"action": "accept", "content": {"decision": "reject and say why"}});
    for (second, expected) in [
        (json!({"action": "accept", "content": {"reason": "too loud"}}), "too loud"),
        // The decision stands if the user gives no reason after all.
        (json!({"action": "cancel"}), "no reason was given"),
    ] {
        let (project, mut client) = connect(Era::Handshake).await;
        client.answer_next_form(explain.clone());
        client.answer_next_form(second);
        let rejected = client.call("propose_file_edit", proposal()).await;
        assert_eq!((is_error(&rejected), reported(&rejected, "code")), (true, &json!("declined")));
        assert!(text(&rejected).contains(expected), "{}", text(&rejected));
        assert_eq!(project.read("a.txt"), OLD);
        assert!(matches!(settled(&project, 1), Some(ProposalDecision::Rejected { .. })));
        let forms = [client.next_form().await, client.next_form().await];
        assert!(forms[0].contains("wants to change") && forms[1].contains("reason"), "{forms:?}");
    }
}

// Shows: 002-pending
#[tokio::test]
async fn an_undecided_change_stays_proposed_and_the_answer_says_that_it_waits() {
    for era in ERAS {
        for (user, answer) in [
            (TestUser::default(), Some(json!({"action": "cancel"}))),
            (TestUser::default(), Some(json!({"action": "accept", "content": {}}))),
            (TestUser::without_forms(), None),
        ] {
            let project = TestProject::with_files(&[("a.txt", OLD)]);
            let client = Client::connect(project.options("agent-q"), user, era).await;
            if let Some(answer) = answer {
                client.answer_next_form(answer);
            }
            let pending = client.call("propose_file_edit", proposal()).await;
            assert_eq!((is_error(&pending), reported(&pending, "proposal")), (false, &json!("p1")));
            check_pending(text(&pending));
            assert_eq!((project.read("a.txt"), settled(&project, 1)), (OLD.into(), None));
            assert!(accept_as_ada(&project, ProposalId(1)).status().is_success());
            assert_eq!(project.read("a.txt"), NEW);
        }
    }
}

#[tokio::test]
async fn a_file_that_changes_before_the_approval_is_not_overwritten() {
    for era in ERAS {
        let (project, mut client) = connect(era).await;
        let (service, events) = (&client.service, &mut client.events);
        let call = service.call_tool(request("propose_file_edit", proposal()));
        tokio::pin!(call);
        tokio::select! {
            event = events.recv() => assert!(matches!(event, Some(ClientEvent::FormShown(_)))),
            early = &mut call => panic!("{early:?}"),
        }
        project.write("a.txt", "someone else\n");
        client.answer_next_form(approve());
        let stale = call.await.unwrap();
        assert_eq!(
            (is_error(&stale), reported(&stale, "code")),
            (true, &json!("stale_file")),
            "{}",
            text(&stale)
        );
        assert_eq!(project.read("a.txt"), "someone else\n");
    }
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_before_the_approval_is_not_written() {
    for era in ERAS {
        let (project, mut client) = connect(era).await;
        project.write("other.txt", OLD);
        let (service, events) = (&client.service, &mut client.events);
        let call = service.call_tool(request("propose_file_edit", proposal()));
        tokio::pin!(call);
        tokio::select! {
            event = events.recv() => assert!(matches!(event, Some(ClientEvent::FormShown(_)))),
            early = &mut call => panic!("{early:?}"),
        }
        std::fs::remove_file(project.root().join("a.txt")).unwrap();
        std::os::unix::fs::symlink("other.txt", project.root().join("a.txt")).unwrap();
        client.answer_next_form(approve());
        let stale = call.await.unwrap();
        assert_eq!(reported(&stale, "code"), &json!("stale_file"), "{}", text(&stale));
        assert_eq!(project.read("other.txt"), OLD);
    }
}

#[tokio::test]
async fn after_the_timeout_the_change_can_still_be_reviewed() {
    let project = TestProject::with_files(&[("a.txt", OLD)]);
    let mut options = project.options("agent-q");
    options.approval_timeout = std::time::Duration::from_millis(100);
    let client = Client::connect(options.clone(), TestUser::default(), Era::Handshake).await;
    let pending = client.call("propose_file_edit", proposal()).await;
    check_pending(text(&pending));

    let client = Client::connect(options, TestUser::default(), Era::Stateless).await;
    let form = request_form(&client, proposal()).await;
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    let CallToolResponse::Complete(late) =
        repeat_with_form(&client, proposal(), &form, Some(approve())).await.unwrap()
    else {
        panic!("expected a result")
    };
    assert!(!is_error(&late) && text(&late).contains("p2"), "{}", text(&late));
    check_pending(text(&late));
    assert_eq!((project.read("a.txt"), settled(&project, 2)), (OLD.into(), None));
}

/// Makes a call that is answered with a form and a request state.
async fn request_form(client: &Client, arguments: Value) -> InputRequiredResult {
    match client.service.call_tool_once(request("propose_file_edit", arguments)).await.unwrap() {
        CallToolResponse::InputRequired(form) => form,
        other => panic!("{other:?}"),
    }
}

/// Repeats the call with the filled form.
async fn repeat_with_form(
    client: &Client,
    arguments: Value,
    form: &InputRequiredResult,
    answer: Option<Value>,
) -> Result<CallToolResponse, ServiceError> {
    let mut request = request("propose_file_edit", arguments);
    request.request_state = form.request_state.clone();
    request.input_responses = answer.map(|answer| [("approval".to_owned(), answer)].into());
    client.service.call_tool_once(request).await
}

#[tokio::test]
async fn an_approval_can_be_used_once() {
    let (project, client) = connect(Era::Stateless).await;
    let form = request_form(&client, proposal()).await;
    assert_eq!(project.read("a.txt"), OLD, "nothing is written before the approval");
    repeat_with_form(&client, proposal(), &form, Some(approve())).await.unwrap();
    assert_eq!(project.read("a.txt"), NEW);
    client.call("edit_file", json!({"path": "a.txt", "old_str": "TWO", "new_str": "two"})).await;
    let error = repeat_with_form(&client, proposal(), &form, Some(approve())).await.unwrap_err();
    assert!(error.to_string().contains("already been used"), "{error}");
    assert_eq!(project.read("a.txt"), OLD);
}

#[tokio::test]
async fn an_approval_is_bound_to_its_call() {
    let (project, client) = connect(Era::Stateless).await;
    let form = request_form(&client, proposal()).await;
    let other = json!({"path": "a.txt", "new_content": "all gone\n", "description": "Shout"});
    let mut forged = form.clone();
    forged.request_state = form.request_state.as_ref().map(|state| state.replace('A', "B") + "x");
    for (arguments, form) in [(other, &form), (proposal(), &forged)] {
        let error = repeat_with_form(&client, arguments, form, Some(approve())).await.unwrap_err();
        assert!(error.to_string().contains("not issued by this server for this call"), "{error}");
    }
    // Another connection is another session.
    let other_client = project.connect("agent-q", Era::Stateless).await;
    let error = repeat_with_form(&other_client, proposal(), &form, Some(approve())).await.unwrap_err();
    assert!(error.to_string().contains("not issued by this server for this call"), "{error}");
    assert_eq!(project.read("a.txt"), OLD);
    repeat_with_form(&client, proposal(), &form, Some(approve())).await.unwrap();
    assert_eq!(project.read("a.txt"), NEW, "failed attempts do not use it up");
}

#[tokio::test]
async fn a_request_state_without_a_form_asks_again() {
    let (project, client) = connect(Era::Stateless).await;
    let form = request_form(&client, proposal()).await;
    let second = match repeat_with_form(&client, proposal(), &form, None).await.unwrap() {
        CallToolResponse::InputRequired(form) => form,
        other => panic!("{other:?}"),
    };
    assert_ne!(second.request_state, form.request_state);
    repeat_with_form(&client, proposal(), &second, Some(approve())).await.unwrap();
    assert_eq!(project.read("a.txt"), NEW);
}

#[tokio::test]
async fn a_request_for_write_access_keeps_its_reason_when_it_is_asked_again() {
    let project = TestProject::with_files(&[("a.txt", OLD)]);
    let options = Options { mode: Mode::Restricted, ..project.options("phoenix") };
    let client = Client::connect(options, TestUser::default(), Era::Stateless).await;
    let mut mode_request = request("request_mode_upgrade", json!({"reason": "to fix\na.txt"}));
    for _ in 0..3 {
        let form = match client.service.call_tool_once(mode_request.clone()).await.unwrap() {
            CallToolResponse::InputRequired(form) => form,
            other => panic!("{other:?}"),
        };
        let forms = serde_json::to_value(&form.input_requests).unwrap();
        let message = forms["approval"]["params"]["message"].as_str().unwrap();
        assert!(message.contains("Reason: \"to fix a.txt\""), "{message}");
        mode_request.request_state = form.request_state;
    }
    mode_request.input_responses = Some([("approval".to_owned(), approve())].into());
    let CallToolResponse::Complete(done) = client.service.call_tool_once(mode_request).await.unwrap() else {
        panic!("expected a result")
    };
    assert!(!is_error(&done), "{}", text(&done));
}

#[tokio::test]
async fn a_call_that_needs_approval_is_counted_once_with_its_outcome() {
    let decline = || json!({"action": "decline"});
    for era in ERAS {
        for (answer, expected) in [
            (approve(), (1, 0, "")),
            (decline(), (0, 1, "declined")),
            (json!({"action": "cancel"}), (0, 1, "pending_review")),
        ] {
            for (dialect, tool, call) in [
                ("agent-q", "propose_file_edit", proposal()),
                ("phoenix", "request_mode_upgrade", json!({"reason": "x"})),
            ] {
                let project = TestProject::with_files(&[("a.txt", OLD)]);
                let mut options = project.options(dialect);
                if dialect == "phoenix" {
                    options.mode = Mode::Restricted;
                }
                let client = Client::connect(options, TestUser::default(), era).await;
                client.answer_next_form(answer.clone());
                client.call(tool, call).await;
                let groups = project.workspace("x").stats(&Default::default()).unwrap();
                let tally = &groups[0].tally;
                let cause = tally.causes.first().map_or("", |cause| cause.what.as_str());
                assert_eq!((groups.len(), tally.calls), (1, 1), "{era:?} {tool} {answer}");
                assert_eq!((tally.applied, tally.refused, cause), expected, "{era:?} {tool} {answer}");
            }
        }
    }
}

fn accept_as_ada(project: &TestProject, id: ProposalId) -> slipstitch::core::report::Report {
    let workspace = project.workspace("x");
    let ada = workspace.reviewer("Ada", None).unwrap();
    workspace.accept(id, &ada)
}

/// Waits until a call has made its proposal and waits for the decision.
async fn until_awaited(project: &TestProject, id: ProposalId) {
    let workspace = project.workspace("x");
    for _ in 0..400 {
        if workspace.is_decision_awaited(id) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("no call waits for {id}");
}

#[tokio::test]
async fn a_call_waits_for_the_decision_while_somebody_has_the_review_open() {
    use slipstitch::core::engine::{HunkVerdict, Verdict};
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", OLD)]);
        let client = Client::connect(project.options("agent-q"), TestUser::without_forms(), era).await;
        let reviewer = project.workspace("x");
        let present = reviewer.attend_review().unwrap();
        let rejecting = async {
            until_awaited(&project, ProposalId(1)).await;
            let ada = reviewer.reviewer("Ada", None).unwrap();
            assert!(reviewer.reject(ProposalId(1), &ada, Some("keep the words")).is_success());
        };
        let (answer, ()) = tokio::join!(client.call("propose_file_edit", proposal()), rejecting);
        assert!(text(&answer).contains("keep the words"), "{}", text(&answer));
        assert_eq!(project.read("a.txt"), OLD);
        // The same call gets the same answer at once; with another description it is a new request.
        let again = client.call("propose_file_edit", proposal()).await;
        assert!(
            text(&again).contains("keep the words") && !text(&again).contains("only the user"),
            "{}",
            text(&again)
        );
        let mut other = proposal();
        other["description"] = json!("once more");
        let accepting = async {
            until_awaited(&project, ProposalId(2)).await;
            let ada = reviewer.reviewer("Ada", None).unwrap();
            let verdict = Verdict { hunks: [(1, HunkVerdict::Accept)].into(), others: HunkVerdict::Accept };
            assert!(reviewer.decide(ProposalId(2), &ada, &verdict).is_success());
        };
        let (answer, ()) = tokio::join!(client.call("propose_file_edit", other), accepting);
        assert_eq!((reported(&answer, "change"), project.read("a.txt")), (&json!("c1"), NEW.into()));
        assert!(!text(&answer).contains("slipstitch review"), "{}", text(&answer));
        drop(present);
        assert!(!reviewer.is_review_attended() && !reviewer.is_decision_awaited(ProposalId(2)));
    }
}

#[tokio::test]
async fn with_a_passphrase_no_form_is_shown_and_nothing_is_decided() {
    let project = TestProject::with_files(&[("a.txt", OLD)]);
    project.workspace("x").set_passphrase(None, Some("open sesame")).unwrap();
    let client = project.connect("agent-q", Era::Handshake).await;
    client.answer_next_form(approve());
    let pending = client.call("propose_file_edit", proposal()).await;
    check_pending(text(&pending));
    assert_eq!((project.read("a.txt"), settled(&project, 1)), (OLD.into(), None));
    let workspace = project.workspace("x");
    assert!(workspace.reviewer("Ada", None).is_err() && workspace.reviewer("Ada", Some("open")).is_err());
    let ada = workspace.reviewer("Ada", Some("open sesame")).unwrap();
    assert!(workspace.accept(ProposalId(1), &ada).is_success());
}

/// An agent can start its own client and fill in its forms.
#[tokio::test]
async fn forms_can_be_switched_off() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", OLD)]);
        let mut options = project.options("agent-q");
        options.overrides.config = Some(project.write_config("[review]\nforms = false\n"));
        let mut client = Client::connect(options, TestUser::default(), era).await;
        client.answer_next_form(approve());
        let pending = client.call("propose_file_edit", proposal()).await;
        check_pending(text(&pending));
        assert_eq!((project.read("a.txt"), settled(&project, 1)), (OLD.into(), None), "{era:?}");
        assert!(client.events.try_recv().is_err(), "no form was shown");
    }
}

#[tokio::test]
async fn a_decision_made_elsewhere_ends_an_open_form() {
    let (project, mut client) = connect(Era::Handshake).await;
    let events = &mut client.events;
    let call = client.service.call_tool(request("propose_file_edit", proposal()));
    let deciding = async {
        let shown = events.recv().await;
        assert!(matches!(shown, Some(ClientEvent::FormShown(_))), "{shown:?}");
        until_awaited(&project, ProposalId(1)).await;
        // Nobody answers the form: the decision is made on the page or in the terminal.
        assert!(accept_as_ada(&project, ProposalId(1)).is_success());
        events.recv().await
    };
    let (answer, withdrawn) = tokio::join!(tokio::time::timeout(TIMEOUT, call), deciding);
    let answer = answer.expect("an answer in time").unwrap();
    assert_eq!((reported(&answer, "status"), reported(&answer, "change")), (&json!("applied"), &json!("c1")));
    let accepted = settled(&project, 1);
    assert!(matches!(&accepted, Some(ProposalDecision::Accepted { by, .. }) if by == "Ada"), "{accepted:?}");
    let reason = "decided elsewhere";
    assert!(
        matches!(&withdrawn, Some(ClientEvent::FormWithdrawn(why)) if why.contains(reason)),
        "{withdrawn:?}"
    );
    assert_eq!(project.read("a.txt"), NEW);
}
