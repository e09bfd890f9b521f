//! Locks that keep two changes of one file apart, between threads and between processes.
//!
//! The lock lies beside the state and not on the file: the file is replaced by every change, and a
//! lock on it would go with it. Lock files stay behind until someone sweeps them up: whoever takes a lock
//! looks whether its file is still there.
//!
//! A lock file holds the name of its holder, and while the holder publishes a mark that says so. Both are
//! wiped out at the end: a mark that is found by the next holder means that a process died in between. What is
//! written always has the same width: to overwrite bytes costs less than to make a file shorter and longer.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt};
use rustix::fs::{Mode, OFlags};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;

use super::error::refusal;
use super::place::Place;

/// The first pause between two tries; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// What a place is called among the locks, whatever path leads to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(String);

impl Key {
    /// What a file with several names is called, whichever of them is used.
    pub(super) fn of_file(device: u64, inode: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"file\0");
        hasher.update(&device.to_le_bytes());
        hasher.update(&inode.to_le_bytes());
        Self(hasher.finalize().to_hex().to_string())
    }

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
    /// Whether locks are taken; only a rig has them off.
    on: bool,
}

/// What to do about the mark of a process that died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// Tell the caller: it has what was left settled, and tries again.
    Tell,
    /// Go on: that was done.
    Overlook,
    /// The caller is here to settle it, and does not wait for whoever holds the lock.
    Settle,
}

/// Locks that are held until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    files: Vec<File>,
    keep_marks: bool,
}

/// The mark of a holder that publishes.
const PUBLISHING: &str = " publishes";

/// How many bytes a lock file has room for.
const WIDTH: usize = 40;

impl Held {
    /// Marks the locks: if the process dies from here on, the next holder knows.
    pub(super) fn mark(&mut self) {
        for file in &self.files {
            // Without the mark the next start settles what is left; with it, the next change does.
            let _ = write(file, &format!("{}{PUBLISHING}", this_process()));
        }
    }

    /// Leaves the marks for the next holder: what they stand for is not settled.
    pub(super) fn keep_marks(&mut self) {
        self.mark();
        self.keep_marks = true;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.keep_marks {
            return;
        }
        for file in &self.files {
            let _ = write(file, "");
        }
    }
}

impl LockFolder {
    pub(super) fn open(path: &Path, wait: Duration) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { dir, wait, on: true })
    }

    #[cfg(feature = "rig")]
    pub(super) fn switch_off(&mut self) {
        self.on = false;
    }

    pub(super) fn set_wait(&mut self, wait: Duration) {
        self.wait = wait;
    }

    /// Takes all of the locks. They come sorted, so that no two callers wait for each other.
    pub(super) fn hold(&self, keys: &BTreeMap<Key, &FilePath>, marks: Marks) -> Result<Held, WorkspaceError> {
        let mut held = Held { files: Vec::new(), keep_marks: false };
        if !self.on {
            return Ok(held);
        }
        let deadline = match marks {
            Marks::Tell | Marks::Overlook => Instant::now() + self.wait,
            Marks::Settle => Instant::now(),
        };
        for (key, path) in keys {
            let file = self.take(key, path, deadline)?;
            if marks == Marks::Tell && is_marked(&file) {
                // The mark stays for whoever settles it.
                return Err(WorkspaceError::Unsettled((*path).clone()));
            }
            // Only a courtesy to whoever waits: a full disk must not stop the change here.
            let _ = write(&file, &this_process());
            held.files.push(file);
        }
        Ok(held)
    }

    fn take(&self, key: &Key, path: &FilePath, deadline: Instant) -> Result<File, WorkspaceError> {
        let failed = |error: io::Error| refusal(path, "lock", error);
        let mut file = self.open_lock(key).map_err(failed)?;
        let mut pause = FIRST_PAUSE;
        loop {
            match file.try_lock() {
                Ok(()) if is_there(&file).map_err(failed)? => return Ok(file),
                // It was swept up between the opening and the lock.
                Ok(()) => file = self.open_lock(key).map_err(failed)?,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(WorkspaceError::Locked {
                        path: path.clone(),
                        holder: holder(&file).map(plain),
                    });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    fn open_lock(&self, key: &Key) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.dir, key.0.as_str(), flags, Mode::RUSR | Mode::WUSR)?))
    }
}

fn is_there(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 0)
}

/// Removes the lock files in `folder` that nobody holds and that no dead process has marked. Answers how many.
pub fn sweep_locks(folder: &Path) -> io::Result<usize> {
    let mut removed = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            continue;
        }
        let Ok(file) = File::options().read(true).append(true).open(entry.path()) else { continue };
        if file.try_lock().is_ok() && !is_marked(&file) {
            removed += usize::from(std::fs::remove_file(entry.path()).is_ok());
        }
    }
    Ok(removed)
}

fn this_process() -> String {
    format!("process {}", std::process::id())
}

/// Puts `text` in the place of what a lock file holds.
fn write(file: &File, text: &str) -> io::Result<()> {
    file.write_all_at(format!("{text:<WIDTH$}").as_bytes(), 0)
}

fn is_marked(file: &File) -> bool {
    holder(file).is_some_and(|text| text.ends_with(PUBLISHING))
}

/// The holder without its mark, for people.
fn plain(holder: String) -> String {
    holder.strip_suffix(PUBLISHING).map_or(holder.clone(), ToOwned::to_owned)
}

fn holder(file: &File) -> Option<String> {
    let mut text = [0; WIDTH];
    let mut len = 0;
    while len < WIDTH {
        match file.read_at(&mut text[len..], len as u64).ok()? {
            0 => break,
            read => len += read,
        }
    }
    let text = std::str::from_utf8(&text[..len]).ok()?.trim_end();
    (!text.is_empty()).then(|| text.to_owned())
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
        let held = locks.hold(&keys, Marks::Tell).unwrap();
        let holder = Some(format!("process {}", std::process::id()));
        let refused = locks.hold(&keys, Marks::Tell).unwrap_err();
        assert_eq!(refused, WorkspaceError::Locked { path: path.clone(), holder });
        assert_eq!(sweep_locks(&folder.path().join("locks")).unwrap(), 0, "held locks stay");
        drop(held);
        assert!(locks.hold(&keys, Marks::Tell).is_ok());
        assert_eq!(sweep_locks(&folder.path().join("locks")).unwrap(), 2);
    }

    #[test]
    fn the_mark_of_a_dead_process_is_told_until_it_is_settled() {
        let folder = tempfile::tempdir().unwrap();
        let locks = LockFolder::open(&folder.path().join("locks"), Duration::from_millis(30)).unwrap();
        let path = FilePath::from_record("a").unwrap();
        let keys = BTreeMap::from([(Key("k".into()), &path)]);
        let mut held = locks.hold(&keys, Marks::Tell).unwrap();
        held.mark();
        // As if the process were killed: the file is closed, nothing is wiped out.
        held.files.clear();
        assert_eq!(sweep_locks(&folder.path().join("locks")).unwrap(), 0, "marked locks stay");
        for _ in 0..2 {
            let refused = locks.hold(&keys, Marks::Tell).unwrap_err();
            assert_eq!(refused, WorkspaceError::Unsettled(path.clone()));
        }
        locks.hold(&keys, Marks::Settle).unwrap().keep_marks();
        let refused = locks.hold(&keys, Marks::Tell).unwrap_err();
        assert_eq!(refused, WorkspaceError::Unsettled(path.clone()), "it was not settled");
        drop(locks.hold(&keys, Marks::Settle).unwrap());
        assert!(locks.hold(&keys, Marks::Tell).is_ok(), "settled");
    }
}
