//! Sketches: new code in which a comment such as `// ...existing code...` stands for lines that stay.
//!
//! Hosts give a sketch to a second model, which merges it into the file. Without one, we would mostly have to guess: a line that is
//! not in the sketch may be left out or deleted, and a line that is not in the file may be new or a changed one. One case is
//! certain. If a part of the sketch contains all lines of some place in the file, in order, and starts and ends with lines of that
//! place, then its other lines are new and belong between them:
//!
//! ```text
//! file            sketch                        result
//! import os       # ...existing code...         import os
//! def run():      def run():                    def run():
//!     stop()          start()                       start()
//!                     stop()                        stop()
//! ```
//!
//! So a sketch can only add lines. It is refused if it fits two places, or would change or delete a line. It is also refused if it
//! may quote more than that place: a line that it adds is already there in the lines left out next to it, or opens a block that the
//! file has. Otherwise, a part that shows `a` unchanged and `b` with a change would be taken for `a` with a second `b` to add.

use super::error::Reason;
use super::heading::opens_block;
use super::limits::MAX_SKETCH_COMPARISONS;
use super::resolved_edit::{ResolvedEdit, resolved_at};
use crate::change::Rung;
use crate::plan::{EditRules, Sketch, is_certain_elision, is_elided_comment};
use crate::snapshot::Snapshot;
use slipstitch_text::display::decode_lossy;
use slipstitch_text::{Span, canonical};
use std::ops::Range;

/// Finds where the new lines of a sketch belong.
pub(super) fn resolve_sketch(
    edit: usize,
    sketch: &Sketch,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let code = sketch.code();
    // Lines between the parts are written as text, so bytes that are not valid text would be lost.
    if snapshot.has_invalid_bytes() {
        return Err(Reason::SketchUnclear { line: 1 });
    }
    let file = FileLines::of(snapshot);
    if snapshot.text_len() == 0 && sketch.is_complete() {
        return resolved_at(edit, Span::new(0, 0), code.into(), rules.newline, snapshot);
    }
    let is_doubtful = |line: &str| is_elided_comment(line) && !is_certain_elision(line);
    if let Some(line) = code.lines().position(is_doubtful) {
        return Err(Reason::SketchUnclear { line: line + 1 });
    }
    let mut placed: Vec<(Part<'_>, Place)> = Vec::new();
    for part in split(code) {
        let place = match part.place_in(&file) {
            Ok(place) => place,
            // The part adds nothing, so it does not matter which of its places is meant.
            Err(Reason::SketchUnclear { .. }) if part.is_in(&file) => continue,
            Err(reason) => return Err(reason),
        };
        // Parts are in the order of the file.
        if placed.last().is_some_and(|(_, before)| before.last >= place.first) {
            return Err(Reason::SketchUnclear { line: part.line });
        }
        placed.push((part, place));
    }
    let (Some((_, first)), Some((_, last))) = (placed.first(), placed.last()) else {
        return Err(Reason::SketchUnclear { line: 1 });
    };
    for (at, (part, place)) in placed.iter().enumerate() {
        let before = at.checked_sub(1).map_or(0, |at| placed[at].1.last + 1);
        let after = placed.get(at + 1).map_or(file.lines.len(), |(_, place)| place.first);
        let left_out = [before..place.first, place.last + 1..after];
        let leaves_block = at > 0 && part.leaves_block(&placed[at - 1].0, before..place.first, &file);
        if leaves_block || part.may_quote_more(*place, &left_out, &file) {
            return Err(Reason::SketchUnclear { line: part.line });
        }
    }
    let at = Span::new(file.start_of(first.first, snapshot), file.end_of(last.last, snapshot));
    let mut new = String::new();
    let mut next = first.first;
    for (part, place) in &placed {
        new.extend(file.lines[next..place.first].iter().flat_map(|line| [line.as_str(), "\n"]));
        new.extend(part.lines.iter().flat_map(|line| [*line, "\n"]));
        next = place.last + 1;
    }
    if snapshot.byte_before(at.end()) != Some(b'\n') {
        new.pop();
    }
    Ok(ResolvedEdit { rung: Rung::Elision, ..resolved_at(edit, at, new, rules.newline, snapshot)? })
}

/// The lines of a file without blank ones at its end.
struct FileLines {
    lines: Vec<String>,
}

impl FileLines {
    fn of(snapshot: &Snapshot) -> Self {
        let text = decode_lossy(snapshot.text()).into_owned();
        let mut lines: Vec<String> = canonical(&text).lines().map(str::to_owned).collect();
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        Self { lines }
    }

    fn start_of(&self, line: usize, snapshot: &Snapshot) -> usize {
        snapshot.line_span(line + 1).start()
    }

    fn end_of(&self, line: usize, snapshot: &Snapshot) -> usize {
        snapshot.line_span(line + 1).end()
    }
}

/// A part of a sketch, between two comments that stand for other lines.
struct Part<'c> {
    /// The number of its first line in the sketch.
    line: usize,
    lines: Vec<&'c str>,
    /// Whether no comment is before it, so that it may begin above the first line of the file.
    is_first: bool,
    /// Whether no comment is after it.
    is_last: bool,
}

