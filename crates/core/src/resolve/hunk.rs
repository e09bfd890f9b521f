//! Hunks: lines that are found together, some of which go and beside which others come.
//!
//! All hunks of a file are placed against the file as it was, because that is what the line numbers of
//! a diff count. The order of search is strictest first: where the hunk says, else the nearest place that
//! is exactly so, else with other white space, else similar lines. A tie is an error, and every place that
//! is not exact is told with its similarity.

mod answer;
mod fuzzy;
mod indent;
mod page;
mod reading;
mod scope;
mod why;

use page::{Budget, Index, Likeness, Nearest, Page};
use reading::Reading;
use scope::Block;

use super::error::Reason;
use super::text::{self, Answer};
use super::{Failed, diagnosis};
use crate::change::Rung;
use crate::plan::{Hunk, Manner, Operation, Placing};
use crate::snapshot::Snapshot;

/// How many places of an ambiguous hunk are named.
const MOST_LINES: usize = 1000;
/// The least similarity where no other is asked for, and how far it must be ahead of the next place.
const RECOVER_THRESHOLD: f64 = 0.8;
const RECOVER_MARGIN: f64 = 0.05;

/// A hunk with its number in the file and all ways to read it.
#[derive(Debug)]
struct Task<'h> {
    /// Its number among the file's hunks, from 1.
    number: usize,
    hunk: &'h Hunk,
    /// The first way that fits counts.
    readings: Vec<Reading<'h>>,
}

impl<'h> Task<'h> {
    fn new(number: usize, hunk: &'h Hunk) -> Self {
        let alternative = hunk.alternative.iter().map(|lines| Reading::new(lines));
        let readings = std::iter::once(Reading::new(&hunk.lines)).chain(alternative).collect();
        Self { number, hunk, readings }
    }
}

/// Where a hunk goes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Placed {
    /// Which way to read it fits.
    reading: usize,
    /// The first line, from 0; for a hunk without old lines, the line that it is put before.
    start: usize,
    rung: Rung,
    /// How similar the old lines and the file's are, from 0 to 1.
    similarity: f64,
    doubt: Doubt,
}

/// What made a place less than certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    None,
    /// It also fits elsewhere, and the line number decided.
    Elsewhere,
    /// It stands after the scope, but not in its block.
    OutsideScope,
}

/// Answers every operation on one text; some of them are hunks.
pub(super) fn answer_all(
    operations: &[Operation],
    first_edit: usize,
    manner: Manner,
    snapshot: &Snapshot,
) -> Vec<Result<Answer, Failed>> {
    let hunks = operations.iter().filter_map(|operation| match operation {
        Operation::Hunk(hunk) => Some(&**hunk),
        _ => None,
    });
    let tasks: Vec<Task<'_>> = (1..).zip(hunks).map(|(number, hunk)| Task::new(number, hunk)).collect();
    let desk = Desk::new(&tasks, manner.placing, snapshot);
    let mut answers = desk.answer_all(&tasks).into_iter();
    let mut out = Vec::with_capacity(operations.len());
    for (edit, operation) in (first_edit..).zip(operations) {
        match (operation, &mut answers) {
            (Operation::Hunk(_), answers) => out.extend(answers.next().map(|answer| match answer {
                Ok(answer) => Ok(Answer { edit, ..answer }),
                Err(reason) => Err((edit, reason)),
            })),
            _ => out.extend(text::answer_all(std::slice::from_ref(operation), edit, manner, snapshot)),
        }
    }
    out
}

/// A file and everything that is known of it while its hunks are placed.
struct Desk<'a> {
    snapshot: &'a Snapshot,
    page: Page<'a>,
    exact: Index<'a>,
    /// Only where the manner allows other white space.
    trimmed: Option<Index<'a>>,
    placing: Placing,
    budget: Budget,
}

