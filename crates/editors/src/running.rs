//! Emacs processes, wherever their servers are.
//!
//! An Emacs may listen in a folder of its choice, or have no server at all. The system's list of processes shows both. The first
//! kind is asked like every other server. The second kind cannot be asked, and with `create-lockfiles` off, unsaved changes leave
//! no trace until they are auto-saved (`auto_save.rs`); so the answer says so if that Emacs seems to have the file open. If it
//! does not, the answer says once that there is an Emacs that could not be asked.
//!
//! The system does not show more: Emacs reads a file and closes it, so neither its descriptors nor its memory maps name it.

use std::env;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use slipstitch_platform::process::{self, RunningProgram};

/// How long a list of processes is used. An edit asks several times, and a server makes many edits in that time.
const FRESH: Duration = Duration::from_millis(500);

/// The Emacs processes of a user in which someone may edit files, from a list at most half a second old.
pub(crate) fn find(user: u32) -> Vec<RunningProgram> {
    static LAST: Mutex<Option<(Instant, u32, Vec<RunningProgram>)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((at, of, programs)) = &*last
        && *of == user
        && at.elapsed() < FRESH
    {
        return programs.clone();
    }
    let mut programs = process::running_programs(user, is_emacs);
    programs.retain(|program| !is_batch(program));
    *last = Some((Instant::now(), user, programs.clone()));
    programs
}

/// How messages name a process.
pub(crate) fn describe(program: &RunningProgram) -> String {
    format!("Emacs (process {})", program.pid)
}

/// Why a process cannot be asked, as text that follows its name.
pub(crate) fn explain_silence(program: &RunningProgram) -> String {
    match program.ports[..] {
        [] => "has no server".into(),
        [port, ..] => format!("has a server on TCP port {port}, but no server file was found for it"),
    }
}

/// What the user can do so that the process can be asked.
pub(crate) fn remedy(program: &RunningProgram) -> &'static str {
    match program.ports.is_empty() {
        true => "M-x server-start starts one",
        false => "the setting `editors.emacs_server` can name it",
    }
}

/// Names such as `emacs`, `emacs-nox`, `emacs-29.4` and `.emacs-29.4-wrap`, but not `emacsclient`.
fn is_emacs(name: &str) -> bool {
    let name = name.trim_start_matches('.').to_ascii_lowercase();
    name == "emacs" || name.starts_with("emacs-")
}

/// Whether it runs a script, and nobody edits in it.
fn is_batch(program: &RunningProgram) -> bool {
    let is_batch = |word: &String| matches!(word.as_str(), "-batch" | "--batch" | "-script" | "--script");
    program.arguments.iter().any(is_batch)
}

/// Whether a process seems to have a file open: its command line names the file, or it was started in the file's folder or in one
/// above it, such as that of a project. The home folder is above everything, so it says nothing.
pub(crate) fn seems_to_have_open(program: &RunningProgram, file: &Path) -> bool {
    let Some(folder) = &program.folder else { return false };
    let is_named = program.arguments.iter().skip(1).any(|word| folder.join(word) == file);
    let is_telling = folder.parent().is_some() && env::home_dir().is_none_or(|home| *folder != home);
    is_named || (is_telling && file.starts_with(folder))
}

/// Whether, as far as we know, a process may have any file open. Not if it is a daemon that listens nowhere, which is starting or
/// ending, or has another home folder, because then it belongs to another environment, such as a test.
pub(crate) fn may_have_anything_open(program: &RunningProgram, home: Option<&Path>) -> bool {
    let is_daemon = |word: &String| {
        let option = word.trim_start_matches('-').split('=').next();
        word.starts_with('-') && matches!(option, Some("daemon" | "fg-daemon" | "bg-daemon"))
    };
    let is_between = program.ports.is_empty() && program.arguments.iter().any(is_daemon);
    home.is_some() && program.home.as_deref() == home && !is_between
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(folder: &str, arguments: &[&str]) -> RunningProgram {
        RunningProgram {
            pid: 7,
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            folder: Some(folder.into()),
            home: Some("/home/ada".into()),
            sockets: Vec::new(),
            ports: Vec::new(),
        }
    }

    #[test]
    fn programs_are_recognized_by_name() {
        for name in ["emacs", "Emacs", "emacs-nox", "emacs-29.4", ".emacs-29.4-wra"] {
            assert!(is_emacs(name), "{name}");
        }
        for name in ["emacsclient", "remacs", "vim", ""] {
            assert!(!is_emacs(name), "{name}");
        }
    }

    #[test]
    fn scripts_are_left_out() {
        assert!(is_batch(&program("/", &["emacs", "-Q", "--batch"])));
        assert!(!is_batch(&program("/", &["emacs", "a.txt"])));
    }

    #[test]
    fn a_file_seems_open_by_name_or_by_folder() {
        let file = Path::new("/project/src/a.rs");
        let seems = |folder: &str, arguments: &[&str]| seems_to_have_open(&program(folder, arguments), file);
        assert!(seems("/project", &["emacs"]) && seems("/project/src", &["emacs"]));
        assert!(seems("/", &["emacs", "/project/src/a.rs"]) && seems("/", &["emacs", "project/src/a.rs"]));
        assert!(!seems("/", &["emacs"]) && !seems("/other", &["emacs", "a.rs"]));
        assert!(!seems("/project/src/a", &["emacs"]));
        let home = env::home_dir().unwrap();
        assert!(!seems_to_have_open(&program(home.to_str().unwrap(), &["emacs"]), &home.join("a/b")));
    }

    #[test]
    fn daemons_and_other_homes_have_nothing_open() {
        let home = Some(Path::new("/home/ada"));
        assert!(may_have_anything_open(&program("/", &["emacs", "-nw"]), home));
        for option in ["--daemon", "--fg-daemon=work", "-daemon", "--bg-daemon"] {
            let mut daemon = program("/", &["emacs", option]);
            assert!(!may_have_anything_open(&daemon, home), "{option}");
            daemon.ports = vec![4242];
            assert!(may_have_anything_open(&daemon, home), "{option}");
        }
        assert!(may_have_anything_open(&program("/", &["emacs", "daemon"]), home), "the name of a file");
        assert!(!may_have_anything_open(&program("/", &["emacs"]), Some(Path::new("/home/bob"))));
        assert!(!may_have_anything_open(&program("/", &["emacs"]), None));
    }
}
