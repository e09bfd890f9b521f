//! Tells whether a file is still the one whose content was checked, without always reading it again.

use std::fs::File;
use std::io;
use std::time::{Duration, UNIX_EPOCH};

use slipstitch_core::cancel::CancelToken;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::snapshot::{Content, FileId};
use slipstitch_core::text::ContentHash;
use slipstitch_platform::info::{self, FileInfo, FileKind};
use slipstitch_platform::{files, problem};

use super::cancellable::Cancellable;
use super::copy::{self, Expected};
use super::error::io_error;
use super::inodes::are_inodes_stable;
use super::lookup::{FoundFile, Location};

/// The coarsest resolution of time stamps that is expected: two writes this close may get the same one.
const TIMESTAMP_RESOLUTION: Duration = Duration::from_secs(2);

/// What was known about a file when its content was hashed.
#[derive(Debug, Clone)]
pub(super) struct Fingerprint {
    hash: ContentHash,
    /// The content, if it is in memory.
    content: Option<Content>,
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

/// A file as it was seen right before it was displaced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sighting {
    identity: Identity,
    /// Whether it was certainly unmodified.
    is_unmodified: bool,
}

/// Whether the inode shows that a file is another one, on file systems where it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InodeCheck {
    On,
    Off,
}

/// What was displaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Displaced {
    /// The file whose content was hashed.
    Original,
    /// Another file, which someone had just put there.
    OtherFile,
    /// The file, but its content has changed; with the hash of the new content, if it can be read.
    Modified(Option<ContentHash>),
}

/// How often a look starts again because the file keeps changing.
const MAX_LOOKS: usize = 4;

impl Identity {
    fn of(metadata: &FileInfo) -> Self {
        let FileInfo { device, inode, len, modified, .. } = *metadata;
        Self { device, inode, len, mtime: modified }
    }

    fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl Fingerprint {
    /// Combines the hash with the metadata that `found` had before its content was read.
    pub(super) fn new(hash: ContentHash, found: &FoundFile) -> Self {
        let metadata = &found.metadata;
        let observed = found.observed_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let last_write = metadata.modified.0.max(metadata.changed.0);
        let are_timestamps_reliable = info::HAS_CHANGE_TIME
            && u64::try_from(last_write)
                .is_ok_and(|last_write| Duration::from_secs(last_write) + TIMESTAMP_RESOLUTION < observed);
        let identity = Identity::of(metadata);
        Self { hash, content: None, identity, ctime: metadata.changed, are_timestamps_reliable }
    }

    /// Adds the content that has the hash, so that a file can be compared with it.
    pub(super) fn with_content(mut self, content: Option<Content>) -> Self {
        self.content = content;
        self
    }

    /// The hash of the content.
    pub(super) fn hash(&self) -> ContentHash {
        self.hash
    }

    /// What a file with this metadata should contain.
    fn expected(&self, metadata: &FileInfo) -> Expected<'_> {
        Expected { len: metadata.len, content: self.content.as_ref() }
    }

    /// Whether an open file is certainly unmodified.
    pub(super) fn is_unmodified(&self, file: &File) -> bool {
        info::of(file).is_ok_and(|now| {
            self.are_timestamps_reliable && self.identity == Identity::of(&now) && self.ctime == now.changed
        })
    }

    /// The file as it was when its content was hashed.
    #[cfg(feature = "rig")]
    pub(super) fn sighting(&self) -> Sighting {
        Sighting { identity: self.identity, is_unmodified: self.are_timestamps_reliable }
    }

