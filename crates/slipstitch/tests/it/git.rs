//! Versions of files in Git, with repositories made by Git itself.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use slipstitch::Workspace;
use slipstitch::git::GitVersions;
use slipstitch_core::outcome::Status;
use slipstitch_core::ports::versions::{VersionSource, Versions};
use slipstitch_core::text::ContentHash;

use crate::support::{TestFolder, file};

/// Runs Git in a folder, without the settings of whoever runs the tests.
fn git(folder: &Path, arguments: &[&str]) {
    let settings = ["user.name=Tester", "user.email=tester@example.org", "init.defaultBranch=main"];
    let output = Command::new("git")
        .current_dir(folder)
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_WORK_TREE")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository whose commit has `src/deep/a.txt` with the text `committed`.
fn repository(folder: &Path) {
    git(folder, &["init", "--quiet"]);
    put(&folder.join("src/deep/a.txt"), "committed\n");
    put(&folder.join("src/b.txt"), "b\n");
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "--message", "first"]);
}

fn versions(root: &Path, path: &str) -> Vec<(String, VersionSource)> {
    // The machine may be busy with other tests.
    let versions = GitVersions::new(root.canonicalize().unwrap()).with_max_time(Duration::from_secs(60));
    let now = fs::read(root.join(path)).unwrap_or_default();
    let found = versions.versions(&file(path), &now);
    found.into_iter().map(|found| (String::from_utf8(found.bytes).unwrap(), found.source)).collect()
}

fn staged(text: &str) -> (String, VersionSource) {
    (text.into(), VersionSource::Index)
}

fn committed(text: &str) -> (String, VersionSource) {
    (text.into(), VersionSource::Head)
}

const PATH: &str = "src/deep/a.txt";

#[test]
fn the_staged_version_comes_before_the_committed_one() {
    let test = TestFolder::new();
    let root = test.at("");
    assert!(versions(&root, PATH).is_empty(), "no repository");
    git(&root, &["init", "--quiet"]);
    test.put(PATH, "first\n");
    assert!(versions(&root, PATH).is_empty(), "no commit");
    git(&root, &["add", "."]);
    assert_eq!(versions(&root, PATH), [staged("first\n")]);
    git(&root, &["commit", "--quiet", "--message", "first"]);
    assert_eq!(versions(&root, PATH), [staged("first\n")], "the same in both");
    test.put(PATH, "second\n");
    git(&root, &["add", "."]);
    test.put(PATH, "third\n");
    assert_eq!(versions(&root, PATH), [staged("second\n"), committed("first\n")]);
    git(&root, &["rm", "--quiet", "--cached", "--force", PATH]);
    assert_eq!(versions(&root, PATH), [committed("first\n")]);
    assert!(versions(&root, "src/deep").is_empty(), "a folder");
    assert!(versions(&root, "src/deep/other.txt").is_empty());
}

#[test]
fn packed_objects_and_packed_references_are_read() {
    let test = TestFolder::new();
    let root = test.at("");
    repository(&root);
    // Several similar versions, so that the pack contains deltas.
    let text =
        |number: usize| (0..400).map(|line| format!("line {line} of {}\n", number * line / 399)).collect();
    for number in 0..5 {
        let text: String = text(number);
        test.put(PATH, &text);
        git(&root, &["commit", "--quiet", "--all", "--message", "next"]);
    }
    git(&root, &["tag", "--annotate", "--message", "tag", "v1"]);
    git(&root, &["gc", "--quiet", "--aggressive"]);
    assert!(fs::read_to_string(root.join(".git/packed-refs")).unwrap().contains("refs/heads/main"));
    assert!(!root.join(".git/refs/heads/main").exists());
    assert_eq!(versions(&root, PATH), [staged(&text(4))]);
    git(&root, &["rm", "--quiet", "--cached", PATH]);
    assert_eq!(versions(&root, PATH), [committed(&text(4))]);
    git(&root, &["checkout", "--quiet", "--force", "--detach", "HEAD~1"]);
    assert_eq!(versions(&root, PATH), [staged(&text(3))]);
}

#[test]
fn the_root_may_be_a_folder_of_the_repository_or_contain_it() {
    let test = TestFolder::new();
    let root = test.at("");
    repository(&root);
    assert_eq!(versions(&root.join("src/deep"), "a.txt"), [staged("committed\n")]);
    let inner = root.join("vendor/inner");
    fs::create_dir_all(&inner).unwrap();
    git(&inner, &["init", "--quiet"]);
    put(&inner.join("x.txt"), "inner\n");
    git(&inner, &["add", "."]);
    assert_eq!(versions(&root, "vendor/inner/x.txt"), [staged("inner\n")]);
    // Another root's files have absolute paths.
    let absolute = inner.canonicalize().unwrap().join("x.txt");
    assert_eq!(versions(&test.outside(""), absolute.to_str().unwrap()), [staged("inner\n")]);
}

