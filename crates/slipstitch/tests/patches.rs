//! Patches on a real disk: all files or none, and all of it taken back.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::{Fsync, Workspace};

struct Rig {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Rig {
    fn new() -> Self {
        Self::with_settings("", "")
    }

    /// A root with settings of the user's and of its own.
    fn with_settings(user: &str, root: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        let config = folder.path().join("user.toml");
        fs::write(&config, user).unwrap();
        if !root.is_empty() {
            fs::write(folder.path().join("root/slipstitch.toml"), root).unwrap();
        }
        let builder = Workspace::builder(folder.path().join("root")).state_dir(folder.path().join("state"));
        let workspace = builder.config(config).fsync(Fsync::Off).open().unwrap();
        Self { folder, workspace }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("root").join(name)
    }

    fn put(&self, name: &str, text: &str, mode: u32) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn call(&self, tool: &str, arguments: Value) -> Report {
        self.workspace.call("native", tool, arguments).report
    }

    fn patch(&self, text: &str) -> Report {
        self.call("patch", json!({ "patch": text }))
    }

    /// Every file beneath the root with its mode.
    fn tree(&self) -> BTreeMap<String, (String, u32)> {
        let root = self.at("");
        let mut found = BTreeMap::new();
        let mut open = vec![root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, (fs::read_to_string(&path).unwrap(), mode));
                }
            }
        }
        found
    }
}

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

fn everything() -> Rig {
    let rig = Rig::new();
    rig.put("update.txt", "one\ntwo\n", 0o640);
    rig.put("gone.sh", "echo gone\n", 0o750);
    rig.put("old name.txt", "first\nsecond\n", 0o600);
    rig.put("tool", "#!/bin/sh\n", 0o644);
    rig.put("empty.txt", "", 0o644);
    rig
}

#[test]
fn every_kind_of_change_is_made_and_taken_back_and_made_again() {
    let rig = everything();
    let before = rig.tree();
    let report = rig.patch(EVERYTHING);
    assert_eq!(report.status(), Status::Applied, "{report:#?}");
    let after = rig.tree();
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
    assert_eq!(rig.call("undo_edit", json!({})).status(), Status::Applied);
    assert_eq!(rig.tree(), before);
    let undo =
        report.change.map(|_| rig.workspace.log(&Default::default()).unwrap()[0].id.to_string()).unwrap();
    assert_eq!(rig.call("undo_edit", json!({ "change": undo })).status(), Status::Applied);
    assert_eq!(rig.tree(), after);
}

#[test]
fn the_diff_of_a_patch_is_a_patch() {
    let rig = everything();
    let before = rig.tree();
    let report = rig.patch(EVERYTHING);
    let other = everything();
    assert_eq!(other.patch(report.diff.as_deref().unwrap()).status(), Status::Applied);
    assert_eq!(other.tree(), rig.tree());
    assert_ne!(other.tree(), before);
}

#[test]
fn one_file_that_fails_keeps_all_as_they_were() {
    for (name, text) in [
        ("update.txt", "one\nother\n"),
        ("gone.sh", "echo more\n"),
        ("deep/new name.txt", "x\n"),
        ("new.sh", "x\n"),
    ] {
        let rig = everything();
        rig.put(name, text, 0o644);
        let before = rig.tree();
        let report = rig.patch(EVERYTHING);
        assert_eq!(report.status(), Status::Refused, "{name}: {report:#?}");
        assert_eq!(rig.tree(), before, "{name}");
    }
}

#[test]
fn every_failure_of_every_file_is_told() {
    let rig = everything();
    rig.put("update.txt", "one\nother\n", 0o644);
    rig.put("gone.sh", "echo more\n", 0o644);
    let report = rig.patch(EVERYTHING);
    let paths: Vec<&str> = report.failures.iter().map(|failure| failure.path.as_str()).collect();
    assert_eq!(paths, ["update.txt", "gone.sh"]);
}

#[test]
fn files_in_the_way_are_overwritten_only_where_that_is_set() {
    let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Add File: c\n+new\n*** End Patch\n";
    let allow = "[tools.patch]\noverwrite = true\n";
    for (user, root, allowed) in [
        ("", "", false),
        (allow, "", true),
        ("", allow, false),
        (allow, "[tools.patch]\noverwrite = false\n", false),
    ] {
        let rig = Rig::with_settings(user, root);
        rig.put("a", "x\n", 0o600);
        rig.put("b", "in the way\n", 0o640);
        rig.put("c", "in the way too\n", 0o640);
        let before = rig.tree();
        let report = rig.patch(patch);
        if !allowed {
            assert_eq!(report.code(), "file_exists", "{report:#?}");
            assert_eq!(rig.tree(), before);
            continue;
        }
        assert_eq!(report.status(), Status::Applied, "{report:#?}");
        let after = rig.tree();
        assert_eq!(after.get("a"), None);
        assert_eq!(after["b"], ("y\n".into(), 0o640));
        assert_eq!(after["c"], ("new\n".into(), 0o640));
        assert_eq!(rig.call("undo_edit", json!({})).status(), Status::Applied);
        assert_eq!(rig.tree(), before);
    }
}

#[test]
fn a_dry_run_touches_nothing() {
    let rig = everything();
    let before = rig.tree();
    let report = rig.call("patch", json!({"patch": EVERYTHING, "dry_run": true}));
    assert_eq!(report.status(), Status::WouldApply, "{report:#?}");
    assert_eq!(rig.tree(), before);
}

#[test]
fn a_mode_that_someone_changed_since_stays_when_an_edit_is_taken_back() {
    let rig = Rig::new();
    rig.put("f", "a\n", 0o644);
    assert_eq!(rig.patch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n").status(), Status::Applied);
    fs::set_permissions(rig.at("f"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(rig.call("undo_edit", json!({})).status(), Status::Applied);
    assert_eq!(rig.tree()["f"], ("a\n".into(), 0o755));
}

#[test]
fn links_out_of_the_root_are_not_followed() {
    let rig = Rig::new();
    let outside = rig.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, rig.at("link")).unwrap();
    let report = rig.patch("*** Begin Patch\n*** Add File: link/x\n+new\n*** End Patch\n");
    assert_eq!(report.status(), Status::Invalid, "{report:#?}");
    assert!(!Path::new(&outside.join("x")).exists());
}
