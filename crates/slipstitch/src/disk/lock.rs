//! Locks that keep two changes to one file apart, between threads and between processes.
//!
//! The locks are files in the state folder. The file itself cannot be locked: every change replaces it, and
//! the lock would stay on the replaced file. Lock files are left behind until [`sweep_locks`] removes them, so
//! a process that has locked one must check that it still exists.
//!
//! A lock file contains the name of its holder, and while the holder publishes, the *publishing mark*. Both
//! are erased when the lock is released. A mark that the next holder finds therefore means that a process died
//! while it published. The text always has the same width, because overwriting bytes is cheaper than
//! truncating and extending the file.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock, Weak};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};
use slipstitch_core::cancel::CancelToken;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::snapshot::FileId;
use slipstitch_platform::info::FileInfo;
use slipstitch_platform::problem::{self, Problem};
use slipstitch_platform::{files, info, names};

use super::error::io_error;
use super::lookup::{Location, file_id};
use crate::private_files;

/// The first pause between two attempts; it doubles up to [`MAX_PAUSE`].
const INITIAL_PAUSE: Duration = Duration::from_micros(200);
const MAX_PAUSE: Duration = Duration::from_millis(10);

/// The publishing mark, at the end of the holder's name.
const PUBLISHING_MARK: &str = " (publishing)";

/// The length of a lock file's text.
const TEXT_WIDTH: usize = 40;

/// The name of a lock file: the same for every path that leads to one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct LockKey(String);

impl LockKey {
    /// The key for a file with several hard links, the same for all of them.
    pub(super) fn for_inode(device: u64, inode: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"file\0");
        hasher.update(&device.to_le_bytes());
        hasher.update(&inode.to_le_bytes());
        Self(hasher.finalize().to_hex().to_string())
    }

    /// The key for a name in a folder, whether there is a file or not.
    pub(super) fn for_location(location: &Location) -> io::Result<Self> {
        FolderIds::default().lock_key(location)
    }
}

/// The identities of open folders, each asked for once. It does not keep them open: Windows removes no folder that is.
#[derive(Debug, Default)]
pub(super) struct FolderIds(Vec<(Weak<Dir>, FileId)>);

impl FolderIds {
    /// The identity of a folder.
    pub(super) fn id_of(&mut self, dir: &Arc<Dir>) -> io::Result<FileId> {
        let known = self.0.iter().rev().find(|(known, _)| known.as_ptr() == Arc::as_ptr(dir));
        Ok(match known {
            Some((_, id)) => *id,
            None => {
                let id = file_id(&info::of_folder(dir)?);
                self.0.push((Arc::downgrade(dir), id));
                id
            }
        })
    }

    /// The key for a name in a folder.
    pub(super) fn lock_key(&mut self, location: &Location) -> io::Result<LockKey> {
        let id = self.id_of(&location.dir)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&id.device.to_le_bytes());
        hasher.update(&id.inode.to_le_bytes());
        hasher.update(&names::folded(&location.name));
        Ok(LockKey(hasher.finalize().to_hex().to_string()))
    }
}

/// The folder of lock files.
#[derive(Debug)]
pub(super) struct LockFolder {
    dir: Dir,
    max_wait: Duration,
    /// Cancelled when the process is to end.
    interrupt: Option<CancelToken>,
    /// Only a rig switches locks off.
    is_enabled: bool,
}

/// What to do about the publishing mark of a process that died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StaleMarks {
    /// Fail with [`WorkspaceError::Unsettled`]; the caller recovers the interrupted change and tries again.
    Report,
    /// Continue, because recovery was already tried.
    Ignore,
    /// Continue, because the caller is the recovery. It does not wait for locks: a holder is still alive.
    Recover,
}

/// Locks that are held until this is dropped.
#[derive(Debug)]
pub(super) struct HeldLocks {
    files: Vec<File>,
    keep_marks: bool,
}

impl HeldLocks {
    /// Writes the publishing mark: if the process dies from here on, the next holder knows.
    pub(super) fn mark_publishing(&mut self) {
        for file in &self.files {
            // Without the mark the change is recovered by the next start, with it by the next change.
            let _ = write_text(file, &format!("{}{PUBLISHING_MARK}", this_process()));
        }
    }

    /// Leaves the publishing marks for the next holder, because the change still needs recovery.
    pub(super) fn keep_marks(&mut self) {
        self.mark_publishing();
        self.keep_marks = true;
    }
}

impl Drop for HeldLocks {
    fn drop(&mut self) {
        if self.keep_marks {
            return;
        }
        for file in &self.files {
            let _ = write_text(file, "");
        }
    }
}

