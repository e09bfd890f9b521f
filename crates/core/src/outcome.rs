//! How a call ended: one enum with the reasons inside.
//!
//! Code matches on these enums, so that a new reason fails to compile wherever it is not handled. The code strings are
//! for programs that read a serialized report; nothing in the workspace compares them.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Defines a fieldless enum whose variants have stable machine-readable codes.
macro_rules! reasons {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// Every reason, in declaration order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Stable machine-readable code.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.code())
            }
        }
    };
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The change is written.
    Applied,
    /// A dry run: the change would be written.
    WouldApply,
    /// The result is identical to the file; nothing was written.
    NoChange,
    /// The new text is already in place; nothing was written.
    AlreadyApplied,
    /// Something was read.
    Shown,
    /// The session may write from now on.
    ModeUpgraded,
    /// The session could already write.
    ModeUnchanged,
    /// A person accepted a part of a proposed change, which was written.
    PartlyAccepted,
    /// A reviewer rejected a proposal.
    ProposalRejected,
    /// An edit has no place in its file; nothing was written.
    Unplaced(Unplaced),
    /// The request is valid but was refused for another reason.
    Refused(Refused),
    /// The request is malformed, or names something that does not exist.
    Invalid(Invalid),
    /// The system or the journal failed.
    Failed(Failed),
    /// An outcome defined by an embedding program.
    Custom {
        /// Its status.
        status: Status,
        /// Its stable machine-readable code.
        code: &'static str,
    },
}

/// An outcome without its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Written.
    Applied,
    /// A dry run that would write.
    WouldApply,
    /// The result is identical; nothing was written.
    NoChange,
    /// The new text is already in place; nothing was written.
    AlreadyApplied,
    /// Something was read.
    Shown,
    /// Stored as a proposal or request; a user decides. Nothing was written yet.
    Pending,
    /// Valid, but refused: no match, ambiguous, stale, declined, …
    Refused,
    /// Malformed, or naming something that does not exist.
    Invalid,
    /// The system or the journal failed. Nothing was written, unless the reason is [`Failed::HalfChanged`].
    Failed,
}

impl Status {
    /// Whether the caller got what it asked for.
    pub fn is_success(self) -> bool {
        match self {
            Self::Applied | Self::WouldApply | Self::NoChange | Self::AlreadyApplied | Self::Shown => true,
            Self::Pending | Self::Refused | Self::Invalid | Self::Failed => false,
        }
    }

    /// Whether the call failed. A call that waits for a user's decision neither succeeded nor failed.
    pub fn is_error(self) -> bool {
        match self {
            Self::Refused | Self::Invalid | Self::Failed => true,
            Self::Applied
            | Self::WouldApply
            | Self::NoChange
            | Self::AlreadyApplied
            | Self::Shown
            | Self::Pending => false,
        }
    }
}

/// Why a call did not succeed, as finely as the dialects' own wordings distinguish it.
///
/// A dialect that has its own words for some reasons matches on this enum without a wildcard. A new reason then fails to
/// compile in [`Unplaced::topic`] or its siblings, and a new topic in every dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// The old text does not occur in the file.
    NoMatch,
    /// The old text occurs more than once.
    Ambiguous,
    /// The new text is already in place of the old text.
    AlreadyApplied,
    /// An earlier edit of the batch changed the place.
    Displaced,
    /// The old text is empty or only whitespace.
    BlankOldText,
    /// The old text is missing where the tool needs one.
    OldTextMissing,
    /// The file does not have the lines.
    OutOfRange,
    /// The file does not exist.
    FileNotFound,
    /// The file exists already.
    FileExists,
    /// The path leads outside the root.
    OutsideRoot,
    /// A field is missing, unknown or of the wrong type.
    BadRequest,
    /// The file is not the version that the caller named.
    StaleFile,
    /// The file would lose most of its lines.
    ShrinksFile,
    /// The session may only read.
    RestrictedMode,
    /// The system does not allow the write, or it would lose something that must be kept.
    NotWritable,
    /// Anything else: the report's message and hint say it.
    General,
}

