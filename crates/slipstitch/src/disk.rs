//! Files on disk, beneath one root or several.
//!
//! A root is a directory handle that is held, never a path that is compared: whatever symlinks,
//! renames or mounts appear meanwhile, an operation works on a name in a folder that was reached
//! from that handle. `place` walks there; everything after it is relative to the folder found.
//!
//! | a change | in |
//! | --- | --- |
//! | is found, locked and prepared out of sight | `stage`, `lock`, `temp`, `copy`, `attributes` |
//! | becomes visible, all or nothing | `publish`, `swap`, `original` |
//! | is written into the file itself where it must be | `in_place` |
//! | is settled if its process died | `intent`, `settle`, `note` |

mod attributes;
mod copy;
mod error;
mod folders;
mod in_place;
mod intent;
mod lock;
mod note;
mod original;
mod place;
mod probe;
mod publish;
mod roots;
mod settle;
mod stage;
mod swap;
mod temp;
#[cfg(feature = "rig")]
mod unprotected;

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{Access, AtFlags};
use slipstitch_core::change::FileChange;
use slipstitch_core::path::{FilePath, RootName};
use slipstitch_core::ports::workspace::{
    FolderEntry, InterruptedChange, ReadResult, Staged, Workspace, WorkspaceError,
};
use slipstitch_core::snapshot::{FileContent, FileId, Meta};

use error::refusal;
use in_place::Copies;
pub(crate) use intent::files_in;
pub use lock::sweep_locks;
use lock::{LockFolder, Marks};
use note::Notes;
use place::{Found, Look};
pub use probe::Abilities;
use publish::Displaced;
use roots::{Root, Roots};
#[cfg(feature = "rig")]
pub use unprotected::unprotect_all;

/// Whether a change waits until it is on the disk and not only on its way there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fsync {
    /// It waits: what was acknowledged survives a power cut.
    #[default]
    On,
    /// It does not: faster, for scratch folders and tests.
    Off,
}

/// What happens to a file with several names (hard links).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HardLinks {
    /// It is not changed.
    #[default]
    Refuse,
    /// The name that is edited gets a file of its own; the other names keep the old one.
    Break,
    /// The file itself is written, so that all names have the change; readers may see it half done.
    WriteThrough,
}

/// The files beneath one or more folders of the disk.
#[derive(Debug)]
pub struct DiskWorkspace {
    roots: Roots,
    locks: LockFolder,
    notes: Notes,
    copies: Copies,
    fsync: Fsync,
    hard_links: HardLinks,
    named_temps: bool,
    displaced: Displaced,
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
        let roots = Roots::new(hold(root)?);
        let failed = |source| OpenError::Locks { path: locks.into(), source };
        let lock_folder = LockFolder::open(locks, Self::LOCK_WAIT).map_err(failed)?;
        let notes = Notes::open(locks.join("staging")).map_err(failed)?;
        let copies = Copies::open(locks.join("in-place")).map_err(failed)?;
        let opened = Self {
            roots,
            locks: lock_folder,
            notes,
            copies,
            fsync,
            hard_links: HardLinks::default(),
            named_temps: false,
            displaced: Displaced::Checked,
        };
        #[cfg(feature = "rig")]
        if unprotected::is_on() {
            return Ok(opened.without_locks().without_checks());
        }
        Ok(opened)
    }

    /// Opens another root beside the first. Its files are named in full.
    pub fn also(mut self, root: &Path) -> Result<Self, OpenError> {
        self.roots.add(hold(root)?);
        Ok(self)
    }

    /// The first root, without symlinks.
    pub fn root(&self) -> &str {
        self.roots.first()
    }

    /// Every root, without symlinks.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.all()
    }

    /// Removes what processes that died have left before a journal knew of it. Answers how many files.
    pub fn sweep(&self) -> std::io::Result<usize> {
        self.notes.sweep(&self.roots, &self.copies.folder)
    }

    /// Chooses what happens to files with several names.
    pub fn with_hard_links(mut self, hard_links: HardLinks) -> Self {
        self.hard_links = hard_links;
        self
    }

    /// Gives temporary files a name from the start, for systems that do not let them have one later.
    pub fn with_named_temps(mut self, named: bool) -> Self {
        self.named_temps = named;
        self
    }

    /// Takes no locks, so that a rig can see what they are for.
    #[cfg(feature = "rig")]
    pub fn without_locks(mut self) -> Self {
        self.locks.switch_off();
        self
    }

    /// Does not look at what a change displaces, so that a rig can see what that is for.
    #[cfg(feature = "rig")]
    pub fn without_checks(mut self) -> Self {
        self.displaced = Displaced::Trusted;
        self
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

/// Opens a folder as a root.
fn hold(root: &Path) -> Result<Root, OpenError> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => OpenError::Missing(root.into()),
        std::io::ErrorKind::NotADirectory => OpenError::NotAFolder(root.into()),
        _ => OpenError::Root { path: root.into(), source },
    };
    let canonical = root.canonicalize().map_err(failed)?;
    let handle = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(failed)?;
    let name = canonical.into_os_string().into_string().map_err(|name| OpenError::NotUtf8(name.into()))?;
    let given = std::path::absolute(root).ok().and_then(|path| path.into_os_string().into_string().ok());
    let names = match given {
        Some(given) if given != name => vec![name, given],
        _ => vec![name],
    };
    Ok(Root::new(handle, names))
}