impl LockFolder {
    pub(super) fn open(path: &Path, max_wait: Duration) -> io::Result<Self> {
        private_files::create_folder(path)?;
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { dir, max_wait, interrupt: None, is_enabled: true })
    }

    #[cfg(feature = "rig")]
    pub(super) fn disable(&mut self) {
        self.is_enabled = false;
    }

    pub(super) fn set_max_wait(&mut self, max_wait: Duration) {
        self.max_wait = max_wait;
    }

    pub(super) fn set_interrupt(&mut self, interrupt: Option<CancelToken>) {
        self.interrupt = interrupt;
    }

    fn may_wait_until(&self, deadline: Instant, cancel: &CancelToken) -> bool {
        Instant::now() < deadline
            && !self.interrupt.as_ref().is_some_and(CancelToken::is_cancelled)
            && cancel.may_take_long()
    }

    /// Acquires all the locks in sorted order, so that no two callers wait for each other. A cancelled call does not wait.
    pub(super) fn acquire(
        &self,
        keys: &BTreeMap<LockKey, &FilePath>,
        stale_marks: StaleMarks,
        cancel: &CancelToken,
    ) -> Result<HeldLocks, WorkspaceError> {
        let mut held = HeldLocks { files: Vec::new(), keep_marks: false };
        if !self.is_enabled {
            return Ok(held);
        }
        let deadline = match stale_marks {
            StaleMarks::Report | StaleMarks::Ignore => Instant::now() + self.max_wait,
            StaleMarks::Recover => Instant::now(),
        };
        for (key, path) in keys {
            let LockFile { file, is_new } = self.acquire_one(key, path, deadline, cancel)?;
            if stale_marks == StaleMarks::Report && !is_new && is_marked(&file) {
                // The mark is left for the recovery.
                return Err(WorkspaceError::Unsettled((*path).clone()));
            }
            // The name is only information for those who wait: a full disk must not fail the change here.
            let _ = write_text(&file, this_process());
            held.files.push(file);
        }
        Ok(held)
    }

    fn acquire_one(
        &self,
        key: &LockKey,
        path: &FilePath,
        deadline: Instant,
        cancel: &CancelToken,
    ) -> Result<LockFile, WorkspaceError> {
        let failed = |error: io::Error| io_error(path, "lock", error);
        let mut file = self.open_lock(key).map_err(failed)?;
        let mut pause = INITIAL_PAUSE;
        loop {
            match file.try_lock() {
                Ok(()) => match info::of(&file).map_err(failed)? {
                    // A sweep removed it between opening and locking.
                    FileInfo { links: 0, .. } => file = self.open_lock(key).map_err(failed)?,
                    found => return Ok(LockFile { file, is_new: found.len == 0 }),
                },
                Err(TryLockError::WouldBlock) if self.may_wait_until(deadline, cancel) => {
                    std::thread::sleep(pause.min(deadline.saturating_duration_since(Instant::now())));
                    pause = (pause * 2).min(MAX_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(WorkspaceError::Locked {
                        path: path.clone(),
                        holder: read_text(&file).map(without_mark),
                    });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    fn open_lock(&self, key: &LockKey) -> io::Result<File> {
        match files::open_or_create(&self.dir, key.0.as_ref()) {
            Err(error) if problem::of(&error) == Some(Problem::Symlink) => {
                let reason = format!(
                    "its lock file `{}` in the state folder is a symlink, which is not followed; remove it",
                    key.0
                );
                Err(io::Error::other(reason))
            }
            opened => opened,
        }
    }
}

/// A locked lock file.
struct LockFile {
    file: File,
    /// Whether nothing has been written into the file, so that it has no mark.
    is_new: bool,
}

/// Removes the lock files in `folder` that are neither held nor marked by a dead process. Returns how many.
pub fn sweep_locks(folder: &Path) -> io::Result<usize> {
    let mut removed = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            continue;
        }
        let opened = private_files::open(&entry.path(), File::options().read(true).append(true));
        let Ok(file) = opened else { continue };
        if file.try_lock().is_ok() && !is_marked(&file) {
            removed += usize::from(std::fs::remove_file(entry.path()).is_ok());
        }
    }
    Ok(removed)
}

fn this_process() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| format!("process {}", std::process::id()));
    &NAME
}

/// Replaces the text of a lock file.
fn write_text(file: &File, text: &str) -> io::Result<()> {
    files::write_all_at(file, format!("{text:<TEXT_WIDTH$}").as_bytes(), 0)
}

