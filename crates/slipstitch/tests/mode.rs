//! Sessions that may only look, and changes of that.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;
use slipstitch::Workspace;
use slipstitch::core::dialect::Effect;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Decision, ModeRequest};
use slipstitch::core::settings::Mode;
use slipstitch::dialects::BUILTIN;

struct Rig(tempfile::TempDir);

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        std::fs::write(folder.path().join("root/a.txt"), "one\n").unwrap();
        Self(folder)
    }

    fn open(&self) -> Workspace {
        let builder = Workspace::builder(self.0.path().join("root"));
        builder
            .state_dir(self.0.path().join("state"))
            .session("s")
            .fsync(slipstitch::Fsync::Off)
            .open()
            .unwrap()
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.0.path().join("root/a.txt")).unwrap()
    }
}

fn patch() -> serde_json::Value {
    json!({"path": "a.txt", "patches": [{"operation": "replace", "oldText": "one", "newText": "1"}]})
}

#[test]
fn a_session_keeps_its_mode_over_processes() {
    let rig = Rig::new();
    assert_eq!(rig.open().mode().unwrap(), Mode::Unrestricted);
    rig.open().set_mode(Mode::Restricted).unwrap();
    let answer = rig.open().call("phoenix", "patch", patch());
    let sentence =
        "Patch tool is disabled in Restricted mode. Use request_mode_upgrade to request write access.";
    assert_eq!(answer.text, sentence);
    assert_eq!(rig.text(), "one\n");
    assert!(rig.open().call("native", "read_file", json!({"path": "a.txt"})).report.is_success());
    rig.open().set_mode(Mode::Unrestricted).unwrap();
    assert!(rig.open().call("phoenix", "patch", patch()).report.is_success());
    assert_eq!(rig.text(), "1\n");
}

/// A person who takes time, and who allows writing.
struct Slow {
    entered: mpsc::Sender<()>,
    go_on: mpsc::Receiver<()>,
}

impl Approver for Slow {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> Decision {
        self.entered.send(()).unwrap();
        self.go_on.recv().unwrap();
        Decision::Approve { by: "Ada".into() }
    }

    fn grant(&mut self, wish: &ModeRequest<'_>) -> Decision {
        assert_eq!((wish.session, wish.reason), ("s", Some("to mend a.txt")));
        Decision::Approve { by: "Ada".into() }
    }
}

// Shows: REQ-PATCH-009-idle
#[test]
fn a_change_of_mode_waits_for_calls_in_flight() {
    let rig = Rig::new();
    let (entered_tx, entered) = mpsc::channel();
    let (go_on, go_on_rx) = mpsc::channel();
    let (changed_tx, changed) = mpsc::channel();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let mut person = Slow { entered: entered_tx, go_on: go_on_rx };
            rig.open().call_with("phoenix", "patch", patch(), &mut person)
        });
        entered.recv().unwrap();
        scope.spawn(|| {
            rig.open().set_mode(Mode::Restricted).unwrap();
            changed_tx.send(()).unwrap();
        });
        assert!(changed.recv_timeout(Duration::from_millis(200)).is_err(), "the change waits");
        go_on.send(()).unwrap();
        assert!(call.join().unwrap().report.is_success(), "the call in flight is not affected");
        changed.recv_timeout(Duration::from_secs(30)).expect("then the mode changes");
    });
    assert_eq!(rig.text(), "1\n");
    assert_eq!(rig.open().call("phoenix", "patch", patch()).report.code(), "restricted_mode");
}

// Shows: REQ-PATCH-009-upgrade
#[test]
fn a_wish_that_is_granted_lasts() {
    let rig = Rig::new();
    rig.open().set_mode(Mode::Restricted).unwrap();
    let (entered, _keep) = mpsc::channel();
    let mut person = Slow { entered, go_on: mpsc::channel().1 };
    let answer = rig.open().call_with(
        "phoenix",
        "request_mode_upgrade",
        json!({"reason": "to mend a.txt"}),
        &mut person,
    );
    assert_eq!(answer.report.code(), "mode_upgraded", "{}", answer.text);
    assert_eq!(rig.open().mode().unwrap(), Mode::Unrestricted);
}

#[test]
fn whoever_may_only_look_is_told_how_a_person_can_allow_more() {
    let rig = Rig::new();
    let workspace = rig.open();
    workspace.set_mode(Mode::Restricted).unwrap();
    // Phoenix has a tool for it, and a sentence of its own that names the tool.
    for dialect in BUILTIN.iter().filter(|dialect| dialect.restricted_message.is_none()) {
        for tool in dialect.tools.iter().filter(|tool| tool.effect != Effect::Reads) {
            let answer = workspace.call(dialect.name, tool.name, json!({}));
            assert_eq!(answer.report.code(), "restricted_mode", "{} {}", dialect.name, tool.name);
            let told = answer.text.contains("`slipstitch mode unrestricted --session s`");
            assert!(told, "{} {}: {}", dialect.name, tool.name, answer.text);
        }
    }
}
