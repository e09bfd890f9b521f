//! Temporary folders for a rig's files.

use std::io;

use tempfile::TempDir;

use crate::Scale;

/// A file system in memory, where the system has one.
const MEMORY: &str = "/dev/shm";

/// A temporary folder in memory where possible, so that a rig that does not test the disk does not wait for it.
pub(crate) fn create_in_memory() -> io::Result<TempDir> {
    tempfile::tempdir_in(MEMORY).or_else(|_| tempfile::tempdir())
}

/// A temporary folder in memory for quick runs (what a killed process leaves behind does not depend on the disk), in the
/// system's temporary folder for long ones.
pub(crate) fn create(scale: Scale) -> io::Result<TempDir> {
    match scale {
        Scale::Quick => create_in_memory(),
        Scale::Long => tempfile::tempdir(),
    }
}
