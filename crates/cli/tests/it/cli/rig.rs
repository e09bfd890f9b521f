//! A temporary root and state folder for each test.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Rig {
    folder: TempDir,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        Self { folder }
    }

    /// A rig with one file, `a.txt`.
    pub(crate) fn with(text: impl AsRef<[u8]>) -> Self {
        let rig = Self::new();
        rig.put("a.txt", text);
        rig
    }

    /// Lets a process without a terminal accept proposals, as tests do.
    pub(crate) fn allow_unattended_review(&self) {
        self.write_settings("[review]\nunattended = true\n");
    }

    /// Writes the user's settings file.
    pub(crate) fn write_settings(&self, text: &str) {
        let folder = self.outside().join(".config/slipstitch");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    /// The name of the account that runs the tests.
    #[cfg(unix)]
    pub(crate) fn account() -> String {
        let asked = std::process::Command::new("/usr/bin/id").arg("-un").output().unwrap();
        String::from_utf8(asked.stdout).unwrap().trim().to_owned()
    }

    /// The name of the account that runs the tests.
    #[cfg(windows)]
    pub(crate) fn account() -> String {
        std::env::var("USERNAME").unwrap()
    }

    /// Who decides without a terminal, for the journal, if they call themselves ada.
    pub(crate) fn ada() -> String {
        format!("{} (unattended, as ada)", Self::account())
    }

    /// The parent of the root and the state folder.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.root().join(name), text).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.root().join(name)).unwrap()).unwrap()
    }

    /// The program with the root as working directory, a clean environment and no terminal.
    pub(crate) fn command(&self) -> Command {
        let mut command = Self::detached();
        command
            .env("HOME", self.outside())
            .env("APPDATA", self.outside().join(".config"))
            .env("SLIPSTITCH_STATE_DIR", self.outside().join("state"))
            .current_dir(self.root());
        command
    }

    /// A new session has no terminal, so results do not depend on where the tests run.
    #[cfg(unix)]
    fn detached() -> Command {
        let mut command = Command::new("/usr/bin/setsid");
        command.arg("--wait").arg(env!("CARGO_BIN_EXE_slipstitch")).env_clear();
        command
    }

    /// Without these variables, Windows cannot start programs.
    #[cfg(windows)]
    fn detached() -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_slipstitch"));
        command.env_clear();
        for name in ["SystemRoot", "SystemDrive", "TEMP", "TMP", "USERNAME", "USERPROFILE"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Run {
        Run::of(self.command().args(arguments))
    }

    pub(crate) fn run_fed<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        stdin: impl Into<Vec<u8>>,
    ) -> Run {
        Run::of(self.command().args(arguments).write_stdin(stdin))
    }

    /// Runs with `--json` and returns the exit code and the one object printed.
    pub(crate) fn json<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> (i32, Value) {
        let run = Run::of(self.command().args(arguments).arg("--json"));
        (run.code, run.object())
    }
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().expect("the program was not killed"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Parses stdout as one JSON object and asserts that stderr is empty.
    pub(crate) fn object(&self) -> Value {
        let value: Value =
            serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert!(value.is_object(), "{self:?}");
        assert_eq!(self.err, "", "stderr must be empty");
        value
    }

    pub(crate) fn assert_done(&self) {
        assert_eq!(self.code, 0, "{self:?}");
    }

    /// Asserts that a tool call was answered with every part on stdout, and that only its status says that it failed.
    pub(crate) fn assert_refused(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.err, "", "the answer goes to stdout");
        for part in parts {
            assert!(self.out.contains(part), "`{part}` is missing: {self:?}");
        }
    }

    /// Asserts that the run failed with `code`, printed nothing to stdout, and every part to stderr.
    pub(crate) fn assert_failed(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.out, "", "errors go to stderr");
        assert!(self.err.starts_with("error: "), "{self:?}");
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is missing: {self:?}");
        }
    }
}
