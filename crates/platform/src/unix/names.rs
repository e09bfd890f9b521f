#[cfg(not(target_os = "macos"))]
use std::ffi::OsStr;
use std::io;
#[cfg(not(target_os = "macos"))]
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether names follow the rules of Windows.
pub const HAS_WINDOWS_NAMES: bool = false;

/// Bytes that are the same for every spelling of a name.
#[cfg(not(target_os = "macos"))]
pub fn folded(name: &OsStr) -> Vec<u8> {
    name.as_bytes().to_vec()
}

/// A path with all symlinks resolved, as people write it.
pub fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// The text of a path, separated by `/`; `None` if it is not UTF-8.
pub fn to_text(path: &Path) -> Option<String> {
    path.to_str().map(ToOwned::to_owned)
}

/// The text of an absolute path as it is recorded, which starts with `/`.
pub fn to_record(path: &Path) -> Option<String> {
    to_text(path)
}

/// The path that [`to_record`] recorded.
pub fn from_record(text: &str) -> &Path {
    Path::new(text)
}
