//! Which line of the file each line of a request corresponds to.

use super::punctuation::line_key;
use super::script::{FileEnd, Role, Script};
use super::search_index::{SearchIndex, squashed};
use crate::change::DifferenceKind;
use crate::change::Lines;

/// What a row of the script matches in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowMatch {
    /// Nothing: it is an added line, or a blank line that the file does not have.
    Unmatched,
    /// One line.
    Line(usize),
    /// A range of lines, first to last, that the request elided; possibly empty.
    Elided(usize, usize),
}

/// A place for a request: the assignment of its rows to lines of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Alignment {
    /// One entry for each row of the script.
    pub(super) rows: Vec<RowMatch>,
    /// The lines of the file that the place covers.
    pub(super) first: usize,
    pub(super) last: usize,
    /// How many blank lines at its start are newlines that the old text starts with, which have no rows.
    pub(super) blank_lines: usize,
}

/// A difference between a line of the request and the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) class: DifferenceKind,
    /// Line number in the file.
    pub(super) line: usize,
    pub(super) request: String,
    pub(super) file: String,
}

impl Alignment {
    /// Aligns all old rows, given the positions of the anchors in the index.
    pub(super) fn new(script: &Script, anchors: &[(usize, usize)], index: &SearchIndex<'_>) -> Self {
        let mut rows = vec![RowMatch::Unmatched; script.rows.len()];
        for &(row, at) in anchors {
            rows[row] = RowMatch::Line(index.line_number(at));
        }
        let blanks = |from: usize, to: usize| {
            (from..to).filter(|&row| script.rows[row].is_old() && script.rows[row].blank)
        };
        for pair in anchors.windows(2) {
            let ((row, at), (next_row, next_at)) = (pair[0], pair[1]);
            if next_at == at + 1 {
                let blank_lines = index.line_number(at) + 1..index.line_number(next_at);
                let blank_rows =
                    prefer_context(blanks(row + 1, next_row).collect(), blank_lines.len(), script);
                for (row, line) in blank_rows.into_iter().zip(blank_lines) {
                    rows[row] = RowMatch::Line(line);
                }
            }
        }
        let ends = anchors.first().zip(anchors.last());
        let Some((&(first_row, first_at), &(last_row, last_at))) = ends else {
            return Self { rows, first: 1, last: 0, blank_lines: 0 };
        };
        let (mut first, mut last) = (index.line_number(first_at), index.line_number(last_at));
        let leading: Vec<usize> = blanks(0, first_row).collect();
        let blank_lines = index.blank_lines_before(first_at);
        let without_rows = blank_lines.saturating_sub(leading.len()).min(script.newlines_at_start());
        for row in leading.into_iter().rev().take(blank_lines) {
            first -= 1;
            rows[row] = RowMatch::Line(first);
        }
        first -= without_rows;
        for row in blanks(last_row + 1, script.rows.len()).take(index.blank_lines_after(last_at)) {
            last += 1;
            rows[row] = RowMatch::Line(last);
        }
        Self { rows, first, last, blank_lines: without_rows }
    }

    /// The lines that the place covers.
    pub(super) fn lines(&self) -> Lines {
        Lines { start: self.first, count: (self.last + 1).saturating_sub(self.first) }
    }

    /// The blank line to remove because the old text starts with one newline more than the new text.
    pub(super) fn removed_newline(&self, script: &Script) -> Option<usize> {
        let last = self.first + self.blank_lines.checked_sub(1)?;
        script.starts_with_newline.then_some(last)
    }

    /// The line that a row matches, if it matches one.
    pub(super) fn line(&self, row: usize) -> Option<usize> {
        match self.rows[row] {
            RowMatch::Line(line) => Some(line),
            RowMatch::Unmatched | RowMatch::Elided(..) => None,
        }
    }

    /// Every difference between the old rows and the lines they match.
    pub(super) fn differences(&self, script: &Script, index: &SearchIndex<'_>) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut blank_lines = false;
        let mut matched_blanks = self.blank_lines;
        for (row, matched) in script.rows.iter().zip(&self.rows).filter(|(row, _)| row.is_old()) {
            match *matched {
                RowMatch::Line(line) => {
                    matched_blanks += usize::from(row.blank);
                    let file = index.snapshot.line(line);
                    for class in classify(&row.text, &file) {
                        let (request, file) = (row.text.clone(), file.clone().into_owned());
                        found.push(Difference { class, line, request, file });
                    }
                }
                RowMatch::Elided(first, last) => found.push(Difference {
                    class: DifferenceKind::Elision,
                    line: first,
                    request: row.text.trim().to_owned(),
                    file: Lines { start: first, count: (last + 1).saturating_sub(first) }.to_string(),
                }),
                RowMatch::Unmatched if row.blank => blank_lines = true,
                RowMatch::Unmatched => found.push(Difference {
                    class: DifferenceKind::Drift,
                    line: self.first,
                    request: row.text.clone(),
                    file: String::new(),
                }),
            }
        }
        let elided = self.rows.iter().any(|row| matches!(row, RowMatch::Elided(..)));
        let is_blank = |line: usize| line_key(&index.snapshot.line(line)).is_empty();
        let file_blanks = if elided {
            matched_blanks
        } else {
            (self.first..=self.last).filter(|&line| is_blank(line)).count()
        };
        let matched = self
            .rows
            .iter()
            .enumerate()
            .filter(|(row, _)| self.line(*row).is_some() && !script.rows[*row].blank);
        let matched = matched.count();
        let extra = (self.last + 1).saturating_sub(self.first).saturating_sub(matched + file_blanks);
        if !elided && extra > 0 {
            found.push(Difference {
                class: DifferenceKind::ExtraLines,
                line: self.first,
                request: String::from("none of them"),
                file: format!("{extra} {}", if extra == 1 { "line" } else { "lines" }),
            });
        }
        // The first newline may end the line before.
        let blanks_at_start = script.newlines_at_start().saturating_sub(1).max(self.blank_lines);
        blank_lines |= file_blanks > matched_blanks || blanks_at_start > self.blank_lines;
        if blank_lines {
            let blank = |count: usize| format!("{count} blank {}", if count == 1 { "line" } else { "lines" });
            let rows = script.rows.iter().filter(|row| row.is_old() && row.blank).count();
            let request = rows + blanks_at_start;
            found.push(Difference {
                class: DifferenceKind::BlankLines,
                line: self.first,
                request: blank(request),
                file: blank(file_blanks),
            });
        }
        found
    }

