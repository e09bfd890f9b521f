//! Files on disk, beneath one or more roots.
//!
//! A root is an open directory handle, never a path that is compared with other paths. Whatever symlinks,
//! renames or mounts appear meanwhile, an operation works on a name in a folder that was reached from that
//! handle. `lookup` walks there; everything after it is relative to the folder that was found.
//!
//! | task | modules |
//! | --- | --- |
//! | read a file | `lookup`, `content`, `recent` |
//! | look up, lock and prepare the files of a change | `lookup`, `target`, `lock`, `stage`, `step_builder`, `temp`, `copy`, `attributes` |
//! | make it visible, all or nothing | `staged`, `flush`, `publish`, `replacement`, `emptied_folders`, `swap`, `fingerprint`, `inodes` |
//! | write into a file that cannot be replaced | `in_place` |
//! | recover it if its process died | `intent`, `recovery`, `interrupted_step`, `cleanup` |

mod attributes;
mod cancellable;
mod cleanup;
mod content;
mod copy;
mod emptied_folders;
mod error;
mod fingerprint;
mod flush;
mod folder_attributes;
mod folders;
mod in_place;
mod inodes;
mod intent;
mod interrupted_step;
mod lock;
mod lookup;
mod probe;
#[cfg(feature = "rig")]
mod protections;
mod publish;
mod recent;
mod recovery;
mod replacement;
mod roots;
mod stage;
mod staged;
mod step_builder;
mod swap;
mod target;
mod temp;
mod temp_name;

use std::path::{Path, PathBuf};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use slipstitch_core::cancel::CancelToken;
use slipstitch_core::change::FileChange;
use slipstitch_core::path::{FilePath, RootName};
use slipstitch_core::ports::workspace::{
    FolderEntry, InterruptedChange, OpenResult, ReadResult, Staged, Workspace, WorkspaceError,
};

use slipstitch_platform::{files, names};

use cleanup::CleanupFolder;
use in_place::BackupFolder;
pub(crate) use intent::intent_paths;
pub use lock::sweep_locks;
use lock::{LockFolder, StaleMarks};
use lookup::{Lookup, MissingFile};
pub use probe::FsFeatures;
#[cfg(feature = "rig")]
pub use protections::disable_protections;
use recent::RecentContents;
use roots::{Root, Roots};
use staged::DisplacedCheck;

/// From this size on, a file is read in blocks if its whole text is not needed.
const MIN_LARGE_FILE: u64 = 16 << 20;

/// Whether a change is flushed to the disk before it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fsync {
    /// Flushed: an acknowledged change survives a power cut.
    #[default]
    On,
    /// Not flushed: faster, for scratch folders and tests.
    Off,
}

/// What happens to a file with several hard links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HardLinks {
    /// The change is refused.
    #[default]
    Refuse,
    /// The edited name gets a new file; the other links keep the old content.
    Break,
    /// The file is written in place, so that all links have the new content. Readers may see it half done.
    WriteThrough,
}

/// The files beneath one or more folders on disk.
#[derive(Debug)]
pub struct DiskWorkspace {
    roots: Roots,
    locks: LockFolder,
    cleanup: CleanupFolder,
    backups: BackupFolder,
    fsync: Fsync,
    hard_links: HardLinks,
    named_temps: bool,
    displaced_check: DisplacedCheck,
    recent: RecentContents,
    /// Cancelled when the process is to end.
    interrupt: Option<CancelToken>,
}

