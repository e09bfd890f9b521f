//! A file's bytes and metadata.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::path::FilePath;

/// A file's bytes and metadata.
#[derive(Debug, Clone)]
pub struct FileContent {
    /// Its bytes.
    pub bytes: Content,
    /// Its metadata.
    pub meta: Meta,
}

/// The bytes of a file, in memory or memory-mapped.
#[derive(Clone)]
pub struct Content(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Content {
    /// Wraps bytes owned by `bytes`.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(bytes))
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

/// A file's metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meta {
    /// The file's real path, if the given path goes through a symlink.
    pub real: Option<FilePath>,
    /// The file's identity, whichever path leads to it.
    pub id: Option<FileId>,
    /// Its permission bits.
    pub mode: Option<u32>,
    /// Whether this process may write to it.
    pub writable: bool,
    /// When it was last modified, in milliseconds since the Unix epoch.
    pub modified: Option<i64>,
}

/// A file's identity: two paths with the same id are the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The device number.
    pub device: u64,
    /// The inode number on the device.
    pub inode: u64,
}
