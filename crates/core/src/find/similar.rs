//! Similar lines: context lines may differ if the request as a whole is similar enough. Removed lines may differ in form
//! only, whatever the similarity of the whole: see decision 41.
//!
//! The measure is part of the contract of the tools that ask for a threshold: the ratio of Python's `SequenceMatcher`, of
//! the old lines to the lines of the file, each joined by newlines.

use std::collections::BTreeSet;

use super::alignment::Alignment;
use super::limits::{Budget, MAX_SIMILAR_PLACES, MIN_SIMILAR_FACTOR, MIN_SIMILAR_MARGIN};
use super::punctuation::line_key;
use super::script::{Role, Script};
use super::search_index::{SearchIndex, squashed_hash};
use super::sequence_matcher::SequenceMatcher;
use super::spacing::is_same_code;
use crate::plan::Similarity;

/// The most similar place, and others that reach the threshold and are not clearly less similar. `None` if the budget is
/// spent.
pub(super) fn find_places(
    script: &Script,
    threshold: Similarity,
    index: &SearchIndex<'_>,
    budget: &Budget,
) -> Option<Vec<Alignment>> {
    let matcher = SequenceMatcher::new(&script.text(Role::is_old));
    // A number read from JSON may be off in its last bit. Two ratios of texts differ by far more.
    let threshold = threshold.value() - f64::EPSILON;
    let mut lowest = threshold;
    let mut found: Vec<(f64, Alignment)> = Vec::new();
    // The most promising places first, so that most others need no comparison.
    let mut candidates: Vec<(f64, Alignment, String)> = candidate_places(script, index)
        .into_iter()
        .map(|place| {
            let text = file_text(&place, index);
            budget.spend(text.len());
            (matcher.upper_bound(&text), place, text)
        })
        .filter(|(bound, ..)| *bound >= threshold)
        .collect();
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (bound, place, text) in candidates {
        if bound < lowest {
            break;
        }
        let ratio = matcher.ratio(&text, budget)?;
        if ratio >= lowest {
            lowest = lowest.max(lowest_rival(ratio));
            found.push((ratio, place));
        }
    }
    found.retain(|(ratio, _)| *ratio >= lowest);
    leave_out_shifted(&mut found, script, index);
    let mut places: Vec<Alignment> = found.into_iter().map(|(_, place)| place).collect();
    places.sort_by_key(|place| place.first);
    Some(places)
}

/// Leaves out places that are the most similar one, read some lines off: they overlap it, and at least twice as many of their lines
/// differ. The ratio cannot tell them apart, because it compares characters of the text as a whole: with one line more below and one
/// less above, nearly the same characters are left.
fn leave_out_shifted(found: &mut Vec<(f64, Alignment)>, script: &Script, index: &SearchIndex<'_>) {
    let Some((_, best)) = found.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    let (first, last) = (best.first, best.last);
    let differing = count_differing_lines(best, script, index);
    found.retain(|(_, place)| {
        let overlaps = place.first <= last && first <= place.last;
        let others = count_differing_lines(place, script, index);
        !overlaps || others <= differing || (others as f64) < MIN_SIMILAR_FACTOR * differing as f64
    });
}

/// How many lines of the request a place does not have where the request has them.
fn count_differing_lines(place: &Alignment, script: &Script, index: &SearchIndex<'_>) -> usize {
    let is_same = |line: usize, text: &str| is_same_code(text, &index.snapshot.line(line));
    script
        .anchors()
        .filter(|(row, text)| place.line(*row).is_none_or(|line| !is_same(line, &text.text)))
        .count()
}

/// The ratio from which on another place leaves one with this ratio in doubt.
fn lowest_rival(ratio: f64) -> f64 {
    (1.0 - MIN_SIMILAR_FACTOR * (1.0 - ratio)).min(ratio - MIN_SIMILAR_MARGIN)
}

/// The similarity of the old lines to the file's in percent. Never 100: they are not identical. `None` if the budget is spent.
pub(super) fn percent(
    script: &Script,
    alignment: &Alignment,
    index: &SearchIndex<'_>,
    budget: &Budget,
) -> Option<u8> {
    let matcher = SequenceMatcher::new(&script.text(Role::is_old));
    let ratio = matcher.ratio(&file_text(alignment, index), budget)?;
    Some(((ratio * 100.0).round() as u8).min(99))
}

/// The lines of the file that a place covers.
fn file_text(place: &Alignment, index: &SearchIndex<'_>) -> String {
    let lines: Vec<_> = (place.first..=place.last).map(|line| index.snapshot.line(line)).collect();
    lines.join("\n")
}

/// The places where every removed line matches in all but form.
fn candidate_places(script: &Script, index: &SearchIndex<'_>) -> Vec<Alignment> {
    let anchors: Vec<(usize, Role, &str)> =
        script.anchors().map(|(row, text)| (row, text.role, text.text.as_str())).collect();
    let mut out = Vec::new();
    for start in candidate_starts(&anchors, index) {
        let removed_match = (start..)
            .zip(&anchors)
            .all(|(at, (_, role, text))| *role != Role::Removed || is_same_code(text, &index.text(at)));
        if removed_match {
            let pairs: Vec<(usize, usize)> =
                anchors.iter().enumerate().map(|(n, (row, ..))| (*row, start + n)).collect();
            out.push(Alignment::new(script, &pairs, index));
        }
    }
    out
}

/// Where the request may start: wherever its rarest removed line occurs; without removed lines anywhere, or in a long file
/// wherever a context line occurs.
fn candidate_starts(anchors: &[(usize, Role, &str)], index: &SearchIndex<'_>) -> BTreeSet<usize> {
    let Some(last) = index.len().checked_sub(anchors.len()) else { return BTreeSet::new() };
    let places = |text: &str| -> Vec<usize> {
        let hash = squashed_hash(&line_key(text));
        match index.occurrences(hash) {
            Some(known) => known.take(MAX_SIMILAR_PLACES).collect(),
            None => {
                (0..index.len()).filter(|&at| index.squashed(at) == hash).take(MAX_SIMILAR_PLACES).collect()
            }
        }
    };
    let of_role = |role: Role| {
        let of_role = anchors.iter().enumerate().filter(move |(_, (_, other, _))| *other == role);
        of_role.map(|(n, (_, _, text))| (n, places(text)))
    };
    let voters: Vec<(usize, Vec<usize>)> = match of_role(Role::Removed).min_by_key(|(_, at)| at.len()) {
        Some(rarest) => vec![rarest],
        None if last < MAX_SIMILAR_PLACES => return (0..=last).collect(),
        None => of_role(Role::Context).collect(),
    };
    voters
        .iter()
        .flat_map(|(n, places)| places.iter().filter_map(|at| at.checked_sub(*n)))
        .filter(|&start| start <= last)
        .take(MAX_SIMILAR_PLACES)
        .collect()
}
