use std::fs::{DirEntry, File, Metadata};
use std::io;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::Path;

use cap_std::fs::{Dir, MetadataExt as _};
use rustix::fs::{FileType, Stat};

use crate::file_info::{FileInfo, FileKind};

/// What an open file is.
pub fn of(file: &File) -> io::Result<FileInfo> {
    Ok(from_metadata(&file.metadata()?))
}

/// What an open folder is.
pub fn of_folder(dir: &Dir) -> io::Result<FileInfo> {
    let found = dir.dir_metadata()?;
    Ok(FileInfo {
        kind: FileKind::Folder,
        device: found.dev(),
        inode: found.ino(),
        links: found.nlink(),
        len: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
        mode: found.mode() & 0o7777,
        owner: found.uid(),
        group: found.gid(),
    })
}

/// What is at a path, after following symlinks.
pub fn at(path: &Path) -> io::Result<FileInfo> {
    Ok(from_metadata(&std::fs::metadata(path)?))
}

/// What is at a path, without following a symlink there.
pub fn at_link(path: &Path) -> io::Result<FileInfo> {
    Ok(from_metadata(&std::fs::symlink_metadata(path)?))
}

/// What an entry of a folder is, without following a symlink.
pub fn of_entry(entry: &DirEntry) -> io::Result<FileInfo> {
    Ok(from_metadata(&entry.metadata()?))
}

/// Whether an entry of a folder may be the file with this number, as far as the folder itself says.
pub fn may_be(entry: &DirEntry, inode: u64) -> bool {
    entry.ino() == inode
}

fn from_metadata(found: &Metadata) -> FileInfo {
    FileInfo {
        kind: kind_of(FileType::from_raw_mode(found.mode() as rustix::fs::RawMode)),
        device: found.dev(),
        inode: found.ino(),
        links: found.nlink(),
        len: found.len(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
        mode: found.mode() & 0o7777,
        owner: found.uid(),
        group: found.gid(),
    }
}

// The types of some fields differ between systems.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
pub(crate) fn from_stat(found: &Stat) -> FileInfo {
    FileInfo {
        kind: kind_of(FileType::from_raw_mode(found.st_mode)),
        device: found.st_dev as u64,
        inode: found.st_ino as u64,
        links: u64::from(found.st_nlink),
        len: u64::try_from(found.st_size).unwrap_or(0),
        modified: (found.st_mtime as i64, found.st_mtime_nsec as i64),
        changed: (found.st_ctime as i64, found.st_ctime_nsec as i64),
        mode: u32::from(found.st_mode) & 0o7777,
        owner: found.st_uid,
        group: found.st_gid,
    }
}

fn kind_of(kind: FileType) -> FileKind {
    match kind {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Symlink,
        FileType::Fifo => FileKind::Pipe,
        FileType::Socket => FileKind::Socket,
        FileType::CharacterDevice => FileKind::CharacterDevice,
        FileType::BlockDevice => FileKind::BlockDevice,
        _ => FileKind::Other,
    }
}

/// When a file was last written, in milliseconds since 1970.
pub fn modified_millis(found: &cap_std::fs::Metadata) -> Option<i64> {
    Some(found.mtime() * 1000 + found.mtime_nsec() / 1_000_000)
}

/// Whether [`FileInfo::changed`] is set by the system alone, at every change.
pub const HAS_CHANGE_TIME: bool = true;
