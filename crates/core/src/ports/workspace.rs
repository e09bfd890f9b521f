//! The file port.
//!
//! A change is written in two steps, so that it can be journaled in between: [`Workspace::stage`] locks the files, checks
//! that each still has the content the change was made for, and prepares the new content out of sight;
//! [`Staged::publish`] makes it visible.
//!
//! If the process dies while publishing, the change is interrupted. *Settling* it means completing it or rolling it back,
//! so that its files are all new or all old ([`InterruptedChange::settle`]).

use crate::cancel::CancelToken;
use crate::change::{FileChange, Restore};
use crate::path::{FilePath, RootName};
use crate::snapshot::{FileContent, LargeFile};
use slipstitch_text::ContentHash;
use slipstitch_text::display::join_items;

/// Files that can be read and changed.
pub trait Workspace: Send + Sync {
    /// The names by which callers may refer to the roots in absolute paths.
    fn root_names(&self) -> &[RootName];

    /// Reads a file; a missing file is not an error.
    fn read(&self, path: &FilePath) -> Result<ReadResult, WorkspaceError>;

    /// Like [`Workspace::read`], but a large file may be left to be read in blocks.
    fn open(&self, path: &FilePath) -> Result<OpenResult, WorkspaceError> {
        Ok(match self.read(path)? {
            ReadResult::File(content) => OpenResult::File(content),
            ReadResult::Missing { real } => OpenResult::Missing { real },
        })
    }

    /// The entries of a folder, sorted by name; of the root if none is given.
    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError>;

    /// Checks whether changes could be staged, without touching anything. This is what makes a dry run predict the
    /// real run. Returns warnings for the caller.
    fn check(&self, changes: &[FileChange]) -> Result<Vec<String>, WorkspaceError>;

    /// Prepares changes. Dropping the result before it was published undoes the preparation.
    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError>;

    /// Like [`Workspace::stage`], but stops waiting for locks when the call is cancelled.
    fn stage_unless_cancelled<'a>(
        &'a self,
        changes: &[FileChange],
        cancel: &CancelToken,
    ) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        let _ = cancel;
        self.stage(changes)
    }

    /// Like [`Workspace::stage`], for a caller that has just settled interrupted changes and knows that none of those
    /// left concerns these files.
    fn stage_after_recovery<'a>(
        &'a self,
        changes: &[FileChange],
    ) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        self.stage(changes)
    }

    /// Locks the files of an interrupted change, so that it can be settled. `intent` is what [`Staged::intent`] returned
    /// for it. `None` if its process is still running.
    fn reopen<'a>(&'a self, intent: &str) -> Result<Option<Box<dyn InterruptedChange + 'a>>, WorkspaceError> {
        let _ = intent;
        Ok(None)
    }
}

/// Changes that are prepared and locked, but not visible yet. Dropping it releases the locks.
pub trait Staged {
    /// What is needed to settle the change if the process dies while publishing. The journal stores it; only the
    /// workspace that wrote it can read it.
    fn intent(&self) -> Option<String> {
        None
    }

    /// For each file of the change, what its inverse has to restore besides the content. Files at the end may be left
    /// out if there is nothing to restore.
    fn restores(&self) -> Vec<Restore> {
        Vec::new()
    }

    /// Called right before the change is journaled: what must be on the disk before it is published can be flushed
    /// meanwhile.
    fn begin_flush(&mut self) {}

    /// Makes all changes visible, or none. Called once.
    fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError>;

    /// Warnings for the caller about a change that was published.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Called if the change was published but could not be sealed in the journal: the next process that
    /// locks the files must settle it first.
    fn mark_unsettled(&mut self) {}
}

/// A change whose process died while publishing, with its files locked.
pub trait InterruptedChange {
    /// Completes the change or rolls it back: afterwards its files are all new or all old.
    fn settle(&mut self) -> Result<SettledAs, WorkspaceError>;
}

/// How an interrupted change was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettledAs {
    /// All of it is in the files.
    Completed,
    /// None of it is in the files.
    RolledBack,
}

/// What is at a path.
#[derive(Debug, Clone)]
pub enum ReadResult {
    /// A regular file.
    File(FileContent),
    /// Nothing.
    Missing {
        /// Where a file created there would end up, if the path goes through a symlink.
        real: Option<FilePath>,
    },
}

