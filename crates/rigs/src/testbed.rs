//! A root and a state folder in which one operation runs again and again from the same starting point.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, renameat_with};
use serde_json::Value;
use tempfile::TempDir;

use crate::operation::Operation;
use crate::tree::Tree;
use crate::{Protection, RenameFlags, Scale, program, scratch};

/// The program that performs the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Editor {
    /// `slipstitch`.
    Slipstitch,
    /// A worker that writes in place.
    WritesInPlace,
    /// A worker that writes in place and ignores short writes.
    IgnoresShortWrites,
}

impl Editor {
    /// `slipstitch` with the protection on, `unprotected` with it off.
    pub(crate) fn select(protection: Protection, unprotected: Self) -> Self {
        match protection {
            Protection::On => Self::Slipstitch,
            Protection::Off => unprotected,
        }
    }

    /// The worker that implements the editor; `None` for `slipstitch` itself.
    fn worker(self) -> Option<&'static str> {
        match self {
            Self::Slipstitch => None,
            Self::WritesInPlace => Some("write-in-place"),
            Self::IgnoresShortWrites => Some("ignore-short-writes"),
        }
    }
}

/// An operation, the files it works on, and what they look like before and after it.
#[derive(Debug)]
pub(crate) struct Testbed {
    folder: TempDir,
    slipstitch: PathBuf,
    torture: PathBuf,
    editor: Editor,
    rename_flags: RenameFlags,
    can_exchange: bool,
    operation: Operation,
    /// The root before the operation.
    pub(crate) old: Tree,
    /// The root after the operation.
    pub(crate) new: Tree,
    /// Number of changes in the journal before the operation.
    pub(crate) changes: usize,
}

/// Exit code and output of a finished process.
#[derive(Debug)]
pub(crate) struct RunOutput {
    /// `None` if a signal ended the process.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for RunOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl RunOutput {
    pub(crate) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// One line for a failure message: the exit code and the first line of output.
    pub(crate) fn summarize(&self) -> String {
        let first = self.stderr.lines().chain(self.stdout.lines()).next().unwrap_or("no output");
        format!("exit {:?}, `{first}`", self.code)
    }
}

impl Testbed {
    /// Creates the files for the operation and records what it does when it runs undisturbed.
    pub(crate) fn new(operation: Operation, scale: Scale) -> Result<Self, String> {
        Self::with_editor(operation, scale, Editor::Slipstitch)
    }

    /// The same in a folder on some file system, with or without rename flags.
    pub(crate) fn in_folder(
        operation: Operation,
        folder: &Path,
        rename_flags: RenameFlags,
    ) -> Result<Self, String> {
        let folder = tempfile::tempdir_in(folder);
        Self::create(operation, folder, Editor::Slipstitch, rename_flags)
    }

    /// The same, with the operation performed by `editor` in the runs that follow.
    pub(crate) fn with_editor(operation: Operation, scale: Scale, editor: Editor) -> Result<Self, String> {
        Self::create(operation, scratch::create(scale), editor, RenameFlags::On)
    }

    fn create(
        operation: Operation,
        folder: io::Result<TempDir>,
        editor: Editor,
        rename_flags: RenameFlags,
    ) -> Result<Self, String> {
        let (slipstitch, torture) = (program::find("slipstitch")?, program::find("torture")?);
        let failed = |error: io::Error| format!("cannot set up `{}`: {error}", operation.name);
        let folder = folder.map_err(failed)?;
        let can_exchange =
            rename_flags == RenameFlags::On && can_exchange_in(folder.path()).map_err(failed)?;
        let mut testbed = Self {
            folder,
            slipstitch,
            torture,
            editor,
            rename_flags,
            can_exchange,
            operation,
            old: Tree::default(),
            new: Tree::default(),
            changes: 0,
        };
        testbed.create_files().map_err(failed)?;
        for args in operation.setup {
            testbed.run_successfully(args)?;
        }
        // Also creates the journal for operations without setup.
        testbed.changes = testbed.journal_states()?.len();
        testbed.old = testbed.read_root()?.0;
        testbed.copy("now", "start").map_err(failed)?;
        testbed.run_successfully(operation.args)?;
        testbed.new = testbed.read_root()?.0;
        if testbed.new == testbed.old {
            return Err(format!("`{}` changes nothing", operation.name));
        }
        Ok(testbed)
    }

    fn create_files(&self) -> io::Result<()> {
        fs::create_dir_all(self.root())?;
        fs::write(self.spare_path("config.toml"), self.operation.config)?;
        fs::write(self.spare_path("patch"), self.operation.patch)?;
        self.operation.create_files(&self.root())
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("now/root")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("now/state")
    }

    /// Whether two files can exchange their names. Otherwise a replaced file has no name for a moment.
    pub(crate) fn can_exchange(&self) -> bool {
        self.can_exchange
    }

    /// The operation under test.
    pub(crate) fn operation(&self) -> &Operation {
        &self.operation
    }

    /// A path for the rig's own files, outside root and state.
    pub(crate) fn spare_path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Restores root and state to the start of the operation, at the same paths because the journal records them.
    pub(crate) fn reset(&self) -> Result<(), String> {
        self.copy("start", "now").map_err(|error| format!("cannot reset the test files: {error}"))
    }

