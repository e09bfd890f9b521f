//! Whoever waits for a person gets the same answer in the end as someone who did not have to.

use serde_json::{Value, json};
use slipstitch::core::dialect::RenderInput;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Auto, Decision};
use slipstitch::core::report::Report;
use slipstitch::dialects::builtin;
use slipstitch::{Fsync, Workspace};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// Leaves every change to a person.
struct Waits;

impl Approver for Waits {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> Decision {
        Decision::Pend { how: "Someone looks at it.".into() }
    }
}

struct Rig {
    _folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.txt"), TEXT).unwrap();
        let builder = Workspace::builder(&root).state_dir(folder.path().join("state"));
        Self { workspace: builder.fsync(Fsync::Off).open().unwrap(), _folder: folder }
    }

    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(std::path::Path::new(self.workspace.root()).join(name)).ok()
    }

    /// Makes a call that nobody holds up.
    fn plain(&self, dialect: &str, tool: &str, call: &Value) -> (String, Report) {
        let answer = self.workspace.call_with(dialect, tool, call.clone(), &mut Auto);
        (answer.text, answer.report)
    }

    /// Makes a call that waits, and has a person agree to it.
    fn agreed(&self, dialect: &str, tool: &str, call: &Value) -> (String, Report) {
        let waiting = self.workspace.call_with(dialect, tool, call.clone(), &mut Waits).report;
        assert_eq!(waiting.code(), "pending_review", "{dialect} {tool}: {}", waiting.message);
        let mut report = self.workspace.accept(waiting.proposal.unwrap(), "ada");
        let dialect = builtin().find(dialect).unwrap();
        let words =
            (dialect.render)(&RenderInput { tool: dialect.tool(tool).unwrap(), call, report: &report });
        assert_eq!(report.proposal.take(), waiting.proposal);
        (words.text, report)
    }
}

fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -4,3 +4,3 @@\n four\n-five\n+5\n six\n";
    let v4a = "*** Begin Patch\n*** Update File: a.txt\n@@\n four\n-five\n+5\n*** Add File: b.txt\n+new\n*** End Patch\n";
    vec![
        ("native", "edit_file", json!({"path": "a.txt", "old_text": "five", "new_text": "5"})),
        (
            "native",
            "edit_file",
            json!({"path": "a.txt", "old_text": "  five  \nsix\n", "new_text": "5\nsix\n"}),
        ),
        ("nexus3", "edit_file", json!({"path": "a.txt", "old_string": "five", "new_string": "5"})),
        ("nexus3", "edit_lines", json!({"path": "a.txt", "start_line": 5, "new_content": "5"})),
        ("nexus3", "patch", json!({"target": "a.txt", "diff": diff})),
        ("claude", "Edit", json!({"file_path": "a.txt", "old_string": "five", "new_string": "5"})),
        (
            "claude",
            "Edit",
            json!({"file_path": "a.txt", "old_string": "e\n", "new_string": "E\n", "replace_all": true}),
        ),
        (
            "claude",
            "MultiEdit",
            json!({"file_path": "a.txt", "edits": [{"old_string": "one", "new_string": "1"}, {"old_string": "nine", "new_string": "9"}]}),
        ),
        ("claude", "Write", json!({"file_path": "a.txt", "content": "x\ny\n"})),
        ("claude", "Write", json!({"file_path": "b.txt", "content": "x\ny\n"})),
        (
            "claude",
            "str_replace_based_edit_tool",
            json!({"command": "insert", "path": "a.txt", "insert_line": 2, "insert_text": "x\n"}),
        ),
        ("codex", "apply_patch", json!({"input": v4a})),
        ("forge", "Edit", json!({"path": "a.txt", "old_snippet": "five", "new_snippet": "5"})),
        (
            "phoenix",
            "patch",
            json!({"path": "a.txt", "patches": [{"operation": "replace", "oldText": "five", "newText": "5", "toClipboard": "c"}, {"operation": "append_eof", "newText": "z\n"}]}),
        ),
        ("agent-q", "edit_file", json!({"path": "a.txt", "old_str": "five", "new_str": "5"})),
        ("agent-q", "insert_at_line", json!({"path": "a.txt", "line": 3, "content": "x"})),
        (
            "xzatoma",
            "edit_file",
            json!({"path": "a.txt", "mode": "edit", "content": "5", "old_text": "five"}),
        ),
        ("xzatoma", "edit_file", json!({"path": "a.txt", "mode": "append", "content": "z"})),
    ]
}

#[test]
fn the_answer_after_an_approval_is_the_plain_one() {
    for (dialect, tool, call) in calls() {
        let (one, other) = (Rig::new(), Rig::new());
        let (plain, agreed) = (one.plain(dialect, tool, &call), other.agreed(dialect, tool, &call));
        assert_eq!(plain.1.code(), "applied", "{dialect} {tool}: {}", plain.0);
        assert_eq!(agreed.0, plain.0, "{dialect} {tool}");
        let data = |report: &Report| serde_json::to_value(report).unwrap();
        assert_eq!(data(&agreed.1), data(&plain.1), "{dialect} {tool}");
        for name in ["a.txt", "b.txt"] {
            assert_eq!(one.text(name), other.text(name), "{dialect} {tool}");
        }
    }
}

#[test]
fn what_is_taken_back_after_an_approval_is_said_to_be() {
    let answers = [Rig::plain, Rig::agreed].map(|how| {
        let rig = Rig::new();
        rig.plain("native", "edit_file", &json!({"path": "a.txt", "old_text": "five", "new_text": "5"}));
        how(&rig, "native", "undo_edit", &json!({})).0
    });
    assert_eq!(answers[0], answers[1]);
    assert!(answers[1].contains("Undid c1"), "{}", answers[1]);
}

#[test]
fn text_that_was_cut_out_is_remembered_once_a_person_agrees() {
    let rig = Rig::new();
    let patch = |operation: Value| json!({"path": "a.txt", "patches": [operation]});
    let cut = json!({"operation": "replace", "oldText": "five\n", "newText": "", "toClipboard": "c"});
    rig.agreed("phoenix", "patch", &patch(cut));
    let paste = json!({"operation": "append_eof", "fromClipboard": "c"});
    rig.plain("phoenix", "patch", &patch(paste));
    assert_eq!(rig.text("a.txt").unwrap(), TEXT.replace("five\n", "") + "five\n");
}

#[test]
fn a_whole_file_that_was_proposed_is_answered_with_what_differs() {
    let call = json!({"path": "a.txt", "new_content": TEXT.replace("five", "5")});
    let (text, _) = Rig::new().agreed("agent-q", "propose_file_edit", &call);
    assert!(text.ends_with("Diff:\n  - five\n  + 5"), "{text}");
}
