//! Hunks: context, removed and added lines that are found together.
//!
//! All hunks of a file are matched against the original file, because that is what the line numbers of a diff refer
//! to. This module places hunks whose lines are in the file exactly: at the stated line, or at the nearest place. All others
//! go the same way as any other request without an exact match, see [`miss`](super::miss).

mod apply;
mod line_table;
mod locate;
mod scope;
mod variant;

use std::cell::OnceCell;

use line_table::{LineTable, OccurrenceIndex};
use scope::{Block, ScopeIndex};
use variant::Variant;

use super::EditFailure;
use super::alignment::indent;
use super::applied::{may_be_insertion, require_unapplied};
use super::error::Reason;
use super::file_text::FileText;
use super::heading::names_item;
use super::limits::{Budget, MAX_LINES_TO_HEADING};
use super::miss::Misses;
use super::request::{HunkReading, PlaceHint, SearchRequest};
use super::resolved_edit::{ResolvedEdit, line_range_span};
use super::text;
use crate::change::Rung;
use crate::plan::{EditRules, LineRange, Operation, Tolerance};
use slipstitch_patch::{Hunk, HunkRepair, Role};
use slipstitch_text::Span;

/// A hunk to place, with its number and all interpretations of its text.
#[derive(Debug)]
struct PendingHunk<'h> {
    /// Its number among the file's hunks, from 1.
    number: usize,
    hunk: &'h Hunk,
    /// The lines as sent, and with other readings of the context markers.
    variants: Vec<Variant<'h>>,
    /// Readings that assume other mistakes.
    repaired: Vec<(Variant<'h>, &'h [HunkRepair])>,
}

impl<'h> PendingHunk<'h> {
    fn new(number: usize, hunk: &'h Hunk, tolerance: Tolerance) -> Self {
        let is_form =
            |repair: &HunkRepair| matches!(repair, HunkRepair::BareContext | HunkRepair::MixedContext);
        let mut variants = vec![Variant::new(&hunk.lines)];
        let mut repaired = Vec::new();
        for reading in hunk.alternatives.iter().filter(|_| tolerance != Tolerance::Exact) {
            let variant = Variant::new(&reading.lines);
            if reading.repairs.iter().all(is_form) {
                variants.push(variant);
            } else {
                repaired.push((variant, &reading.repairs[..]));
            }
        }
        Self { number, hunk, variants, repaired }
    }

    /// Whether another reading of the hunk than the lines as sent has lines that must be in the file.
    fn has_reading_with_old_lines(&self) -> bool {
        self.repaired.iter().any(|(variant, _)| !variant.is_blank())
    }

    /// The lines as sent.
    fn as_sent(&self) -> &Variant<'h> {
        &self.variants[0]
    }
}

/// The place of a hunk whose lines are in the file.
#[derive(Debug, Clone, Copy, PartialEq)]
struct HunkMatch {
    /// The variant that matches.
    variant: usize,
    /// The first line, from 0; for a hunk without old lines, the line it is inserted before.
    start: usize,
    rung: Rung,
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
    /// The scope line is not in the file, and the hunk's own lines prove the place.
    ScopeMissing,
}

/// Resolves operations on one text, some of which are hunks.
pub(super) fn resolve_operations(
    operations: &[Operation],
    first_edit: usize,
    rules: EditRules,
    file: &FileText<'_>,
) -> Vec<Result<ResolvedEdit, EditFailure>> {
    let hunks = operations.iter().filter_map(|operation| match operation {
        Operation::Hunk(hunk) => Some(&**hunk),
        _ => None,
    });
    let hunks: Vec<PendingHunk<'_>> =
        (1..).zip(hunks).map(|(number, hunk)| PendingHunk::new(number, hunk, rules.tolerance)).collect();
    let finder = HunkFinder::new(&hunks, rules, file);
    let mut resolved = finder.resolve_hunks(&hunks).into_iter();
    let mut out = Vec::with_capacity(operations.len());
    for (edit, operation) in (first_edit..).zip(operations) {
        match (operation, &mut resolved) {
            (Operation::Hunk(_), resolved) => out.extend(resolved.next().map(|resolved| match resolved {
                Ok(resolved) => Ok(ResolvedEdit { number: edit, ..resolved }),
                Err(reason) => Err((edit, reason)),
            })),
            (Operation::HunkAt { hunk, lines }, _) => {
                let resolved = finder.resolve_chosen(hunk, *lines);
                out.push(
                    resolved
                        .map(|resolved| ResolvedEdit { number: edit, ..resolved })
                        .map_err(|reason| (edit, reason)),
                );
            }
            _ => out.extend(text::resolve_operations(&[(edit, operation)], rules, file)),
        }
    }
    out
}