    /// Whether every line of the request has the file's indentation.
    pub(super) fn has_same_indentation(&self, script: &Script, index: &SearchIndex<'_>) -> bool {
        script.anchors().all(|(row, text)| {
            self.line(row).is_none_or(|line| indent(&text.text) == indent(&index.snapshot.line(line)))
        })
    }

    /// Whether all lines have the request's indentation with the same prefix added, or all with the same prefix removed.
    pub(super) fn has_shifted_indentation(&self, script: &Script, index: &SearchIndex<'_>) -> bool {
        let pairs = self.indent_pairs(script, index);
        let have_one_prefix = |prefix: fn(&IndentPair) -> Option<&str>| match pairs.first().map(prefix) {
            Some(None) => false,
            first => pairs.iter().map(prefix).all(|other| Some(other) == first),
        };
        have_one_prefix(|pair| pair.file.strip_suffix(pair.request.as_str()))
            || have_one_prefix(|pair| pair.request.strip_suffix(pair.file.as_str()))
    }

    /// Whether the place has the request's blank lines and no others. Of lines that are left out, nothing is known.
    pub(super) fn has_same_blank_lines(&self, script: &Script, index: &SearchIndex<'_>) -> bool {
        let is_other = |class| matches!(class, DifferenceKind::BlankLines | DifferenceKind::Elision);
        self.differences(script, index).iter().all(|difference| !is_other(difference.class))
    }

    /// Whether the file has the newlines at the start and at the end of the request. A hunk states the end of the file with a
    /// marker.
    pub(super) fn has_outer_newlines(&self, script: &Script, index: &SearchIndex<'_>) -> bool {
        let is_last = self.last == index.snapshot.line_count();
        let lacks_first = script.newlines_at_start() > 0 && self.first == 1 && self.blank_lines == 0;
        let lacks_last = !script.stops_before_newline && is_last && !index.snapshot.ends_with_newline();
        let states_end = script.file_end == FileEnd::Kept;
        !(lacks_first || lacks_last && states_end)
    }

    /// The indentation of each anchor in the request and in the file.
    pub(super) fn indent_pairs(&self, script: &Script, index: &SearchIndex<'_>) -> Vec<IndentPair> {
        script
            .anchors()
            .filter_map(|(row, text)| {
                let file = index.snapshot.line(self.line(row)?);
                Some(IndentPair {
                    removed: text.role == Role::Removed,
                    request: indent(&text.text).to_owned(),
                    file: indent(&file).to_owned(),
                })
            })
            .collect()
    }
}

/// Picks `count` of the blank rows, in order. Context rows come first: a removed blank line that the file does not
/// have needs no match.
fn prefer_context(mut rows: Vec<usize>, count: usize, script: &Script) -> Vec<usize> {
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
    pub(super) removed: bool,
    pub(super) request: String,
    pub(super) file: String,
}

/// The whitespace at the start of a line.
pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The ways in which two lines differ.
fn classify(request: &str, file: &str) -> Vec<DifferenceKind> {
    let mut classes = Vec::new();
    if request == file {
        return classes;
    }
    let blank = request.trim().is_empty();
    if blank || request[request.trim_end().len()..] != file[file.trim_end().len()..] {
        classes.push(DifferenceKind::TrailingWhitespace);
    }
    if !blank && indent(request) != indent(file) {
        classes.push(DifferenceKind::Indentation);
    }
    if request.trim() != file.trim() {
        let (request, file) = (line_key(request), line_key(file));
        classes.push(match () {
            () if request == file => DifferenceKind::Punctuation,
            () if squashed(&request) == squashed(&file) => DifferenceKind::Spacing,
            () if file.starts_with(&*request) || file.ends_with(&*request) => DifferenceKind::PartialLine,
            () => DifferenceKind::Drift,
        });
    }
    classes
}
