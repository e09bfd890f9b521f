use std::ffi::CString;
use std::fs::File;
use std::io;

use rustix::fs::{Gid, Mode, RawMode, Uid, XattrFlags};
use rustix::fs::{fchmod, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

/// The error for an attribute that a file does not have.
#[cfg(target_os = "linux")]
const NO_ATTRIBUTE: Errno = Errno::NODATA;
#[cfg(not(target_os = "linux"))]
const NO_ATTRIBUTE: Errno = Errno::NOATTR;

/// The permission bits that the system keeps.
pub const MODE_BITS: u32 = 0o7777;

/// Changes the owner and the group, where they are given. Only a privileged process can give a file away.
pub fn set_owner(file: &File, owner: Option<u32>, group: Option<u32>) -> io::Result<()> {
    Ok(fchown(file, owner.map(Uid::from_raw), group.map(Gid::from_raw))?)
}

/// Changes the permission bits. The system may silently clear some that the caller may not set.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    Ok(fchmod(file, Mode::from_raw_mode((mode & MODE_BITS) as RawMode))?)
}

/// The names of the extended attributes; empty if the file system does not support them.
pub fn extended_names(file: &File) -> io::Result<Vec<CString>> {
    let list = match read_with_growing_buffer(|buffer| flistxattr(file, buffer)) {
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        list => list?,
    };
    Ok(list.split(|&byte| byte == 0).filter(|n| !n.is_empty()).filter_map(|n| CString::new(n).ok()).collect())
}

/// The value of an extended attribute; `None` if there is none of that name.
pub fn extended(file: &File, name: &CString) -> io::Result<Option<Vec<u8>>> {
    match read_with_growing_buffer(|buffer| fgetxattr(file, name, buffer)) {
        Err(errno) if errno == NO_ATTRIBUTE => Ok(None),
        value => Ok(value.map(Some)?),
    }
}

/// Sets an extended attribute.
pub fn set_extended(file: &File, name: &CString, value: &[u8]) -> io::Result<()> {
    Ok(fsetxattr(file, name, value, XattrFlags::empty())?)
}

/// Removes an extended attribute.
pub fn remove_extended(file: &File, name: &CString) -> io::Result<()> {
    Ok(fremovexattr(file, name)?)
}

/// Calls `read` with larger and larger buffers until the result fits.
fn read_with_growing_buffer(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 256];
    loop {
        match read(&mut buffer) {
            Ok(len) => {
                buffer.truncate(len);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 4, 0),
            Err(errno) => return Err(errno),
        }
    }
}
