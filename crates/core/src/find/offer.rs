//! What a refusal offers: candidates that can be chosen, and the text to send instead.
//!
//! A hint that is followed must not write wrong text. So only what could be applied is offered: the lines that the request
//! removes are there, or have changed into lines like them and the caller is shown both, and every insertion is between
//! lines that match. A text to send must occur once.

use super::alignment::{Alignment, Difference, indent};
use super::diagnosis::{Candidate, Diagnosis, ResendEdit, candidate};
use super::drift::{ClosePlace, closest_places};
use super::file_text::FileText;
use super::heading::{
    block_name, ends_before_change, is_comment, item_name, names_item, names_other_block, names_other_item,
    opens_block,
};
use super::ladder;
use super::limits::{
    MAX_RESEND_BYTES, MAX_RESEND_CONTEXT, MIN_PINNING_LETTERS, MIN_VERY_CLOSE, MIN_WHOLE_LINE,
};
use super::merge::{MergePolicy, merge};
use super::outline::{encloses, row_at_change, rows_around_changes};
use super::punctuation::{letters, line_key};
use super::recovery::{RecoveredPlace, Recovery, Replacement, lines_of_span};
use super::request::{PlaceHint, SearchRequest};
use super::script::{Role, Row, Script};
use super::search::find_only;
use super::search_index::SearchIndex;
use super::slip::is_misspelt_name;
use crate::change::{DifferenceKind, Lines};
use crate::plan::Tolerance;
use crate::snapshot::Snapshot;
use slipstitch_text::{Span, canonical};

/// Finds out what to offer for a request that was not found.
pub(super) struct Offers<'d, 'a> {
    pub(super) request: &'d SearchRequest,
    pub(super) file: &'d FileText<'a>,
}

impl Offers<'_, '_> {
    /// Whether the request can be applied at some lines if the caller chooses them.
    pub(super) fn is_choosable(&self, lines: Lines) -> bool {
        let at = lines_span(lines, self.file.snapshot);
        let chosen = self.request.at(PlaceHint { within: Some(at), chosen: true, ..PlaceHint::default() });
        matches!(ladder::find(&chosen, self.file, Tolerance::Recover), Recovery::Found(_))
    }

    /// Adds what to send if the first candidate is the place: the file's text as the old text, and the new text merged into
    /// it. The request's own new text would write back lines that have changed in the file.
    pub(super) fn with_resend(&self, diagnosis: Diagnosis) -> Diagnosis {
        let Some(candidate) = diagnosis.candidates.first() else { return diagnosis };
        let Some(index) = self.file.index() else { return diagnosis };
        let script = self.request.as_meant();
        let part = index.within(lines_span(candidate.lines, self.file.snapshot));
        let alignment = match closest_places(script, &part).into_iter().next() {
            // Within the candidate's lines, another alignment may be closer than the one that made it a candidate.
            Some(place) if is_plausible(&place) && covers(&place.alignment, &part) => place.alignment,
            // A single line that resembles nothing else.
            None if part.len() == 1 && self.is_whole_line(candidate.lines.start) => {
                let pairs: Vec<(usize, usize)> = script.anchors().map(|(row, _)| (row, 0)).collect();
                Alignment::new(script, &pairs, &part)
            }
            _ => return diagnosis,
        };
        // If a line differs and still contains an escape, the escape may be one that should have been decoded.
        let may_be_escaped = |(row, text): (usize, &Row)| {
            let at = alignment.line(row).and_then(|line| part.position_of_line(line));
            text.text.contains('\\') && !at.is_some_and(|at| part.has_key(at, &line_key(&text.text)))
        };
        if self.request.meant().classes.contains(&DifferenceKind::Escapes)
            && script.anchors().any(may_be_escaped)
        {
            return diagnosis;
        }
        let all_paired =
            script.anchors().all(|(row, text)| text.role == Role::Context || alignment.line(row).is_some());
        let Ok(merged) = merge(script, &alignment, &part, MergePolicy::Careful) else { return diagnosis };
        let is_block = is_same_block(script, &alignment, &part)
            || is_renamed_among_neighbours(script, &alignment, &part);
        if !all_paired || !is_block {
            return diagnosis;
        }
        self.with_texts(diagnosis, merged.at, &merged.parts)
    }

