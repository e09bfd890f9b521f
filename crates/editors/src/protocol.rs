//! The protocol of the Emacs server.
//!
//! A client sends one line of words and reads lines until the server closes the connection. In words, spaces, newlines, `&` and
//! a leading `-` are escaped with `&`.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use slipstitch_platform::local_socket::{self, LocalStream};

use crate::locations::{Address, Server};

/// Maximum bytes read of an answer.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Why a server did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AskError {
    /// Nobody listens: the server is gone.
    NotRunning,
    /// It is there, but did not answer in time.
    Silent,
    /// It cannot be asked, or answered with an error.
    Failed(String),
}

impl From<io::Error> for AskError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Silent,
            io::ErrorKind::NotFound
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => Self::NotRunning,
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// A connection to a server.
enum Connection {
    Socket(LocalStream),
    Tcp(TcpStream),
}

/// Evaluates an expression and returns the printed value.
pub(crate) fn evaluate(server: &Server, expression: &str, deadline: Instant) -> Result<String, AskError> {
    let mut connection = send(server, expression, deadline)?;
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        connection.set_timeout(remaining(deadline)?)?;
        match connection.reader().read(&mut chunk)? {
            0 => break,
            count => answer.extend_from_slice(&chunk[..count]),
        }
        if answer.len() > MAX_ANSWER_BYTES {
            return Err(AskError::Failed("its answer is too long".into()));
        }
    }
    parse_answer(&String::from_utf8_lossy(&answer))
}

/// Sends an expression and does not wait for the answer: the server evaluates it when it is free, if this process still runs
/// then. A server evaluates nothing for a client that is gone, so a thread keeps the connection open.
pub(crate) fn evaluate_later(server: &Server, expression: &str, deadline: Instant) -> Result<(), AskError> {
    let mut connection = send(server, expression, deadline)?;
    connection.set_timeout(MAX_WAIT)?;
    let mut waiting = waiting();
    if *waiting >= MAX_WAITING {
        return Err(AskError::Silent);
    }
    *waiting += 1;
    thread::spawn(move || {
        // Until the server closes the connection.
        let _ = io::copy(connection.reader(), &mut io::sink());
        *self::waiting() -= 1;
        ANSWERED.notify_all();
    });
    Ok(())
}

/// Waits until the servers that did not answer in time have reloaded their buffers, but no longer than `limit`. For a process
/// that is about to end: a server evaluates nothing for a client that is gone.
pub fn finish_reloads(limit: Duration) {
    let is_unfinished = |waiting: &mut usize| *waiting > 0 && !ABANDONED.load(Ordering::Acquire);
    let result = ANSWERED.wait_timeout_while(waiting(), limit, is_unfinished);
    drop(result.unwrap_or_else(PoisonError::into_inner));
}

/// Ends [`finish_reloads`] at once, now or when it is called, because the process was asked to end.
pub fn abandon_reloads() {
    let waiting = waiting();
    ABANDONED.store(true, Ordering::Release);
    drop(waiting);
    ANSWERED.notify_all();
}

/// Whether reloads are no longer waited for.
static ABANDONED: AtomicBool = AtomicBool::new(false);

/// How many threads wait for servers that did not answer in time.
static WAITING: Mutex<usize> = Mutex::new(0);

/// Notified whenever one of them is done.
static ANSWERED: Condvar = Condvar::new();

fn waiting() -> MutexGuard<'static, usize> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of such threads.
const MAX_WAITING: usize = 16;

/// How long such a thread waits.
const MAX_WAIT: Duration = Duration::from_secs(600);

fn send(server: &Server, expression: &str, deadline: Instant) -> Result<Connection, AskError> {
    let (mut connection, auth) = match &server.address {
        Address::Socket => (Connection::Socket(local_socket::connect(&server.path)?), String::new()),
        Address::Tcp { address, key } => {
            let stream = TcpStream::connect_timeout(address, remaining(deadline)?)?;
            (Connection::Tcp(stream), format!("-auth {key} "))
        }
        Address::Unusable(reason) => return Err(AskError::Failed(reason.clone())),
    };
    connection.set_timeout(remaining(deadline)?)?;
    let request = format!("{auth}-current-frame -eval {} \n", quote_word(expression));
    connection.writer().write_all(request.as_bytes())?;
    Ok(connection)
}

/// The time until the deadline. Zero would mean no limit, so it is an error.
fn remaining(deadline: Instant) -> Result<Duration, AskError> {
    Some(deadline.saturating_duration_since(Instant::now()))
        .filter(|left| !left.is_zero())
        .ok_or(AskError::Silent)
}