/// The text of a lock file: the holder's name and maybe the publishing mark.
fn read_text(file: &File) -> Option<String> {
    let mut text = [0; TEXT_WIDTH];
    let mut len = 0;
    while len < TEXT_WIDTH {
        match files::read_at(file, &mut text[len..], len as u64).ok()? {
            0 => break,
            read => len += read,
        }
    }
    let text = std::str::from_utf8(&text[..len]).ok()?.trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

fn is_marked(file: &File) -> bool {
    read_text(file).is_some_and(|text| text.ends_with(PUBLISHING_MARK))
}

fn without_mark(text: String) -> String {
    text.strip_suffix(PUBLISHING_MARK).map_or(text.clone(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock_folder() -> (tempfile::TempDir, LockFolder) {
        let folder = tempfile::tempdir().unwrap();
        let locks = LockFolder::open(folder.path(), Duration::from_millis(30)).unwrap();
        (folder, locks)
    }

    fn acquire(
        locks: &LockFolder,
        keys: &BTreeMap<LockKey, &FilePath>,
        stale_marks: StaleMarks,
    ) -> Result<HeldLocks, WorkspaceError> {
        locks.acquire(keys, stale_marks, &CancelToken::default())
    }

    #[test]
    fn a_call_that_is_cancelled_or_brief_does_not_wait_for_a_lock() {
        let (_folder, mut locks) = lock_folder();
        locks.set_max_wait(Duration::from_secs(60));
        let path = FilePath::from_record("a").unwrap();
        let keys = BTreeMap::from([(LockKey("k".into()), &path)]);
        let held = acquire(&locks, &keys, StaleMarks::Report).unwrap();
        let start = Instant::now();
        let cancelled = CancelToken::default();
        cancelled.cancel();
        for call in [CancelToken::brief(), cancelled] {
            let error = locks.acquire(&keys, StaleMarks::Report, &call).unwrap_err();
            assert!(matches!(error, WorkspaceError::Locked { .. }), "{error}");
            assert!(call.is_cancelled());
        }
        assert!(start.elapsed() < Duration::from_secs(5));
        drop(held);
        let brief = CancelToken::brief();
        assert!(locks.acquire(&keys, StaleMarks::Report, &brief).is_ok());
        assert!(!brief.is_cancelled(), "a free lock is taken");
    }

    #[test]
    fn a_held_lock_is_refused_with_its_holder_until_it_is_dropped() {
        let (folder, locks) = lock_folder();
        let path = FilePath::from_record("a").unwrap();
        let keys = BTreeMap::from([(LockKey("k".into()), &path), (LockKey("l".into()), &path)]);
        let held = acquire(&locks, &keys, StaleMarks::Report).unwrap();
        let holder = Some(format!("process {}", std::process::id()));
        let error = acquire(&locks, &keys, StaleMarks::Report).unwrap_err();
        assert_eq!(error, WorkspaceError::Locked { path: path.clone(), holder });
        assert_eq!(sweep_locks(folder.path()).unwrap(), 0, "held locks are kept");
        drop(held);
        assert!(acquire(&locks, &keys, StaleMarks::Report).is_ok());
        assert_eq!(sweep_locks(folder.path()).unwrap(), 2);
    }

    #[test]
    fn a_process_that_is_to_end_does_not_wait_for_a_lock() {
        let (_folder, mut locks) = lock_folder();
        locks.set_max_wait(Duration::from_secs(60));
        let interrupt = CancelToken::default();
        locks.set_interrupt(Some(interrupt.clone()));
        let path = FilePath::from_record("a").unwrap();
        let keys = BTreeMap::from([(LockKey("k".into()), &path)]);
        let _held = acquire(&locks, &keys, StaleMarks::Report).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| acquire(&locks, &keys, StaleMarks::Report));
            std::thread::sleep(Duration::from_millis(20));
            interrupt.cancel();
            let start = Instant::now();
            assert!(matches!(waiting.join().unwrap(), Err(WorkspaceError::Locked { .. })));
            assert!(start.elapsed() < Duration::from_secs(5));
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_symlinked_lock_file_is_refused_and_not_followed() {
        let (folder, locks) = lock_folder();
        let target = tempfile::NamedTempFile::new().unwrap();
        std::os::unix::fs::symlink(target.path(), folder.path().join("k")).unwrap();
        let path = FilePath::from_record("a").unwrap();
        let error = acquire(&locks, &BTreeMap::from([(LockKey("k".into()), &path)]), StaleMarks::Report);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("`k` in the state folder is a symlink"), "{error}");
        assert_eq!(std::fs::read(target.path()).unwrap(), b"");
        assert_eq!(sweep_locks(folder.path()).unwrap(), 0);
    }

    #[test]
    fn the_mark_of_a_dead_process_is_reported_until_it_is_recovered() {
        let (folder, locks) = lock_folder();
        let path = FilePath::from_record("a").unwrap();
        let keys = BTreeMap::from([(LockKey("k".into()), &path)]);
        let mut held = acquire(&locks, &keys, StaleMarks::Report).unwrap();
        held.mark_publishing();
        // Like a killed process: the file is closed and its text is not erased.
        held.files.clear();
        assert_eq!(sweep_locks(folder.path()).unwrap(), 0, "marked locks are kept");
        for _ in 0..2 {
            let error = acquire(&locks, &keys, StaleMarks::Report).unwrap_err();
            assert_eq!(error, WorkspaceError::Unsettled(path.clone()));
        }
        acquire(&locks, &keys, StaleMarks::Recover).unwrap().keep_marks();
        let error = acquire(&locks, &keys, StaleMarks::Report).unwrap_err();
        assert_eq!(error, WorkspaceError::Unsettled(path.clone()), "the recovery failed");
        drop(acquire(&locks, &keys, StaleMarks::Recover).unwrap());
        assert!(acquire(&locks, &keys, StaleMarks::Report).is_ok(), "recovered");
    }
}
