//! Which file systems have inode numbers that identify a file.

use super::lookup::Location;

/// Whether a file keeps its inode number when it gets another name, as long as it exists.
pub(super) fn are_inodes_stable(location: &Location) -> bool {
    slipstitch_platform::files::are_inodes_stable(&location.dir)
}
