//! Listing folders, and creating the missing ones for a new file.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::{Dir, MetadataExt};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{EntryKind, FolderEntry, WorkspaceError};

use super::Fsync;
use super::cleanup::CleanupList;
use super::error::{io_error, is_escape};
use super::lookup::{self, Location, MissingFile};
use super::roots::{RootedPath, Roots};

/// The entries of a folder, sorted by name; those of the first root if `folder` is `None`.
pub(super) fn list(roots: &Roots, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
    let path = folder.cloned().unwrap_or_else(FilePath::root);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => WorkspaceError::NoFolder(path.clone()),
        _ => io_error(&path, "list", error),
    };
    let rooted = roots.resolve(&path).ok_or_else(|| WorkspaceError::Outside(path.clone()))?;
    let dir = lookup::open_folder(roots, &rooted).map_err(failed)?;
    let mut entries = Vec::new();
    for entry in dir.entries().map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        // Resolved from the root, so that symlinks are followed only inside it.
        let found = rooted.root.dir.metadata(rooted.path.join(&name));
        let (kind, size) = match &found {
            Ok(found) if found.is_file() => (EntryKind::File, found.len()),
            Ok(found) if found.is_dir() => (EntryKind::Folder, 0),
            Ok(_) | Err(_) => (EntryKind::Other, 0),
        };
        let modified = found.ok().map(|found| found.mtime() * 1000 + found.mtime_nsec() / 1_000_000);
        entries.push(FolderEntry { name: name.to_string_lossy().into_owned(), kind, size, modified });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// Removes those of the folders that are empty, and flushes the folders that contained them. `folders` has outer
/// folders before inner ones.
///
/// A failure is no reason to leave an interrupted change unsettled: an empty folder does no harm.
pub(super) fn remove_empty(roots: &Roots, folders: &[FilePath], fsync: Fsync) {
    let mut parents = Vec::new();
    for folder in folders.iter().rev() {
        let Ok(Some(Location { dir, name })) = locate_folder(roots, folder) else { continue };
        if rustix::fs::unlinkat(&*dir, &name, AtFlags::REMOVEDIR).is_ok() {
            parents.push(dir);
        }
    }
    // A parent that was removed in turn cannot be flushed and need not be.
    for dir in parents.iter().filter(|_| fsync == Fsync::On) {
        let _ = sync_folder(dir);
    }
}

/// The location of a folder, whether it exists or not; `None` if the folder around it does not exist in a root.
pub(super) fn locate_folder(roots: &Roots, folder: &FilePath) -> io::Result<Option<Location>> {
    let Some(rooted) = roots.resolve(folder) else { return Ok(None) };
    let Some(name) = rooted.path.file_name() else { return Ok(None) };
    let parent = rooted.path.parent().map_or_else(PathBuf::new, Into::into);
    match lookup::open_folder(roots, &RootedPath { root: rooted.root, path: parent }) {
        Ok(dir) => Ok(Some(Location { dir: Arc::new(dir), name: name.to_owned() })),
        Err(error) if is_escape(&error) => Ok(None),
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Flushes a folder. The open handle may be `O_PATH`, which cannot be flushed, so the folder is opened again.
pub(super) fn sync_folder(dir: &Arc<Dir>) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(&**dir, ".", flags, Mode::empty())?;
    match rustix::fs::fsync(&folder) {
        // Some file systems cannot flush folders and do not need to.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        result => Ok(result?),
    }
}

/// The folders that were created for a change. Dropping it removes those that are still empty.
#[derive(Debug, Default)]
pub(super) struct CreatedFolders(Vec<(Arc<Dir>, OsString)>);

impl CreatedFolders {
    /// Creates the missing folders of a file's path.
    pub(super) fn create(
        &mut self,
        missing: MissingFile,
        cleanup: &mut CleanupList<'_>,
    ) -> io::Result<Location> {
        let mut dir = missing.dir;
        for name in missing.folders {
            cleanup.add_folder(&*dir, &name)?;
            match rustix::fs::mkdirat(&*dir, &name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                Ok(()) => self.0.push((Arc::clone(&dir), name.clone())),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            dir = Arc::new(dir.open_dir(&name)?);
        }
        Ok(Location { dir, name: missing.name })
    }

    /// The folders that contain the created ones.
    pub(super) fn parents(&self) -> impl Iterator<Item = &Arc<Dir>> {
        self.0.iter().map(|(dir, _)| dir)
    }

    /// The paths of the created folders, outermost first.
    pub(super) fn paths(&self, roots: &Roots) -> Vec<FilePath> {
        self.0.iter().filter_map(|(dir, name)| roots.path_of(&**dir, name.as_ref())).collect()
    }

    /// Removes the created folders that are still empty.
    pub(super) fn remove(&mut self) {
        for (dir, name) in self.0.drain(..).rev() {
            // This fails for a folder that has got a file meanwhile, which is therefore in use.
            let _ = rustix::fs::unlinkat(&*dir, &name, AtFlags::REMOVEDIR);
        }
    }

    /// Keeps the created folders.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        self.remove();
    }
}
