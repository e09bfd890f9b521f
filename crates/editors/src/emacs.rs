//! Queries and updates a running Emacs through `emacsclient`.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{lisp, socket};

/// The Emacs server of this user, if one is running.
///
/// If it is not running, fails or does not answer in time, it counts as having no buffers: an editor never blocks an edit.
#[derive(Debug, Clone, Default)]
pub struct Emacs {
    server: Option<String>,
}

impl Emacs {
    /// The editor's name in messages.
    pub const NAME: &str = "Emacs";

    /// Time limit for all calls of `emacsclient` for one change.
    pub const TIMEOUT: Duration = Duration::from_secs(2);

    /// Interval at which a running `emacsclient` is polled.
    const POLL_INTERVAL: Duration = Duration::from_millis(3);

    /// Maximum bytes of file names in one expression. Linux limits an argument to 128 KiB, and escaping makes names longer.
    const MAX_NAME_BYTES: usize = 24 << 10;

    /// Maximum bytes read of an answer, which is a number or `nil`.
    const MAX_ANSWER_BYTES: u64 = 64;

    /// The server with this name or socket path; the default server if `None`.
    pub fn new(server: Option<String>) -> Self {
        Self { server }
    }

    /// The index in `names` of a file that has unsaved changes in a buffer.
    pub(crate) fn find_unsaved(&self, names: &[String]) -> Option<usize> {
        let socket = socket::find(self.server.as_deref())?;
        let deadline = Instant::now() + Self::TIMEOUT;
        let mut offset = 0_usize;
        for batch in split_into_batches(names, Self::MAX_NAME_BYTES) {
            let answer = evaluate(&socket, &lisp::find_unsaved(batch), deadline)?;
            if let Ok(index) = answer.trim().parse::<usize>() {
                return offset.checked_add(index).filter(|index| *index < names.len());
            }
            offset += batch.len();
        }
        None
    }

    /// Reloads the buffers of `names`, except those with unsaved changes.
    pub(crate) fn revert(&self, names: &[String]) {
        let Some(socket) = socket::find(self.server.as_deref()) else { return };
        let deadline = Instant::now() + Self::TIMEOUT;
        for batch in split_into_batches(names, Self::MAX_NAME_BYTES) {
            if evaluate(&socket, &lisp::revert(batch), deadline).is_none() {
                return;
            }
        }
    }
}

/// Splits the names into consecutive batches of at most `max` bytes; a longer name is a batch by itself.
fn split_into_batches(names: &[String], max: usize) -> Vec<&[String]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, name) in names.iter().enumerate() {
        if index > start && bytes + name.len() > max {
            batches.push(&names[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += name.len();
    }
    if start < names.len() {
        batches.push(&names[start..]);
    }
    batches
}

/// Evaluates an expression and returns the printed value; `None` if that fails or takes too long.
fn evaluate(socket: &Path, expression: &str, deadline: Instant) -> Option<String> {
    let mut client = Command::new("emacsclient")
        // With these, it could start another editor or connect to another machine.
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
    if !wait_for_success(&mut client, deadline) {
        return None;
    }
    let mut answer = String::new();
    client.stdout.take()?.take(Emacs::MAX_ANSWER_BYTES).read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// Whether a process succeeds before the deadline; it is killed at the deadline.
fn wait_for_success(process: &mut Child, deadline: Instant) -> bool {
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < deadline => thread::sleep(Emacs::POLL_INTERVAL),
            Ok(None) | Err(_) => {
                // Errors do not matter: it may have exited meanwhile.
                let _ = process.kill();
                let _ = process.wait();
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
    fn batches_keep_order_and_respect_the_size_limit() {
        let names: Vec<String> = ["aa", "bb", "ccccc", "d", "e"].map(String::from).into();
        assert_eq!(split_into_batches(&names, 4), [&names[..2], &names[2..3], &names[3..]]);
        assert!(split_into_batches(&[], 4).is_empty());
    }

    #[test]
    fn no_server_means_no_buffers() {
        let folder = tempfile::tempdir().unwrap();
        let emacs = Emacs::new(Some(folder.path().join("none").display().to_string()));
        assert_eq!(emacs.find_unsaved(&["/a".into()]), None);
        emacs.revert(&["/a".into()]);
    }

    #[test]
    fn gives_up_on_a_server_that_never_answers() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _silent = UnixListener::bind(&socket).unwrap();
        let names: Vec<String> = (0..3000).map(|number| format!("/folder/{number:060}")).collect();
        let start = Instant::now();
        assert_eq!(Emacs::new(Some(socket.display().to_string())).find_unsaved(&names), None);
        // The client did connect, and was killed at the deadline.
        assert!(start.elapsed() >= Emacs::TIMEOUT);
    }
}
