/// What an error of the system means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// The file or one of its folders does not exist.
    Missing,
    /// The name is taken.
    Exists,
    /// No permission.
    Denied,
    /// A part of the path is a file.
    NotAFolder,
    /// It is a folder.
    IsFolder,
    /// A folder is in use: it is not empty, or something is mounted there.
    FolderInUse,
    /// A name is too long.
    NameTooLong,
    /// The system cannot use such a name.
    BadName,
    /// It is a symlink, or there are too many on the way.
    Symlink,
    /// The disk is full.
    DiskFull,
    /// The disk quota is used up.
    QuotaUsedUp,
    /// The file system is read-only.
    ReadOnly,
    /// Too many files are open.
    TooManyOpenFiles,
    /// The file would be too large.
    TooLarge,
    /// Another program has the file open and does not share it.
    InUse,
    /// The system or the file system cannot do this.
    Unsupported,
    /// Something else; the error's own text says what.
    Other,
}
