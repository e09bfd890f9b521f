//! The ways in which a request's text may differ from the file's and still mean it.

use serde::{Deserialize, Serialize};

use crate::change::Rung;

/// One way in which a request's text differs from the file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Class {
    /// A newline at the start or the end that the file does not have, or the other way round.
    FinalNewline,
    /// White space at the ends of lines.
    TrailingBlanks,
    /// White space at the starts of lines.
    Indentation,
    /// White space inside lines that stay.
    Spacing,
    /// Blank lines too many or too few.
    BlankLines,
    /// Quotes, dashes, blanks and dots that look alike.
    Punctuation,
    /// A first or last line that is only a part of the file's.
    PartialLine,
    /// A Markdown fence around the text.
    Fence,
    /// A line number in front of every line.
    LineNumbers,
    /// `\n`, `\t` or `\"` as two characters.
    Escapes,
    /// `&lt;` and its kind.
    Entities,
    /// The markers of a diff in front of every line.
    DiffMarkers,
    /// A line of dots that stands for lines of the file.
    Elision,
    /// Lines that stay as they are and have other words in the file.
    Drift,
}

impl Class {
    /// What it is, for a sentence about a recovered edit.
    pub fn words(self) -> &'static str {
        match self {
            Self::FinalNewline => "newline at an end",
            Self::TrailingBlanks => "trailing blanks",
            Self::Indentation => "indentation",
            Self::Spacing => "spacing",
            Self::BlankLines => "blank lines",
            Self::Punctuation => "look-alike punctuation",
            Self::PartialLine => "part of a line",
            Self::Fence => "Markdown fence",
            Self::LineNumbers => "line numbers",
            Self::Escapes => "literal escapes",
            Self::Entities => "HTML entities",
            Self::DiffMarkers => "diff markers",
            Self::Elision => "elision",
            Self::Drift => "other words",
        }
    }

    /// What differs, where it is not a line that reads otherwise: `file` and `request` say what each has.
    pub(crate) fn apart(self, file: &str, request: &str) -> Option<String> {
        match self {
            Self::Elision => Some(format!("`{request}` stands for {file}")),
            Self::BlankLines => Some(format!("{file} in the file and {request} in the request")),
            _ => None,
        }
    }

    /// The rung that allows it.
    pub fn rung(self) -> Rung {
        match self {
            Self::FinalNewline
            | Self::TrailingBlanks
            | Self::Indentation
            | Self::Spacing
            | Self::BlankLines
            | Self::PartialLine => Rung::Whitespace,
            Self::Punctuation => Rung::Punctuation,
            Self::Fence | Self::LineNumbers | Self::Escapes | Self::Entities | Self::DiffMarkers => {
                Rung::Transport
            }
            Self::Elision => Rung::Elision,
            Self::Drift => Rung::Drift,
        }
    }
}
