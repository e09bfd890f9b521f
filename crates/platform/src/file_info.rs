/// What is at a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symlink; on Windows, also a junction.
    Symlink,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
    /// Something else, such as a reparse point of an unknown kind.
    Other,
}

/// What the system knows about a file besides its content.
///
/// Times are seconds and nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInfo {
    /// What it is.
    pub kind: FileKind,
    /// The volume it is on.
    pub device: u64,
    /// Which file of the volume it is.
    pub inode: u64,
    /// How many names it has.
    pub links: u64,
    /// Its length in bytes.
    pub len: u64,
    /// When its content was last written; programs can set it.
    pub modified: (i64, i64),
    /// When its content or attributes were last changed. On Unix, no program can set it. Windows does not tell without more
    /// calls, so there it is the same as `modified`.
    pub changed: (i64, i64),
    /// Permission bits. On Windows, only whether it is read-only.
    pub mode: u32,
    /// The owner's number; 0 on Windows.
    pub owner: u32,
    /// The group's number; 0 on Windows.
    pub group: u32,
}

impl FileInfo {
    /// The file's identity: which file of which volume.
    pub fn id(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    /// When its content was last written, in milliseconds since 1970.
    pub fn modified_millis(&self) -> i64 {
        self.modified.0 * 1000 + self.modified.1 / 1_000_000
    }
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Its owner.
    Owner,
    /// Whom the system lets by default: the umask, or the access list of the folder.
    Default,
    /// Everyone whom these permission bits allow, as far as the umask or the folder's access list does too. A folder is for its
    /// owner only.
    Bits(u32),
}

/// Who else can use a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// Nobody, as far as is known.
    None,
    /// It belongs to another user, with this number.
    OtherOwner(u32),
    /// Others may use it; with its permission bits.
    Others(u32),
}
