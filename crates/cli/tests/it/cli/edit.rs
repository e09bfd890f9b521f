//! `slipstitch edit`.

use super::rig::Rig;

const TEXT: &str = "one\ntwo\nthree\ntwo\n";

#[test]
fn replaces_text_and_shows_the_diff() {
    let rig = Rig::with(TEXT);
    let run = rig.run(["edit", "a.txt", "--old", "three", "--new", "3"]);
    run.assert_done();
    assert_eq!(rig.get("a.txt"), "one\ntwo\n3\ntwo\n");
    let hunk = "@@ -1,4 +1,4 @@\n one\n two\n-three\n+3\n two\n";
    assert_eq!(run.out, format!("diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n{hunk}"));
    assert_eq!(run.err, "Changed `a.txt` at line 3 (change c1; undo with: slipstitch undo c1)\n");
}

#[test]
fn refuses_ambiguous_text_and_lists_every_line() {
    let rig = Rig::with(TEXT);
    rig.run(["edit", "a.txt", "--old", "two", "--new", "2"])
        .assert_failed(1, &["occurs 2 times", "lines 2, 4", "hint:"]);
    assert_eq!(rig.get("a.txt"), TEXT);
    let rig = Rig::with("x\n".repeat(40));
    let run = rig.run(["edit", "a.txt", "--old", "x", "--new", "y"]);
    run.assert_failed(1, &["occurs 40 times"]);
    let lines = |range: std::ops::RangeInclusive<u32>| {
        range.map(|line| line.to_string()).collect::<Vec<_>>().join(", ")
    };
    assert!(run.err.contains(&format!("(lines {}, …)", lines(1..=12))), "{run:?}");
    assert!(run.err.contains(&format!("  and lines {}\n", lines(13..=40))), "{run:?}");
}

#[test]
fn all_replaces_every_match() {
    let rig = Rig::with(TEXT);
    let run = rig.run(["edit", "a.txt", "--old", "two", "--new", "2", "--all"]);
    run.assert_done();
    assert!(run.err.contains("in 2 places"), "{run:?}");
    assert_eq!(rig.get("a.txt"), "one\n2\nthree\n2\n");
}

