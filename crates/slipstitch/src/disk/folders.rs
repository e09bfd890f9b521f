//! Listing folders, and creating the missing ones for a new file.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{EntryKind, FolderEntry, WorkspaceError};
use slipstitch_platform::files::{self, Readers};
use slipstitch_platform::{info, problem};

use super::Fsync;
use super::cleanup::CleanupList;
use super::error::io_error;
use super::folder_attributes::{self, RecordedFolders};
use super::lookup::{self, Location, MissingFile, locate_folder};
use super::roots::Roots;
use crate::os_path::path_to_text;

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
        let modified = found.ok().and_then(|found| info::modified_millis(&found));
        entries.push(FolderEntry { name: path_to_text(Path::new(&name)).into_owned(), kind, size, modified });
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
        if files::remove_folder(&dir, &name).is_ok() {
            parents.push(dir);
        }
    }
    // A parent that was removed in turn cannot be flushed and need not be.
    for dir in parents.iter().filter(|_| fsync == Fsync::On) {
        let _ = files::sync_folder(dir);
    }
}

/// The folders that were created for a change. Dropping it removes those that are still empty.
#[derive(Debug, Default)]
pub(super) struct CreatedFolders(Vec<CreatedFolder>);

#[derive(Debug)]
struct CreatedFolder {
    dir: Arc<Dir>,
    name: OsString,
    path: FilePath,
}

impl CreatedFolders {
    /// Creates the missing folders of a file's path: as they were, if that is recorded, or else as the system does by
    /// default.
    pub(super) fn create(
        &mut self,
        path: &FilePath,
        missing: MissingFile,
        (roots, recorded): (&Roots, &RecordedFolders),
        cleanup: &mut CleanupList<'_>,
    ) -> Result<Location, WorkspaceError> {
        let failed = |error: io::Error| io_error(path, "create", error);
        let mut dir = missing.dir;
        let count = missing.folders.len();
        for (index, name) in missing.folders.into_iter().enumerate() {
            // Found before the folder is created: a folder without a path would be left behind by undo.
            let own = roots.path_of(&*dir, name.as_ref()).or_else(|| parent_of(path, count - index));
            let own = own.ok_or_else(|| failed(problem::missing()))?;
            cleanup.add_folder(&*dir, &name).map_err(failed)?;
            let recorded = recorded.find(roots, &*dir, &name);
            let readers = if recorded.is_some() { Readers::Owner } else { Readers::Default };
            match files::create_folder(&dir, &name, readers) {
                Ok(()) => {
                    self.0.push(CreatedFolder { dir: Arc::clone(&dir), name: name.clone(), path: own });
                    if let Some((folder, wanted)) = recorded {
                        folder_attributes::set(&folder, &dir, &name, wanted)?;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            dir = Arc::new(dir.open_dir(&name).map_err(failed)?);
        }
        Ok(Location { dir, name: missing.name })
    }

    /// The folders that contain the created ones.
    pub(super) fn parents(&self) -> impl Iterator<Item = &Arc<Dir>> {
        self.0.iter().map(|folder| &folder.dir)
    }

    /// The paths of the created folders, outermost first.
    pub(super) fn paths(&self) -> Vec<FilePath> {
        self.0.iter().map(|folder| folder.path.clone()).collect()
    }

    /// Removes the created folders that are still empty.
    pub(super) fn remove(&mut self) {
        for CreatedFolder { dir, name, .. } in self.0.drain(..).rev() {
            // This fails for a folder that has got a file meanwhile, which is therefore in use.
            let _ = files::remove_folder(&dir, &name);
        }
    }

    /// Keeps the created folders.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

/// The path `levels` above a file's path.
fn parent_of(path: &FilePath, levels: usize) -> Option<FilePath> {
    let names: Vec<&str> = path.as_str().split('/').collect();
    FilePath::from_record(&names.get(..names.len().checked_sub(levels)?)?.join("/")).ok()
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        self.remove();
    }
}
