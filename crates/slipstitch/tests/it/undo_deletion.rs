//! Undo of deletions and creations: attributes and folders.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, chown};

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::{Direction, OtherSessionsConsent, Plan, Run, Target, UndoPlan};
use slipstitch::core::report::Report;

use slipstitch::core::ports::workspace::Workspace as _;
use slipstitch::{DiskWorkspace, Fsync};

use crate::support::{TestWorkspace, file, removed};

const ACL: &str = "system.posix_acl_access";

/// A raw ACL: the owner may read and write, user 4321 may read; neither the group nor others may do anything.
fn acl_for_one_user() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] =
        [(0x01, 6, u32::MAX), (0x02, 4, 4321), (0x04, 0, u32::MAX), (0x10, 4, u32::MAX), (0x20, 0, u32::MAX)];
    let mut acl = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        acl.extend_from_slice(&tag.to_le_bytes());
        acl.extend_from_slice(&permissions.to_le_bytes());
        acl.extend_from_slice(&id.to_le_bytes());
    }
    acl
}

fn attribute(test: &TestWorkspace, path: &str, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 256];
    let len = fgetxattr(File::open(test.at(path)).unwrap(), name, &mut value).ok()?;
    value.truncate(len);
    Some(value)
}

fn set_attribute(test: &TestWorkspace, path: &str, name: &str, value: &[u8]) -> bool {
    fsetxattr(File::open(test.at(path)).unwrap(), name, value, XattrFlags::empty()).is_ok()
}

