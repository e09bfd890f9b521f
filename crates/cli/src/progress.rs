//! A line on the terminal for work that takes longer than a second.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::global::Global;

/// Shorter work is done before anyone wonders.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line is drawn.
const INTERVAL: Duration = Duration::from_millis(120);
const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// Shows that something is going on until it is dropped. Nothing is shown unless stderr is a terminal.
pub(crate) struct Progress {
    worker: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts to wait. `what` says what is being done, such as `Searching a.txt`.
    pub(crate) fn start(what: impl Into<String>, global: &Global) -> Self {
        if !std::io::stderr().is_terminal() || global.json {
            return Self { worker: None };
        }
        let (stop, stopped) = channel();
        let what = what.into();
        let draw = move || {
            let start = Instant::now();
            let mut wait = PATIENCE;
            let mut frames = FRAMES.iter().cycle();
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = INTERVAL;
                let frame = frames.next().copied().unwrap_or(' ');
                let seconds = start.elapsed().as_secs();
                let _ = write!(std::io::stderr(), "\r{frame} {what} ({seconds} s)\x1b[K");
            }
            if start.elapsed() >= PATIENCE {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
            }
        };
        let worker = std::thread::Builder::new().name("progress".into()).spawn(draw).ok();
        Self { worker: worker.map(|worker| (stop, worker)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, worker)) = self.worker.take() {
            drop(stop);
            let _ = worker.join();
        }
    }
}
