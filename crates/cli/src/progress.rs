//! A line on the terminal for work that takes longer than a second.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::global::Global;

/// Shorter work is done before anyone wonders.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line is drawn.
const INTERVAL: Duration = Duration::from_millis(120);
const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// The line on the terminal, if one is shown.
static LINE: Mutex<Line> = Mutex::new(Line { is_shown: false, held_until: None });

struct Line {
    is_shown: bool,
    /// When the last question was answered.
    held_until: Option<Instant>,
}

impl Line {
    fn lock() -> MutexGuard<'static, Self> {
        LINE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&mut self, text: &str) {
        let _ = write!(std::io::stderr(), "\r{text}\x1b[K");
        self.is_shown = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// While this exists, no progress is drawn: somebody is being asked something.
pub(crate) struct Hold {
    line: MutexGuard<'static, Line>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.line.held_until = Some(Instant::now());
    }
}

/// Removes the line, and keeps it away until the returned value is dropped.
pub(crate) fn hold() -> Hold {
    let mut line = Line::lock();
    line.clear();
    Hold { line }
}

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
                let mut line = Line::lock();
                // The time spent answering a question does not count.
                let elapsed = line.held_until.map_or(start, |held| held.max(start)).elapsed();
                wait = PATIENCE.saturating_sub(elapsed);
                if wait.is_zero() {
                    wait = INTERVAL;
                    let frame = frames.next().copied().unwrap_or(' ');
                    line.draw(&format!("{frame} {what} ({} s)", elapsed.as_secs()));
                }
            }
            Line::lock().clear();
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
