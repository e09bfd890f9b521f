//! Which line of the file each line of a request is.

use super::drift::likeness;
use super::punctuation::key;
use super::script::{Role, Script};
use super::terrain::{Terrain, squashed};
use crate::change::DifferenceKind;
use crate::change::Lines;

/// What a line of the request is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seat {
    /// Nothing: it is new, or a blank line that the file does not have.
    Nowhere,
    /// This line.
    Line(usize),
    /// These lines, from one to another: the request left them out. There may be none.
    Lines(usize, usize),
}

/// A place for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seats {
    /// For each row of the script.
    pub(super) seats: Vec<Seat>,
    /// The lines of the file that the place covers.
    pub(super) first: usize,
    pub(super) last: usize,
}

/// A difference between the request and the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) class: DifferenceKind,
    /// The line of the file.
    pub(super) line: usize,
    pub(super) wanted: String,
    pub(super) there: String,
}

impl Seats {
    /// Seats every old row, given where in the terrain the filled ones are.
    pub(super) fn new(script: &Script, filled: &[(usize, usize)], terrain: &Terrain<'_>) -> Self {
        let mut seats = vec![Seat::Nowhere; script.rows.len()];
        for &(row, at) in filled {
            seats[row] = Seat::Line(terrain.number(at));
        }
        let blanks = |from: usize, to: usize| {
            (from..to).filter(|&row| script.rows[row].is_old() && script.rows[row].blank)
        };
        for pair in filled.windows(2) {
            let ((row, at), (next_row, next_at)) = (pair[0], pair[1]);
            if next_at == at + 1 {
                let there = terrain.number(at) + 1..terrain.number(next_at);
                let rows = kept_first(blanks(row + 1, next_row).collect(), there.len(), script);
                for (row, line) in rows.into_iter().zip(there) {
                    seats[row] = Seat::Line(line);
                }
            }
        }
        let ends = filled.first().zip(filled.last());
        let Some((&(first_row, first_at), &(last_row, last_at))) = ends else {
            return Self { seats, first: 1, last: 0 };
        };
        let (mut first, mut last) = (terrain.number(first_at), terrain.number(last_at));
        let leading: Vec<usize> = blanks(0, first_row).collect();
        for row in leading.into_iter().rev().take(terrain.blanks_before(first_at)) {
            first -= 1;
            seats[row] = Seat::Line(first);
        }
        for row in blanks(last_row + 1, script.rows.len()).take(terrain.blanks_after(last_at)) {
            last += 1;
            seats[row] = Seat::Line(last);
        }
        Self { seats, first, last }
    }

    /// The lines that the place covers.
    pub(super) fn lines(&self) -> Lines {
        Lines { start: self.first, count: (self.last + 1).saturating_sub(self.first) }
    }

    /// The line of the file that a row is, if it is one.
    pub(super) fn line(&self, row: usize) -> Option<usize> {
        match self.seats[row] {
            Seat::Line(line) => Some(line),
            Seat::Nowhere | Seat::Lines(..) => None,
        }
    }

    /// Every difference between the old rows and the lines that they are.
    pub(super) fn differences(&self, script: &Script, terrain: &Terrain<'_>) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut blank_lines = false;
        let mut seated_blanks = 0;
        for (row, seat) in script.rows.iter().zip(&self.seats).filter(|(row, _)| row.is_old()) {
            match *seat {
                Seat::Line(line) => {
                    seated_blanks += usize::from(row.blank);
                    let there = terrain.snapshot.line(line);
                    for class in classes(&row.text, &there) {
                        let (wanted, there) = (row.text.clone(), there.clone().into_owned());
                        found.push(Difference { class, line, wanted, there });
                    }
                }
                Seat::Lines(first, last) => found.push(Difference {
                    class: DifferenceKind::Elision,
                    line: first,
                    wanted: row.text.trim().to_owned(),
                    there: Lines { start: first, count: (last + 1).saturating_sub(first) }.to_string(),
                }),
                Seat::Nowhere => blank_lines |= row.blank,
            }
        }
        let filled = script.filled().count();
        let elided = self.seats.iter().any(|seat| matches!(seat, Seat::Lines(..)));
        let covered = (self.last + 1).saturating_sub(self.first);
        blank_lines |= !elided && covered > filled + seated_blanks;
        if blank_lines {
            let blank = |count: usize| format!("{count} blank {}", if count == 1 { "line" } else { "lines" });
            let wanted = script.rows.iter().filter(|row| row.is_old() && row.blank).count();
            found.push(Difference {
                class: DifferenceKind::BlankLines,
                line: self.first,
                wanted: blank(wanted),
                there: blank(covered.saturating_sub(filled)),
            });
        }
        found
    }

    /// How alike the lines are, in percent. Never 100 where they are not the same.
    pub(super) fn percent(&self, script: &Script, terrain: &Terrain<'_>) -> u8 {
        let alike: Vec<f64> = script
            .filled()
            .filter_map(|(row, text)| Some(likeness(&text.text, &terrain.snapshot.line(self.line(row)?))))
            .collect();
        let mean = alike.iter().sum::<f64>() / alike.len().max(1) as f64;
        ((mean * 100.0).floor() as u8).min(99)
    }

    /// Whether no line of the request is indented otherwise than the file's.
    pub(super) fn same_indentation(&self, script: &Script, terrain: &Terrain<'_>) -> bool {
        script.filled().all(|(row, text)| {
            self.line(row).is_none_or(|line| indent(&text.text) == indent(&terrain.snapshot.line(line)))
        })
    }

    /// The rows that stay and the rows that go, as pairs of indentations.
    pub(super) fn indents(&self, script: &Script, terrain: &Terrain<'_>) -> Vec<IndentPair> {
        script
            .filled()
            .filter_map(|(row, text)| {
                let there = terrain.snapshot.line(self.line(row)?);
                Some(IndentPair {
                    gone: text.role == Role::Removed,
                    wanted: indent(&text.text).to_owned(),
                    there: indent(&there).to_owned(),
                })
            })
            .collect()
    }
}

/// So many of some blank rows, in their order: those that stay before those that go, since a blank line that
/// the file does not have need not go.
fn kept_first(mut rows: Vec<usize>, count: usize, script: &Script) -> Vec<usize> {
    if rows.len() > count {
        rows.sort_by_key(|&row| (script.rows[row].role != Role::Context, row));
        rows.truncate(count);
        rows.sort_unstable();
    }
    rows
}

/// The indentation of a line in the request and in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndentPair {
    pub(super) gone: bool,
    pub(super) wanted: String,
    pub(super) there: String,
}

/// The blanks that a line starts with.
pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// How two lines differ.
fn classes(wanted: &str, there: &str) -> Vec<DifferenceKind> {
    let mut classes = Vec::new();
    if wanted == there {
        return classes;
    }
    let blank = wanted.trim().is_empty();
    if blank || wanted[wanted.trim_end().len()..] != there[there.trim_end().len()..] {
        classes.push(DifferenceKind::TrailingWhitespace);
    }
    if !blank && indent(wanted) != indent(there) {
        classes.push(DifferenceKind::Indentation);
    }
    if wanted.trim() != there.trim() {
        let (wanted, there) = (key(wanted), key(there));
        classes.push(match () {
            () if wanted == there => DifferenceKind::Punctuation,
            () if squashed(&wanted) == squashed(&there) => DifferenceKind::Spacing,
            () if there.starts_with(&*wanted) || there.ends_with(&*wanted) => DifferenceKind::PartialLine,
            () => DifferenceKind::Drift,
        });
    }
    classes
}
