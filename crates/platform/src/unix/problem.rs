use std::io;

use rustix::io::Errno;

use crate::problems::Problem;

/// What an error means; `None` if it does not come from the system.
pub fn of(error: &io::Error) -> Option<Problem> {
    Some(match Errno::from_io_error(error)? {
        Errno::ACCESS | Errno::PERM => Problem::Denied,
        Errno::NOENT => Problem::Missing,
        Errno::EXIST => Problem::Exists,
        Errno::NOTDIR => Problem::NotAFolder,
        Errno::ISDIR => Problem::IsFolder,
        Errno::NOTEMPTY | Errno::BUSY => Problem::FolderInUse,
        Errno::NAMETOOLONG => Problem::NameTooLong,
        Errno::LOOP => Problem::Symlink,
        Errno::NOSPC => Problem::DiskFull,
        Errno::DQUOT => Problem::QuotaUsedUp,
        Errno::ROFS => Problem::ReadOnly,
        Errno::MFILE | Errno::NFILE => Problem::TooManyOpenFiles,
        Errno::FBIG => Problem::TooLarge,
        errno if [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&errno) => {
            Problem::Unsupported
        }
        _ => Problem::Other,
    })
}

/// Whether an error is that of an access check, not that of an operation that only a privileged process may do.
pub fn is_no_access(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::ACCESS)
}

/// The error of a path with too many symlinks.
pub fn too_many_symlinks() -> io::Error {
    Errno::LOOP.into()
}

/// The error of a missing file.
pub fn missing() -> io::Error {
    Errno::NOENT.into()
}

/// The error of a name that is taken.
pub fn exists() -> io::Error {
    Errno::EXIST.into()
}

/// Whether an error means that only a privileged process may do this, and not that access was checked and denied.
pub fn is_not_permitted(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::PERM)
}

/// Whether an error means that a name stands for something that cannot be opened as a file: a socket, or a device without a
/// driver.
pub fn is_no_file(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NXIO | Errno::NODEV))
}