#[test]
fn a_linked_work_tree_has_its_own_index_and_head() {
    let test = TestFolder::new();
    let main = test.outside("main");
    fs::create_dir(&main).unwrap();
    repository(&main);
    git(&main, &["worktree", "add", "--quiet", "-b", "branch", test.at("linked").to_str().unwrap()]);
    let linked = test.at("linked");
    put(&linked.join(PATH), "on the branch\n");
    git(&linked, &["commit", "--quiet", "--all", "--message", "second"]);
    put(&linked.join(PATH), "staged\n");
    git(&linked, &["add", "."]);
    assert_eq!(versions(&linked, PATH), [staged("staged\n"), committed("on the branch\n")]);
    assert_eq!(versions(&main, PATH), [staged("committed\n")]);
    git(&main, &["pack-refs", "--all"]);
    assert_eq!(versions(&linked, PATH), [staged("staged\n"), committed("on the branch\n")]);
}

#[cfg(unix)]
#[test]
fn what_is_too_large_conflicting_or_not_a_file_is_left_out() {
    let test = TestFolder::new();
    let root = test.at("");
    repository(&root);
    test.put("large.txt", &"x".repeat((1 << 20) + 1));
    std::os::unix::fs::symlink("src/b.txt", root.join("link")).unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "--message", "second"]);
    assert!(versions(&root, "large.txt").is_empty());
    assert!(versions(&root, "link").is_empty());
    git(&root, &["checkout", "--quiet", "-b", "other"]);
    test.put(PATH, "theirs\n");
    git(&root, &["commit", "--quiet", "--all", "--message", "theirs"]);
    git(&root, &["checkout", "--quiet", "main"]);
    test.put(PATH, "ours\n");
    git(&root, &["commit", "--quiet", "--all", "--message", "ours"]);
    let merge = Command::new("git").current_dir(&root).args(["merge", "other"]).output().unwrap();
    assert!(!merge.status.success());
    assert_eq!(versions(&root, PATH), [committed("ours\n")]);
}

#[test]
fn a_damaged_repository_offers_nothing() {
    let test = TestFolder::new();
    let root = test.at("");
    repository(&root);
    let dot_git = root.join(".git");
    let index = fs::read(dot_git.join("index")).unwrap();
    for len in [0, 11, index.len() / 2] {
        fs::write(dot_git.join("index"), &index[..len]).unwrap();
        assert_eq!(versions(&root, PATH), [committed("committed\n")], "{len} bytes");
    }
    for head in ["", "ref: refs/heads/none\n", "ref: HEAD\n", "0123456789012345678901234567890123456789\n"] {
        fs::write(dot_git.join("HEAD"), head).unwrap();
        assert!(versions(&root, PATH).is_empty(), "{head:?}");
    }
    fs::remove_dir_all(&dot_git).unwrap();
    for pointer in ["", "gitdir: ", "gitdir: /nowhere\n", "gitdir: .git\n"] {
        fs::write(&dot_git, pointer).unwrap();
        assert!(versions(&root, PATH).is_empty(), "{pointer:?}");
    }
}

/// Twenty lines with the number `changed` replaced.
fn numbered_lines(changed: usize) -> String {
    let line = |n| if n == changed { format!("changed {n}\n") } else { format!("line number {n}\n") };
    (0..20).map(line).collect()
}

#[test]
fn a_renamed_file_has_the_versions_of_its_former_name() {
    let test = TestFolder::new();
    let root = test.at("");
    repository(&root);
    let (first, second, now) = (numbered_lines(1), numbered_lines(2), numbered_lines(3));
    test.put("src/old.txt", &first);
    test.put("src/old.rs", &now);
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "--message", "second"]);

    // Neither the index nor the commit knows the new name.
    fs::rename(root.join("src/old.txt"), root.join("new.txt")).unwrap();
    test.put("new.txt", &now);
    assert_eq!(versions(&root, "new.txt"), [staged(&first)]);
    // Files that are there, and a missing one with other lines, are no former names.
    assert!(versions(&root, "src/b.txt").iter().all(|(text, _)| text == "b\n"));
    test.put("other.txt", "nothing like it\n");
    assert!(versions(&root, "other.txt").is_empty());
    // A file that is back at its name was copied, not renamed.
    test.put("src/old.txt", &second);
    assert!(versions(&root, "new.txt").is_empty());
    fs::remove_file(root.join("src/old.txt")).unwrap();

    // Only the index knows the new name.
    test.put("new.txt", &second);
    git(&root, &["add", "--all", "."]);
    test.put("new.txt", &now);
    assert_eq!(versions(&root, "new.txt"), [staged(&second), committed(&first)]);
}

