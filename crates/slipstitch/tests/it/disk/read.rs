#[cfg(unix)]
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, symlink};
#[cfg(unix)]
use std::os::unix::net::UnixListener;

use crate::support::TestDisk;
#[cfg(unix)]
use crate::support::content;
#[cfg(unix)]
use crate::support::file;
#[cfg(unix)]
use slipstitch::{DiskWorkspace, Fsync, OpenError};
#[cfg(unix)]
use slipstitch_core::ports::workspace::EntryKind;
use slipstitch_core::ports::workspace::ReadResult;
#[cfg(unix)]
use slipstitch_core::ports::workspace::{Workspace, WorkspaceError};
#[cfg(unix)]
use slipstitch_core::snapshot::FileId;

#[cfg(unix)]
#[test]
fn reads_content_and_metadata() {
    let test = TestDisk::new();
    test.put("a/b.txt", "text\r\n");
    test.set_mode("a/b.txt", 0o640);
    let ReadResult::File(found) = test.read("a/b.txt").unwrap() else { panic!("not found") };
    let metadata = fs::metadata(test.at("a/b.txt")).unwrap();
    assert_eq!(*found.bytes, *b"text\r\n");
    assert_eq!(found.meta.mode, Some(0o640));
    assert_eq!(found.meta.id, Some(FileId { device: metadata.dev(), inode: metadata.ino() }));
    assert_eq!(found.meta.modified.unwrap() / 1000, metadata.mtime());
    assert!(found.meta.writable);
}

#[cfg(unix)]
#[test]
fn the_root_has_its_canonical_path() {
    let test = TestDisk::new();
    symlink(test.at(""), test.outside("link")).unwrap();
    let disk = DiskWorkspace::open(&test.outside("link"), &test.outside("locks"), Fsync::Off).unwrap();
    assert_eq!(disk.root(), test.at("").canonicalize().unwrap().to_str().unwrap());
}

#[cfg(unix)]
#[test]
fn unusable_roots_are_errors() {
    use std::os::unix::ffi::OsStrExt;
    let test = TestDisk::new();
    test.put("file", "");
    let open =
        |path: &std::path::Path| DiskWorkspace::open(path, &test.outside("locks"), Fsync::Off).unwrap_err();
    assert!(matches!(open(&test.at("nothing")), OpenError::Missing(_)));
    assert!(matches!(open(&test.at("file")), OpenError::NotAFolder(_)));
    assert!(matches!(open(&test.at("file/x")), OpenError::NotAFolder(_)));
    let odd = test.at("").join(std::ffi::OsStr::from_bytes(b"\xff"));
    fs::create_dir(&odd).unwrap();
    assert!(matches!(open(&odd), OpenError::NotUtf8(_)));
}

