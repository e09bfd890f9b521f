//! Places that are protected whatever they are called, and proposals whose paths lead elsewhere when they are accepted.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use slipstitch::config::trust;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Decision};
use slipstitch::core::report::Report;

use crate::support::{TestFolder, TestWorkspace, ada};

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn create(path: &str) -> Value {
    json!({"path": path, "content": "x\n", "mode": "create"})
}

/// Whether a file can be created without asking.
fn is_free(test: &TestWorkspace, path: &str) -> bool {
    let report = test.call("write_file", create(path));
    assert!(["applied", "pending_review"].contains(&report.code()), "{path}: {report:?}");
    report.code() == "applied"
}

#[cfg(unix)]
#[test]
fn what_git_is_configured_to_run_or_include_is_protected() {
    let test = TestWorkspace::new();
    let root = test.at("");
    git(&root, &["init", "--quiet"]);
    test.put("tools/filter.sh", "cat\n");
    assert!(is_free(&test, "hooks/pre-commit"), "no setting points there yet");
    fs::remove_file(test.at("hooks/pre-commit")).unwrap();
    for (key, value) in [
        ("core.hooksPath", "hooks"),
        ("include.path", "../shared.inc"),
        ("includeIf.gitdir:/nowhere/.path", "../more.inc"),
        ("filter.lfs.clean", "sh tools/filter.sh %f"),
        ("alias.go", "!./bin/go --fast"),
    ] {
        git(&root, &["config", key, value]);
    }
    test.put("shared.inc", "[core]\n\tfsmonitor = watch/run\n");
    for path in ["hooks/pre-commit", "hooks/deep/x", "more.inc", "bin/go", "watch/run"] {
        assert!(!is_free(&test, path), "{path}");
    }
    let edit = |path: &str, old: &str| {
        test.call("edit_file", json!({"path": path, "old_text": old, "new_text": "x"})).code()
    };
    assert_eq!(edit("shared.inc", "core"), "pending_review");
    assert_eq!(edit("tools/filter.sh", "cat"), "pending_review");
    symlink("hooks", test.at("docs")).unwrap();
    fs::create_dir_all(test.at("hooks")).unwrap();
    assert!(!is_free(&test, "docs/post-merge"), "through a symlink");
    assert!(is_free(&test, "src/main.rs") && is_free(&test, "hooks.md"));
}

#[test]
fn every_command_in_the_configuration_of_git_is_protected() {
    let test = TestWorkspace::new();
    let root = test.at("");
    git(&root, &["init", "--quiet"]);
    for (at, key) in [
        "tar.zip.command",
        "gc.recentObjectsHook",
        "imap.tunnel",
        "instaweb.httpd",
        "lfs.customtransfer.fast.path",
        "lfs.extension.one.clean",
        "lfs.extension.one.smudge",
    ]
    .into_iter()
    .enumerate()
    {
        let command = format!("tools/run{at}");
        assert!(is_free(&test, &command), "{key}");
        fs::remove_file(test.at(&command)).unwrap();
        git(&root, &["config", key, &format!("./{command} --now")]);
        assert!(!is_free(&test, &command), "{key}");
    }
}

#[test]
fn linked_work_trees_and_separate_git_folders_are_protected() {
    let test = TestWorkspace::new();
    let root = test.at("");
    git(&root, &["init", "--quiet", "--separate-git-dir", "store", "project"]);
    assert!(!is_free(&test, "store/hooks/pre-commit"));
    assert!(!is_free(&test, "store/info/new"));
    assert!(is_free(&test, "project/a.txt"));
    let user = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    let commit = [&user[..], &["commit", "--quiet", "--allow-empty", "--message", "x"]].concat();
    git(&test.at("project"), &commit);
    git(&test.at("project"), &["worktree", "add", "--quiet", "../linked"]);
    git(&test.at("project"), &["config", "core.hooksPath", "githooks"]);
    assert!(!is_free(&test, "linked/githooks/pre-commit"), "the configuration is shared");
    assert!(is_free(&test, "linked/b.txt"));
}

