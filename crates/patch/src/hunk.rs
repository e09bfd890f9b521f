//! Hunks: lines to find together and how to change them.

/// The lines of a diff at one place of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The lines, old and new, in the order of the diff.
    pub lines: Vec<HunkLine>,
    /// The line, from 1, where the first old line is expected. For a hunk without old lines, the line
    /// after which to insert; 0 is the start of the file.
    pub line: Option<usize>,
    /// Lines that must occur before the hunk, outermost first (V4A `@@ class B`, `@@ def f():`).
    pub scopes: Vec<String>,
    /// Whether the hunk's old lines must be the file's last ones (V4A `*** End of File`, unified
    /// `\ No newline at end of file`).
    pub at_end: bool,
    /// Another interpretation of `lines`, for when they are not in the file. Context lines may have
    /// been written without their prefix, so that the space stripped from an indented one was part
    /// of its indentation.
    pub alternative: Option<Vec<HunkLine>>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// Whether the line is context, removed or added.
    pub role: Role,
    /// The line without its newline.
    pub text: String,
    /// False if `\ No newline at end of file` follows the line.
    pub newline: bool,
}

/// The role of a line in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// An unchanged line around the change.
    Context,
    /// A removed line.
    Removed,
    /// An added line.
    Added,
}

impl Role {
    /// Whether the line is in the file before the change.
    pub fn is_old(self) -> bool {
        self != Self::Added
    }

    /// Whether the line is in the file after the change.
    pub fn is_new(self) -> bool {
        self != Self::Removed
    }
}

impl Hunk {
    /// The lines of the file before the change: context and removed lines.
    pub fn old_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.role.is_old())
    }

    /// The lines of the file after the change: context and added lines.
    pub fn new_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.role.is_new())
    }
}
