//! `slipstitch patch`, and patches as calls.

use super::rig::Rig;

const DIFF: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
const V4A: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch\n";
const BLOCKS: &str = "a.txt\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n";

#[test]
fn reads_every_format_from_stdin_or_a_file() {
    for patch in [DIFF, V4A, BLOCKS] {
        let rig = Rig::with("one\ntwo\n");
        rig.run_fed(["patch"], patch).assert_done();
        assert_eq!(rig.get("a.txt"), "1\ntwo\n");
        rig.run(["undo"]).assert_done();
        assert_eq!(rig.get("a.txt"), "one\ntwo\n");
        rig.run_fed(["patch", "-"], patch).assert_done();
        rig.run(["undo"]).assert_done();
        rig.put("p.txt", patch);
        let run = rig.run(["patch", "p.txt", "--description", "numbers"]);
        run.assert_done();
        assert!(run.out.contains("-one\n+1\n"), "{run:?}");
        assert!(rig.run(["log"]).out.contains("numbers"));
    }
}

#[test]
fn check_says_whether_the_patch_applies_without_writing() {
    let rig = Rig::with("one\ntwo\n");
    let run = rig.run_fed(["patch", "--check"], DIFF);
    run.assert_done();
    assert!(!run.out.contains("-one"), "{run:?}");
    let run = rig.run_fed(["patch", "--dry-run"], DIFF);
    assert!(run.out.contains("-one\n+1\n"), "{run:?}");
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
    rig.put("a.txt", "other\n");
    rig.run_fed(["patch", "--check"], DIFF).assert_failed(1, &["line 1", "`one`", "`other`", "hint:"]);
}

#[test]
fn reverse_reverts_the_patch() {
    for patch in [DIFF, BLOCKS] {
        let rig = Rig::with("one\ntwo\n");
        rig.run_fed(["patch"], patch).assert_done();
        rig.run_fed(["patch", "--reverse"], patch).assert_done();
        assert_eq!(rig.get("a.txt"), "one\ntwo\n");
    }
}

#[test]
fn applying_a_patch_twice_is_not_an_error() {
    let rig = Rig::with("first\ntwo\n");
    let diff = DIFF.replace("-one", "-first").replace("\n+1\n", "\n+second\n");
    rig.run_fed(["patch"], diff.clone()).assert_done();
    let run = rig.run_fed(["patch"], diff);
    run.assert_done();
    assert!(run.err.contains("already"), "{run:?}");
}

#[test]
fn strips_leading_folders() {
    let rig = Rig::with("one\ntwo\n");
    let deep = DIFF.replace("a/a.txt", "x/y/a.txt").replace("b/a.txt", "x/y/a.txt");
    rig.run_fed(["patch"], deep.clone()).assert_failed(2, &["no such file"]);
    rig.run_fed(["patch", "-p", "2"], deep.clone()).assert_done();
    rig.run(["undo"]).assert_done();
    rig.run_fed(["patch", "-p2"], deep.clone()).assert_done();
    rig.run(["undo"]).assert_done();
    rig.run_fed(["patch", "--path", "a.txt"], deep).assert_done();
    assert_eq!(rig.get("a.txt"), "1\ntwo\n");
}

#[test]
fn a_patch_without_a_file_name_needs_path() {
    let rig = Rig::with("one\ntwo\n");
    let bare = DIFF.split_once("@@").map(|(_, rest)| format!("@@{rest}")).unwrap();
    rig.run_fed(["patch"], bare.clone()).assert_failed(2, &["does not name a file", "hint:"]);
    rig.run_fed(["patch", "--path", "a.txt"], bare).assert_done();
    assert_eq!(rig.get("a.txt"), "1\ntwo\n");
}

#[test]
fn rejects_a_patch_in_another_format() {
    let rig = Rig::with("one\ntwo\n");
    rig.run_fed(["patch", "--format", "v4a"], DIFF).assert_failed(2, &["V4A"]);
    rig.run_fed(["patch", "--format", "unified"], DIFF).assert_done();
    rig.run_fed(["patch", "--format", "nonsense"], DIFF).assert_failed(2, &["nonsense"]);
    rig.run_fed(["patch"], "nothing of the kind\n").assert_failed(2, &["hint:"]);
    rig.run_fed(["patch"], format!("{V4A}\n{BLOCKS}")).assert_failed(2, &["V4A", "SEARCH/REPLACE"]);
}

