//! The lock that orders tool calls and mode changes of a session: a mode change waits until no call is in
//! flight, and calls that arrive meanwhile wait for it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use slipstitch_platform::info;
use slipstitch_platform::private::owner_only;

use crate::private_files;

/// The lock of one session in one root, shared by processes.
#[derive(Debug)]
pub(crate) struct ModeLock {
    file: PathBuf,
}

/// A held lock; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct ModeGuard(#[expect(dead_code, reason = "the lock is held while the file is open")] File);

impl ModeLock {
    pub(crate) fn new(locks: &Path, root: &str, session: &str) -> Self {
        let mut name = blake3::Hasher::new();
        for part in [root, "\0", session] {
            name.update(part.as_bytes());
        }
        Self { file: locks.join(format!("mode-{}", name.finalize().to_hex())) }
    }

    /// Locks for a call; several calls can hold the lock at once.
    pub(crate) fn lock_for_call(&self) -> io::Result<ModeGuard> {
        self.lock_with(File::lock_shared)
    }

    /// Locks for a mode change, exclusively.
    pub(crate) fn lock_for_change(&self) -> io::Result<ModeGuard> {
        self.lock_with(File::lock)
    }

    fn lock_with(&self, lock: fn(&File) -> io::Result<()>) -> io::Result<ModeGuard> {
        loop {
            let file = self.open()?;
            lock(&file)?;
            // A sweep may have removed the file between opening and locking.
            if info::of(&file)?.links > 0 {
                return Ok(ModeGuard(file));
            }
        }
    }

    fn open(&self) -> io::Result<File> {
        private_files::open(&self.file, owner_only(OpenOptions::new().create(true).read(true).append(true)))
    }
}
