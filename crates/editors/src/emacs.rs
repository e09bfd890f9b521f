//! A running Emacs, asked through `emacsclient`.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{lisp, socket};

/// The Emacs server of this user, if one is running.
///
/// One that does not run, does not answer in time or fails has nothing open: it never stands in an edit's way.
#[derive(Debug, Clone, Default)]
pub struct Emacs {
    server: Option<String>,
}

impl Emacs {
    /// What the editor is called in messages.
    pub const NAME: &str = "Emacs";

    /// How long an answer is waited for, over all the questions of one look.
    pub const WAIT: Duration = Duration::from_secs(2);

    /// How often the client is looked at meanwhile.
    const PAUSE: Duration = Duration::from_millis(3);

    /// How many bytes of names go into one question: a system takes no longer argument than 128 KiB.
    const MAX_NAME_BYTES: usize = 24 << 10;

    /// The most bytes of an answer that are looked at: a number has fewer.
    const MAX_ANSWER_BYTES: u64 = 64;

    /// The server called `server`, a name or the path of its socket; the usual one if none is given.
    pub fn new(server: Option<String>) -> Self {
        Self { server }
    }

    /// The place in `names` of a file with a buffer that has unsaved changes.
    pub(crate) fn first_unsaved(&self, names: &[String]) -> Option<usize> {
        let socket = socket::find(self.server.as_deref())?;
        let deadline = Instant::now() + Self::WAIT;
        let mut passed = 0_usize;
        for part in parts(names, Self::MAX_NAME_BYTES) {
            let answer = evaluate(&socket, &lisp::first_unsaved(part), deadline)?;
            if let Ok(at) = answer.trim().parse::<usize>() {
                return passed.checked_add(at).filter(|at| *at < names.len());
            }
            passed += part.len();
        }
        None
    }

    /// Reads the buffers of `names` again, except those with unsaved changes.
    pub(crate) fn revert(&self, names: &[String]) {
        let Some(socket) = socket::find(self.server.as_deref()) else { return };
        let deadline = Instant::now() + Self::WAIT;
        for part in parts(names, Self::MAX_NAME_BYTES) {
            if evaluate(&socket, &lisp::revert(part), deadline).is_none() {
                return;
            }
        }
    }
}

/// The names in their order, in parts that hold no more than `most` bytes or a single name.
fn parts(names: &[String], most: usize) -> Vec<&[String]> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, name) in names.iter().enumerate() {
        if at > start && bytes + name.len() > most {
            parts.push(&names[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += name.len();
    }
    if start < names.len() {
        parts.push(&names[start..]);
    }
    parts
}

/// What Emacs prints as the value of an expression; `None` if it fails or the time is up.
fn evaluate(socket: &Path, expression: &str, deadline: Instant) -> Option<String> {
    let mut client = Command::new("emacsclient")
        // Without a server, these would have it start another editor, or ask another machine.
        .env_remove("ALTERNATE_EDITOR")
        .env_remove("EMACS_SERVER_FILE")
        .arg("--quiet")
        .arg("--socket-name")
        .arg(socket)
        .arg("--eval")
        .arg(expression)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    if !ends_well(&mut client, deadline) {
        return None;
    }
    let mut answer = String::new();
    client.stdout.take()?.take(Emacs::MAX_ANSWER_BYTES).read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// Waits for a program until the deadline, and ends it then.
fn ends_well(program: &mut Child, deadline: Instant) -> bool {
    loop {
        match program.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < deadline => thread::sleep(Emacs::PAUSE),
            Ok(None) | Err(_) => {
                // It may have ended by itself by now; either way it is gone and waited for.
                let _ = program.kill();
                let _ = program.wait();
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn parts_hold_all_names_in_order_and_stay_small() {
        let names: Vec<String> = ["aa", "bb", "ccccc", "d", "e"].map(String::from).into();
        assert_eq!(parts(&names, 4), [&names[..2], &names[2..3], &names[3..]]);
        assert!(parts(&[], 4).is_empty());
    }

    #[test]
    fn without_a_server_nothing_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let emacs = Emacs::new(Some(folder.path().join("none").display().to_string()));
        assert_eq!(emacs.first_unsaved(&["/a".into()]), None);
        emacs.revert(&["/a".into()]);
    }

    #[test]
    fn a_server_that_never_answers_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _silent = UnixListener::bind(&socket).unwrap();
        let names: Vec<String> = (0..3000).map(|number| format!("/folder/{number:060}")).collect();
        let begin = Instant::now();
        assert_eq!(Emacs::new(Some(socket.display().to_string())).first_unsaved(&names), None);
        // The client did wait for the server, so it was ended here.
        assert!(begin.elapsed() >= Emacs::WAIT);
    }
}