#[test]
fn strict_repairs_nothing() {
    let rig = Rig::with("one\ntwo\n");
    let wrong = DIFF.replace("-1,2 +1,2", "-1,9 +1,9");
    rig.run_fed(["patch", "--strict"], wrong.clone()).assert_failed(2, &["line 3"]);
    let run = rig.run_fed(["patch"], wrong);
    run.assert_done();
    assert!(run.err.contains("warning: patch line 3"), "{run:?}");
}

#[test]
fn overwrites_existing_files_only_on_request() {
    let rig = Rig::with("one\ntwo\n");
    let add = "*** Begin Patch\n*** Add File: a.txt\n+new\n*** End Patch\n";
    rig.run_fed(["patch"], add).assert_failed(1, &["already exists"]);
    rig.run_fed(["patch", "--overwrite"], add).assert_done();
    assert_eq!(rig.get("a.txt"), "new\n");
}

#[test]
fn json_prints_one_object() {
    let rig = Rig::with("one\ntwo\n");
    rig.put("p.diff", DIFF);
    let (code, report) = rig.json(["patch", "p.diff"]);
    assert_eq!((code, report["files"][0]["path"].as_str()), (0, Some("a.txt")));
    rig.put("p.diff", DIFF.replace("one", "two"));
    let (code, report) = rig.json(["patch", "p.diff"]);
    let failure = &report["failures"][0];
    assert_eq!((code, failure["code"].as_str(), failure["line"].as_u64()), (1, Some("no_match"), Some(1)));
    assert_eq!((failure["expected"].as_str(), failure["found"].as_str()), (Some("two"), Some("1")));
    rig.put("p.diff", "x");
    assert_eq!(rig.json(["patch", "p.diff"]).0, 2);
    assert_eq!(rig.json(["patch", "missing.diff"]).0, 2);
}

#[test]
fn call_accepts_a_plain_text_patch() {
    for call in [&["call", "--dialect", "codex", "apply_patch", "-"][..], &["call", "patch", "-"]] {
        let rig = Rig::with("one\ntwo\n");
        rig.run_fed(call, V4A).assert_done();
        assert_eq!(rig.get("a.txt"), "1\ntwo\n");
        let rig = Rig::with("one\ntwo\n");
        rig.run_fed(call, serde_json::to_string(V4A).unwrap()).assert_done();
        assert_eq!(rig.get("a.txt"), "1\ntwo\n");
    }
    let rig = Rig::with("one\ntwo\n");
    rig.run_fed(["call", "read_file", "-"], V4A).assert_refused(2, &["not valid JSON"]);
}

// Shows: P5.3, P5.4, P5.5
#[cfg(unix)]
#[test]
fn nexus3_reads_no_diff_outside_the_root() {
    let rig = Rig::with("one\ntwo\n");
    let call = |arguments: serde_json::Value| {
        ["call".into(), "--dialect".into(), "nexus3".into(), "patch".into(), arguments.to_string()]
    };
    let run = rig.run(call(serde_json::json!({"target": "a.txt", "diff": DIFF})));
    assert_eq!((run.code, run.out.as_str()), (0, "Applied patch to a.txt: 1 hunk applied\n"));
    rig.run(["undo"]).assert_done();
    rig.put("p.diff", DIFF);
    rig.run(call(serde_json::json!({"target": "a.txt", "diff_file": "p.diff"}))).assert_done();
    assert_eq!(rig.get("a.txt"), "1\ntwo\n");
    // Its hunk fits, so only its place prevents it.
    rig.put("a.txt", "one\ntwo\n");
    std::fs::write(rig.outside().join("out.diff"), DIFF).unwrap();
    std::os::unix::fs::symlink(rig.outside().join("out.diff"), rig.root().join("link.diff")).unwrap();
    for file in ["../out.diff", "link.diff"] {
        let run = rig.run(call(serde_json::json!({"target": "a.txt", "diff_file": file})));
        assert!(run.code == 2 && run.out.contains("outside the project root"), "{run:?}");
        assert_eq!(rig.get("a.txt"), "one\ntwo\n");
    }
}

/// A patch of three hunks, of which the second matches.
const PARTIAL: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n row 1\n-row two\n+row 2b\n row 3\n\
                       @@ -10,3 +10,3 @@\n row 10\n-row 11\n+row 11b\n row 12\n\
                       @@ -20,3 +20,3 @@\n nothing like\n-this\n+that\n at all\n";

fn rows() -> String {
    (1..=30).map(|row| format!("row {row}\n")).collect()
}

