use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use crate::rig::{Rig, created, edited, file, moved, removed};
use slipstitch_core::ports::workspace::{Workspace, WorkspaceError};
use slipstitch_core::text::ContentHash;

#[test]
fn an_edit_changes_the_bytes_and_nothing_else() {
    for mode in [0o644, 0o600, 0o755, 0o4755, 0o2750, 0o1666, 0o444] {
        let rig = Rig::new();
        rig.put("a/x", "before");
        rig.set_mode("a/x", mode);
        let written = rig.commit(&[rig.edit("a/x", "after")]).unwrap();
        assert_eq!(written[0].path, file("a/x"));
        assert_eq!(written[0].write_mode, "exchange");
        assert_eq!(rig.text("a/x"), "after");
        assert_eq!(rig.mode("a/x"), mode, "{mode:o}");
        assert_eq!(rig.listing(), ["a/", "a/x"]);
    }
}

#[test]
fn the_owner_stays() {
    let rig = Rig::new();
    rig.put("x", "before");
    // Only root can give a file away; for everyone else it stays their own.
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(rig.at("x"), Some(1234), Some(4321)).unwrap();
    }
    rig.set_mode("x", 0o6755);
    let look = || fs::metadata(rig.at("x")).map(|m| (m.uid(), m.gid(), m.mode())).unwrap();
    let before = look();
    rig.commit(&[rig.edit("x", "after")]).unwrap();
    assert_eq!(look(), before);
}

#[test]
fn a_symlink_stays_one_and_its_target_changes() {
    let rig = Rig::new();
    rig.put("a/real", "before");
    fs::create_dir(rig.at("b")).unwrap();
    symlink("../a/real", rig.at("b/link")).unwrap();
    rig.commit(&[edited("b/link", "before", "after")]).unwrap();
    assert_eq!(fs::read_link(rig.at("b/link")).unwrap().to_str(), Some("../a/real"));
    assert_eq!(rig.text("a/real"), "after");
    assert_eq!(rig.listing(), ["a/", "a/real", "b/", "b/link"]);
}

// Shows: NFR-SFE-SEC-01
#[test]
fn nothing_is_written_outside() {
    let rig = Rig::new();
    fs::write(rig.outside("x"), "before").unwrap();
    symlink(rig.outside("x"), rig.at("file")).unwrap();
    symlink(rig.outside(""), rig.at("folder")).unwrap();
    symlink(rig.outside("new"), rig.at("dangling-out")).unwrap();
    let inside = rig.listing();
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
        assert_eq!(rig.commit(&[change]).unwrap_err(), WorkspaceError::Outside(path));
    }
    rig.put("mine", "before");
    let out = rig.commit(&[moved("mine", "folder/mine", "before", "before")]).unwrap_err();
    assert_eq!(out, WorkspaceError::Outside(file("folder/mine")));
    fs::remove_file(rig.at("mine")).unwrap();
    assert_eq!(fs::read_dir(rig.outside("")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(rig.outside("x")).unwrap(), "before");
    assert_eq!(rig.listing(), inside);
}

#[test]
fn nothing_is_made_through_a_dangling_link() {
    let rig = Rig::new();
    symlink("nothing", rig.at("link")).unwrap();
    for path in ["link", "link/x"] {
        let error = rig.commit(&[created(path, "new")]).unwrap_err();
        assert!(error.to_string().contains("dangling symlink"), "{error}");
    }
    assert_eq!(rig.listing(), ["link"]);
}

#[test]
fn a_file_is_created_with_its_folders_and_the_umask() {
    let rig = Rig::new();
    rig.put("plain", "");
    let changes = [created("a/b/x", "one\n"), created("a/b/y", "two\n")];
    let written = rig.commit(&changes).unwrap();
    assert_eq!(written.iter().map(|w| w.write_mode).collect::<Vec<_>>(), ["create", "create"]);
    assert_eq!(rig.text("a/b/x") + &rig.text("a/b/y"), "one\ntwo\n");
    assert_eq!(rig.mode("a/b/x"), rig.mode("plain"));
    assert_eq!(rig.listing(), ["a/", "a/b/", "a/b/x", "a/b/y", "plain"]);
}

#[test]
fn a_stated_mode_is_given_to_a_new_file_whatever_the_umask() {
    let rig = Rig::new();
    let mut change = created("tool", "#!/bin/sh\n");
    change.mode = Some(0o777);
    rig.commit(&[change]).unwrap();
    assert_eq!(rig.mode("tool"), 0o777);
}

#[test]
fn a_file_is_removed() {
    let rig = Rig::new();
    rig.put("a/x", "text");
    let written = rig.commit(&[removed("a/x", "text")]).unwrap();
    assert_eq!((written[0].path.as_str(), written[0].write_mode), ("a/x", "remove"));
    assert_eq!(rig.listing(), ["a/"]);
}

