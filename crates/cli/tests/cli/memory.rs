//! How much memory an edit takes: the file once, and little more.

use std::process::{Command, Stdio};

use crate::rig::Rig;

const MIB: usize = 1 << 20;

/// Runs the program with so much room for everything it maps or allocates.
fn in_room(rig: &Rig, bytes: usize, arguments: &[&str]) -> std::process::Output {
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
        .expect("prlimit, of util-linux, is installed")
}

#[test]
fn an_edit_of_a_large_file_takes_the_file_once() {
    let size = 160 * MIB;
    let line = "the quick brown fox jumps over the lazy dog\n";
    let mut text = line.repeat(size / line.len());
    text.push_str("one needle\n");
    let rig = Rig::with(&text);
    drop(text);
    let room = size + 90 * MIB;
    for arguments in [
        &["edit", "a.txt", "--old", "needle", "--new", "nail"][..],
        &["edit", "a.txt", "--old", "nothing like it", "--new", "x"],
        &["lines", "a.txt", "7", "--new", "changed"],
        &["append", "a.txt", "--content", "more"],
        &["undo"],
    ] {
        let output = in_room(&rig, room, arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        let wanted = if arguments.contains(&"nothing like it") { 1 } else { 0 };
        assert_eq!(output.status.code(), Some(wanted), "{arguments:?}: {said}");
    }
    let output = in_room(&rig, size / 2, &["edit", "a.txt", "--old", "nail", "--new", "x"]);
    assert_eq!(output.status.code(), Some(3), "with less room than the file needs it fails, in words");
}