#[test]
fn every_failing_hunk_is_listed_by_its_number() {
    let rig = Rig::with(rows());
    let run = rig.run_fed(["patch"], PARTIAL);
    run.assert_failed(1, &["2 of 3 hunks cannot be applied", "`a.txt`: hunk 1: ", "`a.txt`: hunk 3: "]);
    let one = PARTIAL.split("@@ -10").next().unwrap();
    rig.run_fed(["patch"], one).assert_failed(1, &["`a.txt`, hunk 1: ", "`row 2` on line 2"]);
    assert_eq!(rig.get("a.txt"), rows());
}

#[test]
fn reject_applies_what_matches_and_keeps_the_rest() {
    let rig = Rig::with(rows());
    let run = rig.run_fed(["patch", "--reject"], PARTIAL);
    assert_eq!(run.code, 1, "something is left to do: {run:?}");
    assert_eq!(rig.get("a.txt"), rows().replace("row 11\n", "row 11b\n"));
    let rejected = rig.get("a.txt.rej");
    assert!(rejected.contains("-row two\n+row 2b\n") && rejected.contains("-this\n+that\n"), "{rejected}");
    assert!(!rejected.contains("row 11"), "{rejected}");
    rig.run(["undo"]).assert_done();
    assert_eq!(rig.get("a.txt"), rows());
    assert!(!rig.root().join("a.txt.rej").exists(), "all of it is one change");
    // A block of SEARCH/REPLACE text can be applied again once it fits.
    rig.run_fed(
        ["patch", "--reject"],
        "a.txt\n<<<<<<< SEARCH\nrow 3x\n=======\nrow three\n>>>>>>> REPLACE\n",
    );
    rig.put("a.txt", "row 3x\n");
    rig.run(["patch", "a.txt.rej"]).assert_done();
    assert_eq!(rig.get("a.txt"), "row three\n");
}

#[test]
fn three_way_leaves_conflict_markers_at_the_closest_place() {
    let rig = Rig::with(rows());
    let run = rig.run_fed(["patch", "--3way"], PARTIAL);
    assert_eq!(run.code, 1, "{run:?}");
    let text = rig.get("a.txt");
    let start = "row 1\n<<<<<<< file\nrow 2\n||||||| expected by the patch\nrow two\n\
                 =======\nrow 2b\n>>>>>>> patch\nrow 3\nrow 4\n";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("row 11b\n"), "{text}");
    assert!(run.err.contains("conflict markers at line 2"), "{run:?}");
    assert!(rig.get("a.txt.rej").contains("nothing like"), "a hunk without a place is in the .rej file");
    rig.run_fed(["patch", "--3way", "--check"], PARTIAL).assert_failed(2, &["--check"]);
}

#[test]
fn what_is_left_of_a_patch_is_counted() {
    let rig = Rig::with(rows());
    let first = rig.run_fed(["patch", "--reject"], PARTIAL);
    assert!(first.err.contains("Changed 2 files; 2 of 3 hunks are left (change c1"), "{first:?}");
    let again = rig.run_fed(["patch", "--reject"], PARTIAL);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(
        again.err.contains("no change: 2 of 3 hunks are left\nhint: Apply what is left by hand."),
        "{again:?}"
    );
    assert!(!again.err.contains("Nothing is left"), "{again:?}");
}

#[test]
fn a_conflict_is_not_marked_twice() {
    let rig = Rig::with(rows());
    rig.run_fed(["patch", "--3way"], PARTIAL);
    rig.run_fed(["patch", "--3way"], PARTIAL);
    let text = rig.get("a.txt");
    assert_eq!(text.matches("<<<<<<< file").count(), 1, "{text}");
    assert!(rig.get("a.txt.rej").contains("-row two\n"), "the hunk is not lost");
}

#[test]
fn conflict_markers_keep_the_encoding_of_the_file() {
    let rig = Rig::new();
    rig.put("a.txt", b"caf\xe9\nzwei\ndrei\n");
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n caf\u{e9}\n-deux\n+dos\n drei\n";
    let run = rig.run_fed(["patch", "--3way"], patch);
    assert_eq!(run.code, 1, "{run:?}");
    let bytes = std::fs::read(rig.root().join("a.txt")).unwrap();
    assert!(bytes.starts_with(b"caf\xe9\n<<<<<<< file\nzwei\n"), "{}", String::from_utf8_lossy(&bytes));
}

