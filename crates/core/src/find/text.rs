//! Operations on a text: which spans each one replaces, and with what.

use std::ops::Range;

use super::EditFailure;
use super::alignment::indent;
use super::diagnosis::{Cause, Diagnosis, MAX_CANDIDATES, candidate, candidate_at, diagnose};
use super::error::Reason;
use super::merge::Unmergeable;
use super::recover::{RecoveredPlace, Recovery, Replacement, recover, recover_at};
use super::search::{Hits, Needle, search};
use crate::change::Class;
use crate::change::Rung;
use crate::plan::{
    EditRules, FinalNewline, InsertAfter, LineRange, Matching, NewLineEnd, Operation, Repeated, Separator,
    Which,
};
use crate::snapshot::Snapshot;
use slipstitch_text::Span;
use slipstitch_text::canonical;
use slipstitch_text::narrow;

/// How many matches of an ambiguous text are listed by line.
const MAX_LISTED_MATCHES: usize = 1000;

/// How many unmatched texts of one batch are recovered or diagnosed; each one reads the whole file.
const MAX_DIAGNOSES: usize = 10;

/// An operation with its place in the file and its new text.
#[derive(Debug)]
pub(super) struct ResolvedEdit {
    /// The operation's number in the request.
    pub(super) number: usize,
    pub(super) rung: Rung,
    /// The spans it claims in the searchable text, in order.
    pub(super) spans: Vec<Span>,
    /// What changes inside each span.
    pub(super) parts: Vec<Part>,
    /// The complete new text of one span, for counting lines.
    pub(super) new: String,
    pub(super) notes: Vec<String>,
    /// How the request differs from the file.
    pub(super) classes: Vec<Class>,
}

/// New bytes for part of a claimed span; `old` is relative to the start of the span.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) old: Range<usize>,
    pub(super) insert: Vec<u8>,
}

/// Resolves every operation against the same text, each on its own.
pub(super) fn resolve_operations(
    operations: &[Operation],
    first_edit: usize,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Vec<Result<ResolvedEdit, EditFailure>> {
    let queries: Vec<_> = operations.iter().map(|operation| ExactQuery::of(operation, snapshot)).collect();
    let needles: Vec<Needle<'_>> = queries.iter().flatten().flatten().map(ExactQuery::needle).collect();
    let mut found = search(snapshot.text(), &needles).into_iter();
    let mut hits: Vec<Result<Hits, Reason>> = Vec::with_capacity(operations.len());
    for query in &queries {
        hits.push(match query {
            Ok(Some(_)) => Ok(found.next().unwrap_or_default()),
            Ok(None) => Ok(Hits::default()),
            Err(reason) => Err(reason.clone()),
        });
    }
    let mut diagnoses = MAX_DIAGNOSES;
    operations
        .iter()
        .zip(hits)
        .zip(first_edit..)
        .map(|((operation, hits), edit)| {
            hits.and_then(|hits| resolve_operation(operation, &hits, edit, rules, snapshot, &mut diagnoses))
                .map_err(|reason| (edit, reason))
        })
        .collect()
}

/// A text to search for exactly.
struct ExactQuery {
    needle: String,
    within: Span,
    keep: usize,
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
                None => Span::new(0, snapshot.text().len()),
            },
            keep: match which {
                Which::Unique => MAX_LISTED_MATCHES,
                Which::All => usize::MAX,
            },
        }))
    }

    fn needle(&self) -> Needle<'_> {
        Needle { text: self.needle.as_bytes(), within: self.within, keep: self.keep }
    }
}

/// The span of a line range, which may extend past the end of the file but must start inside it.
fn line_range_span(lines: LineRange, snapshot: &Snapshot) -> Result<Span, Reason> {
    let count = snapshot.line_count();
    let LineRange { first, last } = lines;
    if first < 1 || first > count || last < first {
        return Err(Reason::OutOfRange { first, last, count });
    }
    Ok(Span::new(snapshot.line_span(first).start(), snapshot.line_span(last.min(count)).end()))
}

