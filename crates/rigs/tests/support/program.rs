//! The program that the tests try.

use std::path::PathBuf;
use std::process::Command;

/// Builds `slipstitch` as it is now.
pub(crate) fn build() {
    // <target>/<profile>/deps/<test>
    let own = std::env::current_exe().expect("a test has a path");
    let mut above = own.ancestors().skip(2);
    let profile = above.next().expect("a test is in the folder of its profile");
    let target: PathBuf = above.next().expect("which is in the target folder").into();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "slipstitch-cli", "--target-dir"]).arg(target);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo runs").success(), "`slipstitch` is built");
}
