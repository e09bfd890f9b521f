//! What changes the file: the program as some user, or a tool that renames a new file over the old one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A change to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Replace,
    Append,
    Overwrite,
    Move,
    /// A replacement and its undo.
    Undo,
    /// A deletion and its undo.
    UndoDeletion,
}

impl Change {
    pub(super) const ALL: [Self; 6] =
        [Self::Replace, Self::Append, Self::Overwrite, Self::Move, Self::Undo, Self::UndoDeletion];

    /// The content of the file after the change.
    pub(super) fn apply_to(self, before: &str) -> String {
        match self {
            Self::Replace => before.replace("one", "two"),
            Self::Append => format!("{before}more\n"),
            Self::Overwrite => "all new\n".into(),
            Self::Move | Self::Undo | Self::UndoDeletion => before.into(),
        }
    }
}

/// The response to a change.
#[derive(Debug)]
pub(super) enum Response {
    Applied,
    /// Refused with this code.
    Refused(String),
}

#[derive(Debug)]
pub(super) enum Editor {
    /// The program, run as root or as another user.
    Slipstitch { program: PathBuf, user: Option<u32> },
    /// Writes a temporary file and renames it over the old one.
    RenameOver,
}

impl Editor {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Slipstitch { user: None, .. } => "as root",
            Self::Slipstitch { user: Some(_), .. } => "as nobody",
            Self::RenameOver => "temporary file and rename",
        }
    }

    /// Makes the change to `root/f` beneath `base`.
    pub(super) fn make_change(&self, change: Change, base: &Path) -> Result<Response, String> {
        match self {
            Self::RenameOver => rename_over(change, &base.join("root")).map(|()| Response::Applied),
            Self::Slipstitch { program, user } => {
                let run = |args: &[&str]| run_slipstitch(program, *user, base, args);
                let replace = ["edit", "f", "--old", "one", "--new", "two"];
                match change {
                    Change::Replace => run(&replace),
                    Change::Append => run(&["append", "f", "--content", "more\n"]),
                    Change::Overwrite => run(&["write", "f", "--content", "all new\n"]),
                    Change::Move => run(&["patch", &base.join("move.diff").to_string_lossy()]),
                    Change::UndoDeletion => {
                        match run(&["patch", &base.join("delete.diff").to_string_lossy()])? {
                            Response::Applied => run(&["undo"]),
                            refused => Ok(refused),
                        }
                    }
                    Change::Undo => match run(&replace)? {
                        Response::Applied => run(&["undo"]),
                        refused => Ok(refused),
                    },
                }
            }
        }
    }
}

fn run_slipstitch(program: &Path, user: Option<u32>, base: &Path, args: &[&str]) -> Result<Response, String> {
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
    let output = command.args(args).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(Response::Applied);
    }
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!("{args:?} printed no JSON: {error}: {}", String::from_utf8_lossy(&output.stderr))
    })?;
    let text = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
    if text("message").is_empty() || text("hint").is_empty() {
        return Err(format!("{args:?} was refused without a message or hint: {report}"));
    }
    Ok(Response::Refused(text("code")))
}

fn rename_over(change: Change, root: &Path) -> Result<(), String> {
    let (file, temp) = (root.join("f"), root.join("f.tmp"));
    let write = |text: &str| {
        fs::write(&temp, text)?;
        fs::rename(&temp, &file)
    };
    let done = fs::read_to_string(&file).and_then(|before| match change {
        Change::Move => {
            fs::write(root.join("g"), &before)?;
            fs::remove_file(&file)
        }
        Change::UndoDeletion => {
            fs::remove_file(&file)?;
            write(&before)
        }
        Change::Undo => {
            write(&Change::Replace.apply_to(&before))?;
            write(&before)
        }
        change => write(&change.apply_to(&before)),
    });
    done.map_err(|error| error.to_string())
}