    /// Whether only the name of the block differs at some lines, and the lines of its neighbours show that it is the quoted one.
    pub(super) fn is_renamed(&self, lines: Lines) -> bool {
        let script = self.request.as_meant();
        let is_renamed = |alignment: &Alignment, part: &SearchIndex<'_>| {
            is_renamed_among_neighbours(script, alignment, part)
        };
        self.aligned_with(lines, is_renamed).unwrap_or(false)
    }

    /// Whether some lines have all context lines of the request, so that only lines to be removed differ.
    pub(super) fn has_all_context(&self, lines: Lines) -> bool {
        let script = self.request.as_meant();
        let is_all_there = |alignment: &Alignment, part: &SearchIndex<'_>| {
            let mut context = script.anchors().filter(|(_, row)| row.role == Role::Context);
            context.all(|(row, text)| {
                let at = alignment.line(row).and_then(|line| part.position_of_line(line));
                at.is_some_and(|at| part.has_key(at, &line_key(&text.text)))
            })
        };
        self.aligned_with(lines, is_all_there).unwrap_or(false)
    }

    /// How the request differs from some lines.
    pub(super) fn differences_at(&self, lines: Lines) -> Vec<Difference> {
        let script = self.request.as_meant();
        self.aligned_with(lines, |alignment, part| alignment.differences(script, part)).unwrap_or_default()
    }

    /// What can be said about the request aligned with some lines; `None` if they have nothing in common.
    fn aligned_with<T>(
        &self,
        lines: Lines,
        say: impl FnOnce(&Alignment, &SearchIndex<'_>) -> T,
    ) -> Option<T> {
        let index = self.file.index()?;
        let part = index.within(lines_span(lines, self.file.snapshot));
        let place = closest_places(self.request.as_meant(), &part).into_iter().next()?;
        Some(say(&place.alignment, &part))
    }

    /// Whether the request is a single line, and not only part of the given one.
    fn is_whole_line(&self, line: usize) -> bool {
        let mut anchors = self.request.as_meant().anchors();
        let (Some((_, row)), None) = (anchors.next(), anchors.next()) else { return false };
        let (request, file) = (row.text.trim().len(), self.file.snapshot.line(line).trim().len());
        MIN_WHOLE_LINE.is_reached_by(request, file)
    }

    /// Adds what to send for a place that recovery would accept.
    pub(super) fn with_merged(&self, diagnosis: Diagnosis, found: &RecoveredPlace) -> Diagnosis {
        match &found.replacement {
            Replacement::Parts(parts) => self.with_texts(diagnosis, found.at, parts),
            Replacement::Text(new) => {
                let parts = [(found.at.start()..found.at.end(), new.clone())];
                self.with_texts(diagnosis, found.at, &parts)
            }
        }
    }

    /// Adds the text of a place and the text that would replace it. If that text occurs several times, lines around it are
    /// included.
    pub(super) fn with_texts(
        &self,
        mut diagnosis: Diagnosis,
        at: Span,
        parts: &[(std::ops::Range<usize>, String)],
    ) -> Diagnosis {
        let snapshot = self.file.snapshot;
        let Some(wide) = widen_until_unique(at, snapshot) else { return diagnosis };
        let shown = |from: usize, to: usize| {
            std::str::from_utf8(&snapshot.text()[from..to]).ok().map(|text| canonical(text).into_owned())
        };
        let merged = || {
            let mut new = String::new();
            let mut copied = wide.start();
            for (range, insert) in parts {
                new.push_str(&shown(copied, range.start)?);
                new.push_str(insert);
                copied = range.end;
            }
            new.push_str(&shown(copied, wide.end())?);
            Some(new)
        };
        let (Some(old), Some(new)) = (shown(wide.start(), wide.end()), merged()) else { return diagnosis };
        if old.len().max(new.len()) > MAX_RESEND_BYTES {
            return diagnosis;
        }
        let (_, sent) = self.request.texts();
        // A hunk consists of lines, so how its text ends says nothing.
        let is_sent_as_is = self.request.as_sent_snippet().is_some() && sent == new;
        // Without the last newline both say the same. Left out of only one of them, it would add or remove a line.
        let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
            (Some(shorter_old), Some(shorter_new)) if !is_sent_as_is => (shorter_old, shorter_new),
            _ => (old.as_str(), new.as_str()),
        };
        let sent = match self.request.as_sent_snippet() {
            Some(_) => sent.as_str(),
            None => sent.strip_suffix('\n').unwrap_or(&sent),
        };
        if sent == new {
            diagnosis.resend = Some(old.to_owned());
            return diagnosis;
        }
        diagnosis.resend_edit = Some(ResendEdit { old_text: old.to_owned(), new_text: new.to_owned() });
        // A caller that cannot choose the candidate copies the old text from it.
        if wide != at
            && let Some(first) = diagnosis.candidates.first_mut().filter(|first| !first.choosable)
        {
            let differences = std::mem::take(&mut first.differences);
            *first = Candidate { differences, ..candidate(lines_of_span(wide, snapshot), snapshot) };
        }
        diagnosis
    }
}

/// Whether the edit makes sense at a place: insertions are between lines that match, and lines to be replaced are still there or
/// have changed into lines like them.
fn is_plausible(place: &ClosePlace) -> bool {
    place.has_place_for_additions && place.removed_similarity >= MIN_VERY_CLOSE
}

/// Whether an alignment pairs the first and the last line of a part that are not blank.
fn covers(alignment: &Alignment, part: &SearchIndex<'_>) -> bool {
    let position = |row: usize| part.position_of_line(alignment.line(row)?);
    let first = (0..alignment.rows.len()).find_map(position);
    let last = (0..alignment.rows.len()).rev().find_map(position);
    first == Some(0) && last.is_some_and(|at| at + 1 == part.len())
}