/// The first and the last line of a place, from 0.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    first: usize,
    last: usize,
}

/// The parts of a sketch, without blank lines at their ends.
fn split(code: &str) -> Vec<Part<'_>> {
    let lines: Vec<&str> = code.lines().collect();
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut from = 0;
    for to in 0..=lines.len() {
        if to < lines.len() && !is_certain_elision(lines[to]) {
            continue;
        }
        let is_blank = |line: &&&str| line.trim().is_empty();
        let blank = lines[from..to].iter().take_while(is_blank).count();
        let mut part = &lines[from + blank..to];
        while let [rest @ .., last] = part
            && last.trim().is_empty()
        {
            part = rest;
        }
        if !part.is_empty() {
            parts.push(Part {
                line: from + blank + 1,
                lines: part.to_vec(),
                is_first: from == 0,
                is_last: to == lines.len(),
            });
        }
        from = to + 1;
    }
    parts
}

impl Part<'_> {
    /// Whether its lines are in the file, one after the other.
    fn is_in(&self, file: &FileLines) -> bool {
        file.lines.windows(self.lines.len()).any(|lines| lines.iter().eq(self.lines.iter()))
    }

    /// The lines that it adds to its place.
    fn added_lines(&self, place: Place, file: &FileLines) -> Vec<&str> {
        let mut there = file.lines[place.first..=place.last].iter().peekable();
        let is_added = |line: &&&str| there.next_if(|found| found == *line).is_none();
        self.lines.iter().filter(is_added).copied().collect()
    }

    /// Whether it may quote lines of the file outside of its place, some of them with changes.
    fn may_quote_more(&self, place: Place, left_out: &[Range<usize>], file: &FileLines) -> bool {
        let has_word = |line: &str| line.chars().any(char::is_alphanumeric);
        let is_in = |lines: &[String], line: &str| lines.iter().any(|found| found.trim() == line.trim());
        let is_elsewhere = |line: &str| {
            is_in(&file.lines[..place.first], line) || is_in(&file.lines[place.last + 1..], line)
        };
        self.added_lines(place, file).into_iter().filter(|line| has_word(line)).any(|line| {
            left_out.iter().any(|range| is_in(&file.lines[range.clone()], line))
                || (opens_block(line) && is_elsewhere(line))
        })
    }

    /// Whether the lines left out before it end the block that it continues: they are less indented than it and than the end of the
    /// part before.
    fn leaves_block(&self, before: &Self, left_out: Range<usize>, file: &FileLines) -> bool {
        let depth = |line: &str| line.len() - line.trim_start().len();
        let ends = [before.lines.last(), self.lines.first()];
        let own = ends.into_iter().flatten().map(|line| depth(line)).min().unwrap_or_default();
        file.lines[left_out].iter().any(|line| !line.trim().is_empty() && depth(line) < own)
    }

    /// The only place in the file all of whose lines are in this part.
    fn place_in(&self, file: &FileLines) -> Result<Place, Reason> {
        let unclear = || Reason::SketchUnclear { line: self.line };
        let mut best: Option<Place> = None;
        let mut all: Vec<Place> = Vec::new();
        let starts = (0..file.lines.len())
            .filter(|&first| (first == 0 && self.is_first) || file.lines[first] == self.lines[0]);
        let mut comparisons = 0;
        for first in starts {
            comparisons += self.lines.len();
            if comparisons > MAX_SKETCH_COMPARISONS {
                return Err(Reason::TooCostly);
            }
            for place in self.places_from(first, file) {
                if best.is_none_or(|best| place.last - place.first > best.last - best.first) {
                    best = Some(place);
                }
                all.push(place);
            }
        }
        let best = best.ok_or_else(unclear)?;
        let is_inside_best = |place: &Place| best.first <= place.first && place.last <= best.last;
        let covers_file = best == Place { first: 0, last: file.lines.len() - 1 };
        // Without a comment, it may be meant as the whole file, and would delete the lines that it does not have.
        let is_whole = self.is_first && self.is_last;
        let has_word = |line: &String| line.chars().any(char::is_alphanumeric);
        let says_something = file.lines[best.first..=best.last].iter().any(has_word);
        match all.iter().all(is_inside_best) && says_something && (!is_whole || covers_file) {
            true => Ok(best),
            false => Err(unclear()),
        }
    }

    /// The places that begin with a line of the file.
    fn places_from(&self, first: usize, file: &FileLines) -> Vec<Place> {
        let mut places = Vec::new();
        // Where the part continues after the lines of the file found in it so far.
        let mut next = 0;
        let is_anchored = file.lines[first] == self.lines[0];
        for (at, line) in file.lines.iter().enumerate().skip(first) {
            let rest = &self.lines[next..];
            let ends_part = rest.last().is_some_and(|last| line == last);
            let is_file_end = self.is_last && at + 1 == file.lines.len();
            let found = match at == first && is_anchored {
                true => Some(0),
                false => rest.iter().position(|own| line == own),
            };
            let Some(found) = found else { break };
            if ends_part || is_file_end {
                places.push(Place { first, last: at });
            }
            next += found + 1;
        }
        places
    }
}