    /// Looks at the file at `location` right before it is displaced. It is read if its metadata has changed, or if
    /// programs can set all of its metadata. The error is the hash of the content it has instead, if that could be read.
    pub(super) fn look(&self, path: &FilePath, location: &Location) -> Result<Sighting, Option<ContentHash>> {
        let as_hashed = (self.identity, self.ctime);
        let mut known = info::HAS_CHANGE_TIME.then_some(as_hashed);
        for _ in 0..MAX_LOOKS {
            let seen = identity_at(location).ok_or(None)?;
            if Some(seen) == known {
                let is_unmodified = self.are_timestamps_reliable && seen == as_hashed;
                return Ok(Sighting { identity: seen.0, is_unmodified });
            }
            let Ok(Some((file, metadata))) = location.open() else { return Err(None) };
            match copy::digest(path, file, self.expected(&metadata)) {
                Ok(read) if read.hash == self.hash => {
                    known = Some((Identity::of(&metadata), metadata.changed));
                }
                Ok(read) => return Err(Some(read.hash)),
                Err(_) => return Err(None),
            }
        }
        Err(None)
    }

    /// Checks that the displaced file, now at `location`, is the one that was seen and has the content that was
    /// hashed. Reads it only if the metadata leaves a doubt.
    pub(super) fn verify_displaced(
        &self,
        path: &FilePath,
        location: &Location,
        seen: &Sighting,
        inodes: InodeCheck,
    ) -> Displaced {
        let is_other_file = |identity: &Identity| {
            let is_same_inode = identity.is_same_file(&seen.identity);
            inodes == InodeCheck::On && !is_same_inode && are_inodes_stable(location)
        };
        if seen.is_unmodified {
            match identity_at(location) {
                Some((identity, _)) if is_other_file(&identity) => return Displaced::OtherFile,
                Some((identity, _)) if identity == seen.identity => return Displaced::Original,
                Some(_) => {}
                None => return Displaced::OtherFile,
            }
        }
        // It is read in any case, so the open file shows which file it is.
        let (file, metadata) = match location.open() {
            Ok(Some((file, metadata))) if metadata.is_file() => (file, metadata),
            Err(error) if !problem::is_no_file(&error) => return Displaced::Modified(None),
            _ => return Displaced::OtherFile,
        };
        if is_other_file(&Identity::of(&metadata)) {
            return Displaced::OtherFile;
        }
        match copy::digest(path, file, self.expected(&metadata)).ok().map(|read| read.hash) {
            Some(hash) if hash == self.hash => Displaced::Original,
            found => Displaced::Modified(found),
        }
    }
}

/// The metadata of the regular file at `location`, and its ctime.
fn identity_at(location: &Location) -> Option<(Identity, (i64, i64))> {
    let found = files::stat(&location.dir, &location.name).ok()??;
    found.is_file().then(|| (Identity::of(&found), found.changed))
}

/// The identity of the regular file at `location`.
pub(super) fn file_id_at(location: &Location) -> Option<FileId> {
    let (Identity { device, inode, .. }, _) = identity_at(location)?;
    Some(FileId { device, inode })
}

/// The hash and inode of the regular file at `location`, if there is one. A file that cannot be read is an error, and so
/// is a read that was cancelled: neither must be taken for a missing file.
pub(super) fn hash_and_inode_at(
    path: &FilePath,
    location: &Location,
    cancel: Option<&CancelToken>,
) -> Result<Option<(ContentHash, u64)>, WorkspaceError> {
    let (file, metadata) = match location.open() {
        Ok(Some((file, metadata))) if metadata.is_file() => (file, metadata),
        Ok(_) => return Ok(None),
        // A socket, or a device without a driver.
        Err(error) if problem::is_no_file(&error) => return Ok(None),
        Err(error) => return Err(io_error(path, "read", error)),
    };
    let read =
        copy::digest(path, Cancellable::new(file, cancel), Expected { len: metadata.len, content: None })?;
    Ok(Some((read.hash, metadata.inode)))
}

/// The hash of the regular file at `location`, if there is one that can be read.
pub(super) fn hash_at(path: &FilePath, location: &Location) -> Option<ContentHash> {
    hash_and_inode_at(path, location, None).ok().flatten().map(|(hash, _)| hash)
}

/// Whether there is a regular file at `location`.
pub(super) fn is_regular_file(location: &Location) -> io::Result<bool> {
    Ok(location.file_type()? == Some(FileKind::File))
}
