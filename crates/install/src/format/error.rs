//! Why a settings file cannot be edited.

/// The reason a settings file is left alone. Each message completes "the file cannot be edited safely: …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The file does not parse.
    #[error("it is not valid {format}: {reason}")]
    Syntax {
        /// The name of the file format.
        format: &'static str,
        /// The parser's message.
        reason: String,
    },
    /// The file is not text.
    #[error("it is not UTF-8: {0}")]
    NotUtf8(#[from] std::str::Utf8Error),
    /// The top level is a list or a scalar.
    #[error("its top level is not {0}")]
    NotAMapping(&'static str),
    /// The key that should contain the servers contains something else.
    #[error("`{0}` is not a mapping of servers")]
    NotServers(String),
    /// The key that should contain a list contains something else.
    #[error("`{0}` is not a list")]
    NotAList(String),
    /// The file repeats a key, and hosts differ in which one they use.
    #[error("the key `{0}` occurs twice")]
    DuplicateKey(String),
    /// The file has more than one YAML document.
    #[error("it has more than one YAML document")]
    SeveralDocuments,
    /// The file contains a value whose meaning cannot be compared before and after an edit.
    #[error("it contains {0}, which cannot be compared before and after an edit")]
    Incomparable(String),
    /// The file format cannot express the entry.
    #[error("the entry cannot be written as {format}: {reason}")]
    Inexpressible {
        /// The name of the file format.
        format: &'static str,
        /// The serializer's message.
        reason: String,
    },
    /// The entry to remove is not there.
    #[error("it has no `{0}`")]
    Missing(String),
    /// The edit would change something besides the entry.
    #[error("its layout does not allow changing this entry alone")]
    Layout,
}

impl FormatError {
    /// Whether nothing can be said about what the file contains.
    pub(crate) fn is_unreadable(&self) -> bool {
        matches!(
            self,
            Self::Syntax { .. }
                | Self::NotUtf8(_)
                | Self::NotAMapping(_)
                | Self::DuplicateKey(_)
                | Self::SeveralDocuments
        )
    }
}
