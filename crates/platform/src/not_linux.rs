//! What systems other than Linux, and the portable fallback, do without.

#[cfg(not(target_os = "linux"))]
pub(crate) mod attributes;
pub(crate) mod files;
#[cfg(not(target_os = "linux"))]
pub(crate) mod process;
