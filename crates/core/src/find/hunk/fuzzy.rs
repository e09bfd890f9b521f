//! Similar lines: context lines may differ, removed lines may not.

use std::collections::BTreeSet;

use rapidfuzz::distance::lcs_seq;

use super::line_table::{Budget, LineQuery, LineTable, OccurrenceIndex};
use super::search::{HunkSearch, require_same_place};
use super::variant::Variant;
use super::{Caveat, HunkFinder, HunkMatch};
use crate::change::Rung;
use crate::find::error::Reason;
use crate::plan::Placing;
use slipstitch_patch::Role;

/// Similarities closer than this are equal.
const EPSILON: f64 = 1e-9;

/// How many places are compared.
const MAX_PLACES: usize = 20_000;
/// Longer lines are only similar if they are equal.
const MAX_LINE_BYTES: usize = 4 << 10;
/// How many bytes of a line one unit of the budget pays for.
const BYTES_PER_UNIT: usize = 16;
/// The minimum cost of a comparison.
const COMPARISON_COST: usize = 16;

impl HunkFinder<'_> {
    /// The most similar place, if there is no tie.
    pub(super) fn locate_similar(
        &self,
        search: HunkSearch<'_>,
        index: &OccurrenceIndex<'_>,
    ) -> Result<Option<HunkMatch>, Reason> {
        let Placing::Fuzzy { per_mille } = self.placing else { return Ok(None) };
        let threshold = f64::from(per_mille) / 1000.0;
        let mut found = Vec::new();
        for (variant, lines) in search.pending.variants.iter().enumerate() {
            let query = index.query(lines);
            let target = FuzzyTarget { variant: lines, query: &query, threshold };
            let allowed = |start| self.is_allowed(search, variant, start);
            let places = find_similar(target, &self.table, index, allowed, &self.budget);
            let Some(best) = places.first() else { continue };
            let close = |other: &&Similar| best.similarity - other.similarity <= EPSILON;
            let close: Vec<usize> = places.iter().take_while(close).map(|place| place.start).collect();
            let start = match close[..] {
                [start] => start,
                _ => self.nearest_of_equal(&close, search.stated, lines.old_count())?,
            };
            let (rung, similarity) = (Rung::Fuzzy, best.similarity);
            found.push(HunkMatch { variant, start, rung, similarity, caveat: Caveat::None });
        }
        require_same_place(found)
    }
}

/// A place and its similarity, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Similar {
    start: usize,
    similarity: f64,
}

/// A hunk to find.
#[derive(Debug, Clone, Copy)]
struct FuzzyTarget<'a> {
    variant: &'a Variant<'a>,
    query: &'a LineQuery,
    /// The minimum similarity.
    threshold: f64,
}

/// The places that are similar enough, best first.
fn find_similar(
    target: FuzzyTarget<'_>,
    table: &LineTable<'_>,
    index: &OccurrenceIndex<'_>,
    allowed: impl Fn(usize) -> bool,
    budget: &Budget,
) -> Vec<Similar> {
    let starts = candidate_starts(target, table, index, budget);
    let mut found: Vec<Similar> = Vec::new();
    for start in starts {
        if budget.is_spent() {
            break;
        }
        if !allowed(start) || !removed_lines_match(target, index, start) {
            continue;
        }
        let similarity = similarity(target.variant, table, start, budget);
        if similarity >= target.threshold {
            found.push(Similar { start, similarity });
        }
    }
    found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.start.cmp(&b.start)));
    found
}

/// Where the hunk may start: wherever its rarest removed line occurs; without removed lines, wherever a context line
/// occurs; if none does, anywhere.
fn candidate_starts(
    target: FuzzyTarget<'_>,
    table: &LineTable<'_>,
    index: &OccurrenceIndex<'_>,
    budget: &Budget,
) -> BTreeSet<usize> {
    let count = target.variant.old_count();
    let last = match table.count().checked_sub(count) {
        Some(last) => last,
        None => return BTreeSet::new(),
    };
    let places = |position: usize| index.places(target.query, position).len();
    let mut positions: Vec<usize> = Vec::new();
    let old: Vec<_> = target.variant.old().collect();
    let non_blank = |role: Role| {
        (0..old.len()).filter(move |&at| old[at].role == role && !old[at].text.trim().is_empty())
    };
    if let Some(rarest) = non_blank.clone()(Role::Removed).min_by_key(|&at| places(at)) {
        positions.push(rarest);
    } else {
        positions.extend(non_blank(Role::Context));
    }
    let mut starts = BTreeSet::new();
    for &position in &positions {
        let hits = index.places(target.query, position).iter();
        let found = hits.filter_map(|&at| (at as usize).checked_sub(position)).filter(|&at| at <= last);
        starts.extend(found.take(MAX_PLACES));
        budget.spend(places(position) / 8);
    }
    if starts.is_empty() && target.variant.old().all(|line| line.role == Role::Context) {
        starts.extend((0..=last).take(MAX_PLACES));
    }
    starts
}

/// Whether every removed line matches, ignoring whitespace at both ends.
fn removed_lines_match(target: FuzzyTarget<'_>, index: &OccurrenceIndex<'_>, start: usize) -> bool {
    let mut old = target.variant.old().enumerate();
    old.all(|(position, line)| {
        line.role != Role::Removed || index.has_line_at(target.query, position, start + position)
    })
}

/// The similarity of the hunk's old lines to the file's, from 0 to 1, line by line including newlines.
pub(super) fn similarity(variant: &Variant<'_>, table: &LineTable<'_>, start: usize, budget: &Budget) -> f64 {
    let (mut same, mut all) = (0, 0);
    for (at, line) in (start..).zip(variant.old()) {
        if at >= table.count() {
            return 0.0;
        }
        let (wanted, found) = (line.text.as_bytes(), table.line(at));
        all += wanted.len() + found.len() + 2;
        same += 2 + 2 * common_length(wanted, found, budget);
    }
    if all == 0 { 0.0 } else { same as f64 / all as f64 }
}

/// The length of the longest common subsequence.
fn common_length(a: &[u8], b: &[u8], budget: &Budget) -> usize {
    if a == b {
        return a.len();
    }
    if a.len().max(b.len()) > MAX_LINE_BYTES {
        return 0;
    }
    budget.spend(COMPARISON_COST + (a.len() / BYTES_PER_UNIT) * (1 + b.len() / 64));
    lcs_seq::similarity(a.iter().copied(), b.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_longest_common_subsequence() {
        let budget = Budget::default();
        assert_eq!(common_length(b"return value", b"return  val", &budget), 10);
        assert_eq!(common_length(b"abc", b"xyz", &budget), 0);
    }
}
