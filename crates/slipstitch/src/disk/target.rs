//! The paths of a change, looked up.

use slipstitch_core::change::{Base, FileChange, PathChange};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;

use super::copy;
use super::lookup::{Found, FoundFile, Location};

/// A path of a change, looked up, with the folders that it needs.
#[derive(Debug)]
pub(super) enum Target<F = FoundFile> {
    File(F),
    Free(Location),
}

impl<F: Found> Target<F> {
    pub(super) fn location(&self) -> &Location {
        match self {
            Self::File(found) => found.location(),
            Self::Free(location) => location,
        }
    }
}

impl Target {
    /// The location, if there is no file; otherwise a conflict.
    pub(super) fn expect_free(self, path: &FilePath) -> Result<Location, WorkspaceError> {
        match self {
            Self::Free(location) => Ok(location),
            Self::File(found) => {
                let read = copy::digest(path, found.file, copy::Expected::default())?;
                Err(WorkspaceError::Conflict { path: path.clone(), found: Some(read.hash) })
            }
        }
    }
}

/// What a change does to its file, for error messages.
pub(super) fn action(change: &FileChange) -> &'static str {
    match (change.base, &change.path_change) {
        (_, PathChange::Delete) => "remove",
        (_, PathChange::Move(_)) => "move",
        (Base::Absent, PathChange::Keep) => "create",
        (Base::Content(_), PathChange::Keep) => "write",
    }
}
