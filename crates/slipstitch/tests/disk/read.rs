use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;

use crate::rig::{Rig, content, file};
use slipstitch::{DiskWorkspace, Fsync, OpenError};
use slipstitch_core::ports::workspace::{EntryKind, ReadResult, Workspace, WorkspaceError};
use slipstitch_core::snapshot::FileId;

#[test]
fn a_file_is_read_with_what_is_known_of_it() {
    let rig = Rig::new();
    rig.put("a/b.txt", "text\r\n");
    rig.set_mode("a/b.txt", 0o640);
    let ReadResult::File(found) = rig.read("a/b.txt").unwrap() else { panic!("found") };
    let metadata = fs::metadata(rig.at("a/b.txt")).unwrap();
    assert_eq!(*found.bytes, *b"text\r\n");
    assert_eq!(found.meta.mode, Some(0o640));
    assert_eq!(found.meta.id, Some(FileId { device: metadata.dev(), inode: metadata.ino() }));
    assert_eq!(found.meta.modified.unwrap() / 1000, metadata.mtime());
    assert!(found.meta.writable);
}

#[test]
fn the_root_is_named_as_it_really_is() {
    let rig = Rig::new();
    symlink(rig.at(""), rig.outside("way")).unwrap();
    let disk = DiskWorkspace::open(&rig.outside("way"), &rig.outside("locks"), Fsync::Off).unwrap();
    assert_eq!(disk.root(), rig.at("").canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn roots_that_cannot_be_used_are_named() {
    use std::os::unix::ffi::OsStrExt;
    let rig = Rig::new();
    rig.put("file", "");
    let open =
        |path: &std::path::Path| DiskWorkspace::open(path, &rig.outside("locks"), Fsync::Off).unwrap_err();
    assert!(matches!(open(&rig.at("nothing")), OpenError::Missing(_)));
    assert!(matches!(open(&rig.at("file")), OpenError::NotAFolder(_)));
    assert!(matches!(open(&rig.at("file/x")), OpenError::NotAFolder(_)));
    let odd = rig.at("").join(std::ffi::OsStr::from_bytes(b"\xff"));
    fs::create_dir(&odd).unwrap();
    assert!(matches!(open(&odd), OpenError::NotUtf8(_)));
}

#[test]
fn what_is_not_there_is_missing() {
    let rig = Rig::new();
    rig.put("a/x", "");
    for path in ["b", "a/b", "b/c/d"] {
        assert!(matches!(rig.read(path), Ok(ReadResult::Missing { .. })), "{path}");
    }
}

#[test]
fn what_is_no_regular_file_is_named() {
    let rig = Rig::new();
    rig.put("a/x", "");
    symlink("a", rig.at("link")).unwrap();
    let _socket = UnixListener::bind(rig.at("socket")).unwrap();
    let pipe = rig.at("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    symlink("pipe", rig.at("to-pipe")).unwrap();
    assert_eq!(rig.read("a").unwrap_err(), WorkspaceError::Folder(file("a")));
    assert_eq!(rig.read("link").unwrap_err(), WorkspaceError::Folder(file("link")));
    assert_eq!(rig.read("a/x/y").unwrap_err(), WorkspaceError::NotAFolder(file("a/x/y")));
    // Reading a pipe that nobody writes to would wait forever.
    for (path, kind) in [("pipe", "named pipe"), ("to-pipe", "named pipe"), ("socket", "socket")] {
        assert_eq!(rig.read(path).unwrap_err(), WorkspaceError::NotRegular { path: file(path), kind });
    }
}

#[test]
fn devices_are_not_read() {
    let rig = Rig::new();
    let disk = DiskWorkspace::open("/dev".as_ref(), &rig.outside("locks"), Fsync::Off).unwrap();
    let refused = disk.read(&file("zero")).unwrap_err();
    assert_eq!(refused, WorkspaceError::NotRegular { path: file("zero"), kind: "character device" });
}

#[test]
fn links_inside_the_root_are_followed() {
    let rig = Rig::new();
    rig.put("a/real", "text");
    symlink("a", rig.at("folder")).unwrap();
    symlink("real", rig.at("a/near")).unwrap();
    symlink("folder/near", rig.at("far")).unwrap();
    for path in ["folder/real", "a/near", "far"] {
        assert_eq!(content(rig.read(path).unwrap()), b"text", "{path}");
    }
}

// Shows: NFR-SFE-SEC-01
#[test]
fn links_out_of_the_root_are_not() {
    let rig = Rig::new();
    fs::write(rig.outside("secret"), "secret").unwrap();
    symlink(rig.outside("secret"), rig.at("absolute")).unwrap();
    symlink("../outside/secret", rig.at("relative")).unwrap();
    symlink(rig.outside(""), rig.at("folder")).unwrap();
    symlink("../outside", rig.at("up")).unwrap();
    symlink("/proc/self/root", rig.at("magic")).unwrap();
    symlink("../root/inside", rig.at("out-and-in")).unwrap();
    rig.put("inside", "");
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
        assert_eq!(rig.read(path).unwrap_err(), WorkspaceError::Outside(file(path)), "{path}");
    }
}

#[test]
fn a_dangling_link_is_not_a_missing_file() {
    let rig = Rig::new();
    symlink("nothing", rig.at("link")).unwrap();
    symlink("nothing/x", rig.at("deep")).unwrap();
    for path in ["link", "deep", "link/x"] {
        let error = rig.read(path).unwrap_err();
        assert!(matches!(&error, WorkspaceError::Refused { .. }), "{error}");
        assert!(error.to_string().contains("dangling symlink"), "{error}");
    }
}

#[test]
fn a_name_that_is_too_long_is_an_error_in_words() {
    let rig = Rig::new();
    let error = rig.read(&"x".repeat(300)).unwrap_err();
    assert!(error.to_string().ends_with("a name in it is too long"), "{error}");
}

#[test]
fn a_folder_is_listed_as_far_as_the_root_reaches() {
    let rig = Rig::new();
    rig.put("a/x", "12345");
    rig.put("a/deep/y", "");
    fs::write(rig.outside("secret"), "secret").unwrap();
    symlink("x", rig.at("a/link")).unwrap();
    symlink("deep", rig.at("a/way")).unwrap();
    symlink("nothing", rig.at("a/dangling")).unwrap();
    symlink(rig.outside("secret"), rig.at("a/out")).unwrap();
    let _socket = UnixListener::bind(rig.at("a/socket")).unwrap();
    let disk = rig.again();
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
    symlink(rig.outside(""), rig.at("out")).unwrap();
    assert_eq!(disk.list(Some(&file("out"))), Err(WorkspaceError::Outside(file("out"))));
}
