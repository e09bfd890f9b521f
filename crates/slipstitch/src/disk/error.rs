//! Converts system errors into [`WorkspaceError`]s.

use std::io;

use rustix::fs::FileType;
use rustix::io::Errno;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;

/// Converts the error of a system call; every one goes through here.
pub(super) fn io_error(path: &FilePath, action: &'static str, error: impl Into<io::Error>) -> WorkspaceError {
    let error = error.into();
    let path = path.clone();
    let Some(errno) = Errno::from_io_error(&error) else {
        return match error.kind() {
            _ if is_escape(&error) => WorkspaceError::Outside(path),
            _ => WorkspaceError::Io { path, action, reason: error.to_string() },
        };
    };
    match errno {
        Errno::ACCESS | Errno::PERM => WorkspaceError::Denied { path, action },
        Errno::NOTDIR => WorkspaceError::NotAFolder(path),
        Errno::ISDIR => WorkspaceError::Folder(path),
        Errno::NAMETOOLONG => WorkspaceError::BadPath { path, reason: "a name in it is too long".into() },
        Errno::LOOP => WorkspaceError::BadPath { path, reason: "too many levels of symlinks".into() },
        errno => WorkspaceError::Io { path, action, reason: describe(errno, &error) },
    }
}

/// Whether an error means that a path leaves its root.
///
/// cap-std reports that as a `PermissionDenied` without an OS error number.
pub(super) fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && Errno::from_io_error(error).is_none()
}

/// A refusal of ours, without a failed system call.
pub(super) fn refused(path: &FilePath, action: &'static str, reason: impl Into<String>) -> WorkspaceError {
    WorkspaceError::Refused { path: path.clone(), action, reason: reason.into() }
}

/// The error for a dangling symlink.
///
/// It is not treated as a missing file: creating a file through it could put the file anywhere.
pub(super) fn dangling_symlink(path: &FilePath, action: &'static str) -> WorkspaceError {
    refused(path, action, "a dangling symlink is in the way: its target does not exist")
}

/// The error for something other than a regular file.
pub(super) fn not_regular(path: &FilePath, kind: FileType) -> WorkspaceError {
    let kind = match kind {
        FileType::Directory => return WorkspaceError::Folder(path.clone()),
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice => "character device",
        FileType::BlockDevice => "block device",
        FileType::Symlink => "symlink",
        _ => "special file",
    };
    WorkspaceError::NotRegular { path: path.clone(), kind }
}

fn describe(errno: Errno, error: &io::Error) -> String {
    match errno {
        Errno::NOSPC => "the disk is full".into(),
        Errno::DQUOT => "the disk quota is used up".into(),
        Errno::ROFS => "the file system is read-only".into(),
        Errno::MFILE | Errno::NFILE => "too many files are open".into(),
        Errno::FBIG => "the file would be too large".into(),
        Errno::NOENT => "one of its folders no longer exists".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(errno: Errno) -> String {
        io_error(&FilePath::from_record("a/b").unwrap(), "write", errno).to_string()
    }

    #[test]
    fn messages_are_readable() {
        assert_eq!(message(Errno::NOSPC), "cannot write `a/b`: the disk is full");
        assert_eq!(message(Errno::ROFS), "cannot write `a/b`: the file system is read-only");
        assert_eq!(message(Errno::ACCESS), "no permission to write `a/b`");
        assert_eq!(message(Errno::NOTDIR), "a part of `a/b` is a file, not a folder");
    }

    #[test]
    fn distinguishes_an_escape_from_missing_permission() {
        let path = FilePath::from_record("a").unwrap();
        let escape = io::Error::new(io::ErrorKind::PermissionDenied, "a path led outside of the filesystem");
        assert_eq!(io_error(&path, "read", escape), WorkspaceError::Outside(path.clone()));
        assert_eq!(io_error(&path, "read", Errno::ACCESS), WorkspaceError::Denied { path, action: "read" });
    }
}