#[test]
fn a_path_without_a_file_is_missing() {
    let test = TestDisk::new();
    test.put("a/x", "");
    for path in ["b", "a/b", "b/c/d"] {
        assert!(matches!(test.read(path), Ok(ReadResult::Missing { .. })), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn refuses_everything_but_regular_files() {
    let test = TestDisk::new();
    test.put("a/x", "");
    symlink("a", test.at("link")).unwrap();
    let _socket = UnixListener::bind(test.at("socket")).unwrap();
    let pipe = test.at("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    symlink("pipe", test.at("to-pipe")).unwrap();
    assert_eq!(test.read("a").unwrap_err(), WorkspaceError::Folder(file("a")));
    assert_eq!(test.read("link").unwrap_err(), WorkspaceError::Folder(file("link")));
    assert_eq!(test.read("a/x/y").unwrap_err(), WorkspaceError::NotAFolder(file("a/x/y")));
    // Opening a pipe without a writer would block forever.
    for (path, kind) in [("pipe", "named pipe"), ("to-pipe", "named pipe"), ("socket", "socket")] {
        assert_eq!(test.read(path).unwrap_err(), WorkspaceError::NotRegular { path: file(path), kind });
    }
}

#[cfg(unix)]
#[test]
fn refuses_devices() {
    let test = TestDisk::new();
    let disk = DiskWorkspace::open("/dev".as_ref(), &test.outside("locks"), Fsync::Off).unwrap();
    let refused = disk.read(&file("zero")).unwrap_err();
    assert_eq!(refused, WorkspaceError::NotRegular { path: file("zero"), kind: "character device" });
}

#[cfg(unix)]
#[test]
fn follows_symlinks_inside_the_root() {
    let test = TestDisk::new();
    test.put("a/real", "text");
    symlink("a", test.at("folder")).unwrap();
    symlink("real", test.at("a/near")).unwrap();
    symlink("folder/near", test.at("far")).unwrap();
    for path in ["folder/real", "a/near", "far"] {
        assert_eq!(content(test.read(path).unwrap()), b"text", "{path}");
    }
}

// Shows: NFR-SFE-SEC-01
#[cfg(unix)]
#[test]
fn refuses_symlinks_that_leave_the_root() {
    let test = TestDisk::new();
    fs::write(test.outside("secret"), "secret").unwrap();
    symlink(test.outside("secret"), test.at("absolute")).unwrap();
    symlink("../outside/secret", test.at("relative")).unwrap();
    symlink(test.outside(""), test.at("folder")).unwrap();
    symlink("../outside", test.at("up")).unwrap();
    symlink("/proc/self/root", test.at("magic")).unwrap();
    symlink("../root/inside", test.at("out-and-in")).unwrap();
    test.put("inside", "");
    for path in [
        "absolute",
        "relative",
        "folder/secret",
        "up/secret",
        "folder/new/x",
        "up/new",
        "magic/etc/passwd",
        "out-and-in",
    ] {
        assert_eq!(test.read(path).unwrap_err(), WorkspaceError::Outside(file(path)), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_dangling_symlink_is_not_a_missing_file() {
    let test = TestDisk::new();
    symlink("nothing", test.at("link")).unwrap();
    symlink("nothing/x", test.at("deep")).unwrap();
    for path in ["link", "deep", "link/x"] {
        let error = test.read(path).unwrap_err();
        assert!(matches!(&error, WorkspaceError::Refused { .. }), "{error}");
        assert!(error.to_string().contains("dangling symlink"), "{error}");
    }
}

// On Windows, no such file exists.
#[cfg(unix)]
#[test]
fn a_name_that_is_too_long_is_an_error() {
    let test = TestDisk::new();
    let error = test.read(&"x".repeat(300)).unwrap_err();
    assert!(error.to_string().ends_with("a name in it is too long"), "{error}");
}

#[cfg(unix)]
#[test]
fn lists_a_folder_without_following_symlinks_out_of_the_root() {
    let test = TestDisk::new();
    test.put("a/x", "12345");
    test.put("a/deep/y", "");
    fs::write(test.outside("secret"), "secret").unwrap();
    symlink("x", test.at("a/link")).unwrap();
    symlink("deep", test.at("a/way")).unwrap();
    symlink("nothing", test.at("a/dangling")).unwrap();
    symlink(test.outside("secret"), test.at("a/out")).unwrap();
    let _socket = UnixListener::bind(test.at("a/socket")).unwrap();
    let disk = test.reopen();
    let listed = disk.list(Some(&file("a"))).unwrap();
    let listed: Vec<_> = listed.iter().map(|entry| (entry.name.as_str(), entry.kind, entry.size)).collect();
    let (plain, folder, other) = (EntryKind::File, EntryKind::Folder, EntryKind::Other);
    assert_eq!(
        listed,
        [
            ("dangling", other, 0),
            ("deep", folder, 0),
            ("link", plain, 5),
            ("out", other, 0),
            ("socket", other, 0),
            ("way", folder, 0),
            ("x", plain, 5),
        ]
    );
    let root: Vec<String> = disk.list(None).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(root, ["a"]);
    assert_eq!(disk.list(Some(&file("b"))), Err(WorkspaceError::NoFolder(file("b"))));
    assert_eq!(disk.list(Some(&file("a/x"))), Err(WorkspaceError::NotAFolder(file("a/x"))));
    symlink(test.outside(""), test.at("out")).unwrap();
    assert_eq!(disk.list(Some(&file("out"))), Err(WorkspaceError::Outside(file("out"))));
}
