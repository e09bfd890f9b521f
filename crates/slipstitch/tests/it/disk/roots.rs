//! Several roots, and absolute symlinks.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;

use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::ports::workspace::{ReadResult, Workspace, WorkspaceError};
use slipstitch_platform::files;

use crate::support::{TestDisk, content, created, file};

/// A path as answers show it: `/C:/x/y` on Windows.
fn shown(path: &Path) -> String {
    let path = files::real_path(path).unwrap().to_str().unwrap().replace('\\', "/");
    if path.starts_with('/') { path } else { format!("/{path}") }
}

#[test]
fn files_of_another_root_have_absolute_paths() {
    let test = TestDisk::new();
    fs::write(test.outside("x"), "out there").unwrap();
    let name = shown(&test.outside("x"));
    let refused = FilePath::parse(&name, test.disk.root_names(), Absolute::InsideRoot);
    assert!(refused.is_err(), "one root: {refused:?}");
    let disk = test.reopen().with_root(&test.outside("")).unwrap();
    let path = FilePath::parse(&name, disk.root_names(), Absolute::InsideRoot).unwrap();
    assert_eq!(path.as_str(), name);
    assert_eq!(content(disk.read(&path).unwrap()), b"out there");
    assert_eq!(real_path(&disk.read(&path).unwrap()), None, "the path contains no symlink");
    let path = FilePath::from_record(&format!("{}/y", shown(&test.outside("")))).unwrap();
    let change = slipstitch_core::change::FileChange { path, ..created("y", "new") };
    disk.stage(&[change]).unwrap().publish().unwrap();
    assert_eq!(fs::read_to_string(test.outside("y")).unwrap(), "new");
    assert!(matches!(disk.read(&file("/etc/passwd")), Err(WorkspaceError::Outside(_))));
}

fn real_path(seen: &ReadResult) -> Option<&FilePath> {
    match seen {
        ReadResult::File(content) => content.meta.real.as_ref(),
        ReadResult::Missing { real } => real.as_ref(),
    }
}

#[cfg(unix)]
#[test]
fn follows_absolute_symlinks_only_into_a_root() {
    let test = TestDisk::new();
    test.put("real/x", "text");
    fs::write(test.outside("x"), "secret").unwrap();
    symlink(test.at("real/x"), test.at("leaf")).unwrap();
    symlink(test.at("real"), test.at("way")).unwrap();
    symlink("way", test.at("round")).unwrap();
    symlink(test.outside("x"), test.at("out")).unwrap();
    symlink(test.outside(""), test.at("gate")).unwrap();
    symlink(format!("{}/../outside/x", test.at("").display()), test.at("trick")).unwrap();
    for path in ["leaf", "way/x", "round/x"] {
        let seen = test.read(path).unwrap();
        assert_eq!(real_path(&seen), Some(&file("real/x")), "{path}");
        assert_eq!(content(seen), b"text", "{path}");
    }
    for path in ["out", "gate/x", "trick"] {
        assert!(matches!(test.read(path), Err(WorkspaceError::Outside(_))), "{path}");
    }
    let ReadResult::Missing { real } = test.read("round/new/y").unwrap() else { panic!("missing") };
    assert_eq!(real, Some(file("real/new/y")));
    test.commit(&[test.edit("leaf", "new")]).unwrap();
    assert_eq!(test.text("real/x"), "new");
    assert!(fs::symlink_metadata(test.at("leaf")).unwrap().is_symlink());
}
