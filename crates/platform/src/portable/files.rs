use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use crate::file_info::Readers;

pub use crate::not_linux::files::*;

/// The absolute path of an open file or folder, where the system has `/proc`. Without it, nothing can be cleaned up after a
/// process that died while it prepared a change.
pub fn handle_path(handle: impl AsFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())).ok()
}

/// A file's name as the folder has it is not known where another spelling leads to it as well.
pub fn spelling(_: &Dir, name: OsString) -> OsString {
    name
}

/// The path with all symlinks resolved.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// No file is without a name.
pub fn create_unnamed(_: &Dir, _: Readers) -> io::Result<Option<File>> {
    Ok(None)
}

/// Fails: no file is without a name.
pub fn link_unnamed(_: &File, _: &Dir, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails: a rename replaces what is there. Two calls, link and unlink, do not.
pub fn rename_no_replace(_: (&Dir, &OsStr), _: (&Dir, &OsStr)) -> io::Result<()> {
    Err(rustix::io::Errno::NOSYS.into())
}

/// Fails: three renames do the same, but not at once.
pub fn exchange(_: (&Dir, &OsStr), _: (&Dir, &OsStr)) -> io::Result<()> {
    Err(rustix::io::Errno::NOSYS.into())
}

/// How many names a file has.
pub fn recount_links(dir: &Dir, name: &OsStr) -> io::Result<u64> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    Ok(crate::unix::files::stat(dir, name)?.ok_or_else(missing)?.links)
}

/// How many names an open file has.
pub fn recount_links_of(file: &File) -> io::Result<u64> {
    Ok(crate::unix::info::of(file)?.links)
}

/// Not known. A rename of a mount point fails, and the change with it.
pub fn must_be_written_in_place(_: &File) -> bool {
    false
}

/// Not known, so contents are compared instead.
pub fn are_inodes_stable(_: &Dir) -> bool {
    false
}
