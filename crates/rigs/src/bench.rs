//! A folder to try things in: a root, a state folder, and how both were at the start.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::operation::{self, Operation};
use crate::tree::Tree;
use crate::{Scale, program, worker};

/// The memory file system, where there is one.
const MEMORY: &str = "/dev/shm";

/// A new folder for a rig's files. A quick run works in memory: what a process leaves when it is killed does
/// not depend on the disk. A long one works where temporary files are.
pub(crate) fn scratch(scale: Scale) -> io::Result<TempDir> {
    match scale {
        Scale::Quick if Path::new(MEMORY).is_dir() => {
            tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir())
        }
        _ => tempfile::tempdir(),
    }
}

/// Who carries the operation out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Editor {
    /// The program.
    Slipstitch,
    /// One without protection.
    Naive,
    /// One that also does not look how much was written.
    Careless,
}

/// One operation, ready to be tried again and again from the same start.
#[derive(Debug)]
pub(crate) struct Bench {
    folder: TempDir,
    slipstitch: PathBuf,
    torture: PathBuf,
    editor: Editor,
    operation: Operation,
    /// The root before the operation.
    pub(crate) old: Tree,
    /// The root after it.
    pub(crate) new: Tree,
    /// How many changes the journal has before it.
    pub(crate) changes: usize,
}

/// What a run of the program answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// The answer on one line, for a fault.
    pub(crate) fn brief(&self) -> String {
        let said = self.err.lines().chain(self.out.lines()).next().unwrap_or("nothing");
        format!("exit {:?}, `{said}`", self.code)
    }
}

impl Bench {
    /// Sets up what the operation works on, and finds out what it does when nothing disturbs it.
    pub(crate) fn new(operation: Operation, scale: Scale) -> Result<Self, String> {
        Self::with_editor(operation, scale, Editor::Slipstitch)
    }

    /// The same with the operation carried out by someone else.
    pub(crate) fn with_editor(operation: Operation, scale: Scale, editor: Editor) -> Result<Self, String> {
        let (slipstitch, torture) = (program::find("slipstitch")?, program::find("torture")?);
        let failed =
            |error: io::Error| format!("the bench for `{}` cannot be set up: {error}", operation.name);
        let folder = scratch(scale).map_err(failed)?;
        let mut bench = Self {
            folder,
            slipstitch,
            torture,
            editor,
            operation,
            old: Tree::default(),
            new: Tree::default(),
            changes: 0,
        };
        bench.fill().map_err(failed)?;
        for call in operation.first {
            bench.expect(call)?;
        }
        // Also brings the journal into being for operations that have nothing before them.
        bench.changes = bench.journal()?.len();
        bench.old = bench.seen()?.0;
        bench.copy("now", "start").map_err(failed)?;
        bench.expect(operation.call)?;
        bench.new = bench.seen()?.0;
        if bench.new == bench.old {
            return Err(format!("`{}` changes nothing", operation.name));
        }
        Ok(bench)
    }

    fn fill(&self) -> io::Result<()> {
        fs::create_dir_all(self.root())?;
        fs::create_dir_all(self.state())?;
        fs::write(self.folder.path().join("config.toml"), self.operation.config)?;
        fs::write(self.folder.path().join("patch"), self.operation.patch)?;
        self.operation.files(&self.root())
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("now/root")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("now/state")
    }

    /// The operation that is tried.
    pub(crate) fn operation(&self) -> &Operation {
        &self.operation
    }

    /// A file of the rig's own, outside root and state.
    pub(crate) fn spare(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Brings root and state to the start of the operation. The paths stay: the journal knows them.
    pub(crate) fn reset(&self) -> Result<(), String> {
        self.copy("start", "now").map_err(|error| format!("the bench cannot be reset: {error}"))
    }

    /// `cp` keeps links, modes, owners and attributes, all of which matter here.
    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let to = self.folder.path().join(to);
        if to.exists() {
            fs::remove_dir_all(&to)?;
        }
        let status = Command::new("cp").arg("-a").arg(self.folder.path().join(from)).arg(&to).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("cp failed: {status}"))) }
    }

    /// The program and arguments that carry the operation out.
    pub(crate) fn call(&self) -> Vec<PathBuf> {
        match self.editor {
            Editor::Slipstitch => self.words(self.operation.call),
            Editor::Naive | Editor::Careless => {
                let kind = if self.editor == Editor::Naive { "naive" } else { "careless" };
                let own = [self.torture.clone(), worker::WORD.into(), kind.into()];
                let replace = operation::naive(&self.operation).iter();
                own.into_iter()
                    .chain(
                        replace.flat_map(|[path, old, new]| [self.root().join(path), old.into(), new.into()]),
                    )
                    .collect()
            }
        }
    }

    /// The arguments of a call of the program, itself first.
    fn words(&self, call: &[&str]) -> Vec<PathBuf> {
        let own = [
            self.slipstitch.clone(),
            "--root".into(),
            self.root(),
            "--state-dir".into(),
            self.state(),
            "--config".into(),
            self.spare("config.toml"),
        ];
        let given = call.iter().map(|word| match *word {
            "{patch}" => self.spare("patch"),
            word => word.into(),
        });
        own.into_iter().chain(given).collect()
    }

    /// A command without the user's own settings and without a terminal.
    pub(crate) fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut words = words.iter();
        let mut command = Command::new(words.next().map_or(OsStr::new("false"), AsRef::as_ref));
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for variable in ["SLIPSTITCH_STATE_DIR", "SLIPSTITCH_SESSION", "SLIPSTITCH_AGENT"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, call: &[&str]) -> Result<Answer, String> {
        let output = self.command(&self.words(call)).output();
        Ok(output.map_err(|error| format!("`slipstitch` cannot be run: {error}"))?.into())
    }

    /// Runs the program, which must succeed.
    pub(crate) fn expect(&self, call: &[&str]) -> Result<Answer, String> {
        let answer = self.run(call)?;
        match answer.is_success() {
            true => Ok(answer),
            false => Err(format!("`slipstitch {}` failed: {}", call.join(" "), answer.brief())),
        }
    }

    /// The root as it is now, and the temporary files in it.
    pub(crate) fn seen(&self) -> Result<(Tree, Vec<String>), String> {
        Tree::look(&self.root()).map_err(|error| format!("the root cannot be looked at: {error}"))
    }

    /// The state of each change in the journal, newest first. It is a start of the program too.
    pub(crate) fn journal(&self) -> Result<Vec<String>, String> {
        let answer = self.expect(&["log", "--all", "--json"])?;
        let listing: Value = serde_json::from_str(&answer.out)
            .map_err(|error| format!("`slipstitch log` printed no JSON: {error}"))?;
        let changes = listing["changes"].as_array().ok_or("`slipstitch log` listed no changes")?;
        Ok(changes.iter().map(|change| change["state"].as_str().unwrap_or("unknown").to_owned()).collect())
    }
}
