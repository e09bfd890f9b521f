//! Who carries out an attack: the engine, or a tool that checks paths as many do.

use slipstitch::core::outcome::Failed;
use slipstitch::core::outcome::Outcome;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use slipstitch::{Fsync, Workspace};

use super::ground::Ground;
use super::verbs::{On, Verb};

/// What an attack was answered.
#[derive(Debug)]
pub(super) struct Said {
    /// Everything that the caller gets to see.
    pub(super) text: String,
    /// Why a refusal is not a clear one.
    pub(super) unclear: Option<String>,
    pub(super) done: bool,
}

/// Carries out attacks.
pub(super) trait Hand {
    /// Uses a tool on a path.
    fn use_tool(&self, verb: &Verb, path: &str) -> Said;

    /// Applies a patch.
    fn patch(&self, text: &str) -> Said;
}

/// The engine as users have it.
#[derive(Debug)]
pub(super) struct Engine(Workspace);

impl Engine {
    pub(super) fn new(ground: &Ground) -> Result<Self, String> {
        let config = ground.state().with_extension("toml");
        fs::write(&config, "[editors]\nemacs = false\n").map_err(|error| error.to_string())?;
        let open =
            Workspace::builder(ground.root()).state_dir(ground.state()).config(config).fsync(Fsync::Off);
        open.open().map(Self).map_err(|error| error.to_string())
    }

    fn call(&self, dialect: &str, tool: &str, arguments: Value) -> Said {
        let answer = self.0.call(dialect, tool, arguments);
        let report = &answer.report;
        let done = report.is_success();
        let plain = report.message.len() > 5 && report.hint.as_ref().is_some_and(|hint| hint.len() > 5);
        let vague = matches!(report.outcome, Outcome::Failed(Failed::Io | Failed::Journal));
        let unclear = (!done && (!plain || vague)).then(|| format!("{}: {}", report.code(), report.message));
        let data = serde_json::to_string(report).unwrap_or_default();
        Said { text: format!("{}\n{data}\n{:?}", answer.text, answer.payload), unclear, done }
    }
}

impl Hand for Engine {
    fn use_tool(&self, verb: &Verb, path: &str) -> Said {
        self.call(verb.dialect, verb.tool, (verb.arguments)(path))
    }

    fn patch(&self, text: &str) -> Said {
        self.call("native", "patch", serde_json::json!({ "patch": text }))
    }
}

/// A tool that puts the path behind the root, takes `..` away by the letter, and sees whether the root is in front.
#[derive(Debug)]
pub(super) struct Lexical(pub(super) PathBuf);

impl Lexical {
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let mut plain = PathBuf::new();
        for part in self.0.join(path).components() {
            match part {
                Component::ParentDir => drop(plain.pop()),
                part => plain.push(part),
            }
        }
        plain.starts_with(&self.0).then_some(plain)
    }

    fn in_the_rig(&self, path: &Path) -> bool {
        let really = |path: Option<&Path>| path.and_then(|path| path.canonicalize().ok());
        let above = really(path.parent()).zip(really(self.0.parent()));
        // A symlink that leads to nothing would be followed by the write.
        !path.is_symlink() && above.is_some_and(|(above, rig)| above.starts_with(&rig) && above != rig)
    }

    fn act(&self, on: On, path: &Path) -> io::Result<String> {
        // It looks before it opens, or a pipe would hold it up for ever.
        let regular = fs::metadata(path).map(|found| found.is_file());
        match (on, regular) {
            (On::Folder, _) => {
                let names: Result<Vec<_>, _> =
                    fs::read_dir(path)?.map(|entry| Ok::<_, io::Error>(entry?.file_name())).collect();
                Ok(format!("{:?}", names?))
            }
            (_, Ok(false)) => Err(io::ErrorKind::InvalidInput.into()),
            (On::File, _) => fs::read_to_string(path),
            (On::Nothing, Ok(true)) => Err(io::ErrorKind::AlreadyExists.into()),
            // It may leave the root, but not the rig: symlinks there lead to the whole machine.
            (On::Nothing, _) if !self.in_the_rig(path) => Err(io::ErrorKind::PermissionDenied.into()),
            (On::Nothing, _) => fs::write(path, "taken\n").map(|()| String::new()),
        }
    }
}

impl Hand for Lexical {
    fn use_tool(&self, verb: &Verb, path: &str) -> Said {
        let done = self.inside(path).map(|path| self.act(verb.on, &path));
        match done {
            Some(Ok(text)) => Said { text, unclear: None, done: true },
            _ => Said { text: String::new(), unclear: None, done: false },
        }
    }

    fn patch(&self, _: &str) -> Said {
        Said { text: String::new(), unclear: None, done: false }
    }
}
