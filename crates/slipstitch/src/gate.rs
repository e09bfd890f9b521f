//! Who waits for whom when a session's mode changes: a change waits until no call is in flight, and calls
//! that come meanwhile wait for the change.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The gate of one session in one root, shared by processes.
#[derive(Debug)]
pub(crate) struct Gate {
    file: PathBuf,
}

/// A passage that is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Passage(#[expect(dead_code, reason = "a lock is held by being open")] File);

impl Gate {
    pub(crate) fn new(locks: &Path, root: &str, session: &str) -> Self {
        let mut name = blake3::Hasher::new();
        for part in [root, "\0", session] {
            name.update(part.as_bytes());
        }
        Self { file: locks.join(format!("mode-{}", name.finalize().to_hex())) }
    }

    /// Lets a call pass, beside others.
    pub(crate) fn call(&self) -> io::Result<Passage> {
        self.pass(File::lock_shared)
    }

    /// Lets a change of mode pass, alone.
    pub(crate) fn change(&self) -> io::Result<Passage> {
        self.pass(File::lock)
    }

    /// Whoever sweeps lock files up may take this one between the opening and the lock.
    fn pass(&self, lock: fn(&File) -> io::Result<()>) -> io::Result<Passage> {
        loop {
            let file = self.open()?;
            lock(&file)?;
            if file.metadata()?.nlink() > 0 {
                return Ok(Passage(file));
            }
        }
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).mode(0o600).open(&self.file)
    }
}
