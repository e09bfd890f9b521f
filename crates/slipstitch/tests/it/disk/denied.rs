//! Missing permissions. Root passes every permission check, so under root the test runs itself again as the user
//! `nobody`, from a copy of the program that this user can execute.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::support::{TestDisk, created, edited, file, removed};
use slipstitch_core::ports::workspace::{ReadResult, Workspace, WorkspaceError};

const NOBODY: u32 = 65534;
/// The environment variable with the path of a folder that contains files of root.
const ROOT_FILES: &str = "SLIPSTITCH_TEST_ROOT_FILES";

#[test]
fn missing_permissions_are_reported() {
    if std::env::var_os(ROOT_FILES).is_some() {
        return run_as_nobody();
    }
    if !rustix::process::geteuid().is_root() {
        return check_denials();
    }
    let folder = tempfile::tempdir().unwrap();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), open.clone()).unwrap();
    let program = folder.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, open).unwrap();
    for name in ["tmp", "root-files"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        chown(folder.path().join(name), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let root_files = folder.path().join("root-files");
    for (name, mode) in [("plain", 0o666), ("set-uid", 0o4755)] {
        fs::write(root_files.join(name), "text").unwrap();
        fs::set_permissions(root_files.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let output = Command::new(&program)
        .args(["--exact", "disk::denied::missing_permissions_are_reported"])
        .env("TMPDIR", folder.path().join("tmp"))
        .env(ROOT_FILES, &root_files)
        .current_dir(folder.path())
        .gid(NOBODY)
        .uid(NOBODY)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
    assert_eq!(fs::read_to_string(root_files.join("set-uid")).unwrap(), "text");
    assert_eq!(fs::read_to_string(root_files.join("plain")).unwrap(), "new text");
    assert_eq!(fs::metadata(root_files.join("plain")).unwrap().uid(), 0, "the owner is kept");
    assert_eq!(fs::read_dir(&root_files).unwrap().count(), 2, "no temporary files");
}

fn run_as_nobody() {
    check_denials();
    let root_files = std::env::var_os(ROOT_FILES).unwrap();
    let locks = tempfile::tempdir().unwrap();
    let disk =
        slipstitch::DiskWorkspace::open(root_files.as_ref(), &locks.path().join("l"), slipstitch::Fsync::Off)
            .unwrap();
    let error = disk.stage(&[edited("set-uid", "text", "new")]).err().unwrap().to_string();
    assert_eq!(error, "no permission to write `set-uid`");
    // Everyone may write to it, but a new file would have another owner: it is written in place.
    let written = disk.stage(&[edited("plain", "text", "new text")]).unwrap().publish().unwrap();
    assert_eq!(written[0].write_mode, "in_place");
}

fn check_denials() {
    let test = TestDisk::new();
    test.put("secret", "text");
    test.set_mode("secret", 0o000);
    test.put("shut/x", "text");
    test.set_mode("shut", 0o000);
    test.put("fixed/x", "text");
    test.set_mode("fixed/x", 0o444);
    test.set_mode("fixed", 0o555);
    let denied = |path: &str, action| WorkspaceError::Denied { path: file(path), action };
    assert_eq!(test.read("secret").unwrap_err(), denied("secret", "read"));
    assert_eq!(test.read("shut/x").unwrap_err(), denied("shut/x", "read"));
    let Ok(ReadResult::File(fixed)) = test.read("fixed/x") else { panic!("not readable") };
    assert!(!fixed.meta.writable);
    let commit_error = |change| test.commit(&[change]).unwrap_err();
    assert_eq!(commit_error(edited("fixed/x", "text", "new")), denied("fixed/x", "write"));
    assert_eq!(commit_error(removed("fixed/x", "text")), denied("fixed/x", "remove"));
    assert_eq!(commit_error(created("fixed/y", "new")), denied("fixed/y", "create"));
    assert_eq!(commit_error(created("fixed/new/y", "new")), denied("fixed/new/y", "create"));
    // No file can be created in the folder, but the file can be written.
    test.set_mode("fixed/x", 0o644);
    let written = test.commit(&[edited("fixed/x", "text", "new")]).unwrap();
    assert_eq!((written[0].write_mode, test.text("fixed/x").as_str()), ("in_place", "new"));
    for path in ["shut", "fixed"] {
        test.set_mode(path, 0o755);
    }
    assert_eq!(test.listing(), ["fixed/", "fixed/x", "secret", "shut/", "shut/x"]);
}