#[test]
fn hint_only_considers_matches_inside_the_lines() {
    let rig = Rig::with(TEXT);
    rig.run(["edit", "a.txt", "--old", "three", "--new", "3", "--hint", "1-2"])
        .assert_failed(1, &["not in the given line range", "line 3", "3  three"]);
    rig.run(["edit", "a.txt", "--old", "two", "--new", "2", "--hint", "1-4"]).assert_failed(1, &["2, 4"]);
    assert_eq!(rig.get("a.txt"), TEXT);
    rig.run(["edit", "a.txt", "--old", "two", "--new", "2", "--hint", "3-"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\ntwo\nthree\n2\n");
    rig.run(["edit", "a.txt", "--old", "two", "--new", "2", "--hint", "5-3"])
        .assert_failed(2, &["before line 5"]);
}

#[test]
fn refuses_a_stale_hash() {
    let rig = Rig::with(TEXT);
    let (_, info) = rig.json(["info", "a.txt"]);
    let hash = info["files"][0]["version"].as_str().unwrap().to_owned();
    rig.put("a.txt", "one\nmeanwhile\nthree\n");
    let edit = ["edit", "a.txt", "--old", "three", "--new", "3", "--version", &hash];
    rig.run(edit).assert_failed(1, &["has changed since the given version"]);
    assert_eq!(rig.get("a.txt"), "one\nmeanwhile\nthree\n");
    rig.put("a.txt", TEXT);
    rig.run(edit).assert_done();
    rig.run(["edit", "a.txt", "--old", "a", "--new", "b", "--version", "b3:12"])
        .assert_failed(2, &["is not a version"]);
}

#[test]
fn dry_run_shows_the_diff_without_writing() {
    let rig = Rig::with(TEXT);
    let run = rig.run(["edit", "a.txt", "--old", "one", "--new", "1", "--dry-run"]);
    run.assert_done();
    assert!(run.out.contains("-one\n+1\n"), "{run:?}");
    assert!(run.err.contains("dry run"), "{run:?}");
    assert_eq!(rig.get("a.txt"), TEXT);
    assert_eq!(rig.run(["log"]).out, "");
}

#[test]
fn reads_texts_from_files_and_stdin_with_final_newlines() {
    let rig = Rig::with("a\nb\nab\n");
    rig.put("old", "b\n");
    rig.put("new", "c\n\n");
    rig.run(["edit", "a.txt", "--old-file", "old", "--new-file", "new", "--hint", "2"]).assert_done();
    assert_eq!(rig.get("a.txt"), "a\nc\n\nab\n");
    rig.run_fed(["edit", "a.txt", "--old-file", "-", "--new", "z"], "ab").assert_done();
    assert_eq!(rig.get("a.txt"), "a\nc\n\nz\n");
    rig.run_fed(["edit", "a.txt", "--old", "z\n", "--new-file", "-"], "y\nx\n").assert_done();
    assert_eq!(rig.get("a.txt"), "a\nc\n\ny\nx\n");
}

#[test]
fn takes_command_line_text_literally() {
    let rig = Rig::with("-x \\n {} 'q'\n");
    rig.run(["edit", "a.txt", "--old", "-x \\n", "--new", "--new \\t"]).assert_done();
    assert_eq!(rig.get("a.txt"), "--new \\t {} 'q'\n");
    rig.run(["edit", "a.txt", "--old", " {} 'q'", "--new", ""]).assert_done();
    assert_eq!(rig.get("a.txt"), "--new \\t\n");
}

#[test]
fn unreadable_inputs_are_bad_input() {
    let rig = Rig::with(TEXT);
    rig.put("bytes", b"\xff\xfe");
    rig.run(["edit", "a.txt", "--old-file", "gone", "--new", "x"]).assert_failed(2, &["cannot read `gone`"]);
    rig.run(["edit", "a.txt", "--old-file", ".", "--new", "x"]).assert_failed(2, &["cannot read `.`"]);
    rig.run(["edit", "a.txt", "--old-file", "bytes", "--new", "x"])
        .assert_failed(2, &["not valid UTF-8", "byte 1"]);
    rig.run_fed(["edit", "a.txt", "--old-file", "-", "--new-file", "-"], "x").assert_failed(2, &["both"]);
    for missing in [
        &["edit", "a.txt", "--old", "x"][..],
        &["edit", "a.txt", "--new", "x"],
        &["edit", "--old", "x", "--new", "y"],
    ] {
        rig.run(missing).assert_failed(2, &["required"]);
    }
    let twice = ["edit", "a.txt", "--old", "x", "--old-file", "gone", "--new", "y"];
    rig.run(twice).assert_failed(2, &["cannot be used with"]);
    assert_eq!(rig.get("a.txt"), TEXT);
}

#[test]
fn shows_the_closest_text_with_line_numbers() {
    let rig = Rig::with("fn main() {\n    let retries = 3;\n    run(retries);\n}\n");
    let run = rig.run(["edit", "a.txt", "--old", "let retries = 4;", "--new", "x"]);
    run.assert_failed(
        1,
        &["no exact match; line 2 is closest: the file has", "     2      let retries = 3;\n", "hint:"],
    );
}

#[test]
fn no_change_is_a_success() {
    let rig = Rig::with(TEXT);
    let run = rig.run(["edit", "a.txt", "--old", "one", "--new", "one"]);
    run.assert_done();
    assert!(run.err.starts_with("no change: "), "{run:?}");
    let (code, report) = rig.json(["edit", "a.txt", "--old", "one", "--new", "one"]);
    assert_eq!((code, report["status"].as_str()), (0, Some("no_change")));
}

#[test]
fn refuses_to_shrink_a_file_without_allow_shrink() {
    let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let rig = Rig::with(&text);
    rig.put("old", text.trim_end());
    let edit = ["edit", "a.txt", "--old-file", "old", "--new", "gone"];
    rig.run(edit).assert_failed(1, &["from 40 lines", "--allow-shrink"]);
    assert_eq!(rig.get("a.txt"), text);
    rig.run(edit.iter().chain(&["--allow-shrink"])).assert_done();
    assert_eq!(rig.get("a.txt"), "gone\n");
}

#[test]
fn writes_invalid_utf8_to_the_diff_unchanged() {
    let rig = Rig::with(b"caf\xc3\xa9 \xff\nx = 1\n");
    let run = rig
        .command()
        .args(["edit", "a.txt", "--old", "x = 1", "--new", "x = 2", "--encoding", "utf-8"])
        .output();
    let out = run.unwrap().stdout;
    assert!(out.windows(7).any(|part| part == b"\xc3\xa9 \xff\n-x"), "{}", String::from_utf8_lossy(&out));
}
