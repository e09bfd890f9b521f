use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::macos::fs::MetadataExt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs::RenameFlags;

use crate::file_info::Readers;

pub use crate::not_linux::files::*;

/// The absolute path of an open file or folder, without symlinks (`F_GETPATH`).
pub fn handle_path(handle: impl AsFd) -> Option<PathBuf> {
    let path = rustix::fs::getpath(handle).ok()?;
    Some(PathBuf::from(OsString::from_vec(path.into_bytes())))
}

/// A file's name as the folder has it: another spelling may lead to it as well. A file that cannot be opened keeps the given
/// one.
pub fn spelling(dir: &Dir, name: OsString) -> OsString {
    let opened = crate::unix::files::open(dir, &name).ok().flatten();
    let own = opened.and_then(handle_path).and_then(|path| path.file_name().map(OsStr::to_owned));
    own.unwrap_or(name)
}

/// The path with all symlinks resolved, in the spelling that the disk has.
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

/// Renames a file; fails if the new name exists (`RENAME_EXCL`).
pub fn rename_no_replace(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    Ok(rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE)?)
}

/// Exchanges two names atomically (`RENAME_SWAP`).
pub fn exchange(a: (&Dir, &OsStr), b: (&Dir, &OsStr)) -> io::Result<()> {
    Ok(rustix::fs::renameat_with(a.0, a.1, b.0, b.1, RenameFlags::EXCHANGE)?)
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

/// Flags that the system sets by itself: compressed, tracked, data vault.
const SYSTEM_FLAGS: u32 = 0x20 | 0x40 | 0x80;

/// Whether a file cannot be replaced by another one: it has flags, such as `hidden`, which the new one could not get.
pub fn must_be_written_in_place(file: &File) -> bool {
    file.metadata().is_ok_and(|found| found.st_flags() & !SYSTEM_FLAGS != 0)
}

/// The local file systems keep a file's number; of the others it is not known.
pub fn are_inodes_stable(dir: &Dir) -> bool {
    rustix::fs::fstatfs(dir).is_ok_and(|found| {
        let name: Vec<u8> = found.f_fstypename.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
        [&b"apfs"[..], b"hfs"].contains(&&name[..])
    })
}
