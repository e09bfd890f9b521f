//! Renames that depend on each other: chains, swaps, and a new file under an old name. Compared with `git apply`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;
use slipstitch::core::outcome::Status;

use crate::support::{TestFolder, TestWorkspace, Tree, ada, kept_mode, read_tree, write_tree};

const CHAIN: &str = "\
diff --git a/a b/b
similarity index 60%
rename from a
rename to b
--- a/a
+++ b/b
@@ -1,2 +1,2 @@
 a 1
-a 2
+A 2
diff --git a/b b/c
similarity index 100%
rename from b
rename to c
";

const SWAP: &str = "\
diff --git a/b b/a
rename from b
rename to a
diff --git a/a b/b
rename from a
rename to b
--- a/a
+++ b/b
@@ -1,2 +1,2 @@
 a 1
-a 2
+A 2
";

const RECREATED: &str = "\
diff --git a/a b/a
new file mode 100755
--- /dev/null
+++ b/a
@@ -0,0 +1 @@
+new
diff --git a/a b/deep/b
rename from a
rename to deep/b
";

const REPLACED: &str = "\
diff --git a/b b/b
deleted file mode 100600
--- a/b
+++ /dev/null
@@ -1,2 +0,0 @@
-b 1
-b 2
diff --git a/a b/b
rename from a
rename to b
";

const V4A: &str = "\
*** Begin Patch
*** Update File: a
*** Move to: b
@@
-a 2
+A 2
*** Update File: b
*** Move to: a
*** End Patch
";

const V4A_RECREATED: &str = "\
*** Begin Patch
*** Update File: a
*** Move to: deep/b
*** Add File: a
+new
*** End Patch
";

fn two_files() -> TestWorkspace {
    let test = TestWorkspace::new();
    test.put_with_mode("a", "a 1\na 2\n", 0o640);
    test.put_with_mode("b", "b 1\nb 2\n", 0o600);
    test
}

type Expected = &'static [(&'static str, &'static str, u32)];

const CASES: &[(&str, &str, Expected)] = &[
    ("chain", CHAIN, &[("b", "a 1\nA 2\n", 0o640), ("c", "b 1\nb 2\n", 0o600)]),
    ("swap", SWAP, &[("a", "b 1\nb 2\n", 0o600), ("b", "a 1\nA 2\n", 0o640)]),
    (
        "recreated",
        RECREATED,
        &[("a", "new\n", 0o755), ("b", "b 1\nb 2\n", 0o600), ("deep/b", "a 1\na 2\n", 0o640)],
    ),
    ("replaced", REPLACED, &[("b", "a 1\na 2\n", 0o640)]),
    ("V4A swap", V4A, &[("a", "b 1\nb 2\n", 0o600), ("b", "a 1\nA 2\n", 0o640)]),
    (
        "V4A recreated",
        V4A_RECREATED,
        &[("a", "new\n", 0o644), ("b", "b 1\nb 2\n", 0o600), ("deep/b", "a 1\na 2\n", 0o640)],
    ),
];

