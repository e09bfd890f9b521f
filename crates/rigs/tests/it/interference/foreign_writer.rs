//! Another program writes to a file between a kill and the next start, or while it is written in place: its work is kept,
//! and what Slipstitch says about the change is true.

use std::cell::RefCell;
use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

use super::fixture::{EDIT, Fixture, KILL_AT_SECOND_FILE, NEW, OLD, PATCH_BOTH, REVERTED};
use super::stepping_in::{self, COPY_FILE_RANGE, RenameFlags, Step, When};

#[test]
fn reverts_when_an_unwritten_file_was_changed() {
    let fixture = Fixture::killed_midway();
    fixture.append_foreign_line("b");
    assert!(fixture.output_of(&["doctor"]).contains(REVERTED));
    fixture.assert_files(OLD, "1\n2\n3\nforeign\n");
    assert!(!fixture.output_of(&["log"]).contains("c1"));
}

#[test]
fn reports_until_repaired_when_a_written_file_was_changed() {
    let fixture = Fixture::killed_midway();
    fixture.append_foreign_line("a");
    for _ in 0..2 {
        let output = fixture.output_of(&["doctor"]);
        assert!(output.contains("problem") && output.contains("`b` did not get it"), "{output}");
        let refusal = fixture.output_of(&["edit", "b", "--old", "3", "--new", "three"]);
        assert!(refusal.contains("c1 was interrupted"), "{refusal}");
    }
    fixture.assert_files("ONE\n2\n3\nforeign\n", OLD);
    // Completing the change by hand counts.
    fs::write(fixture.path("b"), NEW).unwrap();
    let output = fixture.output_of(&["doctor"]);
    assert!(output.contains("all of it is in the files") && !output.contains("problem"), "{output}");
    assert_eq!(fixture.list(), ["a", "b"]);
}

#[test]
fn a_nested_root_refuses_edits_of_an_interrupted_change() {
    let fixture = Fixture::new();
    // The change is made from the parent folder; the files also belong to the root below it.
    let parent = fixture.outside().to_str().unwrap().to_owned();
    let patch = fs::read_to_string(fixture.outside().join("p")).unwrap();
    let patch = patch.replace("a/a", "a/root/a").replace("b/a", "b/root/a");
    fixture.write_patch(&patch.replace("a/b", "a/root/b").replace("b/b", "b/root/b"));
    // The program creates its state folder, outside both roots; one that is open to other users would be refused.
    let outside_both = tempfile::tempdir().unwrap();
    let state = outside_both.path().join("state");
    let state = ["--state-dir", state.to_str().unwrap()];
    let in_root = |args: &[&str]| fixture.run(&[], &[&state[..], args].concat());
    let output_in_root = |args: &[&str]| fixture.output_of(&[&state[..], args].concat());
    let in_parent = [&["--root", &parent], &state[..]].concat();
    fixture.run(KILL_AT_SECOND_FILE, &[&in_parent[..], PATCH_BOTH].concat());
    fixture.assert_files(NEW, OLD);
    for name in ["a", "b"] {
        let refusal = output_in_root(&["edit", name, "--old", "3", "--new", "three"]);
        assert!(refusal.contains("c1 was interrupted") && refusal.contains("doctor"), "{refusal}");
    }
    assert!(output_in_root(&["doctor"]).contains("c1"));
    let output = fixture.output_of(&[&in_parent[..], &["doctor"]].concat());
    assert!(output.contains(REVERTED), "{output}");
    fixture.assert_files(OLD, OLD);
    assert!(in_root(&["edit", "a", "--old", "3", "--new", "three"]).status.success());
}

#[test]
fn an_applied_edit_counts_despite_a_later_foreign_write() {
    let fixture = Fixture::new();
    fixture.run(&["-e", "inject=unlinkat:signal=KILL:when=1"], EDIT);
    fixture.append_foreign_line("a");
    assert!(fixture.output_of(&["log"]).contains("c1"));
    assert!(fixture.output_of(&["undo"]).contains("Undid c1"));
    assert_eq!(fixture.read("a"), "1\n2\n3\nforeign\n");
}

