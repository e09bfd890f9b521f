//! A request as lines: which ones it only names, which ones go and which ones come.

use super::punctuation::key;
pub(super) use slipstitch_patch::Role;
use slipstitch_text::diff_line_slices;

/// One line of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) role: Role,
    /// Without its newline.
    pub(super) text: String,
    /// Whether it says nothing.
    pub(super) blank: bool,
}

impl Row {
    pub(super) fn new(role: Role, text: &str) -> Self {
        Self { role, text: text.to_owned(), blank: key(text).is_empty() }
    }

    /// Whether the file must have it.
    pub(super) fn is_old(&self) -> bool {
        self.role.is_old()
    }
}

/// A request for one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) rows: Vec<Row>,
    /// Whether the old text stops before the newline of its last line.
    pub(super) open_end: bool,
}

impl Script {
    /// The script that turns canonical `old` into `new`.
    ///
    /// A newline at the very end ends the last line, and one at the very start ends a line before the first;
    /// both only say where the lines are.
    pub(super) fn of_snippet(old: &str, new: &str) -> Self {
        let (mut old, mut new) = (old, new);
        let mut open_end = true;
        while let (Some(old_rest), Some(new_rest)) = (old.strip_prefix('\n'), new.strip_prefix('\n')) {
            (old, new) = (old_rest, new_rest);
        }
        if let Some(rest) = old.strip_prefix('\n') {
            old = rest;
        }
        if let Some(rest) = old.strip_suffix('\n') {
            (old, open_end) = (rest, false);
        }
        new = new.strip_suffix('\n').unwrap_or(new);
        let old: Vec<&str> = old.split('\n').collect();
        let new: Vec<&str> = if new.is_empty() { Vec::new() } else { new.split('\n').collect() };
        let mut rows = Vec::with_capacity(old.len() + new.len());
        let mut at = 0;
        for (gone, come) in diff_line_slices(&old, &new) {
            rows.extend(old[at..gone.start].iter().map(|line| Row::new(Role::Context, line)));
            rows.extend(old[gone.clone()].iter().map(|line| Row::new(Role::Removed, line)));
            rows.extend(new[come].iter().map(|line| Row::new(Role::Added, line)));
            at = gone.end;
        }
        rows.extend(old[at..].iter().map(|line| Row::new(Role::Context, line)));
        Self { rows, open_end }
    }

    /// The script of some lines that say themselves what becomes of them.
    pub(super) fn of_lines<'l>(lines: impl Iterator<Item = (Role, &'l str)>) -> Self {
        Self { rows: lines.map(|(role, text)| Row::new(role, text)).collect(), open_end: false }
    }

    /// A script that only names what would stand there afterwards.
    pub(super) fn after(&self) -> Self {
        let stays = self.rows.iter().filter(|row| row.role != Role::Removed);
        let rows = stays.map(|row| Row { role: Role::Context, ..row.clone() }).collect();
        Self { rows, open_end: self.open_end }
    }

    /// The lines that the file must have and that say something, with their places among the rows.
    pub(super) fn filled(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.rows.iter().enumerate().filter(|(_, row)| row.is_old() && !row.blank)
    }
}
