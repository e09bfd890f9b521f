//! `slipstitch lines`.

use super::rig::Rig;

const TEXT: &str = "one\ntwo\nthree\n";

#[test]
fn replaces_deletes_and_inserts_lines() {
    let rig = Rig::with(TEXT);
    let run = rig.run(["lines", "a.txt", "2", "--new", "2"]);
    run.assert_done();
    assert!(run.out.contains("-two\n+2\n"), "{run:?}");
    assert_eq!(rig.get("a.txt"), "one\n2\nthree\n");
    rig.run(["lines", "a.txt", "1-2", "--delete"]).assert_done();
    assert_eq!(rig.get("a.txt"), "three\n");
    rig.run(["lines", "a.txt", "--after", "0", "--new", "first"]).assert_done();
    rig.run_fed(["lines", "a.txt", "--after", "2", "--new-file", "-"], "last\n").assert_done();
    assert_eq!(rig.get("a.txt"), "first\nthree\nlast\n");
}

#[test]
fn keeps_the_file_s_line_endings() {
    let rig = Rig::with("one\r\ntwo\r\n");
    rig.run(["lines", "a.txt", "1", "--new", "a\nb"]).assert_done();
    assert_eq!(rig.get("a.txt"), "a\r\nb\r\ntwo\r\n");
}

#[test]
fn refuses_unexpected_lines() {
    let rig = Rig::with(TEXT);
    rig.run(["lines", "a.txt", "2", "--new", "x", "--expect", "three"])
        .assert_failed(1, &["not what was expected", "  two\n"]);
    assert_eq!(rig.get("a.txt"), TEXT);
    rig.run(["lines", "a.txt", "2", "--new", "x", "--expect", "two"]).assert_done();
}

#[test]
fn refuses_lines_out_of_range() {
    let rig = Rig::with(TEXT);
    rig.run(["lines", "a.txt", "3-9", "--new", "x"]).assert_failed(1, &["lines 3-9", "3 lines"]);
    rig.run(["lines", "a.txt", "--after", "9", "--new", "x"]).assert_failed(1, &["3 lines"]);
    assert_eq!(rig.get("a.txt"), TEXT);
}

#[test]
fn explains_invalid_arguments() {
    let rig = Rig::with(TEXT);
    for (arguments, part) in [
        (&["0", "--new", "x"][..], "start at 1"),
        (&["3-1", "--new", "x"], "before line 3"),
        (&["two", "--new", "x"], "`two` is not a line number"),
        (&["2-", "--new", "x"], "not a line number"),
        (&["2"], "required"),
        (&["--new", "x"], "required"),
        (&["2", "--after", "1", "--new", "x"], "cannot be used with"),
        (&["2", "--delete", "--new", "x"], "cannot be used with"),
        (&["--after", "1", "--delete"], "cannot be used with"),
        (&["99999999999999999999999", "--new", "x"], "not a line number"),
    ] {
        rig.run(["lines", "a.txt"].iter().chain(arguments)).assert_failed(2, &[part]);
    }
    assert_eq!(rig.get("a.txt"), TEXT);
}

#[test]
fn dry_run_and_hash_apply_to_lines() {
    let rig = Rig::with(TEXT);
    rig.run(["lines", "a.txt", "1", "--delete", "--dry-run"]).assert_done();
    let stale = "0".repeat(64);
    rig.run(["lines", "a.txt", "1", "--delete", "--hash", &stale])
        .assert_failed(1, &["has changed since the given version"]);
    assert_eq!(rig.get("a.txt"), TEXT);
}
