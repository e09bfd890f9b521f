//! Proposals and their review, in memory.

use serde_json::json;
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::guard::Policy;
use slipstitch_core::outcome::Status;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::{Filter, Journal, ProposalDecision, ProposalId};
use slipstitch_core::ports::memory::{Fault, MemoryJournal, MemoryWorkspace};
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::settings::Settings;

#[derive(Default)]
struct Rig {
    files: MemoryWorkspace,
    journal: MemoryJournal,
    policy: Policy,
    settings: Settings,
}

fn a() -> FilePath {
    FilePath::from_record("a").unwrap()
}

impl Rig {
    fn with(text: &str) -> Self {
        let rig = Self::default();
        rig.files.put(&a(), text);
        rig
    }

    fn engine(&self) -> Engine<'_> {
        Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .policy(&self.policy)
            .settings(&self.settings)
            .session("agent")
    }

    fn call(&self, tool: &str, arguments: serde_json::Value) -> Answer {
        self.engine().call(Request { dialect: "agent-q".into(), tool: tool.into(), arguments }, &mut Auto)
    }

    fn propose(&self) -> ProposalId {
        let report = self.call("propose_file_edit", json!({"path": "a", "new_content": "1\n"})).report;
        assert_eq!((report.status(), report.code()), (Status::Refused, "pending_review"));
        report.proposal.unwrap()
    }

    fn text(&self) -> Vec<u8> {
        self.files.get(&a()).unwrap()
    }
}

#[test]
fn an_accepted_proposal_is_applied_exactly_once() {
    let rig = Rig::with("one\n");
    let id = rig.propose();
    assert_eq!(rig.text(), b"one\n");
    assert!(rig.journal.list(&Filter::default()).unwrap().is_empty());
    let report = rig.engine().accept(id, "ada");
    assert_eq!((report.status(), report.proposal), (Status::Applied, Some(id)));
    assert_eq!(rig.text(), b"1\n");
    let entry = &rig.journal.list(&Filter::default()).unwrap()[0];
    assert_eq!((entry.approval.as_str(), entry.origin.tool.as_str()), ("ada", "propose_file_edit"));
    let decision = rig.journal.proposal(id).unwrap().unwrap().decision;
    assert_eq!(decision, Some(ProposalDecision::Accepted { by: "ada".into(), change: entry.id }));
    assert_eq!(rig.engine().accept(id, "ada").code(), "already_settled");
    assert_eq!(rig.engine().reject(id, "ada", None).code(), "already_settled");
    assert_eq!(rig.engine().accept(ProposalId(9), "ada").code(), "unknown_proposal");
}

#[test]
fn accepting_one_proposal_makes_another_for_the_same_file_stale() {
    let rig = Rig::with("one\n");
    let (first, second) = (rig.propose(), rig.propose());
    assert_eq!(rig.engine().accept(first, "ada").status(), Status::Applied);
    let report = rig.engine().accept(second, "ada");
    assert_eq!((report.status(), report.code()), (Status::Refused, "stale_file"));
    assert!(report.message.contains("`a`"), "{}", report.message);
    assert_eq!(rig.journal.proposals().unwrap().len(), 1, "it still waits for review");
}

#[test]
fn a_concurrent_write_makes_the_proposal_stale() {
    let rig = Rig::with("one\n");
    let id = rig.propose();
    rig.files.write_after_next_read(&a(), "other\n");
    assert_eq!(rig.engine().accept(id, "ada").code(), "stale_file");
    assert_eq!(rig.text(), b"other\n");
}

#[test]
fn a_proposal_that_cannot_be_written_keeps_waiting() {
    let rig = Rig::with("one\n");
    let id = rig.propose();
    let full = WorkspaceError::Io { path: a(), action: "write", reason: "the disk is full".into() };
    rig.files.fail_next(Fault::Publish, full);
    assert_eq!(rig.engine().accept(id, "ada").status(), Status::Failed);
    assert_eq!(rig.engine().accept(id, "ada").status(), Status::Applied);
}

// Shows: 002-error-permission
#[test]
fn permission_errors_start_with_the_short_message() {
    let rig = Rig::with("one\n");
    let denied = WorkspaceError::Denied { path: a(), action: "write" };
    let reason = denied.to_string();
    rig.files.fail_next(Fault::Stage, denied);
    let answer = rig.call("edit_file", json!({"path": "a", "old_str": "one", "new_str": "1"}));
    assert_eq!(answer.text, format!("Error: Cannot write to file\nError editing file: {reason}"));
    assert_eq!(rig.text(), b"one\n");
}
