//! Landlock: what the kernel denies to a confined thread.

use std::fs;

use serde_json::json;
use slipstitch::Workspace;
use slipstitch::confine::landlock_version;

#[test]
fn a_confined_thread_can_edit_only_beneath_its_root() {
    if landlock_version().is_none() {
        // The system does not support it.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("a"), "one\n").unwrap();
    fs::write(folder.path().join("secret"), "secret\n").unwrap();
    let outside = folder.path().to_owned();
    let workspace = Workspace::builder(&root).state_dir(folder.path().join("state")).open().unwrap();
    std::thread::spawn(move || {
        workspace.confine().unwrap();
        let edit = json!({"path": "a", "old_text": "one", "new_text": "two"});
        let answer = workspace.call("native", "edit_file", edit);
        assert!(answer.report.is_success(), "{}", answer.text);
        let create = json!({"path": "new/b", "content": "x\n", "mode": "create"});
        let answer = workspace.call("native", "write_file", create);
        assert!(answer.report.is_success(), "{}", answer.text);
        let answer = workspace.call("native", "undo_edit", json!({}));
        assert!(answer.report.is_success(), "{}", answer.text);
        fs::read(outside.join("secret")).unwrap_err();
        fs::write(outside.join("new"), "x").unwrap_err();
        fs::write("/tmp/slipstitch-confined", "x").unwrap_err();
    })
    .join()
    .unwrap();
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "two\n");
    assert!(!root.join("new/b").exists());
}
