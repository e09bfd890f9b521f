//! Other readings of a hunk, for when its lines are not in the file as sent.
//!
//! Some mistakes show only when the lines are compared with the file: `12: x` may be a line or a
//! numbered line, and an odd indentation may be odd or one space short. The parser does not guess.
//! It keeps the lines as sent and lists what else they may mean, so that the search can decide.
//!
//! No reading may lose a removed line: at worst, a wrong reading is not in the file. That is why an
//! echoed line gives up its context and never its removal.

mod context;
mod echo;
mod newlines;
mod numbers;

use std::borrow::Cow;

use crate::hunk::{Hunk, HunkLine, HunkRepair, Reading, Role, is_no_op};

/// The maximum number of readings of a hunk. Each costs one more search.
const MAX_READINGS: usize = 6;

/// A reading in the making. Almost no hunk has another reading, so its text is borrowed until it is repaired.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Draft<'l> {
    lines: Vec<DraftLine<'l>>,
    repairs: Vec<HunkRepair>,
}

/// A line of a hunk and whether a space was stripped from it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DraftLine<'l> {
    role: Role,
    text: Cow<'l, str>,
    /// False if `\ No newline at end of file` follows the line.
    newline: bool,
    /// Whether it is context that began with a space.
    prefixed: bool,
}

impl<'l> Draft<'l> {
    /// The draft with other lines, after one more repair.
    fn repaired(&self, repair: HunkRepair, lines: Vec<DraftLine<'l>>) -> Self {
        Self { lines, repairs: self.repairs.iter().copied().chain([repair]).collect() }
    }

    fn into_reading(self) -> Reading {
        let mut repairs = self.repairs;
        repairs.sort_unstable();
        Reading { lines: self.lines.into_iter().map(DraftLine::into_line).collect(), repairs }
    }
}

impl<'l> DraftLine<'l> {
    fn of(line: &'l HunkLine, prefixed: bool) -> Self {
        let HunkLine { role, ref text, newline } = *line;
        Self { role, text: Cow::Borrowed(text), newline, prefixed }
    }

    fn into_line(self) -> HunkLine {
        HunkLine { role: self.role, text: self.text.into_owned(), newline: self.newline }
    }

    /// The line with another text.
    fn with_text(&self, text: impl Into<String>) -> Self {
        Self { text: Cow::Owned(text.into()), ..*self }
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn is_blank(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }
}

/// Splits a line of a diff into its role and its text, and says whether it is context with a prefix.
pub(super) fn split_prefix(line: &str) -> (Role, &str, bool) {
    match line.as_bytes().first() {
        Some(b'+') => (Role::Added, &line[1..], false),
        Some(b'-') => (Role::Removed, &line[1..], false),
        Some(b' ') => (Role::Context, &line[1..], true),
        _ => (Role::Context, line, false),
    }
}

/// The other readings of a hunk, fewest repairs first. `any_bare` says whether a context line of the
/// same file has no prefix.
///
/// Each line comes with whether it is context that began with a space.
pub(super) fn readings<'l>(
    lines: impl Iterator<Item = (&'l HunkLine, bool)>,
    any_bare: bool,
) -> Vec<Reading> {
    let lines = lines.map(|(line, prefixed)| DraftLine::of(line, prefixed)).collect();
    let mut drafts = vec![Draft { lines, repairs: Vec::new() }];
    // From the outside in: what joins lines hides what is inside them, and an echoed line has its
    // number twice.
    extend(&mut drafts, |draft| newlines::split(draft).into_iter().collect());
    extend(&mut drafts, |draft| context::add_spaces(draft, any_bare));
    extend(&mut drafts, |draft| echo::drop_echoes(draft).into_iter().collect());
    extend(&mut drafts, numbers::strip);
    let mut readings: Vec<Reading> = Vec::new();
    let mut drafts = drafts.into_iter().map(Draft::into_reading);
    if drafts.len() == 1 {
        return readings;
    }
    let as_sent = drafts.next().map_or(Vec::new(), |as_sent| as_sent.lines);
    for reading in drafts {
        let known = || readings.iter().any(|known| known.lines == reading.lines);
        if !is_no_op(&reading.lines) && reading.lines != as_sent && !known() {
            readings.push(reading);
        }
    }
    readings.sort_by(|first, second| {
        (first.repairs.len(), &first.repairs).cmp(&(second.repairs.len(), &second.repairs))
    });
    readings.truncate(MAX_READINGS);
    readings
}

impl Hunk {
    /// The lines of a hunk that deletes a line which it also gives as context, without that context: ` a`, `-a` may delete the
    /// second of two equal lines, or the only one. Which of them it means has to be asked.
    pub fn without_echoes(&self) -> Option<Vec<HunkLine>> {
        let lines: Vec<DraftLine<'_>> = self.lines.iter().map(|line| DraftLine::of(line, true)).collect();
        Some(echo::drop_all_echoes(&lines)?.into_iter().map(DraftLine::into_line).collect())
    }
}

/// Adds the repairs of every draft.
fn extend<'l>(drafts: &mut Vec<Draft<'l>>, repair: impl Fn(&Draft<'l>) -> Vec<Draft<'l>>) {
    let more: Vec<Draft<'l>> = drafts.iter().flat_map(repair).collect();
    drafts.extend(more);
}

#[cfg(test)]
mod tests;
