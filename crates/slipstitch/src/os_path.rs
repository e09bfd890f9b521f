//! Paths of the system as text, and back. A name need not be UTF-8; see [`slipstitch_text::file_name`].

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use slipstitch_core::text::file_name::{name_to_text, text_to_name};

/// The text of a path, as requests and the journal have it.
pub fn path_to_text(path: &Path) -> Cow<'_, str> {
    name_to_text(path.as_os_str().as_bytes())
}

/// The path that a text stands for.
pub fn text_to_path(text: &str) -> PathBuf {
    OsStr::from_bytes(&text_to_name(text)).into()
}
