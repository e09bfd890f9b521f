//! A person agrees, or nothing is written: by a question in between, and by a form that comes back.

use rmcp::model::{CallToolResponse, InputRequiredResult};
use rmcp::service::ServiceError;
use serde_json::{Value, json};
use slipstitch::core::ports::journal::{ProposalDecision, ProposalId};
use slipstitch::core::settings::Mode;
use slipstitch_mcp::Options;

use crate::rig::{Client, ERAS, Era, Heard, Person, Rig, approve, failed, field, request, text};

const OLD: &str = "one\ntwo\n";
const NEW: &str = "one\nTWO\n";

fn proposal() -> Value {
    json!({"path": "a.txt", "new_content": NEW, "description": "Shout"})
}

async fn rig(era: Era) -> (Rig, Client) {
    let rig = Rig::with(&[("a.txt", OLD)]);
    let client = rig.connect("agent-q", era).await;
    (rig, client)
}

fn settled(rig: &Rig, id: u64) -> Option<ProposalDecision> {
    rig.workspace("x").proposal(ProposalId(id)).unwrap().expect("a proposal").decision
}

#[tokio::test]
async fn a_person_agrees() {
    for era in ERAS {
        let (rig, mut client) = rig(era).await;
        client.say(approve());
        let done = client.call("propose_file_edit", proposal()).await;
        assert_eq!((failed(&done), field(&done, "status")), (false, &json!("applied")), "{}", text(&done));
        assert!(
            text(&done).starts_with("✓ Edit applied to a.txt"),
            "in the dialect's words: {}",
            text(&done)
        );
        assert_eq!(rig.text("a.txt"), NEW);
        let question = client.question().await;
        for part in ["\"rig\" wants to change 1 file (p1)", "What for: \"Shout\"", "-two\n+TWO"] {
            assert!(question.contains(part), "{question}");
        }
        let change = rig.workspace("x").log(&Default::default()).unwrap().remove(0);
        assert_eq!(change.approval, "a person through rig");
        assert!(matches!(settled(&rig, 1), Some(ProposalDecision::Accepted { .. })), "{era:?}");
    }
}

#[tokio::test]
async fn what_a_model_says_in_a_form_is_one_short_quoted_line() {
    let (_rig, mut client) = rig(Era::Handshake).await;
    let forged = "tidy\n\n--- a/README\n+++ b/README\r\u{2028}\u{202e}\u{200b}\u{1b}[2J \"so\" ";
    let description = forged.to_owned() + &"x".repeat(3_000_000);
    client.say(json!({"action": "decline"}));
    let change = json!({"path": "a.txt", "new_content": NEW, "description": description});
    client.call("propose_file_edit", change).await;
    let question = client.question().await;
    let line = question.lines().find(|line| line.starts_with("What for: ")).unwrap();
    let wanted = "What for: \"tidy --- a/README +++ b/README [2J 'so' xxx";
    assert!(line.starts_with(wanted) && line.ends_with("x…\""), "{line}");
    assert!(line.chars().count() < 520, "{}", line.len());
    assert!(!question.contains("\n--- a/README") && question.contains("-two\n+TWO"), "{question}");
}

#[tokio::test]
async fn a_person_says_no_and_why() {
    for era in ERAS {
        for answer in [
            json!({"action": "accept", "content": {"verdict": "reject", "reason": "too loud"}}),
            json!({"action": "decline"}),
        ] {
            let (rig, client) = rig(era).await;
            client.say(answer.clone());
            let no = client.call("propose_file_edit", proposal()).await;
            assert_eq!((failed(&no), field(&no, "code")), (true, &json!("declined")));
            if answer["action"] == "accept" {
                assert!(text(&no).contains("too loud"), "{}", text(&no));
            }
            assert_eq!(rig.text("a.txt"), OLD);
            assert!(matches!(settled(&rig, 1), Some(ProposalDecision::Rejected { .. })));
        }
    }
}

