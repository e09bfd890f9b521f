//! The lock that orders tool calls and mode changes of a session: a mode change waits until no call is in
//! flight, and calls that arrive meanwhile wait for it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use slipstitch_core::cancel::CancelToken;
use slipstitch_platform::info;
use slipstitch_platform::private::owner_only;

use crate::private_files;

/// The first pause between two attempts; it doubles up to [`MAX_PAUSE`].
const INITIAL_PAUSE: Duration = Duration::from_micros(200);
const MAX_PAUSE: Duration = Duration::from_millis(10);

/// The lock of one session in one root, shared by processes.
#[derive(Debug)]
pub(crate) struct ModeLock {
    file: PathBuf,
    /// The lock file of the last call, kept open for the next one.
    idle: Arc<Mutex<Option<File>>>,
    /// Cancelled when the process is to end.
    pub(crate) interrupt: Option<CancelToken>,
}

/// A held lock; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct ModeGuard {
    idle: Arc<Mutex<Option<File>>>,
    /// `None` only while the guard is dropped.
    file: Option<File>,
}

impl Drop for ModeGuard {
    fn drop(&mut self) {
        // A file that cannot be unlocked is closed, which unlocks it too.
        if let Some(file) = self.file.take()
            && file.unlock().is_ok()
        {
            *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        }
    }
}

impl ModeLock {
    pub(crate) fn new(locks: &Path, root: &str, session: &str, interrupt: Option<CancelToken>) -> Self {
        let mut name = blake3::Hasher::new();
        for part in [root, "\0", session] {
            name.update(part.as_bytes());
        }
        let file = locks.join(format!("mode-{}", name.finalize().to_hex()));
        Self { file, idle: Arc::default(), interrupt }
    }

    /// Locks for a call, unless that is cancelled meanwhile; several calls can hold the lock at once.
    pub(crate) fn lock_for_call(&self, cancel: &CancelToken) -> io::Result<ModeGuard> {
        self.lock_with(File::try_lock_shared, Some(cancel))
    }

    /// Locks for a mode change, exclusively.
    pub(crate) fn lock_for_change(&self) -> io::Result<ModeGuard> {
        self.lock_with(File::try_lock, None)
    }

    /// Waits for the lock by polling, because a thread that waits inside the system could not be stopped.
    fn lock_with(
        &self,
        try_lock: fn(&File) -> Result<(), TryLockError>,
        cancel: Option<&CancelToken>,
    ) -> io::Result<ModeGuard> {
        let mut pause = INITIAL_PAUSE;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut file = idle.map_or_else(|| self.open(), Ok)?;
        loop {
            match try_lock(&file) {
                Ok(()) if info::of(&file)?.links > 0 => {
                    return Ok(ModeGuard { idle: Arc::clone(&self.idle), file: Some(file) });
                }
                // A sweep removed the file before it was locked.
                Ok(()) => file = self.open()?,
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {
                    let is_interrupted = self.interrupt.as_ref().is_some_and(CancelToken::is_cancelled);
                    if is_interrupted || cancel.is_some_and(|call| !call.may_take_long()) {
                        let reason = "a mode change or a call of the same session was still running in another process";
                        return Err(io::Error::other(reason));
                    }
                    thread::sleep(pause);
                    pause = (pause * 2).min(MAX_PAUSE);
                }
            }
        }
    }

    fn open(&self) -> io::Result<File> {
        private_files::open(&self.file, owner_only(OpenOptions::new().create(true).read(true).append(true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_wait_ends_when_its_call_is_cancelled_and_with_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let (call, interrupt) = (CancelToken::default(), CancelToken::default());
        let lock = ModeLock::new(folder.path(), "/", "s", Some(interrupt.clone()));
        let shared = [(); 2].map(|()| lock.lock_for_call(&call).unwrap());
        thread::scope(|scope| {
            let change = scope.spawn(|| lock.lock_for_change());
            thread::sleep(Duration::from_millis(20));
            drop(shared);
            let change = change.join().unwrap().unwrap();
            let waiting = scope.spawn(|| lock.lock_for_call(&call));
            thread::sleep(Duration::from_millis(20));
            call.cancel();
            assert!(waiting.join().unwrap().is_err());
            let waiting = scope.spawn(|| lock.lock_for_change());
            thread::sleep(Duration::from_millis(20));
            let start = Instant::now();
            interrupt.cancel();
            assert!(waiting.join().unwrap().is_err());
            assert!(start.elapsed() < Duration::from_secs(5));
            drop(change);
            assert!(lock.lock_for_change().is_ok(), "a free lock is taken");
        });
    }
}
