use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, symlink};

#[cfg(unix)]
use crate::support::REPLACED;
use crate::support::{TestDisk, created, edited, file, moved, removed};
use slipstitch_core::ports::workspace::{Workspace, WorkspaceError};
use slipstitch_core::text::ContentHash;

#[cfg(unix)]
#[test]
fn an_edit_keeps_the_mode() {
    for mode in [0o644, 0o600, 0o755, 0o4755, 0o2750, 0o1666, 0o444] {
        let test = TestDisk::new();
        test.put("a/x", "before");
        test.set_mode("a/x", mode);
        let written = test.commit(&[test.edit("a/x", "after")]).unwrap();
        assert_eq!(written[0].path, file("a/x"));
        assert_eq!(written[0].write_mode, REPLACED);
        assert_eq!(test.text("a/x"), "after");
        assert_eq!(test.mode("a/x"), mode, "{mode:o}");
        assert_eq!(test.listing(), ["a/", "a/x"]);
    }
}

#[cfg(unix)]
#[test]
fn an_edit_keeps_the_owner() {
    let test = TestDisk::new();
    test.put("x", "before");
    // Only root can change the owner of a file.
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(test.at("x"), Some(1234), Some(4321)).unwrap();
    }
    test.set_mode("x", 0o6755);
    let attributes = || fs::metadata(test.at("x")).map(|m| (m.uid(), m.gid(), m.mode())).unwrap();
    let before = attributes();
    test.commit(&[test.edit("x", "after")]).unwrap();
    assert_eq!(attributes(), before);
}

#[cfg(unix)]
#[test]
fn an_edit_through_a_symlink_changes_the_target() {
    let test = TestDisk::new();
    test.put("a/real", "before");
    fs::create_dir(test.at("b")).unwrap();
    symlink("../a/real", test.at("b/link")).unwrap();
    test.commit(&[edited("b/link", "before", "after")]).unwrap();
    assert_eq!(fs::read_link(test.at("b/link")).unwrap().to_str(), Some("../a/real"));
    assert_eq!(test.text("a/real"), "after");
    assert_eq!(test.listing(), ["a/", "a/real", "b/", "b/link"]);
}

