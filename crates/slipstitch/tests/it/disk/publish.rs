use std::fs;
use std::time::{Duration, SystemTime};

use crate::support::{TestDisk, created, edited, file, moved, removed};
use slipstitch_core::cancel::CancelToken;
use slipstitch_core::ports::workspace::{SettledAs, Workspace, WorkspaceError};
use slipstitch_core::text::ContentHash;

/// Stages a change of every kind, lets `interfere` modify the files, and publishes, which must fail.
fn publish_after(interfere: impl FnOnce(&TestDisk)) -> (TestDisk, WorkspaceError) {
    let test = TestDisk::new();
    test.put("edit", "edit\r\n");
    test.set_mode("edit", 0o4751);
    test.put("gone", "gone\n");
    test.put("from", "from\n");
    test.put("last/x", "last\n");
    let changes = [
        test.edit("edit", "changed"),
        created("new/deep/made", "made"),
        removed("gone", "gone\n"),
        moved("from", "to/there", "from\n", "moved\n"),
        test.edit("last/x", "changed"),
    ];
    let mut staged = test.disk.stage(&changes).unwrap();
    interfere(&test);
    let error = staged.publish().unwrap_err();
    let listing = test.listing();
    drop(staged);
    assert_eq!(test.listing(), listing, "publishing has removed all leftovers, even if the process dies now");
    (test, error)
}

fn set_modified(test: &TestDisk, path: &str, time: SystemTime) {
    fs::File::options().write(true).open(test.at(path)).unwrap().set_modified(time).unwrap();
}

fn assert_rolled_back(test: &TestDisk) {
    assert_eq!(test.text("edit"), "edit\r\n");
    assert_eq!(test.mode("edit"), 0o4751);
    assert_eq!(test.text("gone"), "gone\n");
    assert_eq!(test.text("from"), "from\n");
}

// Shows: FR-SFE-13, NFR-SFE-REL-02
#[test]
fn rolls_back_if_a_folder_was_removed() {
    let (test, error) = publish_after(|test| fs::remove_dir_all(test.at("last")).unwrap());
    assert_eq!(error, WorkspaceError::Conflict { path: file("last/x"), found: None });
    assert_rolled_back(&test);
    assert_eq!(test.listing(), ["edit", "from", "gone"]);
}

#[test]
fn rolls_back_if_a_folder_replaced_a_file() {
    let (test, error) = publish_after(|test| {
        fs::remove_file(test.at("last/x")).unwrap();
        test.put("last/x/full", "");
    });
    assert_eq!(error, WorkspaceError::Conflict { path: file("last/x"), found: None });
    assert_rolled_back(&test);
    assert_eq!(test.listing(), ["edit", "from", "gone", "last/", "last/x/", "last/x/full"]);
}

#[test]
fn keeps_a_write_that_ignored_the_lock() {
    let (test, error) = publish_after(|test| fs::write(test.at("last/x"), "fast\n").unwrap());
    let found = Some(ContentHash::of(b"fast\n"));
    assert_eq!(error, WorkspaceError::Conflict { path: file("last/x"), found });
    assert_rolled_back(&test);
    assert_eq!(test.text("last/x"), "fast\n");
    assert_eq!(test.listing(), ["edit", "from", "gone", "last/", "last/x"]);
}

#[test]
fn detects_a_file_that_was_removed_and_created_again() {
    let test = TestDisk::new();
    test.put("x", "text");
    let old = SystemTime::now() - Duration::from_secs(3600);
    set_modified(&test, "x", old);
    let mut staged = test.disk.stage(&[removed("x", "text")]).unwrap();
    fs::remove_file(test.at("x")).unwrap();
    test.put("x", "TEXT");
    set_modified(&test, "x", old);
    let found = Some(ContentHash::of(b"TEXT"));
    assert_eq!(staged.publish().unwrap_err(), WorkspaceError::Conflict { path: file("x"), found });
    assert_eq!(test.text("x"), "TEXT");
    assert_eq!(test.listing(), ["x"]);
}

#[test]
fn a_new_file_with_the_same_bytes_is_no_conflict() {
    let test = TestDisk::new();
    test.put("x", "text");
    let mut staged = test.disk.stage(&[test.edit("x", "new")]).unwrap();
    fs::remove_file(test.at("x")).unwrap();
    test.put("x", "text");
    staged.publish().unwrap();
    assert_eq!(test.text("x"), "new");
}

#[test]
fn does_not_replace_a_file_created_after_staging() {
    let test = TestDisk::new();
    test.put("from", "from");
    for change in [created("x", "mine"), moved("from", "x", "from", "from")] {
        let mut staged = test.disk.stage(&[change]).unwrap();
        test.put("x", "theirs");
        let found = Some(ContentHash::of(b"theirs"));
        assert_eq!(staged.publish().unwrap_err(), WorkspaceError::Conflict { path: file("x"), found });
        assert_eq!(test.text("x"), "theirs");
        assert_eq!(test.listing(), ["from", "x"]);
        fs::remove_file(test.at("x")).unwrap();
    }
}

#[test]
fn publishes_many_files_at_once() {
    let test = TestDisk::new();
    let names: Vec<String> = (0..50).map(|n| format!("d{}/f{n}", n % 7)).collect();
    names.iter().for_each(|name| test.put(name, name));
    let changes: Vec<_> = names.iter().map(|name| edited(name, name, "new")).collect();
    let before = test.listing();
    assert_eq!(test.commit(&changes).unwrap().len(), 50);
    assert!(names.iter().all(|name| test.text(name) == "new"));
    assert_eq!(test.listing(), before);
}

#[test]
fn detects_a_write_with_a_reset_modification_time() {
    let test = TestDisk::new();
    test.put("x", "text");
    let old = SystemTime::now() - Duration::from_secs(3600);
    set_modified(&test, "x", old);
    // Time stamps are trusted only if the last write is some seconds ago.
    std::thread::sleep(Duration::from_millis(3100));
    let mut staged = test.disk.stage(&[test.edit("x", "new")]).unwrap();
    fs::write(test.at("x"), "TEXT").unwrap();
    set_modified(&test, "x", old);
    let found = Some(ContentHash::of(b"TEXT"));
    assert_eq!(staged.publish().unwrap_err(), WorkspaceError::Conflict { path: file("x"), found });
    assert_eq!(test.text("x"), "TEXT");
    drop(staged);
    test.commit(&[test.edit("x", "new")]).unwrap();
    assert_eq!(test.text("x"), "new");
}

#[test]
fn recovery_stops_between_files_and_goes_on_at_the_next_start() {
    let test = TestDisk::new();
    let names: Vec<String> = (0..5).map(|number| format!("f{number}")).collect();
    names.iter().for_each(|name| test.put(name, "old"));
    let changes: Vec<_> = names.iter().map(|name| test.edit(name, "new")).collect();
    let mut staged = test.disk.stage(&changes).unwrap();
    let intent = staged.intent().unwrap();
    staged.publish().unwrap();
    staged.mark_unsettled();
    drop(staged);
    for checks in 0..4 {
        let disk = test.reopen().with_cancel(Some(CancelToken::after_checks(checks)));
        let mut interrupted = disk.reopen(&intent).unwrap().unwrap();
        let error = interrupted.settle().unwrap_err().to_string();
        assert!(error.contains("the next start goes on with it"), "{error}");
    }
    let disk = test.reopen();
    let mut interrupted = disk.reopen(&intent).unwrap().unwrap();
    assert_eq!(interrupted.settle().unwrap(), SettledAs::Completed);
    assert!(names.iter().all(|name| test.text(name) == "new"));
}
