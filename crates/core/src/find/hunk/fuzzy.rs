//! Lines like those of a hunk: what stays may differ, what goes may not.

use std::collections::BTreeSet;

use rapidfuzz::distance::lcs_seq;

use super::page::{Budget, Index, Page, Query};
use super::place::{Search, one_of};
use super::reading::Reading;
use super::{Desk, Doubt, Placed};
use crate::change::Rung;
use crate::find::error::Reason;
use crate::plan::Placing;
use slipstitch_patch::Role;

/// Similarities that differ by less are the same.
const SAME: f64 = 1e-9;

/// How many places are looked at closely.
const MAX_PLACES: usize = 20_000;
/// A line longer than this is alike only if it is equal.
const MAX_LINE_BYTES: usize = 4 << 10;
/// How many bytes of a line one unit of the budget compares.
const BYTES_PER_UNIT: usize = 16;
/// What a comparison costs however short the lines are.
const CALL: usize = 16;

impl Desk<'_> {
    /// The most similar place, if it is ahead of all others.
    pub(super) fn similar(&self, search: Search<'_>, index: &Index<'_>) -> Result<Option<Placed>, Reason> {
        let Placing::Fuzzy { per_mille } = self.placing else { return Ok(None) };
        let threshold = f64::from(per_mille) / 1000.0;
        let mut found = Vec::new();
        for (reading, lines) in search.task.readings.iter().enumerate() {
            let query = index.query(lines);
            let majority = self.placing == Placing::Recover;
            let wanted = Wanted { reading: lines, query: &query, threshold, majority };
            let allowed = |start| self.allowed(search, reading, start);
            let places = look(wanted, &self.page, index, allowed, &self.budget);
            let Some(best) = places.first() else { continue };
            let close = |other: &&Similar| best.similarity - other.similarity <= SAME;
            let close: Vec<usize> = places.iter().take_while(close).map(|place| place.start).collect();
            let start = match close[..] {
                [start] => start,
                _ => self.by_number(&close, search.wanted, lines.old_count())?,
            };
            let (rung, similarity) = (Rung::Fuzzy, best.similarity);
            found.push(Placed { reading, start, rung, similarity, doubt: Doubt::None });
        }
        one_of(found)
    }
}

/// A place and how similar it is, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Similar {
    start: usize,
    similarity: f64,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
struct Wanted<'a> {
    reading: &'a Reading<'a>,
    query: &'a Query,
    /// The least similarity.
    threshold: f64,
    /// Whether most lines must be the same, white space aside: alike is not enough for all of them.
    majority: bool,
}

/// The places that are similar enough, best first.
fn look(
    wanted: Wanted<'_>,
    page: &Page<'_>,
    index: &Index<'_>,
    allowed: impl Fn(usize) -> bool,
    budget: &Budget,
) -> Vec<Similar> {
    let starts = starts(wanted, page, index, budget);
    let mut found: Vec<Similar> = Vec::new();
    for start in starts {
        if budget.is_spent() {
            break;
        }
        if !allowed(start)
            || !gone_lines_stand(wanted, index, start)
            || (wanted.majority && !most_lines_stand(wanted, index, start))
        {
            continue;
        }
        let similarity = similarity(wanted.reading, page, start, budget);
        if similarity >= wanted.threshold {
            found.push(Similar { start, similarity });
        }
    }
    found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.start.cmp(&b.start)));
    found
}

/// Where the hunk may start: wherever a line that goes stands, or else any line that says something, or
/// else anywhere.
fn starts(wanted: Wanted<'_>, page: &Page<'_>, index: &Index<'_>, budget: &Budget) -> BTreeSet<usize> {
    let count = wanted.reading.old_count();
    let last = match page.count().checked_sub(count) {
        Some(last) => last,
        None => return BTreeSet::new(),
    };
    let places = |position: usize| index.places(wanted.query, position).len();
    let mut positions: Vec<usize> = Vec::new();
    let old: Vec<_> = wanted.reading.old().collect();
    let filled = |role: Role| {
        (0..old.len()).filter(move |&at| old[at].role == role && !old[at].text.trim().is_empty())
    };
    if let Some(rarest) = filled.clone()(Role::Removed).min_by_key(|&at| places(at)) {
        positions.push(rarest);
    } else {
        positions.extend(filled(Role::Context));
    }
    let mut starts = BTreeSet::new();
    for &position in &positions {
        let hits = index.places(wanted.query, position).iter();
        let found = hits.filter_map(|&at| (at as usize).checked_sub(position)).filter(|&at| at <= last);
        starts.extend(found.take(MAX_PLACES));
        budget.spend(places(position) / 8);
    }
    if starts.is_empty() && wanted.reading.old().all(|line| line.role == Role::Context) {
        starts.extend((0..=last).take(MAX_PLACES));
    }
    starts
}

/// Whether every line that goes is there, white space at its ends aside.
fn gone_lines_stand(wanted: Wanted<'_>, index: &Index<'_>, start: usize) -> bool {
    let mut old = wanted.reading.old().enumerate();
    old.all(|(position, line)| {
        line.role != Role::Removed || index.stands(wanted.query, position, start + position)
    })
}

/// Whether more than half of the lines that say something are there, white space at their ends aside.
fn most_lines_stand(wanted: Wanted<'_>, index: &Index<'_>, start: usize) -> bool {
    let (mut all, mut same) = (0, 0);
    for (position, _) in wanted.reading.old().enumerate().filter(|(_, line)| !line.text.trim().is_empty()) {
        all += 1;
        same += usize::from(index.stands(wanted.query, position, start + position));
    }
    same * 2 > all
}

/// How much of the hunk's old lines and the file's lines is the same, from 0 to 1. Both are compared
/// line by line, each line with its newline.
pub(super) fn similarity(reading: &Reading<'_>, page: &Page<'_>, start: usize, budget: &Budget) -> f64 {
    let (mut same, mut all) = (0, 0);
    for (at, line) in (start..).zip(reading.old()) {
        if at >= page.count() {
            return 0.0;
        }
        let (wanted, there) = (line.text.as_bytes(), page.line(at));
        all += wanted.len() + there.len() + 2;
        same += 2 + 2 * shared(wanted, there, budget);
    }
    if all == 0 { 0.0 } else { same as f64 / all as f64 }
}

/// The length of the longest row of bytes that both lines have in the same order.
fn shared(a: &[u8], b: &[u8], budget: &Budget) -> usize {
    if a == b {
        return a.len();
    }
    if a.len().max(b.len()) > MAX_LINE_BYTES {
        return 0;
    }
    budget.spend(CALL + (a.len() / BYTES_PER_UNIT) * (1 + b.len() / 64));
    lcs_seq::similarity(a.iter().copied(), b.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_common_row_is_counted() {
        let budget = Budget::default();
        assert_eq!(shared(b"return value", b"return  val", &budget), 10);
        assert_eq!(shared(b"abc", b"xyz", &budget), 0);
    }
}
