//! The answer to a batch is bounded, however many of its edits fail.

use serde_json::{Value, json};
use slipstitch_core::outcome::Status;

use crate::support::TestFolder;

const EDITS: usize = 3_000;

fn batch(edit: Value) -> Vec<Value> {
    vec![edit; EDITS]
}

#[test]
fn many_failures_are_counted_not_listed() {
    let folder = TestFolder::new();
    folder.put("a.txt", &"same line\n".repeat(50));
    let workspace = folder.open_session("s");
    let native = |old: &str| json!({"old_text": old, "new_text": "x"});
    let claude = |old: &str| json!({"old_string": old, "new_string": "x"});
    let phoenix = |old: &str| json!({"operation": "replace", "oldText": old, "newText": "x"});
    let hunks = "@@ -1 +1 @@\n-missing line\n+x\n".repeat(EDITS);
    let path = folder.at("a.txt").display().to_string();
    for old in ["same line\n", "some lines\n"] {
        for (dialect, tool, arguments) in [
            ("native", "edit_file", json!({"path": "a.txt", "edits": batch(native(old))})),
            ("claude", "MultiEdit", json!({"file_path": path, "edits": batch(claude(old))})),
            ("phoenix", "patch", json!({"path": "a.txt", "patches": batch(phoenix(old))})),
            ("nexus3", "edit_file", json!({"path": "a.txt", "edits": batch(claude(old))})),
            ("nexus3", "patch", json!({"path": "a.txt", "diff": format!("--- a.txt\n+++ a.txt\n{hunks}")})),
            ("native", "patch", json!({"patch": format!("--- a/a.txt\n+++ b/a.txt\n{hunks}")})),
        ] {
            let answer = workspace.call(dialect, tool, arguments);
            let what = format!("{dialect} {tool}: {}", answer.text.chars().take(300).collect::<String>());
            assert_ne!(answer.report.status(), Status::Applied, "{what}");
            assert!(answer.text.len() < 100_000, "{} bytes, {what}", answer.text.len());
            let report = serde_json::to_string(&answer.report).unwrap();
            assert!(report.len() < 300_000, "{} bytes, {what}", report.len());
            let listed = answer.report.failures.len();
            if listed > 1 {
                assert_eq!(listed + answer.report.more_failures, EDITS, "{what}");
                assert!(answer.text.contains(" more"), "{what}");
            }
        }
    }
}
