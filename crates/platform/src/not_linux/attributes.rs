use std::ffi::OsStr;

/// No attribute is known to be computed from the content.
pub fn is_derived_from_content(_: &[u8]) -> bool {
    false
}

/// Access lists are no extended attributes, or not known to be any.
pub fn is_access_list(_: &[u8]) -> bool {
    false
}

/// No attribute is known to be cleared by writing.
pub fn is_cleared_by_writing(_: &[u8]) -> bool {
    false
}

/// Never certain.
pub fn is_without_access_list(_: impl Sized, _: &OsStr) -> bool {
    false
}
