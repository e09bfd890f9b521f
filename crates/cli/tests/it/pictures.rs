//! The pictures in the README are what the program shows.

use std::path::Path;
use std::process::Command;

#[test]
fn pictures_are_current() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/pictures");
    let checked = Command::new("python3")
        .arg(script)
        .args(["--check", env!("CARGO_BIN_EXE_slipstitch")])
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