#[test]
fn the_last_file_that_makes_a_folder_a_repository_needs_approval() {
    let test = TestWorkspace::new();
    // Any order: each of them may be the last one.
    for (at, last) in ["HEAD", "objects/x", "refs/x"].into_iter().enumerate() {
        let folder = format!("bare{at}");
        for part in ["HEAD", "objects/x", "refs/x", "config"].into_iter().filter(|part| *part != last) {
            assert!(is_free(&test, &format!("{folder}/{part}")), "{folder}/{part} before {last}");
        }
        assert!(!is_free(&test, &format!("{folder}/{last}")), "{last}");
    }
    // All at once.
    let add = |path: &str| format!("*** Add File: all/{path}\n+x\n");
    let files: String = ["HEAD", "config", "objects/x", "refs/x"].map(add).concat();
    let report = test.patch(&format!("*** Begin Patch\n{files}*** End Patch\n"));
    assert_eq!(report.code(), "pending_review", "{report:?}");
    assert!(!test.at("all").exists());
    // A real one, whatever it is called.
    git(&test.at(""), &["init", "--quiet", "--bare", "mirror"]);
    assert!(!is_free(&test, "mirror/hooks/update"));
}

#[test]
fn hard_links_do_not_bypass_the_protection_of_settings_and_journal() {
    let folder = TestFolder::new();
    fs::write(folder.config(), "[files]\nhard_links = \"break\"\n").unwrap();
    let test = TestWorkspace::open(folder);
    fs::hard_link(test.config(), test.at("plain.txt")).unwrap();
    fs::hard_link(test.state().join("journal.db"), test.at("data")).unwrap();
    let edit = json!({"path": "plain.txt", "old_text": "break", "new_text": "refuse"});
    let report = test.call("edit_file", edit);
    assert_eq!(report.code(), "pending_review", "{report:?}");
    assert!(report.message.contains("Slipstitch's settings"), "{}", report.message);
    let report = test.call("write_file", json!({"path": "data", "content": "x", "mode": "overwrite"}));
    assert_eq!(report.code(), "pending_review", "{report:?}");
    assert!(report.message.contains("Slipstitch's state"), "{}", report.message);
}

#[test]
fn the_users_own_settings_are_protected_while_others_are_in_use() {
    let folder = TestFolder::new();
    folder.put("odd.txt", "[review]\n");
    // This makes the state folder.
    drop(folder.builder().open().unwrap());
    trust(&folder.state(), &folder.at("odd.txt")).unwrap();
    let test = TestWorkspace::open(folder);
    let edit = json!({"path": "odd.txt", "old_text": "review", "new_text": "undo"});
    let report = test.call("edit_file", edit);
    assert_eq!(report.code(), "pending_review", "{report:?}");
    assert!(report.message.contains("Slipstitch's settings"), "{}", report.message);
    assert_eq!(test.text("odd.txt"), "[review]\n");
    assert!(is_free(&test, "odd2.txt"));
}

#[cfg(unix)]
#[test]
fn the_target_of_a_symlink_to_the_users_own_settings_is_protected() {
    let folder = TestFolder::new();
    folder.put("dotfiles/one", "[review]\n");
    symlink(folder.at("dotfiles/one"), folder.outside("settings.toml")).unwrap();
    // This makes the state folder.
    drop(folder.builder().open().unwrap());
    trust(&folder.state(), &folder.outside("settings.toml")).unwrap();
    let test = TestWorkspace::open(folder);
    let edit = json!({"path": "dotfiles/one", "old_text": "review", "new_text": "undo"});
    let report = test.call("edit_file", edit);
    assert_eq!(report.code(), "pending_review", "{report:?}");
    assert!(report.message.contains("Slipstitch's settings"), "{}", report.message);
    // Where the symlink leads to nothing, whoever creates the file writes the settings.
    fs::remove_file(test.at("dotfiles/one")).unwrap();
    assert!(!is_free(&test, "dotfiles/one"));
    assert!(is_free(&test, "dotfiles/two"));
}

/// Turns every change into a proposal.
struct AlwaysPropose;

impl Approver for AlwaysPropose {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> Decision {
        Decision::Pend { how: "It needs a review.".into() }
    }
}

fn propose(test: &TestWorkspace, tool: &str, call: Value) -> Report {
    let report = test.workspace.call_with("native", tool, call, &mut AlwaysPropose).report;
    assert_eq!(report.code(), "pending_review", "{report:?}");
    report
}

#[track_caller]
fn assert_not_accepted(test: &TestWorkspace, proposed: &Report, part: &str) {
    let report = test.workspace.accept(proposed.proposal.unwrap(), &ada(&test.workspace));
    assert_eq!(report.code(), "stale_file", "{report:?}");
    assert!(report.message.contains(part), "{}", report.message);
}

