//! The `claude` dialect on disk.

use serde_json::json;

use super::rig::Rig;

// Shows: claude-absolute
#[test]
fn accepts_absolute_paths_inside_the_root() {
    let rig = Rig::with("one\n");
    let path = rig.root().join("a.txt");
    let call = json!({"file_path": path, "old_string": "one", "new_string": "1"}).to_string();
    rig.run(["call", "--dialect", "claude", "Edit", &call]).assert_done();
    assert_eq!(rig.get("a.txt"), "1\n");
    let call = json!({"command": "view", "path": rig.root()}).to_string();
    let run = rig.run(["call", "--dialect", "claude", "str_replace_based_edit_tool", &call]);
    assert_eq!(run.out, "the root: 1 entry\na.txt (2 bytes)\n");
}

// Shows: claude-undo
#[test]
fn undo_only_sees_its_own_session() {
    let rig = Rig::with("one\n");
    let edit = r#"{"file_path": "a.txt", "old_string": "one", "new_string": "1"}"#;
    let undo = r#"{"command": "undo_edit", "path": "a.txt"}"#;
    let call = |session: &str, tool: &str, arguments: &str| {
        rig.run(["--session", session, "call", "--dialect", "claude", tool, arguments])
    };
    call("first", "Edit", edit).assert_done();
    let other = call("second", "str_replace_based_edit_tool", undo);
    assert_eq!(other.code, 1, "{other:?}");
    assert!(other.out.contains("nothing to undo in `a.txt`") && other.out.contains("c1"), "{other:?}");
    call("first", "str_replace_based_edit_tool", undo).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
}
