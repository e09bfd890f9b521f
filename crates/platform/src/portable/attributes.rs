use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// No attribute is known to be computed.
pub fn is_derived_from_content(_: &[u8]) -> bool {
    false
}

/// No attribute is known to be an access list.
pub fn is_access_list(_: &[u8]) -> bool {
    false
}

/// No attribute is known to be cleared.
pub fn is_cleared_by_writing(_: &[u8]) -> bool {
    false
}

/// Never certain.
pub fn is_without_access_list(_: impl AsFd, _: &OsStr) -> bool {
    false
}

/// Does nothing: access lists are extended attributes.
pub fn copy_access_list(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}
