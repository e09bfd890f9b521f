use std::io;

use crate::problems::Problem;

const ERROR_NOT_SUPPORTED: i32 = 50;
const ERROR_FILE_NOT_FOUND: i32 = 2;
const ERROR_ALREADY_EXISTS: i32 = 183;
const ERROR_DIRECTORY: i32 = 267;
const ERROR_CANT_RESOLVE_FILENAME: i32 = 1921;

/// What an error means; `None` if it does not come from the system.
pub fn of(error: &io::Error) -> Option<Problem> {
    Some(match error.raw_os_error()? {
        ERROR_FILE_NOT_FOUND | 3 => Problem::Missing,
        4 => Problem::TooManyOpenFiles,
        5 => Problem::Denied,
        19 => Problem::ReadOnly,
        // Sharing and lock violations, and a file that is mapped into memory.
        32 | 33 | 1224 => Problem::InUse,
        39 | 112 => Problem::DiskFull,
        1295 => Problem::QuotaUsedUp,
        223 => Problem::TooLarge,
        80 | ERROR_ALREADY_EXISTS => Problem::Exists,
        123 | 161 => Problem::BadName,
        206 => Problem::NameTooLong,
        145 => Problem::FolderInUse,
        ERROR_DIRECTORY => Problem::NotAFolder,
        // Stopped on a symlink, or too many of them.
        681 | ERROR_CANT_RESOLVE_FILENAME => Problem::Symlink,
        1 | ERROR_NOT_SUPPORTED | 120 => Problem::Unsupported,
        _ => Problem::Other,
    })
}

/// Whether an error is that of an access check.
pub fn is_no_access(error: &io::Error) -> bool {
    of(error) == Some(Problem::Denied)
}

/// Never: only access checks are known here.
pub fn is_not_permitted(_: &io::Error) -> bool {
    false
}

/// The error of a path with too many symlinks.
pub fn too_many_symlinks() -> io::Error {
    io::Error::from_raw_os_error(ERROR_CANT_RESOLVE_FILENAME)
}

/// The error of a missing file.
pub fn missing() -> io::Error {
    io::Error::from_raw_os_error(ERROR_FILE_NOT_FOUND)
}

/// The error of a name that is taken.
pub fn exists() -> io::Error {
    io::Error::from_raw_os_error(ERROR_ALREADY_EXISTS)
}

pub(crate) fn unsupported() -> io::Error {
    io::Error::from_raw_os_error(ERROR_NOT_SUPPORTED)
}

pub(crate) fn not_a_folder() -> io::Error {
    io::Error::from_raw_os_error(ERROR_DIRECTORY)
}

/// Never: what is no file is opened and then recognised.
pub fn is_no_file(_: &io::Error) -> bool {
    false
}
