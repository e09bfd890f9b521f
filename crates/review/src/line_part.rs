//! Parts of a line with one look.

/// A part of a line with one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its text.
    pub text: String,
    /// Whether it differs from the line beside it.
    pub is_changed: bool,
    /// What it is in the file's language, if that is known.
    pub class: Option<Class>,
}

/// What a part of the code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A keyword.
    Keyword,
    /// A string or character literal.
    String,
    /// A comment.
    Comment,
    /// A number or a constant of the language.
    Number,
    /// A name that is defined here.
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
