//! A file as a table of lines, and where the lines of its hunks occur.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::variant::{Line, Variant};
use crate::find::limits::Budget;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// The lines of a file, counted from 0.
#[derive(Debug)]
pub(super) struct LineTable<'a> {
    text: &'a [u8],
    starts: Vec<usize>,
    newline: &'static [u8],
}

impl<'a> LineTable<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let text = snapshot.text();
        let newlines = snapshot.newlines();
        let mut starts = Vec::with_capacity(newlines.lf + newlines.crlf + newlines.cr + 2);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        let newline: &[u8] = if snapshot.needle("\n").len() > 1 { b"\r\n" } else { b"\n" };
        Self { text, starts, newline }
    }

    /// How many lines there are.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// A line without its newline.
    pub(super) fn line(&self, at: usize) -> &'a [u8] {
        let line = &self.text[self.starts[at]..self.starts[at + 1]];
        line.strip_suffix(self.newline).unwrap_or(line)
    }

    /// Whether the old lines of a hunk are in the file from line `start` on.
    pub(super) fn has_lines_at(&self, variant: &Variant<'_>, start: usize, budget: &Budget) -> bool {
        budget.spend(1 + variant.lines.len() / 64);
        let is_at =
            |(at, line): (usize, &Line<'_>)| at < self.count() && self.line(at) == line.text.as_bytes();
        (start..).zip(variant.old()).all(is_at)
    }

    /// The span of the lines from `from` up to, not including, `to`, in the searchable text.
    pub(super) fn span(&self, from: usize, to: usize) -> Span {
        Span::new(self.starts[from], self.starts[to])
    }

    /// Whether the last line lacks a newline.
    pub(super) fn lacks_final_newline(&self) -> bool {
        self.text.last().is_some_and(|&byte| byte != b'\n')
    }
}

/// Where the old lines of the hunks occur. Each distinct line has a number; all other lines of the file have 0.
#[derive(Debug)]
pub(super) struct OccurrenceIndex<'a> {
    /// The number of each old line, from 1.
    numbers: HashMap<&'a [u8], u32, RandomState>,
    /// The number of each line of the file.
    file: Vec<u32>,
    /// The positions of each old line, by its number.
    places: Vec<Vec<u32>>,
}

impl<'a> OccurrenceIndex<'a> {
    /// Indexes the file once for the lines of all hunks.
    pub(super) fn new<'h: 'a>(
        table: &LineTable<'a>,
        variants: impl Iterator<Item = &'a Variant<'h>>,
    ) -> Self {
        let mut numbers: HashMap<&'a [u8], u32, RandomState> = HashMap::default();
        for line in variants.flat_map(Variant::old) {
            let next = numbers.len() as u32 + 1;
            numbers.entry(line.text.as_bytes()).or_insert(next);
        }
        let mut places = vec![Vec::new(); numbers.len() + 1];
        let mut file = Vec::with_capacity(table.count());
        for at in 0..table.count() {
            let number = numbers.get(table.line(at)).copied().unwrap_or_default();
            if number > 0 {
                places[number as usize].push(at as u32);
            }
            file.push(number);
        }
        Self { numbers, file, places }
    }

    /// The numbers of a variant's old lines.
    pub(super) fn query(&self, variant: &Variant<'_>) -> LineQuery {
        let number = |text: &str| self.numbers.get(text.as_bytes()).copied();
        let numbers: Vec<u32> = variant.old().map(|line| number(line.text).unwrap_or_default()).collect();
        let rarity = |at: &usize| self.places[numbers[*at] as usize].len();
        let rarest = (0..numbers.len()).min_by_key(rarity).unwrap_or_default();
        LineQuery { numbers, rarest }
    }

    /// Where the line at `position` of a query occurs.
    pub(super) fn places(&self, query: &LineQuery, position: usize) -> &[u32] {
        &self.places[query.numbers[position] as usize]
    }

    /// Whether all lines of a query match from line `start` of the file on.
    pub(super) fn matches_at(&self, query: &LineQuery, start: usize, budget: &Budget) -> bool {
        budget.spend(1 + query.numbers.len() / 64);
        let end = start.saturating_add(query.numbers.len());
        self.file.get(start..end).is_some_and(|lines| lines == query.numbers)
    }

    /// Every position inside `lines` where a query matches, in order.
    pub(super) fn matches_within<'q>(
        &'q self,
        query: &'q LineQuery,
        lines: Range<usize>,
        budget: &'q Budget,
    ) -> impl Iterator<Item = usize> + 'q {
        let places = self.places(query, query.rarest);
        let first = places.partition_point(|&at| (at as usize) < lines.start.saturating_add(query.rarest));
        places[first..]
            .iter()
            .map(|&at| at as usize)
            .take_while(move |&at| at < lines.end && !budget.is_spent())
            .filter_map(|at| at.checked_sub(query.rarest))
            .filter(|&start| self.matches_at(query, start, budget))
    }

    /// The match nearest to `stated` that `is_allowed` accepts.
    pub(super) fn nearest(
        &self,
        query: &LineQuery,
        stated: usize,
        is_allowed: impl Fn(usize) -> bool,
        budget: &Budget,
    ) -> Nearest {
        let places = self.places(query, query.rarest);
        let anchor = stated.saturating_add(query.rarest);
        let mut after = places.partition_point(|&at| (at as usize) < anchor);
        let mut before = after;
        let match_at = |at: u32| {
            let start = (at as usize).checked_sub(query.rarest)?;
            (self.matches_at(query, start, budget) && is_allowed(start)).then_some(start)
        };
        let mut found: Option<usize> = None;
        while !budget.is_spent() {
            let down = before.checked_sub(1).map(|at| (anchor - places[at] as usize, places[at]));
            let up = places.get(after).map(|&at| (at as usize - anchor, at));
            let (distance, at) = match (down, up) {
                (None, None) => break,
                (Some(down), Some(up)) if down.0 <= up.0 => down,
                (Some(down), None) => down,
                (_, Some(up)) => up,
            };
            if Some((distance, at)) == down {
                before -= 1;
            } else {
                after += 1;
            }
            if let Some(first) = found
                && first.abs_diff(stated) < distance
            {
                break;
            }
            match (found, match_at(at)) {
                (Some(first), Some(second)) => return Nearest::Tie(first.min(second), first.max(second)),
                (None, Some(start)) => found = Some(start),
                _ => {}
            }
        }
        found.map_or(Nearest::None, Nearest::At)
    }
}

/// The result of [`OccurrenceIndex::nearest`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Nearest {
    None,
    At(usize),
    /// Two matches at the same distance.
    Tie(usize, usize),
}

/// The old lines of a hunk, by their numbers in an index.
#[derive(Debug)]
pub(super) struct LineQuery {
    numbers: Vec<u32>,
    /// The position of the line with the fewest occurrences.
    rarest: usize,
}