fn resolve_operation(
    operation: &Operation,
    hits: &Hits,
    edit: usize,
    rules: EditRules,
    snapshot: &Snapshot,
    diagnoses: &mut usize,
) -> Result<ResolvedEdit, Reason> {
    match operation {
        Operation::Replace { old, new, which, within } => {
            let (old, new) = (canonical(old), canonical(new));
            require_decided(hits, snapshot.needle(&old).len(), *which, snapshot)?;
            if hits.count == 0 {
                return recover_edit(edit, &old, &new, *within, rules, snapshot, diagnoses);
            }
            let needle = snapshot.needle(&old);
            let spans = hits.starts.iter().map(|&start| Span::new(start, start + needle.len())).collect();
            replace(edit, Rung::Exact, spans, new.into_owned(), rules, snapshot)
        }
        Operation::ReplaceAt { old, new, lines } => {
            let (old, new) = (canonical(old), canonical(new));
            match recover_at(&old, &new, line_range_span(*lines, snapshot)?, snapshot) {
                Recovery::Found(found) => {
                    let resolved = apply_recovered(edit, found, rules, snapshot)?;
                    Ok(ResolvedEdit { rung: Rung::Chosen, ..resolved })
                }
                recovery => explain_failure(recovery, &old, &new, Some(*lines), rules, snapshot),
            }
        }
        Operation::ReplaceLines { lines, new, expect } => {
            replace_lines(edit, *lines, &canonical(new), expect.as_deref(), rules.newline, snapshot)
        }
        Operation::InsertLines { after, text } => {
            let after = match after {
                InsertAfter::Line(line) => *line,
                InsertAfter::LastLine => snapshot.line_count(),
            };
            insert_lines(edit, after, &canonical(text), rules.newline, snapshot)
        }
        Operation::Append { text, separator, .. } => {
            let end = snapshot.text().len();
            let mut text = canonical(text).into_owned();
            if *separator == Separator::Newline && !snapshot.ends_with_newline() {
                text.insert(0, '\n');
            }
            resolved_at(edit, Span::new(end, end), text, rules.newline, snapshot)
        }
        Operation::Prepend { text, separator, .. } => {
            let mut text = canonical(text).into_owned();
            let joins_lines = !snapshot.text().is_empty() && !text.is_empty() && !text.ends_with('\n');
            if *separator == Separator::Newline && joins_lines {
                text.push('\n');
            }
            resolved_at(edit, Span::new(0, 0), text, rules.newline, snapshot)
        }
        Operation::Create { .. }
        | Operation::Overwrite { .. }
        | Operation::Fill { .. }
        | Operation::Hunk(_)
        | Operation::Delete
        | Operation::Move { .. }
        | Operation::SetExecutable(_) => Err(Reason::NotAlone),
    }
}

/// Tries to recover an edit whose old text has no exact match.
fn recover_edit(
    edit: usize,
    old: &str,
    new: &str,
    within: Option<LineRange>,
    rules: EditRules,
    snapshot: &Snapshot,
    diagnoses: &mut usize,
) -> Result<ResolvedEdit, Reason> {
    let Some(left) = diagnoses.checked_sub(1) else { return Err(Reason::NotFound(Diagnosis::unknown())) };
    *diagnoses = left;
    let part = match within {
        Some(lines) => line_range_span(lines, snapshot)?,
        None => Span::new(0, snapshot.text().len()),
    };
    match recover(old, new, part, snapshot) {
        Recovery::Found(found) if rules.matching == Matching::Recover => {
            apply_recovered(edit, found, rules, snapshot)
        }
        recovery => explain_failure(recovery, old, new, within, rules, snapshot),
    }
}

