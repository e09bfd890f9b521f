//! Which file systems have inode numbers that identify a file.

use super::lookup::Location;

/// Whether a file keeps its inode number when it gets another name, as long as it exists.
///
/// Many FUSE file systems make numbers up for each name, and so do SMB mounts whose server sends none.
pub(super) fn are_inodes_stable(location: &Location) -> bool {
    const FUSE: u32 = 0x6573_5546;
    const SMB: [u32; 2] = [0xFF53_4D42, 0xFE53_4D42];
    // The kernel's type of the field differs between architectures; the numbers fit into 32 bits.
    rustix::fs::fstatfs(&*location.dir).is_ok_and(|found| {
        let kind = (found.f_type & 0xFFFF_FFFF) as u32;
        kind != FUSE && !SMB.contains(&kind)
    })
}