impl Connection {
    fn set_timeout(&self, limit: Duration) -> io::Result<()> {
        match self {
            Self::Socket(stream) => {
                stream.set_read_timeout(Some(limit))?;
                stream.set_write_timeout(Some(limit))
            }
            Self::Tcp(stream) => {
                stream.set_read_timeout(Some(limit))?;
                stream.set_write_timeout(Some(limit))
            }
        }
    }

    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Self::Socket(stream) => stream,
            Self::Tcp(stream) => stream,
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Socket(stream) => stream,
            Self::Tcp(stream) => stream,
        }
    }
}

/// Finds the printed value in the server's lines.
fn parse_answer(answer: &str) -> Result<String, AskError> {
    let mut printed: Option<String> = None;
    for line in answer.lines() {
        let (command, word) = line.split_once(' ').unwrap_or((line, ""));
        match command {
            "-print" | "-print-nonl" => printed.get_or_insert_default().push_str(&unquote_word(word)),
            "-error" => return Err(AskError::Failed(unquote_word(word).trim().to_owned())),
            // The server's process id, and commands of later versions.
            _ => {}
        }
    }
    // A server that was killed closes the connection without an answer.
    printed.ok_or(AskError::NotRunning)
}

fn quote_word(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for (at, c) in text.char_indices() {
        match c {
            ' ' => out.push_str("&_"),
            '\n' => out.push_str("&n"),
            '&' => out.push_str("&&"),
            '-' if at == 0 => out.push_str("&-"),
            c => out.push(c),
        }
    }
    out
}

fn unquote_word(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '&' => match chars.next() {
                Some('_') => out.push(' '),
                Some('n') => out.push('\n'),
                Some(escaped) => out.push(escaped),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn on_socket(path: PathBuf) -> Server {
        Server { name: "test".into(), path, address: Address::Socket, program: None }
    }

    proptest! {
        #[test]
        fn words_round_trip_and_stay_one_word(text in any::<String>()) {
            let word = quote_word(&text);
            prop_assert!(!word.contains([' ', '\n']) && !word.starts_with('-'));
            prop_assert_eq!(unquote_word(&word), text);
        }
    }

    #[test]
    fn answers_are_parsed() {
        assert_eq!(parse_answer("-emacs-pid 5\n-print 17&n\n"), Ok("17\n".into()));
        assert_eq!(parse_answer("-print-nonl a&_\n-print-nonl b\n"), Ok("a b".into()));
        let refused = parse_answer("-error Authentication&_failed\n");
        assert_eq!(refused, Err(AskError::Failed("Authentication failed".into())));
        assert_eq!(parse_answer("-emacs-pid 5\n"), Err(AskError::NotRunning));
    }

    #[test]
    fn a_socket_without_a_listener_is_not_a_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        assert_eq!(evaluate(&on_socket(path.clone()), "t", soon()), Err(AskError::NotRunning));
        drop(UnixListener::bind(&path).unwrap());
        assert_eq!(evaluate(&on_socket(path), "t", soon()), Err(AskError::NotRunning));
    }

    #[test]
    fn a_server_that_never_answers_is_silent_even_when_its_queue_is_full() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let server = on_socket(path.clone());
        let deadline = Instant::now() + Duration::from_millis(50);
        assert_eq!(evaluate(&server, "t", deadline), Err(AskError::Silent));
        // Until the queue of the listener is full; connecting normally would block from then on.
        let mut waiting = Vec::new();
        while let Ok(stream) = local_socket::connect(&path) {
            waiting.push(stream);
        }
        assert_eq!(evaluate(&server, "t", soon()), Err(AskError::Silent));
    }

    #[test]
    fn a_process_that_is_asked_to_end_does_not_wait_for_a_busy_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        evaluate_later(&on_socket(path), "t", soon()).unwrap();
        let start = Instant::now();
        let wait = thread::spawn(|| finish_reloads(Duration::from_secs(60)));
        thread::sleep(Duration::from_millis(30));
        assert!(!wait.is_finished(), "otherwise it waits");
        abandon_reloads();
        wait.join().unwrap();
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }

    #[test]
    fn the_request_is_one_line_and_a_killed_server_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let reader = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            String::from_utf8(request).unwrap()
        });
        assert_eq!(evaluate(&on_socket(path), "(a \"b&c\")", soon()), Err(AskError::NotRunning));
        assert_eq!(reader.join().unwrap(), "-current-frame -eval (a&_\"b&&c\") \n");
    }
}