/// Turns the outcome of a recovery that cannot be applied into the reason to report.
fn explain_failure(
    recovery: Recovery,
    old: &str,
    new: &str,
    within: Option<LineRange>,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let recovers = rules.matching == Matching::Recover;
    Err(match recovery {
        Recovery::Ambiguous(lines) if recovers => {
            let count = lines.len();
            let shown = lines.iter().take(MAX_CANDIDATES);
            Reason::Ambiguous {
                candidates: shown.map(|&lines| candidate(lines, snapshot)).collect(),
                lines: lines.iter().map(|lines| lines.start).collect(),
                count,
                non_overlapping: count,
                overlapping: false,
            }
        }
        Recovery::AlreadyApplied(lines) if recovers => {
            not_found_or_applied(rules, Diagnosis::at(Cause::AlreadyApplied, lines, snapshot))
        }
        Recovery::Unmergeable(lines, why) if recovers => {
            let cause = match why {
                Unmergeable::Elision => Cause::Elision,
                Unmergeable::Indentation | Unmergeable::AlreadyPresent => Cause::Indentation,
            };
            Reason::NotFound(Diagnosis::at(cause, lines, snapshot))
        }
        recovery => not_found_or_applied(rules, diagnose(old, new, within, &recovery, snapshot)),
    })
}

/// The reason for an edit whose old text is missing: an applied edit counts as such where the rules say so.
fn not_found_or_applied(rules: EditRules, diagnosis: Diagnosis) -> Reason {
    match (diagnosis.cause, rules.repeated) {
        (Cause::AlreadyApplied, Repeated::AlreadyApplied) => Reason::AlreadyApplied(diagnosis),
        _ => Reason::NotFound(diagnosis),
    }
}

/// Applies an edit at a recovered place.
fn apply_recovered(
    edit: usize,
    found: RecoveredPlace,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let name = format!("edit {edit}");
    let resolved = match &found.replacement {
        Replacement::Text(new) => {
            let resolved = replace(edit, Rung::Exact, vec![found.at], new.clone(), rules, snapshot)?;
            with_recovery_note(&name, found, resolved)
        }
        Replacement::Parts(_) => apply_recovered_lines(&name, found, rules.newline, snapshot)?,
    };
    Ok(ResolvedEdit { number: edit, ..resolved })
}

/// Applies line changes at a recovered place; `name` identifies the edit in the note.
pub(super) fn apply_recovered_lines(
    name: &str,
    mut found: RecoveredPlace,
    style: NewLineEnd,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let changes = match std::mem::replace(&mut found.replacement, Replacement::Parts(Vec::new())) {
        Replacement::Parts(changes) => changes,
        Replacement::Text(new) => vec![(found.at.start()..found.at.end(), new)],
    };
    let resolved = apply_parts(found.at, changes, style, snapshot)?;
    Ok(with_recovery_note(name, found, resolved))
}

/// Adds a note about how the place was found.
fn with_recovery_note(name: &str, found: RecoveredPlace, mut resolved: ResolvedEdit) -> ResolvedEdit {
    let words: Vec<&str> = found.classes.iter().map(|class| class.words()).collect();
    if words.is_empty() {
        return resolved;
    }
    let how = found.describe_worst().map_or(String::new(), |how| format!(": {how}"));
    resolved.notes.insert(0, format!("{name}: recovered at {} ({}){how}", found.lines, words.join(", ")));
    resolved.rung = found.classes.iter().map(|class| class.rung()).max().unwrap_or(Rung::Exact);
    resolved.classes = found.classes;
    resolved
}