    /// Copies with `cp -a`, which keeps links, modes, owners and attributes.
    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let to = self.folder.path().join(to);
        if to.exists() {
            remove_folder(&to)?;
        }
        let status = Command::new("cp").arg("-a").arg(self.folder.path().join(from)).arg(&to).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("cp failed: {status}"))) }
    }

    /// The command line that performs the operation.
    pub(crate) fn operation_command(&self) -> Vec<PathBuf> {
        let Some(worker) = self.editor.worker() else {
            return self.slipstitch_command(self.operation.args);
        };
        let mut words = vec![self.torture.clone(), program::WORKER_SUBCOMMAND.into(), worker.into()];
        for [path, old, new] in self.operation.naive {
            words.extend([self.root().join(path), old.into(), new.into()]);
        }
        words
    }

    /// The command line of `slipstitch` in this testbed; `{patch}` becomes the path of the patch.
    fn slipstitch_command(&self, args: &[&str]) -> Vec<PathBuf> {
        let own = [
            self.slipstitch.clone(),
            "--root".into(),
            self.root(),
            "--state-dir".into(),
            self.state(),
            "--config".into(),
            self.spare_path("config.toml"),
        ];
        let given = args.iter().map(|word| match *word {
            "{patch}" => self.spare_path("patch"),
            word => word.into(),
        });
        own.into_iter().chain(given).collect()
    }

    /// The command line of the operation, run by another program such as `strace`.
    pub(crate) fn operation_under(&self, wrapper: impl IntoIterator<Item = impl Into<PathBuf>>) -> Command {
        let words: Vec<PathBuf> =
            wrapper.into_iter().map(Into::into).chain(self.operation_command()).collect();
        self.command(&words)
    }

    /// The option of `strace` that makes rename flags fail, if they are off.
    pub(crate) fn rename_flags_injection(&self) -> Option<&'static str> {
        (self.rename_flags == RenameFlags::Off).then_some("inject=renameat2:error=EINVAL")
    }

    /// A command without a terminal and without Slipstitch settings from the environment.
    pub(crate) fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut words = words.iter();
        let mut command = Command::new(words.next().map_or(OsStr::new("false"), AsRef::as_ref));
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for variable in ["SLIPSTITCH_STATE_DIR", "SLIPSTITCH_SESSION", "SLIPSTITCH_AGENT"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs `slipstitch`.
    pub(crate) fn run(&self, args: &[&str]) -> Result<RunOutput, String> {
        let mut words: Vec<PathBuf> = Vec::new();
        if let Some(injection) = self.rename_flags_injection() {
            let strace = [
                "strace",
                "-f",
                "--seccomp-bpf",
                "-qq",
                "-o",
                "/dev/null",
                "-e",
                "trace=renameat2",
                "-e",
                injection,
            ];
            words.extend(strace.map(PathBuf::from));
        }
        words.extend(self.slipstitch_command(args));
        let output = self.command(&words).output();
        Ok(output.map_err(|error| format!("cannot run `slipstitch`: {error}"))?.into())
    }

    /// Runs `slipstitch`; anything but success is an error.
    fn run_successfully(&self, args: &[&str]) -> Result<RunOutput, String> {
        let output = self.run(args)?;
        match output.is_success() {
            true => Ok(output),
            false => Err(format!("`slipstitch {}` failed: {}", args.join(" "), output.summarize())),
        }
    }

    /// The current root, and the temporary files in it.
    pub(crate) fn read_root(&self) -> Result<(Tree, Vec<String>), String> {
        Tree::read(&self.root()).map_err(|error| format!("cannot read the root: {error}"))
    }

    /// The state of each change in the journal, newest first. Starts the program, which recovers pending changes.
    pub(crate) fn journal_states(&self) -> Result<Vec<String>, String> {
        let output = self.run_successfully(&["log", "--all", "--json"])?;
        let listing: Value = serde_json::from_str(&output.stdout)
            .map_err(|error| format!("`slipstitch log --json` printed no JSON: {error}"))?;
        let changes = listing["changes"].as_array().ok_or("`slipstitch log --json` printed no `changes`")?;
        Ok(changes.iter().map(|change| change["state"].as_str().unwrap_or("unknown").to_owned()).collect())
    }
}

/// Removes a folder. FUSE keeps a file that a killed process had open under a hidden name, until it notices.
fn remove_folder(folder: &Path) -> io::Result<()> {
    for _ in 0..100 {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                thread::sleep(Duration::from_millis(20));
            }
            removed => return removed,
        }
    }
    fs::remove_dir_all(folder)
}

/// Whether the file system of a folder can exchange two names.
fn can_exchange_in(folder: &Path) -> io::Result<bool> {
    let names = ["one", "two"].map(|name| folder.join(name));
    for name in &names {
        fs::write(name, "")?;
    }
    let exchanged = renameat_with(CWD, &names[0], CWD, &names[1], rustix::fs::RenameFlags::EXCHANGE);
    for name in &names {
        fs::remove_file(name)?;
    }
    Ok(exchanged.is_ok())
}
