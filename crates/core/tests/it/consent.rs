//! The `forge` dialect asks before it writes, and leaves the file unchanged if the disk fails.

use serde_json::json;
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::{ApprovalRequest, Approver, Auto, Decision};
use slipstitch_core::ports::journal::{Filter, Journal};
use slipstitch_core::ports::memory::{Fault, MemoryJournal, MemoryWorkspace};
use slipstitch_core::ports::workspace::WorkspaceError;

/// Gives the same answer to every request, and records the requests.
struct Reviewer {
    answer: Decision,
    requests: Vec<String>,
}

impl Approver for Reviewer {
    fn decide(&mut self, request: &ApprovalRequest<'_>) -> Decision {
        self.requests.push(format!("{} {}: {}", request.origin.dialect, request.origin.tool, request.diff));
        self.answer.clone()
    }
}

#[derive(Default)]
struct Rig {
    files: MemoryWorkspace,
    journal: MemoryJournal,
}

fn a() -> FilePath {
    FilePath::from_record("a").unwrap()
}

impl Rig {
    fn new() -> Self {
        let rig = Self::default();
        rig.files.put(&a(), "one\n");
        rig
    }

    fn edit(&self, approver: &mut dyn Approver) -> Answer {
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .session("consent");
        let arguments = json!({"path": "a", "old_snippet": "one", "new_snippet": "1"});
        engine.call(Request { dialect: "forge".into(), tool: "Edit".into(), arguments }, approver)
    }

    fn changes(&self) -> usize {
        self.journal.list(&Filter::default()).unwrap().len()
    }
}

// Shows: NFR-SFE-SEC-02, 002-pending
#[test]
fn forge_edits_need_the_approvers_consent() {
    let decline = Decision::Decline { by: "Ada".into(), reason: "not on a Friday".into() };
    let pend = Decision::Pend { how: "slipstitch review".into() };
    for (answer, status, part) in
        [(decline, "error", "not on a Friday"), (pend, "pending", "waiting for review")]
    {
        let rig = Rig::new();
        let mut reviewer = Reviewer { answer, requests: Vec::new() };
        let payload = rig.edit(&mut reviewer).payload.unwrap();
        assert_eq!(payload["status"], status, "{payload}");
        assert!(payload["message"].as_str().unwrap().contains(part), "{payload}");
        assert!(payload["current_file_hash"].is_string() && payload["newline_kind"] == "LF", "{payload}");
        assert_eq!((rig.files.get(&a()).unwrap().as_slice(), rig.changes()), (&b"one\n"[..], 0));
        assert!(
            reviewer.requests[0].starts_with("forge Edit: ") && reviewer.requests[0].contains("-one\n+1\n")
        );
    }
    let rig = Rig::new();
    let mut reviewer = Reviewer { answer: Decision::Approve { by: "Ada".into() }, requests: Vec::new() };
    assert_eq!(rig.edit(&mut reviewer).payload.unwrap()["status"], "ok");
    assert_eq!(rig.files.get(&a()).unwrap(), b"1\n");
    assert_eq!(rig.journal.list(&Filter::default()).unwrap()[0].approval, "Ada");
}

// Shows: NFR-SFE-REL-02, T-SFE-ATOM-01
#[test]
fn a_failing_disk_leaves_the_file_unchanged() {
    for fault in [Fault::Stage, Fault::Publish] {
        let rig = Rig::new();
        let full = WorkspaceError::Io { path: a(), action: "write", reason: "the disk is full".into() };
        rig.files.fail_next(fault, full);
        let payload = rig.edit(&mut Auto).payload.unwrap();
        assert_eq!(payload["status"], "error");
        assert!(payload["message"].as_str().unwrap().contains("the disk is full"), "{payload}");
        assert_eq!(rig.files.get(&a()).unwrap(), b"one\n");
    }
}
