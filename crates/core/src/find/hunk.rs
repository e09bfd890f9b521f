//! Hunks: lines that are found together, some of which go and beside which others come.
//!
//! All hunks of a file are placed against the file as it was, because that is what the line numbers of
//! a diff count. The order of search is strictest first: where the hunk says, else the nearest place that
//! is exactly so, else with other white space, else similar lines. A tie is an error, and every place that
//! is not exact is told with its similarity.

mod answer;
mod fuzzy;
mod page;
mod place;
mod reading;
mod recover;
mod scope;
mod why;

use std::cell::OnceCell;

use page::{Budget, Index, Likeness, Page};
use reading::Reading;
use scope::Scopes;

use super::Failed;
use super::error::Reason;
use super::terrain::Terrain;
use super::text::{self, Answer};
use crate::change::Rung;
use crate::plan::{EditRules, NewlineStyle, Operation, Placing};
use crate::snapshot::Snapshot;
use slipstitch_patch::Hunk;

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
    rules: EditRules,
    snapshot: &Snapshot,
) -> Vec<Result<Answer, Failed>> {
    let hunks = operations.iter().filter_map(|operation| match operation {
        Operation::Hunk(hunk) => Some(&**hunk),
        _ => None,
    });
    let tasks: Vec<Task<'_>> = (1..).zip(hunks).map(|(number, hunk)| Task::new(number, hunk)).collect();
    let desk = Desk::new(&tasks, rules, snapshot);
    let mut answers = desk.answer_all(&tasks).into_iter();
    let mut out = Vec::with_capacity(operations.len());
    for (edit, operation) in (first_edit..).zip(operations) {
        match (operation, &mut answers) {
            (Operation::Hunk(_), answers) => out.extend(answers.next().map(|answer| match answer {
                Ok(answer) => Ok(Answer { edit, ..answer }),
                Err(reason) => Err((edit, reason)),
            })),
            _ => out.extend(text::answer_all(std::slice::from_ref(operation), edit, rules, snapshot)),
        }
    }
    out
}

/// A file and everything that is known of it while its hunks are placed.
struct Desk<'a> {
    snapshot: &'a Snapshot,
    page: Page<'a>,
    exact: Index<'a>,
    /// Only where the rules allows other white space.
    trimmed: Option<Index<'a>>,
    scopes: Scopes<'a>,
    placing: Placing,
    /// How new lines end in a file whose lines end in several ways.
    newline: NewlineStyle,
    budget: Budget,
    /// What recovery may cost beside that.
    recoveries: Budget,
    /// The whole file as recovery sees it.
    terrain: OnceCell<Terrain<'a>>,
}

impl<'a> Desk<'a> {
    fn new<'h: 'a>(tasks: &'a [Task<'h>], rules: EditRules, snapshot: &'a Snapshot) -> Self {
        let EditRules { placing, newline, .. } = rules;
        let page = Page::new(snapshot);
        let readings = || tasks.iter().flat_map(|task| &task.readings);
        let exact = Index::new(&page, readings(), Likeness::Exact);
        let likeness = match placing {
            Placing::Strict => None,
            Placing::TrailingWhitespace => Some(Likeness::TrimmedEnd),
            Placing::Tolerant | Placing::Fuzzy { .. } | Placing::Recover => Some(Likeness::Trimmed),
        };
        let trimmed = likeness.map(|likeness| Index::new(&page, readings(), likeness));
        let scopes = Scopes::new(&page, tasks.iter().flat_map(|task| &task.hunk.scopes));
        Self {
            snapshot,
            page,
            exact,
            trimmed,
            scopes,
            placing,
            newline,
            budget: Budget::default(),
            recoveries: Budget::default(),
            terrain: OnceCell::new(),
        }
    }

    /// Places the hunks in the order given: how far off one was is where the next is looked for.
    fn answer_all(&self, tasks: &[Task<'_>]) -> Vec<Result<Answer, Reason>> {
        let mut shift = 0isize;
        let mut looks = why::MAX_LOOKS;
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
                Err(Reason::HunkMissing { .. }) => match self.recovered(task, wanted) {
                    Some(Ok(answer)) => Ok(answer),
                    Some(Err(reason)) if !matches!(reason, Reason::HunkMissing { .. }) => Err(reason),
                    _ => Err(why::missing(task, wanted, self, &mut looks)),
                },
                Err(reason) => Err(reason),
            });
        }
        out
    }
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
