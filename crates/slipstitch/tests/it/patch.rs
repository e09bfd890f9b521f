//! Patches on real files: all files or none, and undo.

#[cfg(unix)]
use std::fs;

use serde_json::json;
use slipstitch::core::outcome::Status;

#[cfg(unix)]
use crate::support::TestFolder;
use crate::support::TestWorkspace;

const EVERYTHING: &str = "\
diff --git a/update.txt b/update.txt
--- a/update.txt
+++ b/update.txt
@@ -1,2 +1,2 @@
 one
-two
+2
diff --git a/gone.sh b/gone.sh
deleted file mode 100755
--- a/gone.sh
+++ /dev/null
@@ -1 +0,0 @@
-echo gone
diff --git a/new.sh b/new.sh
new file mode 100755
--- /dev/null
+++ b/new.sh
@@ -0,0 +1 @@
+echo new
diff --git a/old name.txt b/deep/new name.txt
similarity index 50%
rename from old name.txt
rename to deep/new name.txt
--- a/old name.txt
+++ b/deep/new name.txt
@@ -1,2 +1,2 @@
-first
+1st
 second
diff --git a/tool b/tool
old mode 100644
new mode 100755
diff --git a/empty.txt b/empty.txt
deleted file mode 100644
";

fn everything() -> TestWorkspace {
    let test = TestWorkspace::new();
    test.put_with_mode("update.txt", "one\ntwo\n", 0o640);
    test.put_with_mode("gone.sh", "echo gone\n", 0o750);
    test.put_with_mode("old name.txt", "first\nsecond\n", 0o600);
    test.put_with_mode("tool", "#!/bin/sh\n", 0o644);
    test.put_with_mode("empty.txt", "", 0o644);
    test
}

#[cfg(unix)]
#[test]
fn applies_undoes_and_redoes_every_kind_of_change() {
    let test = everything();
    let before = test.files();
    let report = test.patch(EVERYTHING);
    assert_eq!(report.status(), Status::Applied, "{report:#?}");
    let after = test.files();
    let texts: Vec<(&str, &str, u32)> =
        after.iter().map(|(name, (text, mode))| (name.as_str(), text.as_str(), *mode)).collect();
    assert_eq!(
        texts,
        [
            ("deep/new name.txt", "1st\nsecond\n", 0o600),
            ("new.sh", "echo new\n", 0o755),
            ("tool", "#!/bin/sh\n", 0o755),
            ("update.txt", "one\n2\n", 0o640),
        ]
    );
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(test.files(), before);
    let undo = test.workspace.log(&Default::default()).unwrap()[0].id.to_string();
    assert_eq!(test.call("undo_edit", json!({ "change": undo })).status(), Status::Applied);
    assert_eq!(test.files(), after);
}

// The patch sets permission bits.
#[cfg(unix)]
#[test]
fn the_diff_of_a_patch_can_be_applied() {
    let test = everything();
    let before = test.files();
    let report = test.patch(EVERYTHING);
    let other = everything();
    assert_eq!(other.patch(report.diff.as_deref().unwrap()).status(), Status::Applied);
    assert_eq!(other.files(), test.files());
    assert_ne!(other.files(), before);
}

#[cfg(unix)]
#[test]
fn one_failing_file_leaves_all_files_unchanged() {
    for (name, text) in [
        ("update.txt", "one\nother\n"),
        ("gone.sh", "echo more\n"),
        ("deep/new name.txt", "x\n"),
        ("new.sh", "x\n"),
    ] {
        let test = everything();
        test.put_with_mode(name, text, 0o644);
        let before = test.files();
        let report = test.patch(EVERYTHING);
        assert_eq!(report.status(), Status::Refused, "{name}: {report:#?}");
        assert_eq!(test.files(), before, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn reports_every_failure_of_every_file() {
    let test = everything();
    test.put_with_mode("update.txt", "one\nother\n", 0o644);
    test.put_with_mode("gone.sh", "echo more\n", 0o644);
    let report = test.patch(EVERYTHING);
    let paths: Vec<&str> = report.failures.iter().map(|failure| failure.path.as_str()).collect();
    assert_eq!(paths, ["update.txt", "gone.sh"]);
}

#[cfg(unix)]
#[test]
fn existing_files_are_overwritten_only_if_the_settings_allow_it() {
    let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Add File: c\n+new\n*** End Patch\n";
    let allow = "[tools.patch]\noverwrite = true\n";
    for (user, root, allowed) in [
        ("", "", false),
        (allow, "", true),
        ("", allow, false),
        (allow, "[tools.patch]\noverwrite = false\n", false),
    ] {
        let folder = TestFolder::new();
        fs::write(folder.config(), user).unwrap();
        if !root.is_empty() {
            folder.put("slipstitch.toml", root);
        }
        let test = TestWorkspace::open(folder);
        test.put_with_mode("a", "x\n", 0o600);
        test.put_with_mode("b", "in the way\n", 0o640);
        test.put_with_mode("c", "in the way too\n", 0o640);
        let before = test.files();
        let report = test.patch(patch);
        if !allowed {
            assert_eq!(report.code(), "file_exists", "{report:#?}");
            assert_eq!(test.files(), before);
            continue;
        }
        assert_eq!(report.status(), Status::Applied, "{report:#?}");
        let after = test.files();
        assert_eq!(after.get("a"), None);
        assert_eq!(after["b"], ("y\n".into(), 0o640));
        assert_eq!(after["c"], ("new\n".into(), 0o640));
        assert_eq!(test.undo().status(), Status::Applied);
        assert_eq!(test.files(), before);
    }
}

#[test]
fn a_dry_run_changes_nothing() {
    let test = everything();
    let before = test.files();
    let report = test.call("patch", json!({"patch": EVERYTHING, "dry_run": true}));
    assert_eq!(report.status(), Status::WouldApply, "{report:#?}");
    assert_eq!(test.files(), before);
}

#[cfg(unix)]
#[test]
fn undo_keeps_a_mode_that_changed_since() {
    let test = TestWorkspace::new();
    test.put_with_mode("f", "a\n", 0o644);
    assert_eq!(test.patch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n").status(), Status::Applied);
    test.set_mode("f", 0o755);
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(test.files()["f"], ("a\n".into(), 0o755));
}

#[cfg(unix)]
#[test]
fn refuses_symlinks_that_leave_the_root() {
    let test = TestWorkspace::new();
    std::os::unix::fs::symlink(test.outside(""), test.at("link")).unwrap();
    let report = test.patch("*** Begin Patch\n*** Add File: link/x\n+new\n*** End Patch\n");
    assert_eq!(report.status(), Status::Invalid, "{report:#?}");
    assert!(!test.outside("x").exists());
}