impl Workspace for DiskWorkspace {
    fn root_names(&self) -> &[RootName] {
        self.roots.names()
    }

    fn read(&self, path: &FilePath) -> Result<ReadResult, WorkspaceError> {
        match place::look(&self.roots, path, "read")? {
            Look::Nothing(vacancy) => {
                let mut beneath: PathBuf = vacancy.missing.into_iter().collect();
                beneath.push(vacancy.name);
                let real = self.roots.real(&*vacancy.dir, &beneath);
                Ok(ReadResult::Missing { real: real.filter(|real| real != path) })
            }
            Look::File(found) => content(&self.roots, path, found).map(ReadResult::File),
        }
    }

    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
        folders::list(&self.roots, folder)
    }

    fn check(&self, changes: &[FileChange]) -> Result<(), WorkspaceError> {
        stage::check(self, changes)
    }

    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        Ok(Box::new(stage::stage(self, changes, Marks::Tell)?))
    }

    fn stage_after_recovery<'a>(
        &'a self,
        changes: &[FileChange],
    ) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        Ok(Box::new(stage::stage(self, changes, Marks::Overlook)?))
    }

    fn reopen<'a>(&'a self, intent: &str) -> Result<Option<Box<dyn InterruptedChange + 'a>>, WorkspaceError> {
        Ok(settle::reopen(self, intent)?.map(|unfinished| Box::new(unfinished) as Box<dyn InterruptedChange>))
    }
}

fn content(roots: &Roots, path: &FilePath, found: Found) -> Result<FileContent, WorkspaceError> {
    let Found { place, mut file, metadata, .. } = found;
    let failed = |error| refusal(path, "read", error);
    let mut bytes = Vec::new();
    let len = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(len).map_err(|_| failed(std::io::ErrorKind::OutOfMemory.into()))?;
    // To its end, wherever that is by now; a plain read would ask for the size again.
    file.by_ref().take(u64::MAX).read_to_end(&mut bytes).map_err(failed)?;
    let writable = rustix::fs::accessat(&*place.dir, &place.name, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    let meta = Meta {
        real: roots.real(&file, Path::new("")).filter(|real| real != path),
        id: Some(FileId { device: metadata.dev(), inode: metadata.ino() }),
        mode: Some(metadata.mode() & 0o7777),
        writable,
        modified: Some(metadata.mtime() * 1000 + metadata.mtime_nsec() / 1_000_000),
    };
    Ok(FileContent { bytes: bytes.into(), meta })
}