/// Finds the places of the hunks of one file.
struct HunkFinder<'a> {
    file: &'a FileText<'a>,
    misses: Misses<'a, 'a>,
    table: LineTable<'a>,
    hunks: &'a [PendingHunk<'a>],
    /// Where the hunks' lines occur. Built for the first hunk that is not at its stated line.
    index: OnceCell<OccurrenceIndex<'a>>,
    scopes: ScopeIndex<'a>,
    rules: EditRules,
    budget: Budget,
}

impl<'a> HunkFinder<'a> {
    fn new(hunks: &'a [PendingHunk<'a>], rules: EditRules, file: &'a FileText<'a>) -> Self {
        let table = LineTable::new(file.snapshot);
        let names = hunks.iter().flat_map(|pending| pending.hunk.scopes.iter().chain(&pending.hunk.section));
        let scopes = ScopeIndex::new(&table, names);
        let misses = Misses::new(file, rules);
        let index = OnceCell::new();
        Self { file, misses, table, hunks, index, scopes, rules, budget: file.budget.renew() }
    }

    fn index(&self) -> &OccurrenceIndex<'a> {
        let variants = || self.hunks.iter().flat_map(|pending| &pending.variants);
        self.index.get_or_init(|| OccurrenceIndex::new(&self.table, variants()))
    }

    /// Places the hunks in order. If one was off by some lines, the next is expected to be off by as much.
    fn resolve_hunks(&self, hunks: &[PendingHunk<'_>]) -> Vec<Result<ResolvedEdit, Reason>> {
        let mut shift = 0isize;
        let mut out = Vec::with_capacity(hunks.len());
        for pending in hunks {
            let stated = pending.hunk.line.map(|line| stated_position(pending, line, shift));
            out.push(match self.locate(pending, stated) {
                Ok(Some(matched)) => {
                    let resolved = self
                        .require_unapplied(pending, matched)
                        .and_then(|()| apply::apply_hunk(pending, matched, self))
                        .map(|resolved| self.with_indentation_note(pending, matched, resolved));
                    if matched.rung == Rung::Stated {
                        // Only the hunk before it shows where an insertion without context belongs.
                        resolved.map(|resolved| self.with_shift_note(pending, matched, shift, resolved))
                    } else {
                        let first = Some(matched.start + 1);
                        shift = offset(pending.hunk, first).unwrap_or(shift);
                        resolved
                            .map(|resolved| self.with_offset_note(pending, matched.caveat, first, resolved))
                    }
                }
                Ok(None) => self.resolve_inexact(pending, stated).map(|resolved| {
                    let spans = resolved.spans.first();
                    let first = spans.map(|span| self.file.snapshot.line_of(span.start()));
                    shift = offset(pending.hunk, first).unwrap_or(shift);
                    self.with_offset_note(pending, Caveat::None, first, resolved)
                }),
                Err(reason) => Err(reason),
            });
        }
        out
    }

    /// Adds a note if added lines are indented like nothing else in the file.
    fn with_indentation_note(
        &self,
        pending: &PendingHunk<'_>,
        matched: HunkMatch,
        mut resolved: ResolvedEdit,
    ) -> ResolvedEdit {
        let variant = &pending.variants[matched.variant];
        let [old, new] = [Role::is_old, Role::is_new].map(|side| variant.texts_of(side));
        let name = format_args!("Hunk {}", pending.number);
        resolved.notes.extend(self.misses.note_odd_indentation(name, old, new));
        resolved
    }

    /// Fails if the lines that a hunk adds are already around its place.
    fn require_unapplied(&self, pending: &PendingHunk<'_>, matched: HunkMatch) -> Result<(), Reason> {
        let variant = &pending.variants[matched.variant];
        let [old, new] = [Role::is_old, Role::is_new].map(|side| variant.text_len(side));
        if !may_be_insertion(old, new, self.rules) {
            return Ok(());
        }
        let [old, new] = [Role::is_old, Role::is_new].map(|side| variant.text(side));
        let lines = self.table.span(matched.start, matched.start + variant.old_count());
        let found = Span::new(lines.start(), lines.start() + self.file.snapshot.needle(&old).len());
        require_unapplied(&old, &new, found, self.rules, self.file.snapshot)
    }

    /// Notes that a hunk is not where its header says, for callers that limit what may differ. `first` is its first line.
    fn with_offset_note(
        &self,
        pending: &PendingHunk<'_>,
        caveat: Caveat,
        first: Option<usize>,
        mut resolved: ResolvedEdit,
    ) -> ResolvedEdit {
        let is_told = caveat == Caveat::Elsewhere || self.rules.tolerance == Tolerance::Recover;
        if let (Some(line), Some(first), Some(offset)) =
            (pending.hunk.line, first, offset(pending.hunk, first).filter(|offset| *offset != 0 && !is_told))
        {
            resolved.notes.push(apply::offset_note(pending.number, line, first, offset, self.file.run));
        }
        resolved
    }

    /// Notes that an insertion without context was moved as far as the hunk before it.
    fn with_shift_note(
        &self,
        pending: &PendingHunk<'_>,
        matched: HunkMatch,
        shift: isize,
        mut resolved: ResolvedEdit,
    ) -> ResolvedEdit {
        if let Some(line) = pending.hunk.line.filter(|_| shift != 0 && pending.hunk.scopes.is_empty()) {
            resolved.notes.push(apply::shift_note(pending.number, line, matched.start, self.file.run));
        }
        resolved
    }

    /// Resolves a hunk whose lines are not in the file as they are.
    fn resolve_inexact(
        &self,
        pending: &PendingHunk<'_>,
        stated: Option<usize>,
    ) -> Result<ResolvedEdit, Reason> {
        let scope = match self.scopes.blocks(&pending.hunk.scopes, &self.table, &self.budget) {
            Ok(blocks) => Ok(blocks),
            Err(Reason::ScopeMissing { scope }) => Err(scope),
            Err(reason) => return Err(reason),
        };
        let within = match scope.as_deref() {
            Ok([block]) if !pending.hunk.scopes.is_empty() => {
                Some(self.table.span(block.lines.start, block.lines.end))
            }
            _ => None,
        };
        let place = PlaceHint {
            within,
            line: stated.map(|at| at + 1),
            last: (pending.hunk.at_end || pending.as_sent().ends_file()).then(|| self.table.count()),
            chosen: false,
        };
        let readings = readings(pending);
        let name = format!("Hunk {}", pending.number);
        let request = SearchRequest::of_hunk(name, &readings, place);
        match (self.misses.resolve(&request), scope) {
            (Ok(mut resolved), Err(scope)) => {
                resolved.notes.push(apply::scope_note(pending.number, &scope));
                Ok(resolved)
            }
            (Err(Reason::NotFound(_) | Reason::Ambiguous { .. }), Err(scope)) => {
                Err(Reason::ScopeMissing { scope })
            }
            (Err(reason), Ok(blocks)) => {
                let is_absent = matches!(reason, Reason::NotFound(_) | Reason::Ambiguous { .. });
                Err(self
                    .explain_surroundings(pending, &request, &blocks)
                    .or_else(|| is_absent.then(|| self.explain_echo(pending, &request)).flatten())
                    .unwrap_or(reason))
            }
            (resolved, _) => resolved,
        }
    }

    /// Applies a hunk at the lines that the caller chose.
    fn resolve_chosen(&self, hunk: &Hunk, lines: LineRange) -> Result<ResolvedEdit, Reason> {
        let pending = PendingHunk::new(1, hunk, self.rules.tolerance);
        let within = Some(line_range_span(lines, self.file.snapshot)?);
        let place = PlaceHint { within, chosen: true, ..PlaceHint::default() };
        let request = SearchRequest::of_hunk("Hunk".into(), &readings(&pending), place);
        let resolved = self.misses.resolve_chosen(&request)?;
        Ok(ResolvedEdit { rung: Rung::Chosen, ..resolved })
    }

    /// If the hunk's lines are in the file after all, why they may not be matched there.
    fn explain_surroundings(
        &self,
        pending: &PendingHunk<'_>,
        request: &SearchRequest,
        blocks: &[Block],
    ) -> Option<Reason> {
        let variant = pending.as_sent();
        if variant.is_blank() {
            return None;
        }
        let query = self.index().query(variant);
        let start = self.index().matches_within(&query, 0..self.table.count(), &self.budget).next()?;
        let (line, end) = (start + 1, start + variant.old_count());
        let inside = blocks.iter().any(|block| block.lines.start <= start && end <= block.lines.end);
        match pending.hunk.scopes.last() {
            Some(scope) if !inside => Some(Reason::OutsideScope {
                line,
                scope: scope.trim().to_owned(),
                block: self.block_around(start + request.as_sent().first_change()),
                place: Box::new(self.misses.offer_anywhere(request)),
            }),
            _ => Some(Reason::NotAtEnd { line, newline: end == self.table.count() }),
        }
    }

    /// If the hunk deletes lines that it also gives as context, and the file has them once, what to send to delete them.
    fn explain_echo(&self, pending: &PendingHunk<'_>, request: &SearchRequest) -> Option<Reason> {
        let lines = pending.hunk.without_echoes()?;
        let variant = Variant::new(&lines);
        let reading = HunkReading {
            lines: variant.lines.iter().map(|line| (line.role, line.text)).collect(),
            repairs: &[HunkRepair::EchoedLine],
            file_end: variant.file_end(),
        };
        let without = SearchRequest::of_hunk(request.name.clone(), &[reading], request.place);
        self.misses.offer_without_echo(request, &without).map(Reason::NotFound)
    }

    /// The line that names the block around a line.
    fn block_around(&self, at: usize) -> Option<String> {
        let line = |at: usize| String::from_utf8_lossy(self.table.line(at));
        let depth = indent(&line(at.min(self.table.count().checked_sub(1)?))).len();
        let above = (0..at).rev().take(MAX_LINES_TO_HEADING).map(line);
        let heading = above.into_iter().find(|line| indent(line).len() < depth && names_item(line));
        heading.map(|line| line.trim().to_owned())
    }
}

