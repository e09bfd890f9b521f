//! Parts of a line with one look.

/// A part of a line with one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    /// Whether it differs from the line beside it.
    pub(crate) is_changed: bool,
    pub(crate) class: Option<Class>,
}

/// What a part of the code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Keyword,
    String,
    Comment,
    Number,
    Name,
}

impl Class {
    /// Its name in the style sheet.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Keyword => "k",
            Self::String => "s",
            Self::Comment => "c",
            Self::Number => "n",
            Self::Name => "f",
        }
    }
}
