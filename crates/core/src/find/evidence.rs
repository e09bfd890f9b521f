//! Evidence: a request that quotes an earlier version of the file is found in that version, and its place is carried over to
//! the current text.
//!
//! A quotation that is not in the file is best explained by a version in which it was exact. If the caller has probably seen
//! such a version, the place is known even if the lines around it were rewritten, and a removed block is known to be gone
//! even if a twin resembles it. So a request that an earlier version explains is never placed by similarity.

use std::ops::Range;

use super::alignment::Alignment;
use super::file_text::{EarlierText, FileText, LineMap};
use super::heading::{item_name, names_item};
use super::punctuation::line_key;
use super::recovery::{Recovery, StaleQuote, lines_of_span, merge_into};
use super::request::{PlaceHint, Reading, SearchRequest};
use super::script::{Role, Row, Script};
use super::search_index::SearchIndex;
use super::{block, inside};
use crate::change::{DifferenceKind, Lines};
use slipstitch_text::Span;

/// Looks for a request in earlier versions of the file; `None` if no version explains it.
pub(super) fn find(request: &SearchRequest, file: &FileText<'_>, now: &SearchIndex<'_>) -> Option<Recovery> {
    for version in file.earlier() {
        if !file.spend_on_lines(version.index().len() / 8) {
            return Some(Recovery::TooCostly);
        }
        match find_in_version(request, version) {
            Quotation::Absent => {}
            // Older versions are less likely to have been seen, so they cannot decide.
            Quotation::Several => return None,
            Quotation::At(reading, place) => {
                return carry_over(reading, &place, version, now)
                    .map(|recovery| check_place(recovery, &request.place, now));
            }
        }
    }
    None
}

/// Drops a place that contradicts what the request says about it.
fn check_place(recovery: Recovery, hint: &PlaceHint, now: &SearchIndex<'_>) -> Recovery {
    let Recovery::Found(found) = &recovery else { return recovery };
    let Lines { start, count } = found.lines;
    let last = start + count.max(1) - 1;
    let lines = |span: Span| now.snapshot.line_of(span.start())..=now.snapshot.line_of(span.end().max(1) - 1);
    let is_inside =
        hint.within.map(lines).is_none_or(|lines| lines.contains(&start) && lines.contains(&last));
    let ends_right = hint.last.is_none_or(|line| line == last);
    if is_inside && ends_right { recovery } else { Recovery::NotFound }
}

/// What a version says about a request.
enum Quotation<'r> {
    /// It does not contain the text.
    Absent,
    /// It contains the text several times, which does not say which of them was meant.
    Several,
    /// It contains the text once, with differences of form at most.
    At(&'r Reading, QuotedPlace),
}

fn find_in_version<'r>(request: &'r SearchRequest, version: &EarlierText) -> Quotation<'r> {
    let index = version.index();
    for reading in request.readings.iter().filter(|reading| !reading.is_blank()) {
        let searches = [block::find_places, block::find_places_ignoring_spacing];
        for places in searches.map(|search| search(&reading.script, &index)) {
            match &places[..] {
                [] => {}
                [one] => return Quotation::At(reading, QuotedPlace::of(one, &index)),
                _ => return Quotation::Several,
            }
        }
        if let Some(at) = inside::find_only_verbatim(reading, &version.snapshot) {
            let lines = lines_of_span(at, &version.snapshot);
            if let Some(place) = QuotedPlace::part_of_lines(lines, &index) {
                return Quotation::At(reading, place);
            }
        }
    }
    Quotation::Absent
}

/// Where a request is in a version.
struct QuotedPlace {
    /// The rows of the script and the positions they match; empty if the request is only part of a line.
    pairs: Vec<(usize, usize)>,
    /// The positions from the first to the last quoted line.
    range: Range<usize>,
}

