//! Evidence: a request that quotes an earlier version of the file is found in that version, and its place is carried over to
//! the current text.
//!
//! A quotation that is not in the file is best explained by a version in which it was exact. If the caller has probably seen
//! such a version, the place is known even if the lines around it were rewritten, and a removed block is known to be gone
//! even if a twin resembles it. So a request that an earlier version explains is never placed by similarity. A version that the
//! request fits no better than the current text explains nothing ([`fits_as_well_now`]).

mod carried;

use std::ops::Range;

use carried::{CarriedLine, CarriedLines};

use super::alignment::Alignment;
use super::file_text::{EarlierText, FileText};
use super::limits::{MAX_DECIDING_LINES, MAX_RELATED_LINES, MIN_RELATED};
use super::merge::MergePolicy;
use super::punctuation::line_key;
use super::recovery::{RecoveredPlace, Recovery, StaleQuote, lines_of_span, merge_into};
use super::request::{PlaceHint, Reading, SearchRequest};
use super::script::{Role, Script};
use super::search_index::SearchIndex;
use super::similarity::line_similarity;
use super::still_there::StillThere;
use super::{applied, block, inside};
use crate::change::{DifferenceKind, Lines};
use slipstitch_text::Span;

/// Looks for a request in earlier versions of the file; `None` if no version explains it. `here` is its only place in the
/// current text, apart from whitespace.
pub(super) fn find(
    request: &SearchRequest,
    here: Option<&Alignment>,
    file: &FileText<'_>,
    now: &SearchIndex<'_>,
) -> Option<Recovery> {
    for version in file.earlier() {
        if !file.spend_on_lines(version.index().len() / 8) {
            return Some(Recovery::TooCostly);
        }
        if request.is_everywhere
            && let Some(places) = applied::find_replaced_everywhere(request, version, now)
        {
            return Some(Recovery::AlreadyApplied(places));
        }
        match find_in_version(request, version) {
            Quotation::Absent => {}
            // Older versions are less likely to have been seen, so they cannot decide.
            Quotation::Several => return None,
            Quotation::At(reading, place)
                if here.is_some_and(|here| {
                    std::ptr::eq(&reading.script, request.as_sent())
                        && fits_as_well_now(&reading.script, here, &place, version, now)
                }) =>
            {
                return None;
            }
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
    let fits = |place: &RecoveredPlace| {
        let Lines { start, count } = place.lines;
        let last = start + count.max(1) - 1;
        let lines =
            |span: Span| now.snapshot.line_of(span.start())..=now.snapshot.line_of(span.end().max(1) - 1);
        let is_inside =
            hint.within.map(lines).is_none_or(|lines| lines.contains(&start) && lines.contains(&last));
        is_inside && hint.last.is_none_or(|line| line == last)
    };
    match recovery {
        Recovery::Found(place) if !fits(&place) => Recovery::NotFound,
        Recovery::Stale(mut stale) => {
            stale.offer = stale.offer.filter(|place| fits(place));
            Recovery::Stale(stale)
        }
        recovery => recovery,
    }
}

/// Whether a request that differs from a version fits the current text better, or as well and certainly means its place there:
/// what is left of the quoted lines is there and the rest is gone, or a line that decides about the place occurs once in both texts.
///
/// An example: a block was cut and pasted elsewhere, and the request quotes it without its indentation. It was never exact,
/// so it may as well quote the block where it is now. If it was exact where the block used to be, it quotes that one.
fn fits_as_well_now(
    script: &Script,
    here: &Alignment,
    place: &QuotedPlace,
    version: &EarlierText,
    now: &SearchIndex<'_>,
) -> bool {
    let difference_now = FormDifference::of(script, here, now);
    if place.difference.worst.is_none() || difference_now > place.difference {
        return false;
    }
    let carried = CarriedLines::new(script, place, version, now);
    let is_here = |line: &CarriedLine<'_>| {
        line.now.is_some_and(|at| here.line(line.number) == Some(now.line_number(at)))
    };
    let is_gone = |line: &CarriedLine<'_>| line.now.is_none();
    let has_come_here =
        carried.lines.iter().any(is_gone) && carried.lines.iter().all(|line| is_gone(line) || is_here(line));
    // Wherever a diff puts such a line, the request can only mean this one.
    let is_only_one = |line: &CarriedLine<'_>| {
        let hash = carried.earlier.squashed(line.earlier);
        carried.earlier.occurs_once(hash) && now.occurs_once(hash)
    };
    difference_now < place.difference
        || has_come_here
        || carried.deciding_lines().take(MAX_DECIDING_LINES).any(is_only_one)
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
                [one] => return Quotation::At(reading, QuotedPlace::of(&reading.script, one, &index)),
                several => {
                    let place = |one: &Alignment| QuotedPlace::of(&reading.script, one, &index);
                    let mut exact = several
                        .iter()
                        .map(place)
                        .filter(|place| place.difference == FormDifference::default());
                    return match (exact.next(), exact.next()) {
                        (Some(only), None) => Quotation::At(reading, only),
                        _ => Quotation::Several,
                    };
                }
            }
        }
        if let Some(at) = inside::find_only_verbatim(reading, &version.snapshot)
            && let Some(place) = QuotedPlace::part_of_lines(at, version)
        {
            return Quotation::At(reading, place);
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
    /// The quoted text, if it is only part of a line.
    inside: Option<Span>,
    difference: FormDifference,
}

