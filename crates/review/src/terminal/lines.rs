//! Diffs as lines of the screen.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use slipstitch::core::text::display::escape_controls;

use super::model::{Choice, OpenChange, OpenProposal};
use super::theme::{Colors, Role};
use super::whole_file::WholeFile;
use super::wrap::{shorten, width_of, wrap, wrap_words};
use crate::diff_view::{self, HunkView, Row};
use crate::diff_view::{describe_lines, escape_but_tabs, file_notes};
use crate::line_part::Part;
use crate::summary::{ago, author_of, title_of};

/// How diffs are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) colors: Colors,
    /// Old and new side by side.
    pub(super) is_split: bool,
}

/// The columns of a line number, and of the sign after the numbers.
const NUMBER: usize = 5;
const SIGN: usize = 2;

/// Lines, and where each hunk starts.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<Line<'static>>,
    pub(super) hunks: Vec<usize>,
}

impl Canvas {
    pub(super) fn text(&self, text: &str, role: Role) -> impl Iterator<Item = Line<'static>> {
        wrap_words(&[(text.to_owned(), self.colors.style(role))], self.width).into_iter().map(Line::from)
    }

    /// A proposal: what it is for, who wants it, why it was stopped, and its hunks.
    pub(super) fn proposal(&self, open: &OpenProposal) -> Lines {
        let proposal = &open.found.proposal;
        let mut shown = Lines::default();
        shown.lines.extend(self.text(&title_of(proposal), Role::Strong));
        let age = ago(open.found.at);
        let when = if age == "now" { "just now".to_owned() } else { format!("{age} ago") };
        let session = escape_controls(&proposal.origin.session);
        let who = format!("{} · session {session} · {} · {when}", author_of(proposal), open.found.id);
        shown.lines.extend(self.text(&who, Role::Soft));
        shown
            .lines
            .extend(self.text(&format!("waits because {}", escape_controls(&proposal.reason)), Role::Plain));
        for note in &open.notes {
            shown.lines.extend(self.text(note, Role::Warning));
        }
        let mut last_path = None;
        for (index, hunk) in open.hunks.iter().enumerate() {
            let diff = proposal.hunk_diff(hunk);
            if last_path != Some(&hunk.path) {
                last_path = Some(&hunk.path);
                let notes: String =
                    file_notes(diff).iter().map(|note| format!("  [{}]", escape_controls(note))).collect();
                shown.lines.push(Line::default());
                shown.lines.extend(
                    self.text(&format!("{}{notes}", escape_controls(hunk.path.as_str())), Role::Strong),
                );
            }
            shown.hunks.push(shown.lines.len());
            let view = &open.views[index];
            let is_current = index == open.current;
            let item = open.items[index].as_ref().map_or(String::new(), |item| format!(", in {item}"));
            let place = format!("{} of {}  {}{item}", index + 1, open.hunks.len(), describe_lines(diff));
            shown.lines.push(self.hunk_heading(&place, view, &open.choices[index], is_current));
            shown.lines.extend(self.choice_text(&open.choices[index]));
            shown.lines.extend(self.rows(&view.rows));
        }
        shown
    }

    fn hunk_heading(&self, place: &str, view: &HunkView, choice: &Choice, is_current: bool) -> Line<'static> {
        let (label, role) = match choice {
            Choice::Open => ("[open]", Role::Soft),
            Choice::Accept => ("[accepted]", Role::Added),
            Choice::Reject { .. } | Choice::RejectedBefore(_) => ("[rejected]", Role::Removed),
            Choice::Edit(_) => ("[edited]", Role::Warning),
        };
        let marker = if is_current { "▌" } else { " " };
        let count = format!("  +{} −{}", view.added, view.removed);
        let used = 1 + width_of(&count) + width_of(label) + 1;
        let place = shorten(place, self.width.saturating_sub(used));
        let gap = self.width.saturating_sub(used + width_of(&place)) + 1;
        let style = self.colors.style(if is_current { Role::Selected } else { Role::Soft });
        Line::from(vec![
            Span::styled(format!("{marker}{place}"), style),
            Span::styled(count, self.colors.style(Role::Soft)),
            Span::raw(" ".repeat(gap)),
            Span::styled(label, self.colors.style(role)),
        ])
    }

    /// The reason for a rejection, or the text that is written instead.
    fn choice_text(&self, choice: &Choice) -> Vec<Line<'static>> {
        match choice {
            Choice::Reject { reason: Some(reason) } => {
                self.text(&format!("reason: {}", escape_controls(reason)), Role::Removed).collect()
            }
            Choice::RejectedBefore(reason) if !reason.is_empty() => {
                self.text(&format!("reason: {}", escape_controls(reason)), Role::Removed).collect()
            }
            Choice::Edit(text) if text.is_empty() => {
                self.text("these lines are removed", Role::Warning).collect()
            }
            Choice::Edit(text) => {
                let mut lines: Vec<Line<'static>> = self.text("instead, you write:", Role::Warning).collect();
                for line in text.lines() {
                    let parts = [(format!("  {}", escape_but_tabs(line)), self.colors.style(Role::Plain))];
                    lines.extend(wrap(&parts, self.width).into_iter().map(Line::from));
                }
                lines
            }
            _ => Vec::new(),
        }
    }

    /// A change of the history.
    pub(super) fn change(&self, open: &OpenChange) -> Lines {
        let mut shown = Lines::default();
        let mut last_path: Option<&str> = None;
        for (path, view) in open.preview.as_ref().unwrap_or(&open.views) {
            if last_path != Some(path) {
                last_path = Some(path);
                shown.lines.push(Line::default());
                shown.lines.extend(self.text(&escape_controls(path), Role::Strong));
            }
            shown.hunks.push(shown.lines.len());
            let heading = view.rows.first().map_or(String::new(), first_line);
            shown.lines.extend(self.text(&heading, Role::Soft));
            shown.lines.extend(self.rows(&view.rows));
        }
        shown
    }

    /// All lines of a file. The current hunk is what is scrolled to; here that is the first change.
    pub(super) fn whole_file(&self, file: &WholeFile, current: usize) -> Lines {
        let mut shown = Lines::default();
        let heading = format!("{}, all lines; w shows the changes again", escape_controls(&file.path));
        shown.lines.extend(self.text(&heading, Role::Strong));
        let mut first_change = None;
        for part in &file.parts {
            for group in part.rows.chunk_by(|one, other| one.is_changed == other.is_changed) {
                if group[0].is_changed {
                    first_change.get_or_insert(shown.lines.len());
                }
                shown.lines.extend(self.rows(group));
            }
        }
        shown.hunks = vec![first_change.unwrap_or(0); current + 1];
        shown
    }

    fn rows(&self, rows: &[Row]) -> Vec<Line<'static>> {
        match self.is_split {
            true => rows.iter().flat_map(|row| self.split_row(row)).collect(),
            false => self.unified_rows(rows),
        }
    }

    /// Removed lines before added ones, as in a patch.
    fn unified_rows(&self, rows: &[Row]) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for group in rows.chunk_by(|one, other| one.is_changed && other.is_changed) {
            let is_changed = group.iter().any(|row| row.is_changed);
            if is_changed {
                for (row, line) in group.iter().filter_map(|row| Some((row, row.old.as_ref()?))) {
                    let numbers = [Some(line.number), None];
                    let cell = self.cell(row, line, &numbers, Side::Removed, self.width);
                    lines.extend(cell.into_iter().map(Line::from));
                }
            }
            for row in group {
                let Some(line) = &row.new else { continue };
                let (side, old) = match (is_changed, &row.old) {
                    (true, _) => (Side::Added, None),
                    (false, old) => (Side::Context, old.as_ref().map(|old| old.number)),
                };
                let numbers = [old, Some(line.number)];
                lines.extend(self.cell(row, line, &numbers, side, self.width).into_iter().map(Line::from));
            }
        }
        lines
    }

    fn split_row(&self, row: &Row) -> Vec<Line<'static>> {
        let half = self.width.saturating_sub(1) / 2;
        let (old, new) = match row.is_changed {
            true => (Side::Removed, Side::Added),
            false => (Side::Context, Side::Context),
        };
        let side = |line: &Option<diff_view::Line>, side: Side| {
            line.as_ref().map_or(Vec::new(), |line| self.cell(row, line, &[Some(line.number)], side, half))
        };
        let (mut left, mut right) = (side(&row.old, old).into_iter(), side(&row.new, new).into_iter());
        let mut lines = Vec::new();
        loop {
            let (old, new) = (left.next(), right.next());
            if old.is_none() && new.is_none() {
                return lines;
            }
            let mut spans = old.unwrap_or_default();
            let used: usize = spans.iter().map(Span::width).sum();
            spans.push(Span::raw(" ".repeat(half.saturating_sub(used))));
            spans.push(Span::styled("│", self.colors.style(Role::Soft)));
            spans.extend(new.unwrap_or_default());
            lines.push(Line::from(spans));
        }
    }

    /// One line of a file with its numbers and sign, wrapped. Unified diffs have the old and the new number.
    fn cell(
        &self,
        row: &Row,
        line: &diff_view::Line,
        numbers: &[Option<usize>],
        side: Side,
        width: usize,
    ) -> Vec<Vec<Span<'static>>> {
        let (sign, role) = match side {
            Side::Context => (" ", Role::Plain),
            Side::Added => ("+", Role::Added),
            Side::Removed => ("-", Role::Removed),
        };
        let mut parts: Vec<(String, Style)> = row
            .shown_parts(line)
            .into_iter()
            .map(|(text, part)| (text, self.part_style(part, role)))
            .collect();
        if let Some(note) = row.end_note(line) {
            parts.push((format!(" ({note})"), self.colors.style(Role::Soft)));
        }
        let blank = " ".repeat(NUMBER);
        let number = |number: &Option<usize>| number.map_or(blank.clone(), |number| format!("{number:>4} "));
        let number: String = numbers.iter().map(number).collect();
        let gutter = numbers.len() * NUMBER;
        let number = Span::styled(number, self.colors.style(Role::Soft));
        let sign = Span::styled(format!("{sign} "), self.colors.style(role));
        let mut rows = wrap(&parts, width.saturating_sub(gutter + SIGN));
        for (index, row) in rows.iter_mut().enumerate() {
            let (number, sign) = match index {
                0 => (number.clone(), sign.clone()),
                _ => (Span::raw(" ".repeat(gutter)), sign.clone()),
            };
            row.splice(0..0, [number, sign]);
        }
        rows
    }

    fn part_style(&self, part: &Part, line: Role) -> Style {
        match (part.is_changed, part.class) {
            (true, _) => self.colors.changed(line),
            (false, Some(class)) => self.colors.style(Role::Code(class)),
            (false, None) if line != Role::Plain => self.colors.style(line),
            (false, None) => Style::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Context,
    Added,
    Removed,
}

fn first_line(row: &Row) -> String {
    let line = row.new.as_ref().or(row.old.as_ref());
    line.map_or(String::new(), |line| format!("from line {}", line.number))
}
