//! Errors in tool calls that cannot become a plan.

use slipstitch_patch::{PatchError, PatchErrorKind};
use slipstitch_text::display::quote_and;
use slipstitch_text::{BadVersion, VersionClaim};

use crate::outcome::{Invalid, Outcome, Refused};
use crate::path::{FilePath, PathError};

/// Why a tool call could not become a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ParseError {
    /// What is wrong.
    pub problem: Box<ParseProblem>,
    /// What to send instead.
    pub hint: String,
    /// How the call is reported.
    pub outcome: Outcome,
    /// The file that the call is about, if the caller should get its current version.
    pub path: Option<FilePath>,
    /// The version that the call is for. If the file has another version, that is reported instead.
    pub version: Option<VersionClaim>,
}

/// What is wrong with a tool call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseProblem {
    /// A path cannot be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A version is malformed.
    #[error(transparent)]
    Version(#[from] BadVersion),
    /// A patch cannot be parsed or reversed.
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// The arguments are not an object.
    #[error("the arguments of `{tool}` are {found}; expected an object")]
    Arguments {
        /// The tool that was called.
        tool: String,
        /// A description of the value that was sent.
        found: String,
    },
    /// A field has the wrong type or is out of range.
    #[error("`{field}` is {found}; expected {expected}")]
    Field {
        /// The field, with the path to it.
        field: String,
        /// A description of the value that was sent.
        found: String,
        /// A description of the expected value.
        expected: String,
    },
    /// A field does not fit the tool's own type.
    #[error("`{field}`: {reason}")]
    FieldValue {
        /// The field, with the path to it.
        field: String,
        /// Why the value does not fit.
        reason: String,
    },
    /// The tool has no such field.
    #[error("`{tool}` has no field `{field}`")]
    UnknownField {
        /// The tool that was called.
        tool: String,
        /// The field, with the path to it.
        field: String,
    },
    /// Required fields are missing.
    #[error("`{tool}` needs {}", quote_and(fields))]
    MissingFields {
        /// The tool that was called.
        tool: String,
        /// The fields, with the paths to them.
        fields: Vec<String>,
    },
    /// Neither the patch nor the call names the file.
    #[error("patch line {line}: the patch does not name a file")]
    PatchWithoutPath {
        /// The line of the patch, from 1.
        line: usize,
    },
    /// The call names one file for a patch of several files.
    #[error("the patch is for {count} files, but the path `{path}` was given")]
    PatchForSeveralFiles {
        /// The number of files in the patch.
        count: usize,
        /// The path given in the call.
        path: FilePath,
    },
    /// The call and the patch name different files.
    #[error("the patch is for `{named}`, but the path `{path}` was given")]
    PatchForOtherFile {
        /// The file that the patch names.
        named: FilePath,
        /// The path given in the call.
        path: FilePath,
    },
    /// Two sections of a patch cannot be combined.
    #[error(
        "the patch has two sections for `{path}`, at lines {first} and {second}, that cannot be combined"
    )]
    PatchSections {
        /// The file of both sections.
        path: FilePath,
        /// The line of the first section, from 1.
        first: usize,
        /// The line of the second section, from 1.
        second: usize,
    },
    /// A block creates a file that other blocks change.
    #[error("a block with an empty search text creates a file, but other blocks change the same file")]
    EmptySearch,
    /// A rule of the dialect, in the dialect's own words.
    #[error("{0}")]
    Rule(String),
}

impl ParseError {
    /// An invalid request.
    pub fn invalid(problem: impl Into<ParseProblem>, hint: impl Into<String>) -> Self {
        Self {
            problem: Box::new(problem.into()),
            hint: hint.into(),
            outcome: Invalid::BadRequest.into(),
            path: None,
            version: None,
        }
    }

    /// A request that violates one of the dialect's own rules.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::invalid(ParseProblem::Rule(message.into()), hint)
    }

    /// A valid request that the settings do not allow.
    pub fn refused(reason: Refused, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { outcome: reason.into(), ..Self::new(message, hint) }
    }

    /// Sets the file that the call is about.
    pub fn about(self, path: &FilePath) -> Self {
        Self { path: Some(path.clone()), ..self }
    }

    /// Sets the version that the call is for, so that another version of the file is reported instead.
    pub fn unless_stale(self, version: Option<&VersionClaim>) -> Self {
        Self { version: version.cloned(), ..self }
    }
}

impl From<PathError> for ParseError {
    fn from(error: PathError) -> Self {
        let reason = match error {
            PathError::Outside { .. } => Invalid::OutsideRoot,
            PathError::Folder(_) => Invalid::IsAFolder,
            _ => Invalid::BadPath,
        };
        let hint = error.hint();
        Self { outcome: reason.into(), ..Self::invalid(error, hint) }
    }
}

impl From<BadVersion> for ParseError {
    fn from(error: BadVersion) -> Self {
        Self::invalid(error, "Use the version exactly as a read or an edit returned it, or omit it.")
    }
}

impl From<PatchError> for ParseError {
    fn from(error: PatchError) -> Self {
        let reason = match error.kind {
            PatchErrorKind::Path => Invalid::BadPath,
            PatchErrorKind::Unsupported => Invalid::UnsupportedPatch,
            _ => Invalid::BadPatch,
        };
        let hint = error.hint.clone();
        Self { outcome: reason.into(), ..Self::invalid(error, hint) }
    }
}
