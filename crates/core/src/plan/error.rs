//! Why a call could not become a plan.

use slipstitch_text::{BadVersion, VersionClaim};

use crate::outcome::{Invalid, Outcome, Refused};
use crate::path::{FilePath, PathError};

/// Why a call could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// What is wrong, naming the field.
    pub message: String,
    /// What to send instead.
    pub hint: String,
    /// How the call is reported.
    pub outcome: Outcome,
    /// The file that the call is about, where the caller should be told its current version.
    pub path: Option<FilePath>,
    /// The version that the call is for: if the file has another one, the caller is told that instead.
    // Boxed, so that the error of every `parse` function stays small.
    pub version: Option<Box<VersionClaim>>,
}

impl ParseError {
    /// A malformed call: what is wrong, and what to send instead.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
            outcome: Invalid::BadRequest.into(),
            path: None,
            version: None,
        }
    }

    /// A call that makes sense and that the settings do not allow.
    pub fn refused(reason: Refused, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { outcome: reason.into(), ..Self::new(message, hint) }
    }

    /// The same, about a file.
    pub fn about(self, path: &FilePath) -> Self {
        Self { path: Some(path.clone()), ..self }
    }

    /// The same, unless the file has another version than that.
    pub fn unless_stale(self, version: Option<&VersionClaim>) -> Self {
        Self { version: version.cloned().map(Box::new), ..self }
    }
}

impl From<PathError> for ParseError {
    fn from(error: PathError) -> Self {
        let reason = match error {
            PathError::Outside { .. } => Invalid::OutsideRoot,
            PathError::Folder(_) => Invalid::IsAFolder,
            _ => Invalid::BadPath,
        };
        Self { outcome: reason.into(), ..Self::new(error.to_string(), error.hint()) }
    }
}

impl From<BadVersion> for ParseError {
    fn from(error: BadVersion) -> Self {
        Self::new(
            error.to_string(),
            "Send the version as the answer to a read or an edit gave it, or leave it out.",
        )
    }
}
