//! Edits that are already applied.
//!
//! An edit that is sent again should be recognised, whatever its form, and not be refused or applied twice. An edit that
//! replaces text may be done once the search no longer finds its old text. Then the new text may be in the file as whole lines
//! ([`diagnose`](super::diagnose)), or an earlier version shows where the old text was: if the current text is what the edit
//! makes of that version, the edit is done, however short its new text is ([`find_replaced`], [`find_replaced_everywhere`],
//! [`was_removed`]). Line ranges are done when the new lines are at the same number instead of the expected ones
//! ([`find_replaced_lines`]), and whole files when they have the requested content.
//!
//! An edit that only adds lines leaves its old text in place: sent again, it has an exact match, and
//! applying it would add the lines twice. So the text around an exact match decides here, for snippets, SEARCH/REPLACE blocks
//! and hunks alike: if the whole new text already surrounds the match, line by line, the edit is done
//! ([`require_unapplied`]).
//!
//! Added lines without enough letters, such as a closing brace, prove nothing: a brace next to a brace may well be
//! the one that is missing. Text added inside a line is always written, as the request says.

use std::ops::Range;

use super::diagnosis::{AppliedForm, Cause, Diagnosis};
use super::error::Reason;
use super::file_text::EarlierText;
use super::limits::{MAX_RELATED_LINES, MIN_RELATED};
use super::punctuation::{is_distinctive, line_key};
use super::recovery::lines_of_span;
use super::request::SearchRequest;
use super::search::{Needle, search};
use super::search_index::SearchIndex;
use super::similarity::line_similarity;
use crate::change::Lines;
use crate::plan::{EditRules, IfAlreadyApplied, LineRange};
use crate::snapshot::Snapshot;
use slipstitch_text::{Span, canonical};

