//! Lists of files and folders to remove if this process dies before the journal knows about them:
//! named temporary files, new folders, and the copies kept for writing in place.
//!
//! A list is a file in the state folder, locked while its process lives. Each line is JSON: the path of a
//! file, or an object with the path of a folder. The next process that starts removes what a list without a
//! lock names.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slipstitch_platform::files::{self, AsHandle, handle_path};
use slipstitch_platform::{info, private};

use super::lookup::Location;
use super::roots::{FolderPaths, RootedPath, Roots};
use super::temp_name::{PREFIX, random_name};
use crate::os_path::{path_to_text, text_to_path};
use crate::private_files;

/// The folder that contains the lists of all processes.
#[derive(Debug)]
pub(super) struct CleanupFolder {
    folder: PathBuf,
}

/// The list of one change. Its file is created with the first entry.
#[derive(Debug)]
pub(super) struct CleanupList<'a> {
    folder: &'a CleanupFolder,
    file: Option<(PathBuf, File)>,
    paths: FolderPaths,
}

/// One line of a list. Paths are text, see `os_path.rs`: JSON has no other names.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Entry {
    File(String),
    Folder { folder: String },
}

impl CleanupFolder {
    pub(super) fn open(folder: PathBuf) -> io::Result<Self> {
        private_files::create_folder(&folder)?;
        Ok(Self { folder })
    }

    pub(super) fn new_list(&self) -> CleanupList<'_> {
        CleanupList { folder: self, file: None, paths: FolderPaths::default() }
    }

    /// Removes what dead processes have left beneath `roots` and in `backups`. A list with entries that
    /// cannot be removed now is kept.
    pub(super) fn sweep(&self, roots: &Roots, backups: &Path) -> io::Result<usize> {
        let mut removed = 0;
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let Ok(file) = private_files::open(&path, OpenOptions::new().read(true)) else { continue };
            if file.try_lock().is_err() {
                continue;
            }
            // A line that cannot be parsed was cut off when the process died, so it had not created
            // anything for it yet.
            let entries: Vec<Entry> = BufReader::new(&file)
                .lines()
                .filter_map(|line| serde_json::from_str(&line.ok()?).ok())
                .collect();
            let mut is_clean = true;
            // Newest first, so that a folder is empty when its turn comes.
            for entry in entries.iter().rev() {
                match remove_entry(entry, roots, backups) {
                    Ok(found) => removed += usize::from(found),
                    Err(_) => is_clean = false,
                }
            }
            if is_clean {
                std::fs::remove_file(&path)?;
            }
        }
        Ok(removed)
    }
}

/// Removes what an entry names and returns whether it existed. After an error it must be tried again.
fn remove_entry(entry: &Entry, roots: &Roots, backups: &Path) -> io::Result<bool> {
    let removed = match entry {
        Entry::File(path) if text_to_path(path).starts_with(backups) => {
            std::fs::remove_file(text_to_path(path)).map(|()| true)
        }
        Entry::File(path) => match roots.resolve_absolute(&text_to_path(path)) {
            Some(path) => remove(&path, EntryKind::File),
            // It belongs to another root.
            None => return Err(io::ErrorKind::NotFound.into()),
        },
        Entry::Folder { folder } => match roots.resolve_absolute(&text_to_path(folder)) {
            // A folder that has got a file meanwhile is in use and stays.
            Some(path) => Ok(remove(&path, EntryKind::Folder).unwrap_or(false)),
            None => return Err(io::ErrorKind::NotFound.into()),
        },
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed,
    }
}

/// What an entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    File,
    Folder,
}

/// Removes a folder, or a file if its name is one of our temporary names.
fn remove(path: &RootedPath<'_>, kind: EntryKind) -> io::Result<bool> {
    let is_temporary = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(PREFIX));
    let may_remove = |name: &&OsStr| kind == EntryKind::Folder || is_temporary(name);
    let Some(name) = path.path.file_name().filter(may_remove) else { return Ok(false) };
    let parent = path.path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let dir = path.root.dir.open_dir(parent.unwrap_or(Path::new(".")))?;
    match kind {
        EntryKind::File => files::remove(&dir, name)?,
        EntryKind::Folder => files::remove_folder(&dir, name)?,
    }
    Ok(true)
}

impl CleanupList<'_> {
    /// Adds a temporary file that is about to be created.
    pub(super) fn add_temp(&mut self, location: &Location) -> io::Result<()> {
        match self.paths.path_of(&location.dir) {
            Some(folder) => {
                let path = folder.join(&location.name);
                self.add_file(&path)
            }
            // Without its path it could not be found again. It is still removed if the process ends normally.
            None => Ok(()),
        }
    }

    /// Adds a folder that is about to be created in `dir`.
    pub(super) fn add_folder(&mut self, dir: impl AsHandle, name: &OsStr) -> io::Result<()> {
        match handle_path(dir) {
            Some(parent) => {
                self.add(&Entry::Folder { folder: path_to_text(&parent.join(name)).into_owned() })
            }
            None => Ok(()),
        }
    }

    /// Adds a file that is about to be created.
    pub(super) fn add_file(&mut self, path: &Path) -> io::Result<()> {
        self.add(&Entry::File(path_to_text(path).into_owned()))
    }

    fn add(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let (_, file) = match &mut self.file {
            Some(open) => open,
            none => none.insert(create_locked(&self.folder.folder)?),
        };
        file.write_all(&line)
    }

    /// Keeps the list, unlocked, for the next sweep.
    pub(super) fn keep(&mut self) {
        self.file = None;
    }

    /// Deletes the list, because the journal now knows about its entries or they are gone.
    pub(super) fn delete(&mut self) {
        if let Some((path, _)) = self.file.take() {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for CleanupList<'_> {
    fn drop(&mut self) {
        self.delete();
    }
}

/// Creates a list and locks it. A sweep may remove it before it is locked; then another one is created.
fn create_locked(folder: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        let path = folder.join(random_name());
        let file =
            private::owner_only(OpenOptions::new().create_new(true).read(true).append(true)).open(&path)?;
        file.lock()?;
        if info::of(&file)?.links > 0 {
            return Ok((path, file));
        }
    }
}
