//! Access lists, attributes and streams are kept by the call that replaces a file, so that nothing of it is copied here.

use std::ffi::CString;
use std::fs::File;
use std::io;

pub use crate::not_linux::attributes::*;

/// Whether a file is read-only, which stands for the owner's right to write.
pub const MODE_BITS: u32 = 0o200;

/// Does nothing: the replaced file's access list is kept, and with it the owner's rights.
pub fn set_owner(_: &File, _: Option<u32>, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

/// Sets whether a file is read-only.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(mode & MODE_BITS == 0);
    file.set_permissions(permissions)
}

/// There are none.
pub fn extended_names(_: &File) -> io::Result<Vec<CString>> {
    Ok(Vec::new())
}

/// There are none.
pub fn extended(_: &File, _: &CString) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

/// Fails: there are none.
pub fn set_extended(_: &File, _: &CString, _: &[u8]) -> io::Result<()> {
    Err(super::problem::unsupported())
}

/// Fails: there are none.
pub fn remove_extended(_: &File, _: &CString) -> io::Result<()> {
    Err(super::problem::unsupported())
}

/// Does nothing: the call that replaces a file keeps its access list.
pub fn copy_access_list(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}
