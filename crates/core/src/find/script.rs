//! A request as an edit script: context, removed and added lines.

use super::punctuation::line_key;
pub(super) use slipstitch_patch::Role;
use slipstitch_text::diff_slices;

/// One line of an edit script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) role: Role,
    /// Without its newline.
    pub(super) text: String,
    /// Whether it is only whitespace.
    pub(super) blank: bool,
}

impl Row {
    pub(super) fn new(role: Role, text: &str) -> Self {
        Self { role, text: text.to_owned(), blank: line_key(text).is_empty() }
    }

    /// Whether the file must contain it.
    pub(super) fn is_old(&self) -> bool {
        self.role.is_old()
    }
}

impl FileEnd {
    /// Whether a file whose last line is replaced or followed by another one ends with a newline. A marker that contradicts
    /// the file says nothing about the new end.
    pub(super) fn leaves_newline(self, file_lacks_newline: bool) -> bool {
        match self {
            Self::Kept => !file_lacks_newline,
            Self::OfHunk { old_lacks_newline, new_lacks_newline } if file_lacks_newline => {
                old_lacks_newline && !new_lacks_newline
            }
            Self::OfHunk { old_lacks_newline, new_lacks_newline } => old_lacks_newline || !new_lacks_newline,
        }
    }
}

/// The edit script of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) rows: Vec<Row>,
    /// How many newlines both texts start with. They have no rows, and neither has `starts_with_newline`: a newline at the start
    /// ends the line before the place, or is a blank line if the file has one there.
    pub(super) shared_newlines: usize,
    /// Whether the old text starts with one more.
    pub(super) starts_with_newline: bool,
    /// Whether the old text stops before the newline of its last line.
    pub(super) stops_before_newline: bool,
    pub(super) file_end: FileEnd,
}

/// What a request says about the newline at the end of the file, if its last line is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileEnd {
    /// Nothing: a file without one stays without one.
    Kept,
    /// It is a hunk. Each line has its own newline, except those that `\ No newline at end of file` follows.
    OfHunk {
        /// Whether the marker follows the last old line.
        old_lacks_newline: bool,
        /// Whether it follows the last new line.
        new_lacks_newline: bool,
    },
}

/// Old and new text without the newlines that both start with: they are not part of the change.
fn without_shared_newlines<'t>(mut old: &'t str, mut new: &'t str) -> (&'t str, &'t str) {
    while let (Some(old_rest), Some(new_rest)) = (old.strip_prefix('\n'), new.strip_prefix('\n')) {
        (old, new) = (old_rest, new_rest);
    }
    (old, new)
}

impl Script {
    /// The script that turns canonical `old` into `new`.
    ///
    /// A newline at the very end only terminates the last line, and has no row of its own. Neither has one at the very start,
    /// which may only terminate the line before the first.
    pub(super) fn of_snippet(old: &str, new: &str) -> Self {
        let len = old.len();
        let (mut old, new) = without_shared_newlines(old, new);
        let shared_newlines = len - old.len();
        let mut stops_before_newline = true;
        let starts_with_newline = old.starts_with('\n');
        old = old.strip_prefix('\n').unwrap_or(old);
        if let Some(rest) = old.strip_suffix('\n') {
            (old, stops_before_newline) = (rest, false);
        }
        let old: Vec<&str> = old.split('\n').collect();
        // A new text that is one newline is one blank line.
        let new: Vec<&str> = match new {
            "" => Vec::new(),
            new => new.strip_suffix('\n').unwrap_or(new).split('\n').collect(),
        };
        let mut rows = Vec::with_capacity(old.len() + new.len());
        let mut at = 0;
        for (removed, added) in diff_slices(&old, &new) {
            rows.extend(old[at..removed.start].iter().map(|line| Row::new(Role::Context, line)));
            rows.extend(old[removed.clone()].iter().map(|line| Row::new(Role::Removed, line)));
            rows.extend(new[added].iter().map(|line| Row::new(Role::Added, line)));
            at = removed.end;
        }
        rows.extend(old[at..].iter().map(|line| Row::new(Role::Context, line)));
        Self { rows, shared_newlines, starts_with_newline, stops_before_newline, file_end: FileEnd::Kept }
    }

    /// How many newlines at the start of the old text have no rows.
    pub(super) fn newlines_at_start(&self) -> usize {
        self.shared_newlines + usize::from(self.starts_with_newline)
    }

    /// A script from lines whose roles are known.
    pub(super) fn of_lines<'l>(lines: impl Iterator<Item = (Role, &'l str)>, file_end: FileEnd) -> Self {
        let rows = lines.map(|(role, text)| Row::new(role, text)).collect();
        Self { rows, shared_newlines: 0, starts_with_newline: false, stops_before_newline: false, file_end }
    }

    /// A script of context lines only: the text after the edit.
    pub(super) fn after(&self) -> Self {
        let stays = self.rows.iter().filter(|row| row.role != Role::Removed);
        let rows = stays.map(|row| Row { role: Role::Context, ..row.clone() }).collect();
        Self {
            rows,
            shared_newlines: 0,
            starts_with_newline: false,
            stops_before_newline: self.stops_before_newline,
            file_end: self.file_end,
        }
    }

    /// The row of the first line that is removed or added. Lines above it show which block is meant.
    pub(super) fn first_change(&self) -> usize {
        self.rows.iter().position(|row| row.role != Role::Context).unwrap_or(self.rows.len())
    }

    /// The lines with some roles, as text.
    pub(super) fn text(&self, keep: fn(Role) -> bool) -> String {
        let lines: Vec<&str> =
            self.rows.iter().filter(|row| keep(row.role)).map(|row| row.text.as_str()).collect();
        lines.join("\n")
    }

    /// The non-blank lines that the file must contain, with their row numbers. These are the lines that are matched.
    pub(super) fn anchors(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.rows.iter().enumerate().filter(|(_, row)| row.is_old() && !row.blank)
    }
}
