//! The folders that a change removes because it leaves them empty.
//!
//! They are part of the change: they are removed before it counts as made, so that an error still rolls all of it back.
//! A file that is removed from such a folder is therefore set aside in the nearest folder around it that stays.

use std::io;
use std::sync::Arc;

use cap_std::fs::Dir;
use slipstitch_core::change::Attributes;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::snapshot::FileId;
use slipstitch_platform::files::{self, Readers};
use slipstitch_platform::info::FileKind;
use slipstitch_platform::problem::{self, Problem};

use super::error::io_error;
use super::lookup::{Location, file_id, locate_folder};
use super::roots::Roots;
use super::{Fsync, attributes, folder_attributes};

#[derive(Debug)]
pub(super) struct EmptiedFolders {
    /// Outer folders before inner ones.
    list: Vec<EmptiedFolder>,
    /// The indices of those that were removed, inner folders before outer ones.
    removed: Vec<usize>,
}

#[derive(Debug)]
struct EmptiedFolder {
    path: FilePath,
    location: Location,
    id: FileId,
    /// The folder that contains it. Once removed, some file systems (FUSE) do not tell any more.
    parent: FileId,
    attributes: Attributes,
    /// Whether the folder could be listed, so that all of its attributes are known.
    is_known: bool,
}

impl EmptiedFolders {
    /// Finds the folders that exist. `paths` has outer folders before inner ones.
    pub(super) fn find(roots: &Roots, paths: Vec<FilePath>) -> Result<Self, WorkspaceError> {
        let mut list = Vec::new();
        for path in paths {
            let location = locate_folder(roots, &path).map_err(|error| io_error(&path, "remove", error))?;
            let Some(location) = location else { continue };
            match files::stat(&location.dir, &location.name) {
                Ok(Some(found)) if found.kind == FileKind::Folder => {
                    let id = file_id(&found);
                    let parent = id_of(&location.dir).map_err(|error| io_error(&path, "remove", error))?;
                    let read = folder_attributes::read_open(&path, &location.dir, &location.name);
                    let is_known = read.is_ok();
                    let attributes = match read {
                        Ok(attributes) => attributes,
                        Err(_) => folder_attributes::read(&path, &location.dir, &location.name)?,
                    };
                    // What could not be created again as it was is not removed.
                    if attributes::check_restorable(&path, &attributes).is_ok() {
                        list.push(EmptiedFolder { path, location, id, parent, attributes, is_known });
                    }
                }
                // Someone else has removed or replaced it.
                Ok(_) => {}
                Err(error) => return Err(io_error(&path, "remove", error)),
            }
        }
        Ok(Self { list, removed: Vec::new() })
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &FilePath> {
        self.list.iter().map(|folder| &folder.path)
    }

    /// The nearest folder around the files of `dir` that stays; `None` if that is `dir` itself, or if no file could be
    /// renamed to it.
    pub(super) fn staying_folder(&self, dir: &Arc<Dir>) -> io::Result<Option<Arc<Dir>>> {
        let own_id = id_of(dir)?;
        let (mut staying, mut id) = (None, own_id);
        // No more often than there are folders, even if mounts make a circle.
        for _ in &self.list {
            let Some(folder) = self.list.iter().find(|folder| folder.id == id) else { break };
            id = folder.parent;
            staying = Some(Arc::clone(&folder.location.dir));
        }
        Ok(staying.filter(|_| id.device == own_id.device))
    }

    /// Removes the folders, except those that are in use, and flushes the folders that contained them. After an error
    /// those that were removed can be restored.
    pub(super) fn remove(&mut self, fsync: Fsync) -> Result<(), WorkspaceError> {
        for index in (0..self.list.len()).rev() {
            let Some(folder) = self.list.get(index) else { continue };
            if folder.remove().map_err(|error| io_error(&folder.path, "remove", error))? {
                self.removed.push(index);
            }
            if !files::REMOVES_OPEN_FOLDERS {
                self.close_parent(index);
            }
        }
        if fsync == Fsync::Off {
            return Ok(());
        }
        let removed: Vec<&EmptiedFolder> =
            self.removed.iter().filter_map(|index| self.list.get(*index)).collect();
        for EmptiedFolder { path, location, parent, .. } in &removed {
            // A parent that was removed in turn cannot be flushed and need not be.
            if !removed.iter().any(|folder| folder.id == *parent) {
                files::sync_folder(&location.dir).map_err(|error| io_error(path, "remove", error))?;
            }
        }
        Ok(())
    }

    /// Closes the folder around a removed one if it is to be removed next.
    fn close_parent(&mut self, index: usize) {
        let around = |folder: &EmptiedFolder| self.list.iter().find(|outer| outer.id == folder.parent);
        let stays = self.list.get(index).and_then(around).map(|outer| Arc::clone(&outer.location.dir));
        if let (Some(dir), Some(folder)) = (stays, self.list.get_mut(index)) {
            folder.location.dir = dir;
        }
    }

    /// Creates the removed folders again, with their permissions. Returns whether there were any: then open handles of
    /// them are of no use any more.
    pub(super) fn restore(&mut self, roots: &Roots, fsync: Fsync) -> Result<bool, WorkspaceError> {
        let was_any_removed = !self.removed.is_empty();
        while let Some(index) = self.removed.pop() {
            let Some(folder) = self.list.get(index) else { continue };
            folder.create(roots, fsync).map_err(|error| io_error(&folder.path, "restore", error))?;
        }
        Ok(was_any_removed)
    }
}

impl EmptiedFolder {
    /// Removes it, unless it is in use. Returns whether it was removed.
    fn remove(&self) -> io::Result<bool> {
        let Location { dir, name } = &self.location;
        // Someone has changed its attributes, and the journal has the old ones.
        if self.is_known
            && folder_attributes::read_open(&self.path, dir, name).is_ok_and(|found| found != self.attributes)
        {
            return Ok(false);
        }
        use Problem::{Exists, FolderInUse, InUse, Missing, NotAFolder};
        match files::remove_folder(dir, name) {
            Ok(()) => Ok(true),
            // Someone else has put something there, has it open, or has removed or replaced it.
            Err(error) => match problem::of(&error) {
                Some(FolderInUse | InUse | Exists | Missing | NotAFolder) => Ok(false),
                _ => Err(error),
            },
        }
    }

    fn create(&self, roots: &Roots, fsync: Fsync) -> io::Result<()> {
        // The parent may have been removed and created again too.
        let Some(Location { dir, name }) = locate_folder(roots, &self.path)? else {
            return Err(problem::missing());
        };
        match files::create_folder(&dir, &name, Readers::Owner) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            Err(error) => return Err(error),
        }
        // What cannot be restored is no reason to lose the files in it. The folder is the user's alone then.
        let _ = folder_attributes::set(&self.path, &dir, &name, &self.attributes);
        if fsync == Fsync::On {
            files::sync_folder(&dir)?;
        }
        Ok(())
    }
}

fn id_of(dir: &Dir) -> io::Result<FileId> {
    Ok(file_id(&slipstitch_platform::info::of_folder(dir)?))
}