#[test]
fn a_file_is_moved_with_new_content_and_its_mode() {
    let rig = Rig::new();
    rig.put("a/x", "before");
    rig.set_mode("a/x", 0o751);
    let written = rig.commit(&[moved("a/x", "b/c/y", "before", "after")]).unwrap();
    assert_eq!((written[0].path.as_str(), written[0].write_mode), ("b/c/y", "move"));
    assert_eq!(rig.text("b/c/y"), "after");
    assert_eq!(rig.mode("b/c/y"), 0o751);
    assert_eq!(rig.listing(), ["a/", "b/", "b/c/", "b/c/y"]);
}

#[test]
fn a_move_does_not_replace() {
    let rig = Rig::new();
    rig.put("x", "mine");
    rig.put("y", "theirs");
    let error = rig.commit(&[moved("x", "y", "mine", "mine")]).unwrap_err();
    let found = Some(ContentHash::of(b"theirs"));
    assert_eq!(error, WorkspaceError::Conflict { path: file("y"), found });
    assert_eq!(rig.listing(), ["x", "y"]);
}

#[test]
fn other_content_than_expected_is_a_conflict() {
    let rig = Rig::new();
    rig.put("x", "theirs");
    let found = Some(ContentHash::of(b"theirs"));
    for change in [
        edited("x", "mine", "new"),
        edited("x", "a longer one than theirs", "new"),
        created("x", "new"),
        removed("x", "mine"),
        moved("x", "y", "mine", "new"),
    ] {
        let error = rig.commit(&[change]).unwrap_err();
        assert_eq!(error, WorkspaceError::Conflict { path: file("x"), found });
    }
    let error = rig.commit(&[edited("gone/x", "mine", "new")]).unwrap_err();
    assert_eq!(error, WorkspaceError::Conflict { path: file("gone/x"), found: None });
    assert_eq!(rig.text("x"), "theirs");
    assert_eq!(rig.listing(), ["x"]);
}

// Shows: FR-SFE-13, T-SFE-ATOM-01
#[test]
fn a_dropped_stage_leaves_nothing() {
    let rig = Rig::new();
    rig.put("x", "before");
    rig.put("y", "other");
    let changes = [
        rig.edit("x", "after"),
        created("new/deep/z", "text"),
        moved("y", "elsewhere/y", "other", "other"),
        created("new/too", "text"),
    ];
    let staged = rig.disk.stage(&changes).unwrap();
    assert!(rig.listing().len() > 2, "a stage prepares its files beside the target");
    drop(staged);
    assert_eq!(rig.listing(), ["x", "y"]);
    assert_eq!(rig.text("x"), "before");
}

// Shows: T-SFE-ATOM-01, NFR-SFE-REL-02
#[test]
fn a_stage_that_fails_half_way_leaves_nothing() {
    let rig = Rig::new();
    rig.put("x", "before");
    let changes = [created("new/z", "text"), rig.edit("x", "after"), edited("x2/y", "a", "b")];
    rig.commit(&changes).unwrap_err();
    let late = [created("new/z", "text"), edited("x", "not this", "after")];
    rig.commit(&late).unwrap_err();
    assert_eq!(rig.listing(), ["x"]);
}

#[test]
fn a_file_with_several_names_is_refused() {
    let rig = Rig::new();
    rig.put("x", "text");
    fs::hard_link(rig.at("x"), rig.at("y")).unwrap();
    let error = rig.commit(&[rig.edit("x", "new")]).unwrap_err().to_string();
    assert!(error.contains("2 names") && error.contains("separate"), "{error}");
    assert_eq!(rig.listing(), ["x", "y"]);
}

#[test]
fn one_file_by_two_paths_is_refused() {
    let rig = Rig::new();
    rig.put("x", "text");
    symlink("x", rig.at("y")).unwrap();
    let changes = [rig.edit("x", "one"), edited("y", "text", "two")];
    let error = rig.commit(&changes).unwrap_err().to_string();
    assert!(error.contains("the same file as `x`"), "{error}");
    assert_eq!(rig.text("x"), "text");
}

#[test]
fn a_link_is_neither_removed_nor_moved_in_place_of_its_target() {
    let rig = Rig::new();
    rig.put("x", "text");
    symlink("x", rig.at("y")).unwrap();
    for change in [removed("y", "text"), moved("y", "z", "text", "text")] {
        assert!(rig.commit(&[change]).unwrap_err().to_string().contains("symlink"));
    }
    assert_eq!(rig.listing(), ["x", "y"]);
}

#[test]
fn an_empty_change_checks_and_writes_nothing() {
    let rig = Rig::new();
    rig.put("x", "text");
    let inode = fs::metadata(rig.at("x")).unwrap().ino();
    assert_eq!(rig.commit(&[rig.edit("x", "text")]).unwrap()[0].write_mode, "unchanged");
    assert_eq!(fs::metadata(rig.at("x")).unwrap().ino(), inode);
    assert!(rig.commit(&[edited("x", "else", "else")]).is_err());
}
