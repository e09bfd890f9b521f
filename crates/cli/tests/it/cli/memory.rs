//! Memory use: an edit holds the file once, and little more.

use std::process::{Command, Stdio};

use super::rig::Rig;

const MIB: usize = 1 << 20;

/// Runs the program with a limit on its address space.
fn run_with_memory_limit(rig: &Rig, bytes: usize, arguments: &[&str]) -> std::process::Output {
    Command::new("prlimit")
        .arg(format!("--as={bytes}"))
        .arg(assert_cmd::cargo::cargo_bin!("slipstitch"))
        .args(arguments)
        .args(["--no-fsync", "--json"])
        .current_dir(rig.root())
        .env("SLIPSTITCH_STATE_DIR", rig.outside().join("state"))
        .env("HOME", rig.outside())
        .stdin(Stdio::null())
        .output()
        .expect("prlimit (util-linux) is installed")
}

#[test]
fn an_exact_edit_needs_less_memory_than_the_file_and_a_miss_holds_it_once() {
    let size = 160 * MIB;
    let line = "the quick brown fox jumps over the lazy dog\n";
    let mut text = line.repeat(size / line.len());
    text.push_str("one needle\n");
    let rig = Rig::with(&text);
    drop(text);
    let limit = size + 90 * MIB;
    for arguments in [
        &["edit", "a.txt", "--old", "needle", "--new", "nail"][..],
        &["edit", "a.txt", "--old", "nothing like it", "--new", "x"],
        &["lines", "a.txt", "7", "--new", "changed"],
        &["append", "a.txt", "--content", "more"],
        &["undo"],
    ] {
        let output = run_with_memory_limit(&rig, limit, arguments);
        let report = String::from_utf8_lossy(&output.stdout);
        let expected = if arguments.contains(&"nothing like it") { 1 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{arguments:?}: {report}");
    }
    // An exact edit reads the file in blocks; a search for text that is not there needs all of it.
    for (old, expected) in [("nail", 0), ("nothing like it", 3)] {
        let output = run_with_memory_limit(&rig, size / 2, &["edit", "a.txt", "--old", old, "--new", "x"]);
        assert_eq!(output.status.code(), Some(expected), "`{old}` with a limit below the file's size");
    }
}
