use std::fs::{DirEntry, File};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use cap_fs_ext::MetadataExt;
use cap_std::fs::{Dir, Metadata};

use crate::file_info::{FileInfo, FileKind};

const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Programs can set every time of a file, so none of them shows that it was not changed.
pub const HAS_CHANGE_TIME: bool = false;

/// What an open file is.
pub fn of(file: &File) -> io::Result<FileInfo> {
    Ok(from_cap(&Metadata::from_file(file)?))
}

/// What an open folder is.
pub fn of_folder(dir: &Dir) -> io::Result<FileInfo> {
    Ok(from_cap(&dir.dir_metadata()?))
}

/// What is at a path, after following symlinks.
pub fn at(path: &Path) -> io::Result<FileInfo> {
    of(&open(path, FILE_FLAG_BACKUP_SEMANTICS)?)
}

/// What is at a path, without following a symlink there.
pub fn at_link(path: &Path) -> io::Result<FileInfo> {
    of(&open(path, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)?)
}

/// What an entry of a folder is, without following a symlink.
pub fn of_entry(entry: &DirEntry) -> io::Result<FileInfo> {
    at_link(&entry.path())
}

/// Folders do not say which files they contain, so every entry may be any file.
pub fn may_be(_: &DirEntry, _: u64) -> bool {
    true
}

/// When a file was last written, in milliseconds since 1970.
pub fn modified_millis(found: &Metadata) -> Option<i64> {
    Some(from_cap(found).modified_millis())
}

fn open(path: &Path, flags: u32) -> io::Result<File> {
    // Without any access, it can be opened whatever other programs do with it.
    File::options().access_mode(0).custom_flags(flags).open(path)
}

pub(crate) fn from_cap(found: &Metadata) -> FileInfo {
    let kind = match found.file_type() {
        kind if kind.is_symlink() => FileKind::Symlink,
        kind if kind.is_dir() => FileKind::Folder,
        kind if kind.is_file() => FileKind::File,
        _ => FileKind::Other,
    };
    let modified = found.modified().ok().map_or((0, 0), |time| since_1970(time.into_std()));
    FileInfo {
        kind,
        device: found.dev(),
        inode: found.ino(),
        links: found.nlink(),
        len: found.len(),
        modified,
        changed: modified,
        mode: if found.permissions().readonly() { 0o444 } else { 0o666 },
        owner: 0,
        group: 0,
    }
}

fn since_1970(time: std::time::SystemTime) -> (i64, i64) {
    match time.duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), i64::from(since.subsec_nanos())),
        Err(before) => (-i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX), 0),
    }
}
