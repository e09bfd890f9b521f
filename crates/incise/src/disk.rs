//! Files on disk, beneath one root.
//!
//! The root is a directory handle that is held, never a path that is compared: whatever symlinks,
//! renames or mounts appear meanwhile, an operation works on a name in a folder that was reached
//! from that handle. `place` walks there; everything after it is relative to the folder found.

mod attributes;
mod copy;
mod error;
mod folders;
mod lock;
mod original;
mod place;
mod publish;
mod stage;
mod swap;
mod temp;

use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use incise_core::change::FileChange;
use incise_core::path::FilePath;
use incise_core::workspace::{
    FileContent, FileId, FolderEntry, Meta, Seen, Staged, Workspace, WorkspaceError,
};
use rustix::fs::{Access, AtFlags};

use error::refusal;
use lock::LockFolder;
use place::{Found, Look};

/// Whether a change waits until it is on the disk and not only on its way there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fsync {
    /// It waits: what was acknowledged survives a power cut.
    #[default]
    On,
    /// It does not: faster, for scratch folders and tests.
    Off,
}

/// The files beneath a folder of the disk.
#[derive(Debug)]
pub struct DiskWorkspace {
    root: Arc<Dir>,
    /// The root without symlinks first, then as it was given.
    names: Vec<String>,
    locks: LockFolder,
    fsync: Fsync,
}

/// Why a folder cannot be used as a root.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is nothing at the path.
    #[error("the root `{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// The path names something else.
    #[error("the root `{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The path cannot be written as text, which every request needs.
    #[error("the path of the root `{}` is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// Anything else the system reports of the root.
    #[error("the root `{}` cannot be opened: {source}", path.display())]
    Root {
        /// The root as it was given.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder for locks cannot be made or opened.
    #[error("the folder for locks `{}` cannot be opened: {source}", path.display())]
    Locks {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl DiskWorkspace {
    /// How long a change waits for the locks of its files.
    pub const LOCK_WAIT: Duration = Duration::from_secs(10);

    /// Opens `root` and keeps hold of it. `locks` is a folder outside the root; it is made if it
    /// is missing, and all processes that share the root must name the same one.
    pub fn open(root: &Path, locks: &Path, fsync: Fsync) -> Result<Self, OpenError> {
        let failed = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound => OpenError::Missing(root.into()),
            std::io::ErrorKind::NotADirectory => OpenError::NotAFolder(root.into()),
            _ => OpenError::Root { path: root.into(), source },
        };
        let canonical = root.canonicalize().map_err(failed)?;
        let handle = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(failed)?;
        let name =
            canonical.into_os_string().into_string().map_err(|name| OpenError::NotUtf8(name.into()))?;
        let given = std::path::absolute(root).ok().and_then(|path| path.into_os_string().into_string().ok());
        let names = match given {
            Some(given) if given != name => vec![name, given],
            _ => vec![name],
        };
        let locks = LockFolder::open(locks, Self::LOCK_WAIT)
            .map_err(|source| OpenError::Locks { path: locks.into(), source })?;
        Ok(Self { root: Arc::new(handle), names, locks, fsync })
    }

    /// The root, without symlinks.
    pub fn root(&self) -> &str {
        &self.names[0]
    }

    /// Chooses whether changes wait for the disk.
    pub fn with_fsync(mut self, fsync: Fsync) -> Self {
        self.fsync = fsync;
        self
    }

    /// Waits for locks so long instead of [`DiskWorkspace::LOCK_WAIT`].
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.locks.set_wait(wait);
        self
    }
}

impl Workspace for DiskWorkspace {
    fn root_names(&self) -> &[String] {
        &self.names
    }

    fn read(&self, path: &FilePath) -> Result<Seen, WorkspaceError> {
        match place::look(&self.root, path, "read")? {
            Look::Nothing(_) => Ok(Seen::Missing),
            Look::File(found) => content(&self.names[0], path, found).map(Seen::File),
        }
    }

    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
        folders::list(&self.root, folder)
    }

    fn check(&self, changes: &[FileChange]) -> Result<(), WorkspaceError> {
        stage::check(&self.root, changes)
    }

    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        Ok(Box::new(stage::stage(&self.root, &self.locks, self.fsync, changes)?))
    }
}

/// Where an open file is beneath the root, if that is not where `path` says. Only a system that tells the
/// name of an open file has an answer.
fn real_path(root: &str, path: &FilePath, file: &std::fs::File) -> Option<FilePath> {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let name = std::fs::read_link(link).ok()?;
    let real = name.strip_prefix(root).ok()?.to_str()?;
    FilePath::from_record(real).ok().filter(|real| real != path)
}

fn content(root: &str, path: &FilePath, found: Found) -> Result<FileContent, WorkspaceError> {
    let Found { place, mut file, metadata, .. } = found;
    let failed = |error| refusal(path, "read", error);
    let mut bytes = Vec::new();
    let len = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(len).map_err(|_| failed(std::io::ErrorKind::OutOfMemory.into()))?;
    file.read_to_end(&mut bytes).map_err(failed)?;
    let writable = rustix::fs::accessat(&*place.dir, &place.name, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    let meta = Meta {
        real: real_path(root, path, &file),
        id: Some(FileId { device: metadata.dev(), inode: metadata.ino() }),
        mode: Some(metadata.mode() & 0o7777),
        writable,
        modified: Some(metadata.mtime() * 1000 + metadata.mtime_nsec() / 1_000_000),
    };
    Ok(FileContent { bytes: bytes.into(), meta })
}