/// How far a request is from a text; the least is no difference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct FormDifference {
    worst: Option<DifferenceKind>,
    /// Whether more than a common prefix of all lines differs.
    is_uneven: bool,
}

impl FormDifference {
    fn of(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> Self {
        let differences = alignment.differences(script, index);
        let worst = differences.iter().map(|difference| difference.class).max();
        Self { worst, is_uneven: !alignment.has_shifted_indentation(script, index) }
    }
}

impl QuotedPlace {
    fn of(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> Self {
        let pairs: Vec<(usize, usize)> = (0..alignment.rows.len())
            .filter_map(|row| Some((row, index.position_of_line(alignment.line(row)?)?)))
            .collect();
        let positions = || pairs.iter().map(|(_, at)| *at);
        let range = positions().min().unwrap_or(0)..positions().max().map_or(0, |last| last + 1);
        Self { pairs, range, inside: None, difference: FormDifference::of(script, alignment, index) }
    }

    fn part_of_lines(at: Span, version: &EarlierText) -> Option<Self> {
        let (lines, index) = (lines_of_span(at, &version.snapshot), version.index());
        let positions =
            (lines.start..lines.start + lines.count).filter_map(|line| index.position_of_line(line));
        let found: Vec<usize> = positions.collect();
        let range = *found.first()?..*found.last()? + 1;
        Some(Self { pairs: Vec::new(), range, inside: Some(at), difference: FormDifference::default() })
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
    if let Some(places) = find_applied(reading, place, version, now) {
        return Some(Recovery::AlreadyApplied(places));
    }
    let carried = CarriedLines::new(&reading.script, place, version, now);
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
        let changed = without_unchanged_ends(&range, place, version, now);
        let lines_now = match changed.is_empty() {
            true => point..point,
            false => now.line_number(changed.start)..now.line_number(changed.end - 1) + 1,
        };
        Recovery::Stale(StaleQuote {
            lines_now,
            now: lines.filter(|_| is_related(&range, place, version, now)),
            still_there: find_unchanged(&range, place, version, now)
                .map(|at| StillThere { at, equal_lines: carried.equal_lines() }),
            is_left: carried.is_left(),
            is_worth_reading: carried.is_worth_reading(),
            offer: carried.offered_pairs().and_then(|pairs| {
                let alignment = Alignment::new(&reading.script, &pairs, now);
                match merge_into(reading, &alignment, now, MergePolicy::Careful) {
                    Recovery::Found(place) => Some(Box::new(place)),
                    _ => None,
                }
            }),
            source: version.source.clone(),
            version: version.snapshot.bytes().into(),
        })
    };
    // If nothing was changed or removed, the current text decides. With the file's whitespace, the quotation would be exact.
    let is_current = carried.are_unchanged();
    let Some(pairs) = carried.pairs() else {
        return (!(is_current && carried.has_unique_deciding_line())).then(stale);
    };
    let alignment = Alignment::new(&reading.script, &pairs, now);
    let is_unchanged = pairs.len() == reading.script.anchors().count() && are_consecutive(&pairs);
    Some(match merge_into(reading, &alignment, now, MergePolicy::Careful) {
        Recovery::Found(mut found) => {
            // If every quoted line is still there, the version only confirms the place.
            if !is_unchanged {
                found.classes.push(DifferenceKind::EarlierVersion);
            }
            Recovery::Found(found)
        }
        Recovery::Unmergeable(..) if is_current => return None,
        // If nothing has changed there, the earlier version does not explain the mismatch.
        Recovery::Unmergeable(..) if !is_unchanged => stale(),
        recovery => recovery,
    })
}

/// The lines of the request's new text, if they replaced the quoted text; no lines if the quoted lines were to be removed and
/// are gone.
fn find_applied(
    reading: &Reading,
    place: &QuotedPlace,
    version: &EarlierText,
    now: &SearchIndex<'_>,
) -> Option<Vec<Lines>> {
    if let Some(at) = place.inside {
        let (_, new) = reading.snippet.as_ref()?;
        return applied::find_replaced(&[at], new, version, now).map(|lines| vec![lines]);
    }
    let after = reading.script.after();
    let keys: Vec<String> = after.anchors().map(|(_, row)| line_key(&row.text).into_owned()).collect();
    let changes_lines = reading.script.rows.iter().any(|row| row.role != Role::Context && !row.blank);
    match keys.is_empty() {
        true => applied::was_removed(place.range.clone(), version, now).then(Vec::new),
        false if !changes_lines => None,
        false => {
            let range = version.map(now).range_now(place.range.clone());
            applied::lines_with_keys(&keys, range, now).map(|lines| vec![lines])
        }
    }
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
            .take(MAX_RELATED_LINES)
            .any(|other| line_similarity(&key, &line_key(&now.text(other))) >= MIN_RELATED)
    };
    place.range.clone().take(MAX_RELATED_LINES).any(similar)
}

/// The positions of what a quotation has become, without the lines at either end that are as they were. If only lines were
/// removed, all of them.
fn without_unchanged_ends(
    now_range: &Range<usize>,
    place: &QuotedPlace,
    version: &EarlierText,
    now: &SearchIndex<'_>,
) -> Range<usize> {
    let (map, earlier) = (version.map(now), version.index());
    let is_at =
        |quoted: usize, at: usize| map.now(quoted) == Some(at) && earlier.text(quoted) == now.text(at);
    let (mut start, mut end) = (now_range.start, now_range.end);
    for quoted in place.range.clone() {
        if start == end || !is_at(quoted, start) {
            break;
        }
        start += 1;
    }
    for quoted in place.range.clone().rev() {
        if start == end || !is_at(quoted, end - 1) {
            break;
        }
        end -= 1;
    }
    if start == end { now_range.clone() } else { start..end }
}

/// The first current lines among those that a quotation has become that are just as it was in the version. Then nobody can say
/// that it has changed: if lines like it were added or removed, a diff pairs it with any of them.
fn find_unchanged(
    now_range: &Range<usize>,
    place: &QuotedPlace,
    version: &EarlierText,
    now: &SearchIndex<'_>,
) -> Option<Lines> {
    let (quoted, earlier) = (place.range.clone(), version.index());
    let starts = now_range.start..(now_range.end + 1).saturating_sub(quoted.len());
    let is_as_it_was = |start: &usize| {
        quoted.clone().zip(*start..).all(|(before, at)| {
            earlier.text(before) == now.text(at)
                && (before == quoted.start
                    || earlier.blank_lines_before(before) == now.blank_lines_before(at))
        })
    };
    let start = starts.take(MAX_RELATED_LINES).find(is_as_it_was).filter(|_| !quoted.is_empty())?;
    let (first, last) = (now.line_number(start), now.line_number(start + quoted.len() - 1));
    Some(Lines { start: first, count: last + 1 - first })
}
