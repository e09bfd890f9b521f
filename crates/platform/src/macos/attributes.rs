use std::ffi::OsStr;
use std::os::fd::AsFd;

/// No attribute is computed from the content.
pub fn is_derived_from_content(_: &[u8]) -> bool {
    false
}

/// Access lists are no extended attributes here; they are copied with the file's other metadata.
pub fn is_access_list(_: &[u8]) -> bool {
    false
}

/// No attribute is cleared by writing.
pub fn is_cleared_by_writing(_: &[u8]) -> bool {
    false
}

/// Never certain.
pub fn is_without_access_list(_: impl AsFd, _: &OsStr) -> bool {
    false
}

/// Gives `to` the access list of `from`, or none if `from` has none.
pub use slipstitch_macos_acl::copy_access_list;
