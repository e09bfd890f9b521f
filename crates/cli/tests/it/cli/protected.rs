//! Protected paths, at the terminal and from tools.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use super::rig::Rig;

fn rig() -> Rig {
    let rig = Rig::new();
    fs::create_dir_all(rig.root().join(".git/hooks")).unwrap();
    rig.put(".git/config", "[core]\n");
    rig
}

#[test]
fn a_command_needs_yes() {
    let rig = rig();
    rig.allow_unattended_review();
    let edit = ["edit", ".git/config", "--old", "core", "--new", "user"];
    let (code, report) = rig.json(edit);
    assert_eq!((code, report["code"].as_str()), (1, Some("needs_consent")));
    rig.run(edit).assert_failed(1, &["`.git/config` is protected (version control)", "--yes"]);
    assert_eq!(rig.get(".git/config"), "[core]\n");
    // Nothing is queued: the user can be asked directly.
    assert!(!rig.run(["review"]).out.contains("p1"));
    assert_eq!(rig.run([&edit[..], &["--yes"]].concat()).code, 0);
    assert_eq!(rig.get(".git/config"), "[user]\n");
    rig.run(["undo"]).assert_failed(1, &["`.git/config` is protected", "--yes"]);
    assert_eq!(rig.run(["undo", "-y"]).code, 0);
    assert_eq!(rig.get(".git/config"), "[core]\n");
}

#[test]
fn yes_grants_nothing_without_a_terminal() {
    let rig = rig();
    let edit = ["edit", ".git/config", "--old", "core", "--new", "user"];
    for command in [&edit[..], &[&edit[..], &["--yes"]].concat()] {
        let run = rig.run(command);
        run.assert_failed(1, &["`.git/config` is protected", "A person has to approve this at a terminal"]);
        assert!(!run.err.contains("--yes"), "{run:?}");
    }
    assert_eq!(rig.json([&edit[..], &["--yes"]].concat()).1["code"], "needs_terminal");
    assert_eq!(rig.get(".git/config"), "[core]\n");
    rig.allow_unattended_review();
    rig.run([&edit[..], &["--yes"]].concat()).assert_done();
    // Undoing asks too.
    fs::remove_dir_all(rig.outside().join(".config")).unwrap();
    rig.run(["undo", "--yes"]).assert_failed(1, &["A person has to approve this at a terminal"]);
    assert_eq!(rig.get(".git/config"), "[user]\n");
    let approval = rig.json(["show", "c1"]).1["change"]["approval"].take();
    assert_eq!(approval, format!("{} (unattended)", Rig::account()));
}

#[test]
fn every_command_checks_protected_paths() {
    let rig = rig();
    rig.put(".bashrc", "true\n");
    for command in [
        &["write", ".git/hooks/pre-commit", "--content", "id"][..],
        &["append", ".bashrc", "--content", "id"],
        &["lines", ".bashrc", "1", "--delete"],
        &["edit", ".BashRC.", "--old", "true", "--new", "id"],
    ] {
        let run = rig.run(command);
        assert!(run.code != 0, "{command:?}: {run:?}");
    }
    let diff = "--- a/.bashrc\n+++ b/.bashrc\n@@ -1 +1 @@\n-true\n+id\n";
    let patch = rig.outside().join("p.diff");
    fs::write(&patch, diff).unwrap();
    rig.run(["patch", patch.to_str().unwrap()]).assert_failed(1, &["`.bashrc` is protected"]);
    assert_eq!(rig.get(".bashrc"), "true\n");
    assert!(!rig.root().join(".git/hooks/pre-commit").exists());
}

#[test]
fn a_tool_call_and_its_undo_wait_for_review() {
    let rig = rig();
    rig.allow_unattended_review();
    let edit = r#"{"path": ".git/config", "old_text": "core", "new_text": "user"}"#;
    let run = rig.run(["call", "edit_file", edit]);
    assert!(run.code == 0 && run.out.contains("as p1") && !run.out.contains("slipstitch review"), "{run:?}");
    assert_eq!(rig.get(".git/config"), "[core]\n");
    assert_eq!(rig.run(["review", "accept", "p1", "--by", "ann"]).code, 0);
    assert_eq!(rig.get(".git/config"), "[user]\n");
    let run = rig.run(["call", "undo_edit"]);
    assert!(
        run.code == 0 && run.out.contains("p2") && run.out.contains("`.git/config` is protected"),
        "{run:?}"
    );
    assert_eq!(rig.get(".git/config"), "[user]\n");
    assert_eq!(rig.run(["review", "accept", "p2"]).code, 0);
    assert_eq!(rig.get(".git/config"), "[core]\n");
}

#[cfg(unix)]
#[test]
fn symlinks_do_not_bypass_protection() {
    let rig = rig();
    symlink(".git", rig.root().join("docs")).unwrap();
    symlink(".git/config", rig.root().join("notes")).unwrap();
    rig.put("plain", "id\n");
    let pending = |tool: &str, call: &str| {
        let (_, report) = rig.json(["call", tool, call]);
        assert_eq!(report["code"], "pending_review", "{report}");
        report["message"].as_str().unwrap().to_owned()
    };
    let edit = pending("edit_file", r#"{"path": "docs/config", "old_text": "core", "new_text": "user"}"#);
    assert!(edit.contains("`docs/config` leads to `.git/config`, which is protected"), "{edit}");
    pending("edit_file", r#"{"path": "notes", "old_text": "core", "new_text": "user"}"#);
    let create =
        pending("write_file", r#"{"path": "docs/hooks/pre-commit", "content": "id", "mode": "create"}"#);
    assert!(create.contains("`.git/hooks/pre-commit`"), "{create}");
    // Folders that do not exist yet count too.
    let deep = pending("write_file", r#"{"path": "docs/new/deep/file", "content": "id", "mode": "create"}"#);
    assert!(deep.contains("`.git/new/deep/file`"), "{deep}");
    let rename = "diff --git a/plain b/docs/hooks/post-merge\\nsimilarity index 100%\\nrename from plain\\nrename to docs/hooks/post-merge\\n";
    pending("patch", &format!(r#"{{"patch": "{rename}"}}"#));
    assert_eq!(rig.get(".git/config"), "[core]\n");
    assert_eq!(fs::read_dir(rig.root().join(".git/hooks")).unwrap().count(), 0);
}
