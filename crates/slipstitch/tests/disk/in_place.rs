//! Files that are written and not replaced.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use slipstitch::HardLinks;
use slipstitch_core::ports::workspace::{Workspace, WorkspaceError};

use crate::rig::{Rig, edited, removed};

#[test]
fn a_file_with_two_names_is_refused_broken_or_written_through() {
    for (rule, x, y, mode) in [
        (HardLinks::Refuse, "text", "text", None),
        (HardLinks::Break, "longer text", "text", Some("exchange")),
        (HardLinks::WriteThrough, "longer text", "longer text", Some("in_place")),
    ] {
        let rig = Rig::new();
        rig.put("x", "text");
        fs::hard_link(rig.at("x"), rig.at("y")).unwrap();
        let disk = rig.again().with_hard_links(rule);
        let written =
            disk.stage(&[edited("x", "text", "longer text")]).and_then(|mut staged| staged.publish());
        match (mode, written) {
            (Some(mode), Ok(written)) => assert_eq!(written[0].write_mode, mode),
            (None, Err(WorkspaceError::Refused { reason, .. })) => {
                assert!(reason.contains("2 names"), "{reason}")
            }
            (_, other) => panic!("{rule:?}: {other:?}"),
        }
        assert_eq!((rig.text("x").as_str(), rig.text("y").as_str()), (x, y), "{rule:?}");
        assert_eq!(rig.listing(), ["x", "y"]);
    }
}

#[test]
fn a_shorter_text_leaves_nothing_of_the_longer_one() {
    let rig = Rig::new();
    rig.put("x", "a long text\n");
    fs::hard_link(rig.at("x"), rig.at("y")).unwrap();
    let disk = rig.again().with_hard_links(HardLinks::WriteThrough);
    let inode = fs::metadata(rig.at("x")).unwrap().ino();
    disk.stage(&[edited("x", "a long text\n", "a\n")]).unwrap().publish().unwrap();
    assert_eq!(rig.text("y"), "a\n");
    assert_eq!(fs::metadata(rig.at("x")).unwrap().ino(), inode);
}

#[test]
fn a_write_in_place_that_comes_too_late_is_a_conflict() {
    let rig = Rig::new();
    rig.put("x", "text");
    fs::hard_link(rig.at("x"), rig.at("y")).unwrap();
    let disk = rig.again().with_hard_links(HardLinks::WriteThrough);
    let mut staged = disk.stage(&[edited("x", "text", "new")]).unwrap();
    fs::write(rig.at("y"), "someone else's").unwrap();
    assert!(matches!(staged.publish(), Err(WorkspaceError::Conflict { .. })));
    assert_eq!(rig.text("x"), "someone else's");
}

#[test]
fn a_write_in_place_is_taken_back_with_the_rest() {
    let rig = Rig::new();
    rig.put("x", "text");
    rig.put("z", "old");
    fs::hard_link(rig.at("x"), rig.at("y")).unwrap();
    let disk = rig.again().with_hard_links(HardLinks::WriteThrough);
    let mut staged = disk.stage(&[edited("x", "text", "new"), removed("z", "old")]).unwrap();
    fs::write(rig.at("z"), "someone else's").unwrap();
    assert!(matches!(staged.publish(), Err(WorkspaceError::Conflict { .. })));
    drop(staged);
    assert_eq!((rig.text("x").as_str(), rig.text("z").as_str()), ("text", "someone else's"));
    assert_eq!(rig.listing(), ["x", "y", "z"]);
}

/// A mount needs privileges; without them there is nothing to try.
#[test]
fn a_mount_point_is_written_in_place() {
    let rig = Rig::new();
    rig.put("x", "text");
    rig.put("under", "hidden");
    let mount =
        |args: &[&str]| Command::new("mount").args(args).output().is_ok_and(|out| out.status.success());
    let (from, to) = (rig.at("x"), rig.at("under"));
    if !mount(&["--bind", from.to_str().unwrap(), to.to_str().unwrap()]) {
        return;
    }
    let written = rig.commit(&[edited("under", "text", "new")]);
    let told = Command::new("umount").arg(&to).status().unwrap();
    assert!(told.success());
    assert_eq!(written.unwrap()[0].write_mode, "in_place");
    assert_eq!((rig.text("x").as_str(), rig.text("under").as_str()), ("new", "hidden"));
}