reasons! {
    /// Why an edit has no place in its file.
    Unplaced {
        /// The file does not exist.
        FileNotFound = "file_not_found",
        /// The file exists already.
        FileExists = "file_exists",
        /// The file is not text.
        BinaryFile = "binary_file",
        /// The old text is empty or only whitespace.
        BlankOldText = "blank_old_text",
        /// The old text does not occur in the file.
        NoMatch = "no_match",
        /// The new text is already in place of the old text.
        AlreadyApplied = "already_applied",
        /// The old text occurs more than once.
        Ambiguous = "ambiguous",
        /// The old text does not occur as often as the caller says.
        WrongCount = "wrong_count",
        /// The lines of a hunk occur, but not at the end of the file as the hunk says.
        NotAtEnd = "not_at_end",
        /// The lines of a hunk occur, but outside the scope that the hunk names.
        OutsideScope = "outside_scope",
        /// The scope that a hunk names does not occur in the file.
        ScopeNotFound = "scope_not_found",
        /// A hunk only adds lines and does not say where.
        NoPlace = "no_place",
        /// The search was stopped by its budget.
        TooCostly = "too_costly",
        /// A deletion does not name all of the file's lines.
        ContentDiffers = "content_differs",
        /// An earlier edit of the batch changed the place.
        Displaced = "displaced",
        /// The file does not have the lines.
        OutOfRange = "out_of_range",
        /// The lines are not what the caller expects.
        UnexpectedLines = "unexpected_lines",
        /// Two edits cover the same text.
        Overlap = "overlap",
        /// The file's encoding has no such character.
        Unencodable = "unencodable",
        /// The edit would split an encoded character.
        SplitsCharacter = "splits_character",
        /// The edit would join two line endings into one.
        JoinsNewlines = "joins_newlines",
        /// The clipboard is empty.
        NoClipboard = "no_clipboard",
        /// A line lacks the prefix to strip.
        CannotStrip = "cannot_strip",
        /// The old text of a reindented edit differs in more than indentation.
        CannotReindent = "cannot_reindent",
        /// Two paths of the request lead to one file.
        SameFile = "same_file",
        /// The request names a path twice.
        PathTwice = "path_twice",
        /// The file is not a notebook with cells that can be told apart.
        NotANotebook = "not_a_notebook",
        /// The notebook has no such cell.
        CellNotFound = "cell_not_found",
        /// The cell or the notebook is of another type or language than the caller expects.
        UnexpectedCell = "unexpected_cell",
        /// A whole-file operation is combined with other edits of the file.
        NotAlone = "not_alone",
    }
}

reasons! {
    /// Why a valid request was refused, other than an edit without a place.
    Refused {
        /// The file is not the version that the caller named.
        StaleFile = "stale_file",
        /// The request has too much text.
        RequestTooLarge = "request_too_large",
        /// The file would become too large.
        FileTooLarge = "file_too_large",
        /// The file would lose most of its lines.
        ShrinksFile = "shrinks_file",
        /// Overwriting text needs a confirmation.
        OverwriteUnconfirmed = "overwrite_unconfirmed",
        /// The new text contains NUL.
        NulInText = "nul_in_text",
        /// The new text contains a placeholder for code.
        PlaceholderText = "placeholder_text",
        /// The path is protected.
        ProtectedPath = "protected_path",
        /// A rule of the settings denies the change.
        DeniedByRule = "denied_by_rule",
        /// The change to undo belongs to another session.
        OthersChange = "others_change",
        /// The tool is switched off.
        ToolDisabled = "disabled",
        /// The tool needs the file's hash.
        HashRequired = "file_hash_required",
        /// The session may only read.
        RestrictedMode = "restricted_mode",
        /// Another writer changed the file meanwhile.
        Conflict = "conflict",
        /// Another program saved the file at the moment of the change; the change may be in its version.
        SavedMeanwhile = "saved_meanwhile",
        /// The change is waiting for review.
        PendingReview = "pending_review",
        /// The change was declined.
        Declined = "declined",
        /// The call was cancelled before anything was written.
        Cancelled = "cancelled",
        /// The proposal was already accepted or rejected.
        AlreadyDecided = "already_settled",
        /// The text that would be reverted was changed again.
        ChangedSince = "changed_since",
        /// The change to undo never reached the files.
        NotApplied = "not_made",
        /// The change was removed from the journal, to save space or on request.
        PrunedChange = "forgotten_change",
        /// The change is about a private file, and its text is not kept.
        PrivateText = "private_text",
        /// The session has nothing to undo.
        NothingToUndo = "nothing_to_undo",
        /// The session has nothing to redo.
        NothingToRedo = "nothing_to_redo",
        /// The change was already undone.
        AlreadyUndone = "already_undone",
        /// There is no such candidate.
        NoCandidates = "no_candidates",
        /// The file changed since the candidates were shown.
        StaleCandidates = "stale_candidates",
        /// Writing would lose something that must be kept.
        CannotKeep = "cannot_keep",
        /// An editor has unsaved changes of the file.
        UnsavedBuffer = "unsaved_buffer",
        /// Another process is changing the file.
        Locked = "locked",
    }
}

