//! The files of the state folder, so that a hard link to one of them is recognised.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use slipstitch_core::snapshot::FileId;
use slipstitch_platform::info;

/// A folder that has changed this recently may change again without a new time.
const SETTLED_AFTER: Duration = Duration::from_millis(50);

/// The state folder and what it contains, remembered until it changes.
#[derive(Debug)]
pub(super) struct StateFiles {
    pub(super) folder: PathBuf,
    known: Mutex<Option<(FolderTime, Vec<FileId>)>>,
}

/// When a folder changed: seconds and nanoseconds since 1970. Unlike the time of modification, nobody can set it.
type FolderTime = (i64, i64);

impl StateFiles {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, known: Mutex::default() }
    }

    /// Which files are in the folder now.
    pub(super) fn ids(&self) -> Vec<FileId> {
        let changed = info::at(&self.folder).ok().map(|found| found.changed);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some((time, ids)), Some(changed)) = (&*known, changed)
            && *time == changed
        {
            return ids.clone();
        }
        let ids = list_files(&self.folder);
        *known = changed
            .filter(|changed| info::HAS_CHANGE_TIME && is_settled(changed))
            .map(|changed| (changed, ids.clone()));
        ids
    }
}

fn is_settled((seconds, nanoseconds): &FolderTime) -> bool {
    let Ok(seconds) = u64::try_from(*seconds) else { return false };
    let nanoseconds = u32::try_from(*nanoseconds).unwrap_or_default();
    let age = SystemTime::now().duration_since(UNIX_EPOCH + Duration::new(seconds, nanoseconds));
    age.is_ok_and(|age| age > SETTLED_AFTER)
}

/// The regular files in a folder.
fn list_files(folder: &Path) -> Vec<FileId> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let id = |found: info::FileInfo| FileId { device: found.device, inode: found.inode };
    files.filter_map(|entry| info::of_entry(&entry).ok().map(id)).collect()
}