fn delete(test: &TestWorkspace, path: &str) {
    test.workspace
        .patch(format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n"))
        .apply()
        .unwrap();
    assert!(!test.at(path).exists());
}

fn redo(test: &TestWorkspace) -> Report {
    let plan = UndoPlan {
        target: Target::Last { path: None },
        direction: Direction::Redo,
        run: Run::Real,
        others: OtherSessionsConsent::Given,
    };
    test.workspace.run(Plan::Undo(plan), "undo")
}

#[test]
fn restores_setuid_and_extended_attributes() {
    let test = TestWorkspace::new();
    test.put_with_mode("f", "text\n", 0o6751);
    let has_attributes = set_attribute(&test, "f", "user.kept", b"value");
    delete(&test, "f");
    let report = test.undo();
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!((test.text("f").as_str(), test.mode("f")), ("text\n", 0o6751));
    assert!(!has_attributes || attribute(&test, "f", "user.kept").unwrap() == b"value");
    assert!(report.warnings.iter().all(|warning| !warning.contains("not restored")), "{report:?}");
}

#[test]
fn an_access_list_comes_back_and_opens_the_file_to_no_one_else() {
    let test = TestWorkspace::new();
    test.put_with_mode("f", "secret\n", 0o600);
    if !set_attribute(&test, "f", ACL, &acl_for_one_user()) {
        return; // The file system has no access lists.
    }
    let mode = test.mode("f");
    assert_eq!(mode, 0o640, "the group's bits are the mask of the list");
    delete(&test, "f");
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(attribute(&test, "f", ACL).unwrap(), acl_for_one_user());
    assert_eq!(test.mode("f"), mode);
}

#[test]
fn restores_the_owner_or_says_that_it_cannot() {
    let test = TestWorkspace::new();
    test.put_with_mode("f", "text\n", 0o4755);
    if chown(test.at("f"), Some(4321), Some(4322)).is_err() {
        return; // Only root can give a file away.
    }
    test.set_mode("f", 0o4755);
    delete(&test, "f");
    assert_eq!(test.undo().status(), Status::Applied);
    let found = fs::metadata(test.at("f")).unwrap();
    assert_eq!((found.uid(), found.gid(), test.mode("f")), (4321, 4322, 0o4755));
}

#[test]
fn folders_that_an_undo_creates_go_when_it_is_reverted() {
    let test = TestWorkspace::new();
    test.put("a/b/f", "text\n");
    delete(&test, "a/b/f");
    fs::remove_dir_all(test.at("a")).unwrap();
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(test.text("a/b/f"), "text\n");
    assert_eq!(redo(&test).status(), Status::Applied);
    assert_eq!(test.listing(), Vec::<String>::new());
}

/// Closes the folders of a path to everyone else, each in its own way.
fn close_folders(test: &TestWorkspace) -> (Vec<u32>, bool) {
    test.set_mode("a", 0o2700);
    test.set_mode("a/b", 0o700);
    let has_lists = set_attribute(test, "a/b", ACL, &acl_for_one_user());
    (folder_modes(test), has_lists)
}

fn folder_modes(test: &TestWorkspace) -> Vec<u32> {
    ["a", "a/b"].map(|folder| test.mode(folder)).to_vec()
}

#[track_caller]
fn assert_closed(test: &TestWorkspace, (modes, has_lists): &(Vec<u32>, bool)) {
    assert_eq!(folder_modes(test), *modes);
    if *has_lists {
        assert_eq!(attribute(test, "a/b", ACL).as_deref(), Some(&*acl_for_one_user()));
    }
}

fn undo_session(test: &TestWorkspace) -> Report {
    let plan = UndoPlan {
        target: Target::Session,
        direction: Direction::Undo,
        run: Run::Real,
        others: OtherSessionsConsent::Given,
    };
    test.workspace.run(Plan::Undo(plan), "undo")
}

const MOVE_TO_A: &str =
    "*** Begin Patch\n*** Update File: f\n*** Move to: a/b/g\n@@\n-text\n+new\n*** End Patch\n";

#[test]
fn folders_removed_with_a_creation_come_back_as_they_were() {
    let test = TestWorkspace::new();
    test.workspace.edit("a/b/f").create("text\n").apply().unwrap();
    let closed = close_folders(&test);
    for _ in 0..2 {
        assert_eq!(test.undo().status(), Status::Applied);
        assert_eq!(test.listing(), Vec::<String>::new());
        assert_eq!(redo(&test).status(), Status::Applied);
        assert_eq!(test.text("a/b/f"), "text\n");
        assert_closed(&test, &closed);
    }
}

#[test]
fn folders_removed_with_a_move_come_back_as_they_were() {
    let test = TestWorkspace::new();
    test.put("f", "text\n");
    test.workspace.patch(MOVE_TO_A).apply().unwrap();
    let closed = close_folders(&test);
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(test.listing(), ["f"]);
    assert_eq!(redo(&test).status(), Status::Applied);
    assert_eq!(test.text("a/b/g"), "new\n");
    assert_closed(&test, &closed);
}

#[test]
fn folders_that_someone_removed_come_back_as_they_were() {
    for request in [
        "*** Begin Patch\n*** Delete File: a/b/f\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: a/b/f\n*** Move to: g\n@@\n-text\n+new\n*** End Patch\n",
    ] {
        let test = TestWorkspace::new();
        test.put("a/b/f", "text\n");
        let closed = close_folders(&test);
        test.workspace.patch(request).apply().unwrap();
        fs::remove_dir_all(test.at("a")).unwrap();
        assert_eq!(test.undo().status(), Status::Applied, "{request}");
        assert_eq!(test.text("a/b/f"), "text\n");
        assert_closed(&test, &closed);
    }
}

#[test]
fn undo_of_a_session_creates_folders_as_they_were() {
    let test = TestWorkspace::new();
    test.put("a/b/f", "text\n");
    test.put("a/b/g", "text\n");
    let (mut modes, has_lists) = close_folders(&test);
    delete(&test, "a/b/f");
    // Closed further between the two deletions: the undo must not open what the later one found closed.
    test.set_mode("a", 0o500);
    modes[0] = 0o500;
    delete(&test, "a/b/g");
    fs::remove_dir_all(test.at("a")).unwrap();
    assert_eq!(undo_session(&test).status(), Status::Applied);
    assert_eq!((test.text("a/b/f"), test.text("a/b/g")), ("text\n".into(), "text\n".into()));
    assert_closed(&test, &(modes, has_lists));
}

#[test]
fn the_owner_of_a_folder_comes_back() {
    let test = TestWorkspace::new();
    test.workspace.edit("a/b/f").create("text\n").apply().unwrap();
    if chown(test.at("a/b"), Some(4321), Some(4322)).is_err() {
        return; // Only root can give a folder away.
    }
    test.set_mode("a/b", 0o2770);
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(redo(&test).status(), Status::Applied);
    let found = fs::metadata(test.at("a/b")).unwrap();
    assert_eq!((found.uid(), found.gid(), test.mode("a/b")), (4321, 4322, 0o2770));
}

#[test]
fn a_folder_that_exists_again_is_left_as_it_is() {
    let test = TestWorkspace::new();
    test.put("a/b/f", "text\n");
    close_folders(&test);
    delete(&test, "a/b/f");
    fs::remove_dir_all(test.at("a")).unwrap();
    fs::create_dir(test.at("a")).unwrap();
    test.set_mode("a", 0o711);
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(test.mode("a"), 0o711);
}

#[test]
fn a_folder_whose_attributes_change_meanwhile_is_not_removed() {
    let test = TestWorkspace::new();
    test.workspace.edit("a/b/f").create("text\n").apply().unwrap();
    let disk = DiskWorkspace::open(&test.at(""), &test.outside("locks"), Fsync::On).unwrap();
    let mut change = removed("a/b/f", "text\n");
    change.restore.folders = vec![file("a"), file("a/b")];
    let mut staged = disk.stage(&[change]).unwrap();
    test.set_mode("a/b", 0o700);
    staged.publish().unwrap();
    assert_eq!(test.listing(), ["a/", "a/b/"]);
}
