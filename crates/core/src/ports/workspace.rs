//! The port to the files.
//!
//! A change goes in by two steps, so that a journal entry can stand between them:
//! [`Workspace::stage`] locks the files, checks that each still has the content the change was
//! made for and prepares the new content out of sight; [`Staged::publish`] makes it visible.

use crate::change::FileChange;
use crate::path::{FilePath, RootName};
use crate::snapshot::FileContent;
use slipstitch_text::ContentHash;

/// Files that can be read and changed.
pub trait Workspace: Send + Sync {
    /// The names by which callers may call the roots in paths given in full.
    fn root_names(&self) -> &[RootName];

    /// A file's bytes, or that there is none.
    fn read(&self, path: &FilePath) -> Result<Seen, WorkspaceError>;

    /// What a folder holds, by name; the root if none is given.
    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError>;

    /// Looks whether changes could be prepared, and touches nothing: what a dry run says is what the run
    /// does, as far as can be seen.
    fn check(&self, changes: &[FileChange]) -> Result<(), WorkspaceError>;

    /// Prepares changes. Dropping the result leaves everything as it was, unless it was published.
    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError>;

    /// The same when what a process that died has left was looked after, and nothing of it concerns these changes.
    fn stage_anyway<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        self.stage(changes)
    }

    /// Takes hold of a change that was announced with `intent` and never sealed. `None`: its process is still
    /// at it.
    fn reopen<'a>(&'a self, intent: &str) -> Result<Option<Box<dyn Unfinished + 'a>>, WorkspaceError> {
        let _ = intent;
        Ok(None)
    }
}

/// Changes that are prepared and locked, but not visible yet. Dropping it gives the locks back.
pub trait Staged {
    /// What must be known to settle the change if the process dies while it publishes. The journal keeps it;
    /// only the workspace that wrote it reads it.
    fn intent(&self) -> Option<String> {
        None
    }

    /// Makes all of them visible, or none. Called once.
    fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError>;

    /// The journal could not be told that the change is done: whoever takes the locks next must have it settled first.
    fn leave_unsettled(&mut self) {}
}

/// A change whose process died while it published, with its files locked.
pub trait Unfinished {
    /// Brings the files to one side: as they were, or all as the change has them.
    fn settle(&mut self) -> Result<Settlement, WorkspaceError>;
}

/// To which side an unfinished change was brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// All of it is in the files.
    Done,
    /// Nothing of it is.
    NotDone,
}

/// What a look at a path found.
#[derive(Debug, Clone)]
pub enum Seen {
    /// A regular file.
    File(FileContent),
    /// Nothing.
    Missing {
        /// Where a file made there would be, if the path goes through a symlink.
        real: Option<FilePath>,
    },
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// The name.
    pub name: String,
    /// What stands there, symlinks inside the root followed.
    pub kind: EntryKind,
    /// A file's size in bytes.
    pub size: u64,
}

/// What stands at a name in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, a pipe, a socket, or a symlink that leads nowhere or out of the root.
    Other,
}

/// How one file of a change reached the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file's path after the change, or before it if it is gone.
    pub path: FilePath,
    /// By which means: `exchange`, `rename`, `in_place`, `create`, `remove`, `move`, `unchanged`, `memory`
    pub write_mode: &'static str,
}

/// Why a file could not be read or changed. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The path leads out of the root, by a symlink or otherwise.
    #[error("`{0}` leads outside the root")]
    Outside(FilePath),
    /// The path names a folder.
    #[error("`{0}` is a folder, not a file")]
    Folder(FilePath),
    /// There is no folder of that name.
    #[error("`{0}`: there is no such folder")]
    NoFolder(FilePath),
    /// The path names a device, a pipe or a socket.
    #[error("`{path}` is a {kind}, not a regular file")]
    NotRegular {
        /// The path.
        path: FilePath,
        /// What it is.
        kind: &'static str,
    },
    /// A name on the way to the file is not a folder.
    #[error("a part of `{0}` is a file, not a folder")]
    NotAFolder(FilePath),
    /// The system does not let this process.
    #[error("no permission to {action} `{path}`")]
    Denied {
        /// The path.
        path: FilePath,
        /// What was tried.
        action: &'static str,
    },
    /// Someone else changed the file after it was read.
    #[error("`{path}` changed while the edit was being made")]
    Conflict {
        /// The path.
        path: FilePath,
        /// What it has now, if it is there.
        found: Option<ContentHash>,
    },
    /// It could be done, but not without harm to what must be kept.
    #[error("cannot {action} `{path}`: {reason}")]
    Refused {
        /// The path.
        path: FilePath,
        /// What was tried.
        action: &'static str,
        /// What would be harmed.
        reason: String,
    },
    /// Someone has changed the file in an editor and not saved it.
    #[error("`{path}` is open in {editor} with changes that are not saved")]
    Unsaved {
        /// The path.
        path: FilePath,
        /// The editor.
        editor: &'static str,
    },
    /// The path itself is no good: a name is too long, or symlinks lead in a circle.
    #[error("`{path}` cannot be used: {reason}")]
    BadPath {
        /// The path.
        path: FilePath,
        /// Why.
        reason: String,
    },
    /// The change is in the files by half, and could not be taken back. What is needed to mend that is kept.
    #[error("`{path}` is half changed: {reason}")]
    Torn {
        /// The path.
        path: FilePath,
        /// What happened, and where the old content is.
        reason: String,
    },
    /// A process died while it changed the file, and what it left must be settled first.
    #[error("a change of `{0}` was cut short and is not settled yet")]
    Unsettled(FilePath),
    /// Another process holds the file's lock.
    #[error("`{path}` is being changed by {}", holder.as_deref().unwrap_or("another process"))]
    Locked {
        /// The path.
        path: FilePath,
        /// Who holds it, if known.
        holder: Option<String>,
    },
    /// Anything else the system reports.
    #[error("cannot {action} `{path}`: {reason}")]
    Io {
        /// The path.
        path: FilePath,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        reason: String,
    },
}
