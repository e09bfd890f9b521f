//! Converts system errors into [`WorkspaceError`]s.

use std::io;

use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_platform::info::FileKind;
use slipstitch_platform::problem::{self, Problem};

/// Converts the error of a system call; every one goes through here.
pub(super) fn io_error(path: &FilePath, action: &'static str, error: impl Into<io::Error>) -> WorkspaceError {
    let error = error.into();
    let path = path.clone();
    let Some(problem) = problem::of(&error) else {
        return match error.kind() {
            _ if is_escape(&error) => WorkspaceError::Outside(path),
            _ => WorkspaceError::Io { path, action, reason: error.to_string() },
        };
    };
    match problem {
        Problem::Denied => WorkspaceError::Denied { path, action },
        Problem::NotAFolder => WorkspaceError::NotAFolder(path),
        Problem::IsFolder => WorkspaceError::Folder(path),
        Problem::NameTooLong => WorkspaceError::BadPath { path, reason: "a name in it is too long".into() },
        Problem::BadName => {
            WorkspaceError::BadPath { path, reason: "the system cannot use a name in it".into() }
        }
        Problem::Symlink => WorkspaceError::BadPath { path, reason: "too many levels of symlinks".into() },
        problem => WorkspaceError::Io { path, action, reason: describe(problem, &error) },
    }
}

/// Whether an error means that a path leaves its root.
///
/// cap-std reports that as a `PermissionDenied` without an OS error number.
pub(super) fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && problem::of(error).is_none()
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
pub(super) fn not_regular(path: &FilePath, kind: FileKind) -> WorkspaceError {
    let kind = match kind {
        FileKind::Folder => return WorkspaceError::Folder(path.clone()),
        FileKind::Pipe => "named pipe",
        FileKind::Socket => "socket",
        FileKind::CharacterDevice => "character device",
        FileKind::BlockDevice => "block device",
        FileKind::Symlink => "symlink",
        _ => "special file",
    };
    WorkspaceError::NotRegular { path: path.clone(), kind }
}

fn describe(problem: Problem, error: &io::Error) -> String {
    match problem {
        Problem::DiskFull => "the disk is full".into(),
        Problem::QuotaUsedUp => "the disk quota is used up".into(),
        Problem::ReadOnly => "the file system is read-only".into(),
        Problem::TooManyOpenFiles => "too many files are open".into(),
        Problem::TooLarge => "the file would be too large".into(),
        Problem::InUse => "another program has it open; close it there and try again".into(),
        Problem::Missing => "one of its folders no longer exists".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::*;
    #[cfg(unix)]
    use rustix::io::Errno;

    #[cfg(unix)]
    fn message(errno: Errno) -> String {
        io_error(&FilePath::from_record("a/b").unwrap(), "write", errno).to_string()
    }

    #[cfg(unix)]
    #[test]
    fn messages_are_readable() {
        assert_eq!(message(Errno::NOSPC), "cannot write `a/b`: the disk is full");
        assert_eq!(message(Errno::ROFS), "cannot write `a/b`: the file system is read-only");
        assert_eq!(message(Errno::ACCESS), "no permission to write `a/b`");
        assert_eq!(message(Errno::NOTDIR), "a part of `a/b` is a file, not a folder");
    }

    #[cfg(unix)]
    #[test]
    fn distinguishes_an_escape_from_missing_permission() {
        let path = FilePath::from_record("a").unwrap();
        let escape = io::Error::new(io::ErrorKind::PermissionDenied, "a path led outside of the filesystem");
        assert_eq!(io_error(&path, "read", escape), WorkspaceError::Outside(path.clone()));
        assert_eq!(io_error(&path, "read", Errno::ACCESS), WorkspaceError::Denied { path, action: "read" });
    }
}
