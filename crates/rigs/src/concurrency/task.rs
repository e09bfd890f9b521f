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
    /// Whether the protection is on.
    pub(super) protected: bool,
    /// How many seconds it may take.
    pub(super) seconds: u64,
}

/// The line that edits put their tokens in front of.
pub(super) const ANCHOR: &str = "next";
/// What a file begins with.
pub(super) const HEAD: &str = "tokens:";

impl Task {
    pub(super) fn to_word(&self) -> String {
        json!({
            "folder": self.folder, "name": self.name, "edits": self.edits, "files": self.files,
            "protected": self.protected, "seconds": self.seconds,
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
            protected: value["protected"].as_bool().unwrap_or(true),
            seconds: number("seconds")?,
        })
    }

    pub(super) fn root(&self) -> PathBuf {
        root(&self.folder)
    }

    pub(super) fn state(&self) -> PathBuf {
        self.folder.join("state")
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
