//! Notes of what a process puts where others might trip over it, before a journal knows: temporary files
//! with a name, new folders, copies for writing in place. If the process dies, the next one that starts cleans
//! up.
//!
//! A note is a file in a folder of the state, locked as long as its process lives; each line is JSON, the path
//! of a file or an object with that of a folder.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::AtFlags;
use serde::{Deserialize, Serialize};

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

/// What one line of a note names.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    File(PathBuf),
    Folder { folder: PathBuf },
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
            // The last first: what is in a folder goes before the folder. A line that makes no sense is one at which
            // the process died, so before it made anything.
            let lines: Vec<Line> = BufReader::new(&file)
                .lines()
                .filter_map(|line| serde_json::from_str(&line.ok()?).ok())
                .collect();
            let mut all = true;
            for line in lines.iter().rev() {
                match clean_up(line, roots, copies) {
                    Ok(found) => removed += usize::from(found),
                    Err(_) => all = false,
                }
            }
            if all {
                std::fs::remove_file(&path)?;
            }
        }
        Ok(removed)
    }
}

/// Removes what a line names. Answers whether it was there; an error means that it has to be tried again.
fn clean_up(line: &Line, roots: &Roots, copies: &Path) -> io::Result<bool> {
    let removed = match line {
        Line::File(path) if path.starts_with(copies) => std::fs::remove_file(path).map(|()| true),
        Line::File(path) => match roots.inside(path) {
            Some(way) => remove(&way, AtFlags::empty()),
            // Another root's.
            None => return Err(io::ErrorKind::NotFound.into()),
        },
        Line::Folder { folder } => match roots.inside(folder) {
            // A folder that someone put a file into meanwhile is theirs now.
            Some(way) => Ok(remove(&way, AtFlags::REMOVEDIR).unwrap_or(false)),
            None => return Err(io::ErrorKind::NotFound.into()),
        },
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed,
    }
}

/// Removes one name by its folder's handle; a file only if it is one of ours by its name.
fn remove(way: &Way<'_>, flags: AtFlags) -> io::Result<bool> {
    let ours = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(PREFIX));
    let may_go = |name: &&OsStr| flags.contains(AtFlags::REMOVEDIR) || ours(name);
    let Some(name) = way.path.file_name().filter(may_go) else { return Ok(false) };
    let above = way.path.parent().filter(|above| !above.as_os_str().is_empty());
    let dir = way.root.dir.open_dir(above.unwrap_or(Path::new(".")))?;
    rustix::fs::unlinkat(&dir, name, flags)?;
    Ok(true)
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

    /// Notes a folder that is about to be made in `dir`.
    pub(super) fn folder(&mut self, dir: impl AsFd, name: &OsStr) -> io::Result<()> {
        match full_name(dir) {
            Some(above) => self.line(&Line::Folder { folder: above.join(name) }),
            None => Ok(()),
        }
    }

    /// Notes a path before something is put there.
    pub(super) fn add(&mut self, path: &Path) -> io::Result<()> {
        self.line(&Line::File(path.into()))
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        let (_, file) = match &mut self.file {
            Some(open) => open,
            none => none.insert(start(&self.notes.folder)?),
        };
        file.write_all(&line)
    }

    /// Leaves the note for whoever cleans up next.
    pub(super) fn leave(&mut self) {
        self.file = None;
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
