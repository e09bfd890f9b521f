//! `slipstitch read` and `slipstitch info`.

use super::rig::Rig;

#[test]
fn prints_numbered_lines_and_the_version() {
    let rig = Rig::with("one\ntwo\nthree\n");
    let run = rig.run(["read", "a.txt"]);
    run.assert_done();
    assert!(run.out.starts_with("     1\tone\n     2\ttwo\n     3\tthree\nversion: b3:"), "{run:?}");
    assert!(run.out.ends_with('\n') && run.err.is_empty(), "{run:?}");
    let run = rig.run(["read", "a.txt", "--lines", "2-3"]);
    assert!(run.out.starts_with("     2\ttwo\n     3\tthree\n[lines 2-3 of 3]\n"), "{run:?}");
    let run = rig.run(["read", "a.txt", "--lines", "3-"]);
    assert!(run.out.starts_with("     3\tthree\n"), "{run:?}");
}

#[test]
fn reads_a_long_file_completely() {
    let rig = Rig::with("some words on a line\n".repeat(50_000));
    assert!(rig.run(["read", "a.txt"]).out.contains("\n 50000\tsome words"));
}

#[test]
fn refuses_lines_out_of_range() {
    let rig = Rig::with("one\n");
    rig.run(["read", "a.txt", "--lines", "5-6"]).assert_failed(1, &["5-6", "1 line"]);
    rig.run(["read", "a.txt", "--lines", "x"]).assert_failed(2, &["`x` is not a line number"]);
}

#[test]
fn writes_control_characters_unchanged_to_a_pipe() {
    let rig = Rig::with("a\u{1b}[31mb\u{7}\n");
    assert!(rig.run(["read", "a.txt"]).out.contains("a\u{1b}[31mb\u{7}\n"));
    assert!(rig.run(["read", "a.txt", "--color", "always"]).out.contains("a\u{1b}[31mb\u{7}\n"));
}

#[test]
fn encoding_overrides_detection() {
    let rig = Rig::with(b"\x93\xfa\x96\x7b\n");
    let run = rig.run(["read", "a.txt", "--encoding", "shift_jis"]);
    assert!(run.out.contains("1\t日本\n"), "{run:?}");
    rig.run(["--encoding", "klingon", "read", "a.txt"]).assert_failed(2, &["klingon", "windows-1252"]);
}

#[test]
fn info_describes_the_file() {
    let rig = Rig::with("one\r\ntwo\r\n");
    let run = rig.run(["info", "a.txt"]);
    run.assert_done();
    for part in ["path: a.txt\n", "version: b3:", "bytes: 10\n", "lines: 2\n", "line endings: CRLF\n"] {
        assert!(run.out.contains(part), "{part}: {run:?}");
    }
    let (code, report) = rig.json(["info", "a.txt"]);
    assert_eq!((code, report["files"][0]["bytes"].as_u64()), (0, Some(10)));
}