reasons! {
    /// Why a request is invalid.
    Invalid {
        /// A field is missing, unknown or of the wrong type.
        BadRequest = "bad_request",
        /// The old text is missing where the tool needs one.
        OldTextMissing = "old_text_missing",
        /// The patch cannot be parsed.
        BadPatch = "bad_patch",
        /// The patch asks for something that is not supported.
        UnsupportedPatch = "unsupported_patch",
        /// The path is not usable.
        BadPath = "bad_path",
        /// The path leads outside the root.
        OutsideRoot = "outside_root",
        /// The path names a folder.
        IsAFolder = "is_a_folder",
        /// A parent of the path is not a folder.
        NotAFolder = "not_a_folder",
        /// The path names a device, a pipe or a socket.
        NotARegularFile = "not_a_regular_file",
        /// The file does not exist.
        FileNotFound = "file_not_found",
        /// There is no such dialect.
        UnknownDialect = "unknown_dialect",
        /// The dialect has no such tool.
        UnknownTool = "unknown_tool",
        /// The journal has no such change.
        UnknownChange = "unknown_change",
        /// The journal has no such proposal.
        UnknownProposal = "unknown_proposal",
    }
}

reasons! {
    /// What failed beneath the engine.
    Failed {
        /// The system reported an error.
        Io = "io_error",
        /// The journal could not be read or written.
        Journal = "journal_error",
        /// The process lacks permission.
        PermissionDenied = "permission_denied",
        /// A change is only partly in the files and could not be rolled back.
        HalfChanged = "half_changed",
        /// A crashed process left a change that could not be completed or rolled back.
        Unsettled = "unsettled",
    }
}

impl Outcome {
    /// The outcome without its reason.
    pub fn status(self) -> Status {
        match self {
            Self::Applied | Self::PartlyAccepted | Self::ModeUpgraded | Self::ProposalRejected => {
                Status::Applied
            }
            Self::WouldApply => Status::WouldApply,
            Self::NoChange | Self::ModeUnchanged => Status::NoChange,
            Self::AlreadyApplied => Status::AlreadyApplied,
            Self::Shown => Status::Shown,
            Self::Refused(Refused::PendingReview) => Status::Pending,
            Self::Unplaced(_) | Self::Refused(_) => Status::Refused,
            Self::Invalid(_) => Status::Invalid,
            Self::Failed(_) => Status::Failed,
            Self::Custom { status, .. } => status,
        }
    }

    /// Stable machine-readable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::WouldApply => "would_apply",
            Self::NoChange => "no_change",
            Self::AlreadyApplied => "already_applied",
            Self::Shown => "shown",
            Self::ModeUpgraded => "mode_upgraded",
            Self::ModeUnchanged => "mode_unchanged",
            Self::PartlyAccepted => "partly_accepted",
            Self::ProposalRejected => "rejected",
            Self::Unplaced(reason) => reason.code(),
            Self::Refused(reason) => reason.code(),
            Self::Invalid(reason) => reason.code(),
            Self::Failed(reason) => reason.code(),
            Self::Custom { code, .. } => code,
        }
    }

    /// Whether the caller got what it asked for.
    pub fn is_success(self) -> bool {
        self.status().is_success()
    }

    /// Whether the call failed. A call that waits for a user's decision neither succeeded nor failed.
    pub fn is_error(self) -> bool {
        self.status().is_error()
    }

    /// Why the call did not succeed; `None` if it did.
    pub fn topic(self) -> Option<Topic> {
        match self {
            Self::Unplaced(reason) => Some(reason.topic()),
            Self::Refused(reason) => Some(reason.topic()),
            Self::Invalid(reason) => Some(reason.topic()),
            Self::Failed(reason) => Some(reason.topic()),
            Self::Custom { status, .. } => (!status.is_success()).then_some(Topic::General),
            Self::Applied
            | Self::WouldApply
            | Self::NoChange
            | Self::AlreadyApplied
            | Self::Shown
            | Self::ModeUpgraded
            | Self::ModeUnchanged
            | Self::PartlyAccepted
            | Self::ProposalRejected => None,
        }
    }

    /// Why an edit has no place, if that is the outcome.
    pub fn unplaced(self) -> Option<Unplaced> {
        match self {
            Self::Unplaced(reason) => Some(reason),
            Self::Invalid(Invalid::FileNotFound) => Some(Unplaced::FileNotFound),
            Self::AlreadyApplied => Some(Unplaced::AlreadyApplied),
            _ => None,
        }
    }
}

