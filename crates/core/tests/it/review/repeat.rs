//! The same call sent again.

use serde_json::{Value, json};
use slipstitch_core::engine::{Request, Verdict};
use slipstitch_core::guard::{Conditions, ConsentRule, Rule};
use slipstitch_core::outcome::Status;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::{Filter, Journal};
use slipstitch_core::report::Report;

use super::{Rig, a, edited};

/// Every change needs approval.
fn rig_with_rule(text: &str) -> Rig {
    let mut rig = Rig::with(text);
    let rule = Rule::new(Conditions::default(), ConsentRule::Ask, None, "rule 1 in config.toml".into());
    rig.policy.rules.user.push(rule.unwrap());
    rig
}

impl Rig {
    fn call_native(&self, tool: &str, arguments: &Value) -> Report {
        let request = Request { dialect: "native".into(), tool: tool.into(), arguments: arguments.clone() };
        self.engine().call(request, &mut Auto).report
    }
}

#[test]
fn the_same_call_gets_the_same_decision_while_the_file_is_as_it_was_left() {
    let rig = Rig::with("one\n");
    let call = || rig.call("propose_file_edit", json!({"path": "a", "new_content": "1\n"})).report;
    let first = call();
    let again = call();
    assert_eq!((again.code(), again.proposal), ("pending_review", first.proposal), "no second proposal");
    assert_eq!(rig.journal.proposals().unwrap().len(), 1);
    rig.engine().reject(first.proposal.unwrap(), "ada", Some("keep the word"));
    for _ in 0..3 {
        let told = call();
        assert_eq!((told.code(), told.proposal), ("declined", first.proposal));
        assert!(told.message.contains(" was rejected by ada"), "{told:?}");
        assert!(told.message.contains("keep the word"), "{}", told.message);
    }
    // Another description is another call.
    let other = json!({"path": "a", "new_content": "1\n", "description": "once more"});
    assert_ne!(rig.call("propose_file_edit", other).report.proposal, first.proposal);
    // For another text it is a new request.
    rig.files.put(&a(), "two\n");
    let second = call();
    assert_eq!(second.code(), "pending_review");
    assert_ne!(second.proposal, first.proposal);
    rig.engine().accept(second.proposal.unwrap(), "ada");
    for _ in 0..3 {
        let told = call();
        assert_eq!((told.status(), told.proposal), (Status::Applied, second.proposal), "{told:?}");
        assert!(told.message.contains("accepted by ada as c1"), "{}", told.message);
    }
    assert_eq!(rig.journal.list(&Filter::default()).unwrap().len(), 1);
}

#[test]
fn a_decision_is_reported_once_even_if_the_file_has_changed_since() {
    let rig = Rig::with("one\n");
    let call = || rig.call("propose_file_edit", json!({"path": "a", "new_content": "1\n"})).report;
    let id = call().proposal.unwrap();
    rig.engine().reject(id, "ada", Some("no"));
    rig.files.put(&a(), "two\n");
    assert_eq!(call().code(), "declined");
    assert_eq!(call().code(), "pending_review");
    // The call that waited has received the decision; the same call sent after that gets it too.
    let rig = Rig::with("one\n");
    let call = || rig.call("propose_file_edit", json!({"path": "a", "new_content": "1\n"})).report;
    let id = call().proposal.unwrap();
    rig.engine().reject(id, "ada", Some("no"));
    let found = rig.journal.proposal(id).unwrap().unwrap();
    assert_eq!(rig.engine().report_decision(&found).unwrap().code(), "declined");
    assert_eq!((call().code(), call().proposal), ("declined", Some(id)));
}

#[test]
fn a_withdrawn_call_is_a_new_request() {
    let rig = Rig::with("one\n");
    let call = || rig.call("propose_file_edit", json!({"path": "a", "new_content": "1\n"})).report;
    let id = call().proposal.unwrap();
    rig.engine().withdraw(id, "the client", Some("the call was cancelled"));
    let again = call();
    assert_eq!(again.code(), "pending_review");
    assert_ne!(again.proposal, Some(id));
}

#[test]
fn another_session_does_not_get_the_decision() {
    let rig = Rig::with("one\n");
    let id = rig.propose();
    rig.engine().reject(id, "ada", None);
    let request = Request {
        dialect: "agent-q".into(),
        tool: "propose_file_edit".into(),
        arguments: json!({"path": "a", "new_content": "1\n"}),
    };
    let other = rig.engine().session("other").call(request, &mut Auto).report;
    assert_eq!(other.code(), "pending_review");
}

/// Each of these calls asks for another line, or for the same words once more.
#[test]
fn a_second_identical_addition_is_another_request() {
    for (tool, arguments, once, twice) in [
        ("write_file", json!({"path": "a", "content": "x\n", "mode": "append"}), "one\nx\n", "one\nx\nx\n"),
        (
            "edit_file",
            json!({"path": "a", "old_text": "one\n", "new_text": "one\nx\n"}),
            "one\nx\n",
            "one\nx\nx\n",
        ),
    ] {
        let rig = rig_with_rule("one\n");
        let call = || rig.call_native(tool, &arguments);
        let first = call().proposal.unwrap();
        assert!(rig.engine().accept(first, "ada").is_success());
        assert_eq!(rig.text(), once.as_bytes());
        // Its caller asks what was decided.
        let told = call();
        assert_eq!((told.status(), told.proposal), (Status::Applied, Some(first)), "{tool}: {told:?}");
        let another = call();
        assert_eq!(another.code(), "pending_review", "{tool}: {another:?}");
        assert_ne!(another.proposal, Some(first));
        assert!(rig.engine().accept(another.proposal.unwrap(), "ada").is_success());
        assert_eq!(rig.text(), twice.as_bytes());
    }
}

/// Asking again would bring back what the reviewer did not want.
#[test]
fn what_was_left_out_or_edited_is_not_asked_about_again() {
    let new: String = (1..=20).map(|line| format!("{line}\n")).collect();
    let old = new.replace("\n2\n", "\ntwo\n").replace("\n18\n", "\neighteen\n");
    for verdict in [Verdict::accept_only(&[1]), edited(2, "XVIII\n")] {
        let rig = rig_with_rule(&old);
        let call =
            || rig.call_native("write_file", &json!({"path": "a", "content": new, "mode": "overwrite"}));
        let first = call().proposal.unwrap();
        assert!(rig.engine().decide(first, "ada", &verdict).is_success());
        for _ in 0..3 {
            let told = call();
            assert_eq!((told.status(), told.proposal), (Status::Applied, Some(first)), "{told:?}");
        }
    }
}