#[test]
fn refuses_to_undo_a_change_that_was_never_applied() {
    let fixture = Fixture::new();
    fixture.run(&["-e", "inject=renameat2:error=EIO:when=1+"], EDIT);
    fs::write(fixture.path("a"), NEW).unwrap();
    assert!(fixture.output_of(&["undo", "c1"]).contains("never reached the files"));
    assert_eq!(fixture.read("a"), NEW);
}

/// Waits until a process has ended, or sleeps until something else happens.
fn wait_until_blocked(child: &mut Child) {
    let mut asleep = 0;
    while asleep < 20 && child.try_wait().unwrap().is_none() {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
        asleep = if state == Some('S') { asleep + 1 } else { 0 };
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn serializes_writes_through_two_hard_links() {
    let fixture = Fixture::new();
    fixture.write_config("[files]\nhard_links = \"write-through\"\n");
    fs::hard_link(fixture.path("a"), fixture.path("c")).unwrap();
    // The first has locked the file and is about to save its content when the second starts.
    let second = RefCell::new(None);
    let start_second = Step::new(When::Before, COPY_FILE_RANGE, 1, || {
        let mut child = fixture.start(&["edit", "c", "--old", "3", "--new", "THREE"]);
        wait_until_blocked(&mut child);
        second.replace(Some(child));
    });
    let edit = ["edit", "a", "--old", "1", "--new", "ONE ONE ONE"];
    let first = stepping_in::run(&fixture, RenameFlags::Supported, vec![start_second], &edit);
    assert_eq!(first.code, Some(0), "{}", first.printed);
    assert!(second.into_inner().unwrap().wait().unwrap().success());
    assert_eq!(fixture.read("a"), "ONE ONE ONE\n2\nTHREE\n");
}

#[test]
fn a_failed_write_in_place_that_cannot_be_reverted_keeps_the_old_content() {
    let fixture = Fixture::new();
    fixture.write_config("[files]\nhard_links = \"write-through\"\n");
    let old: String = (0..300).map(|line| format!("{line}\n")).collect();
    fs::write(fixture.path("a"), &old).unwrap();
    fs::hard_link(fixture.path("a"), fixture.path("c")).unwrap();
    fs::write(fixture.outside().join("n"), "short\n").unwrap();
    let path = fixture.path("a").canonicalize().unwrap();
    let failing_writes = [
        "-P",
        path.to_str().unwrap(),
        "-e",
        "inject=copy_file_range,sendfile,splice,write:error=EIO:when=5+",
        "-e",
        "inject=ftruncate:error=EIO:when=1",
    ];
    let output = fixture.run(&failing_writes, &["write", "a", "--from", "../n"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("only partly changed") {
        assert!(stderr.contains(".old"), "{stderr}");
    }
    assert!(!output.status.success(), "{stderr}");
    fixture.output_of(&["doctor"]);
    assert_eq!(fixture.read("a"), old, "the next start restores it");
}

#[test]
fn reports_an_interrupted_change_over_two_roots_in_the_second_one() {
    let fixture = Fixture::new();
    let other = fixture.outside().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("x"), OLD).unwrap();
    let (root, other) = (fixture.path("").canonicalize().unwrap(), other.canonicalize().unwrap());
    let (root, other) = (root.to_str().unwrap(), other.to_str().unwrap());
    fixture.write_patch(&format!(
        "*** Begin Patch\n*** Update File: a\n@@\n-1\n+ONE\n*** Update File: {other}/x\n@@\n-1\n+ONE\n*** End Patch\n"
    ));
    let both_roots = ["--root", root, "--root", other];
    fixture.run(KILL_AT_SECOND_FILE, &[&both_roots[..], PATCH_BOTH].concat());
    assert_eq!(fixture.read("a"), NEW, "it was killed midway");
    let output = fixture.output_of(&["--root", other, "doctor"]);
    let next_step = format!("slipstitch --root {root} --root {other} doctor");
    assert!(output.contains("problem") && output.contains(&next_step), "{output}");
    let output = fixture.output_of(&[&both_roots[..], &["doctor"]].concat());
    assert!(output.contains(REVERTED), "{output}");
    assert_eq!(fixture.read("a"), OLD);
    let output = fixture.output_of(&["--root", other, "doctor"]);
    assert!(!output.contains("problem"), "{output}");
}
