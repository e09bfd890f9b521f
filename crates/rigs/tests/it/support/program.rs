//! The program under test.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;

static BUILT: Once = Once::new();

/// Builds `slipstitch` from the current sources.
///
/// Builds the whole workspace with its tests, as `cargo test` did: for the program alone, cargo would select other
/// features and build most dependencies a second time.
pub(crate) fn build() {
    BUILT.call_once(build_workspace);
}

fn build_workspace() {
    // <target>/<profile>/deps/<test>
    let own = std::env::current_exe().expect("the test has a path");
    let mut folders = own.ancestors().skip(2);
    let profile = folders.next().expect("the test is in a profile folder");
    let target: PathBuf = folders.next().expect("the profile folder is in the target folder").into();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--workspace", "--bins", "--tests", "--target-dir"]).arg(target);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo runs").success(), "cannot build `slipstitch`");
}
