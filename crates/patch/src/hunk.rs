//! Hunks: lines that a patch finds together.

/// Lines to find together, and what becomes of each: what a diff says of one place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The lines, old and new, in the order of the diff.
    pub lines: Vec<HunkLine>,
    /// The line, from 1, where the first old line should stand; for a hunk without old lines, the
    /// line after which it inserts (0: the start).
    pub line: Option<usize>,
    /// Lines that must stand before the place, outermost first (V4A `@@ class B`, `@@ def f():`).
    pub scopes: Vec<String>,
    /// The hunk's old lines must be the file's last ones (V4A `*** End of File`, unified
    /// `\ No newline`).
    pub at_end: bool,
    /// Another reading of `lines`, for when they are not in the file: context lines may have been
    /// written without their prefix, so that the blank taken off an indented one was its own.
    pub alternative: Option<Vec<HunkLine>>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// What becomes of it.
    pub role: Role,
    /// The line without its newline.
    pub text: String,
    /// False where `\ No newline at end of file` follows: the line ends the file as it is.
    pub newline: bool,
}

/// What a diff does with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Unchanged line around the change.
    Context,
    /// Removed line.
    Removed,
    /// Added line.
    Added,
}

impl Role {
    /// Whether the line stands in the file before the change.
    pub fn is_old(self) -> bool {
        self != Self::Added
    }

    /// Whether the line stands in the file after the change.
    pub fn is_new(self) -> bool {
        self != Self::Removed
    }
}

impl Hunk {
    /// The lines that must be in the file.
    pub fn old_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.role.is_old())
    }

    /// The lines that will be in the file.
    pub fn new_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.role.is_new())
    }
}
