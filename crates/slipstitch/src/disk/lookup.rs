//! Finds the file that a path leads to, beneath the roots.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::fs::Dir;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::snapshot::FileId;
use slipstitch_platform::info::{FileInfo, FileKind};
use slipstitch_platform::problem::{self, Problem};
use slipstitch_platform::{files, info};

use super::error::{dangling_symlink, io_error, is_escape, not_regular};
use super::roots::{Root, RootedPath, Roots};

/// How many symlinks are followed at the end of a path; the same as on Linux.
const MAX_SYMLINKS: usize = 40;

/// A name in an open directory. It is never a symlink when it comes from a lookup, which follows them.
#[derive(Debug, Clone)]
pub(super) struct Location {
    pub(super) dir: Arc<Dir>,
    pub(super) name: OsString,
}

/// What a path leads to.
#[derive(Debug)]
pub(super) enum Lookup<F = FoundFile> {
    File(F),
    Missing(MissingFile),
}

/// A file that a lookup found, open or not.
pub(super) trait Found: Sized {
    /// Takes what was seen at a location; `None` if it has just been removed or become a symlink.
    fn take(seen: SeenFile<'_>) -> Result<Option<Self>, WorkspaceError>;

    fn location(&self) -> &Location;

    /// Which file it is, if it has several names.
    fn shared_id(&self) -> Option<FileId>;
}

/// A regular file at the end of a path, which is not open yet.
#[derive(Debug)]
pub(super) struct SeenFile<'a> {
    location: Location,
    info: FileInfo,
    via_symlink: bool,
    path: &'a FilePath,
    action: &'static str,
}

/// A regular file that was not opened.
#[derive(Debug)]
pub(super) struct FoundName {
    location: Location,
    info: FileInfo,
}

/// A regular file.
#[derive(Debug)]
pub(super) struct FoundFile {
    pub(super) location: Location,
    /// Open for reading.
    pub(super) file: File,
    pub(super) metadata: FileInfo,
    /// A time right before `metadata` was read.
    pub(super) observed_at: SystemTime,
    /// Whether the last component of the path is a symlink.
    pub(super) via_symlink: bool,
}

/// A path without a file.
#[derive(Debug)]
pub(super) struct MissingFile {
    /// The deepest folder of the path that exists.
    pub(super) dir: Arc<Dir>,
    /// The folders beneath it that do not exist.
    pub(super) folders: Vec<OsString>,
    /// The file's name.
    pub(super) name: OsString,
}

/// The folders that were opened to look up several paths at one moment: the files of a change mostly share them.
#[derive(Debug, Default)]
pub(super) struct OpenFolders<'a>(HashMap<(&'a str, PathBuf), Arc<Dir>>);

impl<'a> OpenFolders<'a> {
    fn open_parent(&mut self, root: &'a Root, path: &Path) -> io::Result<Parent> {
        let key = (root.canonical(), path.to_owned());
        if let Some(known) = self.0.get(&key) {
            return Ok(Parent::Folder(Arc::clone(known)));
        }
        let opened = open_parent(&root.dir, path)?;
        if let Parent::Folder(dir) = &opened {
            self.0.insert(key, Arc::clone(dir));
        }
        Ok(opened)
    }
}

/// Looks up `path`, following symlinks as long as they stay beneath a root.
pub(super) fn look_up(
    roots: &Roots,
    path: &FilePath,
    action: &'static str,
) -> Result<Lookup, WorkspaceError> {
    look_up_from(roots, path, action, &mut OpenFolders::default())
}