#[cfg(unix)]
#[test]
fn a_proposal_is_not_accepted_if_its_path_leads_elsewhere_now() {
    let test = TestWorkspace::new();
    test.put(".git/config", "text\n");
    test.put("notes.txt", "text\n");
    test.put("docs/config", "text\n");
    let edit = |path: &str| json!({"path": path, "old_text": "text", "new_text": "evil"});
    // The file itself, a folder on the way, a folder of a new file, and the target of a move.
    let file = propose(&test, "edit_file", edit("notes.txt"));
    let folder = propose(&test, "edit_file", edit("docs/config"));
    fs::create_dir(test.at("new")).unwrap();
    let created = propose(&test, "write_file", create("new/pre-commit"));
    test.put("plain.txt", "text\n");
    let rename = "diff --git a/plain.txt b/new/hook\nrename from plain.txt\nrename to new/hook\n";
    let moved = propose(&test, "patch", json!({"patch": rename}));
    fs::remove_file(test.at("notes.txt")).unwrap();
    symlink(".git/config", test.at("notes.txt")).unwrap();
    fs::remove_dir_all(test.at("docs")).unwrap();
    symlink(".git", test.at("docs")).unwrap();
    fs::create_dir(test.at(".git/hooks")).unwrap();
    fs::remove_dir(test.at("new")).unwrap();
    symlink(".git/hooks", test.at("new")).unwrap();
    assert_not_accepted(&test, &file, "now resolves to `.git/config`");
    assert_not_accepted(&test, &folder, "now resolves to `.git/config`");
    assert_not_accepted(&test, &created, "now resolves to `.git/hooks/pre-commit`");
    assert_not_accepted(&test, &moved, "now resolves to `.git/hooks/hook`");
    assert_eq!(test.text(".git/config"), "text\n");
    assert_eq!(fs::read_dir(test.at(".git/hooks")).unwrap().count(), 0);
}

#[test]
fn the_guards_judge_an_accepted_proposal_again() {
    let test = TestWorkspace::new();
    git(&test.at(""), &["init", "--quiet"]);
    let proposed = propose(&test, "write_file", create("hooks/pre-commit"));
    // The place became one that Git runs code from.
    git(&test.at(""), &["config", "core.hooksPath", "hooks"]);
    assert_not_accepted(&test, &proposed, "a Git hook or command");
    assert!(!test.at("hooks").exists());
    // What the reviewer was shown as protected can be accepted.
    let shown = test.call("write_file", create("hooks/pre-commit"));
    assert_eq!(test.workspace.accept(shown.proposal.unwrap(), &ada(&test.workspace)).code(), "applied");
    // Settings that deny it since are obeyed, also for an undo that was proposed before.
    let undo = propose(&test, "undo_edit", json!({}));
    test.put("slipstitch.toml", "[protected]\nrule = \"deny\"\n");
    let strict = test.builder().open().unwrap();
    let report = strict.accept(undo.proposal.unwrap(), &ada(&strict));
    assert_eq!(report.code(), "protected_path", "{report:?}");
    assert!(test.at("hooks/pre-commit").exists());
}

#[test]
fn undoing_another_sessions_change_follows_the_setting() {
    for (setting, code) in [("", "pending_review"), ("deny", "others_change"), ("allow", "applied")] {
        let folder = TestFolder::new();
        if !setting.is_empty() {
            fs::write(folder.config(), format!("[undo]\nothers = \"{setting}\"\n")).unwrap();
        }
        folder.put("a.txt", "one\n");
        let edit = json!({"path": "a.txt", "old_text": "one", "new_text": "two"});
        let agent = folder.open_session("agent");
        assert_eq!(agent.call("native", "edit_file", edit).report.code(), "applied");
        let other = folder.open_session("other");
        let undo = |workspace: &slipstitch::Workspace| {
            workspace.call("native", "undo_edit", json!({"change": "c1"})).report
        };
        let report = undo(&other);
        assert_eq!(report.code(), code, "{report:?}");
        match setting {
            "" => {
                assert!(report.message.contains("c1 (session `agent`)"), "{}", report.message);
                assert_eq!(folder.text("a.txt"), "two\n");
                assert_eq!(other.accept(report.proposal.unwrap(), &ada(&other)).code(), "applied");
            }
            // Its own session, and a program that decides for itself.
            "deny" => {
                assert_eq!(undo(&agent).code(), "applied");
                assert!(other.redo().change(ChangeId(2)).apply().is_ok());
                continue;
            }
            _ => {}
        }
        assert_eq!(folder.text("a.txt"), "one\n");
    }
}
