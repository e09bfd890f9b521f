//! Restricted sessions, and changes of the mode.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;
use slipstitch::Workspace;
use slipstitch::core::dialect::Effect;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Decision, ModeRequest};
use slipstitch::core::ports::journal::ProposalSubject;
use slipstitch::core::settings::Mode;
use slipstitch::dialects::BUILTIN;

use crate::support::{TestFolder, ada};

struct Session(TestFolder);

impl Session {
    fn new() -> Self {
        let folder = TestFolder::new();
        folder.put("a.txt", "one\n");
        Self(folder)
    }

    fn open(&self) -> Workspace {
        self.0.open_session("s")
    }

    fn text(&self) -> String {
        self.0.text("a.txt")
    }
}

fn patch() -> serde_json::Value {
    json!({"path": "a.txt", "patches": [{"operation": "replace", "oldText": "one", "newText": "1"}]})
}

#[test]
fn a_session_keeps_its_mode_across_processes() {
    let session = Session::new();
    assert_eq!(session.open().mode().unwrap(), Mode::Unrestricted);
    session.open().set_mode(Mode::Restricted).unwrap();
    let answer = session.open().call("phoenix", "patch", patch());
    let message =
        "Patch tool is disabled in Restricted mode. Use request_mode_upgrade to request write access.";
    assert_eq!(answer.text, message);
    assert_eq!(session.text(), "one\n");
    assert!(session.open().call("native", "read_file", json!({"path": "a.txt"})).report.is_success());
    session.open().set_mode(Mode::Unrestricted).unwrap();
    assert!(session.open().call("phoenix", "patch", patch()).report.is_success());
    assert_eq!(session.text(), "1\n");
}

/// Approves everything, but decides on a change only after `resume`.
struct SlowApprover {
    entered: mpsc::Sender<()>,
    resume: mpsc::Receiver<()>,
}

impl Approver for SlowApprover {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> Decision {
        self.entered.send(()).unwrap();
        self.resume.recv().unwrap();
        Decision::Approve { by: "Ada".into() }
    }

    fn grant(&mut self, wish: &ModeRequest<'_>) -> Decision {
        assert_eq!((wish.session, wish.reason), ("s", Some("to fix a.txt")));
        Decision::Approve { by: "Ada".into() }
    }
}

// Shows: REQ-PATCH-009-idle
#[test]
fn a_mode_change_waits_for_calls_in_flight() {
    let session = Session::new();
    let (entered_tx, entered) = mpsc::channel();
    let (resume, resume_rx) = mpsc::channel();
    let (changed_tx, changed) = mpsc::channel();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let mut approver = SlowApprover { entered: entered_tx, resume: resume_rx };
            session.open().call_with("phoenix", "patch", patch(), &mut approver)
        });
        entered.recv().unwrap();
        scope.spawn(|| {
            session.open().set_mode(Mode::Restricted).unwrap();
            changed_tx.send(()).unwrap();
        });
        assert!(changed.recv_timeout(Duration::from_millis(200)).is_err(), "the change waits");
        resume.send(()).unwrap();
        assert!(call.join().unwrap().report.is_success(), "the call in flight is not affected");
        changed.recv_timeout(Duration::from_secs(30)).expect("then the mode changes");
    });
    assert_eq!(session.text(), "1\n");
    assert_eq!(session.open().call("phoenix", "patch", patch()).report.code(), "restricted_mode");
}

// Shows: REQ-PATCH-009-upgrade
#[test]
fn a_granted_upgrade_lasts() {
    let session = Session::new();
    session.open().set_mode(Mode::Restricted).unwrap();
    let (entered, _keep) = mpsc::channel();
    let mut approver = SlowApprover { entered, resume: mpsc::channel().1 };
    let answer = session.open().call_with(
        "phoenix",
        "request_mode_upgrade",
        json!({"reason": "to fix a.txt"}),
        &mut approver,
    );
    assert_eq!(answer.report.code(), "mode_upgraded", "{}", answer.text);
    assert_eq!(session.open().mode().unwrap(), Mode::Unrestricted);
}