/// Replaces some parts of a span and keeps the rest.
fn apply_parts(
    at: Span,
    changes: Vec<(Range<usize>, String)>,
    style: NewLineEnd,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let text = snapshot.text();
    let kept = |from: usize, to: usize| canonical(&String::from_utf8_lossy(&text[from..to])).into_owned();
    let mut new = String::new();
    let mut copied = at.start();
    let mut parts = Vec::with_capacity(changes.len());
    for (range, insert) in changes {
        new.push_str(&kept(copied, range.start));
        new.push_str(&insert);
        copied = range.end;
        let old = range.start - at.start()..range.end - at.start();
        let insert = encode_at(&insert, Span::new(range.start, range.end), style, snapshot)?;
        parts.push(Part { old, insert });
    }
    new.push_str(&kept(copied, at.end()));
    Ok(ResolvedEdit {
        number: 0,
        rung: Rung::Exact,
        spans: vec![at],
        parts,
        new,
        notes: Vec::new(),
        classes: Vec::new(),
    })
}

/// Fails if the matches do not say which text to replace.
fn require_decided(hits: &Hits, length: usize, which: Which, snapshot: &Snapshot) -> Result<(), Reason> {
    let decided = match which {
        Which::Unique => hits.count <= 1,
        Which::All => !hits.overlapping,
    };
    if decided {
        return Ok(());
    }
    let lines = hits.starts.iter().take(MAX_LISTED_MATCHES).map(|&start| snapshot.line_of(start)).collect();
    let shown = hits.starts.iter().take(MAX_CANDIDATES);
    let candidates = shown.map(|&start| candidate_at(Span::new(start, start + length), snapshot)).collect();
    let (count, non_overlapping, overlapping) = (hits.count, hits.non_overlapping, hits.overlapping);
    Err(Reason::Ambiguous { lines, count, non_overlapping, overlapping, candidates })
}

/// Replaces every span with `new`.
fn replace(
    edit: usize,
    rung: Rung,
    spans: Vec<Span>,
    mut new: String,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let mut notes = Vec::new();
    if rules.final_newline == FinalNewline::Kept
        && let [at] = spans[..]
        && let Some((kept, note)) = keep_line_start(at, &new, snapshot)
    {
        notes.push(format!("edit {edit}: {note}"));
        new = kept;
    }
    let drops = |span: &&Span| drops_newline(**span, &new, snapshot);
    if let Some(span) = spans.iter().find(drops) {
        let line = snapshot.line_of(span.end() - 1);
        match rules.final_newline {
            FinalNewline::Kept => {
                notes.push(format!(
                    "edit {edit}: the old text ends with a newline and the new text does not; the newline after line {line} was kept (to join lines, include both in the old text)"
                ));
                new.push('\n');
            }
            FinalNewline::Literal if span.end() < snapshot.text().len() => {
                notes.push(format!(
                    "edit {edit}: the old text ends with a newline and the new text does not; line {line} was joined with the next line"
                ));
            }
            FinalNewline::Literal => {}
        }
    }
    let style = if spans.len() == 1 { rules.newline } else { NewLineEnd::Dominant };
    let parts = diff_parts(spans[0], &new, style, snapshot)?;
    Ok(ResolvedEdit { number: edit, rung, spans, parts, new, notes, classes: Vec::new() })
}

/// Adjusts new text that would change the start of its first line by accident: it lacks the newline that the old
/// text starts with, or it repeats the indentation that precedes the old text on its line.
fn keep_line_start(at: Span, new: &str, snapshot: &Snapshot) -> Option<(String, String)> {
    let text = snapshot.text();
    let old = String::from_utf8_lossy(at.of(text));
    let old = canonical(&old);
    let line = snapshot.line_of(at.start());
    if let Some(rest) = old.strip_prefix('\n') {
        let ends_line = old.ends_with('\n')
            || text[at.end()..].first().is_none_or(|&byte| byte == b'\n' || byte == b'\r');
        let joins_lines = new.trim() == old.trim() || indent(new) != indent(rest);
        return (ends_line && !new.is_empty() && !new.starts_with('\n') && !joins_lines && !rest.starts_with('\n')).then(|| {
            let note = format!("the old text starts with a newline and the new text does not; the newline after line {line} was kept (to join lines, include both in the old text)");
            (format!("\n{new}"), note)
        });
    }
    let before = &text[snapshot.line_span(line).start()..at.start()];
    let before =
        std::str::from_utf8(before).ok().filter(|before| !before.is_empty() && before.trim().is_empty())?;
    let bare = new.strip_prefix(before).filter(|bare| !bare.starts_with([' ', '\t']) && *bare != old)?;
    (indent(&old).is_empty()).then(|| {
        let note = format!("the new text repeats the indentation before the old text on line {line}; it was not written twice");
        (bare.to_owned(), note)
    })
}