/// The readings of a hunk, for the finder.
fn readings<'p>(pending: &'p PendingHunk<'_>) -> Vec<HunkReading<'p>> {
    let lines = |variant: &'p Variant<'_>| variant.lines.iter().map(|line| (line.role, line.text)).collect();
    // Lines as sent that are all added say nothing about the place.
    let is_empty = pending.as_sent().is_blank() && pending.has_reading_with_old_lines();
    let variants = if is_empty { &[][..] } else { &pending.variants[..] };
    let as_sent = variants.iter().enumerate().map(|(n, variant)| HunkReading {
        lines: lines(variant),
        repairs: if n == 0 { &[] } else { &[HunkRepair::BareContext] },
        file_end: variant.file_end(),
    });
    let repaired = pending.repaired.iter().map(|(variant, repairs)| HunkReading {
        lines: lines(variant),
        repairs,
        file_end: variant.file_end(),
    });
    as_sent.chain(repaired).collect()
}

/// How many lines below its stated line a hunk was found.
fn offset(hunk: &Hunk, first: Option<usize>) -> Option<isize> {
    Some(line_position(first?) as isize - line_position(hunk.line?) as isize)
}

/// The position of a diff's line number in the line table.
fn line_position(line: usize) -> usize {
    line.saturating_sub(1)
}