/// What is at a path, read only as far as necessary.
#[derive(Debug, Clone)]
pub enum OpenResult {
    /// A regular file.
    File(FileContent),
    /// A regular file that is not read yet.
    Large(LargeFile),
    /// Nothing.
    Missing {
        /// Where a file created there would end up, if the path goes through a symlink.
        real: Option<FilePath>,
    },
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// What it is; symlinks inside the root are followed.
    pub kind: EntryKind,
    /// A file's size in bytes.
    pub size: u64,
    /// When it was changed last, in milliseconds since 1970, if known.
    pub modified: Option<i64>,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, a pipe, a socket, or a symlink that is broken or leads out of the root.
    Other,
}

/// How one file of a change was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file's path after the change, or before it if the file was deleted.
    pub path: FilePath,
    /// The method: `exchange`, `rename`, `in_place`, `create`, `remove`, `move`, `unchanged`, `memory`.
    pub write_mode: &'static str,
}

impl Written {
    /// The method that readers can see half done.
    pub const IN_PLACE: &str = "in_place";
}

/// Why a file could not be read or changed. Except for [`WorkspaceError::Torn`], nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The path leads out of the root, through a symlink or otherwise.
    #[error("`{0}` leads outside the project root")]
    Outside(FilePath),
    /// The path names a folder.
    #[error("`{0}` is a folder, not a file")]
    Folder(FilePath),
    /// The folder does not exist.
    #[error("`{0}`: no such folder")]
    NoFolder(FilePath),
    /// The path names a device, a pipe or a socket.
    #[error("`{path}` is a {kind}, not a regular file")]
    NotRegular {
        /// The path.
        path: FilePath,
        /// What it is.
        kind: &'static str,
    },
    /// A parent of the path is not a folder.
    #[error("a part of `{0}` is a file, not a folder")]
    NotAFolder(FilePath),
    /// The process lacks permission.
    #[error("no permission to {action} `{path}`")]
    Denied {
        /// The path.
        path: FilePath,
        /// What was tried.
        action: &'static str,
    },
    /// Another writer changed the file after it was read.
    #[error("`{path}` changed while the edit was being applied")]
    Conflict {
        /// The path.
        path: FilePath,
        /// The hash of its current content, if it exists.
        found: Option<ContentHash>,
    },
    /// Another program saved the file at the moment of the change. Its version was put back, but it may have read the
    /// new one while that was visible, so the edit must not be repeated without looking.
    #[error("another program saved `{path}` at the same moment; its version was kept{}", describe_kept(kept))]
    SavedMeanwhile {
        /// The path.
        path: FilePath,
        /// The names of files next to it with what else was saved, if that was more than one version.
        kept: Vec<String>,
    },
    /// It could be done, but would damage something that must be kept.
    #[error("cannot {action} `{path}`: {reason}")]
    Refused {
        /// The path.
        path: FilePath,
        /// What was tried.
        action: &'static str,
        /// What would be damaged.
        reason: String,
    },
    /// An editor has unsaved changes of the file.
    #[error("`{path}` has unsaved changes in {editor}")]
    Unsaved {
        /// The path.
        path: FilePath,
        /// The editor.
        editor: String,
        /// What shows it, if the editor itself was not asked: "the lock file `.#name`".
        evidence: Option<String>,
    },
    /// The path cannot be used: a name is too long, or symlinks form a loop.
    #[error("`{path}` cannot be used: {reason}")]
    BadPath {
        /// The path.
        path: FilePath,
        /// Why.
        reason: String,
    },
    /// The change is only partly in the files and could not be rolled back. What is needed to repair that is kept.
    #[error("`{path}` was only partly changed: {reason}")]
    Torn {
        /// The path.
        path: FilePath,
        /// What happened, and where the old content is.
        reason: String,
    },
    /// A process died while it changed the file, and its change must be settled first.
    #[error("a change to `{0}` was interrupted and has not been recovered yet")]
    Unsettled(FilePath),
    /// Another process has locked the file.
    #[error("`{path}` is being changed by {}", holder.as_deref().unwrap_or("another process"))]
    Locked {
        /// The path.
        path: FilePath,
        /// Who holds the lock, if known.
        holder: Option<String>,
    },
    /// Any other system error.
    #[error("cannot {action} `{path}`: {reason}")]
    Io {
        /// The path.
        path: FilePath,
        /// What was tried.
        action: &'static str,
        /// The system's message.
        reason: String,
    },
}

fn describe_kept(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.len() {
        0 => String::new(),
        1 => format!("; another version is saved next to it as {}", join_items(&quoted)),
        _ => format!("; other versions are saved next to it as {}", join_items(&quoted)),
    }
}
