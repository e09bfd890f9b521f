//! Cancellation at every check of every kind of call: nothing is written, and the answer says so.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use slipstitch_core::cancel::CancelToken;
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::guard::Policy;
use slipstitch_core::outcome::{Outcome, Refused};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::{ApprovalRequest, Approver, Auto, Decision};
use slipstitch_core::ports::journal::{Filter, Journal};
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

struct Rig {
    files: MemoryWorkspace,
    journal: MemoryJournal,
    policy: Policy,
}

impl Rig {
    fn new() -> Self {
        let files = MemoryWorkspace::default();
        let many: String =
            (0..300).map(|n| format!("line {n} of the file\n    and its body {n}\n")).collect();
        for (name, text) in [("a.txt", many.as_str()), ("b.txt", "one\ntwo\nthree\n"), (".env", "KEY=1\n")] {
            files.put(&FilePath::from_record(name).unwrap(), text);
        }
        Self { files, journal: MemoryJournal::default(), policy: Policy::default() }
    }

    fn call(&self, call: &Call, cancel: &CancelToken, approver: &mut dyn Approver) -> Answer {
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .policy(&self.policy)
            .session("cancel")
            .cancel(cancel);
        let (dialect, tool, arguments) = call.clone();
        engine.call(Request { dialect: dialect.into(), tool: tool.into(), arguments }, approver)
    }

    /// Everything that a call can write.
    fn state(&self) -> (BTreeMap<FilePath, Vec<u8>>, usize, usize) {
        let changes = self.journal.list(&Filter::default()).unwrap().len();
        (self.files.all(), changes, self.journal.proposals().unwrap().len())
    }
}

type Call = (&'static str, &'static str, Value);

fn calls() -> Vec<Call> {
    let batch = |key: &str| -> Vec<Value> {
        let old = |n: usize| format!("body {n}\n");
        (100..200)
            .map(|n| json!({format!("old_{key}"): old(n), format!("new_{key}"): format!("BODY {n}\n")}))
            .collect()
    };
    let chain: Vec<Value> = (0..20)
        .map(|n| json!({"old_string": format!("body 7{}\n", "x".repeat(n)), "new_string": format!("body 7{}\n", "x".repeat(n + 1))}))
        .collect();
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-line 0 of the file\n+LINE 0\n     and its body 0\n\
                 --- a/b.txt\n+++ b/b.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    vec![
        ("native", "read_file", json!({"path": "a.txt"})),
        ("native", "edit_file", json!({"path": "b.txt", "old_text": "two", "new_text": "2"})),
        // Found by recovery only.
        (
            "native",
            "edit_file",
            json!({"path": "a.txt", "old_text": "line 42 of the file\n  and its body 42\n", "new_text": "x\n"}),
        ),
        ("native", "edit_file", json!({"path": "a.txt", "edits": batch("text")})),
        ("native", "patch", json!({"patch": patch})),
        ("native", "write_file", json!({"path": "new/c.txt", "content": "c\n", "mode": "create"})),
        ("nexus3", "edit_file", json!({"path": "a.txt", "edits": batch("string")})),
        ("claude", "MultiEdit", json!({"file_path": "a.txt", "edits": batch("string")})),
        ("claude", "MultiEdit", json!({"file_path": "a.txt", "edits": chain})),
    ]
}

/// Cancels a call at its first check, at its second, and so on, until it gets through. Returns how many checks it has.
fn cancel_everywhere(rig: &Rig, call: &Call) -> usize {
    for checks in 0.. {
        let before = rig.state();
        let token = CancelToken::after_checks(checks);
        let answer = rig.call(call, &token, &mut Auto);
        if answer.report.outcome != Outcome::Refused(Refused::Cancelled) {
            assert!(answer.report.is_success(), "after {checks} checks, {call:?}: {}", answer.text);
            return checks;
        }
        assert_eq!(rig.state(), before, "cancelled at check {checks}, but something was written: {call:?}");
        assert!(answer.text.contains("cancelled"), "{}", answer.text);
        assert!(answer.report.message.contains("nothing was written"), "{}", answer.report.message);
    }
    unreachable!("a call has finitely many checks")
}

#[test]
fn a_cancelled_call_writes_nothing_wherever_it_is() {
    for call in calls() {
        let checks = cancel_everywhere(&Rig::new(), &call);
        assert!(checks >= if call.1 == "read_file" { 2 } else { 6 }, "{checks} checks in {call:?}");
    }
}

#[test]
fn a_brief_call_edits_what_it_finds_at_once_and_searches_for_nothing_else() {
    let edit =
        |old: &str| ("native", "edit_file", json!({"path": "b.txt", "old_text": old, "new_text": "2"}));
    let rig = Rig::new();
    let before = rig.state();
    let token = CancelToken::brief();
    let answer = rig.call(&edit("  two"), &token, &mut Auto);
    assert_eq!(answer.report.outcome, Outcome::Refused(Refused::Cancelled), "{}", answer.text);
    assert!(token.is_cancelled());
    assert_eq!(rig.state(), before);

    let token = CancelToken::brief();
    let answer = rig.call(&edit("two"), &token, &mut Auto);
    assert!(answer.report.is_success(), "{}", answer.text);
    assert!(!token.is_cancelled());
}

#[test]
fn a_cancelled_undo_writes_nothing() {
    let rig = Rig::new();
    let edit = ("native", "edit_file", json!({"path": "b.txt", "old_text": "two", "new_text": "2"}));
    assert!(rig.call(&edit, &CancelToken::default(), &mut Auto).report.is_success());
    let checks = cancel_everywhere(&rig, &("native", "undo_edit", json!({})));
    assert!(checks >= 4, "{checks}");
}

#[test]
fn a_chain_of_edits_is_checked_at_every_step() {
    let chain = calls().pop().unwrap();
    assert!(cancel_everywhere(&Rig::new(), &chain) > 20);
}

/// Cancels the call while it is being approved.
struct CancelsMeanwhile<'a>(&'a CancelToken);

impl Approver for CancelsMeanwhile<'_> {
    fn decide(&mut self, request: &ApprovalRequest<'_>) -> Decision {
        assert!(self.0.cancel());
        Auto.decide(request)
    }
}

#[test]
fn a_call_cancelled_after_its_approval_writes_nothing() {
    for call in calls().into_iter().filter(|call| call.1 != "read_file") {
        let rig = Rig::new();
        let before = rig.state();
        let token = CancelToken::default();
        let answer = rig.call(&call, &token, &mut CancelsMeanwhile(&token));
        assert_eq!(answer.report.outcome, Outcome::Refused(Refused::Cancelled), "{call:?}");
        assert_eq!(rig.state(), before);
    }
}

#[test]
fn a_cancelled_call_leaves_no_proposal() {
    let rig = Rig::new();
    let call = ("native", "edit_file", json!({"path": ".env", "old_text": "KEY=1", "new_text": "KEY=2"}));
    let before = rig.state();
    let token = CancelToken::default();
    let answer = rig.call(&call, &token, &mut CancelsMeanwhile(&token));
    assert_eq!(answer.report.outcome, Outcome::Refused(Refused::Cancelled), "{}", answer.text);
    assert_eq!(rig.state(), before);
    let answer = rig.call(&call, &CancelToken::default(), &mut Auto);
    assert_eq!(
        answer.report.outcome,
        Outcome::Refused(Refused::PendingReview),
        "otherwise it becomes a proposal"
    );
}
