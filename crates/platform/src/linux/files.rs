use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use crate::file_info::Readers;
use crate::unix::files::mode_of;

/// Whether the system can give an unnamed file a name later.
static CAN_LINK_UNNAMED: LazyLock<bool> = LazyLock::new(|| std::fs::metadata("/proc/self/fd").is_ok());

/// The absolute path of an open file or folder, without symlinks; `None` if the system does not tell.
pub fn handle_path(handle: impl AsFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())).ok()
}

/// A file's name as the folder has it, where another spelling leads to it as well: here it does not.
pub fn spelling(_: &Dir, name: OsString) -> OsString {
    name
}

/// Like [`Path::canonicalize`], which asks the system about every component.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let opened = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    match handle_path(&opened) {
        // The system adds a remark to the name of what was removed meanwhile or is out of reach.
        Some(real) if real.is_absolute() && !real.as_os_str().as_encoded_bytes().ends_with(b" (deleted)") => {
            Ok(real)
        }
        _ => path.canonicalize(),
    }
}

/// Creates a file without a name in a folder, which disappears if the process dies. `None` where there is no such thing, or
/// where it could not get a name later.
pub fn create_unnamed(dir: &Dir, readers: Readers) -> io::Result<Option<File>> {
    if !*CAN_LINK_UNNAMED {
        return Ok(None);
    }
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, ".", flags, mode_of(readers)) {
        Ok(fd) => Ok(Some(File::from(fd))),
        // Not every file system supports unnamed files.
        Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::ISDIR | Errno::NOSYS | Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Gives a file without a name this name; fails if it exists.
pub fn link_unnamed(file: &File, dir: &Dir, name: &OsStr) -> io::Result<()> {
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, open, dir, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Renames a file; fails if the new name exists. [`Unsupported`](crate::problem::Problem::Unsupported) where the file
/// system cannot promise that.
pub fn rename_no_replace(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    Ok(rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE)?)
}

/// Exchanges two names atomically. [`Unsupported`](crate::problem::Problem::Unsupported) where the file system cannot.
pub fn exchange(a: (&Dir, &OsStr), b: (&Dir, &OsStr)) -> io::Result<()> {
    Ok(rustix::fs::renameat_with(a.0, a.1, b.0, b.1, RenameFlags::EXCHANGE)?)
}

/// How many names a file has, asked again where a network or FUSE file system may remember a name that is gone.
pub fn recount_links(dir: &Dir, name: &OsStr) -> io::Result<u64> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_FORCE_SYNC;
    Ok(u64::from(rustix::fs::statx(dir, name, flags, StatxFlags::NLINK)?.stx_nlink))
}

/// How many names an open file has, asked again.
pub fn recount_links_of(file: &File) -> io::Result<u64> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
    Ok(u64::from(rustix::fs::statx(file, "", flags, StatxFlags::NLINK)?.stx_nlink))
}

/// Whether a file cannot be replaced by another one: something is mounted at its name.
pub fn must_be_written_in_place(file: &File) -> bool {
    rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::empty())
        .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Whether a file of this folder keeps its inode number when it gets another name, as long as it exists.
///
/// Many FUSE file systems make numbers up for each name, and so do SMB mounts whose server sends none.
pub fn are_inodes_stable(dir: &Dir) -> bool {
    const FUSE: u32 = 0x6573_5546;
    const SMB: [u32; 2] = [0xFF53_4D42, 0xFE53_4D42];
    // The kernel's type of the field differs between architectures; the numbers fit into 32 bits.
    rustix::fs::fstatfs(dir).is_ok_and(|found| {
        let kind = (found.f_type & 0xFFFF_FFFF) as u32;
        kind != FUSE && !SMB.contains(&kind)
    })
}

/// The type numbers of file systems on which files can share blocks: Btrfs, XFS, bcachefs, OCFS2.
const SHARES_BLOCKS: &[u32] = &[0x9123_683E, 0x5846_5342, 0xCA45_1A4E, 0x7461_636F];

/// Whether [`copy_range`] can let two files share blocks instead of copying them.
pub fn can_share_ranges(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|found| SHARES_BLOCKS.contains(&(found.f_type as u32)))
}

/// Lets the kernel copy up to `len` bytes from the offset `at`, and moves `at` on. Returns how many it copied: 0 at the end
/// of the file, `None` if it cannot copy between these files.
pub fn copy_range(from: &File, at: &mut u64, to: &File, len: usize) -> io::Result<Option<usize>> {
    loop {
        match rustix::fs::copy_file_range(from, Some(at), to, None, len) {
            Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => {
                return Ok(None);
            }
            copied => return Ok(Some(copied?)),
        }
    }
}

/// Whether the kernel resolves paths beneath a folder.
pub fn can_resolve_beneath(dir: &Dir) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(dir, Path::new("."), flags, Mode::empty(), resolve).is_ok()
}

/// Whether a file can share the blocks of another one. Both are empty.
pub fn can_share_blocks(from: &File, to: &File) -> bool {
    rustix::io::write(from, &[b'x'; 4096]).is_ok() && rustix::fs::ioctl_ficlone(to, from).is_ok()
}