// Shows: NFR-SFE-SEC-01
#[cfg(unix)]
#[test]
fn nothing_is_written_outside_the_root() {
    let test = TestDisk::new();
    fs::write(test.outside("x"), "before").unwrap();
    symlink(test.outside("x"), test.at("file")).unwrap();
    symlink(test.outside(""), test.at("folder")).unwrap();
    symlink(test.outside("new"), test.at("dangling-out")).unwrap();
    let inside = test.listing();
    let escapes = [
        edited("file", "before", "after"),
        edited("folder/x", "before", "after"),
        created("folder/y", "new"),
        created("folder/newdir/x", "new"),
        created("dangling-out", "new"),
        removed("folder/x", "before"),
        moved("file", "z", "before", "after"),
    ];
    for change in escapes {
        let path = change.path.clone();
        assert_eq!(test.commit(&[change]).unwrap_err(), WorkspaceError::Outside(path));
    }
    test.put("mine", "before");
    let out = test.commit(&[moved("mine", "folder/mine", "before", "before")]).unwrap_err();
    assert_eq!(out, WorkspaceError::Outside(file("folder/mine")));
    fs::remove_file(test.at("mine")).unwrap();
    assert_eq!(fs::read_dir(test.outside("")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(test.outside("x")).unwrap(), "before");
    assert_eq!(test.listing(), inside);
}

#[cfg(unix)]
#[test]
fn creates_nothing_through_a_dangling_symlink() {
    let test = TestDisk::new();
    symlink("nothing", test.at("link")).unwrap();
    for path in ["link", "link/x"] {
        let error = test.commit(&[created(path, "new")]).unwrap_err();
        assert!(error.to_string().contains("dangling symlink"), "{error}");
    }
    assert_eq!(test.listing(), ["link"]);
}

#[cfg(unix)]
#[test]
fn creates_missing_folders_and_applies_the_umask() {
    let test = TestDisk::new();
    test.put("plain", "");
    let changes = [created("a/b/x", "one\n"), created("a/b/y", "two\n")];
    let written = test.commit(&changes).unwrap();
    assert_eq!(written.iter().map(|w| w.write_mode).collect::<Vec<_>>(), ["create", "create"]);
    assert_eq!(test.text("a/b/x") + &test.text("a/b/y"), "one\ntwo\n");
    assert_eq!(test.mode("a/b/x"), test.mode("plain"));
    assert_eq!(test.listing(), ["a/", "a/b/", "a/b/x", "a/b/y", "plain"]);
}

#[cfg(unix)]
#[test]
fn an_explicit_mode_ignores_the_umask() {
    let test = TestDisk::new();
    let mut change = created("tool", "#!/bin/sh\n");
    change.mode = Some(0o777);
    test.commit(&[change]).unwrap();
    assert_eq!(test.mode("tool"), 0o777);
}

#[test]
fn removes_a_file() {
    let test = TestDisk::new();
    test.put("a/x", "text");
    let written = test.commit(&[removed("a/x", "text")]).unwrap();
    assert_eq!((written[0].path.as_str(), written[0].write_mode), ("a/x", "remove"));
    assert_eq!(test.listing(), ["a/"]);
}

#[cfg(unix)]
#[test]
fn a_move_can_change_the_content_and_keeps_the_mode() {
    let test = TestDisk::new();
    test.put("a/x", "before");
    test.set_mode("a/x", 0o751);
    let written = test.commit(&[moved("a/x", "b/c/y", "before", "after")]).unwrap();
    assert_eq!((written[0].path.as_str(), written[0].write_mode), ("b/c/y", "move"));
    assert_eq!(test.text("b/c/y"), "after");
    assert_eq!(test.mode("b/c/y"), 0o751);
    assert_eq!(test.listing(), ["a/", "b/", "b/c/", "b/c/y"]);
}

#[test]
fn a_move_does_not_replace_a_file() {
    let test = TestDisk::new();
    test.put("x", "mine");
    test.put("y", "theirs");
    let error = test.commit(&[moved("x", "y", "mine", "mine")]).unwrap_err();
    let found = Some(ContentHash::of(b"theirs"));
    assert_eq!(error, WorkspaceError::Conflict { path: file("y"), found });
    assert_eq!(test.listing(), ["x", "y"]);
}

#[test]
fn unexpected_content_is_a_conflict() {
    let test = TestDisk::new();
    test.put("x", "theirs");
    let found = Some(ContentHash::of(b"theirs"));
    for change in [
        edited("x", "mine", "new"),
        edited("x", "a longer one than theirs", "new"),
        created("x", "new"),
        removed("x", "mine"),
        moved("x", "y", "mine", "new"),
    ] {
        let error = test.commit(&[change]).unwrap_err();
        assert_eq!(error, WorkspaceError::Conflict { path: file("x"), found });
    }
    let error = test.commit(&[edited("gone/x", "mine", "new")]).unwrap_err();
    assert_eq!(error, WorkspaceError::Conflict { path: file("gone/x"), found: None });
    assert_eq!(test.text("x"), "theirs");
    assert_eq!(test.listing(), ["x"]);
}

// Shows: FR-SFE-13, T-SFE-ATOM-01
#[test]
fn dropping_a_stage_leaves_nothing_behind() {
    let test = TestDisk::new();
    test.put("x", "before");
    test.put("y", "other");
    let changes = [
        test.edit("x", "after"),
        created("new/deep/z", "text"),
        moved("y", "elsewhere/y", "other", "other"),
        created("new/too", "text"),
    ];
    let staged = test.disk.stage(&changes).unwrap();
    assert!(test.listing().len() > 2, "folders are created while staging");
    assert_eq!((test.text("x"), test.text("y")), ("before".into(), "other".into()));
    drop(staged);
    assert_eq!(test.listing(), ["x", "y"]);
    assert_eq!((test.text("x"), test.text("y")), ("before".into(), "other".into()));
}

// Shows: T-SFE-ATOM-01, NFR-SFE-REL-02
#[test]
fn a_stage_that_fails_midway_leaves_nothing_behind() {
    let test = TestDisk::new();
    test.put("x", "before");
    let changes = [created("new/z", "text"), test.edit("x", "after"), edited("x2/y", "a", "b")];
    test.commit(&changes).unwrap_err();
    assert_eq!((test.listing(), test.text("x")), (vec!["x".to_owned()], "before".to_owned()));
    let late = [created("new/z", "text"), edited("x", "not this", "after")];
    test.commit(&late).unwrap_err();
    assert_eq!((test.listing(), test.text("x")), (vec!["x".to_owned()], "before".to_owned()));
}

#[test]
fn refuses_a_file_with_several_hard_links() {
    let test = TestDisk::new();
    test.put("x", "text");
    fs::hard_link(test.at("x"), test.at("y")).unwrap();
    let error = test.commit(&[test.edit("x", "new")]).unwrap_err().to_string();
    assert!(error.contains("2 names") && error.contains("separate"), "{error}");
    assert_eq!(test.listing(), ["x", "y"]);
}

#[cfg(unix)]
#[test]
fn refuses_one_file_under_two_paths() {
    let test = TestDisk::new();
    test.put("x", "text");
    symlink("x", test.at("y")).unwrap();
    let changes = [test.edit("x", "one"), edited("y", "text", "two")];
    let error = test.commit(&changes).unwrap_err().to_string();
    assert!(error.contains("the same file as `x`"), "{error}");
    assert_eq!(test.text("x"), "text");
}

#[cfg(unix)]
#[test]
fn refuses_to_remove_or_move_a_symlink() {
    let test = TestDisk::new();
    test.put("x", "text");
    symlink("x", test.at("y")).unwrap();
    for change in [removed("y", "text"), moved("y", "z", "text", "text")] {
        assert!(test.commit(&[change]).unwrap_err().to_string().contains("symlink"));
    }
    assert_eq!(test.listing(), ["x", "y"]);
}

#[cfg(unix)]
#[test]
fn an_empty_change_checks_the_content_and_writes_nothing() {
    let test = TestDisk::new();
    test.put("x", "text");
    let inode = fs::metadata(test.at("x")).unwrap().ino();
    assert_eq!(test.commit(&[test.edit("x", "text")]).unwrap()[0].write_mode, "unchanged");
    assert_eq!(fs::metadata(test.at("x")).unwrap().ino(), inode);
    assert!(test.commit(&[edited("x", "else", "else")]).is_err());
}

/// File systems without unnamed files need temporary files that have a name from the start.
#[test]
fn named_temporary_files_are_published_or_removed() {
    let test = TestDisk::new();
    test.put("edited", "before");
    test.put("moved", "text");
    test.put("removed", "old");
    let disk = test.reopen().with_named_temps(true);
    let changes = [
        test.edit("edited", "after"),
        created("folder/new", "text"),
        moved("moved", "folder/there", "text", "moved text"),
        removed("removed", "old"),
    ];
    let untouched = test.listing();
    let staged = disk.stage(&changes).unwrap();
    let is_temporary = |name: &&String| name.contains(".slipstitch-");
    assert_eq!(test.listing().iter().filter(is_temporary).count(), 3);
    drop(staged);
    assert_eq!(test.listing(), untouched);
    disk.stage(&changes).unwrap().publish().unwrap();
    assert_eq!(test.listing(), ["edited", "folder/", "folder/new", "folder/there"]);
    assert_eq!(test.text("edited"), "after");
    assert_eq!(test.text("folder/there"), "moved text");
    assert_eq!(disk.sweep().unwrap(), 0);
}
