//! The server as a host starts it: its name, the program, its arguments.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use super::client::{Client, Facts, Places};
use crate::args::Global;

/// The server's name if none is given.
pub(super) const NAME: &str = "slipstitch";

/// Which host, and which of its files.
#[derive(Debug, Args)]
pub(super) struct Where {
    /// The host
    #[arg(long, value_enum, value_name = "HOST")]
    pub(super) client: Client,
    /// The project's own file, beneath the folder that `--root` names, instead of the user's
    #[arg(long)]
    pub(super) project: bool,
    /// The server's name in the host
    #[arg(long, value_name = "NAME", default_value = NAME, value_parser = server_name)]
    pub(super) name: String,
}

/// A server, as every host knows it in its own form.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) command: String,
    pub(super) args: Vec<String>,
}

impl Where {
    /// What is known of the host.
    pub(super) fn facts(&self) -> &'static Facts {
        self.client.facts()
    }

    /// The file that is meant.
    pub(super) fn file(&self, global: &Global) -> Result<PathBuf, Box<Report>> {
        let facts = self.facts();
        if !self.project {
            let places = Places::of_user().ok_or_else(no_home)?;
            return Ok(facts.user_file(&places));
        }
        let root = match global.root.as_slice() {
            [] => Path::new("."),
            [root] => root,
            several => return Err(one_project(several.len())),
        };
        let project = std::path::absolute(root).map_err(|error| no_folder(root, &error))?;
        if !project.is_dir() {
            return Err(no_folder(&project, &"it is not a folder"));
        }
        facts.project_file(&project).ok_or_else(|| {
            Report::custom(
                Status::Invalid,
                "no_project_file",
                format!("{} has no files of projects", facts.name),
            )
            .hint("Leave out `--project` to use the user's file.")
            .into()
        })
    }

    /// The arguments that say the same again.
    pub(super) fn said_again(&self) -> String {
        use clap::ValueEnum;
        let client = self.client.to_possible_value().map_or(String::new(), |value| value.get_name().into());
        let project = if self.project { " --project" } else { "" };
        let name = if self.name == NAME { String::new() } else { format!(" --name {}", self.name) };
        format!("--client {client}{project}{name}")
    }
}

/// The program as a host can start it: by its plain name if that leads to this one, else in full. A
/// project's file is shared with other machines, so it has the plain name in any case.
pub(super) fn program(shared: bool) -> Program {
    let here = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
    let plain = here.as_deref().is_none_or(|here| found_by_name(std::env::var_os("PATH").as_deref(), here));
    match here {
        Some(here) if !plain && !shared => Program { name: here.to_string_lossy().into_owned(), found: true },
        _ => Program { name: NAME.into(), found: plain },
    }
}

/// What a host starts.
pub(super) struct Program {
    pub(super) name: String,
    /// Whether it leads to this program, on this machine.
    pub(super) found: bool,
}

/// Whether the first program of our name among the folders of `path` is `here`.
fn found_by_name(path: Option<&OsStr>, here: &Path) -> bool {
    let candidates = path.map(std::env::split_paths).into_iter().flatten().map(|folder| folder.join(NAME));
    let mut there = candidates.filter_map(|program| program.canonicalize().ok());
    there.next().is_some_and(|found| found == here)
}

/// The arguments of the server.
pub(super) fn arguments(
    dialects: &[String],
    roots: &[PathBuf],
    rest: Vec<String>,
) -> Result<Vec<String>, Box<Report>> {
    let mut args = vec!["mcp".to_owned()];
    if !dialects.is_empty() {
        args.extend(["--dialect".into(), dialects.join(",")]);
    }
    for root in roots {
        let root = root.canonicalize().map_err(|error| no_folder(root, &error))?;
        let text = root.to_str().ok_or_else(|| no_folder(&root, &"its name is not UTF-8"))?;
        args.extend(["--root".into(), text.into()]);
    }
    args.extend(rest);
    Ok(args)
}

fn one_project(count: usize) -> Box<Report> {
    Report::custom(
        Status::Invalid,
        "bad_root",
        format!("{count} folders are given, and `--project` takes one"),
    )
    .hint("Give `--root` once: the project whose file is meant.")
    .into()
}

fn server_name(text: &str) -> Result<String, String> {
    let good = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    if text.is_empty() || !text.chars().all(good) {
        return Err("hosts take letters, digits, `-` and `_` in a server's name".into());
    }
    Ok(text.into())
}

fn no_home() -> Box<Report> {
    Report::custom(Status::Invalid, "no_home", "HOME is not set, so the user's files cannot be found")
        .hint("Set HOME, or use the project's file with `--project`.")
        .into()
}

fn no_folder(folder: &Path, why: &dyn std::fmt::Display) -> Box<Report> {
    let message = format!("the folder `{}` cannot be used: {why}", folder.display());
    Report::custom(Status::Invalid, "bad_root", message).hint("Name an existing folder with `--root`.").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_every_host_takes() {
        for name in ["slipstitch", "my-editor_2"] {
            assert_eq!(server_name(name).as_deref(), Ok(name));
        }
        for name in ["", "a b", "a.b", "a\"", "é", "a/b"] {
            assert!(server_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_first_program_of_the_name_counts() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let program = folder.path().join(name).join(NAME);
            std::fs::create_dir(program.parent().unwrap()).unwrap();
            std::fs::write(&program, "").unwrap();
            program.canonicalize().unwrap()
        };
        let (a, b) = (make("a"), make("b"));
        let path = std::env::join_paths([a.parent().unwrap(), b.parent().unwrap()]).unwrap();
        assert!(found_by_name(Some(&path), &a));
        assert!(!found_by_name(Some(&path), &b));
        assert!(!found_by_name(None, &a));
    }
}
