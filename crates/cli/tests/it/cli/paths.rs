//! Paths that are missing, not files, outside the root, or not readable.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::rig::Rig;

const NOBODY: u32 = 65534;

fn edit(file: &str) -> [&str; 6] {
    ["edit", file, "--old", "one", "--new", "1"]
}

#[test]
fn a_missing_file_is_bad_input() {
    let rig = Rig::new();
    for arguments in [
        &edit("gone.txt")[..],
        &["read", "gone.txt"],
        &["info", "gone.txt"],
        &["lines", "gone.txt", "1", "--delete"],
    ] {
        rig.run(arguments).assert_failed(2, &["`gone.txt`", "no such file"]);
    }
    let (code, report) = rig.json(edit("gone.txt"));
    assert_eq!((code, report["code"].as_str()), (2, Some("file_not_found")));
}

#[test]
fn a_folder_is_not_a_file() {
    let rig = Rig::new();
    fs::create_dir(rig.root().join("sub")).unwrap();
    for name in ["sub", "sub/", ".", ""] {
        let run = rig.run(edit(name));
        assert_eq!(run.code, 2, "{name}: {run:?}");
    }
    rig.run(["write", "sub", "--content", "x"]).assert_failed(2, &["folder"]);
}

#[test]
fn rejects_paths_outside_the_root() {
    let rig = Rig::new();
    let secret = rig.outside().join("secret");
    fs::write(&secret, "one\n").unwrap();
    symlink(&secret, rig.root().join("way-out")).unwrap();
    symlink(rig.outside(), rig.root().join("up")).unwrap();
    for name in
        ["../secret", "sub/../../secret", secret.to_str().unwrap(), "way-out", "up/secret", "/etc/passwd"]
    {
        for arguments in [&edit(name)[..], &["read", name], &["write", name, "--content", "x"]] {
            rig.run(arguments).assert_failed(2, &["outside the project root", rig.root().to_str().unwrap()]);
        }
        let (code, report) = rig.json(edit(name));
        assert_eq!((code, report["code"].as_str()), (2, Some("outside_root")), "{name}");
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "one\n");
}

#[test]
fn accepts_relative_paths_and_absolute_paths_inside_the_root() {
    let rig = Rig::with("one\n");
    let link = rig.outside().join("link");
    symlink(rig.root(), &link).unwrap();
    let absolute = rig.root().join("a.txt");
    let through_link = link.join("a.txt");
    let cases = [(rig.root(), "a.txt".into()), (rig.root(), absolute), (link, through_link)];
    for (root, file) in cases {
        let mut command = rig.command();
        command.current_dir("/").arg("--root").arg(&root).arg("read").arg(&file);
        let output = command.output().unwrap();
        assert!(output.stdout.starts_with(b"     1\tone\n"), "{file:?}: {output:?}");
    }
}

#[test]
fn refuses_a_binary_file() {
    let rig = Rig::with(b"one\0two");
    rig.run(edit("a.txt")).assert_failed(1, &["binary"]);
    rig.run(["read", "a.txt"]).assert_failed(1, &["binary"]);
    rig.run(["info", "a.txt"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\0two");
}

/// The program, run as a user who is subject to permissions. Root passes every permission check, so under root this is `nobody`,
/// with a copy of the program that `nobody` can reach. `mode` is the mode of `a.txt`, which then belongs to somebody else.
fn unprivileged(rig: &Rig, mode: u32) -> Command {
    let program = rig.outside().join("slipstitch");
    fs::copy(assert_cmd::cargo::cargo_bin!("slipstitch"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(rig.root().join("a.txt"), fs::Permissions::from_mode(mode)).unwrap();
    let mut command = Command::new(&program);
    command.env_clear().env("HOME", rig.outside()).current_dir(rig.root());
    command.env("SLIPSTITCH_STATE_DIR", rig.outside().join("state"));
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        for path in [rig.outside().to_owned(), rig.root()] {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

#[test]
fn permission_denied_is_a_failure() {
    let rig = Rig::with("one\n");
    let mut command = unprivileged(&rig, 0o000);
    let output = run_copied_program(command.args(edit("a.txt")));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.starts_with("error: no permission to read `a.txt`"), "{said}");
    let output = run_copied_program(command.arg("--json"));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["status"], "failed");
    assert_eq!(output.status.code(), Some(3));
}

// Shows: 002-info, 002-error-permission
#[test]
fn a_read_only_file_is_reported_as_such_and_not_written() {
    let rig = Rig::with("one\n");
    let mut program = unprivileged(&rig, 0o444);
    program.args(["call", "--dialect", "agent-q"]);
    let info = run_copied_program(program.args(["get_file_info", r#"{"path": "a.txt"}"#]));
    let info = String::from_utf8(info.stdout).unwrap();
    assert!(info.ends_with("\nmode: 0444\nwritable: no\n"), "{info}");
    let mut program = unprivileged(&rig, 0o444);
    program.args(["call", "--dialect", "agent-q", "edit_file"]);
    let edit = run_copied_program(program.arg(r#"{"path": "a.txt", "old_str": "one", "new_str": "1"}"#));
    let answer = String::from_utf8(edit.stdout).unwrap();
    let expected = "Error: Cannot write to file\nError editing file: no permission to write `a.txt`\n";
    assert_eq!((edit.status.code(), answer.as_str()), (Some(3), expected));
    assert_eq!(rig.get("a.txt"), "one\n");
}

/// Runs a program that was just copied. A test that forks meanwhile inherits the copy's writable handle until it execs,
/// and a file that is open for writing can't be executed.
fn run_copied_program(command: &mut Command) -> std::process::Output {
    loop {
        match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            output => return output.unwrap(),
        }
    }
}
