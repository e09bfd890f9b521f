//! Folders: what they hold, and those made for a file that is not there yet.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{EntryKind, FolderEntry, WorkspaceError};

use super::error::refusal;
use super::note::Note;
use super::place::{self, Place, Vacancy};
use super::roots::Roots;

/// What a folder holds, by name.
pub(super) fn list(roots: &Roots, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
    let named = folder.cloned().unwrap_or_else(FilePath::root);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => WorkspaceError::NoFolder(named.clone()),
        _ => refusal(&named, "list", error),
    };
    let way = roots.way(&named).ok_or_else(|| WorkspaceError::Outside(named.clone()))?;
    let dir = place::open_folder(roots, &way).map_err(failed)?;
    let mut entries = Vec::new();
    for entry in dir.entries().map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        // From the root, so that a symlink is followed only as far as that reaches.
        let (kind, size) = match way.root.dir.metadata(way.path.join(&name)) {
            Ok(found) if found.is_file() => (EntryKind::File, found.len()),
            Ok(found) if found.is_dir() => (EntryKind::Folder, 0),
            Ok(_) | Err(_) => (EntryKind::Other, 0),
        };
        entries.push(FolderEntry { name: name.to_string_lossy().into_owned(), kind, size });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// The folders that a stage made; dropping it removes them again, unless they are in use by then.
#[derive(Debug, Default)]
pub(super) struct MadeFolders(Vec<(Arc<Dir>, OsString)>);

impl MadeFolders {
    /// Makes what is missing on the way to a file.
    pub(super) fn make_way(&mut self, vacancy: Vacancy, note: &mut Note<'_>) -> io::Result<Place> {
        let mut dir = vacancy.dir;
        for name in vacancy.missing {
            note.folder(&*dir, &name)?;
            match rustix::fs::mkdirat(&*dir, &name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                Ok(()) => self.0.push((Arc::clone(&dir), name.clone())),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            dir = Arc::new(dir.open_dir(&name)?);
        }
        Ok(Place { dir, name: vacancy.name })
    }

    /// The folders that hold them, whose listing changed.
    pub(super) fn holders(&self) -> impl Iterator<Item = &Arc<Dir>> {
        self.0.iter().map(|(dir, _)| dir)
    }

    /// The folders themselves, as requests would name them, outermost first.
    pub(super) fn paths(&self, roots: &Roots) -> Vec<FilePath> {
        self.0.iter().filter_map(|(dir, name)| roots.real(&**dir, name.as_ref())).collect()
    }

    /// Removes them again.
    pub(super) fn remove(&mut self) {
        for (dir, name) in self.0.drain(..).rev() {
            // A folder that someone put a file into meanwhile is theirs now.
            let _ = rustix::fs::unlinkat(&*dir, &name, AtFlags::REMOVEDIR);
        }
    }

    /// Lets them stay.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        self.remove();
    }
}