/// Whether whole lines would be replaced by text without a final newline. A span also counts as whole lines if it
/// starts after the indentation of its first line, which models often leave out.
fn drops_newline(span: Span, new: &str, snapshot: &Snapshot) -> bool {
    let text = snapshot.text();
    if new.is_empty() || new.ends_with('\n') || !span.of(text).ends_with(b"\n") {
        return false;
    }
    let mut before = text[..span.start()].iter().rev().take_while(|&&byte| byte != b'\n');
    before.all(|byte| matches!(byte, b' ' | b'\t'))
}

fn replace_lines(
    edit: usize,
    lines: LineRange,
    new: &str,
    expect: Option<&str>,
    style: NewLineEnd,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let count = snapshot.line_count();
    let LineRange { first, last } = lines;
    if first < 1 || last < first || last > count {
        return Err(Reason::OutOfRange { first, last, count });
    }
    let span = Span::new(snapshot.line_span(first).start(), snapshot.line_span(last).end());
    let found = String::from_utf8_lossy(span.of(snapshot.text()));
    let found = canonical(&found);
    if expect.is_some_and(|expect| trim_newline(&canonical(expect)) != trim_newline(&found)) {
        return Err(Reason::Unexpected { first, last, found: found.into_owned() });
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
    resolved_at(edit, span, new, style, snapshot)
}

fn insert_lines(
    edit: usize,
    after: usize,
    text: &str,
    style: NewLineEnd,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let count = snapshot.line_count();
    if after > count {
        return Err(Reason::OutOfRange { first: after, last: after, count });
    }
    let at = if after == 0 { 0 } else { snapshot.line_span(after).end() };
    let mut text = text.to_owned();
    if !text.is_empty() {
        if at > 0 && at == snapshot.text().len() && !snapshot.ends_with_newline() {
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

/// Resolves an operation whose place was given explicitly.
fn resolved_at(
    edit: usize,
    at: Span,
    new: String,
    style: NewLineEnd,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let parts = diff_parts(at, &new, style, snapshot)?;
    Ok(ResolvedEdit {
        number: edit,
        rung: Rung::Stated,
        spans: vec![at],
        parts,
        new,
        notes: Vec::new(),
        classes: Vec::new(),
    })
}

/// The smallest changes that turn the text at `at` into canonical `new`, in the file's encoding and newlines.
pub(super) fn diff_parts(
    at: Span,
    new: &str,
    style: NewLineEnd,
    snapshot: &Snapshot,
) -> Result<Vec<Part>, Reason> {
    let new = snapshot.needle(new);
    narrow(at.of(snapshot.text()), new.as_bytes())
        .into_iter()
        .map(|swap| {
            let view = Span::new(at.start() + swap.old.start, at.start() + swap.old.end);
            Ok(Part { old: swap.old, insert: encode_at(&canonical(&new[swap.new]), view, style, snapshot)? })
        })
        .collect()
}

/// Encodes canonical text for insertion at `view`.
fn encode_at(text: &str, view: Span, style: NewLineEnd, snapshot: &Snapshot) -> Result<Vec<u8>, Reason> {
    let newline = match style {
        NewLineEnd::Dominant => snapshot.newlines().dominant(),
        NewLineEnd::Nearby => snapshot.newline_near(view),
    };
    Ok(snapshot.encode_with(text, newline)?)
}
