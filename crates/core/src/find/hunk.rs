//! Hunks: context, removed and added lines that are found together.
//!
//! All hunks of a file are matched against the original file, because that is what the line numbers of a diff refer
//! to. The search goes from strict to loose: exactly at the stated line, exactly at the nearest place, ignoring
//! whitespace, similar lines. A tie is an error, and every inexact match is reported with its similarity.

mod apply;
mod fuzzy;
mod line_table;
mod locate;
mod mismatch;
mod recover;
mod scope;
mod search;
mod variant;

use std::cell::OnceCell;

use line_table::{Budget, LineComparison, LineTable, OccurrenceIndex};
use scope::ScopeIndex;
use variant::Variant;

use super::EditFailure;
use super::error::Reason;
use super::resolved_edit::ResolvedEdit;
use super::search_index::SearchIndex;
use super::text;
use crate::change::Rung;
use crate::plan::{EditRules, NewlineStyle, Operation, Placing};
use crate::snapshot::Snapshot;
use slipstitch_patch::Hunk;

/// A hunk to place, with its number and all interpretations of its text.
#[derive(Debug)]
struct PendingHunk<'h> {
    /// Its number among the file's hunks, from 1.
    number: usize,
    hunk: &'h Hunk,
    /// The first one that matches is used.
    variants: Vec<Variant<'h>>,
}

impl<'h> PendingHunk<'h> {
    fn new(number: usize, hunk: &'h Hunk) -> Self {
        let alternative = hunk.alternative.iter().map(|lines| Variant::new(lines));
        let variants = std::iter::once(Variant::new(&hunk.lines)).chain(alternative).collect();
        Self { number, hunk, variants }
    }
}

/// The place of a hunk.
#[derive(Debug, Clone, Copy, PartialEq)]
struct HunkMatch {
    /// The variant that matches.
    variant: usize,
    /// The first line, from 0; for a hunk without old lines, the line it is inserted before.
    start: usize,
    rung: Rung,
    /// The similarity of the old lines to the file's, from 0 to 1.
    similarity: f64,
    caveat: Caveat,
}

/// Why a match is less than certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caveat {
    None,
    /// It also matches elsewhere, and the line number decided.
    Elsewhere,
    /// It is below the scope line, but outside its block.
    OutsideScope,
}

/// Resolves operations on one text, some of which are hunks.
pub(super) fn resolve_operations(
    operations: &[Operation],
    first_edit: usize,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Vec<Result<ResolvedEdit, EditFailure>> {
    let hunks = operations.iter().filter_map(|operation| match operation {
        Operation::Hunk(hunk) => Some(&**hunk),
        _ => None,
    });
    let hunks: Vec<PendingHunk<'_>> =
        (1..).zip(hunks).map(|(number, hunk)| PendingHunk::new(number, hunk)).collect();
    let finder = HunkFinder::new(&hunks, rules, snapshot);
    let mut resolved = finder.resolve_hunks(&hunks).into_iter();
    let mut out = Vec::with_capacity(operations.len());
    for (edit, operation) in (first_edit..).zip(operations) {
        match (operation, &mut resolved) {
            (Operation::Hunk(_), resolved) => out.extend(resolved.next().map(|resolved| match resolved {
                Ok(resolved) => Ok(ResolvedEdit { number: edit, ..resolved }),
                Err(reason) => Err((edit, reason)),
            })),
            _ => out.extend(text::resolve_operations(std::slice::from_ref(operation), edit, rules, snapshot)),
        }
    }
    out
}

/// Finds the places of the hunks of one file.
struct HunkFinder<'a> {
    snapshot: &'a Snapshot,
    table: LineTable<'a>,
    exact: OccurrenceIndex<'a>,
    /// Only where whitespace may differ.
    trimmed: Option<OccurrenceIndex<'a>>,
    scopes: ScopeIndex<'a>,
    placing: Placing,
    /// Which line ending new lines get in a file with mixed ones.
    newline: NewlineStyle,
    budget: Budget,
    /// A separate budget for recovery.
    recovery_budget: Budget,
    /// The whole file, as recovery sees it; built when first needed.
    search_index: OnceCell<SearchIndex<'a>>,
}

impl<'a> HunkFinder<'a> {
    fn new<'h: 'a>(hunks: &'a [PendingHunk<'h>], rules: EditRules, snapshot: &'a Snapshot) -> Self {
        let EditRules { placing, newline, .. } = rules;
        let table = LineTable::new(snapshot);
        let variants = || hunks.iter().flat_map(|pending| &pending.variants);
        let exact = OccurrenceIndex::new(&table, variants(), LineComparison::Exact);
        let comparison = match placing {
            Placing::Strict => None,
            Placing::TrailingWhitespace => Some(LineComparison::TrimmedEnd),
            Placing::Tolerant | Placing::Fuzzy { .. } | Placing::Recover => Some(LineComparison::Trimmed),
        };
        let trimmed = comparison.map(|comparison| OccurrenceIndex::new(&table, variants(), comparison));
        let scopes = ScopeIndex::new(&table, hunks.iter().flat_map(|pending| &pending.hunk.scopes));
        Self {
            snapshot,
            table,
            exact,
            trimmed,
            scopes,
            placing,
            newline,
            budget: Budget::default(),
            recovery_budget: Budget::default(),
            search_index: OnceCell::new(),
        }
    }

    /// Places the hunks in order. If one was off by some lines, the next is expected to be off by as much.
    fn resolve_hunks(&self, hunks: &[PendingHunk<'_>]) -> Vec<Result<ResolvedEdit, Reason>> {
        let mut shift = 0isize;
        let mut diagnoses = mismatch::MAX_DIAGNOSED;
        let mut out = Vec::with_capacity(hunks.len());
        for pending in hunks {
            let stated = pending.hunk.line.map(|line| stated_position(pending, line, shift));
            let found = self.locate(pending, stated).and_then(|matched| {
                let resolved = apply::apply_hunk(pending, matched, self)?;
                Ok((matched, resolved))
            });
            out.push(match found {
                Ok((matched, resolved)) => {
                    if let Some(line) = pending.hunk.line.filter(|_| matched.rung != Rung::Stated) {
                        shift = matched.start as isize - line_position(line) as isize;
                    }
                    Ok(resolved)
                }
                Err(Reason::HunkMissing { .. }) => match self.recover(pending, stated) {
                    Some(Ok(resolved)) => Ok(resolved),
                    Some(Err(reason)) if !matches!(reason, Reason::HunkMissing { .. }) => Err(reason),
                    _ => Err(mismatch::explain(pending, stated, self, &mut diagnoses)),
                },
                Err(reason) => Err(reason),
            });
        }
        out
    }
}

/// The position of a diff's line number in the line table.
fn line_position(line: usize) -> usize {
    line.saturating_sub(1)
}

/// The position that a hunk states, shifted by as much as the hunk before it was off.
fn stated_position(pending: &PendingHunk<'_>, line: usize, shift: isize) -> usize {
    let at = if pending.variants[0].old_count() == 0 { line } else { line_position(line) };
    at.saturating_add_signed(shift)
}
