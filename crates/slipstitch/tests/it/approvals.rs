//! After an approval, the answer is the same as without one.

use serde_json::{Value, json};
use slipstitch::core::dialect::RenderInput;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Auto, Decision};
use slipstitch::core::report::Report;
use slipstitch::dialects::builtin;

use crate::support::{TestWorkspace, ada};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// Turns every change into a proposal.
struct AlwaysPropose;

impl Approver for AlwaysPropose {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> Decision {
        Decision::Pend { how: "It needs a review.".into() }
    }
}

fn workspace() -> TestWorkspace {
    let test = TestWorkspace::new();
    test.put("a.txt", TEXT);
    test
}

fn text(test: &TestWorkspace, path: &str) -> Option<String> {
    std::fs::read_to_string(test.at(path)).ok()
}

/// Makes a call that needs no approval.
fn call_directly(test: &TestWorkspace, dialect: &str, tool: &str, call: &Value) -> (String, Report) {
    let answer = test.workspace.call_with(dialect, tool, call.clone(), &mut Auto);
    (answer.text, answer.report)
}

/// Makes a call that becomes a proposal, and accepts it.
fn call_with_review(test: &TestWorkspace, dialect: &str, tool: &str, call: &Value) -> (String, Report) {
    let pending = test.workspace.call_with(dialect, tool, call.clone(), &mut AlwaysPropose).report;
    assert_eq!(pending.code(), "pending_review", "{dialect} {tool}: {}", pending.message);
    let mut report = test.workspace.accept(pending.proposal.unwrap(), &ada(&test.workspace));
    let dialect = builtin().find(dialect).unwrap();
    let tool = dialect.tool(tool).unwrap();
    let rendered = (dialect.render)(&RenderInput { dialect, tool, call, report: &report });
    assert_eq!(report.proposal.take(), pending.proposal);
    (rendered.text, report)
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
fn the_answer_after_an_approval_equals_the_direct_one() {
    for (dialect, tool, call) in calls() {
        let (one, other) = (workspace(), workspace());
        let (direct_text, direct) = call_directly(&one, dialect, tool, &call);
        let (reviewed_text, reviewed) = call_with_review(&other, dialect, tool, &call);
        assert_eq!(direct.code(), "applied", "{dialect} {tool}: {direct_text}");
        assert_eq!(reviewed_text, direct_text, "{dialect} {tool}");
        let data = |report: &Report| serde_json::to_value(report).unwrap();
        assert_eq!(data(&reviewed), data(&direct), "{dialect} {tool}");
        for name in ["a.txt", "b.txt"] {
            assert_eq!(text(&one, name), text(&other, name), "{dialect} {tool}");
        }
    }
}

#[test]
fn the_answer_to_an_approved_undo_equals_the_direct_one() {
    let answers = [call_directly, call_with_review].map(|call| {
        let test = workspace();
        let edit = json!({"path": "a.txt", "old_text": "five", "new_text": "5"});
        call_directly(&test, "native", "edit_file", &edit);
        call(&test, "native", "undo_edit", &json!({})).0
    });
    assert_eq!(answers[0], answers[1]);
    assert!(answers[1].contains("Undid c1"), "{}", answers[1]);
}

#[test]
fn a_clipboard_is_filled_once_the_change_is_approved() {
    let test = workspace();
    let patch = |operation: Value| json!({"path": "a.txt", "patches": [operation]});
    let cut = json!({"operation": "replace", "oldText": "five\n", "newText": "", "toClipboard": "c"});
    call_with_review(&test, "phoenix", "patch", &patch(cut));
    let paste = json!({"operation": "append_eof", "fromClipboard": "c"});
    call_directly(&test, "phoenix", "patch", &patch(paste));
    assert_eq!(test.text("a.txt"), TEXT.replace("five\n", "") + "five\n");
}

#[test]
fn the_answer_to_a_proposed_file_shows_only_the_difference() {
    let call = json!({"path": "a.txt", "new_content": TEXT.replace("five", "5")});
    let (text, _) = call_with_review(&workspace(), "agent-q", "propose_file_edit", &call);
    assert!(text.ends_with("Diff:\n  - five\n  + 5"), "{text}");
}

#[test]
fn pending_proposals_of_a_session_have_a_limit() {
    let folder = crate::support::TestFolder::new();
    std::fs::write(folder.config(), "[journal]\nmax_bytes = 2000000\n").unwrap();
    let open = |session: &str| {
        let builder = slipstitch::Workspace::builder(folder.at("")).state_dir(folder.state());
        builder.config(folder.config()).session(session).open().unwrap()
    };
    let propose = |workspace: &slipstitch::Workspace, number: usize| {
        let path = format!(".github/workflows/{number}.yml");
        let content = format!("{}\n", "x".repeat(150_000));
        workspace
            .call(
                "native",
                "write_file",
                serde_json::json!({"path": path, "content": content, "mode": "create"}),
            )
            .report
    };
    let workspace = open("busy");
    let reports: Vec<_> = (0..12).map(|number| propose(&workspace, number)).collect();
    assert!(reports[0].proposal.is_some(), "{:?}", reports[0]);
    let last = reports.last().unwrap();
    assert!(last.proposal.is_none() && last.message.contains("accept or reject some"), "{last:?}");
    assert!(propose(&open("other"), 99).proposal.is_some(), "each session has its own");
    for found in workspace.proposals().unwrap().iter().take(4) {
        workspace.reject(found.id, &ada(&workspace), None);
    }
    assert!(propose(&workspace, 100).proposal.is_some());
}

#[cfg(unix)]
#[test]
fn a_hook_that_fails_is_noted_until_it_works() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a.txt"), "one\n").unwrap();
    let propose = |command: &str, new: &str| {
        let config = folder.path().join("config.toml");
        let text = format!("[review]\non_pending = [\"/bin/sh\", \"-c\", \"{command}\"]\n");
        std::fs::write(&config, text).unwrap();
        let state = folder.path().join("state");
        let workspace = slipstitch::Workspace::builder(&root).state_dir(state).config(config).open().unwrap();
        let call = serde_json::json!({"path": "a.txt", "new_content": new});
        assert_eq!(workspace.call("agent-q", "propose_file_edit", call).report.code(), "pending_review");
        workspace
    };
    let wait = |is_done: &dyn Fn() -> bool| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !is_done() {
            assert!(std::time::Instant::now() < end, "the hook has not ended");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let workspace = propose("exit 7", "1\n");
    wait(&|| !workspace.notice_problems().is_empty());
    let problems = workspace.notice_problems();
    assert!(problems[0].contains("p1: `/bin/sh` ended with exit status: 7"), "{problems:?}");
    let workspace = propose("exit 0", "2\n");
    wait(&|| workspace.notice_problems().is_empty());
}
