use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Whether the system computes this attribute from the file's content.
pub fn is_derived_from_content(name: &[u8]) -> bool {
    [&b"security.ima"[..], b"security.evm"].contains(&name)
}

/// Whether this attribute is a part of an access list.
pub fn is_access_list(name: &[u8]) -> bool {
    name.starts_with(b"system.posix_acl")
}

/// Whether the system clears this attribute when anyone writes to the file.
pub fn is_cleared_by_writing(name: &[u8]) -> bool {
    name == b"security.capability"
}

/// Whether it is certain that a folder has no access list. Asking does not need the right to list the folder.
pub fn is_without_access_list(dir: impl AsFd, name: &OsStr) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::openat(dir, name, flags, Mode::empty()) else { return false };
    let link = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let mut unread: [u8; 0] = [];
    let found = rustix::fs::getxattr(link, "system.posix_acl_access", &mut unread);
    matches!(found, Err(Errno::NODATA | Errno::NOTSUP))
}

/// Does nothing: access lists are extended attributes.
pub fn copy_access_list(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}
