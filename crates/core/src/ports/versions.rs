//! The versions port: earlier texts of files that are known outside the journal, in version control for example.
//!
//! A caller that quotes a file inexactly has often seen another version of it. The engine looks for such a version in what
//! it showed the session, then in the journal, then here.

use std::fmt;

use serde::Serialize;

use crate::path::FilePath;
use crate::plan::ChangeId;

/// Where an earlier version of a file comes from, most likely seen first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum VersionSource {
    /// Shown to this session by a read or an answer.
    Shown,
    /// The text before or after a recorded change.
    Journal(ChangeId),
    /// Staged in version control.
    Index,
    /// The last commit.
    Head,
}

/// An earlier version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownVersion {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Where it comes from.
    pub source: VersionSource,
}

/// Who changed some lines of a file last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedBy {
    /// A recorded change.
    Change {
        /// Its id.
        id: ChangeId,
        /// The program that made it.
        agent: Option<String>,
        /// The session that made it.
        session: String,
    },
    /// Something that is not in the journal, or not any more.
    Outside,
}

impl fmt::Display for ChangedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change { id, agent: Some(agent), .. } => write!(f, "change {id} by {agent}"),
            Self::Change { id, agent: None, session } => write!(f, "change {id} of session `{session}`"),
            Self::Outside => f.write_str("by something not recorded here"),
        }
    }
}

/// Earlier versions of files from outside the journal, such as version control.
pub trait Versions: Send + Sync {
    /// The known versions of the file at a path, most likely seen first. `now` is its current content, which shows what a
    /// renamed file was called before. Called only when they are needed, and an answer waits for it, so it must be quick. What
    /// cannot be read is left out: versions only help to find a place.
    fn versions(&self, path: &FilePath, now: &[u8]) -> Vec<KnownVersion>;
}

/// No versions.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoVersions;

impl Versions for NoVersions {
    fn versions(&self, _: &FilePath, _: &[u8]) -> Vec<KnownVersion> {
        Vec::new()
    }
}