#[test]
fn any_number_of_hunks_can_be_rejected() {
    let rig = Rig::with((1..=60).map(|row| format!("row {row}\nrest of {row}\n")).collect::<String>());
    let hunk = |row: usize| {
        let (line, old) = (2 * row - 1, if row == 30 { "row 30" } else { "nothing like this" });
        format!("@@ -{line},2 +{line},2 @@\n-{old}\n+new {row}\n rest of {row}\n")
    };
    let hunks: String = (1..=60).map(hunk).collect();
    let run = rig.run_fed(["patch", "--reject"], format!("--- a/a.txt\n+++ b/a.txt\n{hunks}"));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("59 of 60 hunks are left"), "{run:?}");
    assert_eq!(rig.get("a.txt.rej").matches("@@ -").count(), 59);
    assert!(rig.get("a.txt").contains("\nnew 30\n"));
}

#[test]
fn conflicts_are_named_by_their_lines_in_the_changed_file() {
    let rig = Rig::with(rows());
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,4 @@\n row 1\n+new\n+new too\n row 2\n\
                 @@ -5,3 +7,3 @@\n row 5\n-row six\n+row 6b\n row 7\n";
    let run = rig.run_fed(["patch", "--3way"], patch);
    let line = 1 + rig.get("a.txt").lines().position(|line| line == "<<<<<<< file").unwrap();
    assert_eq!(line, 8);
    assert!(run.err.contains("conflict markers at line 8"), "{run:?}");
}

#[test]
fn an_edit_that_is_sent_twice_is_noticed_in_every_form() {
    let block = "a.txt\n<<<<<<< SEARCH\ntwo\n=======\ntwo\nand a half\n>>>>>>> REPLACE\n";
    let above = "a.txt\n<<<<<<< SEARCH\ntwo\n=======\nbefore two\ntwo\n>>>>>>> REPLACE\n";
    let v4a = "*** Begin Patch\n*** Update File: a.txt\n@@\n two\n+and a half\n*** End Patch\n";
    let unified = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n two\n+and a half\n three\n";
    let at_end = "--- a/a.txt\n+++ b/a.txt\n@@ -2,2 +2,3 @@\n two\n three\n+four and more\n";
    for newline in ["\n", "\r\n"] {
        for patch in [block, above, v4a, unified, at_end] {
            let rig = Rig::with("one\ntwo\nthree\n".replace('\n', newline));
            rig.run_fed(["patch"], patch).assert_done();
            let once = rig.get("a.txt");
            let (code, report) = {
                let run = rig.run_fed(["patch", "--json"], patch);
                (run.code, run.object())
            };
            assert_eq!((code, &report["status"]), (0, &"already_applied".into()), "{patch}: {report}");
            assert_eq!(rig.get("a.txt"), once, "{patch}");
        }
    }
    let rig = Rig::with("one\ntwo\n");
    let edit = ["edit", "a.txt", "--old", "two", "--new", "two\nand a half"];
    rig.run(edit).assert_done();
    assert_eq!(rig.json(edit).1["status"], "already_applied");
    // Replacing is noticed as well, without `--recover`.
    let replace = ["edit", "a.txt", "--old", "one", "--new", "uno"];
    rig.run(replace).assert_done();
    assert_eq!(rig.json(replace).1["status"], "already_applied");
}

#[test]
fn what_only_looks_applied_is_written() {
    // A brace may be the one that is missing.
    let rig = Rig::with("call();\n}\n");
    rig.run(["edit", "a.txt", "--old", "call();", "--new", "call();\n}"]).assert_done();
    assert_eq!(rig.get("a.txt"), "call();\n}\n}\n");
    // Inside a line, and for all matches, the request is literal.
    let rig = Rig::with("name_of_it\nother\n");
    rig.run(["edit", "a.txt", "--old", "name", "--new", "name_of_it"]).assert_done();
    assert_eq!(rig.get("a.txt"), "name_of_it_of_it\nother\n");
    let rig = Rig::with("two\nand a half\n");
    rig.run(["edit", "a.txt", "--old", "two", "--new", "two\nand a half", "--all"]).assert_done();
    assert_eq!(rig.get("a.txt"), "two\nand a half\nand a half\n");
    // Lines that go on differently are others.
    let rig = Rig::with("two\nand a half or more\n");
    rig.run(["edit", "a.txt", "--old", "two", "--new", "two\nand a half"]).assert_done();
    assert_eq!(rig.get("a.txt"), "two\nand a half\nand a half or more\n");
}
