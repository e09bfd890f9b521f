//! A file's bytes and metadata.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};

use slipstitch_text::ContentHash;

use crate::path::FilePath;

/// A file's bytes and metadata.
#[derive(Debug, Clone)]
pub struct FileContent {
    /// Its bytes.
    pub bytes: Content,
    /// Its metadata.
    pub meta: Meta,
}

/// The bytes of a file, in memory or memory-mapped. Clones share the bytes and their hash, which is computed once.
#[derive(Clone)]
pub struct Content(Arc<Hashed<Bytes>>);

/// A weak reference to [`Content`]: it does not keep the content in memory, but can be used while something else does.
#[derive(Clone)]
pub struct WeakContent(Weak<Hashed<Bytes>>);

type Bytes = dyn AsRef<[u8]> + Send + Sync;

struct Hashed<T: ?Sized> {
    hash: OnceLock<ContentHash>,
    bytes: T,
}

impl Content {
    /// Wraps bytes owned by `bytes`.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Hashed { hash: OnceLock::new(), bytes }))
    }

    /// Wraps bytes whose hash is known already.
    pub fn with_hash(bytes: Vec<u8>, hash: ContentHash) -> Self {
        debug_assert_eq!(ContentHash::of(&bytes), hash, "the hash is that of the bytes");
        Self(Arc::new(Hashed { hash: OnceLock::from(hash), bytes }))
    }

    /// The hash of the bytes.
    pub fn hash(&self) -> ContentHash {
        *self.0.hash.get_or_init(|| ContentHash::of(self))
    }

    /// The hash, if something has asked for it before.
    pub fn known_hash(&self) -> Option<ContentHash> {
        self.0.hash.get().copied()
    }

    /// The same content, without keeping it in memory.
    pub fn downgrade(&self) -> WeakContent {
        WeakContent(Arc::downgrade(&self.0))
    }
}

impl WeakContent {
    /// The content, if it is still in memory.
    pub fn upgrade(&self) -> Option<Content> {
        self.0.upgrade().map(Content)
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
        self.0.bytes.as_ref()
    }
}

impl fmt::Debug for WeakContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakContent")
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
    /// How many names it has (hard links), if that is known.
    pub links: Option<u64>,
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
