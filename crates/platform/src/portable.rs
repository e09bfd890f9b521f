//! What is left where nothing is known about a Unix besides what all have in common. cap-std resolves paths beneath a folder.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) mod attributes;
pub(crate) mod files;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) mod process;