fn assert_files(test: &TestWorkspace, expected: Expected, name: &str) {
    let files = test.files();
    let found: Vec<(&str, &str, u32)> =
        files.iter().map(|(path, (text, mode))| (path.as_str(), text.as_str(), *mode)).collect();
    let expected: Vec<(&str, &str, u32)> =
        expected.iter().map(|(path, text, mode)| (*path, *text, kept_mode(*mode))).collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn dependent_renames_are_applied_undone_and_redone() {
    for (name, patch, expected) in CASES {
        let test = two_files();
        let before = test.files();
        let dry = test.call("patch", json!({"patch": patch, "dry_run": true}));
        assert_eq!(dry.status(), Status::WouldApply, "{name}: {dry:#?}");
        let report = test.patch(patch);
        assert_eq!(report.status(), Status::Applied, "{name}: {report:#?}");
        assert_files(&test, expected, name);
        let undone = test.undo();
        assert_eq!(undone.status(), Status::Applied, "{name}: {undone:#?}");
        assert_eq!(test.files(), before, "{name}");
        let redone = test.workspace.redo().apply();
        assert!(redone.is_ok(), "{name}: {redone:?}");
        assert_files(&test, expected, name);
        // The diff in the answer does the same.
        let other = two_files();
        assert_eq!(other.patch(report.diff.as_deref().unwrap()).status(), Status::Applied, "{name}");
        assert_files(&other, expected, name);
    }
}

#[test]
fn an_undo_of_a_swap_keeps_later_work() {
    let test = two_files();
    assert_eq!(test.patch(SWAP).status(), Status::Applied);
    crate::support::edit(&test.workspace, "b", "a 1", "first");
    let undone = test.call("undo_edit", json!({"change": "c1"}));
    assert_eq!(undone.status(), Status::Applied, "{undone:#?}");
    assert_eq!(test.text("a"), "first\na 2\n");
    assert_eq!(test.text("b"), "b 1\nb 2\n");
}

#[test]
fn several_changes_with_swaps_are_undone_together() {
    let test = two_files();
    let before = test.files();
    assert_eq!(test.patch(SWAP).status(), Status::Applied);
    crate::support::edit(&test.workspace, "b", "a 1", "first");
    let again =
        "diff --git a/b b/a\nrename from b\nrename to a\ndiff --git a/a b/b\nrename from a\nrename to b\n";
    assert_eq!(test.patch(again).status(), Status::Applied);
    let undone = test.workspace.undo().session().apply();
    assert!(undone.is_ok(), "{undone:?}");
    assert_eq!(test.files(), before);
}

#[test]
fn a_proposed_swap_can_be_accepted() {
    let test = two_files();
    test.put("slipstitch.toml", "[protected]\npaths = [\"a\"]\n");
    let workspace = test.builder().open().unwrap();
    let report = workspace.call("native", "patch", json!({"patch": SWAP})).report;
    assert_eq!(report.code(), "pending_review", "{report:?}");
    let accepted = workspace.accept(report.proposal.unwrap(), &ada(&workspace));
    assert_eq!(accepted.code(), "applied", "{accepted:?}");
    assert_eq!((test.text("a"), test.text("b")), ("b 1\nb 2\n".into(), "a 1\nA 2\n".into()));
}

#[test]
fn a_rename_over_a_file_that_stays_is_refused() {
    let test = two_files();
    let before = test.files();
    for patch in [
        "diff --git a/a b/b\nrename from a\nrename to b\n",
        // Both lead to one name.
        "diff --git a/a b/c\nrename from a\nrename to c\ndiff --git a/b b/c\nrename from b\nrename to c\n",
    ] {
        let report = test.patch(patch);
        assert_eq!(report.status(), Status::Refused, "{report:#?}");
        assert_eq!(test.files(), before);
    }
}

// The differential test.

fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    use std::io::Write;
    let mut child = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // An early exit closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// A small generator of pseudo-random numbers; the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

const NAMES: &[&str] = &["a", "b", "c", "d", "deep/e", "deep/f"];

fn text(seed: usize) -> Vec<u8> {
    (0..70).map(|line| format!("{} of file {seed}\n", line * (seed + 3))).collect::<String>().into_bytes()
}

/// Files under some of the names, and a tree in which they have other names, with some lines changed.
fn trees(random: &mut Random) -> (Tree, Tree) {
    let mut before = Tree::new();
    for (seed, name) in NAMES.iter().enumerate() {
        if random.below(4) > 0 {
            before.insert((*name).to_owned(), text(seed));
        }
    }
    let mut after = Tree::new();
    let mut free: Vec<&str> = NAMES.iter().copied().chain(["new/g"]).collect();
    for content in before.values() {
        if random.below(8) == 0 {
            continue;
        }
        let name = free.remove(random.below(free.len()));
        let mut content = content.clone();
        if random.below(2) == 0 {
            content.splice(0..0, format!("edit {}\n", random.below(100)).into_bytes());
        }
        after.insert(name.to_owned(), content);
    }
    if random.below(2) == 0 && !free.is_empty() {
        after.insert(free.remove(random.below(free.len())).to_owned(), text(90 + random.below(9)));
    }
    (before, after)
}

/// What Git says the difference is.
fn git_diff(before: &Tree, after: &Tree, options: &[&str]) -> String {
    let folder = TestFolder::new();
    let root = folder.at("");
    git(&root, &["init", "--quiet"], b"");
    write_tree(&root, before);
    git(&root, &["add", "--all"], b"");
    git(&root, &["commit", "--quiet", "--allow-empty", "--message", "before"], b"");
    for name in before.keys() {
        fs::remove_file(root.join(name)).unwrap();
    }
    write_tree(&root, after);
    git(&root, &["add", "--all"], b"");
    let diff = git(&root, &[&["diff", "--cached"], options].concat(), b"");
    String::from_utf8(diff.stdout).unwrap()
}

/// The files after `git apply`; `None` if it refuses.
fn git_apply(before: &Tree, patch: &str) -> Option<Tree> {
    let folder = TestFolder::new();
    write_tree(&folder.at(""), before);
    let applied = git(&folder.at(""), &["apply", "-"], patch.as_bytes());
    let tree = read_tree(&folder.at(""));
    if applied.status.success() { Some(tree) } else { None }
}

#[test]
fn renames_have_the_same_result_as_with_git_apply() {
    let mut random = Random(0x5115_7177);
    let (mut renames, mut dependent, mut copies, mut refused_by_git) = (0, 0, 0, 0);
    for case in 0..45 {
        let (before, after) = trees(&mut random);
        let options = [&["-M"][..], &["-B", "-M"], &["-B", "-M", "-C"]][case % 3];
        let patch = git_diff(&before, &after, options);
        if patch.is_empty() {
            continue;
        }
        let by_git = git_apply(&before, &patch);
        let test = TestWorkspace::new();
        write_tree(&test.at(""), &before);
        let report = test.patch(&patch);
        if patch.contains("\ncopy from ") {
            assert_eq!(report.code(), "unsupported_patch", "{report:?}");
            assert_eq!(read_tree(&test.at("")), before);
            copies += 1;
            continue;
        }
        // With `-B`, git writes diffs that rename over a file without saying that it is deleted, and refuses them.
        let Some(by_git) = by_git else {
            assert_eq!(report.status(), Status::Refused, "{patch}\n{report:#?}");
            assert!(read_tree(&test.at("")) == before, "{patch}");
            refused_by_git += 1;
            continue;
        };
        assert_eq!(report.status(), Status::Applied, "{patch}\n{report:#?}");
        assert!(by_git == after && read_tree(&test.at("")) == after, "{patch}");
        let sources: Vec<&str> = patch.lines().filter_map(|line| line.strip_prefix("rename from ")).collect();
        let targets: Vec<&str> = patch.lines().filter_map(|line| line.strip_prefix("rename to ")).collect();
        renames += sources.len();
        dependent += targets.iter().filter(|target| sources.contains(target)).count();
        let undone = test.undo();
        assert_eq!(undone.status(), Status::Applied, "{patch}\n{undone:#?}");
        assert_eq!(read_tree(&test.at("")), before, "{patch}");
    }
    assert!(renames > 30 && dependent > 10 && copies > 0, "{renames} {dependent} {copies}");
    assert!(refused_by_git < 30, "{refused_by_git}");
}

#[test]
fn contradicting_headers_are_refused_as_by_git() {
    let before: Tree =
        NAMES.iter().enumerate().map(|(seed, name)| ((*name).to_owned(), text(seed))).collect();
    let section = |from: &str, to: &str, old: &str, new: &str| {
        format!(
            "diff --git a/a b/z\nsimilarity index 90%\nrename from {from}\nrename to {to}\n--- {old}\n+++ {new}\n\
             @@ -1,3 +1,4 @@\n 0 of file 0\n+edit\n 3 of file 0\n 6 of file 0\n"
        )
    };
    assert!(git_apply(&before, &section("a", "z", "a/a", "b/z")).is_some());
    for (from, to, old, new) in [
        ("a", "z", "a/b", "b/z"),
        ("a", "z", "a/a", "b/b"),
        ("a", "z", "a/b", "b/b"),
        ("b", "z", "a/a", "b/z"),
        ("a", "y", "a/a", "b/z"),
        ("a", "z", "/dev/null", "b/z"),
        ("a", "z", "a/a", "/dev/null"),
    ] {
        let patch = section(from, to, old, new);
        assert_eq!(git_apply(&before, &patch), None, "{patch}");
        let test = TestWorkspace::new();
        write_tree(&test.at(""), &before);
        let report = test.patch(&patch);
        assert!([Status::Invalid, Status::Refused].contains(&report.status()), "{patch}\n{report:#?}");
        assert_eq!(read_tree(&test.at("")), before, "{patch}");
    }
}

#[test]
fn contradicting_deletions_and_creations_are_refused_as_by_git() {
    let before: Tree = ["a", "c"].map(|name| (name.to_owned(), b"one\n".to_vec())).into();
    let deletion = |names: &str, old: &str, new: &str| {
        format!("diff --git {names}\ndeleted file mode 100644\n--- {old}\n+++ {new}\n@@ -1 +0,0 @@\n-one\n")
    };
    let creation = |names: &str, old: &str, new: &str| {
        format!("diff --git {names}\nnew file mode 100644\n--- {old}\n+++ {new}\n@@ -0,0 +1 @@\n+one\n")
    };
    let (delete, create) = ("deleted file mode 100644\n", "new file mode 100644\n");
    for (patch, is_valid) in [
        (deletion("a/a b/a", "a/a", "/dev/null"), true),
        (deletion("a/a b/a", "a/c", "/dev/null"), false),
        (deletion("a/c b/c", "a/c", "b/c"), false),
        (deletion("a/c b/c", "/dev/null", "b/c"), false),
        (creation("a/n b/n", "/dev/null", "b/n"), true),
        (creation("a/n b/n", "/dev/null", "b/m"), false),
        (creation("a/n b/n", "a/n", "b/n"), false),
        (creation("a/n b/n", "a/n", "/dev/null"), false),
        (format!("diff --git a/a b/c\n{delete}"), false),
        (format!("diff --git a/n b/m\n{create}"), false),
        ("diff --git a/a b/c\nold mode 100644\nnew mode 100755\n".into(), false),
    ] {
        assert_eq!(git_apply(&before, &patch).is_some(), is_valid, "{patch}");
        let test = TestWorkspace::new();
        write_tree(&test.at(""), &before);
        let report = test.patch(&patch);
        assert_eq!(report.status() == Status::Applied, is_valid, "{patch}\n{report:#?}");
        assert_eq!(read_tree(&test.at("")) != before, is_valid, "{patch}");
    }
}
