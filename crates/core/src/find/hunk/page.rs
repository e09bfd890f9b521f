//! A file as a table of lines, and the places of the lines that hunks ask for.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use super::reading::Reading;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// How many comparisons of places one file is worth. Hunks that repeat one line over and over, in a
/// file that does the same, would keep the search busy for hours.
const BUDGET: usize = 1 << 25;

/// The lines of a file, counted from 0.
#[derive(Debug)]
pub(super) struct Page<'a> {
    text: &'a [u8],
    starts: Vec<usize>,
    newline: &'static [u8],
}

impl<'a> Page<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let text = snapshot.text();
        let mut starts = vec![0];
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

    /// A line as people read it.
    pub(super) fn shown(&self, at: usize) -> String {
        String::from_utf8_lossy(self.line(at)).into_owned()
    }

    /// Where some lines lie in the searchable text.
    pub(super) fn span(&self, from: usize, to: usize) -> Span {
        Span::new(self.starts[from], self.starts[to])
    }

    /// Whether the last line lacks a newline.
    pub(super) fn open_end(&self) -> bool {
        self.text.last().is_some_and(|&byte| byte != b'\n')
    }
}

/// How lines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Byte by byte.
    Exact,
    /// White space at both ends aside.
    Trimmed,
    /// White space at the end aside.
    TrimmedEnd,
}

impl Likeness {
    pub(super) fn key(self, line: &[u8]) -> &[u8] {
        match self {
            Self::Exact => line,
            Self::Trimmed => line.trim_ascii(),
            Self::TrimmedEnd => line.trim_ascii_end(),
        }
    }
}

/// Where the lines that hunks ask for stand. Lines that no hunk asks for are all alike.
#[derive(Debug)]
pub(super) struct Index<'a> {
    likeness: Likeness,
    /// Each wanted line's number, from 1.
    numbers: HashMap<&'a [u8], u32>,
    /// The number of each line of the file; 0 for lines that nobody asks for.
    file: Vec<u32>,
    /// The places of each wanted line, by its number.
    places: Vec<Vec<u32>>,
}

impl<'a> Index<'a> {
    /// Looks the file over once for all the lines of all the hunks.
    pub(super) fn new<'h: 'a>(
        page: &Page<'a>,
        readings: impl Iterator<Item = &'a Reading<'h>>,
        likeness: Likeness,
    ) -> Self {
        let mut numbers: HashMap<&'a [u8], u32> = HashMap::new();
        for line in readings.flat_map(Reading::old) {
            let next = numbers.len() as u32 + 1;
            numbers.entry(likeness.key(line.text.as_bytes())).or_insert(next);
        }
        let mut places = vec![Vec::new(); numbers.len() + 1];
        let mut file = Vec::with_capacity(page.count());
        for at in 0..page.count() {
            let number = numbers.get(likeness.key(page.line(at))).copied().unwrap_or_default();
            if number > 0 {
                places[number as usize].push(at as u32);
            }
            file.push(number);
        }
        Self { likeness, numbers, file, places }
    }

    /// What a reading's old lines are called here.
    pub(super) fn query(&self, reading: &Reading<'_>) -> Query {
        let number = |text: &str| self.numbers.get(self.likeness.key(text.as_bytes())).copied();
        let numbers: Vec<u32> = reading.old().map(|line| number(line.text).unwrap_or_default()).collect();
        let rarity = |at: &usize| self.places[numbers[*at] as usize].len();
        let rarest = (0..numbers.len()).min_by_key(rarity).unwrap_or_default();
        Query { numbers, rarest }
    }

    /// The places of a line of a query, by its position in it.
    pub(super) fn places(&self, query: &Query, position: usize) -> &[u32] {
        &self.places[query.numbers[position] as usize]
    }

    /// Whether one line of a query stands at a line of the file.
    pub(super) fn stands(&self, query: &Query, position: usize, at: usize) -> bool {
        self.file.get(at) == Some(&query.numbers[position])
    }

    /// Whether all lines of a query stand from a line of the file on.
    pub(super) fn fits(&self, query: &Query, start: usize, budget: &Budget) -> bool {
        budget.spend(1 + query.numbers.len() / 64);
        let end = start.saturating_add(query.numbers.len());
        self.file.get(start..end).is_some_and(|lines| lines == query.numbers)
    }

    /// Every place among some lines where a query fits, front to back.
    pub(super) fn within<'q>(
        &'q self,
        query: &'q Query,
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
            .filter(|&start| self.fits(query, start, budget))
    }

    /// The place where a query fits and that `allowed` agrees to, nearest to `wanted`.
    pub(super) fn nearest(
        &self,
        query: &Query,
        wanted: usize,
        allowed: impl Fn(usize) -> bool,
        budget: &Budget,
    ) -> Nearest {
        let places = self.places(query, query.rarest);
        let anchor = wanted.saturating_add(query.rarest);
        let mut after = places.partition_point(|&at| (at as usize) < anchor);
        let mut before = after;
        let good = |at: u32| {
            let start = (at as usize).checked_sub(query.rarest)?;
            (self.fits(query, start, budget) && allowed(start)).then_some(start)
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
                && first.abs_diff(wanted) < distance
            {
                break;
            }
            match (found, good(at)) {
                (Some(first), Some(second)) => return Nearest::Tie(first.min(second), first.max(second)),
                (None, Some(start)) => found = Some(start),
                _ => {}
            }
        }
        found.map_or(Nearest::Nowhere, Nearest::At)
    }
}

/// The place that is nearest to another.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Nearest {
    Nowhere,
    At(usize),
    /// Two are equally near.
    Tie(usize, usize),
}

/// The old lines of a hunk as an index knows them.
#[derive(Debug)]
pub(super) struct Query {
    numbers: Vec<u32>,
    /// The position of the line that stands in the fewest places.
    rarest: usize,
}

/// What is left to be spent on one file.
#[derive(Debug)]
pub(super) struct Budget(Cell<usize>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(BUDGET))
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