#[tokio::test]
async fn what_nobody_decides_on_waits_and_the_answer_says_how_to_review_it() {
    for era in ERAS {
        for (person, answer) in [
            (Person::default(), Some(json!({"action": "cancel"}))),
            (Person::default(), Some(json!({"action": "accept", "content": {}}))),
            (Person::without_forms(), None),
        ] {
            let rig = Rig::with(&[("a.txt", OLD)]);
            let client = Client::connect(rig.options("agent-q"), person, era).await;
            if let Some(answer) = answer {
                client.say(answer);
            }
            let later = client.call("propose_file_edit", proposal()).await;
            assert_eq!((failed(&later), field(&later, "proposal")), (true, &json!("p1")));
            assert!(text(&later).contains("slipstitch review accept p1"), "{}", text(&later));
            assert_eq!((rig.text("a.txt"), settled(&rig, 1)), (OLD.into(), None));
            // The way that the answer names works.
            assert!(rig.workspace("x").accept(ProposalId(1), "Ada").status().is_success());
            assert_eq!(rig.text("a.txt"), NEW);
        }
    }
}

#[tokio::test]
async fn a_file_that_changes_while_the_person_thinks_is_not_written_over() {
    for era in ERAS {
        let (rig, mut client) = rig(era).await;
        let (service, heard) = (&client.service, &mut client.heard);
        let call = service.call_tool(request("propose_file_edit", proposal()));
        tokio::pin!(call);
        tokio::select! {
            heard = heard.recv() => assert!(matches!(heard, Some(Heard::Question(_)))),
            early = &mut call => panic!("{early:?}"),
        }
        rig.put("a.txt", "someone else\n");
        client.say(approve());
        let stale = call.await.unwrap();
        assert_eq!((failed(&stale), field(&stale, "code")), (true, &json!("stale_file")), "{}", text(&stale));
        assert_eq!(rig.text("a.txt"), "someone else\n");
    }
}

#[tokio::test]
async fn a_person_who_takes_too_long_can_still_decide_elsewhere() {
    let rig = Rig::with(&[("a.txt", OLD)]);
    let mut options = rig.options("agent-q");
    options.patience = std::time::Duration::from_millis(100);
    let client = Client::connect(options.clone(), Person::default(), Era::Handshake).await;
    let later = client.call("propose_file_edit", proposal()).await;
    assert!(text(&later).contains("slipstitch review accept p1"), "{}", text(&later));

    let client = Client::connect(options, Person::default(), Era::Stateless).await;
    let asked = ask(&client, proposal()).await;
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    let CallToolResponse::Complete(late) = go_on(&client, proposal(), &asked, Some(approve())).await.unwrap()
    else {
        panic!("no more questions")
    };
    assert!(failed(&late) && text(&late).contains("slipstitch review accept p2"), "{}", text(&late));
    assert_eq!((rig.text("a.txt"), settled(&rig, 2)), (OLD.into(), None));
}

/// The first round: a form and a sealed state.
async fn ask(client: &Client, arguments: Value) -> InputRequiredResult {
    match client.service.call_tool_once(request("propose_file_edit", arguments)).await.unwrap() {
        CallToolResponse::InputRequired(asked) => asked,
        other => panic!("{other:?}"),
    }
}

/// The second round.
async fn go_on(
    client: &Client,
    arguments: Value,
    asked: &InputRequiredResult,
    answer: Option<Value>,
) -> Result<CallToolResponse, ServiceError> {
    let mut request = request("propose_file_edit", arguments);
    request.request_state = asked.request_state.clone();
    request.input_responses = answer.map(|answer| [("approval".to_owned(), answer)].into());
    client.service.call_tool_once(request).await
}

#[tokio::test]
async fn an_agreement_counts_once() {
    let (rig, client) = rig(Era::Stateless).await;
    let asked = ask(&client, proposal()).await;
    assert_eq!(rig.text("a.txt"), OLD, "nothing is written before the answer");
    go_on(&client, proposal(), &asked, Some(approve())).await.unwrap();
    assert_eq!(rig.text("a.txt"), NEW);
    client.call("edit_file", json!({"path": "a.txt", "old_str": "TWO", "new_str": "two"})).await;
    let error = go_on(&client, proposal(), &asked, Some(approve())).await.unwrap_err();
    assert!(error.to_string().contains("used before"), "{error}");
    assert_eq!(rig.text("a.txt"), OLD);
}

