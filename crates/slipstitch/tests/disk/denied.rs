//! What a process without privileges meets. Root passes every permission check, so under root the
//! test runs itself again as the user `nobody`, from a copy that this user can reach.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::rig::{Rig, created, edited, file, removed};
use slipstitch_core::ports::workspace::{ReadResult, Workspace, WorkspaceError};

const NOBODY: u32 = 65534;
/// Names a folder in which root has left files for nobody to trip over.
const TRAPS: &str = "SLIPSTITCH_TEST_TRAPS";

#[test]
fn a_process_without_privileges_is_refused_in_words() {
    if std::env::var_os(TRAPS).is_some() {
        return as_nobody();
    }
    if !rustix::process::geteuid().is_root() {
        return denials();
    }
    let folder = tempfile::tempdir().unwrap();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), open.clone()).unwrap();
    let program = folder.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, open).unwrap();
    for name in ["tmp", "traps"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        chown(folder.path().join(name), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let traps = folder.path().join("traps");
    for (name, mode) in [("plain", 0o666), ("set-uid", 0o4755)] {
        fs::write(traps.join(name), "text").unwrap();
        fs::set_permissions(traps.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let output = Command::new(&program)
        .args(["--exact", "denied::a_process_without_privileges_is_refused_in_words"])
        .env("TMPDIR", folder.path().join("tmp"))
        .env(TRAPS, &traps)
        .current_dir(folder.path())
        .gid(NOBODY)
        .uid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(fs::read_to_string(traps.join("set-uid")).unwrap(), "text");
    assert_eq!(fs::read_to_string(traps.join("plain")).unwrap(), "new text");
    assert_eq!(fs::metadata(traps.join("plain")).unwrap().uid(), 0, "the owner is kept");
    assert_eq!(fs::read_dir(&traps).unwrap().count(), 2, "no temporary files");
}

fn as_nobody() {
    denials();
    let traps = std::env::var_os(TRAPS).unwrap();
    let locks = tempfile::tempdir().unwrap();
    let disk =
        slipstitch::DiskWorkspace::open(traps.as_ref(), &locks.path().join("l"), slipstitch::Fsync::Off)
            .unwrap();
    let error = disk.stage(&[edited("set-uid", "text", "new")]).err().unwrap().to_string();
    assert_eq!(error, "no permission to write `set-uid`");
    // Everyone may write it, but a new file would belong to someone else: the file itself is written.
    let written = disk.stage(&[edited("plain", "text", "new text")]).unwrap().publish().unwrap();
    assert_eq!(written[0].write_mode, "in_place");
}

fn denials() {
    let rig = Rig::new();
    rig.put("secret", "text");
    rig.set_mode("secret", 0o000);
    rig.put("shut/x", "text");
    rig.set_mode("shut", 0o000);
    rig.put("fixed/x", "text");
    rig.set_mode("fixed/x", 0o444);
    rig.set_mode("fixed", 0o555);
    let denied = |path: &str, action| WorkspaceError::Denied { path: file(path), action };
    assert_eq!(rig.read("secret").unwrap_err(), denied("secret", "read"));
    assert_eq!(rig.read("shut/x").unwrap_err(), denied("shut/x", "read"));
    let Ok(ReadResult::File(fixed)) = rig.read("fixed/x") else { panic!("readable") };
    assert!(!fixed.meta.writable);
    let refused = |change| rig.commit(&[change]).unwrap_err();
    assert_eq!(refused(edited("fixed/x", "text", "new")), denied("fixed/x", "write"));
    assert_eq!(refused(removed("fixed/x", "text")), denied("fixed/x", "remove"));
    assert_eq!(refused(created("fixed/y", "new")), denied("fixed/y", "create"));
    assert_eq!(refused(created("fixed/new/y", "new")), denied("fixed/new/y", "create"));
    // Nothing can be made in the folder, but the file may be written.
    rig.set_mode("fixed/x", 0o644);
    let written = rig.commit(&[edited("fixed/x", "text", "new")]).unwrap();
    assert_eq!((written[0].write_mode, rig.text("fixed/x").as_str()), ("in_place", "new"));
    for path in ["shut", "fixed"] {
        rig.set_mode(path, 0o755);
    }
    assert_eq!(rig.listing(), ["fixed/", "fixed/x", "secret", "shut/", "shut/x"]);
}
