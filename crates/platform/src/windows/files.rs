use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt;
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use winsafe::co::REPLACEFILE;

use super::sharing::retry;
use crate::file_info::{FileInfo, FileKind, Readers};

pub use crate::not_linux::files::*;

/// Whether a folder can be removed while this process has it open.
pub const REMOVES_OPEN_FOLDERS: bool = false;

/// Whatever has a handle of an open file or folder.
pub use std::os::windows::io::AsHandle;

/// Opens the folder or the symlink itself.
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// Opens folders, too.
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;

fn open_with(dir: &Dir, name: &OsStr, options: &OpenOptions) -> io::Result<File> {
    let mut options = options.clone();
    options.follow(FollowSymlinks::No);
    retry(|| dir.open_with(name, &options)).map(cap_std::fs::File::into_std)
}

/// Opens whatever is there for reading. `None` if there is nothing or a symlink. Other programs can still read, write,
/// rename and remove it.
pub fn open(dir: &Dir, name: &OsStr) -> io::Result<Option<File>> {
    match stat(dir, name)?.map(|found| found.kind) {
        None | Some(FileKind::Symlink) => return Ok(None),
        Some(_) => {}
    }
    match open_with(dir, name, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// Opens what is there for reading and writing.
pub fn open_writable(dir: &Dir, name: &OsStr) -> io::Result<File> {
    open_with(dir, name, OpenOptions::new().read(true).write(true))
}

/// Opens a file for reading and writing that is created if it does not exist. The folder's access list says for whom.
pub fn open_or_create(dir: &Dir, name: &OsStr) -> io::Result<File> {
    open_with(dir, name, OpenOptions::new().read(true).write(true).create(true))
}

/// Creates a file, open for reading and writing; fails if there is anything. The folder's access list says for whom: what
/// replaces a file gets the file's own list when it takes its place.
pub fn create_new(dir: &Dir, name: &OsStr, _: Readers) -> io::Result<File> {
    open_with(dir, name, OpenOptions::new().read(true).write(true).create_new(true))
}

/// What is at a name; `None` if there is nothing.
pub fn stat(dir: &Dir, name: &OsStr) -> io::Result<Option<FileInfo>> {
    match dir.symlink_metadata(name) {
        Ok(found) => Ok(Some(super::info::from_cap(&found))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The target of a symlink; `None` if there is no symlink any more.
pub fn read_link(dir: &Dir, name: &OsStr) -> io::Result<Option<OsString>> {
    match stat(dir, name)?.map(|found| found.kind) {
        Some(FileKind::Symlink) => dir.read_link_contents(name).map(|target| Some(target.into_os_string())),
        _ => Ok(None),
    }
}

/// Whether a path can only be a folder, such as `a\`.
pub fn names_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    [&b"/"[..], b"\\", b"/.", b"\\."].iter().any(|end| bytes.ends_with(end))
}

/// Removes a file. Its name is free at once, even if another program still reads it.
pub fn remove(dir: &Dir, name: &OsStr) -> io::Result<()> {
    retry(|| dir.remove_file(name))
}

/// Removes an empty folder.
pub fn remove_folder(dir: &Dir, name: &OsStr) -> io::Result<()> {
    retry(|| dir.remove_dir(name))
}

/// Creates a folder. The access list of the folder around it says for whom.
pub fn create_folder(dir: &Dir, name: &OsStr, _: Readers) -> io::Result<()> {
    dir.create_dir(name)
}

/// Opens a folder, so that its attributes can be read and set.
pub fn open_folder_in(dir: &Dir, name: &OsStr) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
    let folder = open_with(dir, name, &options)?;
    match super::info::of(&folder)?.kind {
        FileKind::Folder => Ok(folder),
        _ => Err(super::problem::not_a_folder()),
    }
}

/// The path of a name in an open folder. The folder cannot be renamed as long as it is open.
fn path_of((dir, name): (&Dir, &OsStr)) -> io::Result<PathBuf> {
    let folder = handle_path(dir).ok_or_else(|| io::Error::other("the path of a folder is not known"))?;
    Ok(folder.join(name))
}

fn text_of(location: (&Dir, &OsStr)) -> io::Result<String> {
    let path = path_of(location)?.into_os_string();
    path.into_string().map_err(|_| io::Error::other("a name is not valid Unicode"))
}

/// Renames a file; one that has the new name is lost. Atomic on NTFS since Windows 10.
pub fn rename(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    let (from, to) = (path_of(from)?, path_of(to)?);
    retry(|| std::fs::rename(&from, &to))
}

/// Renames a file; fails if the new name exists.
pub fn rename_no_replace(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    let (from, to) = (text_of(from)?, text_of(to)?);
    retry(|| winsafe::MoveFile(&from, &to).map_err(system_error))
}

/// Puts `new` in the place of `old`, which gets the name `spare` (`ReplaceFileW`). The new file gets the access list, the
/// attributes, the streams and the time of creation of the old one. `None` if the file system cannot do this.
pub fn replace_through(
    old: (&Dir, &OsStr),
    new: (&Dir, &OsStr),
    spare: (&Dir, &OsStr),
) -> Option<io::Result<()>> {
    let replace = || -> io::Result<()> {
        let (old, new, spare) = (text_of(old)?, text_of(new)?, text_of(spare)?);
        retry(|| winsafe::ReplaceFile(&old, &new, Some(&spare), REPLACEFILE::default()).map_err(system_error))
    };
    match replace() {
        Err(error) if super::problem::of(&error) == Some(crate::problems::Problem::Unsupported) => None,
        result => Some(result),
    }
}

fn system_error(error: winsafe::co::ERROR) -> io::Error {
    io::Error::from_raw_os_error(error.raw() as i32)
}

/// Fails: Windows cannot exchange two names.
pub fn exchange(_: (&Dir, &OsStr), _: (&Dir, &OsStr)) -> io::Result<()> {
    Err(super::problem::unsupported())
}

/// Gives a file a second name; fails if it exists.
pub fn link(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    from.0.hard_link(from.1, to.0, to.1)
}

/// Whether a file is not read-only. Access lists are not asked: the write itself fails then. Folders are always writable,
/// their attribute means something else.
pub fn is_writable(dir: &Dir, name: &OsStr) -> bool {
    dir.symlink_metadata(name).is_ok_and(|found| found.is_dir() || !found.permissions().readonly())
}

/// Does nothing: NTFS writes the names of files in its own log, and folders cannot be flushed without administrator's rights.
pub fn sync_folder(_: &Dir) -> io::Result<()> {
    Ok(())
}

/// Reads from an offset. The file's own position moves.
pub fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(into, at)
}

/// Writes everything at an offset. The file's own position moves.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, at)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => {
                bytes = &bytes[count..];
                at += count as u64;
            }
        }
    }
    Ok(())
}