/// Whether the lines above the change name the same block. A block with another name is another block, however similar.
fn is_same_block(script: &Script, alignment: &Alignment, part: &SearchIndex<'_>) -> bool {
    let change = script.first_change();
    let enclosing = rows_around_changes(script);
    let above = script.anchors().enumerate().filter(|(_, (row, _))| *row < change);
    above.into_iter().filter(|(_, (row, _))| !ends_before_change(script, *row)).all(|(n, (row, text))| {
        let name = item_name(&text.text);
        let is_enclosing = enclosing.contains(row);
        match alignment.line(row).map(|line| part.snapshot.line(line)) {
            // A typo in a name does not make it a different block.
            Some(file) if is_misspelt_name(&line_key(&text.text), &line_key(&file), part) => true,
            Some(file) if is_enclosing && names_other_block(&text.text, &file) => {
                !encloses_change(script, row, alignment, part)
            }
            Some(file) => name.is_none() || !names_other_item(&text.text, &file),
            None => (name.is_none() && !(is_enclosing && block_name(&text.text).is_some())) || n > 0,
        }
    })
}

/// Whether the block around the change was renamed, and nothing else: every other line of the request is there, in order, with
/// nothing in between, and one of them belongs to the block before or after it and is in the file once. A twin has other
/// neighbours.
fn is_renamed_among_neighbours(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> bool {
    let anchors: Vec<(usize, &Row)> = script.anchors().collect();
    let positions: Option<Vec<usize>> =
        anchors.iter().map(|(row, _)| index.position_of_line(alignment.line(*row)?)).collect();
    let Some(positions) = positions else { return false };
    let is_exact = |n: usize| {
        let (_, row) = anchors[n];
        index.has_key(positions[n], &line_key(&row.text))
            && indent(&index.text(positions[n])) == indent(&row.text)
    };
    let differing: Vec<usize> = (0..anchors.len()).filter(|&n| !is_exact(n)).collect();
    let &[name] = &differing[..] else { return false };
    let (row, text) = anchors[name];
    let change = script.first_change();
    let depth = indent(&text.text).len();
    let is_name = row < change && text.role == Role::Context && !ends_before_change(script, row);
    let is_together = positions.windows(2).all(|two| two[1] == two[0] + 1);
    // Only the line's own section is at its depth.
    let is_section = !opens_block(&text.text) && item_name(&text.text).is_some();
    let is_outside = |n: usize| {
        let text = anchors[n].1;
        let width = indent(&text.text).len();
        let is_neighbour = match anchors[n].0 < row {
            true => width >= depth && !names_what_follows(&text.text),
            false => anchors[n].0 > change && width <= depth && (!is_section || names_item(&text.text)),
        };
        is_neighbour && text.role == Role::Context && !closes_block(&text.text)
    };
    let is_only = |n: usize| {
        letters(&anchors[n].1.text) >= MIN_PINNING_LETTERS
            && index.occurs_once_in_file(index.squashed(positions[n]))
    };
    is_name && is_together && (0..anchors.len()).any(|n| n != name && is_outside(n) && is_only(n))
}

/// Whether a line belongs to the line below it: a comment, an attribute.
fn names_what_follows(line: &str) -> bool {
    is_comment(line) || line.trim_start().starts_with(['@', '#', '*'])
}

/// Whether a line says only that something ends.
fn closes_block(line: &str) -> bool {
    line.trim_start().starts_with(['}', ')', ']'])
}

/// Whether the line that a row is paired with encloses the change in the file too.
pub(super) fn encloses_change(
    script: &Script,
    row: usize,
    alignment: &Alignment,
    index: &SearchIndex<'_>,
) -> bool {
    let position = |row: usize| alignment.line(row).and_then(|line| index.position_of_line(line));
    let below = row_at_change(script, |row| position(row).is_some()).and_then(position);
    matches!((position(row), below), (Some(at), Some(below)) if encloses(index, at, below))
}

/// The span with as many whole lines around it as it takes for its text to occur once; `None` if that takes too many.
fn widen_until_unique(at: Span, snapshot: &Snapshot) -> Option<Span> {
    let text = snapshot.text();
    let occurs_once = |span: Span| {
        let needle = span.of(text);
        let trimmed = needle.strip_suffix(b"\n").unwrap_or(needle);
        let trimmed = trimmed.strip_suffix(b"\r").unwrap_or(trimmed);
        !trimmed.is_empty() && find_only(text, trimmed).is_some()
    };
    if occurs_once(at) {
        return Some(at);
    }
    let lines = lines_of_span(at, snapshot);
    let last = lines.start + lines.count - 1;
    (1..=MAX_RESEND_CONTEXT).find_map(|more| {
        let first = lines.start.saturating_sub(more).max(1);
        let last = (last + more).min(snapshot.line_count());
        let wide = Span::new(snapshot.line_span(first).start(), snapshot.line_span(last).end());
        Some(wide).filter(|&wide| occurs_once(wide))
    })
}

fn lines_span(Lines { start, count }: Lines, snapshot: &Snapshot) -> Span {
    Span::new(snapshot.line_span(start).start(), snapshot.line_span(start + count.max(1) - 1).end())
}
