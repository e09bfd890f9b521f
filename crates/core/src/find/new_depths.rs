//! Whether the new text of a request is indented like its old text or like the file.
//!
//! If the old text lost its indentation, so did the new text, as a rule, and both are moved to the file's depth. But some
//! callers copy the old text without its indentation and write the new text with it. Then the new text is right as it is, and
//! moving it would put it at a depth that nothing else has. Lines that both texts have decide which it is:
//!
//! ```text
//! file            old           new              new             new
//!     a()         a()               a()          a()             if x:
//!     b()         b()               c()          c()                 a()
//!                                   b()          b()
//!                               like the file    like the old    either
//! ```
//!
//! The last one could be a wrapped line in a text that lost its indentation, or a new outer block in a text that did not.

use std::collections::HashMap;

use super::alignment::{Alignment, indent};
use super::indentation::uses_other_char;
use super::punctuation::{is_distinctive, line_key};
use super::script::{Role, Row, Script};
use super::search_index::SearchIndex;

/// How the new text of a request is indented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewDepths {
    /// Like the old text, whatever the file does.
    LikeOld,
    /// Like the file, though the old text is not.
    LikeFile,
    /// Both readings are possible.
    Undetermined,
}

/// How the lines that both texts have are indented, counting only those that the old text indents unlike the file.
#[derive(Default)]
struct RepeatedLines {
    like_file: usize,
    like_old: usize,
    /// Lines that moved, whichever text they are compared with.
    like_neither: usize,
}

/// The smallest indentations.
struct Bases {
    old: usize,
    new: usize,
    file: usize,
}

impl NewDepths {
    pub(super) fn of(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> Self {
        let lines = RepeatedLines::of(script, alignment, index);
        if lines.like_file == 0 {
            return Self::LikeOld;
        }
        let Some(bases) = Bases::of(script, alignment, index) else { return Self::LikeOld };
        match lines {
            RepeatedLines { like_old: 0, like_neither: 0, .. } => {
                if !keeps_to_depths(script, alignment, index) {
                    Self::LikeOld
                } else if bases.new < bases.file || (bases.new == bases.old && bases.old != bases.file) {
                    Self::Undetermined
                } else {
                    Self::LikeFile
                }
            }
            _ if bases.new == bases.old => Self::LikeOld,
            RepeatedLines { like_old: 0, .. } if bases.new == bases.file => Self::LikeFile,
            _ => Self::Undetermined,
        }
    }
}

impl RepeatedLines {
    fn of(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> Self {
        let mut removed: HashMap<_, Vec<(usize, &Row)>> = HashMap::new();
        for (number, row) in script.anchors().filter(|(_, row)| row.role == Role::Removed) {
            removed.entry(line_key(&row.text)).or_default().push((number, row));
        }
        let mut lines = Self::default();
        let indents = |(number, old): (usize, &Row)| {
            let file = index.snapshot.line(alignment.line(number)?);
            Some((indent(&old.text).len(), indent(&file).len()))
        };
        for (number, new) in script.rows.iter().enumerate().filter(|(_, row)| !row.blank) {
            let (number, old) = match (new.role, removed.get(&line_key(&new.text)).map(Vec::as_slice)) {
                (Role::Context, _) => (number, new),
                // If there are several such lines, any of them will do as long as all were moved alike.
                (Role::Added, Some(&[first, ref others @ ..]))
                    if others.iter().all(|&other| indents(other) == indents(first)) =>
                {
                    first
                }
                _ => continue,
            };
            let Some(line) = alignment.line(number) else { continue };
            let file = index.snapshot.line(line);
            let is_distinctive = is_distinctive(&new.text);
            let (old, new, file) = (indent(&old.text), indent(&new.text), indent(&file));
            match () {
                // A line such as a lone brace may be any other, unless it has spaces where the file has tabs.
                () if !is_distinctive && !uses_other_char(new, file) => {}
                () if old == file => lines.like_neither += usize::from(new != file),
                () if new == file => lines.like_file += 1,
                () if new == old => lines.like_old += 1,
                () => lines.like_neither += 1,
            }
        }
        lines
    }
}

impl Bases {
    fn of(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> Option<Self> {
        let smallest = |keep: fn(Role) -> bool| {
            let rows = script.rows.iter().filter(|row| keep(row.role) && !row.blank);
            rows.map(|row| indent(&row.text).len()).min()
        };
        let file = script
            .anchors()
            .filter_map(|(row, _)| Some(indent(&index.snapshot.line(alignment.line(row)?)).len()));
        Some(Self { old: smallest(Role::is_old)?, new: smallest(Role::is_new)?, file: file.min()? })
    }
}

/// Whether every added line is at a depth that the file uses, at the place or elsewhere. If not, the text uses another
/// indentation unit.
fn keeps_to_depths(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> bool {
    let is_at_place = |row: &Row| {
        let mut lines = (alignment.first..=alignment.last).map(|line| index.snapshot.line(line));
        lines.any(|line| !line.trim().is_empty() && indent(&line) == indent(&row.text))
    };
    let is_added = |row: &&Row| row.role == Role::Added && !row.blank;
    let added = || script.rows.iter().filter(is_added).filter(|row| !is_at_place(row));
    index.indent_unit().is_none_or(|unit| {
        added()
            .map(|row| indent(&row.text))
            .all(|indent| indent.contains('\t') || indent.len().is_multiple_of(unit))
    })
}