/// The absolute path of an open file or folder, without symlinks, as people write it.
pub fn handle_path(handle: impl AsHandle) -> Option<PathBuf> {
    let file = File::from(handle.as_handle().try_clone_to_owned().ok()?);
    let path = winx::file::get_file_path(&file).ok()?;
    Some(dunce::simplified(&path).to_owned())
}

/// A file's name as the folder has it: another spelling leads to it as well.
pub fn spelling(dir: &Dir, name: OsString) -> OsString {
    let mut options = OpenOptions::new();
    options.access_mode(0).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    let opened = open_with(dir, &name, &options).ok();
    let own = opened.and_then(handle_path).and_then(|path| path.file_name().map(OsStr::to_owned));
    own.unwrap_or(name)
}

/// The path with all symlinks resolved, as people write it: not in the form `\\?\C:\`.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// No file is without a name.
pub fn create_unnamed(_: &Dir, _: Readers) -> io::Result<Option<File>> {
    Ok(None)
}

/// Fails: no file is without a name.
pub fn link_unnamed(_: &File, _: &Dir, _: &OsStr) -> io::Result<()> {
    Err(super::problem::unsupported())
}

/// How many names a file has.
pub fn recount_links(dir: &Dir, name: &OsStr) -> io::Result<u64> {
    Ok(stat(dir, name)?.ok_or_else(super::problem::missing)?.links)
}

/// How many names an open file has.
pub fn recount_links_of(file: &File) -> io::Result<u64> {
    Ok(super::info::of(file)?.links)
}

/// Every file can be replaced.
pub fn must_be_written_in_place(_: &File) -> bool {
    false
}

/// Not known: NTFS keeps a file's number, network shares and other file systems may not. Contents are compared instead.
pub fn are_inodes_stable(_: &Dir) -> bool {
    false
}
