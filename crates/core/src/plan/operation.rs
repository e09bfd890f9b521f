//! The operations on a file.

use std::borrow::Cow;

use super::{CellEdit, Sketch};
use crate::path::FilePath;
use slipstitch_patch::{Hunk, Role};

/// One operation on one file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Operation {
    /// Replace `old` with `new`.
    Replace {
        /// The text to find, with any line endings.
        old: String,
        /// The replacement.
        new: String,
        /// Whether to replace one match or all.
        which: Which,
        /// Only matches inside these lines count.
        within: Option<LineRange>,
    },
    /// Replace `old` with `new` at a place that the caller chose. Context lines may differ there.
    ReplaceAt {
        /// The text that was searched for.
        old: String,
        /// The replacement.
        new: String,
        /// The chosen place.
        lines: LineRange,
    },
    /// Applies a hunk at the lines that the caller chose, from a refused request.
    HunkAt {
        /// The hunk.
        hunk: Box<Hunk>,
        /// The lines.
        lines: LineRange,
    },
    /// Replace whole lines with `new`.
    ReplaceLines {
        /// The lines to replace.
        lines: LineRange,
        /// The new lines; empty deletes.
        new: String,
        /// The text that the caller expects there.
        expect: Option<String>,
    },
    /// Insert lines after line `after`; 0 is the start of the file.
    InsertLines {
        /// The line before the insertion.
        after: InsertAfter,
        /// The lines to insert.
        text: String,
    },
    /// Add text at the end of the file.
    Append {
        /// The text to add.
        text: String,
        /// What separates the file's text from the new text.
        separator: Separator,
        /// What to do if the file does not exist.
        if_missing: IfMissing,
    },
    /// Add text at the start of the file, after the byte order mark.
    Prepend {
        /// The text to add.
        text: String,
        /// What separates the new text from the file's.
        separator: Separator,
        /// What to do if the file does not exist.
        if_missing: IfMissing,
    },
    /// Create a file that does not exist, and its parent folders.
    Create {
        /// The whole content.
        content: String,
    },
    /// Replace the file's whole content.
    Overwrite {
        /// The whole content.
        content: String,
        /// What to do if the file does not exist.
        if_missing: IfMissing,
    },
    /// Apply a hunk.
    Hunk(Box<Hunk>),
    /// Add the new lines of a sketch, or create a file with it.
    Sketch(Sketch),
    /// Change a cell of a notebook.
    Cell(Box<CellEdit>),
    /// Create a file, or fill an empty one.
    Fill {
        /// The whole content.
        content: String,
    },
    /// Delete the file. Hunks before this operation must remove all of its text.
    Delete,
    /// Move the file. Operations before this one change its text.
    Move {
        /// The new path.
        to: FilePath,
        /// What to do if the new path exists.
        overwriting: Overwriting,
    },
    /// Set or clear the executable bit. Operations before this one create or change the file.
    SetExecutable(bool),
}

/// The line after which lines are inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertAfter {
    /// This line, counted from 1; 0 is the start of the file.
    Line(usize),
    /// The file's last line.
    LastLine,
}

impl From<usize> for InsertAfter {
    fn from(line: usize) -> Self {
        Self::Line(line)
    }
}

/// What to do if the target of a move or creation exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwriting {
    /// Refuse.
    Refused,
    /// Overwrite the file.
    Allowed,
}

impl Operation {
    /// The text to search for; empty if the operation has none.
    pub fn old_text(&self) -> &str {
        match self {
            Self::Replace { old, .. } | Self::ReplaceAt { old, .. } => old,
            _ => "",
        }
    }

    /// The first line of the old text with a letter or digit; for a hunk, preferably a removed line.
    pub fn first_old_line(&self) -> Option<&str> {
        let says_something = |line: &&str| line.chars().any(char::is_alphanumeric);
        match self {
            Self::Hunk(hunk) | Self::HunkAt { hunk, .. } => {
                let lines = |keep: fn(Role) -> bool| {
                    hunk.lines.iter().filter(move |line| keep(line.role)).map(|line| line.text.as_str())
                };
                let removed = lines(|role| role == Role::Removed).find(says_something);
                removed.or_else(|| lines(Role::is_old).find(says_something))
            }
            _ => self.old_text().lines().find(says_something),
        }
    }

    /// The text that the operation inserts.
    pub fn new_text(&self) -> Cow<'_, str> {
        match self {
            Self::Replace { new, .. } | Self::ReplaceAt { new, .. } | Self::ReplaceLines { new, .. } => {
                new.into()
            }
            Self::InsertLines { text, .. } | Self::Append { text, .. } | Self::Prepend { text, .. } => {
                text.into()
            }
            Self::Create { content } | Self::Overwrite { content, .. } | Self::Fill { content } => {
                content.into()
            }
            Self::Hunk(hunk) | Self::HunkAt { hunk, .. } => {
                let added = hunk.lines.iter().filter(|line| line.role == Role::Added);
                added.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n").into()
            }
            Self::Sketch(sketch) => sketch.written_lines().into(),
            Self::Cell(edit) => edit.source().into(),
            Self::Delete | Self::Move { .. } | Self::SetExecutable(_) => "".into(),
        }
    }

    /// The text that the operation inserts, in pieces of whole lines: the added lines of a hunk, without their newlines, or all of
    /// it. A patch with many hunks has no need to join them.
    pub fn new_pieces(&self) -> Box<dyn Iterator<Item = Cow<'_, str>> + '_> {
        match self {
            Self::Hunk(hunk) | Self::HunkAt { hunk, .. } => {
                let added = hunk.lines.iter().filter(|line| line.role == Role::Added);
                Box::new(added.map(|line| line.text.as_str().into()))
            }
            _ => Box::new(std::iter::once(self.new_text())),
        }
    }
}

/// How many matches to replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Exactly one; several matches are an error.
    Unique,
    /// Exactly one among those that begin a line, or that follow its indentation if none does: the text is whole lines, so `x = 1` does not mean
    /// the end of `max = 1`.
    UniqueLines,
    /// All of them.
    All,
    /// All of them, if there are exactly so many.
    Exactly(usize),
}

/// What separates appended or prepended text from the file's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// Nothing; the text is added literally.
    Literal,
    /// A newline in the file's style, if two lines would be joined without it.
    Newline,
    /// A newline in the file's style unless the text before it ends with one; also in an empty file.
    NewlineUnlessTerminated,
}

/// What to do if the file does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    /// Create the file and its parent folders.
    Create,
    /// Refuse.
    Fail,
}

/// A range of whole lines, from 1, both ends included. It is checked against the file later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub first: usize,
    /// The last line.
    pub last: usize,
}