impl QuotedPlace {
    fn of(alignment: &Alignment, index: &SearchIndex<'_>) -> Self {
        let pairs: Vec<(usize, usize)> = (0..alignment.rows.len())
            .filter_map(|row| Some((row, index.position_of_line(alignment.line(row)?)?)))
            .collect();
        let positions = || pairs.iter().map(|(_, at)| *at);
        let range = positions().min().unwrap_or(0)..positions().max().map_or(0, |last| last + 1);
        Self { pairs, range }
    }

    fn part_of_lines(lines: Lines, index: &SearchIndex<'_>) -> Option<Self> {
        let positions =
            (lines.start..lines.start + lines.count).filter_map(|line| index.position_of_line(line));
        let found: Vec<usize> = positions.collect();
        let range = *found.first()?..*found.last()? + 1;
        Some(Self { pairs: Vec::new(), range })
    }
}

/// Carries a place over to the current text; `None` if the version adds nothing to what the text says.
fn carry_over(
    reading: &Reading,
    place: &QuotedPlace,
    version: &EarlierText,
    now: &SearchIndex<'_>,
) -> Option<Recovery> {
    let map = version.map(now);
    if place.pairs.is_empty() && place.range.clone().all(|at| map.now(at).is_some()) {
        return None;
    }
    if let Some(lines) = find_applied(reading, map.range_now(place.range.clone()), now) {
        return Some(Recovery::AlreadyApplied(lines));
    }
    let stale = || {
        let range = map.range_now(place.range.clone());
        let lines = (!range.is_empty()).then(|| {
            let (first, last) = (now.line_number(range.start), now.line_number(range.end - 1));
            Lines { start: first, count: last + 1 - first }
        });
        let point = if range.start < now.len() {
            now.line_number(range.start)
        } else {
            now.snapshot.line_count() + 1
        };
        Recovery::Stale(StaleQuote {
            lines_now: lines.map_or(point..point, |lines| lines.start..lines.start + lines.count),
            now: lines.filter(|_| is_related(&range, place, version, now)),
            source: version.source.clone(),
            version: version.snapshot.bytes().into(),
        })
    };
    let Some(pairs) = carry_pairs(&reading.script, place, map, now) else { return Some(stale()) };
    let alignment = Alignment::new(&reading.script, &pairs, now);
    Some(match merge_into(reading, &alignment, now) {
        Recovery::Found(mut found) => {
            // If every quoted line is still there, the version only confirms the place.
            if pairs.len() < reading.script.anchors().count() || !are_consecutive(&pairs) {
                found.classes.push(DifferenceKind::EarlierVersion);
            }
            Recovery::Found(found)
        }
        Recovery::Unmergeable(..) => stale(),
        recovery => recovery,
    })
}

/// The lines of the request's new text, if they are what replaced the quoted lines.
fn find_applied(reading: &Reading, range: Range<usize>, now: &SearchIndex<'_>) -> Option<Lines> {
    let after = reading.script.after();
    let keys: Vec<_> = after.anchors().map(|(_, row)| line_key(&row.text).into_owned()).collect();
    let is_applied = !keys.is_empty()
        && reading.script.rows.iter().any(|row| row.role != Role::Context && !row.blank)
        && keys.len() == range.len()
        && range.clone().zip(&keys).all(|(at, key)| now.has_key(at, key));
    is_applied.then(|| {
        let (first, last) = (now.line_number(range.start), now.line_number(range.end - 1));
        Lines { start: first, count: last + 1 - first }
    })
}

fn are_consecutive(pairs: &[(usize, usize)]) -> bool {
    pairs.windows(2).all(|two| two[1].1 == two[0].1 + 1)
}

/// Whether the lines that replaced a quoted text still have something in common with it. If not, it is gone.
fn is_related(
    now_range: &Range<usize>,
    place: &QuotedPlace,
    version: &EarlierText,
    now: &SearchIndex<'_>,
) -> bool {
    let index = version.index();
    let similar = |at: usize| {
        let text = index.text(at);
        let key = line_key(&text);
        now_range
            .clone()
            .take(200)
            .any(|other| super::similarity::line_similarity(&key, &line_key(&now.text(other))) >= MIN_RELATED)
    };
    place.range.clone().take(200).any(similar)
}

