//! Tells whether a file is still the one whose content was checked, without always reading it again.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::FileType;
use slipstitch_core::path::FilePath;
use slipstitch_core::text::ContentHash;

use super::copy;
use super::lookup::{FoundFile, Location};

/// The coarsest resolution of time stamps that is expected: two writes this close may get the same one.
const TIMESTAMP_RESOLUTION: Duration = Duration::from_secs(2);

/// What was known about a file when its content was hashed.
#[derive(Debug, Clone)]
pub(super) struct Fingerprint {
    hash: ContentHash,
    identity: Identity,
    /// The system sets it on every write, and no program can set it. A rename changes it too.
    ctime: (i64, i64),
    /// Whether the last write is so long ago that a later one gets another time stamp.
    are_timestamps_reliable: bool,
}

/// The metadata that a write changes and a rename does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    len: u64,
    mtime: (i64, i64),
}

/// Whether a file was known to be unmodified right before it was displaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precheck {
    Unmodified,
    Unknown,
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            mtime: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl Fingerprint {
    /// Combines the hash with the metadata that `found` had before its content was read.
    pub(super) fn new(hash: ContentHash, found: &FoundFile) -> Self {
        let metadata = &found.metadata;
        let observed = found.observed_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let last_write = metadata.mtime().max(metadata.ctime());
        let are_timestamps_reliable = u64::try_from(last_write)
            .is_ok_and(|last_write| Duration::from_secs(last_write) + TIMESTAMP_RESOLUTION < observed);
        Self { hash, identity: Identity::of(metadata), ctime: ctime(metadata), are_timestamps_reliable }
    }

    /// The hash of the content.
    pub(super) fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Whether an open file is certainly unmodified.
    pub(super) fn is_unmodified(&self, file: &File) -> bool {
        file.metadata().is_ok_and(|now| {
            self.are_timestamps_reliable && self.identity == Identity::of(&now) && self.ctime == ctime(&now)
        })
    }

    /// Checks the metadata of the file at `location`, right before it is displaced.
    pub(super) fn precheck(&self, location: &Location) -> Precheck {
        match location.open() {
            Ok(Some((file, _))) if self.is_unmodified(&file) => Precheck::Unmodified,
            _ => Precheck::Unknown,
        }
    }

    /// Checks that the displaced file, now at `location`, has the content that was hashed. The error is
    /// the hash of the content it has instead, if that could be read.
    ///
    /// A file that passed the precheck is not read again. Any other is, even if its inode differs: layered
    /// file systems give a file a new inode on its first rename.
    pub(super) fn verify_displaced(
        &self,
        path: &FilePath,
        location: &Location,
        precheck: Precheck,
    ) -> Result<(), Option<ContentHash>> {
        let Ok(Some((file, metadata))) = location.open() else { return Err(None) };
        if !metadata.is_file() {
            return Err(None);
        }
        if precheck == Precheck::Unmodified && self.identity == Identity::of(&metadata) {
            return Ok(());
        }
        match copy::digest(path, file) {
            Ok(read) if read.hash == self.hash => Ok(()),
            Ok(read) => Err(Some(read.hash)),
            Err(_) => Err(None),
        }
    }
}

fn ctime(metadata: &Metadata) -> (i64, i64) {
    (metadata.ctime(), metadata.ctime_nsec())
}

/// The hash and inode of the regular file at `location`, if there is one that can be read.
pub(super) fn hash_and_inode_at(path: &FilePath, location: &Location) -> Option<(ContentHash, u64)> {
    let (file, metadata) = location.open().ok()??;
    if !metadata.is_file() {
        return None;
    }
    Some((copy::digest(path, file).ok()?.hash, metadata.ino()))
}

/// The hash of the regular file at `location`, if there is one that can be read.
pub(super) fn hash_at(path: &FilePath, location: &Location) -> Option<ContentHash> {
    hash_and_inode_at(path, location).map(|(hash, _)| hash)
}

/// Whether there is a regular file at `location`.
pub(super) fn is_regular_file(location: &Location) -> io::Result<bool> {
    Ok(location.file_type()? == Some(FileType::RegularFile))
}
