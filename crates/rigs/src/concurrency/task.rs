//! The task of a worker process, passed on its command line.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What a worker has to do.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// Folder of the run, with root, state and logs.
    pub(super) folder: PathBuf,
    /// Name of the worker and prefix of its tokens.
    pub(super) name: String,
    /// How many edits must be acknowledged. Foreign writers continue until they are stopped.
    pub(super) edits: usize,
    /// The files to edit.
    pub(super) files: Vec<String>,
    /// What protects the edits of other writers.
    pub(super) safeguards: Safeguards,
    /// Time limit.
    pub(super) seconds: u64,
}

/// What protects the writers of one file from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Safeguards {
    /// Locks and checks, as in production.
    All,
    /// No locks and no look right before the rename, but the file that the rename displaces is still checked.
    NoLocks,
    /// No locks either, and the file is checked only before the rename.
    NoLocksNoChecks,
}

impl Safeguards {
    const NAMES: [(Self, &str); 3] =
        [(Self::All, "all"), (Self::NoLocks, "no locks"), (Self::NoLocksNoChecks, "no locks or checks")];

    pub(super) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(known, _)| *known == self).map_or("all", |(_, name)| name)
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(safeguards, _)| *safeguards)
    }
}

/// The line before which edits insert their tokens.
pub(super) const ANCHOR: &str = "next";
/// The first line of every file.
pub(super) const HEADER: &str = "tokens:";

impl Task {
    /// The task as a command-line argument, in JSON.
    pub(super) fn to_arg(&self) -> String {
        json!({
            "folder": self.folder, "name": self.name, "edits": self.edits, "files": self.files,
            "safeguards": self.safeguards.name(), "seconds": self.seconds,
        })
        .to_string()
    }

    pub(super) fn from_args(args: &[String]) -> Result<Self, String> {
        let arg = args.first().ok_or("missing task argument")?;
        let value: Value = serde_json::from_str(arg).map_err(|error| format!("invalid task: {error}"))?;
        let missing = |name: &str| format!("the task has no `{name}`");
        let text = |name: &str| value[name].as_str().map(str::to_owned).ok_or_else(|| missing(name));
        let number = |name: &str| value[name].as_u64().ok_or_else(|| missing(name));
        let files = value["files"].as_array().ok_or_else(|| missing("files"))?;
        Ok(Self {
            folder: text("folder")?.into(),
            name: text("name")?,
            edits: usize::try_from(number("edits")?).unwrap_or(usize::MAX),
            files: files.iter().filter_map(|file| file.as_str().map(str::to_owned)).collect(),
            safeguards: Safeguards::from_name(&text("safeguards")?)
                .ok_or("the task has unknown `safeguards`")?,
            seconds: number("seconds")?,
        })
    }

    pub(super) fn root(&self) -> PathBuf {
        root_path(&self.folder)
    }

    pub(super) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    pub(super) fn config(&self) -> PathBuf {
        self.folder.join("config.toml")
    }

    /// The files that foreign writers write to.
    pub(super) fn shared_files(&self) -> &[String] {
        &self.files[..self.files.len().div_ceil(2)]
    }

    /// The files that foreign writers leave alone. Edits of two files use these: after a kill in the middle of one, a foreign
    /// write can make it impossible to complete or revert both files.
    pub(super) fn exclusive_files(&self) -> &[String] {
        &self.files[self.files.len().div_ceil(2)..]
    }

    /// The worker's log; a restarted worker continues it.
    pub(super) fn log(&self) -> PathBuf {
        self.folder.join(format!("log-{}", self.name))
    }

    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_secs(self.seconds)
    }
}

pub(super) fn root_path(folder: &Path) -> PathBuf {
    folder.join("root")
}

/// One byte per acknowledged edit, by which foreign writers pace themselves.
pub(super) fn progress_file(folder: &Path) -> PathBuf {
    folder.join("progress")
}

/// Foreign writers stop when this file exists.
pub(super) fn stop_file(folder: &Path) -> PathBuf {
    folder.join("stop")
}
