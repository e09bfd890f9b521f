//! The kinds of differences between a request's text and the file's that a match tolerates.

use serde::{Deserialize, Serialize};

use crate::change::Rung;

/// How a request's text differs from the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DifferenceKind {
    /// A newline at the start or end that only one of them has.
    FinalNewline,
    /// Whitespace at the ends of lines.
    #[serde(rename = "trailing_blanks")]
    TrailingWhitespace,
    /// Whitespace at the starts of lines.
    Indentation,
    /// Whitespace inside context lines.
    Spacing,
    /// Missing or extra blank lines.
    BlankLines,
    /// Quotes, dashes, spaces and dots that look alike.
    Punctuation,
    /// A first or last line that is only part of the file's.
    PartialLine,
    /// A Markdown fence around the text.
    Fence,
    /// A line number in front of every line.
    LineNumbers,
    /// `\n`, `\t` or `\"` written as two characters.
    Escapes,
    /// HTML entities such as `&lt;`.
    Entities,
    /// Diff markers in front of every line.
    DiffMarkers,
    /// A placeholder line such as `...` that stands for lines of the file.
    Elision,
    /// Lines of the file between the request's lines.
    ExtraLines,
    /// Lines with different words in the file.
    Drift,
    /// A line that a hunk gives both as context and as removed.
    EchoedLine,
    /// Context lines of a hunk without their marker.
    BareContext,
    /// The request quotes an earlier version of the file.
    EarlierVersion,
}

impl DifferenceKind {
    /// A short description for messages about a recovered edit.
    pub fn label(self) -> &'static str {
        match self {
            Self::FinalNewline => "leading or trailing newline",
            Self::TrailingWhitespace => "trailing whitespace",
            Self::Indentation => "indentation",
            Self::Spacing => "whitespace inside lines",
            Self::BlankLines => "blank lines",
            Self::Punctuation => "look-alike punctuation",
            Self::PartialLine => "partial line",
            Self::Fence => "Markdown fence",
            Self::LineNumbers => "line numbers",
            Self::Escapes => "literal escapes",
            Self::Entities => "HTML entities",
            Self::DiffMarkers => "diff markers",
            Self::Elision => "elided lines",
            Self::ExtraLines => "lines in between",
            Self::Drift => "different text",
            Self::EchoedLine => "a line given both as context and as removed",
            Self::BareContext => "context lines without a marker",
            Self::EarlierVersion => "quoted from an earlier version",
        }
    }

    /// Describes a difference that is not simply between two lines; `file` and `request` describe each side.
    pub(crate) fn describe(self, file: &str, request: &str) -> Option<String> {
        match self {
            Self::Elision => Some(format!("`{request}` elides {file}")),
            Self::BlankLines => Some(format!("{file} in the file and {request} in the request")),
            Self::ExtraLines => Some(format!("the file has {file} between those of the request")),
            _ => None,
        }
    }

    /// The rung that tolerates this difference.
    pub fn rung(self) -> Rung {
        match self {
            Self::FinalNewline
            | Self::TrailingWhitespace
            | Self::Indentation
            | Self::Spacing
            | Self::BlankLines
            | Self::PartialLine => Rung::Whitespace,
            Self::Punctuation => Rung::Punctuation,
            Self::Fence
            | Self::LineNumbers
            | Self::Escapes
            | Self::Entities
            | Self::DiffMarkers
            | Self::EchoedLine
            | Self::BareContext => Rung::Transport,
            Self::Elision => Rung::Elision,
            Self::ExtraLines | Self::Drift => Rung::Drift,
            Self::EarlierVersion => Rung::Evidence,
        }
    }
}
