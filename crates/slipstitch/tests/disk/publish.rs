use std::fs;
use std::time::{Duration, SystemTime};

use crate::rig::{Rig, created, edited, file, moved, removed};
use slipstitch_core::ports::workspace::{Workspace, WorkspaceError};
use slipstitch_core::text::ContentHash;

/// A first change of every sort, and then one that will fail.
fn staged_then(fail: impl FnOnce(&Rig)) -> (Rig, WorkspaceError) {
    let rig = Rig::new();
    rig.put("edit", "edit\r\n");
    rig.set_mode("edit", 0o4751);
    rig.put("gone", "gone\n");
    rig.put("from", "from\n");
    rig.put("last/x", "last\n");
    let changes = [
        rig.edit("edit", "changed"),
        created("new/deep/made", "made"),
        removed("gone", "gone\n"),
        moved("from", "to/there", "from\n", "moved\n"),
        rig.edit("last/x", "changed"),
    ];
    let mut staged = rig.disk.stage(&changes).unwrap();
    fail(&rig);
    let error = staged.publish().unwrap_err();
    let left = rig.listing();
    drop(staged);
    assert_eq!(rig.listing(), left, "who dies after the journal was told leaves nothing either");
    (rig, error)
}

fn assert_as_before(rig: &Rig) {
    assert_eq!(rig.text("edit"), "edit\r\n");
    assert_eq!(rig.mode("edit"), 0o4751);
    assert_eq!(rig.text("gone"), "gone\n");
    assert_eq!(rig.text("from"), "from\n");
}

// Shows: FR-SFE-13, NFR-SFE-REL-02
#[test]
fn a_folder_that_vanishes_takes_everything_back() {
    let (rig, error) = staged_then(|rig| fs::remove_dir_all(rig.at("last")).unwrap());
    assert_eq!(error, WorkspaceError::Conflict { path: file("last/x"), found: None });
    assert_as_before(&rig);
    assert_eq!(rig.listing(), ["edit", "from", "gone"]);
}

#[test]
fn a_folder_in_the_place_of_a_file_takes_everything_back() {
    let (rig, error) = staged_then(|rig| {
        fs::remove_file(rig.at("last/x")).unwrap();
        rig.put("last/x/full", "");
    });
    assert_eq!(error, WorkspaceError::Conflict { path: file("last/x"), found: None });
    assert_as_before(&rig);
    assert_eq!(rig.listing(), ["edit", "from", "gone", "last/", "last/x/", "last/x/full"]);
}

#[test]
fn a_write_that_ignores_the_lock_is_seen_and_kept() {
    let (rig, error) = staged_then(|rig| fs::write(rig.at("last/x"), "fast\n").unwrap());
    let found = Some(ContentHash::of(b"fast\n"));
    assert_eq!(error, WorkspaceError::Conflict { path: file("last/x"), found });
    assert_as_before(&rig);
    assert_eq!(rig.text("last/x"), "fast\n");
    assert_eq!(rig.listing(), ["edit", "from", "gone", "last/", "last/x"]);
}

#[test]
fn a_file_that_was_removed_and_made_again_is_seen() {
    let rig = Rig::new();
    rig.put("x", "text");
    let old = SystemTime::now() - Duration::from_secs(3600);
    let set_old = || fs::File::options().write(true).open(rig.at("x")).unwrap().set_modified(old).unwrap();
    set_old();
    let mut staged = rig.disk.stage(&[removed("x", "text")]).unwrap();
    fs::remove_file(rig.at("x")).unwrap();
    rig.put("x", "TEXT");
    set_old();
    let found = Some(ContentHash::of(b"TEXT"));
    assert_eq!(staged.publish().unwrap_err(), WorkspaceError::Conflict { path: file("x"), found });
    assert_eq!(rig.text("x"), "TEXT");
    assert_eq!(rig.listing(), ["x"]);
}

#[test]
fn a_touched_or_copied_file_with_the_same_bytes_is_no_conflict() {
    let rig = Rig::new();
    rig.put("x", "text");
    let mut staged = rig.disk.stage(&[rig.edit("x", "new")]).unwrap();
    fs::remove_file(rig.at("x")).unwrap();
    rig.put("x", "text");
    staged.publish().unwrap();
    assert_eq!(rig.text("x"), "new");
}

#[test]
fn a_name_taken_meanwhile_is_not_replaced() {
    let rig = Rig::new();
    rig.put("from", "from");
    for change in [created("x", "mine"), moved("from", "x", "from", "from")] {
        let mut staged = rig.disk.stage(&[change]).unwrap();
        rig.put("x", "theirs");
        let found = Some(ContentHash::of(b"theirs"));
        assert_eq!(staged.publish().unwrap_err(), WorkspaceError::Conflict { path: file("x"), found });
        assert_eq!(rig.text("x"), "theirs");
        assert_eq!(rig.listing(), ["from", "x"]);
        fs::remove_file(rig.at("x")).unwrap();
    }
}

#[test]
fn many_files_go_in_together() {
    let rig = Rig::new();
    let names: Vec<String> = (0..50).map(|n| format!("d{}/f{n}", n % 7)).collect();
    names.iter().for_each(|name| rig.put(name, name));
    let changes: Vec<_> = names.iter().map(|name| edited(name, name, "new")).collect();
    let before = rig.listing();
    assert_eq!(rig.commit(&changes).unwrap().len(), 50);
    assert!(names.iter().all(|name| rig.text(name) == "new"));
    assert_eq!(rig.listing(), before);
}

#[test]
fn a_write_to_an_old_file_is_seen_even_if_its_time_is_set_back() {
    let rig = Rig::new();
    rig.put("x", "text");
    let old = SystemTime::now() - Duration::from_secs(3600);
    let set_old = || fs::File::options().write(true).open(rig.at("x")).unwrap().set_modified(old).unwrap();
    set_old();
    // Only after this is the file old enough for its time stamps to be trusted.
    std::thread::sleep(Duration::from_millis(3100));
    let mut staged = rig.disk.stage(&[rig.edit("x", "new")]).unwrap();
    fs::write(rig.at("x"), "TEXT").unwrap();
    set_old();
    let found = Some(ContentHash::of(b"TEXT"));
    assert_eq!(staged.publish().unwrap_err(), WorkspaceError::Conflict { path: file("x"), found });
    assert_eq!(rig.text("x"), "TEXT");
    drop(staged);
    rig.commit(&[rig.edit("x", "new")]).unwrap();
    assert_eq!(rig.text("x"), "new");
}
