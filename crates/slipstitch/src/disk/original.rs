//! A file as it was when its content was checked, to tell whether it still is.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::FileType;
use slipstitch_core::path::FilePath;
use slipstitch_core::text::ContentHash;

use super::copy;
use super::place::{Found, Place};

/// Time stamps have a grain, on some file systems a coarse one: two writes within it look like one.
const GRAIN: Duration = Duration::from_secs(2);

/// What a file was when its content was hashed.
#[derive(Debug, Clone)]
pub(super) struct Original {
    hash: ContentHash,
    mark: Mark,
    /// Set anew by every write and by nothing that a program can call; but by a rename too.
    stamped: (i64, i64),
    /// Whether the last write was so long before that a later one has another time.
    settled: bool,
}

/// What a rename leaves alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    device: u64,
    inode: u64,
    len: u64,
    modified: (i64, i64),
}

/// Whether a file was seen to be untouched right before it was displaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quiet {
    Yes,
    No,
}

impl Mark {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl Original {
    /// Notes what was known of `found` before its content was read.
    pub(super) fn new(hash: ContentHash, found: &Found) -> Self {
        let metadata = &found.metadata;
        let seen = found.seen.duration_since(UNIX_EPOCH).unwrap_or_default();
        let last = metadata.mtime().max(metadata.ctime());
        let settled = u64::try_from(last).is_ok_and(|last| Duration::from_secs(last) + GRAIN < seen);
        Self { hash, mark: Mark::of(metadata), stamped: stamp(metadata), settled }
    }

    /// The content that was hashed.
    pub(super) fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Whether a file that was read is certain to be what it was before.
    pub(super) fn untouched(&self, file: &File) -> bool {
        let now = file.metadata();
        now.is_ok_and(|now| self.settled && self.mark == Mark::of(&now) && self.stamped == stamp(&now))
    }

    /// Looks whether the file at `place` is untouched, before it is displaced.
    pub(super) fn quiet(&self, place: &Place) -> Quiet {
        match place.open() {
            Ok(Some((file, _))) if self.untouched(&file) => Quiet::Yes,
            _ => Quiet::No,
        }
    }

    /// Checks that the displaced file at `place` has the content that was hashed. If not, the
    /// answer is what it has instead.
    ///
    /// A file that was quiet is not read again. Any other is, also one with another inode:
    /// layered file systems give a file a new one on its first rename.
    pub(super) fn check(
        &self,
        path: &FilePath,
        place: &Place,
        before: Quiet,
    ) -> Result<(), Option<ContentHash>> {
        let Ok(Some((file, metadata))) = place.open() else { return Err(None) };
        if !metadata.is_file() {
            return Err(None);
        }
        if before == Quiet::Yes && self.mark == Mark::of(&metadata) {
            return Ok(());
        }
        match copy::hash(path, file) {
            Ok(source) if source.hash == self.hash => Ok(()),
            Ok(source) => Err(Some(source.hash)),
            Err(_) => Err(None),
        }
    }
}

fn stamp(metadata: &Metadata) -> (i64, i64) {
    (metadata.ctime(), metadata.ctime_nsec())
}

/// The hash of the regular file at `place`, if there is one that can be read.
pub(super) fn hash_at(path: &FilePath, place: &Place) -> Option<ContentHash> {
    let (file, metadata) = place.open().ok()??;
    if !metadata.is_file() {
        return None;
    }
    copy::hash(path, file).ok().map(|source| source.hash)
}

/// Whether a regular file stands at `place`.
pub(super) fn is_file(place: &Place) -> io::Result<bool> {
    Ok(place.kind()? == Some(FileType::RegularFile))
}
