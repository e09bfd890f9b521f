//! Runs the program under valgrind's DHAT.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) instructions: u64,
    pub(super) allocations: u64,
}

/// The program without its symbols, which valgrind would read at every start.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let stripped = tempfile::NamedTempFile::new_in(folder).unwrap().into_temp_path();
    let mut strip = Command::new("strip");
    let done = strip.arg(env!("CARGO_BIN_EXE_slipstitch")).arg("-o").arg(&stripped).status();
    assert!(done.expect("`strip` comes with the linker (Debian package `binutils`)").success());
    let program = folder.join("slipstitch-stripped");
    stripped.persist(&program).unwrap();
    program
});

/// A root and a state folder, and the number of runs in it.
pub(super) struct Bench {
    folder: tempfile::TempDir,
    runs: usize,
}

impl Bench {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        // Emacs is looked for among all processes of the system, so its costs would depend on what else runs.
        let settings = folder.path().join("home/.config/slipstitch");
        std::fs::create_dir_all(&settings).unwrap();
        std::fs::write(settings.join("config.toml"), "[editors]\nemacs = false\n").unwrap();
        Self { folder, runs: 0 }
    }

    /// Writes a file in the root.
    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path("root").join(name), text).unwrap();
    }

    /// Writes a file next to the root and returns its path.
    pub(super) fn write_input(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).current_dir(self.path("root"));
        command.stdout(Stdio::null()).stdin(Stdio::null());
        command
    }

    /// Runs the program without counting.
    pub(super) fn run(&self, arguments: &[&str]) {
        let mut command = self.command(env!("CARGO_BIN_EXE_slipstitch"));
        let state = self.path("state");
        let done = command.arg("--no-fsync").arg("--state-dir").arg(state).args(arguments).status().unwrap();
        assert!(done.success(), "{arguments:?}: {done}");
    }

    /// Runs the program, which must succeed, and counts.
    pub(super) fn count(&mut self, arguments: &[&str]) -> Cost {
        let (cost, code) = self.count_any(arguments);
        assert_eq!(code, Some(0), "{arguments:?}");
        cost
    }

    /// Runs the program and counts. Returns its exit code too.
    pub(super) fn count_any(&mut self, arguments: &[&str]) -> (Cost, Option<i32>) {
        self.runs += 1;
        let (profile, log) = (self.path(&format!("dhat-{}", self.runs)), self.path("valgrind.log"));
        let mut command = self.command("valgrind");
        command.args(["--tool=dhat", "-q", "-v"]);
        command.arg(format!("--log-file={}", log.display()));
        command.arg(format!("--dhat-out-file={}", profile.display()));
        command.arg(&*PROGRAM).args(["--no-fsync", "--state-dir"]).arg(self.path("state"));
        let done =
            command.args(arguments).status().expect("valgrind is installed (Debian package `valgrind`)");
        let profile: Value = serde_json::from_slice(&std::fs::read(profile).unwrap()).unwrap();
        let points = profile["pps"].as_array().unwrap();
        let allocations = points.iter().map(|point| point["tbk"].as_u64().unwrap()).sum();
        (Cost { instructions: profile["te"].as_u64().unwrap(), allocations }, done.code())
    }

    /// A patch that changes a line in each of this many files, which are created.
    pub(super) fn write_patch(&self, files: usize) -> String {
        let mut patch = String::new();
        for number in 0..files {
            let name = format!("f{number}.txt");
            self.write(&name, "one\ntwo\nthree\n");
            writeln!(patch, "--- a/{name}\n+++ b/{name}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three").unwrap();
        }
        self.write_input("files.diff", &patch)
    }
}
