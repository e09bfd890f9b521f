//! Every limit of the finder. Each bounds the work for hostile or unusual input; ordinary requests stay far below.

use std::cell::Cell;

/// Longer text is not recovered: it would need an index of all its lines.
pub(super) const MAX_INDEXED_BYTES: usize = 64 << 20;

/// How many places of an ambiguous request are listed by line, and how many are collected.
pub(super) const MAX_LISTED_MATCHES: usize = 1000;

/// How many candidates a diagnosis shows.
pub(super) const MAX_CANDIDATES: usize = 3;

/// How many unmatched requests of one call are diagnosed; each one compares the whole file. All others are still searched for.
pub(super) const MAX_DIAGNOSES: usize = 20;

/// From this many searches on, a table of all lines pays off.
pub(super) const MANY_SEARCHES: usize = 4;

/// The cost of indexing or scanning a line: it is read, folded and hashed.
pub(super) const LINE_COST: usize = 8;

/// A line with at most this many occurrences is looked up instead of scanned for.
pub(super) const MAX_RARE: usize = 1000;

/// A line that occurs more often than this does not vote for a place.
pub(super) const MAX_VOTING_OCCURRENCES: usize = 2000;

/// How many votes are counted, and how many of the places with the most votes are compared.
pub(super) const MAX_VOTES: usize = 400_000;
pub(super) const MAX_WINDOWS: usize = 24;

/// How many lines request and file may be out of step inside one place.
pub(super) const MAX_OFFSET: usize = 8;

/// How many pairs of lines are compared to fill a gap between lines that match.
pub(super) const MAX_GAP_PAIRS: usize = 64;

/// A longer gap is unlikely to be what a line of dots represents.
pub(super) const MAX_ELIDED_LINES: usize = 2000;

/// The widest level of indentation that is recognised, and how many lines are looked at.
pub(super) const MAX_UNIT: usize = 4;
pub(super) const MAX_UNIT_LINES: usize = 5000;

/// How many blocks one scope can match.
pub(super) const MAX_BLOCKS: usize = 1000;

/// How many places are compared for similarity.
pub(super) const MAX_SIMILAR_PLACES: usize = 20_000;

/// How much of a file is compared word by word for a diagnosis.
pub(super) const MAX_WORD_BYTES: usize = 4 << 20;

/// The budget of one file. Requests that repeat the same line, in a file that does too, would otherwise take hours.
pub(super) const MAX_COST: usize = 1 << 25;

/// What may still be spent on one file.
#[derive(Debug)]
pub(super) struct Budget(Cell<usize>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(MAX_COST))
    }
}

impl Budget {
    pub(super) fn spend(&self, cost: usize) {
        self.0.set(self.0.get().saturating_sub(cost));
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}
