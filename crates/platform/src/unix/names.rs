use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use slipstitch_text::file_name::{name_to_text, text_to_name};

/// Whether names follow the rules of Windows.
pub const HAS_WINDOWS_NAMES: bool = false;

/// Bytes that are the same for every spelling of a name.
#[cfg(not(target_os = "macos"))]
pub fn folded(name: &OsStr) -> Vec<u8> {
    name.as_bytes().to_vec()
}

/// The text of a path, separated by `/`; `None` if it is not UTF-8.
pub fn to_text(path: &Path) -> Option<String> {
    path.to_str().map(ToOwned::to_owned)
}

/// The text of a path, as requests and the journal have it. Every name has one, also one that is not UTF-8.
pub fn path_to_text(path: &Path) -> Cow<'_, str> {
    name_to_text(path.as_os_str().as_bytes())
}

/// The path that a text stands for.
pub fn text_to_path(text: &str) -> PathBuf {
    OsStr::from_bytes(&text_to_name(text)).into()
}

/// The text of an absolute path as it is recorded, which starts with `/`.
pub fn to_record(path: &Path) -> Cow<'_, str> {
    path_to_text(path)
}

/// The path that [`to_record`] recorded.
pub fn from_record(text: &str) -> PathBuf {
    text_to_path(text)
}