/// Fails if `old`, which is at `found`, already has the lines around it that `new` adds. Both texts are canonical.
pub(super) fn require_unapplied(
    old: &str,
    new: &str,
    found: Span,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<(), Reason> {
    if !may_be_insertion(old.len(), new.len(), rules) {
        return Ok(());
    }
    match find_inserted(old, new, found, snapshot) {
        Some(span) => {
            let lines = lines_of_span(span, snapshot);
            let diagnosis = Diagnosis::at(Cause::AlreadyApplied, lines, snapshot);
            Err(Reason::AlreadyApplied(Diagnosis { applied: AppliedForm::Insertion, ..diagnosis }))
        }
        None => Ok(()),
    }
}

/// Whether replacing an old text by a new one, with these lengths, may add lines that are there already.
pub(super) fn may_be_insertion(old: usize, new: usize, rules: EditRules) -> bool {
    rules.if_already_applied == IfAlreadyApplied::Succeed && old > 0 && new > old
}

/// Where the new text is, if it is there with its old text at `found`.
fn find_inserted(old: &str, new: &str, found: Span, snapshot: &Snapshot) -> Option<Span> {
    // Only where a line starts, and mostly there is just one such place; a searcher would cost more than all comparisons.
    let room = &new.as_bytes()[..new.len() - old.len()];
    let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', room).map(|newline| newline + 1));
    starts.filter(|&at| new.as_bytes()[at..].starts_with(old.as_bytes())).find_map(|at| {
        let (above, below) = (new.get(..at)?, new.get(at + old.len()..)?);
        let adds_lines = (below.is_empty() || below.starts_with('\n') || old.ends_with('\n'))
            && above.lines().chain(below.lines()).any(is_distinctive);
        let (above, below) = (snapshot.needle(above), snapshot.needle(below.trim_end_matches('\n')));
        let span = Span::new(found.start().checked_sub(above.len())?, found.end() + below.len());
        (adds_lines
            && span.end() <= snapshot.text_len()
            && snapshot.text_in(Span::new(span.start(), found.start()))[..] == *above.as_bytes()
            && snapshot.text_in(Span::new(found.end(), span.end()))[..] == *below.as_bytes()
            && (above.is_empty() || is_line_start(span.start(), snapshot))
            && (below.is_empty() || is_line_end(span.end(), snapshot)))
        .then_some(span)
    })
}

fn is_line_start(at: usize, snapshot: &Snapshot) -> bool {
    at == 0 || snapshot.text_in(Span::new(at - 1, at))[..] == *b"\n"
}

fn is_line_end(at: usize, snapshot: &Snapshot) -> bool {
    at == snapshot.text_len() || matches!(snapshot.text_in(Span::new(at, at + 1))[..], [b'\n' | b'\r'])
}

/// The lines in `range`, if their keys are `keys`.
pub(super) fn lines_with_keys(keys: &[String], range: Range<usize>, now: &SearchIndex<'_>) -> Option<Lines> {
    let is_there = !keys.is_empty()
        && keys.len() == range.len()
        && range.clone().zip(keys).all(|(at, key)| now.has_key(at, key));
    is_there.then(|| {
        let (first, last) = (now.line_number(range.start), now.line_number(range.end - 1));
        Lines { start: first, count: last + 1 - first }
    })
}

/// Where the lines with these spans of an earlier version are now, if they read as if `new` had replaced the spans. The spans
/// are in order and in neighbouring lines.
pub(super) fn find_replaced(
    spans: &[Span],
    new: &str,
    version: &EarlierText,
    now: &SearchIndex<'_>,
) -> Option<Lines> {
    let (snapshot, index) = (&version.snapshot, version.index());
    let lines = lines_of_span(Span::new(spans.first()?.start(), spans.last()?.end()), snapshot);
    let last = lines.start + lines.count - 1;
    let mut positions = (lines.start..=last).filter_map(|line| index.position_of_line(line));
    let first_position = positions.next()?;
    let range = first_position..positions.next_back().unwrap_or(first_position) + 1;
    let mut text = Vec::new();
    let mut at = snapshot.line_span(lines.start).start();
    for span in spans {
        text.extend_from_slice(&snapshot.text_in(Span::new(at, span.start())));
        text.extend_from_slice(new.as_bytes());
        at = span.end();
    }
    text.extend_from_slice(&snapshot.text_in(Span::new(at, snapshot.line_span(last).end())));
    let text = String::from_utf8_lossy(&text);
    let text = canonical(&text);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let keys: Vec<String> = lines.map(|line| line_key(line).into_owned()).collect();
    // Neighbouring lines that changed as well belong to the same range.
    let range = version.map(now).range_now(range);
    let room = range.len().min(MAX_RELATED_LINES).checked_sub(keys.len())?;
    (range.start..=range.start + room).find_map(|at| lines_with_keys(&keys, at..at + keys.len(), now))
}

/// Where all occurrences of the old text in an earlier version are now, if each of them was replaced as the request says.
pub(super) fn find_replaced_everywhere(
    request: &SearchRequest,
    version: &EarlierText,
    now: &SearchIndex<'_>,
) -> Option<Vec<Lines>> {
    let (old, new) = request.as_sent_snippet()?;
    let snapshot = &version.snapshot;
    let needle = snapshot.needle(old);
    let within = Span::new(0, snapshot.text_len());
    let hits =
        search(snapshot.text(), &[Needle { text: needle.as_bytes(), within, keep: usize::MAX }]).pop()?;
    let spans: Vec<Span> = hits.starts.iter().map(|&start| Span::new(start, start + needle.len())).collect();
    if spans.is_empty() || hits.overlapping {
        return None;
    }
    let is_in_same_lines = |a: &Span, b: &Span| {
        let (a, b) = (lines_of_span(*a, snapshot), lines_of_span(*b, snapshot));
        b.start < a.start + a.count
    };
    spans.chunk_by(is_in_same_lines).map(|spans| find_replaced(spans, new, version, now)).collect()
}

/// Whether lines of an earlier version were removed, and not moved: nothing is in their place, and nothing that was added since
/// resembles them.
pub(super) fn was_removed(quoted: Range<usize>, version: &EarlierText, now: &SearchIndex<'_>) -> bool {
    let (index, map) = (version.index(), version.map(now));
    if quoted.len() > MAX_RELATED_LINES
        || !map.range_now(quoted.clone()).is_empty()
        || map.added().nth(MAX_RELATED_LINES).is_some()
    {
        return false;
    }
    let resembles = |one: usize, other: usize| {
        let (one, other) = (index.text(one), now.text(other));
        is_distinctive(&one) && line_similarity(&line_key(&one), &line_key(&other)) >= MIN_RELATED
    };
    !quoted.clone().any(|one| map.added().any(|other| resembles(one, other)))
}

/// The lines of a range that has the new text instead of the expected one.
///
/// If the new text is shorter than the expected one, the lines below may be the rest of the expected text, so this proves
/// nothing.
pub(super) fn find_replaced_lines(
    lines: LineRange,
    expected: &str,
    new: &str,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Option<Lines> {
    let (expected, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), new.lines().collect());
    let is_there =
        |(line, text): (usize, &&str)| canonical(&snapshot.line(line)).trim_end_matches('\n') == *text;
    let is_replaced = rules.if_already_applied == IfAlreadyApplied::Succeed
        && new.len() >= expected.len()
        && lines.first + new.len() - 1 <= snapshot.line_count()
        && new.iter().any(|line| is_distinctive(line) && !expected.contains(line))
        && (lines.first..).zip(&new).all(is_there);
    is_replaced.then_some(Lines { start: lines.first, count: new.len() })
}
