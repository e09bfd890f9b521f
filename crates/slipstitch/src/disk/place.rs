//! The walk from the root to a file.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;

use super::error::{dangling, irregular, is_escape, refusal};
use super::roots::{Roots, Way};

/// How many symlinks may follow one another at the end of a path; what Linux allows.
const MAX_LINKS: usize = 40;

/// A name in a folder that is held open. A symlink is never behind it: the walk has followed it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) dir: Arc<Dir>,
    pub(super) name: OsString,
}

/// A regular file.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    /// Opened for reading.
    pub(super) file: File,
    pub(super) metadata: Metadata,
    /// A moment before `metadata` was taken.
    pub(super) seen: SystemTime,
    /// Whether the path's last name is a symlink to it.
    pub(super) by_link: bool,
}

/// A path with no file.
#[derive(Debug)]
pub(super) struct Vacancy {
    /// The deepest folder of the path that is there.
    pub(super) dir: Arc<Dir>,
    /// The folders beneath it that are not.
    pub(super) missing: Vec<OsString>,
    /// The file's name.
    pub(super) name: OsString,
}

/// What stands at a path.
#[derive(Debug)]
pub(super) enum Look {
    File(Found),
    Nothing(Vacancy),
}

/// Finds out what stands at `path`, following symlinks as long as they stay beneath a root.
pub(super) fn look(roots: &Roots, path: &FilePath, action: &'static str) -> Result<Look, WorkspaceError> {
    let failed = |error: io::Error| refusal(path, action, error);
    let outside = || WorkspaceError::Outside(path.clone());
    let Way { mut root, path: mut way } = roots.way(path).ok_or_else(outside)?;
    let mut by_link = false;
    for _ in 0..=MAX_LINKS {
        let Some(name) = last_name(&way) else {
            return Err(match open_folder(roots, &Way { root, path: way }) {
                Ok(_) => WorkspaceError::Folder(path.clone()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => dangling(path, action),
                Err(error) => failed(error),
            });
        };
        let name = name.to_owned();
        let above = way.parent().unwrap_or(Path::new(""));
        let dir = match reach(&root.dir, above) {
            Err(error) if is_escape(&error) => match detour(roots, &Way { root, path: above.into() }) {
                Ok(Some(to)) => {
                    (root, way) = (to.root, to.path.join(name));
                    continue;
                }
                Ok(None) => return Err(outside()),
                Err(error) => return Err(failed(error)),
            },
            reached => reached.map_err(failed)?,
        };
        let dir = match dir {
            Reach::Folder(dir) => dir,
            Reach::Nothing { dir, missing } if !by_link => {
                return Ok(Look::Nothing(Vacancy { dir, missing, name }));
            }
            Reach::Nothing { .. } | Reach::Dangling => return Err(dangling(path, action)),
        };
        match kind_at(&dir, &name).map_err(failed)? {
            None if by_link => return Err(dangling(path, action)),
            None => return Ok(Look::Nothing(Vacancy { dir, missing: Vec::new(), name })),
            Some(FileType::Symlink) => {
                let Some(target) = read_link(&dir, &name).map_err(failed)? else { continue };
                let to = follow(roots, &Way { root, path: above.into() }, Path::new(&target));
                (root, way) = to.map(|to| (to.root, to.path)).ok_or_else(outside)?;
                by_link = true;
            }
            Some(FileType::RegularFile) => {
                let place = Place { dir, name };
                let seen = SystemTime::now();
                let Some((file, metadata)) = place.open().map_err(failed)? else { continue };
                let kind = FileType::from_raw_mode(std::os::unix::fs::MetadataExt::mode(&metadata));
                if kind != FileType::RegularFile {
                    return Err(irregular(path, kind));
                }
                return Ok(Look::File(Found { place, file, metadata, seen, by_link }));
            }
            Some(kind) => return Err(irregular(path, kind)),
        }
    }
    Err(failed(Errno::LOOP.into()))
}

impl Place {
    /// Opens what stands there for reading, whatever it is, without waiting for a pipe's other
    /// end. `None` if it is gone or has become a symlink.
    pub(super) fn open(&self) -> io::Result<Option<(File, Metadata)>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match rustix::fs::openat(&*self.dir, &self.name, flags, Mode::empty()) {
            Ok(fd) => {
                let file = File::from(fd);
                let metadata = file.metadata()?;
                Ok(Some((file, metadata)))
            }
            Err(Errno::LOOP | Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// What stands there, without following it.
    pub(super) fn kind(&self) -> io::Result<Option<FileType>> {
        kind_at(&self.dir, &self.name)
    }

    /// Another name in the same folder.
    pub(super) fn beside(&self, name: &str) -> Self {
        Self { dir: Arc::clone(&self.dir), name: name.into() }
    }
}

/// Where a symlink in the folder `from` leads; `None` if that is in full and in no root.
fn follow<'a>(roots: &'a Roots, from: &Way<'a>, target: &Path) -> Option<Way<'a>> {
    if target.is_absolute() {
        return roots.inside(target);
    }
    Some(Way { root: from.root, path: from.path.join(target) })
}

/// The first symlink on a way that leaves its root, followed. Links in full that lead into a root are no
/// escape, but the system takes every link in full for one.
fn detour<'a>(roots: &'a Roots, way: &Way<'a>) -> io::Result<Option<Way<'a>>> {
    let mut done = PathBuf::new();
    let mut names = way.path.components().map(Component::as_os_str);
    while let Some(name) = names.next() {
        let Reach::Folder(dir) = reach(&way.root.dir, &done)? else { return Ok(None) };
        if name != ".." && kind_at(&dir, name)? == Some(FileType::Symlink) {
            let Some(target) = read_link(&dir, name)? else { return Ok(None) };
            let from = Way { root: way.root, path: done };
            let Some(mut to) = follow(roots, &from, Path::new(&target)) else { return Ok(None) };
            to.path.extend(names);
            return Ok(Some(to));
        }
        done.push(name);
    }
    Ok(None)
}

/// Opens the folder at the end of a way.
pub(super) fn open_folder(roots: &Roots, way: &Way<'_>) -> io::Result<Dir> {
    let mut way = way.clone();
    for _ in 0..=MAX_LINKS {
        let path = if way.path.as_os_str().is_empty() { Path::new(".") } else { &way.path };
        match way.root.dir.open_dir(path) {
            Err(error) if is_escape(&error) => match detour(roots, &way)? {
                Some(to) => way = to,
                None => return Err(error),
            },
            opened => return opened,
        }
    }
    Err(Errno::LOOP.into())
}

/// The name of the file that `way` leads to; `None` if it is written so that only a folder fits.
fn last_name(way: &Path) -> Option<&OsStr> {
    let bytes = way.as_os_str().as_bytes();
    if bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
        return None;
    }
    way.file_name()
}

fn kind_at(dir: &Dir, name: &OsStr) -> io::Result<Option<FileType>> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Where a symlink leads; `None` if it is none any more.
fn read_link(dir: &Dir, name: &OsStr) -> io::Result<Option<OsString>> {
    match rustix::fs::readlinkat(dir, name, Vec::new()) {
        Ok(target) => Ok(Some(OsString::from_vec(target.into_bytes()))),
        Err(Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

enum Reach {
    Folder(Arc<Dir>),
    Nothing { dir: Arc<Dir>, missing: Vec<OsString> },
    Dangling,
}

/// Opens the folder at `way`, or finds the last one before it that is there.
fn reach(root: &Arc<Dir>, way: &Path) -> io::Result<Reach> {
    if way.as_os_str().is_empty() {
        return Ok(Reach::Folder(Arc::clone(root)));
    }
    match root.open_dir(way) {
        Ok(dir) => return Ok(Reach::Folder(Arc::new(dir))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut dir = Arc::clone(root);
    let mut done = PathBuf::new();
    let mut names = way.components().map(Component::as_os_str);
    while let Some(name) = names.next() {
        done.push(name);
        match root.open_dir(&done) {
            Ok(next) => dir = Arc::new(next),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if kind_at(&dir, name)? == Some(FileType::Symlink) {
                    return Ok(Reach::Dangling);
                }
                let missing = std::iter::once(name).chain(names).map(OsStr::to_owned).collect();
                return Ok(Reach::Nothing { dir, missing });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Reach::Folder(dir))
}

#[cfg(test)]
mod tests {
    use super::super::roots::{Root, full_name};
    use super::*;
    use cap_std::ambient_authority;

    fn root() -> (tempfile::TempDir, Arc<Dir>) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        (folder, Arc::new(dir))
    }

    fn at(root: &Arc<Dir>, path: &str) -> Result<Look, WorkspaceError> {
        let name = full_name(&**root).unwrap().to_str().unwrap().to_owned();
        let roots = Roots::new(Root::new(root.try_clone().unwrap(), vec![name]));
        look(&roots, &FilePath::from_record(path).unwrap(), "read")
    }

    #[test]
    fn links_are_read_where_they_stand() {
        let (_folder, root) = root();
        root.create_dir_all("real/deep").unwrap();
        root.write("real/x", "up").unwrap();
        root.symlink("real/deep", "way").unwrap();
        root.symlink("../x", "real/deep/link").unwrap();
        // `way/../x` is `real/x`: a `..` starts from where the link leads, not from its name.
        let Ok(Look::File(found)) = at(&root, "way/link") else { panic!("found") };
        assert!(found.by_link);
        assert_eq!(found.place.name, "x");
    }

    #[test]
    fn a_link_written_as_a_folder_is_one() {
        let (_folder, root) = root();
        root.create_dir("folder").unwrap();
        root.write("file", "").unwrap();
        for (target, name) in [("folder/", "a"), ("folder/.", "b"), (".", "c"), ("folder/..", "d")] {
            root.symlink(target, name).unwrap();
            assert!(matches!(at(&root, name), Err(WorkspaceError::Folder(_))), "{target}");
        }
        root.symlink("file/", "e").unwrap();
        assert!(matches!(at(&root, "e"), Err(WorkspaceError::NotAFolder(_))));
    }

    #[test]
    fn a_circle_ends() {
        let (_folder, root) = root();
        root.symlink("b", "a").unwrap();
        root.symlink("a", "b").unwrap();
        assert!(at(&root, "a").unwrap_err().to_string().contains("circle"));
    }

    #[test]
    fn missing_folders_are_listed_from_the_last_one_there() {
        let (_folder, root) = root();
        root.create_dir("a").unwrap();
        let Ok(Look::Nothing(vacancy)) = at(&root, "a/b/c/d") else { panic!("nothing") };
        assert_eq!(vacancy.missing, ["b", "c"]);
        assert_eq!(vacancy.name, "d");
    }

    #[test]
    fn a_pipe_that_takes_the_place_of_a_file_does_not_hold_anyone_up() {
        let (_folder, root) = root();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(&*root, "pipe", FileType::Fifo, mode, 0).unwrap();
        // As if it had been a file when it was looked at.
        let (_, metadata) = Place { dir: root, name: "pipe".into() }.open().unwrap().unwrap();
        assert!(!metadata.is_file());
    }
}
