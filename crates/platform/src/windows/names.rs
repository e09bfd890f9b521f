use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Whether names follow the rules of Windows: separated by `\` as well, with drives, and some are not allowed.
pub const HAS_WINDOWS_NAMES: bool = true;

/// Bytes that are the same for every spelling of a name: Windows ignores case. In a folder that tells case apart, two files
/// whose names differ in nothing else share a lock and cannot be changed in one call.
pub fn folded(name: &OsStr) -> Vec<u8> {
    name.to_string_lossy().chars().flat_map(char::to_uppercase).collect::<String>().into_bytes()
}

/// The text of a path, separated by `/`.
pub fn to_text(path: &Path) -> Option<String> {
    path.to_str().map(|text| text.replace('\\', "/"))
}

/// The text of a path, as requests and the journal have it. Names that are no Unicode are not supported.
pub fn path_to_text(path: &Path) -> Cow<'_, str> {
    Cow::Owned(path.to_string_lossy().replace('\\', "/"))
}

/// The path that a text stands for.
pub fn text_to_path(text: &str) -> PathBuf {
    text.into()
}

/// The text of an absolute path as it is recorded, which starts with `/`.
pub fn to_record(path: &Path) -> Cow<'_, str> {
    Cow::Owned(format!("/{}", path_to_text(path)))
}

/// The path that [`to_record`] recorded.
pub fn from_record(text: &str) -> PathBuf {
    text.strip_prefix('/').unwrap_or(text).into()
}