/// Whether a line that names a block was only changed around its name.
fn is_still_named(row: &Row, position: Option<usize>, map: &LineMap, now: &SearchIndex<'_>) -> bool {
    let (Some(name), Some(at)) = (item_name(&row.text), position) else { return false };
    map.range_now(at..at + 1).any(|at| item_name(&now.text(at)) == Some(name))
}

/// How many letters and digits of a line count.
const MAX_LINE_WEIGHT: usize = 40;

/// How similar a current line must be to a quoted one to count as its successor.
const MIN_RELATED: f64 = 0.45;

/// The current positions of a script's rows; `None` if what the script changes has changed.
///
/// Every removed line must be there, with nothing new between two that follow each other. Lines are added between quoted lines
/// that are both still there, with nothing new between them. A quoted line that names a block must be there too.
fn carry_pairs(
    script: &Script,
    place: &QuotedPlace,
    map: &LineMap,
    now: &SearchIndex<'_>,
) -> Option<Vec<(usize, usize)>> {
    let carried: Vec<(usize, Option<usize>)> =
        place.pairs.iter().map(|&(row, at)| (row, map.now(at))).collect();
    let anchors: Vec<&(usize, Option<usize>)> =
        carried.iter().filter(|(row, _)| !script.rows[*row].blank).collect();
    let removed = |(row, _): &(usize, Option<usize>)| script.rows[*row].role == Role::Removed;
    let position = |row: usize| place.pairs.iter().find(|(other, _)| *other == row).map(|(_, at)| *at);
    let is_changed = |(number, at): &(usize, Option<usize>)| {
        let row = &script.rows[*number];
        match (row.role, at) {
            // A diff does not see whitespace, but inside a line that is replaced it matters.
            (Role::Removed, Some(at)) => !now.has_key(*at, &line_key(&row.text)),
            (Role::Removed, None) => true,
            // What names a block decides which block it is, however much of its body is left.
            (_, None) if names_item(&row.text) => !is_still_named(row, position(*number), map, now),
            (_, None) => false,
            (_, Some(_)) => false,
        }
    };
    if anchors.is_empty() || anchors.iter().any(|anchor| is_changed(anchor)) {
        return None;
    }
    // A diff may pair a line such as a lone brace with any equal line, so most of the text must be left.
    let weight = |anchor: &&&(usize, Option<usize>)| {
        let letters = script.rows[anchor.0].text.chars().filter(|c| c.is_alphanumeric()).count();
        letters.min(MAX_LINE_WEIGHT)
    };
    let all: usize = anchors.iter().map(|anchor| weight(&anchor)).sum();
    let kept: usize = anchors.iter().filter(|anchor| anchor.1.is_some()).map(|anchor| weight(&anchor)).sum();
    if kept * 5 < all * 3 {
        return None;
    }
    let is_torn = |two: &[&(usize, Option<usize>)]| {
        removed(two[0]) && removed(two[1]) && two[1].1 != two[0].1.map(|at| at + 1)
    };
    if anchors.windows(2).any(is_torn) {
        return None;
    }
    let is_placed = |number: usize| {
        let next = anchors.partition_point(|(row, _)| *row < number);
        let before = next.checked_sub(1).map(|n| anchors[n]);
        let after = anchors.get(next).copied();
        if before.is_some_and(removed) || after.is_some_and(removed) {
            return true;
        }
        match (before.map(|anchor| anchor.1), after.map(|anchor| anchor.1)) {
            (Some(Some(before)), Some(Some(after))) => after == before + 1,
            (Some(Some(_)), None) | (None, Some(Some(_))) => true,
            _ => false,
        }
    };
    let additions = || script.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Added);
    if !additions().all(|(number, _)| is_placed(number)) {
        return None;
    }
    let pairs: Vec<(usize, usize)> = anchors.iter().filter_map(|(row, now)| Some((*row, (*now)?))).collect();
    (!pairs.is_empty()).then_some(pairs)
}