impl<'a> Desk<'a> {
    fn new<'h: 'a>(tasks: &'a [Task<'h>], placing: Placing, snapshot: &'a Snapshot) -> Self {
        let page = Page::new(snapshot);
        let readings = || tasks.iter().flat_map(|task| &task.readings);
        let exact = Index::new(&page, readings(), Likeness::Exact);
        let trimmed = (placing != Placing::Strict).then(|| Index::new(&page, readings(), Likeness::Trimmed));
        Self { snapshot, page, exact, trimmed, placing, budget: Budget::default() }
    }

    /// Places the hunks in the order given: how far off one was is where the next is looked for.
    fn answer_all(&self, tasks: &[Task<'_>]) -> Vec<Result<Answer, Reason>> {
        let mut shift = 0isize;
        let mut looks = why::MOST_LOOKS;
        let mut out = Vec::with_capacity(tasks.len());
        for task in tasks {
            let wanted = task.hunk.line.map(|line| stated(task, line, shift));
            let found = self.place(task, wanted).and_then(|placed| {
                let answer = answer::answer(task, placed, self)?;
                Ok((placed, answer))
            });
            out.push(match found {
                Ok((placed, answer)) => {
                    if let Some(line) = task.hunk.line.filter(|_| placed.rung != Rung::Stated) {
                        shift = placed.start as isize - first_line(line) as isize;
                    }
                    Ok(answer)
                }
                Err(Reason::HunkMissing { .. }) => Err(why::missing(task, wanted, self, &mut looks)),
                Err(reason) => Err(reason),
            });
        }
        out
    }

    fn place(&self, task: &Task<'_>, wanted: Option<usize>) -> Result<Placed, Reason> {
        let blocks = scope::blocks(&task.hunk.scopes, &self.page, &self.budget)?;
        if task.readings[0].old_count() == 0 {
            return self.insertion(task, wanted, &blocks);
        }
        match self.by_lines(task, wanted, &blocks) {
            Err(Reason::HunkMissing { .. }) if self.budget.is_spent() => Err(Reason::TooCostly),
            Err(missing @ Reason::HunkMissing { .. }) => {
                self.below_scope(task, &blocks)?.map_or(Err(missing), Ok)
            }
            other => other,
        }
    }

    /// Some callers name any line above the place as its scope. Exact lines that stand once in the file
    /// and below that line leave no doubt.
    fn below_scope(&self, task: &Task<'_>, blocks: &[Block]) -> Result<Option<Placed>, Reason> {
        if task.hunk.scopes.is_empty() {
            return Ok(None);
        }
        let anywhere = scope::blocks(&[], &self.page, &self.budget)?;
        let found = self.exactly(task, None, &anywhere)?;
        let below = |placed: &Placed| blocks.iter().any(|block| block.lines.start < placed.start);
        Ok(found.filter(below).map(|placed| Placed { doubt: Doubt::OutsideScope, ..placed }))
    }

    /// A hunk that only adds says its place by a line number, a scope, or the end of the file.
    fn insertion(&self, task: &Task<'_>, wanted: Option<usize>, blocks: &[Block]) -> Result<Placed, Reason> {
        let at =
            |start| Placed { reading: 0, start, rung: Rung::Stated, similarity: 1.0, doubt: Doubt::None };
        let count = self.page.count();
        match (blocks, wanted) {
            ([block], _) if !task.hunk.scopes.is_empty() => Ok(at(block.end)),
            (_, _) if !task.hunk.scopes.is_empty() => {
                Err(ambiguous(blocks.iter().map(|block| block.lines.start), blocks.len()))
            }
            _ if task.hunk.at_end => Ok(at(count)),
            (_, Some(line)) if line <= count => Ok(at(line)),
            (_, Some(line)) => Err(Reason::OutOfRange { first: line, last: line, count }),
            (_, None) if count == 0 => Ok(at(0)),
            (_, None) => Err(Reason::NoPlace),
        }
    }

    /// The ladder. Each step ends it if it finds a place, or several.
    fn by_lines(&self, task: &Task<'_>, wanted: Option<usize>, blocks: &[Block]) -> Result<Placed, Reason> {
        if let Some(found) = self.exactly(task, wanted, blocks)? {
            return Ok(found);
        }
        if task.readings[0].is_blank() {
            return Err(Reason::HunkMissing { line: None, expected: String::new(), found: None });
        }
        if let Some(index) = &self.trimmed
            && let Some(found) = self.trimmed(task, wanted, blocks, index)?
        {
            return Ok(found);
        }
        let (threshold, margin) = match self.placing {
            Placing::Strict | Placing::Tolerant => (f64::INFINITY, 0.0),
            Placing::Fuzzy { per_mille } => (f64::from(per_mille) / 1000.0, 0.0),
            Placing::Recover => (RECOVER_THRESHOLD, RECOVER_MARGIN),
        };
        if threshold <= 1.0
            && let Some(index) = &self.trimmed
            && let Some(found) = self.similar(task, wanted, blocks, index, threshold, margin)?
        {
            return Ok(found);
        }
        Err(Reason::HunkMissing { line: None, expected: String::new(), found: None })
    }

    /// Exactly where it says, else exactly and nearest to that, else exactly and in one place only.
    fn exactly(
        &self,
        task: &Task<'_>,
        wanted: Option<usize>,
        blocks: &[Block],
    ) -> Result<Option<Placed>, Reason> {
        let queries: Vec<_> = task.readings.iter().map(|reading| self.exact.query(reading)).collect();
        let allowed = |reading: usize, start: usize| {
            self.allowed(task, reading, start, blocks)
                && !(task.readings[reading].old_is_open() && !self.page.open_end())
        };
        let at = |reading, start, doubt| Placed { reading, start, rung: Rung::Exact, similarity: 1.0, doubt };
        if let Some(start) = wanted {
            for (reading, query) in queries.iter().enumerate() {
                if self.exact.fits(query, start, &self.budget) && allowed(reading, start) {
                    return Ok(Some(at(reading, start, Doubt::None)));
                }
            }
        }
        let mut found: Vec<Placed> = Vec::new();
        for (reading, query) in queries.iter().enumerate() {
            match wanted {
                // Blank lines stand everywhere: only where it says, or nowhere.
                _ if task.readings[reading].is_blank() => {}
                Some(wanted) => {
                    match self.exact.nearest(query, wanted, |start| allowed(reading, start), &self.budget) {
                        Nearest::Nowhere => {}
                        Nearest::At(start) => {
                            let more = self.exact.all(query, &self.budget).take(2).count() > 1;
                            found.push(at(reading, start, if more { Doubt::Elsewhere } else { Doubt::None }));
                        }
                        Nearest::Tie(one, other) => return Err(ambiguous([one, other].into_iter(), 2)),
                    }
                }
                None => {
                    let all = self.exact.all(query, &self.budget).filter(|&start| allowed(reading, start));
                    let only = self.only(all, task.readings[reading].old_count())?;
                    found.extend(only.map(|start| at(reading, start, Doubt::None)));
                }
            }
        }
        one_of(found)
    }

    /// In one place only, white space at the ends of lines aside.
    fn trimmed(
        &self,
        task: &Task<'_>,
        wanted: Option<usize>,
        blocks: &[Block],
        index: &Index<'_>,
    ) -> Result<Option<Placed>, Reason> {
        let mut found = Vec::new();
        for (reading, lines) in task.readings.iter().enumerate() {
            let query = index.query(lines);
            let all = index.all(&query, &self.budget);
            let all = all.filter(|&start| self.allowed(task, reading, start, blocks));
            let starts: Vec<usize> = all.take(MOST_LINES).collect();
            let start = match starts[..] {
                [] => continue,
                [start] => start,
                _ => self.by_number(&starts, wanted, lines.old_count())?,
            };
            let similarity = fuzzy::similarity(lines, &self.page, start, &self.budget);
            found.push(Placed { reading, start, rung: Rung::Tolerant, similarity, doubt: Doubt::None });
        }
        one_of(found)
    }

    /// The most similar place, if it is ahead of all others.
    fn similar(
        &self,
        task: &Task<'_>,
        wanted: Option<usize>,
        blocks: &[Block],
        index: &Index<'_>,
        threshold: f64,
        margin: f64,
    ) -> Result<Option<Placed>, Reason> {
        let mut found = Vec::new();
        for (reading, lines) in task.readings.iter().enumerate() {
            let query = index.query(lines);
            let wanted_lines = fuzzy::Wanted { reading: lines, query: &query, threshold };
            let allowed = |start| self.allowed(task, reading, start, blocks);
            let places = fuzzy::look(wanted_lines, &self.page, index, allowed, &self.budget);
            let Some(best) = places.first() else { continue };
            let ahead = |other: &&fuzzy::Similar| best.similarity - other.similarity > margin.max(1e-9);
            let close: Vec<usize> =
                places.iter().take_while(|other| !ahead(other)).map(|place| place.start).collect();
            let start = match close[..] {
                [start] => start,
                _ => self.by_number(&close, wanted, lines.old_count())?,
            };
            let (rung, similarity) = (Rung::Fuzzy, best.similarity);
            found.push(Placed { reading, start, rung, similarity, doubt: Doubt::None });
        }
        one_of(found)
    }

    /// Among several places that are not quite as the hunk says, its line number decides only if all of
    /// them are the same text.
    fn by_number(&self, starts: &[usize], wanted: Option<usize>, count: usize) -> Result<usize, Reason> {
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
        let starts: Vec<usize> = places.take(MOST_LINES + 1).collect();
        if let [] | [_] = starts[..] {
            return Ok(starts.first().copied());
        }
        let mut reason = ambiguous(starts.iter().copied(), starts.len());
        if let Reason::Ambiguous { candidates, .. } = &mut reason {
            let span = |start: &usize| self.page.span(*start, start + rows);
            let shown = starts.iter().take(diagnosis::MOST_CANDIDATES);
            candidates.extend(shown.map(|start| diagnosis::candidate_at(span(start), self.snapshot)));
        }
        Err(reason)
    }

    /// Whether a hunk may go to a place at all.
    fn allowed(&self, task: &Task<'_>, reading: usize, start: usize, blocks: &[Block]) -> bool {
        let lines = &task.readings[reading];
        let end = start + lines.old_count();
        let at_end = task.hunk.at_end || lines.ends_file();
        (!at_end || end == self.page.count())
            && (task.hunk.scopes.is_empty()
                || blocks.iter().any(|block| block.lines.start <= start && end <= block.lines.end))
    }
}

/// The place of one way to read a hunk, or of several ways if it is the same.
fn one_of(found: Vec<Placed>) -> Result<Option<Placed>, Reason> {
    match found[..] {
        [] => Ok(None),
        [first, ref rest @ ..] if rest.iter().all(|other| other.start == first.start) => Ok(Some(first)),
        _ => Err(ambiguous(found.iter().map(|placed| placed.start), found.len())),
    }
}

fn ambiguous(starts: impl Iterator<Item = usize>, count: usize) -> Reason {
    let mut lines: Vec<usize> = starts.take(MOST_LINES).map(|start| start + 1).collect();
    lines.sort_unstable();
    Reason::Ambiguous { lines, count, apart: count, overlapping: false, candidates: Vec::new() }
}

/// A line number of a diff as a place in the table of lines.
fn first_line(line: usize) -> usize {
    line.saturating_sub(1)
}

/// Where a hunk says it goes, moved by as much as the hunk before it was off.
fn stated(task: &Task<'_>, line: usize, shift: isize) -> usize {
    let at = if task.readings[0].old_count() == 0 { line } else { first_line(line) };
    at.saturating_add_signed(shift)
}