/// Looks up one of several paths.
pub(super) fn look_up_from<'a, F: Found>(
    roots: &'a Roots,
    path: &FilePath,
    action: &'static str,
    opened: &mut OpenFolders<'a>,
) -> Result<Lookup<F>, WorkspaceError> {
    let failed = |error: io::Error| io_error(path, action, error);
    let outside = || WorkspaceError::Outside(path.clone());
    let mut rooted = roots.resolve(path).ok_or_else(outside)?;
    let mut via_symlink = false;
    for _ in 0..=MAX_SYMLINKS {
        let RootedPath { root, path: relative } = rooted;
        let Some(name) = file_name(&relative) else {
            return Err(match open_folder(roots, &RootedPath { root, path: relative }) {
                Ok(_) => WorkspaceError::Folder(path.clone()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => dangling_symlink(path, action),
                Err(error) => failed(error),
            });
        };
        let name = name.to_owned();
        let parent = relative.parent().unwrap_or(Path::new(""));
        let dir = match opened.open_parent(root, parent) {
            Err(error) if is_escape(&error) => {
                match follow_escape(roots, &RootedPath { root, path: parent.into() }) {
                    Ok(Some(target)) => {
                        rooted = RootedPath { root: target.root, path: target.path.join(name) };
                        continue;
                    }
                    Ok(None) => return Err(outside()),
                    Err(error) => return Err(failed(error)),
                }
            }
            opened => opened.map_err(failed)?,
        };
        let dir = match dir {
            Parent::Folder(dir) => dir,
            Parent::Missing { dir, folders } if !via_symlink => {
                return Ok(Lookup::Missing(MissingFile { dir, folders, name }));
            }
            Parent::Missing { .. } | Parent::DanglingSymlink => return Err(dangling_symlink(path, action)),
        };
        let Some(info) = files::stat(&dir, &name).map_err(failed)? else {
            return match via_symlink {
                true => Err(dangling_symlink(path, action)),
                false => Ok(Lookup::Missing(MissingFile { dir, folders: Vec::new(), name })),
            };
        };
        match info.kind {
            FileKind::Symlink => {
                let Some(target) = files::read_link(&dir, &name).map_err(failed)? else {
                    rooted = RootedPath { root, path: relative };
                    continue;
                };
                let folder = RootedPath { root, path: parent.into() };
                rooted = resolve_target(roots, &folder, Path::new(&target)).ok_or_else(outside)?;
                via_symlink = true;
            }
            FileKind::File => {
                // Another spelling of its name must not become its name.
                let name = files::spelling(&dir, name);
                let location = Location { dir, name };
                match F::take(SeenFile { location, info, via_symlink, path, action })? {
                    Some(found) => return Ok(Lookup::File(found)),
                    None => rooted = RootedPath { root, path: relative },
                }
            }
            kind => return Err(not_regular(path, kind)),
        }
    }
    Err(failed(problem::too_many_symlinks()))
}

impl Found for FoundFile {
    fn take(seen: SeenFile<'_>) -> Result<Option<Self>, WorkspaceError> {
        let SeenFile { location, via_symlink, path, action, .. } = seen;
        let observed_at = SystemTime::now();
        let opened = location.open().map_err(|error| io_error(path, action, error))?;
        let Some((file, metadata)) = opened else { return Ok(None) };
        if !metadata.is_file() {
            return Err(not_regular(path, metadata.kind));
        }
        Ok(Some(Self { location, file, metadata, observed_at, via_symlink }))
    }

    fn location(&self) -> &Location {
        &self.location
    }

    fn shared_id(&self) -> Option<FileId> {
        (self.links() > 1).then_some(file_id(&self.metadata))
    }
}

impl Found for FoundName {
    fn take(SeenFile { location, info, .. }: SeenFile<'_>) -> Result<Option<Self>, WorkspaceError> {
        Ok(Some(Self { location, info }))
    }

    fn location(&self) -> &Location {
        &self.location
    }

    fn shared_id(&self) -> Option<FileId> {
        let Location { dir, name } = &self.location;
        let links = count_links(self.info.links, || files::recount_links(dir, name));
        (links > 1).then_some(file_id(&self.info))
    }
}

impl FoundFile {
    /// How many names it has.
    pub(super) fn links(&self) -> u64 {
        count_links(self.metadata.links, || files::recount_links_of(&self.file))
    }
}

/// The identity of a file.
pub(super) fn file_id(info: &FileInfo) -> FileId {
    FileId { device: info.device, inode: info.inode }
}

/// How many names a file has.
///
/// A network or FUSE file system may still remember a name that is gone. Several names are a reason to refuse a
/// change, so then it is asked again.
fn count_links(known: u64, ask_again: impl FnOnce() -> io::Result<u64>) -> u64 {
    match known {
        0 | 1 => known,
        several => ask_again().unwrap_or(several),
    }
}

impl Location {
    /// Opens whatever is there for reading. `None` if there is nothing or a symlink.
    ///
    /// It never blocks, not even on a named pipe without a writer.
    pub(super) fn open(&self) -> io::Result<Option<(File, FileInfo)>> {
        let Some(file) = files::open(&self.dir, &self.name)? else { return Ok(None) };
        let metadata = info::of(&file)?;
        Ok(Some((file, metadata)))
    }

    /// The type of what is there, without following a symlink.
    pub(super) fn file_type(&self) -> io::Result<Option<FileKind>> {
        file_type_at(&self.dir, &self.name)
    }

    /// The folder and the name, as the platform's functions take them.
    pub(super) fn parts(&self) -> (&Dir, &OsStr) {
        (&self.dir, &self.name)
    }

    /// Another name in the same folder.
    pub(super) fn sibling(&self, name: &str) -> Self {
        Self { dir: Arc::clone(&self.dir), name: name.into() }
    }
}

/// Resolves the target of a symlink in `folder`; `None` if it is absolute and in no root.
fn resolve_target<'a>(roots: &'a Roots, folder: &RootedPath<'a>, target: &Path) -> Option<RootedPath<'a>> {
    if target.is_absolute() {
        return roots.resolve_absolute(target);
    }
    Some(RootedPath { root: folder.root, path: folder.path.join(target) })
}

/// Follows the first symlink in a path that the system refused as an escape from the root.
///
/// The system refuses every absolute symlink, but one whose target is beneath a root is no escape.
fn follow_escape<'a>(roots: &'a Roots, rooted: &RootedPath<'a>) -> io::Result<Option<RootedPath<'a>>> {
    let mut done = PathBuf::new();
    let mut names = rooted.path.components().map(Component::as_os_str);
    while let Some(name) = names.next() {
        let Parent::Folder(dir) = open_parent(&rooted.root.dir, &done)? else { return Ok(None) };
        if name != ".." && file_type_at(&dir, name)? == Some(FileKind::Symlink) {
            let Some(target) = files::read_link(&dir, name)? else { return Ok(None) };
            let folder = RootedPath { root: rooted.root, path: done };
            let Some(mut target) = resolve_target(roots, &folder, Path::new(&target)) else {
                return Ok(None);
            };
            target.path.extend(names);
            return Ok(Some(target));
        }
        done.push(name);
    }
    Ok(None)
}

/// The location of a file's path, whether there is a file or not; `None` if its folder does not exist.
pub(super) fn locate(
    roots: &Roots,
    path: &FilePath,
    action: &'static str,
) -> Result<Option<Location>, WorkspaceError> {
    Ok(match look_up(roots, path, action)? {
        Lookup::File(found) => Some(found.location),
        Lookup::Missing(missing) if missing.folders.is_empty() => {
            Some(Location { dir: missing.dir, name: missing.name })
        }
        Lookup::Missing(_) => None,
    })
}

/// The location of a folder, whether it exists or not; `None` if the folder around it does not exist in a root.
pub(super) fn locate_folder(roots: &Roots, folder: &FilePath) -> io::Result<Option<Location>> {
    let Some(rooted) = roots.resolve(folder) else { return Ok(None) };
    let Some(name) = rooted.path.file_name() else { return Ok(None) };
    let parent = rooted.path.parent().map_or_else(PathBuf::new, Into::into);
    match open_folder(roots, &RootedPath { root: rooted.root, path: parent }) {
        Ok(dir) => Ok(Some(Location { dir: Arc::new(dir), name: name.to_owned() })),
        Err(error) => match problem::of(&error) {
            Some(Problem::Missing | Problem::NotAFolder | Problem::Symlink) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Opens a folder beneath a root.
pub(super) fn open_folder(roots: &Roots, rooted: &RootedPath<'_>) -> io::Result<Dir> {
    let mut rooted = rooted.clone();
    for _ in 0..=MAX_SYMLINKS {
        let path = if rooted.path.as_os_str().is_empty() { Path::new(".") } else { &rooted.path };
        match rooted.root.dir.open_dir(path) {
            Err(error) if is_escape(&error) => match follow_escape(roots, &rooted)? {
                Some(target) => rooted = target,
                None => return Err(error),
            },
            opened => return opened,
        }
    }
    Err(problem::too_many_symlinks())
}

/// The name of the file that `path` leads to; `None` if the path can only be a folder, such as `a/`.
fn file_name(path: &Path) -> Option<&OsStr> {
    if files::names_folder(path) { None } else { path.file_name() }
}

fn file_type_at(dir: &Dir, name: &OsStr) -> io::Result<Option<FileKind>> {
    Ok(files::stat(dir, name)?.map(|found| found.kind))
}

/// The result of opening a file's parent folder.
enum Parent {
    Folder(Arc<Dir>),
    Missing { dir: Arc<Dir>, folders: Vec<OsString> },
    DanglingSymlink,
}

/// Opens the folder at `path`, or the deepest existing folder above it.
fn open_parent(root: &Arc<Dir>, path: &Path) -> io::Result<Parent> {
    if path.as_os_str().is_empty() {
        return Ok(Parent::Folder(Arc::clone(root)));
    }
    match root.open_dir(path) {
        Ok(dir) => return Ok(Parent::Folder(Arc::new(dir))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut dir = Arc::clone(root);
    let mut done = PathBuf::new();
    let mut names = path.components().map(Component::as_os_str);
    while let Some(name) = names.next() {
        done.push(name);
        match root.open_dir(&done) {
            Ok(next) => dir = Arc::new(next),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if file_type_at(&dir, name)? == Some(FileKind::Symlink) {
                    return Ok(Parent::DanglingSymlink);
                }
                let folders = std::iter::once(name).chain(names).map(OsStr::to_owned).collect();
                return Ok(Parent::Missing { dir, folders });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Parent::Folder(dir))
}

#[cfg(test)]
mod tests {
    use super::super::roots::Root;
    use super::*;
    use cap_std::ambient_authority;

    fn root() -> (tempfile::TempDir, Arc<Dir>) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        (folder, Arc::new(dir))
    }

    fn look_up_in(root: &Arc<Dir>, path: &str) -> Result<Lookup, WorkspaceError> {
        let name = files::handle_path(&**root).unwrap().to_str().unwrap().to_owned();
        let roots = Roots::new(Root::new(root.try_clone().unwrap(), vec![name]));
        look_up(&roots, &FilePath::from_record(path).unwrap(), "read")
    }

    #[cfg(unix)]
    #[test]
    fn resolves_a_relative_symlink_from_its_real_folder() {
        let (_folder, root) = root();
        root.create_dir_all("real/deep").unwrap();
        root.write("real/x", "up").unwrap();
        root.symlink("real/deep", "alias").unwrap();
        root.symlink("../x", "real/deep/link").unwrap();
        // `alias/../x` is `real/x`: the `..` starts where the symlink leads.
        let Ok(Lookup::File(found)) = look_up_in(&root, "alias/link") else { panic!("found") };
        assert!(found.via_symlink);
        assert_eq!(found.location.name, "x");
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_target_with_a_trailing_slash_is_a_folder() {
        let (_folder, root) = root();
        root.create_dir("folder").unwrap();
        root.write("file", "").unwrap();
        for (target, name) in [("folder/", "a"), ("folder/.", "b"), (".", "c"), ("folder/..", "d")] {
            root.symlink(target, name).unwrap();
            assert!(matches!(look_up_in(&root, name), Err(WorkspaceError::Folder(_))), "{target}");
        }
        root.symlink("file/", "e").unwrap();
        assert!(matches!(look_up_in(&root, "e"), Err(WorkspaceError::NotAFolder(_))));
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_loop_is_an_error() {
        let (_folder, root) = root();
        root.symlink("b", "a").unwrap();
        root.symlink("a", "b").unwrap();
        assert!(look_up_in(&root, "a").unwrap_err().to_string().contains("symlinks"));
    }

    #[test]
    fn lists_missing_folders_below_the_deepest_existing_one() {
        let (_folder, root) = root();
        root.create_dir("a").unwrap();
        let Ok(Lookup::Missing(missing)) = look_up_in(&root, "a/b/c/d") else { panic!("missing") };
        assert_eq!(missing.folders, ["b", "c"]);
        assert_eq!(missing.name, "d");
    }

    #[cfg(unix)]
    #[test]
    fn opening_a_pipe_that_replaced_a_file_does_not_block() {
        let (_folder, root) = root();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(&*root, "pipe", rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let (_, metadata) = Location { dir: root, name: "pipe".into() }.open().unwrap().unwrap();
        assert!(!metadata.is_file());
    }
}
