//! Folders for rigs that are not about the disk itself.

use std::io;
use std::path::Path;

use tempfile::TempDir;

/// A folder that goes with the value; in memory where the system has such a place, so that a rig waits for no disk.
pub(crate) fn folder() -> io::Result<TempDir> {
    tempfile::tempdir_in(Path::new("/dev/shm")).or_else(|_| tempfile::tempdir())
}
