//! Notes of what a process puts where others might trip over it, before a journal knows: temporary files
//! with a name, copies for writing in place. If the process dies, the next one that starts cleans up.
//!
//! A note is a file in a folder of the state, locked as long as its process lives; each line is the JSON text
//! of one path.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::place::Place;
use super::roots::{Roots, Way, full_name};
use super::temp::{PREFIX, random_name};

/// The folder of notes.
#[derive(Debug)]
pub(super) struct Notes {
    folder: PathBuf,
}

/// The note of one change; it is written only when there is something to note.
#[derive(Debug)]
pub(super) struct Note<'a> {
    notes: &'a Notes,
    file: Option<(PathBuf, File)>,
}

impl Notes {
    pub(super) fn open(folder: PathBuf) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(Self { folder })
    }

    pub(super) fn note(&self) -> Note<'_> {
        Note { notes: self, file: None }
    }

    /// Removes what processes that died have left, as far as it is beneath `roots` or in `copies`. What cannot
    /// be removed now stays noted.
    pub(super) fn sweep(&self, roots: &Roots, copies: &Path) -> io::Result<usize> {
        let mut removed = 0;
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let Ok(file) = OpenOptions::new().read(true).open(&path) else { continue };
            if file.try_lock().is_err() {
                continue;
            }
            let mut all = true;
            for line in BufReader::new(&file).lines() {
                let left = line.ok().and_then(|line| serde_json::from_str::<PathBuf>(&line).ok());
                match left {
                    Some(left) if left.starts_with(copies) => {
                        removed += usize::from(std::fs::remove_file(&left).is_ok());
                    }
                    Some(left) => match roots.inside(&left) {
                        Some(way) => removed += usize::from(remove(&way).unwrap_or(false)),
                        // Another root's.
                        None => all = false,
                    },
                    // The process died while it wrote the line, so before it made the file.
                    None => {}
                }
            }
            if all {
                std::fs::remove_file(&path)?;
            }
        }
        Ok(removed)
    }
}

/// Removes one temporary file by its folder's handle, if it is one of ours by its name.
fn remove(way: &Way<'_>) -> io::Result<bool> {
    let ours = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.starts_with(PREFIX));
    let Some(name) = way.path.file_name().filter(|name| ours(name)) else { return Ok(false) };
    let above = way.path.parent().filter(|above| !above.as_os_str().is_empty());
    let dir = way.root.dir.open_dir(above.unwrap_or(Path::new(".")))?;
    Ok(rustix::fs::unlinkat(&dir, name, rustix::fs::AtFlags::empty()).is_ok())
}

impl Note<'_> {
    /// Notes a temporary file that is about to be made.
    pub(super) fn temp(&mut self, place: &Place) -> io::Result<()> {
        match full_name(&*place.dir) {
            Some(folder) => self.add(&folder.join(&place.name)),
            // Nobody could find it again; it is removed when the process ends as it should.
            None => Ok(()),
        }
    }

    /// Notes a path before something is put there.
    pub(super) fn add(&mut self, path: &Path) -> io::Result<()> {
        let mut line = serde_json::to_vec(path)?;
        line.push(b'\n');
        let (_, file) = match &mut self.file {
            Some(open) => open,
            none => none.insert(start(&self.notes.folder)?),
        };
        file.write_all(&line)
    }

    /// Ends the note: from now on the journal knows.
    pub(super) fn end(&mut self) {
        if let Some((path, _)) = self.file.take() {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Note<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// A new note, locked. Someone who cleans up may take it for a dead one before it is locked.
fn start(folder: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        let path = folder.join(random_name());
        let file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(&path)?;
        file.lock()?;
        if file.metadata()?.nlink() > 0 {
            return Ok((path, file));
        }
    }
}
