//! What the system says, in the workspace's words.

use std::io;

use rustix::fs::FileType;
use rustix::io::Errno;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;

/// The one place where an error of the system becomes one of the workspace.
pub(super) fn refusal(path: &FilePath, action: &'static str, error: impl Into<io::Error>) -> WorkspaceError {
    let error = error.into();
    let path = path.clone();
    let Some(errno) = Errno::from_io_error(&error) else {
        // cap-std reports a path that leaves the held folder as a denial that no system call made.
        return match error.kind() {
            io::ErrorKind::PermissionDenied => WorkspaceError::Outside(path),
            _ => WorkspaceError::Io { path, action, reason: error.to_string() },
        };
    };
    match errno {
        Errno::ACCESS | Errno::PERM => WorkspaceError::Denied { path, action },
        Errno::NOTDIR => WorkspaceError::NotAFolder(path),
        Errno::ISDIR => WorkspaceError::Folder(path),
        Errno::NAMETOOLONG => WorkspaceError::BadPath { path, reason: "a name in it is too long".into() },
        Errno::LOOP => WorkspaceError::BadPath { path, reason: "symlinks lead in a circle".into() },
        errno => WorkspaceError::Io { path, action, reason: plain(errno, error) },
    }
}

/// Whether an error says that a path leaves its root. cap-std makes it without a system call of that name.
pub(super) fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && Errno::from_io_error(error).is_none()
}

/// A refusal that no system call made.
pub(super) fn refused(path: &FilePath, action: &'static str, reason: impl Into<String>) -> WorkspaceError {
    WorkspaceError::Refused { path: path.clone(), action, reason: reason.into() }
}

/// A symlink that leads to nothing. It is not the same as no file: to make one through it could
/// put the file anywhere.
pub(super) fn dangling(path: &FilePath, action: &'static str) -> WorkspaceError {
    refused(path, action, "a dangling symlink is in the way: it leads to nothing")
}

/// What stands at a path where a regular file should.
pub(super) fn irregular(path: &FilePath, kind: FileType) -> WorkspaceError {
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

fn plain(errno: Errno, error: io::Error) -> String {
    match errno {
        Errno::NOSPC => "the disk is full".into(),
        Errno::DQUOT => "the disk quota is used up".into(),
        Errno::ROFS => "the file system is read-only".into(),
        Errno::MFILE | Errno::NFILE => "too many files are open".into(),
        Errno::FBIG => "the file would be too large".into(),
        Errno::NOENT => "a folder on the way is gone".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(errno: Errno) -> String {
        refusal(&FilePath::from_record("a/b").unwrap(), "write", errno).to_string()
    }

    #[test]
    fn errors_read_as_sentences() {
        assert_eq!(said(Errno::NOSPC), "cannot write `a/b`: the disk is full");
        assert_eq!(said(Errno::ROFS), "cannot write `a/b`: the file system is read-only");
        assert_eq!(said(Errno::ACCESS), "no permission to write `a/b`");
        assert_eq!(said(Errno::NOTDIR), "a part of `a/b` is a file, not a folder");
    }

    #[test]
    fn an_escape_is_told_from_a_denial() {
        let path = FilePath::from_record("a").unwrap();
        let escape = io::Error::new(io::ErrorKind::PermissionDenied, "a path led outside of the filesystem");
        assert_eq!(refusal(&path, "read", escape), WorkspaceError::Outside(path.clone()));
        assert_eq!(refusal(&path, "read", Errno::ACCESS), WorkspaceError::Denied { path, action: "read" });
    }
}
