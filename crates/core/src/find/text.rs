//! Operations on a text: which spans each one replaces, and with what.

use super::applied::{find_replaced_lines, require_unapplied};
use super::diagnosis::{Diagnosis, candidate_at};
use super::error::Reason;
use super::file_text::FileText;
use super::landmark::add_landmarks;
use super::large::search_file;
use super::limits::{MAX_CANDIDATES, MAX_LISTED_MATCHES};
use super::miss::Misses;
use super::notebook::resolve_cell;
use super::punctuation::is_distinctive;
use super::request::{PlaceHint, SearchRequest};
use super::resolved_edit::{Anchor, ResolvedEdit, line_range_span, replace, resolved_at};
use super::search::{Hits, Needle};
use super::sketch::resolve_sketch;
use super::{EditFailure, NumberedOperation};
use crate::change::Rung;
use crate::plan::{EditRules, InsertAfter, LineRange, NewlineStyle, Operation, Separator, Which};
use crate::snapshot::Snapshot;
use slipstitch_text::{Span, canonical};

/// Resolves every operation against the same text, each on its own.
pub(super) fn resolve_operations(
    operations: &[NumberedOperation<'_>],
    rules: EditRules,
    file: &FileText<'_>,
) -> Vec<Result<ResolvedEdit, EditFailure>> {
    let matches = ExactMatches::find(operations, rules, file);
    (0..operations.len()).map(|at| matches.resolve(at)).collect()
}

/// Operations on one text and their exact matches, which are found in one pass.
pub(super) struct ExactMatches<'o, 'f> {
    operations: &'o [NumberedOperation<'o>],
    queries: Vec<Result<Option<ExactQuery>, Reason>>,
    hits: Vec<Hits>,
    misses: Misses<'f, 'f>,
    rules: EditRules,
    snapshot: &'f Snapshot,
}

impl<'o, 'f> ExactMatches<'o, 'f> {
    pub(super) fn find(
        operations: &'o [NumberedOperation<'o>],
        rules: EditRules,
        file: &'f FileText<'f>,
    ) -> Self {
        let snapshot = file.snapshot;
        let queries: Vec<_> =
            operations.iter().map(|(_, operation)| ExactQuery::of(operation, snapshot)).collect();
        let needles: Vec<Needle<'_>> = queries.iter().flatten().flatten().map(ExactQuery::needle).collect();
        let mut found = search_file(snapshot, &needles).into_iter();
        let hits = queries.iter().map(|query| match query {
            Ok(Some(query)) if query.begins_line => {
                found.next().unwrap_or_default().at_line_starts(query.needle.len(), snapshot.text())
            }
            Ok(Some(_)) => found.next().unwrap_or_default(),
            Ok(None) | Err(_) => Hits::default(),
        });
        let hits = hits.collect();
        Self { operations, queries, hits, misses: Misses::new(file, rules), rules, snapshot }
    }

    /// The text that an operation replaces; empty if it replaces none.
    pub(super) fn needle(&self, at: usize) -> &[u8] {
        match &self.queries[at] {
            Ok(Some(query)) => query.needle.as_bytes(),
            Ok(None) | Err(_) => &[],
        }
    }

    /// Whether an operation has matches, and they say which text to replace.
    pub(super) fn is_decided(&self, at: usize) -> bool {
        let (_, operation) = self.operations[at];
        match operation {
            Operation::Replace { which, .. } => self.hits[at].count > 0 && self.hits[at].decide(*which),
            _ => false,
        }
    }

    /// The matches of an operation.
    pub(super) fn spans(&self, at: usize) -> impl Iterator<Item = Span> {
        let length = self.needle(at).len();
        self.hits[at].starts.iter().map(move |&start| Span::new(start, start + length))
    }

    /// Resolves one of the operations.
    pub(super) fn resolve(&self, at: usize) -> Result<ResolvedEdit, EditFailure> {
        let (edit, operation) = self.operations[at];
        match &self.queries[at] {
            Err(reason) => Err((edit, reason.clone())),
            Ok(_) => {
                resolve_operation(operation, &self.hits[at], edit, self.rules, &self.misses, self.snapshot)
                    .map(|resolved| ResolvedEdit { number: edit, ..resolved })
                    .map_err(|reason| (edit, reason))
            }
        }
    }
}