impl Unplaced {
    /// What dialects call it.
    pub fn topic(self) -> Topic {
        match self {
            Self::NoMatch => Topic::NoMatch,
            Self::CannotReindent => Topic::NoMatch,
            Self::Ambiguous => Topic::Ambiguous,
            Self::AlreadyApplied => Topic::AlreadyApplied,
            Self::Displaced => Topic::Displaced,
            Self::BlankOldText => Topic::BlankOldText,
            Self::OutOfRange => Topic::OutOfRange,
            Self::FileNotFound => Topic::FileNotFound,
            Self::FileExists => Topic::FileExists,
            Self::BinaryFile
            | Self::WrongCount
            | Self::NotAtEnd
            | Self::OutsideScope
            | Self::ScopeNotFound
            | Self::NoPlace
            | Self::TooCostly
            | Self::ContentDiffers
            | Self::UnexpectedLines
            | Self::Overlap
            | Self::Unencodable
            | Self::SplitsCharacter
            | Self::JoinsNewlines
            | Self::NoClipboard
            | Self::CannotStrip
            | Self::SameFile
            | Self::PathTwice
            | Self::NotANotebook
            | Self::CellNotFound
            | Self::UnexpectedCell
            | Self::NotAlone => Topic::General,
        }
    }
}

impl Refused {
    /// What dialects call it.
    pub fn topic(self) -> Topic {
        match self {
            Self::StaleFile => Topic::StaleFile,
            Self::ShrinksFile => Topic::ShrinksFile,
            Self::RestrictedMode => Topic::RestrictedMode,
            Self::CannotKeep => Topic::NotWritable,
            Self::RequestTooLarge
            | Self::FileTooLarge
            | Self::OverwriteUnconfirmed
            | Self::NulInText
            | Self::PlaceholderText
            | Self::ProtectedPath
            | Self::DeniedByRule
            | Self::OthersChange
            | Self::ToolDisabled
            | Self::HashRequired
            | Self::Conflict
            | Self::SavedMeanwhile
            | Self::PendingReview
            | Self::Declined
            | Self::Cancelled
            | Self::AlreadyDecided
            | Self::ChangedSince
            | Self::NotApplied
            | Self::PrunedChange
            | Self::PrivateText
            | Self::NothingToUndo
            | Self::NothingToRedo
            | Self::AlreadyUndone
            | Self::NoCandidates
            | Self::StaleCandidates
            | Self::UnsavedBuffer
            | Self::Locked => Topic::General,
        }
    }
}

impl Invalid {
    /// What dialects call it.
    pub fn topic(self) -> Topic {
        match self {
            Self::BadRequest => Topic::BadRequest,
            Self::OldTextMissing => Topic::OldTextMissing,
            Self::OutsideRoot => Topic::OutsideRoot,
            Self::FileNotFound => Topic::FileNotFound,
            Self::BadPatch
            | Self::UnsupportedPatch
            | Self::BadPath
            | Self::IsAFolder
            | Self::NotAFolder
            | Self::NotARegularFile
            | Self::UnknownDialect
            | Self::UnknownTool
            | Self::UnknownChange
            | Self::UnknownProposal => Topic::General,
        }
    }
}

impl Failed {
    /// What dialects call it.
    pub fn topic(self) -> Topic {
        match self {
            Self::Io | Self::PermissionDenied => Topic::NotWritable,
            Self::Journal | Self::HalfChanged | Self::Unsettled => Topic::General,
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("status", &self.status())?;
        map.serialize_entry("code", self.code())?;
        map.end()
    }
}

impl From<Unplaced> for Outcome {
    /// A file that does not exist makes the request itself invalid; everything else is a refusal.
    fn from(reason: Unplaced) -> Self {
        match reason {
            Unplaced::FileNotFound => Self::Invalid(Invalid::FileNotFound),
            _ => Self::Unplaced(reason),
        }
    }
}

impl From<Refused> for Outcome {
    fn from(reason: Refused) -> Self {
        Self::Refused(reason)
    }
}

impl From<Invalid> for Outcome {
    fn from(reason: Invalid) -> Self {
        Self::Invalid(reason)
    }
}

impl From<Failed> for Outcome {
    fn from(reason: Failed) -> Self {
        Self::Failed(reason)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_within_each_reason() {
        fn distinct(codes: Vec<&str>) {
            let set: BTreeSet<&str> = codes.iter().copied().collect();
            assert_eq!(set.len(), codes.len(), "{codes:?}");
        }
        distinct(Unplaced::ALL.iter().map(|reason| reason.code()).collect());
        distinct(Refused::ALL.iter().map(|reason| reason.code()).collect());
        distinct(Invalid::ALL.iter().map(|reason| reason.code()).collect());
        distinct(Failed::ALL.iter().map(|reason| reason.code()).collect());
    }

    #[test]
    fn serializes_as_status_and_code() {
        let outcome = Outcome::from(Unplaced::NoMatch);
        assert_eq!(serde_json::to_string(&outcome).unwrap(), r#"{"status":"refused","code":"no_match"}"#);
        let outcome = Outcome::from(Unplaced::FileNotFound);
        assert_eq!(
            serde_json::to_string(&outcome).unwrap(),
            r#"{"status":"invalid","code":"file_not_found"}"#
        );
    }
}