#[test]
fn a_refused_call_says_who_can_give_write_access_but_not_how() {
    let session = Session::new();
    let workspace = session.open();
    workspace.set_mode(Mode::Restricted).unwrap();
    // Phoenix has its own message, which names its tool for this.
    for dialect in BUILTIN.iter().filter(|dialect| dialect.restricted_message.is_none()) {
        for tool in dialect.tools.iter().filter(|tool| tool.effect != Effect::Reads) {
            let answer = workspace.call(dialect.name, tool.name, json!({}));
            assert_eq!(answer.report.code(), "restricted_mode", "{} {}", dialect.name, tool.name);
            // An agent with a shell must not be told how to give itself more rights.
            let is_safe =
                answer.text.contains("only they can grant it") && !answer.text.contains("slipstitch");
            assert!(is_safe, "{} {}: {}", dialect.name, tool.name, answer.text);
        }
    }
}

/// Nobody is asked at once, as with a client that has no forms.
fn request(session: &Session) -> slipstitch::core::engine::Answer {
    session.open().call("phoenix", "request_mode_upgrade", json!({"reason": "to fix a.txt"}))
}

// Shows: REQ-PATCH-009-review
#[test]
fn a_request_that_nobody_decides_waits_for_review() {
    let session = Session::new();
    session.open().set_mode(Mode::Restricted).unwrap();
    let answer = request(&session);
    assert_eq!(answer.report.code(), "pending_review", "{}", answer.text);
    let id = answer.report.proposal.expect("an id to review");
    assert_eq!(request(&session).report.proposal, Some(id), "it is stored once");
    let reviewer = session.0.open_session("reviewer");
    let listed = reviewer.proposals().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].proposal.notes.subject, ProposalSubject::WriteAccess);
    assert_eq!(listed[0].proposal.description.as_deref(), Some("to fix a.txt"));

    assert!(reviewer.reject(id, &ada(&reviewer), Some("not now")).is_success());
    let answer = request(&session);
    assert_eq!(answer.report.code(), "declined");
    assert!(answer.text.contains("ada") && answer.text.contains("not now"), "{}", answer.text);
    assert_eq!(session.open().mode().unwrap(), Mode::Restricted);

    // The decision was reported; the next request is a new one.
    let id = request(&session).report.proposal.expect("a new request");
    assert_eq!(reviewer.accept(id, &ada(&reviewer)).code(), "mode_upgraded");
    assert_eq!(session.open().mode().unwrap(), Mode::Unrestricted);
    assert_eq!(reviewer.mode().unwrap(), Mode::Unrestricted, "the reviewer's own mode is its own");
    let answer = request(&session);
    assert_eq!(answer.report.code(), "mode_upgraded");
    assert!(answer.text.contains("ada allowed write access"), "{}", answer.text);
    assert!(session.open().call("phoenix", "patch", patch()).report.is_success());
    assert!(reviewer.proposals().unwrap().is_empty());
}

#[test]
fn write_access_granted_once_can_be_taken_away_and_asked_for_again() {
    let session = Session::new();
    session.open().set_mode(Mode::Restricted).unwrap();
    let first = request(&session).report.proposal.unwrap();
    session.open().accept(first, &ada(&session.open()));
    session.open().set_mode(Mode::Restricted).unwrap();
    let second = request(&session).report.proposal.unwrap();
    assert_ne!(first, second, "an old decision does not grant anything");
    assert_eq!(session.open().mode().unwrap(), Mode::Restricted);
}

// Shows: REQ-PATCH-009-review
#[test]
fn setting_the_mode_settles_a_waiting_request() {
    let session = Session::new();
    session.open().set_mode(Mode::Restricted).unwrap();
    let id = request(&session).report.proposal.expect("an id to review");
    session.open().set_mode(Mode::Restricted).unwrap();
    assert_eq!(session.open().proposals().unwrap().len(), 1);
    session.open().set_mode(Mode::Unrestricted).unwrap();
    assert!(session.open().proposals().unwrap().is_empty());
    assert_eq!(session.open().reject(id, &ada(&session.open()), None).code(), "already_settled");
    let answer = request(&session);
    assert_eq!(answer.report.code(), "mode_upgraded", "{}", answer.text);
}
