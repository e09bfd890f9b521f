//! Files that are written in place instead of being replaced.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use serde_json::json;
use slipstitch::HardLinks;
use slipstitch_core::ports::workspace::{Workspace, WorkspaceError};

use crate::support::{REPLACED, TestDisk, TestFolder, edited, removed};

#[test]
fn hard_links_are_refused_broken_or_written_through() {
    for (rule, x, y, mode) in [
        (HardLinks::Refuse, "text", "text", None),
        (HardLinks::Break, "longer text", "text", Some(REPLACED)),
        (HardLinks::WriteThrough, "longer text", "longer text", Some("in_place")),
    ] {
        let test = TestDisk::new();
        test.put("x", "text");
        fs::hard_link(test.at("x"), test.at("y")).unwrap();
        let disk = test.reopen().with_hard_links(rule);
        let written =
            disk.stage(&[edited("x", "text", "longer text")]).and_then(|mut staged| staged.publish());
        match (mode, written) {
            (Some(mode), Ok(written)) => assert_eq!(written[0].write_mode, mode),
            (None, Err(WorkspaceError::Refused { reason, .. })) => {
                assert!(reason.contains("2 names"), "{reason}")
            }
            (_, other) => panic!("{rule:?}: {other:?}"),
        }
        assert_eq!((test.text("x").as_str(), test.text("y").as_str()), (x, y), "{rule:?}");
        assert_eq!(test.listing(), ["x", "y"]);
    }
}

#[test]
fn the_answer_says_that_a_file_was_written_in_place() {
    let test = TestFolder::new();
    fs::write(test.config(), "[files]\nhard_links = \"write-through\"\n").unwrap();
    for name in ["x", "z"] {
        test.put(name, "text\n");
    }
    fs::hard_link(test.at("x"), test.at("y")).unwrap();
    let workspace = test.open_session("s");
    for (path, expected) in [("x", true), ("z", false)] {
        let call = json!({"path": path, "old_text": "text", "new_text": "new"});
        let answer = workspace.call("native", "edit_file", call);
        assert!(answer.report.is_success(), "{}", answer.text);
        assert_eq!(answer.text.contains("written in place"), expected, "{}", answer.text);
    }
}

#[test]
fn a_shorter_text_truncates_the_file() {
    let test = TestDisk::new();
    test.put("x", "a long text\n");
    fs::hard_link(test.at("x"), test.at("y")).unwrap();
    let disk = test.reopen().with_hard_links(HardLinks::WriteThrough);
    let inode = fs::metadata(test.at("x")).unwrap().ino();
    disk.stage(&[edited("x", "a long text\n", "a\n")]).unwrap().publish().unwrap();
    assert_eq!(test.text("y"), "a\n");
    assert_eq!(fs::metadata(test.at("x")).unwrap().ino(), inode);
}

#[test]
fn a_file_modified_after_staging_is_a_conflict() {
    let test = TestDisk::new();
    test.put("x", "text");
    fs::hard_link(test.at("x"), test.at("y")).unwrap();
    let disk = test.reopen().with_hard_links(HardLinks::WriteThrough);
    let mut staged = disk.stage(&[edited("x", "text", "new")]).unwrap();
    fs::write(test.at("y"), "someone else's").unwrap();
    assert!(matches!(staged.publish(), Err(WorkspaceError::Conflict { .. })));
    assert_eq!(test.text("x"), "someone else's");
}

#[test]
fn a_write_in_place_is_rolled_back_with_the_rest() {
    let test = TestDisk::new();
    test.put("x", "text");
    test.put("z", "old");
    fs::hard_link(test.at("x"), test.at("y")).unwrap();
    let disk = test.reopen().with_hard_links(HardLinks::WriteThrough);
    let mut staged = disk.stage(&[edited("x", "text", "new"), removed("z", "old")]).unwrap();
    fs::write(test.at("z"), "someone else's").unwrap();
    // `x` had its new text for a moment, so another program may have read it.
    assert!(matches!(staged.publish(), Err(WorkspaceError::SavedMeanwhile { .. })));
    drop(staged);
    assert_eq!((test.text("x").as_str(), test.text("z").as_str()), ("text", "someone else's"));
    assert_eq!(test.listing(), ["x", "y", "z"]);
}

/// Mounting needs privileges; without them the test does nothing.
/// The fallback does not know mount points: the rename fails there, and the change is refused.
#[cfg(not(feature = "portable"))]
#[test]
fn a_mount_point_is_written_in_place() {
    let test = TestDisk::new();
    test.put("x", "text");
    test.put("under", "hidden");
    let mount =
        |args: &[&str]| Command::new("mount").args(args).output().is_ok_and(|out| out.status.success());
    let (from, to) = (test.at("x"), test.at("under"));
    if !mount(&["--bind", from.to_str().unwrap(), to.to_str().unwrap()]) {
        return;
    }
    let written = test.commit(&[edited("under", "text", "new")]);
    assert!(Command::new("umount").arg(&to).status().unwrap().success());
    assert_eq!(written.unwrap()[0].write_mode, "in_place");
    assert_eq!((test.text("x").as_str(), test.text("under").as_str()), ("new", "hidden"));
}
