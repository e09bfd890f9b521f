//! Who changes the file: the program as some user, or a tool that writes a new file in its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Replace,
    Append,
    Overwrite,
    Move,
    Undo,
}

impl Verb {
    pub(super) const ALL: [Self; 5] = [Self::Replace, Self::Append, Self::Overwrite, Self::Move, Self::Undo];

    /// The file's bytes after it.
    pub(super) fn result(self, before: &str) -> String {
        match self {
            Self::Replace => before.replace("one", "two"),
            Self::Append => format!("{before}more\n"),
            Self::Overwrite => "all new\n".into(),
            Self::Move | Self::Undo => before.into(),
        }
    }
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Answer {
    Done,
    /// With the code.
    Refused(String),
}

/// Whoever changes files.
#[derive(Debug)]
pub(super) enum Actor {
    /// The program, run by root or by a user without rights.
    Program { program: PathBuf, user: Option<u32> },
    /// A temporary file and a rename.
    Naive,
}

impl Actor {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Program { user: None, .. } => "as root",
            Self::Program { user: Some(_), .. } => "as nobody",
            Self::Naive => "temporary file and rename",
        }
    }

    /// Carries out `verb` on `f` in the root.
    pub(super) fn act(&self, verb: Verb, base: &Path) -> Result<Answer, String> {
        match self {
            Self::Naive => naive(verb, &base.join("root")).map(|()| Answer::Done),
            Self::Program { program, user } => {
                let run = |words: &[&str]| call(program, *user, base, words);
                let replace = ["edit", "f", "--old", "one", "--new", "two"];
                match verb {
                    Verb::Replace => run(&replace),
                    Verb::Append => run(&["append", "f", "--content", "more\n"]),
                    Verb::Overwrite => run(&["write", "f", "--content", "all new\n"]),
                    Verb::Move => run(&["patch", &base.join("move.diff").to_string_lossy()]),
                    Verb::Undo => match run(&replace)? {
                        Answer::Done => run(&["undo"]),
                        refused => Ok(refused),
                    },
                }
            }
        }
    }
}

fn call(program: &Path, user: Option<u32>, base: &Path, words: &[&str]) -> Result<Answer, String> {
    let mut command = match user {
        None => Command::new(program),
        Some(id) => {
            let mut command = Command::new("setpriv");
            command.args([format!("--reuid={id}"), format!("--regid={id}"), "--clear-groups".into()]);
            command.arg("--").arg(program);
            command
        }
    };
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", base).current_dir(base);
    command.args(["--json", "--no-fsync", "--root"]).arg(base.join("root"));
    command.arg("--state-dir").arg(base.join("state")).arg("--config").arg(base.join("config.toml"));
    let done = command.args(words).output().map_err(|error| error.to_string())?;
    if done.status.success() {
        return Ok(Answer::Done);
    }
    let report: Value = serde_json::from_slice(&done.stdout).map_err(|error| {
        format!("{words:?} is not answered in JSON: {error}: {}", String::from_utf8_lossy(&done.stderr))
    })?;
    let text = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
    if text("message").is_empty() || text("hint").is_empty() {
        return Err(format!("{words:?} is refused without a reason: {report}"));
    }
    Ok(Answer::Refused(text("code")))
}

fn naive(verb: Verb, root: &Path) -> Result<(), String> {
    let (file, temp) = (root.join("f"), root.join("f.tmp"));
    let write = |text: &str| {
        fs::write(&temp, text)?;
        fs::rename(&temp, &file)
    };
    let done = fs::read_to_string(&file).and_then(|before| match verb {
        Verb::Move => {
            fs::write(root.join("g"), &before)?;
            fs::remove_file(&file)
        }
        Verb::Undo => {
            write(&Verb::Replace.result(&before))?;
            write(&before)
        }
        verb => write(&verb.result(&before)),
    });
    done.map_err(|error| error.to_string())
}