/// A text to search for exactly.
struct ExactQuery {
    needle: String,
    within: Span,
    keep: usize,
    /// Whether only matches at the start of a line count.
    begins_line: bool,
}

impl ExactQuery {
    fn of(operation: &Operation, snapshot: &Snapshot) -> Result<Option<Self>, Reason> {
        let Operation::Replace { old, which, within, .. } = operation else { return Ok(None) };
        if old.trim().is_empty() {
            return Err(Reason::BlankOld { empty: old.is_empty() });
        }
        Ok(Some(Self {
            needle: snapshot.needle(&canonical(old)).into_owned(),
            within: match within {
                Some(lines) => line_range_span(*lines, snapshot)?,
                None => Span::new(0, snapshot.text_len()),
            },
            begins_line: *which == Which::UniqueLines,
            keep: match which {
                Which::Unique => MAX_LISTED_MATCHES,
                Which::UniqueLines | Which::All | Which::Exactly(_) => usize::MAX,
            },
        }))
    }

    fn needle(&self) -> Needle<'_> {
        Needle { text: self.needle.as_bytes(), within: self.within, keep: self.keep }
    }
}

fn resolve_operation(
    operation: &Operation,
    hits: &Hits,
    edit: usize,
    rules: EditRules,
    misses: &Misses<'_, '_>,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    match operation {
        Operation::Replace { old, new, which, within } => {
            let (old, new) = (canonical(old), canonical(new));
            require_decided(hits, snapshot.needle(&old).len(), *which, snapshot)?;
            let name = format!("edit {edit}");
            if hits.count == 0 {
                let within = within.map(|lines| line_range_span(lines, snapshot)).transpose()?;
                let place = PlaceHint { within, ..PlaceHint::default() };
                let request = SearchRequest::of_snippet(name, &old, &new, place)
                    .everywhere(matches!(which, Which::All | Which::Exactly(_)));
                let resolved = misses.resolve(&request)?;
                return match which {
                    Which::Exactly(expected) if *expected != resolved.spans.len() => {
                        let starts = resolved.spans.iter().map(|span| span.start());
                        Err(wrong_count(*expected, starts, resolved.spans.len(), snapshot))
                    }
                    _ => Ok(resolved),
                };
            }
            let length = snapshot.needle(&old).len();
            let spans: Vec<Span> =
                hits.starts.iter().map(|&start| Span::new(start, start + length)).collect();
            if let (Which::Unique | Which::UniqueLines, [found]) = (which, &spans[..]) {
                require_unapplied(&old, &new, *found, rules, snapshot)?;
            }
            let mut resolved = replace_exactly(&name, spans, &old, &new, rules, snapshot)?;
            resolved.notes.extend(misses.note_odd_indentation(&name, old.lines(), new.lines()));
            Ok(resolved)
        }
        Operation::ReplaceAt { old, new, lines } => {
            let (old, new) = (canonical(old), canonical(new));
            let within = Some(line_range_span(*lines, snapshot)?);
            let place = PlaceHint { within, chosen: true, ..PlaceHint::default() };
            let request = SearchRequest::of_snippet(format!("edit {edit}"), &old, &new, place);
            Ok(ResolvedEdit { rung: Rung::Chosen, ..misses.resolve_chosen(&request)? })
        }
        Operation::ReplaceLines { lines, new, expect } => {
            replace_lines(edit, *lines, &canonical(new), expect.as_deref(), rules, snapshot)
        }
        Operation::InsertLines { after, text } => {
            let after = match after {
                InsertAfter::Line(line) => *line,
                InsertAfter::LastLine => snapshot.line_count(),
            };
            insert_lines(edit, after, &canonical(text), rules.newline, snapshot)
        }
        Operation::Append { text, separator, .. } => {
            let end = snapshot.text_len();
            let mut text = canonical(text).into_owned();
            let separates = match separator {
                Separator::Literal => false,
                Separator::Newline => !snapshot.ends_with_newline(),
                Separator::NewlineUnlessTerminated => snapshot.byte_before(end) != Some(b'\n'),
            };
            if separates {
                text.insert(0, '\n');
            }
            let resolved = resolved_at(edit, Span::new(end, end), text, rules.newline, snapshot)?;
            Ok(ResolvedEdit { anchor: Anchor::End, ..resolved })
        }
        Operation::Prepend { text, separator, .. } => {
            let mut text = canonical(text).into_owned();
            let joins_lines = snapshot.text_len() > 0 && !text.is_empty() && !text.ends_with('\n');
            if *separator != Separator::Literal && joins_lines {
                text.push('\n');
            }
            let resolved = resolved_at(edit, Span::new(0, 0), text, rules.newline, snapshot)?;
            Ok(ResolvedEdit { anchor: Anchor::Start, ..resolved })
        }
        Operation::Sketch(sketch) => resolve_sketch(edit, sketch, rules, snapshot),
        Operation::Cell(change) => resolve_cell(edit, change, rules, snapshot),
        Operation::Create { .. }
        | Operation::Overwrite { .. }
        | Operation::Fill { .. }
        | Operation::Hunk(_)
        | Operation::HunkAt { .. }
        | Operation::Delete
        | Operation::Move { .. }
        | Operation::SetExecutable(_) => Err(Reason::NotAlone),
    }
}

