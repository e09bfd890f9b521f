//! Buffers of changed files are reloaded, and unsaved changes prevent an edit.

use serde_json::json;

use crate::rig::Rig;

// Shows: INV-004, 002-emacs-write
#[test]
fn reloads_the_buffer_and_keeps_point() {
    let rig = Rig::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "other\n")]);
    let emacs = rig.daemon("test");
    emacs.in_buffer("a.txt", "(goto-char (point-min)) (search-forward \"thr\")");
    emacs.type_into("b.txt");
    rig.edit_cleanly("a.txt", "two", "second");
    assert_eq!(rig.file("a.txt"), "one\nsecond\nthree\n");
    assert_eq!(emacs.buffer("a.txt"), rig.file("a.txt"));
    assert_eq!(emacs.in_buffer("a.txt", "(buffer-modified-p)"), "nil");
    assert_eq!(emacs.in_buffer("a.txt", "(looking-at \"ee$\")"), "t");
    assert_eq!(emacs.buffer("b.txt"), "other\nmine\n");
    assert_eq!(rig.file("b.txt"), "other\n", "nothing else is saved along the way");
}

// Shows: INV-004, 002-emacs-read
#[test]
fn refuses_to_change_a_file_with_unsaved_changes() {
    let rig = Rig::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let emacs = rig.daemon("test");
    emacs.type_into("b.txt");
    let answer = rig.edit("b.txt", "one", "1");
    assert_eq!(answer.report.code(), "unsaved_buffer");
    let expected = "save or revert the buffer of `b.txt` in Emacs (server `test`)";
    assert!(answer.text.contains(expected), "{}", answer.text);
    let patch =
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+1\n";
    for dry_run in [true, false] {
        let arguments = json!({"patch": patch, "dry_run": dry_run});
        let answer = rig.open().call("native", "patch", arguments);
        assert_eq!(answer.report.code(), "unsaved_buffer", "{}", answer.text);
    }
    assert_eq!((rig.file("a.txt"), rig.file("b.txt")), ("one\n".into(), "one\n".into()));
    assert_eq!(emacs.buffer("b.txt"), "one\nmine\n");
    emacs.in_buffer("b.txt", "(save-buffer)");
    rig.edit_cleanly("b.txt", "one", "1");
    assert_eq!(emacs.buffer("b.txt"), "1\nmine\n");
}

// Shows: INV-004
#[test]
fn finds_buffers_by_unusual_names_and_through_symlinks() {
    let names = ["quote\" (kill-emacs) \\.txt", "größe 1.txt", "#{x} 'y' `z`.txt"];
    let rig = Rig::new(&names.map(|name| (name, "one\n")));
    let emacs = rig.daemon("test");
    std::os::unix::fs::symlink(names[1], rig.path("link.txt")).unwrap();
    for name in names {
        emacs.in_buffer(name, "t");
        rig.edit_cleanly(name, "one", "two");
        assert_eq!(emacs.buffer(name), "two\n", "{name}");
    }
    rig.edit_cleanly("link.txt", "two", "three");
    assert_eq!(emacs.buffer(names[1]), "three\n");
    emacs.type_into(names[1]);
    assert_eq!(rig.edit("link.txt", "three", "four").report.code(), "unsaved_buffer");
}

// Shows: INV-004
#[test]
fn reloads_after_undo_and_keeps_the_buffer_of_a_deleted_file() {
    let rig = Rig::new(&[("a.txt", "one\n")]);
    let emacs = rig.daemon("test");
    emacs.in_buffer("a.txt", "t");
    rig.edit_cleanly("a.txt", "one", "two");
    assert_eq!(emacs.buffer("a.txt"), "two\n");
    assert!(rig.open().call("native", "undo_edit", json!({})).report.is_success());
    assert_eq!(emacs.buffer("a.txt"), "one\n");
    let patch = "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
    let answer = rig.open().call("native", "patch", json!({"patch": patch}));
    assert!(answer.report.is_success() && !rig.path("a.txt").exists(), "{}", answer.text);
    let said = "Emacs (server `test`) still has the deleted file `a.txt` open; saving that buffer creates";
    assert!(answer.text.contains(said), "{}", answer.text);
    assert_eq!(emacs.buffer("a.txt"), "one\n");
}

/// A mode may have its own revert function, which need not read the file.
// Shows: INV-004
#[test]
fn a_buffer_that_its_mode_does_not_reload_is_named() {
    let rig = Rig::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let emacs = rig.daemon("test");
    emacs.in_buffer("a.txt", "(setq-local revert-buffer-function #'ignore)");
    emacs.in_buffer("b.txt", "(setq-local revert-buffer-function (lambda (&rest _) (error \"no\")))");
    for name in ["a.txt", "b.txt"] {
        let answer = rig.edit(name, "one", "two");
        let said = format!("Emacs (server `test`) did not reload `{name}`");
        assert!(answer.report.is_success() && answer.text.contains(&said), "{}", answer.text);
        assert_eq!(emacs.buffer(name), "one\n");
    }
}

// Shows: INV-004
#[test]
fn the_buffer_of_a_moved_file_gets_its_new_name() {
    let rig = Rig::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "other\n")]);
    let emacs = rig.daemon("test");
    emacs.in_buffer(
        "a.txt",
        "(progn (goto-char 3) (rename-buffer \"mine\") (text-mode) (setq buffer-read-only t))",
    );
    emacs.in_buffer("b.txt", "t");
    let arguments = json!({"source": "a.txt", "destination": "größe.py"});
    let answer = rig.open().call("agent-q", "move_file", arguments);
    assert!(answer.report.is_success() && answer.report.warnings.is_empty(), "{}", answer.text);
    assert_eq!(emacs.eval(&format!("(get-file-buffer {:?})", rig.path("a.txt"))), "nil");
    assert_eq!(emacs.buffer("größe.py"), "one\ntwo\n");
    let state =
        "(list (point) major-mode buffer-read-only (buffer-modified-p) (verify-visited-file-modtime))";
    assert_eq!(emacs.in_buffer("größe.py", state), "(3 text-mode t nil t)");
    emacs.in_buffer("größe.py", "(progn (setq buffer-read-only nil) (insert \"x\") (save-buffer))");
    assert!(!rig.path("a.txt").exists());
    assert_eq!(rig.file("größe.py"), "onxe\ntwo\n");
    assert_eq!(emacs.buffer("b.txt"), "other\n");
}

#[test]
fn does_nothing_when_disabled() {
    let rig = Rig::new(&[("a.txt", "one\n")]);
    let emacs = rig.daemon("test");
    emacs.type_into("a.txt");
    let arguments = json!({"path": "a.txt", "old_str": "one", "new_str": "two"});
    let workspace = rig.builder("[editors]\nemacs = false\n").open().unwrap();
    assert!(workspace.call("agent-q", "edit_file", arguments).report.is_success());
    assert_eq!((rig.file("a.txt"), emacs.buffer("a.txt")), ("two\n".into(), "one\nmine\n".into()));
}