/// The position that a hunk states, shifted by as much as the hunk before it was off.
fn stated_position(pending: &PendingHunk<'_>, line: usize, shift: isize) -> usize {
    let at = if pending.as_sent().old_count() == 0 { line } else { line_position(line) };
    at.saturating_add_signed(shift)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::cancel::CancelToken;
    use crate::path::FilePath;
    use crate::snapshot::{FileContent, Meta, Snapshot};
    use slipstitch_patch::HunkLine;
    use slipstitch_text::EncodingRule;

    /// A hunk that removes a numbered line, which it expects at line `stated`.
    fn removal(number: usize, stated: usize) -> Hunk {
        let line = HunkLine { role: Role::Removed, text: format!("line {number}"), newline: true };
        Hunk { lines: vec![line], line: Some(stated), ..Hunk::default() }
    }

    /// Places hunks in a file of numbered lines. Returns where, and whether the file's lines were indexed.
    fn place(hunks: &[Hunk]) -> (Vec<usize>, bool) {
        let text: String = (1..=100).map(|number| format!("line {number}\n")).collect();
        let content = FileContent { bytes: text.into_bytes().into(), meta: Meta::default() };
        let snapshot = Snapshot::new(content, EncodingRule::Detect);
        let path = FilePath::from_record("f").unwrap();
        let budget = Rc::new(Budget::new(&CancelToken::default()));
        let file = FileText::new(&snapshot, &path, &(), hunks.len(), &budget);
        let pending: Vec<PendingHunk<'_>> =
            (1..).zip(hunks).map(|(number, hunk)| PendingHunk::new(number, hunk, Tolerance::Exact)).collect();
        let finder = HunkFinder::new(&pending, EditRules::STRICT, &file);
        let resolved = finder.resolve_hunks(&pending);
        let lines = resolved.into_iter().map(|edit| snapshot.line_of(edit.expect("placed").spans[0].start()));
        (lines.collect(), finder.index.get().is_some())
    }

    #[test]
    fn hunks_at_their_stated_lines_need_no_index() {
        assert_eq!(place(&[removal(7, 7), removal(50, 50)]), (vec![7, 50], false));
        assert_eq!(place(&[removal(7, 9), removal(50, 52)]), (vec![7, 50], true));
    }
}
