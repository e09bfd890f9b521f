use std::fs;
use std::time::{Duration, SystemTime};

use crate::support::{TestDisk, created, edited, file, kept_mode, moved, removed};
use slipstitch::{DiskWorkspace, HardLinks};
use slipstitch_core::cancel::CancelToken;
use slipstitch_core::change::FileChange;
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
    assert_eq!(test.mode("edit"), kept_mode(0o4751));
    assert_eq!(test.text("gone"), "gone\n");
    assert_eq!(test.text("from"), "from\n");
}

// Shows: FR-SFE-13, NFR-SFE-REL-02
// Windows does not remove a folder that is open.
#[cfg(unix)]
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
    // The other files had the change for a moment, so it is not repeated without looking.
    assert_eq!(error, WorkspaceError::SavedMeanwhile { path: file("last/x"), kept: Vec::new() });
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
        let disk = test.reopen().with_interrupt(Some(CancelToken::after_checks(checks)));
        let mut interrupted = disk.reopen(&intent).unwrap().unwrap();
        let error = interrupted.settle().unwrap_err().to_string();
        assert!(error.contains("the next start goes on with it"), "{error}");
    }
    let disk = test.reopen();
    let mut interrupted = disk.reopen(&intent).unwrap().unwrap();
    assert_eq!(interrupted.settle().unwrap(), SettledAs::Completed);
    assert!(names.iter().all(|name| test.text(name) == "new"));
}

/// Publishes a change as a process does that dies right after.
fn publish_and_die(disk: &DiskWorkspace, change: FileChange) -> String {
    let mut staged = disk.stage(&[change]).unwrap();
    let intent = staged.intent().unwrap();
    staged.publish().unwrap();
    staged.mark_unsettled();
    intent
}

/// Cancels the recovery at its first check, at its second, and so on, until it gets through. Returns how many checks it
/// has.
fn cancel_recovery_everywhere(test: &TestDisk, intent: &str, expected: SettledAs) -> usize {
    for checks in 0.. {
        let disk = test.reopen().with_interrupt(Some(CancelToken::after_checks(checks)));
        let mut interrupted = disk.reopen(intent).unwrap().unwrap();
        match interrupted.settle() {
            Ok(settled) => {
                assert_eq!(settled, expected, "after {checks} checks");
                return checks;
            }
            Err(error) => assert!(error.to_string().contains("the next start goes on with it"), "{error}"),
        }
    }
    unreachable!("a recovery has finitely many checks")
}

/// Recovery checks the token in the middle of a file too: a large one takes seconds. A read that was cancelled must not be
/// taken for a missing file, so every recovery must end like one that was never stopped.
#[test]
fn recovery_can_be_stopped_in_the_middle_of_a_file() {
    const LEN: usize = 6 << 20;
    /// At least this often per pass over the file.
    const CHECKS: usize = LEN >> 20;
    let (old, new) = ("o".repeat(LEN), "n".repeat(LEN));

    let test = TestDisk::new();
    test.put("x", &old);
    let intent = publish_and_die(&test.disk, test.edit("x", &new));
    assert!(cancel_recovery_everywhere(&test, &intent, SettledAs::Completed) > 2 * CHECKS);
    assert!(test.text("x") == new && test.listing() == ["x"]);

    let intent = publish_and_die(&test.disk, removed("x", &new));
    test.put("x", &new);
    assert!(cancel_recovery_everywhere(&test, &intent, SettledAs::RolledBack) > 2 * CHECKS);
    assert!(test.text("x") == new && test.listing() == ["x"]);

    // Written in place, and only half of it reached the disk.
    fs::hard_link(test.at("x"), test.at("y")).unwrap();
    let disk = test.reopen().with_hard_links(HardLinks::WriteThrough);
    let backups = test.locks().join("in-place");
    let mut staged = disk.stage(&[edited("x", &new, &old)]).unwrap();
    let intent = staged.intent().unwrap();
    let saved: Vec<_> = fs::read_dir(&backups).unwrap().map(|entry| entry.unwrap().path()).collect();
    let saved: Vec<_> = saved.into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect();
    staged.publish().unwrap();
    staged.mark_unsettled();
    drop(staged);
    // A process that dies leaves its backups.
    saved.iter().for_each(|(text, path)| fs::write(path, text).unwrap());
    let mixture = format!("{}{}", &new[..LEN / 2 + 5], &old[LEN / 2 + 5..]);
    fs::write(test.at("x"), mixture).unwrap();
    assert!(cancel_recovery_everywhere(&test, &intent, SettledAs::RolledBack) > 3 * CHECKS);
    assert!(test.text("x") == new && test.text("y") == new);
}