/// Replaces spans whose text is `old`; `name` identifies the edit in notes.
pub(super) fn replace_exactly(
    name: &str,
    spans: Vec<Span>,
    old: &str,
    new: &str,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let cut = match spans[..] {
        [at] if cuts_indentation(at.start(), old, new, snapshot) => Some(snapshot.line_of(at.start())),
        _ => None,
    };
    let mut resolved = replace(name, Rung::Exact, spans, new.to_owned(), rules, snapshot)?;
    if has_escaped_line_breaks(old, new) {
        resolved.notes.push(format!(
            "{name}: the new text has `\\n` as two characters where the old text has line breaks; it was written as sent"
        ));
    }
    resolved.notes.extend(cut.map(|line| {
        format!(
            "{name}: the old text starts inside the indentation of line {line}, and the new lines were written as sent; check their indentation"
        )
    }));
    Ok(resolved)
}

/// Whether the line breaks of a new text were probably escaped once too often, though those of the old text were not: the new text is a
/// single line, and a part of it between two `\n` is a line of the old text.
fn has_escaped_line_breaks(old: &str, new: &str) -> bool {
    let (old, new) = (old.trim_end_matches('\n'), new.trim_end_matches('\n'));
    let lines = || new.split("\\n").map(str::trim).filter(|line| is_distinctive(line));
    let is_old = |line: &str| old.lines().any(|old| old.trim() == line);
    !new.contains('\n') && new.contains("\\n") && old.contains('\n') && lines().any(is_old)
}

/// Whether text of several lines starts inside the indentation of a line: the request has less of it than the file, so its other
/// lines are probably at the wrong depth too.
fn cuts_indentation(start: usize, old: &str, new: &str, snapshot: &Snapshot) -> bool {
    if !old.starts_with([' ', '\t']) {
        return false;
    }
    let line_start = snapshot.line_span(snapshot.line_of(start)).start();
    let before = snapshot.text_in(Span::new(line_start, start));
    !before.is_empty()
        && before.iter().all(|byte| matches!(byte, b' ' | b'\t'))
        && new.trim_end_matches('\n').contains('\n')
}

impl Hits {
    /// The matches of a text of this length that begin a line; if there are none, those with only indentation before them.
    fn at_line_starts(self, length: usize, text: &[u8]) -> Self {
        let is_at_start = |start: &usize| {
            let before = text[..*start].iter().rev();
            before.take_while(|byte| **byte != b'\n').all(|byte| matches!(byte, b' ' | b'\t'))
        };
        let mut starts: Vec<usize> = self.starts.into_iter().filter(is_at_start).collect();
        let is_first = |start: &usize| text[..*start].last().is_none_or(|byte| *byte == b'\n');
        if starts.iter().any(is_first) {
            starts.retain(is_first);
        }
        let mut non_overlapping = 0;
        let mut end = 0;
        for &start in starts.iter() {
            if start >= end {
                non_overlapping += 1;
                end = start + length;
            }
        }
        let overlapping = starts.windows(2).any(|pair| pair[1] < pair[0] + length);
        Self { count: starts.len(), non_overlapping, overlapping, starts }
    }

