//! Someone else writes to a file between a kill and the next start, or while it is written in place: their work stays,
//! and what is said of the change is true.

use std::fs;
use std::time::Duration;

use crate::site::Rig;

#[test]
fn a_file_that_had_not_its_part_yet_is_left_and_the_others_go_back() {
    let rig = Rig::new();
    rig.kill_half_way();
    rig.add("b");
    assert!(rig.said(&["doctor"]).contains("as they were before it"));
    assert_eq!((rig.text("a").as_str(), rig.text("b").as_str()), ("1\n2\n3\n", "1\n2\n3\nforeign\n"));
    assert!(!rig.said(&["log"]).contains("c1"));
}

#[test]
fn a_file_that_had_its_part_is_left_and_that_is_told_until_it_is_mended() {
    let rig = Rig::new();
    rig.kill_half_way();
    rig.add("a");
    for _ in 0..2 {
        let told = rig.said(&["doctor"]);
        assert!(told.contains("bad") && told.contains("`b` did not get it"), "{told}");
        let refused = rig.said(&["edit", "b", "--old", "3", "--new", "three"]);
        assert!(refused.contains("c1 was interrupted"), "{refused}");
    }
    assert_eq!((rig.text("a").as_str(), rig.text("b").as_str()), ("ONE\n2\n3\nforeign\n", "1\n2\n3\n"));
    // Whoever makes the rest of the change by hand has made all of it.
    fs::write(rig.at("b"), "ONE\n2\n3\n").unwrap();
    let told = rig.said(&["doctor"]);
    assert!(told.contains("all of it is in the files") && !told.contains("bad"), "{told}");
    assert_eq!(fs::read_dir(rig.at("")).unwrap().count(), 2, "nothing is left beside the files");
}

#[test]
fn whoever_opens_another_root_does_not_write_on_half_a_change() {
    let rig = Rig::new();
    // The patch is made from the folder above; its files are those of a root further down.
    let above = rig.outside().to_str().unwrap().to_owned();
    let patch = fs::read_to_string(rig.outside().join("p")).unwrap();
    let patch = patch.replace("a/a", "a/root/a").replace("b/a", "b/root/a");
    let patch = patch.replace("a/b", "a/root/b").replace("b/b", "b/root/b");
    fs::write(rig.outside().join("p"), patch).unwrap();
    let state = tempfile::tempdir().unwrap();
    let state = ["--state-dir", state.path().to_str().unwrap()];
    let kill = ["-e", "inject=renameat2:signal=KILL:when=2"];
    rig.run(&kill, &["--root", &above, state[0], state[1], "patch", "../p"]);
    assert_eq!((rig.text("a").as_str(), rig.text("b").as_str()), ("ONE\n2\n3\n", "1\n2\n3\n"));
    for name in ["a", "b"] {
        let refused = rig.said(&[state[0], state[1], "edit", name, "--old", "3", "--new", "three"]);
        assert!(refused.contains("c1 was interrupted") && refused.contains("doctor"), "{refused}");
    }
    assert!(rig.said(&[state[0], state[1], "doctor"]).contains("c1"));
    let told = rig.said(&["--root", &above, state[0], state[1], "doctor"]);
    assert!(told.contains("as they were before it"), "{told}");
    assert_eq!(rig.both(), ("1\n2\n3\n".to_owned(), "1\n2\n3\n".to_owned()));
    let done = rig.run(&[], &[state[0], state[1], "edit", "a", "--old", "3", "--new", "three"]);
    assert!(done.status.success());
}

#[test]
fn an_edit_that_was_made_counts_though_someone_wrote_after_it() {
    let rig = Rig::new();
    rig.run(&["-e", "inject=unlinkat:signal=KILL:when=1"], &["edit", "a", "--old", "1", "--new", "ONE"]);
    rig.add("a");
    assert!(rig.said(&["log"]).contains("c1"));
    assert!(rig.said(&["undo"]).contains("Undid c1"));
    assert_eq!(rig.text("a"), "1\n2\n3\nforeign\n");
}

#[test]
fn a_change_that_never_was_is_not_taken_back() {
    let rig = Rig::new();
    rig.run(&["-e", "inject=renameat2:error=EIO:when=1+"], &["edit", "a", "--old", "1", "--new", "ONE"]);
    fs::write(rig.at("a"), "ONE\n2\n3\n").unwrap();
    assert!(rig.said(&["undo", "c1"]).contains("never reached the files"));
    assert_eq!(rig.text("a"), "ONE\n2\n3\n");
}

