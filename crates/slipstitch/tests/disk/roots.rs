//! Several roots, and links in full.

use std::fs;
use std::os::unix::fs::symlink;

use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::ports::workspace::{ReadResult, Workspace, WorkspaceError};

use crate::rig::{Rig, content, created, file};

#[test]
fn files_of_another_root_are_named_in_full() {
    let rig = Rig::new();
    fs::write(rig.outside("x"), "out there").unwrap();
    let name = fs::canonicalize(rig.outside("x")).unwrap().to_str().unwrap().to_owned();
    let refused = FilePath::parse(&name, rig.disk.root_names(), Absolute::InsideRoot);
    assert!(refused.is_err(), "one root: {refused:?}");
    let disk = rig.again().also(&rig.outside("")).unwrap();
    let path = FilePath::parse(&name, disk.root_names(), Absolute::InsideRoot).unwrap();
    assert_eq!(path.as_str(), name);
    assert_eq!(content(disk.read(&path).unwrap()), b"out there");
    assert_eq!(content_of_meta(&disk.read(&path).unwrap()), None, "it is where its path says");
    let made = FilePath::from_record(&format!("{name}/../y").replace("x/../", "")).unwrap();
    let change = slipstitch_core::change::FileChange { path: made, ..created("y", "new") };
    disk.stage(&[change]).unwrap().publish().unwrap();
    assert_eq!(fs::read_to_string(rig.outside("y")).unwrap(), "new");
    assert!(matches!(disk.read(&file("/etc/passwd")), Err(WorkspaceError::Outside(_))));
}

fn content_of_meta(seen: &ReadResult) -> Option<&FilePath> {
    match seen {
        ReadResult::File(content) => content.meta.real.as_ref(),
        ReadResult::Missing { real } => real.as_ref(),
    }
}

#[test]
fn a_link_in_full_into_a_root_is_followed_and_one_out_of_it_is_not() {
    let rig = Rig::new();
    rig.put("real/x", "text");
    fs::write(rig.outside("x"), "secret").unwrap();
    symlink(rig.at("real/x"), rig.at("leaf")).unwrap();
    symlink(rig.at("real"), rig.at("way")).unwrap();
    symlink("way", rig.at("round")).unwrap();
    symlink(rig.outside("x"), rig.at("out")).unwrap();
    symlink(rig.outside(""), rig.at("gate")).unwrap();
    symlink(format!("{}/../outside/x", rig.at("").display()), rig.at("trick")).unwrap();
    for path in ["leaf", "way/x", "round/x"] {
        let seen = rig.read(path).unwrap();
        assert_eq!(content_of_meta(&seen), Some(&file("real/x")), "{path}");
        assert_eq!(content(seen), b"text", "{path}");
    }
    for path in ["out", "gate/x", "trick"] {
        assert!(matches!(rig.read(path), Err(WorkspaceError::Outside(_))), "{path}");
    }
    let ReadResult::Missing { real } = rig.read("round/new/y").unwrap() else { panic!("missing") };
    assert_eq!(real, Some(file("real/new/y")));
    rig.commit(&[rig.edit("leaf", "new")]).unwrap();
    assert_eq!(rig.text("real/x"), "new");
    assert!(fs::symlink_metadata(rig.at("leaf")).unwrap().is_symlink());
}