    /// Whether the matches say which text to replace.
    fn decide(&self, which: Which) -> bool {
        match which {
            Which::Unique | Which::UniqueLines => self.count <= 1,
            Which::All => !self.overlapping,
            Which::Exactly(expected) => !self.overlapping && (self.count == expected || self.count == 0),
        }
    }
}

/// Fails if the matches do not say which text to replace.
fn require_decided(hits: &Hits, length: usize, which: Which, snapshot: &Snapshot) -> Result<(), Reason> {
    if hits.decide(which) {
        return Ok(());
    }
    if let Which::Exactly(expected) = which
        && !hits.overlapping
    {
        return Err(wrong_count(expected, hits.starts.iter().copied(), hits.count, snapshot));
    }
    let lines = hits.starts.iter().take(MAX_LISTED_MATCHES).map(|&start| snapshot.line_of(start)).collect();
    let shown = hits.starts.iter().take(MAX_CANDIDATES);
    let mut candidates: Vec<_> =
        shown.map(|&start| candidate_at(Span::new(start, start + length), snapshot)).collect();
    add_landmarks(&mut candidates, snapshot);
    let (count, non_overlapping, overlapping) = (hits.count, hits.non_overlapping, hits.overlapping);
    Err(Reason::Ambiguous { lines, count, non_overlapping, overlapping, candidates })
}

/// The reason for a text that does not occur as often as the caller says.
fn wrong_count(
    expected: usize,
    starts: impl Iterator<Item = usize>,
    count: usize,
    snapshot: &Snapshot,
) -> Reason {
    let lines = starts.take(MAX_LISTED_MATCHES).map(|start| snapshot.line_of(start)).collect();
    Reason::WrongCount { expected, count, lines }
}

fn replace_lines(
    edit: usize,
    lines: LineRange,
    new: &str,
    expect: Option<&str>,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let count = snapshot.line_count();
    let LineRange { first, last } = lines;
    if first < 1 || last < first || last > count {
        return Err(Reason::OutOfRange { first, last, count });
    }
    let expect = expect.map(canonical);
    let span = Span::new(snapshot.line_span(first).start(), snapshot.line_span(last).end());
    let found = snapshot.text_in(span);
    let found = String::from_utf8_lossy(&found);
    let found = canonical(&found);
    if let Some(expect) = expect.filter(|expect| trim_newline(expect) != trim_newline(&found)) {
        return Err(match find_replaced_lines(lines, &expect, new, rules, snapshot) {
            Some(lines) => Reason::AlreadyApplied(Diagnosis::of_applied(&[lines], snapshot)),
            None => Reason::Unexpected { first, last, found: found.into_owned() },
        });
    }
    // A line range always covers whole lines, so the file decides about the final newline, not the new text.
    let mut new = new.to_owned();
    if found.ends_with('\n') {
        if !new.is_empty() && !new.ends_with('\n') {
            new.push('\n');
        }
    } else if new.ends_with('\n') {
        new.pop();
    }
    resolved_at(edit, span, new, rules.newline, snapshot)
}

fn insert_lines(
    edit: usize,
    after: usize,
    text: &str,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let count = snapshot.line_count();
    if after > count {
        return Err(Reason::OutOfRange { first: after, last: after, count });
    }
    let at = if after == 0 { 0 } else { snapshot.line_span(after).end() };
    let mut text = text.to_owned();
    if !text.is_empty() {
        if at > 0 && at == snapshot.text_len() && !snapshot.ends_with_newline() {
            text.insert(0, '\n');
            if text.ends_with('\n') && text.len() > 1 {
                text.pop();
            }
        } else if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    resolved_at(edit, Span::new(at, at), text, style, snapshot)
}

fn trim_newline(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}
