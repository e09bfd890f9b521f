//! Hunks: lines to find together and how to change them.

use serde::{Deserialize, Serialize};

/// The lines of a diff at one place of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The lines, old and new, in the order of the diff.
    pub lines: Vec<HunkLine>,
    /// The line, from 1, where the first old line is expected. For a hunk without old lines, the line
    /// after which to insert; 0 is the start of the file.
    pub line: Option<usize>,
    /// Lines that must occur before the hunk, outermost first (V4A `@@ class B`, `@@ def f():`).
    pub scopes: Vec<String>,
    /// The heading after the line numbers of a unified diff: `class B:` in `@@ -3,2 +3,2 @@ class B:`. Only a hint, as it may be
    /// truncated or out of date.
    pub section: Option<String>,
    /// Whether the hunk's old lines must be the file's last ones (V4A `*** End of File`, unified
    /// `\ No newline at end of file`).
    pub at_end: bool,
    /// Other interpretations of `lines`, for when they are not in the file as sent. The one that
    /// assumes the fewest mistakes comes first. Empty in strict mode.
    pub alternatives: Vec<Reading>,
}

/// Another interpretation of a hunk's lines, for when they are not in the file as sent.
///
/// A removed line of the hunk is removed in every reading too, in whole or split into lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The lines, old and new, in the order of the diff.
    pub lines: Vec<HunkLine>,
    /// The mistakes that this reading assumes; at least one.
    pub repairs: Vec<HunkRepair>,
}

/// A mistake in a hunk that only the file can confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum HunkRepair {
    /// Context lines have no prefix, so the space stripped from an indented one belongs to it.
    BareContext,
    /// Some context lines have a prefix and others do not.
    MixedContext,
    /// A removed line is also given as context, directly before or after it.
    EchoedLine,
    /// The lines have the numbers or anchors that a file viewer prints.
    LineNumbers,
    /// Several lines are written as one, with `\n` between them.
    LiteralNewlines,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkLine {
    /// Whether the line is context, removed or added.
    pub role: Role,
    /// The line without its newline.
    pub text: String,
    /// False if `\ No newline at end of file` follows the line.
    pub newline: bool,
}

/// The role of a line in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl HunkRepair {
    /// What was wrong, as a clause for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::BareContext => "context lines were given without the leading space",
            Self::MixedContext => "some context lines were given without the leading space",
            Self::EchoedLine => "a line was given both as context and as removed",
            Self::LineNumbers => "the lines were given with line numbers",
            Self::LiteralNewlines => "lines were joined by a literal `\\n`",
        }
    }
}

impl Reading {
    /// What was wrong, as one or more clauses for messages.
    pub fn describe(&self) -> String {
        let clauses: Vec<&str> = self.repairs.iter().map(|repair| repair.describe()).collect();
        clauses.join(", and ")
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

    /// Whether the hunk leaves the file as it is, however its lines are read: every removed line is
    /// added again, or there is only context.
    pub fn changes_nothing(&self) -> bool {
        self.alternatives.is_empty() && is_no_op(&self.lines)
    }

    /// Whether the hunk has the whole content of a file that does not exist yet: `@@ -0,0 +1,3 @@`.
    /// If the file exists, the hunk inserts its lines at the start.
    pub fn can_create_file(&self) -> bool {
        self.line == Some(0) && self.scopes.is_empty() && self.old_lines().next().is_none()
    }
}

/// Whether the old lines are the same as the new ones.
pub(super) fn is_no_op(lines: &[HunkLine]) -> bool {
    let side = |is_on_side: fn(Role) -> bool| {
        lines.iter().filter(move |line| is_on_side(line.role)).map(|line| (line.text.as_str(), line.newline))
    };
    side(Role::is_old).eq(side(Role::is_new))
}