#[test]
fn two_names_of_one_file_are_written_one_after_the_other() {
    let rig = Rig::new();
    let settings = rig.outside().join("config/slipstitch/config.toml");
    fs::write(settings, "[files]\nhard_links = \"write-through\"\n").unwrap();
    fs::hard_link(rig.at("a"), rig.at("c")).unwrap();
    let slowly = ["-P", "a", "-e", "inject=copy_file_range,sendfile,splice,write:delay_enter=700000:when=1"];
    let mut first =
        rig.command(&slowly, &["edit", "a", "--old", "1", "--new", "ONE ONE ONE"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let second = rig.run(&[], &["edit", "c", "--old", "3", "--new", "THREE"]);
    assert!(second.status.success() && first.wait().unwrap().success());
    assert_eq!(rig.text("a"), "ONE ONE ONE\n2\nTHREE\n");
}

#[test]
fn a_write_in_place_that_cannot_be_taken_back_keeps_the_old_content() {
    let rig = Rig::new();
    let settings = rig.outside().join("config/slipstitch/config.toml");
    fs::write(settings, "[files]\nhard_links = \"write-through\"\n").unwrap();
    let old: String = (0..300).map(|line| format!("{line}\n")).collect();
    fs::write(rig.at("a"), &old).unwrap();
    fs::hard_link(rig.at("a"), rig.at("c")).unwrap();
    fs::write(rig.outside().join("n"), "short\n").unwrap();
    let name = rig.at("a").canonicalize().unwrap();
    let broken = [
        "-P",
        name.to_str().unwrap(),
        "-e",
        "inject=copy_file_range,sendfile,splice,write:error=EIO:when=5+",
        "-e",
        "inject=ftruncate:error=EIO:when=1",
    ];
    let output = rig.run(&broken, &["write", "a", "--from", "../n"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if told.contains("half changed") {
        assert!(told.contains(".old"), "{told}");
    }
    assert!(!output.status.success(), "{told}");
    rig.said(&["doctor"]);
    assert_eq!(rig.text("a"), old, "the next start puts it back");
}

#[test]
fn a_file_that_ran_as_its_owner_does_not_run_as_whoever_brings_it_back() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let rig = Rig::new();
    fs::set_permissions(rig.at("a"), fs::Permissions::from_mode(0o6755)).unwrap();
    let gone = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
    fs::write(rig.outside().join("p"), gone).unwrap();
    rig.said(&["patch", "../p"]);
    assert!(rig.said(&["undo"]).contains("created again"));
    assert_eq!(fs::metadata(rig.at("a")).unwrap().mode() & 0o7777, 0o755);
}

#[test]
fn a_change_over_two_roots_is_told_in_the_other_one_until_it_is_settled() {
    let rig = Rig::new();
    let other = rig.outside().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("x"), "1\n2\n3\n").unwrap();
    let (root, other) = (rig.at("").canonicalize().unwrap(), other.canonicalize().unwrap());
    let (root, other) = (root.to_str().unwrap(), other.to_str().unwrap());
    let patch = format!(
        "*** Begin Patch\n*** Update File: a\n@@\n-1\n+ONE\n*** Update File: {other}/x\n@@\n-1\n+ONE\n*** End Patch\n"
    );
    fs::write(rig.outside().join("p"), patch).unwrap();
    let both = ["--root", root, "--root", other];
    let kill = ["-e", "inject=renameat2:signal=KILL:when=2"];
    rig.run(&kill, &[&both[..], &["patch", "../p"]].concat());
    assert_eq!(rig.text("a"), "ONE\n2\n3\n", "it was killed half way");
    let told = rig.said(&["--root", other, "doctor"]);
    assert!(
        told.contains("bad") && told.contains(&format!("slipstitch --root {root} --root {other} doctor")),
        "{told}"
    );
    let settled = rig.said(&[&both[..], &["doctor"]].concat());
    assert!(settled.contains("as they were before it"), "{settled}");
    assert_eq!(rig.text("a"), "1\n2\n3\n");
    let told = rig.said(&["--root", other, "doctor"]);
    assert!(!told.contains("bad"), "{told}");
}
