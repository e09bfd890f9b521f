//! What a worker process is told on its command line.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What a worker has to do.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// The folder of the run: root, state, diaries.
    pub(super) folder: PathBuf,
    /// Who it is: also how its tokens begin.
    pub(super) name: String,
    /// How many edits must be acknowledged; foreign writers go on until they are stopped.
    pub(super) edits: usize,
    /// The files to edit.
    pub(super) files: Vec<String>,
    /// What keeps it from the others' edits.
    pub(super) guard: Guard,
    /// How many seconds it may take.
    pub(super) seconds: u64,
}

/// What keeps two writers of one file apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    /// Everything that users have.
    On,
    /// No locks; what a change displaces is still looked at.
    NoLocks,
    /// No locks, and no look at what is displaced: the check comes before the rename, and nothing after it.
    NothingChecked,
}

impl Guard {
    const ALL: [(Self, &str); 3] =
        [(Self::On, "on"), (Self::NoLocks, "no locks"), (Self::NothingChecked, "nothing checked")];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(guard, _)| *guard == self).map_or("on", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(guard, _)| *guard)
    }
}

/// The line that edits put their tokens in front of.
pub(super) const ANCHOR: &str = "next";
/// What a file begins with.
pub(super) const HEAD: &str = "tokens:";

impl Task {
    pub(super) fn to_word(&self) -> String {
        json!({
            "folder": self.folder, "name": self.name, "edits": self.edits, "files": self.files,
            "guard": self.guard.name(), "seconds": self.seconds,
        })
        .to_string()
    }

    pub(super) fn from_words(words: &[String]) -> Result<Self, String> {
        let word = words.first().ok_or("there is no task")?;
        let value: Value =
            serde_json::from_str(word).map_err(|error| format!("the task cannot be read: {error}"))?;
        let text =
            |name: &str| value[name].as_str().map(str::to_owned).ok_or(format!("the task has no {name}"));
        let number = |name: &str| value[name].as_u64().ok_or(format!("the task has no {name}"));
        let files = value["files"].as_array().ok_or("the task has no files")?;
        Ok(Self {
            folder: text("folder")?.into(),
            name: text("name")?,
            edits: usize::try_from(number("edits")?).unwrap_or(usize::MAX),
            files: files.iter().filter_map(|file| file.as_str().map(str::to_owned)).collect(),
            guard: Guard::named(&text("guard")?).ok_or("the task names no guard")?,
            seconds: number("seconds")?,
        })
    }

    pub(super) fn root(&self) -> PathBuf {
        root(&self.folder)
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

    /// The files that they leave alone. Changes of two files are made here: after a kill in the middle of one, a foreign
    /// writer can make it impossible to bring both files to one side.
    pub(super) fn own_files(&self) -> &[String] {
        &self.files[self.files.len().div_ceil(2)..]
    }

    /// Where the process writes down what it does; a process that takes over goes on with it.
    pub(super) fn diary(&self) -> PathBuf {
        self.folder.join(format!("diary-{}", self.name))
    }

    /// When it must be done.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_secs(self.seconds)
    }
}

pub(super) fn root(folder: &Path) -> PathBuf {
    folder.join("root")
}

/// Foreign writers end when this file is there.
pub(super) fn stop(folder: &Path) -> PathBuf {
    folder.join("stop")
}