/// Why a folder cannot be used as a root.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The path does not exist.
    #[error("the root `{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// The path is not a folder.
    #[error("the root `{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The path is not UTF-8, which requests need.
    #[error("the path of the root `{}` is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// The root cannot be opened for another reason.
    #[error("cannot open the root `{}`: {source}", path.display())]
    Root {
        /// The root as it was given.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The folder for locks cannot be created or opened.
    #[error("cannot open the lock folder `{}`: {source}", path.display())]
    Locks {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl DiskWorkspace {
    /// How long a change waits for the locks of its files.
    pub const LOCK_WAIT: Duration = Duration::from_secs(10);

    /// Opens `root` and holds it open.
    ///
    /// `locks` is a folder outside the root, created if it is missing. All processes that share the root must
    /// use the same one.
    pub fn open(root: &Path, locks: &Path, fsync: Fsync) -> Result<Self, OpenError> {
        let roots = Roots::new(open_root(root)?);
        let failed = |source| OpenError::Locks { path: locks.into(), source };
        let lock_folder = LockFolder::open(locks, Self::LOCK_WAIT).map_err(failed)?;
        let cleanup = CleanupFolder::open(locks.join("staging")).map_err(failed)?;
        let backups = BackupFolder::open(locks.join("in-place")).map_err(failed)?;
        let opened = Self {
            roots,
            locks: lock_folder,
            cleanup,
            backups,
            fsync,
            hard_links: HardLinks::default(),
            named_temps: false,
            displaced_check: DisplacedCheck::On,
            recent: RecentContents::default(),
            interrupt: None,
        };
        #[cfg(feature = "rig")]
        if protections::are_disabled() {
            return Ok(opened.without_locks().without_checks());
        }
        Ok(opened)
    }

    /// Opens another root, whose files have absolute paths.
    pub fn with_root(mut self, root: &Path) -> Result<Self, OpenError> {
        self.roots.add(open_root(root)?);
        Ok(self)
    }

    /// The canonical path of the first root.
    pub fn root(&self) -> &str {
        self.roots.first()
    }

    /// The canonical path of every root.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(|(name, _)| name)
    }

    /// Removes what dead processes have left behind before the journal knew about it. Returns how many files.
    pub fn sweep(&self) -> std::io::Result<usize> {
        self.cleanup.sweep(&self.roots, &self.backups.path)
    }

    /// Sets a token that is cancelled when the process is to end. It stops the recovery of an interrupted change, even in
    /// the middle of a file; the next start continues it. From then on, nothing waits for locks of other processes.
    pub fn with_interrupt(mut self, interrupt: Option<CancelToken>) -> Self {
        self.locks.set_interrupt(interrupt.clone());
        self.interrupt = interrupt;
        self
    }

    /// Sets what happens to files with several hard links.
    pub fn with_hard_links(mut self, hard_links: HardLinks) -> Self {
        self.hard_links = hard_links;
        self
    }

    /// Gives temporary files a name from the start, for systems that cannot name them later.
    pub fn with_named_temps(mut self, named: bool) -> Self {
        self.named_temps = named;
        self
    }

    /// Where a file created at a path would end up, if that is not the path itself.
    fn real_missing(&self, path: &FilePath, missing: MissingFile) -> Option<FilePath> {
        let mut suffix: PathBuf = missing.folders.into_iter().collect();
        suffix.push(missing.name);
        self.roots.path_of(&*missing.dir, &suffix).filter(|real| real != path)
    }

    /// Takes no locks, so that a rig can show what they are for.
    #[cfg(feature = "rig")]
    pub fn without_locks(mut self) -> Self {
        self.locks.disable();
        self
    }

    /// Does not look at files right before they are displaced, so that a rig can show what that is for.
    #[cfg(feature = "rig")]
    pub fn without_look(mut self) -> Self {
        self.displaced_check = DisplacedCheck::Late;
        self
    }

    /// Does not verify displaced files, so that a rig can show what that is for.
    #[cfg(feature = "rig")]
    pub fn without_checks(mut self) -> Self {
        self.displaced_check = DisplacedCheck::Off;
        self
    }

    /// Sets whether changes are flushed to the disk.
    pub fn with_fsync(mut self, fsync: Fsync) -> Self {
        self.fsync = fsync;
        self
    }

    /// Sets how long a change waits for locks, instead of [`DiskWorkspace::LOCK_WAIT`].
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.locks.set_max_wait(wait);
        self
    }
}

fn open_root(root: &Path) -> Result<Root, OpenError> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => OpenError::Missing(root.into()),
        std::io::ErrorKind::NotADirectory => OpenError::NotAFolder(root.into()),
        _ => OpenError::Root { path: root.into(), source },
    };
    let canonical = files::real_path(root).map_err(failed)?;
    let handle = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(failed)?;
    let name = names::to_text(&canonical).ok_or(OpenError::NotUtf8(canonical))?;
    let given = std::path::absolute(root).ok().and_then(|path| names::to_text(&path));
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
        match lookup::look_up(&self.roots, path, "read")? {
            Lookup::Missing(missing) => Ok(ReadResult::Missing { real: self.real_missing(path, missing) }),
            Lookup::File(found) => {
                content::read(&self.roots, &self.recent, path, found).map(ReadResult::File)
            }
        }
    }

    fn open(&self, path: &FilePath) -> Result<OpenResult, WorkspaceError> {
        match lookup::look_up(&self.roots, path, "read")? {
            Lookup::File(found) if found.metadata.len >= MIN_LARGE_FILE => {
                Ok(OpenResult::Large(content::open_large(&self.roots, path, found)))
            }
            Lookup::File(found) => {
                content::read(&self.roots, &self.recent, path, found).map(OpenResult::File)
            }
            Lookup::Missing(missing) => Ok(OpenResult::Missing { real: self.real_missing(path, missing) }),
        }
    }

    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
        folders::list(&self.roots, folder)
    }

    fn check(&self, changes: &[FileChange]) -> Result<Vec<String>, WorkspaceError> {
        stage::check(self, changes).map(|()| Vec::new())
    }

    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        self.stage_unless_cancelled(changes, &CancelToken::default())
    }

    fn stage_unless_cancelled<'a>(
        &'a self,
        changes: &[FileChange],
        cancel: &CancelToken,
    ) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        Ok(Box::new(stage::stage(self, changes, StaleMarks::Report, cancel)?))
    }

    fn stage_after_recovery<'a>(
        &'a self,
        changes: &[FileChange],
    ) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        Ok(Box::new(stage::stage(self, changes, StaleMarks::Ignore, &CancelToken::default())?))
    }

    fn reopen<'a>(&'a self, intent: &str) -> Result<Option<Box<dyn InterruptedChange + 'a>>, WorkspaceError> {
        Ok(recovery::reopen(self, intent)?.map(|change| Box::new(change) as Box<dyn InterruptedChange>))
    }
}
