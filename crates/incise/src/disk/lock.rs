//! Locks that keep two changes of one file apart, between threads and between processes.
//!
//! The lock lies beside the state and not on the file: the file is replaced by every change, and a
//! lock on it would go with it. Lock files stay behind on purpose: a process that removed one
//! could take it from under another that has just opened it.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt};
use incise_core::path::FilePath;
use incise_core::workspace::WorkspaceError;
use rustix::fs::{Mode, OFlags};

use super::error::refusal;
use super::place::Place;

/// The first pause between two tries; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// What a place is called among the locks, whatever path leads to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn of(place: &Place) -> io::Result<Self> {
        let folder = place.dir.dir_metadata()?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&folder.dev().to_le_bytes());
        hasher.update(&folder.ino().to_le_bytes());
        hasher.update(place.name.as_bytes());
        Ok(Self(hasher.finalize().to_hex().to_string()))
    }
}

/// The folder of lock files.
#[derive(Debug)]
pub(super) struct LockFolder {
    dir: Dir,
    wait: Duration,
}

/// Locks that are held until this is dropped.
#[derive(Debug)]
pub(super) struct Held(#[expect(dead_code, reason = "a lock is held by being open")] Vec<File>);

impl LockFolder {
    pub(super) fn open(path: &Path, wait: Duration) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Ok(Self { dir: Dir::open_ambient_dir(path, ambient_authority())?, wait })
    }

    pub(super) fn set_wait(&mut self, wait: Duration) {
        self.wait = wait;
    }

    /// Takes all of the locks. They come sorted, so that no two callers wait for each other.
    pub(super) fn hold(&self, keys: &BTreeMap<Key, &FilePath>) -> Result<Held, WorkspaceError> {
        let deadline = Instant::now() + self.wait;
        let files =
            keys.iter().map(|(key, path)| self.take(key, path, deadline)).collect::<Result<_, _>>()?;
        Ok(Held(files))
    }

    fn take(&self, key: &Key, path: &FilePath, deadline: Instant) -> Result<File, WorkspaceError> {
        let failed = |error: io::Error| refusal(path, "lock", error);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.dir, key.0.as_str(), flags, Mode::RUSR | Mode::WUSR)
            .map_err(|errno| failed(errno.into()))?;
        let mut file = File::from(fd);
        let mut pause = FIRST_PAUSE;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(WorkspaceError::Locked { path: path.clone(), holder: holder(&mut file) });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        // Only a courtesy to whoever waits: a full disk must not stop the change here.
        let _ = file.set_len(0).and_then(|()| write!(file, "process {}", std::process::id()));
        Ok(file)
    }
}

fn holder(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.take(100).read_to_string(&mut text).ok()?;
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_refused_with_its_holder_and_freed_by_dropping() {
        let folder = tempfile::tempdir().unwrap();
        let locks = LockFolder::open(&folder.path().join("locks"), Duration::from_millis(30)).unwrap();
        let path = FilePath::from_record("a").unwrap();
        let keys = BTreeMap::from([(Key("k".into()), &path), (Key("l".into()), &path)]);
        let held = locks.hold(&keys).unwrap();
        let holder = Some(format!("process {}", std::process::id()));
        assert_eq!(locks.hold(&keys).unwrap_err(), WorkspaceError::Locked { path: path.clone(), holder });
        drop(held);
        assert!(locks.hold(&keys).is_ok());
    }
}
