use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::Path;

use cap_std::fs::Dir;
use rustix::fs::{Access, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::file_info::{FileInfo, Readers};

/// Whatever has a handle of an open file or folder.
pub use std::os::fd::AsFd as AsHandle;

/// Whether a folder can be removed while this process has it open.
pub const REMOVES_OPEN_FOLDERS: bool = true;

/// The permission bits of a new file, before the umask.
pub(crate) fn mode_of(readers: Readers) -> Mode {
    match readers {
        Readers::Owner => Mode::RUSR | Mode::WUSR,
        Readers::Default => Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH,
        Readers::Bits(bits) => Mode::from_bits_truncate((bits & 0o777) as rustix::fs::RawMode),
    }
}

/// Opens whatever is there for reading. `None` if there is nothing or a symlink.
///
/// It never blocks, not even on a named pipe without a writer.
pub fn open(dir: &Dir, name: &OsStr) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => Ok(Some(File::from(fd))),
        Err(Errno::LOOP | Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens what is there for reading and writing. It never blocks.
pub fn open_writable(dir: &Dir, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, name, flags, Mode::empty())?))
}

/// Opens a file for reading and writing that is created for its owner only if it does not exist.
pub fn open_or_create(dir: &Dir, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?))
}

/// Creates a file, open for reading and writing; fails if there is anything.
pub fn create_new(dir: &Dir, name: &OsStr, readers: Readers) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, name, flags, mode_of(readers))?))
}

/// What is at a name; `None` if there is nothing.
pub fn stat(dir: &Dir, name: &OsStr) -> io::Result<Option<FileInfo>> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(super::info::from_stat(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// The target of a symlink; `None` if there is no symlink any more.
pub fn read_link(dir: &Dir, name: &OsStr) -> io::Result<Option<OsString>> {
    match rustix::fs::readlinkat(dir, name, Vec::new()) {
        Ok(target) => Ok(Some(OsString::from_vec(target.into_bytes()))),
        Err(Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether a path can only be a folder, such as `a/`.
pub fn names_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

/// Removes a file.
pub fn remove(dir: &Dir, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
}

/// Removes an empty folder.
pub fn remove_folder(dir: &Dir, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
}

/// Creates a folder.
pub fn create_folder(dir: &Dir, name: &OsStr, readers: Readers) -> io::Result<()> {
    let mode = match readers {
        Readers::Owner | Readers::Bits(_) => Mode::RWXU,
        Readers::Default => Mode::RWXU | Mode::RWXG | Mode::RWXO,
    };
    Ok(rustix::fs::mkdirat(dir, name, mode)?)
}

/// Opens a folder for reading, so that its attributes can be read and set.
pub fn open_folder_in(dir: &Dir, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty()).map(File::from)?)
}

/// Renames a file; one that has the new name is lost. Atomic: the new name always leads to one of the two.
pub fn rename(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    Ok(rustix::fs::renameat(from.0, from.1, to.0, to.1)?)
}

/// Gives a file a second name; fails if it exists.
pub fn link(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    Ok(rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?)
}

/// Puts `new` in the place of `old`, which gets the name `spare`, where the system has a call that keeps the old file's
/// attributes. `None` where it has none, as on Unix: there they are copied before.
pub fn replace_through(_: (&Dir, &OsStr), _: (&Dir, &OsStr), _: (&Dir, &OsStr)) -> Option<io::Result<()>> {
    None
}

/// Whether this process may write to a file or into a folder.
pub fn is_writable(dir: &Dir, name: &OsStr) -> bool {
    rustix::fs::accessat(dir, name, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// Flushes a folder: names that were added, changed or removed survive a power cut. The open handle may be one that
/// cannot be flushed, so the folder is opened again.
pub fn sync_folder(dir: &Dir) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(dir, ".", flags, Mode::empty())?;
    match rustix::fs::fsync(&folder) {
        // Some file systems cannot flush folders and do not need to.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        result => Ok(result?),
    }
}

/// Reads from an offset.
pub fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(into, at)
}

/// Writes everything at an offset.
pub fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}
