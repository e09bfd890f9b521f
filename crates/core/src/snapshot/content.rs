//! A file's bytes and what is known besides them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::path::FilePath;

/// A file as it was read.
#[derive(Debug, Clone)]
pub struct FileContent {
    /// Its bytes.
    pub bytes: Content,
    /// What is known beside them.
    pub meta: Meta,
}

/// The bytes of a file, wherever they are: in memory, or mapped from a file too large for it.
#[derive(Clone)]
pub struct Content(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Content {
    /// Bytes that someone else holds.
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

/// What is known of a file beside its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meta {
    /// Where the file is, if the path that led to it goes through a symlink.
    pub real: Option<FilePath>,
    /// What tells the file apart from all others, whatever names lead to it.
    pub id: Option<FileId>,
    /// Its permission bits.
    pub mode: Option<u32>,
    /// Whether this process may write to it.
    pub writable: bool,
    /// When it was last changed, in milliseconds since 1970.
    pub modified: Option<i64>,
}

/// A file's identity: two paths with the same one are the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The number on it.
    pub inode: u64,
}
