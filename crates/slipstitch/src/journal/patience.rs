//! How long a connection waits while another process has locked the database.
//!
//! SQLite asks between two attempts whether to go on. A wait ends early if its call is cancelled or the process is to
//! end, so that neither takes as long as the other process holds its lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use slipstitch_core::cancel::CancelToken;

use super::BUSY_TIMEOUT;

/// The pauses between attempts; the last one is repeated.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(20),
];

/// The patience of one connection. Clones share their state.
#[derive(Debug, Clone)]
pub(super) struct Patience(Arc<Mutex<Limits>>);

#[derive(Debug)]
struct Limits {
    max_wait: Duration,
    /// The call that uses the connection now.
    call: Option<CancelToken>,
    /// Cancelled when the process is to end.
    interrupt: Option<CancelToken>,
    deadline: Instant,
}

impl Patience {
    /// Makes the connection wait for other processes, in place of its previous busy handler.
    pub(super) fn install(connection: &mut Connection) -> rusqlite::Result<Self> {
        let limits = Limits { max_wait: BUSY_TIMEOUT, call: None, interrupt: None, deadline: Instant::now() };
        let patience = Self(Arc::new(Mutex::new(limits)));
        let own = patience.clone();
        connection.busy_handler(Some(move |attempts| own.wait(attempts)))?;
        Ok(patience)
    }

    /// Sets the token that ends every wait.
    pub(super) fn set_interrupt(&self, interrupt: Option<CancelToken>) {
        self.limits().interrupt = interrupt;
    }

    /// Whether waits end at once because the process is to end.
    pub(super) fn is_interrupted(&self) -> bool {
        self.limits().interrupt.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Runs `work`, whose waits end when `call` is cancelled.
    pub(super) fn for_call<T>(&self, call: &CancelToken, work: impl FnOnce() -> T) -> T {
        let _restore = self.restore_later();
        self.limits().call = Some(call.clone());
        work()
    }

    /// Runs `work`, which waits for at most `max_wait` each time.
    pub(super) fn at_most<T>(&self, max_wait: Duration, work: impl FnOnce() -> T) -> T {
        let _restore = self.restore_later();
        self.limits().max_wait = max_wait;
        work()
    }

    /// Restores the current limits when the result is dropped, even by a panic.
    fn restore_later(&self) -> Restore<'_> {
        let limits = self.limits();
        Restore { patience: self, max_wait: limits.max_wait, call: limits.call.clone() }
    }

    /// Until when a wait that begins now may last.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.limits().max_wait
    }

    /// Waits before the next attempt, after this many failed ones. Returns false to give up.
    fn wait(&self, attempts: i32) -> bool {
        let (call, deadline) = {
            let mut limits = self.limits();
            if attempts == 0 {
                limits.deadline = Instant::now() + limits.max_wait;
            }
            (limits.call.clone(), limits.deadline)
        };
        self.pause(usize::try_from(attempts).unwrap_or_default(), deadline, call.as_ref())
    }

    /// Waits before the next attempt. Returns false to give up.
    pub(super) fn pause(&self, attempts: usize, deadline: Instant, call: Option<&CancelToken>) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || self.is_interrupted() || call.is_some_and(|call| !call.may_take_long()) {
            return false;
        }
        thread::sleep(left.min(PAUSES[attempts.min(PAUSES.len() - 1)]));
        true
    }

    fn limits(&self) -> MutexGuard<'_, Limits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Restore<'a> {
    patience: &'a Patience,
    max_wait: Duration,
    call: Option<CancelToken>,
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        let mut limits = self.patience.limits();
        limits.max_wait = self.max_wait;
        limits.call = self.call.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::TransactionBehavior;

    /// A connection to a database that another one has locked.
    fn locked(folder: &tempfile::TempDir) -> (Connection, Patience, Connection) {
        let path = folder.path().join("db");
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE t (x); BEGIN IMMEDIATE").unwrap();
        let mut connection = Connection::open(&path).unwrap();
        let patience = Patience::install(&mut connection).unwrap();
        (connection, patience, other)
    }

    fn try_to_write(connection: &mut Connection) -> Result<(), rusqlite::Error> {
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map(drop)
    }

    #[test]
    fn a_wait_ends_at_its_limit_when_its_call_is_cancelled_and_with_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, patience, other) = locked(&folder);
        let start = Instant::now();
        let limit = Duration::from_millis(40);
        assert!(patience.at_most(limit, || try_to_write(&mut connection)).is_err());
        assert!(start.elapsed() >= limit);

        let (call, interrupt) = (CancelToken::default(), CancelToken::default());
        patience.set_interrupt(Some(interrupt.clone()));
        for token in [&call, &interrupt] {
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(30));
                    assert!(token.cancel());
                });
                assert!(patience.for_call(&call, || try_to_write(&mut connection)).is_err());
            });
        }
        assert!(start.elapsed() < BUSY_TIMEOUT, "{:?}", start.elapsed());
        assert!(patience.is_interrupted());
        drop(other);
        try_to_write(&mut connection).unwrap();
    }

    #[test]
    fn a_lock_that_is_released_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (mut connection, patience, other) = locked(&folder);
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(30));
                drop(other);
            });
            patience.for_call(&CancelToken::default(), || try_to_write(&mut connection)).unwrap();
        });
    }
}
