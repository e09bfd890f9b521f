//! The `nexus3` dialect on disk.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;

use super::rig::Rig;

// Shows: P0.4, P0.5, P4.6
#[test]
fn lists_every_tool() {
    let run = Rig::new().run(["tools", "--dialect", "nexus3"]);
    let listed = run.object();
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["edit_file", "edit_lines", "patch"]);
}

// Shows: P5.1, test_edit_lines_atomic_write
#[cfg(unix)]
#[test]
fn edit_lines_replaces_the_file_atomically() {
    let rig = Rig::with("one\ntwo\n");
    let path = rig.root().join("a.txt");
    // If the file were written in place, this handle would read the new text.
    let before = fs::File::open(&path).unwrap();
    let call = r#"{"path": "a.txt", "start_line": 2, "new_content": "2"}"#;
    let (code, report) = rig.json(["call", "--dialect", "nexus3", "edit_lines", call]);
    assert_eq!((code, report["files"][0]["write_mode"].as_str()), (0, Some("exchange")));
    assert_eq!(rig.get("a.txt"), "one\n2\n");
    assert_ne!(before.metadata().unwrap().ino(), fs::metadata(&path).unwrap().ino());
    assert_eq!(std::io::read_to_string(before).unwrap(), "one\ntwo\n");
    assert_eq!(fs::read_dir(rig.root()).unwrap().count(), 1, "nothing is left behind");
}

// Shows: P5.2, test_batch_edit_atomic_rollback
#[cfg(unix)]
#[test]
fn a_failed_batch_does_not_touch_the_file() {
    let rig = Rig::with("one\ntwo\n");
    let path = rig.root().join("a.txt");
    let before = fs::metadata(&path).unwrap();
    let call = r#"{"path": "a.txt", "edits": [
        {"old_string": "one", "new_string": "1"}, {"old_string": "three", "new_string": "3"}]}"#;
    let run = rig.run(["call", "--dialect", "nexus3", "edit_file", call]);
    assert_eq!(run.code, 1);
    assert!(run.out.starts_with("Batch edit failed (no changes made):\n  Edit 2: "), "{run:?}");
    let after = fs::metadata(&path).unwrap();
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
}

// Shows: 004-patch-atomic-write, P5.3
#[test]
fn patch_replaces_the_file_atomically() {
    let rig = Rig::with("one\ntwo\n");
    let before = fs::File::open(rig.root().join("a.txt")).unwrap();
    let call =
        r#"{"target": "a.txt", "diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"}"#;
    let (code, report) = rig.json(["call", "--dialect", "nexus3", "patch", call]);
    assert_eq!((code, report["files"][0]["write_mode"].as_str()), (0, Some("exchange")));
    assert_eq!(rig.get("a.txt"), "one\n2\n");
    assert_eq!(std::io::read_to_string(before).unwrap(), "one\ntwo\n");
}

// Shows: 004-patch-absolute-header
#[test]
fn an_absolute_header_beneath_the_root_is_accepted_on_disk() {
    let rig = Rig::with("one\n");
    let name = rig.root().canonicalize().unwrap().join("a.txt").display().to_string();
    let diff = format!("--- {name}\n+++ {name}\n@@ -1,1 +1,1 @@\n-one\n+1\n");
    let call = serde_json::json!({"target": "a.txt", "diff": diff}).to_string();
    let run = rig.run(["call", "--dialect", "nexus3", "patch", &call]);
    assert_eq!((run.code, run.out.trim()), (0, "Applied patch to a.txt: 1 hunk applied"), "{run:?}");
    assert_eq!(rig.get("a.txt"), "1\n");
}
