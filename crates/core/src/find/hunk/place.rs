//! The search for a hunk's place: a ladder, strictest way first. A way that finds a place ends it, and so
//! does one that finds several: a looser one would only find more.

use super::page::{Index, Nearest, Query};
use super::scope::Block;
use super::{Desk, Doubt, Placed, Task};
use crate::change::Rung;
use crate::find::diagnosis;
use crate::find::error::Reason;
use crate::plan::Placing;

/// How many places of an ambiguous hunk are named.
const MAX_LINES: usize = 1000;

/// What is looked for, and where.
#[derive(Clone, Copy)]
pub(super) struct Search<'s> {
    pub(super) task: &'s Task<'s>,
    /// Where the hunk says it goes, from 0.
    pub(super) wanted: Option<usize>,
    /// The blocks that its scopes name; the whole file if it names none.
    pub(super) blocks: &'s [Block],
}

impl Desk<'_> {
    /// The one place of a hunk, or why there is none.
    pub(super) fn place(&self, task: &Task<'_>, wanted: Option<usize>) -> Result<Placed, Reason> {
        let blocks = self.scopes.blocks(&task.hunk.scopes, &self.page, &self.budget)?;
        let search = Search { task, wanted, blocks: &blocks };
        if task.readings[0].old_count() == 0 {
            return self.insertion(search);
        }
        match self.by_lines(search)? {
            Some(placed) => Ok(placed),
            None if self.budget.is_spent() => Err(Reason::TooCostly),
            None => self.below_scope(search)?.ok_or(Reason::HUNK_MISSING),
        }
    }

    /// A hunk that only adds says its place by a scope, a line number, or the end of the file.
    fn insertion(&self, search: Search<'_>) -> Result<Placed, Reason> {
        let at =
            |start| Placed { reading: 0, start, rung: Rung::Stated, similarity: 1.0, doubt: Doubt::None };
        let (hunk, count) = (search.task.hunk, self.page.count());
        match (search.blocks, search.wanted) {
            ([block], _) if !hunk.scopes.is_empty() => Ok(at(block.end)),
            (blocks, _) if !hunk.scopes.is_empty() => {
                Err(ambiguous(blocks.iter().map(|block| block.lines.start), blocks.len()))
            }
            _ if hunk.at_end => Ok(at(count)),
            (_, Some(line)) if line <= count => Ok(at(line)),
            (_, Some(line)) => Err(Reason::OutOfRange { first: line, last: line, count }),
            (_, None) if count == 0 => Ok(at(0)),
            (_, None) => Err(Reason::NoPlace),
        }
    }

    /// The ladder. Looser ways go to its end; the order is behaviour.
    fn by_lines(&self, search: Search<'_>) -> Result<Option<Placed>, Reason> {
        if let Some(found) = self.exactly(search)? {
            return Ok(Some(found));
        }
        // Recovery has a ladder of its own.
        if self.placing == Placing::Recover {
            return Ok(None);
        }
        // Blank lines are like all others of their kind. There is no index where nothing may differ.
        let over = search.task.readings[0].is_blank() || self.budget.is_spent();
        let Some(index) = self.trimmed.as_ref().filter(|_| !over) else {
            return Ok(None);
        };
        if let Some(found) = self.trimmed(search, index)? {
            return Ok(Some(found));
        }
        self.similar(search, index)
    }

    /// Exactly where it says, else exactly and nearest to that, else exactly and in one place only.
    fn exactly(&self, search: Search<'_>) -> Result<Option<Placed>, Reason> {
        let readings = &search.task.readings;
        let queries: Vec<Query> = readings.iter().map(|reading| self.exact.query(reading)).collect();
        let at = |reading, start, doubt| Placed { reading, start, rung: Rung::Exact, similarity: 1.0, doubt };
        let stated = search.wanted.and_then(|start| {
            let fits = |reading: &usize| {
                self.exact.fits(&queries[*reading], start, &self.budget)
                    && self.allowed_exactly(search, *reading, start)
            };
            (0..queries.len()).find(fits).map(|reading| at(reading, start, Doubt::None))
        });
        if stated.is_some() {
            return Ok(stated);
        }
        let mut found: Vec<Placed> = Vec::new();
        for (reading, query) in queries.iter().enumerate() {
            // Blank lines stand everywhere: only where it says, or nowhere.
            if readings[reading].is_blank() {
                continue;
            }
            found.extend(match search.wanted {
                Some(wanted) => self.nearest(search, reading, query, wanted)?,
                None => {
                    let all = self.places(search, &self.exact, query);
                    let all = all.filter(|&start| self.allowed_exactly(search, reading, start));
                    self.only(all, readings[reading].old_count())?
                        .map(|start| at(reading, start, Doubt::None))
                }
            });
        }
        one_of(found)
    }

    /// The exact place that is nearest to the one that was named. The number is wrong, so it says little: the
    /// nearest place must be nearer by far than the next.
    fn nearest(
        &self,
        search: Search<'_>,
        reading: usize,
        query: &Query,
        wanted: usize,
    ) -> Result<Option<Placed>, Reason> {
        let allowed = |start| self.allowed_exactly(search, reading, start);
        let start = match self.exact.nearest(query, wanted, allowed, &self.budget) {
            Nearest::Nowhere => return Ok(None),
            Nearest::At(start) => start,
            Nearest::Tie(one, other) => return Err(ambiguous([one, other].into_iter(), 2)),
        };
        let all = self.places(search, &self.exact, query).filter(|&start| allowed(start));
        let mut others: Vec<usize> = all.take(MAX_LINES).filter(|&other| other != start).collect();
        let distance = start.abs_diff(wanted);
        let close = |other: &usize| other.abs_diff(wanted) < distance.saturating_mul(2);
        if others.iter().any(close) {
            others.retain(|other| close(other));
            let count = others.len() + 1;
            return Err(ambiguous(std::iter::once(start).chain(others), count));
        }
        let doubt = if others.is_empty() { Doubt::None } else { Doubt::Elsewhere };
        Ok(Some(Placed { reading, start, rung: Rung::Exact, similarity: 1.0, doubt }))
    }

    /// In one place only, white space at the ends of lines aside.
    fn trimmed(&self, search: Search<'_>, index: &Index<'_>) -> Result<Option<Placed>, Reason> {
        let mut found = Vec::new();
        for (reading, lines) in search.task.readings.iter().enumerate() {
            let query = index.query(lines);
            let all = self.places(search, index, &query);
            let all = all.filter(|&start| self.allowed(search, reading, start));
            let starts: Vec<usize> = all.take(MAX_LINES).collect();
            let start = match starts[..] {
                [] => continue,
                [start] => start,
                _ => self.by_number(&starts, search.wanted, lines.old_count())?,
            };
            let similarity = super::fuzzy::similarity(lines, &self.page, start, &self.budget);
            let rung = Rung::Tolerant;
            found.push(Placed { reading, start, rung, similarity, doubt: Doubt::None });
        }
        one_of(found)
    }

    /// Some callers name any line above the place as its scope. Exact lines that stand once in the file
    /// and below that line leave no doubt.
    fn below_scope(&self, search: Search<'_>) -> Result<Option<Placed>, Reason> {
        if search.task.hunk.scopes.is_empty() {
            return Ok(None);
        }
        let anywhere = self.scopes.blocks(&[], &self.page, &self.budget)?;
        let found = self.exactly(Search { wanted: None, blocks: &anywhere, ..search })?;
        // A block that is told holds the start of the place, even if its context goes on below.
        let below = |placed: &Placed| {
            search.blocks.iter().any(|block| match block.told {
                true => block.lines.contains(&placed.start),
                false => block.lines.start < placed.start,
            })
        };
        Ok(found.filter(below).map(|placed| Placed { doubt: Doubt::OutsideScope, ..placed }))
    }

    /// Among several places that are not quite as the hunk says, its line number decides only if all of
    /// them are the same text.
    pub(super) fn by_number(
        &self,
        starts: &[usize],
        wanted: Option<usize>,
        count: usize,
    ) -> Result<usize, Reason> {
        let unclear = || ambiguous(starts.iter().copied(), starts.len());
        let wanted = wanted.ok_or_else(unclear)?;
        let lines = |start: usize| (start..start + count).map(|at| self.page.line(at));
        if !starts.iter().all(|&start| lines(start).eq(lines(starts[0]))) {
            return Err(unclear());
        }
        let mut near: Vec<usize> = starts.to_vec();
        near.sort_by_key(|start| start.abs_diff(wanted));
        match near[..] {
            [first, second, ..] if first.abs_diff(wanted) == second.abs_diff(wanted) => Err(unclear()),
            [first, ..] => Ok(first),
            [] => Err(unclear()),
        }
    }

    /// The only place among some, of a hunk with so many old lines.
    fn only(&self, places: impl Iterator<Item = usize>, rows: usize) -> Result<Option<usize>, Reason> {
        // Enough to say that there are too many.
        let starts: Vec<usize> = places.take(MAX_LINES + 1).collect();
        if let [] | [_] = starts[..] {
            return Ok(starts.first().copied());
        }
        let mut reason = ambiguous(starts.iter().copied(), starts.len());
        if let Reason::Ambiguous { candidates, .. } = &mut reason {
            let span = |start: &usize| self.page.span(*start, start + rows);
            let shown = starts.iter().take(diagnosis::MAX_CANDIDATES);
            candidates.extend(shown.map(|start| diagnosis::candidate_at(span(start), self.snapshot)));
        }
        Err(reason)
    }

    /// Every place in the blocks of a search where a query fits, front to back.
    fn places<'q>(
        &'q self,
        search: Search<'q>,
        index: &'q Index<'_>,
        query: &'q Query,
    ) -> impl Iterator<Item = usize> + 'q {
        let mut after = 0; // blocks may lie in each other
        search.blocks.iter().flat_map(move |block| {
            let lines = block.lines.start.max(after)..block.lines.end;
            after = after.max(lines.end);
            index.within(query, lines, &self.budget)
        })
    }

    /// Whether a hunk may go to a place at all.
    pub(super) fn allowed(&self, search: Search<'_>, reading: usize, start: usize) -> bool {
        let (hunk, lines) = (search.task.hunk, &search.task.readings[reading]);
        let end = start + lines.old_count();
        let at_end = hunk.at_end || lines.ends_file();
        (!at_end || end == self.page.count())
            && (hunk.scopes.is_empty()
                || search.blocks.iter().any(|block| block.lines.start <= start && end <= block.lines.end))
    }

    /// The same, and a file that ends in a newline is not one that does not.
    fn allowed_exactly(&self, search: Search<'_>, reading: usize, start: usize) -> bool {
        let open = search.task.readings[reading].old_is_open();
        (self.page.open_end() || !open) && self.allowed(search, reading, start)
    }
}

/// The place of one way to read a hunk, or of several ways if it is the same.
pub(super) fn one_of(found: Vec<Placed>) -> Result<Option<Placed>, Reason> {
    match found[..] {
        [] => Ok(None),
        [first, ref rest @ ..] if rest.iter().all(|other| other.start == first.start) => Ok(Some(first)),
        _ => Err(ambiguous(found.iter().map(|placed| placed.start), found.len())),
    }
}

pub(super) fn ambiguous(starts: impl Iterator<Item = usize>, count: usize) -> Reason {
    let mut lines: Vec<usize> = starts.take(MAX_LINES).map(|start| start + 1).collect();
    lines.sort_unstable();
    Reason::Ambiguous { lines, count, apart: count, overlapping: false, candidates: Vec::new() }
}
