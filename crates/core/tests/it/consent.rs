//! The `forge` dialect asks before it writes, and a failing disk leaves the file as it was.

use serde_json::json;
use slipstitch_core::engine::{Answer, Engine, Request};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::{Approver, Auto, Decision, Question};
use slipstitch_core::ports::journal::{Filter, Journal};
use slipstitch_core::ports::memory::{Fault, MemoryJournal, MemoryWorkspace};
use slipstitch_core::ports::workspace::WorkspaceError;

/// Answers every question alike, and keeps what it was asked about.
struct Person {
    says: Decision,
    asked: Vec<String>,
}

impl Approver for Person {
    fn decide(&mut self, question: &Question<'_>) -> Decision {
        self.asked.push(format!("{} {}: {}", question.origin.dialect, question.origin.tool, question.diff));
        self.says.clone()
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

    fn edit(&self, who: &mut dyn Approver) -> Answer {
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .session("consent");
        let arguments = json!({"path": "a", "old_snippet": "one", "new_snippet": "1"});
        engine.call(Request { dialect: "forge".into(), tool: "Edit".into(), arguments }, who)
    }

    fn changes(&self) -> usize {
        self.journal.list(&Filter::default()).unwrap().len()
    }
}

// Shows: NFR-SFE-SEC-02
#[test]
fn a_person_decides_about_an_edit_by_forge() {
    let decline = Decision::Decline { by: "Ada".into(), reason: "not on a Friday".into() };
    let pend = Decision::Pend { how: "slipstitch review".into() };
    for (says, part) in [(decline, "not on a Friday"), (pend, "waits")] {
        let rig = Rig::new();
        let mut person = Person { says, asked: Vec::new() };
        let payload = rig.edit(&mut person).payload.unwrap();
        assert_eq!(payload["status"], "error", "{payload}");
        assert!(payload["message"].as_str().unwrap().contains(part), "{payload}");
        assert!(payload["current_file_hash"].is_string() && payload["newline_kind"] == "LF", "{payload}");
        assert_eq!((rig.files.get(&a()).unwrap().as_slice(), rig.changes()), (&b"one\n"[..], 0));
        assert!(person.asked[0].starts_with("forge Edit: ") && person.asked[0].contains("-one\n+1\n"));
    }
    let rig = Rig::new();
    let mut person = Person { says: Decision::Approve { by: "Ada".into() }, asked: Vec::new() };
    assert_eq!(rig.edit(&mut person).payload.unwrap()["status"], "ok");
    assert_eq!(rig.files.get(&a()).unwrap(), b"1\n");
    assert_eq!(rig.journal.list(&Filter::default()).unwrap()[0].approval, "Ada");
}

// Shows: NFR-SFE-REL-02, T-SFE-ATOM-01
#[test]
fn a_disk_that_fails_leaves_the_file_as_it_was() {
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