#[test]
fn of_two_missing_files_that_are_as_similar_neither_is_the_former_name() {
    let test = TestFolder::new();
    let root = test.at("");
    repository(&root);
    test.put("one.txt", &numbered_lines(1));
    test.put("two.txt", &numbered_lines(2));
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "--message", "second"]);
    fs::remove_file(root.join("one.txt")).unwrap();
    fs::remove_file(root.join("two.txt")).unwrap();
    test.put("new.txt", &numbered_lines(13));
    // `changed 1` and `changed 2` are as long, and so are the lines they replaced.
    assert!(versions(&root, "new.txt").is_empty());
    test.put("new.txt", &numbered_lines(1));
    assert_eq!(versions(&root, "new.txt"), [staged(&numbered_lines(1))]);
}

#[test]
fn repositories_with_sha256_names_are_read() {
    let test = TestFolder::new();
    let root = test.at("");
    git(&root, &["init", "--quiet", "--object-format=sha256"]);
    test.put(PATH, "first\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "--message", "first"]);
    test.put(PATH, "second\n");
    git(&root, &["add", "."]);
    test.put(PATH, "third\n");
    assert_eq!(versions(&root, PATH), [staged("second\n"), committed("first\n")]);
    git(&root, &["commit", "--quiet", "--message", "second"]);
    git(&root, &["gc", "--quiet"]);
    assert_eq!(versions(&root, PATH), [staged("second\n")], "packed");
    // Names of a kind that is not known are not read as if they were known.
    git(&root, &["config", "extensions.objectFormat", "sha3"]);
    assert!(versions(&root, PATH).is_empty());
}

#[test]
fn a_lookup_ends_when_its_time_is_up() {
    let test = TestFolder::new();
    let root = test.at("").canonicalize().unwrap();
    repository(&root);
    assert!(!versions(&root, PATH).is_empty());
    let hasty = GitVersions::new(root).with_max_time(Duration::ZERO);
    assert!(hasty.versions(&file(PATH), b"committed\n").is_empty());
}

/// Nothing is written, not even a lock or a refreshed index.
#[test]
fn a_lookup_changes_nothing_in_the_repository() {
    let test = TestFolder::new();
    let root = test.at("");
    repository(&root);
    test.put(PATH, "changed\n");
    let before = (test.listing(), fs::read(root.join(".git/index")).unwrap());
    assert!(!versions(&root, PATH).is_empty());
    assert_eq!((test.listing(), fs::read(root.join(".git/index")).unwrap()), before);
}

/// Edits line 1 for the committed version, which the session never saw, after an outside change of line 3.
fn edit_for_the_committed_version(test: &TestFolder, workspace: &Workspace) -> Status {
    let committed = "one\ntwo\nthree\n";
    test.put("file.txt", committed);
    git(&test.at(""), &["init", "--quiet"]);
    git(&test.at(""), &["add", "."]);
    git(&test.at(""), &["commit", "--quiet", "--message", "first"]);
    test.put("file.txt", "one\ntwo\nTHREE\n");
    let version = ContentHash::of(committed.as_bytes()).to_string();
    let edit = json!({"path": "file.txt", "start_line": 1, "new_text": "1\n", "version": version});
    workspace.call("native", "edit_lines", edit).report.status()
}

#[test]
fn an_edit_for_the_committed_version_is_carried_over_unless_that_is_switched_off() {
    let test = TestFolder::new();
    assert_eq!(edit_for_the_committed_version(&test, &test.open_session("s")), Status::Applied);
    assert_eq!(test.text("file.txt"), "1\ntwo\nTHREE\n");
    for setting in ["git = false", "enabled = false"] {
        let test = TestFolder::new();
        fs::write(test.config(), format!("[evidence]\n{setting}\n")).unwrap();
        assert_eq!(
            edit_for_the_committed_version(&test, &test.open_session("s")),
            Status::Refused,
            "{setting}"
        );
        assert_eq!(test.text("file.txt"), "one\ntwo\nTHREE\n");
    }
}