#[tokio::test]
async fn an_agreement_is_for_that_call_only() {
    let (rig, client) = rig(Era::Stateless).await;
    let asked = ask(&client, proposal()).await;
    let other = json!({"path": "a.txt", "new_content": "all gone\n", "description": "Shout"});
    let mut forged = asked.clone();
    forged.request_state = asked.request_state.as_ref().map(|state| state.replace('A', "B") + "x");
    for (arguments, state) in [(other, &asked), (proposal(), &forged)] {
        let error = go_on(&client, arguments, state, Some(approve())).await.unwrap_err();
        assert!(error.to_string().contains("not one that this server made"), "{error}");
    }
    // Another connection is another session.
    let stranger = rig.connect("agent-q", Era::Stateless).await;
    let error = go_on(&stranger, proposal(), &asked, Some(approve())).await.unwrap_err();
    assert!(error.to_string().contains("not one that this server made"), "{error}");
    assert_eq!(rig.text("a.txt"), OLD);
    go_on(&client, proposal(), &asked, Some(approve())).await.unwrap();
    assert_eq!(rig.text("a.txt"), NEW, "trying did not use it up");
}

#[tokio::test]
async fn a_state_without_an_answer_asks_again() {
    let (rig, client) = rig(Era::Stateless).await;
    let asked = ask(&client, proposal()).await;
    let again = match go_on(&client, proposal(), &asked, None).await.unwrap() {
        CallToolResponse::InputRequired(again) => again,
        other => panic!("{other:?}"),
    };
    assert_ne!(again.request_state, asked.request_state);
    go_on(&client, proposal(), &again, Some(approve())).await.unwrap();
    assert_eq!(rig.text("a.txt"), NEW);
}

#[tokio::test]
async fn a_wish_without_an_answer_is_asked_for_again_with_its_reason() {
    let rig = Rig::with(&[("a.txt", OLD)]);
    let options = Options { mode: Mode::Restricted, ..rig.options("phoenix") };
    let client = Client::connect(options, Person::default(), Era::Stateless).await;
    let mut wish = request("request_mode_upgrade", json!({"reason": "to mend\na.txt"}));
    for _ in 0..3 {
        let asked = match client.service.call_tool_once(wish.clone()).await.unwrap() {
            CallToolResponse::InputRequired(asked) => asked,
            other => panic!("{other:?}"),
        };
        let forms = serde_json::to_value(&asked.input_requests).unwrap();
        let message = forms["approval"]["params"]["message"].as_str().unwrap();
        assert!(message.contains("What for: \"to mend a.txt\""), "{message}");
        wish.request_state = asked.request_state;
    }
    wish.input_responses = Some([("approval".to_owned(), approve())].into());
    let CallToolResponse::Complete(done) = client.service.call_tool_once(wish).await.unwrap() else {
        panic!("no more questions")
    };
    assert!(!failed(&done), "{}", text(&done));
}

#[tokio::test]
async fn a_call_that_asked_is_counted_once_as_what_became_of_it() {
    let no = || json!({"action": "decline"});
    for era in ERAS {
        for (answer, ended) in [
            (approve(), (1, 0, "")),
            (no(), (0, 1, "declined")),
            (json!({"action": "cancel"}), (0, 1, "pending_review")),
        ] {
            for (dialect, tool, call) in [
                ("agent-q", "propose_file_edit", proposal()),
                ("phoenix", "request_mode_upgrade", json!({"reason": "x"})),
            ] {
                let rig = Rig::with(&[("a.txt", OLD)]);
                let mut options = rig.options(dialect);
                if dialect == "phoenix" {
                    options.mode = Mode::Restricted;
                }
                let client = Client::connect(options, Person::default(), era).await;
                client.say(answer.clone());
                client.call(tool, call).await;
                let groups = rig.workspace("x").stats(&Default::default()).unwrap();
                let tally = &groups[0].tally;
                let cause = tally.causes.first().map_or("", |cause| cause.what.as_str());
                assert_eq!((groups.len(), tally.calls), (1, 1), "{era:?} {tool} {answer}");
                assert_eq!((tally.applied, tally.refused, cause), ended, "{era:?} {tool} {answer}");
            }
        }
    }
}
