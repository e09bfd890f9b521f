//! Operations on a text: where each one goes and what it puts there.

use std::ops::Range;

use super::Failed;
use super::diagnosis::{Cause, Diagnosis, MOST_CANDIDATES, candidate_at, diagnose};
use super::error::Reason;
use super::narrow::narrow;
use super::recover::{Attempt, recover};
use super::search::{Hits, Needle, search};
use crate::change::{Rung, Span};
use crate::plan::{FinalNewline, LineRange, Manner, Matching, Operation, Repeated, Separator, Which};
use crate::snapshot::{Snapshot, canonical};

/// How many matches of an ambiguous text are looked up by line.
const MOST_LINES: usize = 1000;

/// How many texts of one batch that were not found are looked into.
const MOST_DIAGNOSES: usize = 10;

/// Where an operation goes and what it puts there.
#[derive(Debug)]
pub(super) struct Answer {
    /// The operation's number in the request.
    pub(super) edit: usize,
    pub(super) rung: Rung,
    /// The places it claims, in the searchable text, front to back.
    pub(super) spans: Vec<Span>,
    /// What changes in each of them.
    pub(super) parts: Vec<Part>,
    /// The whole new text, for counting its lines.
    pub(super) new: String,
    pub(super) notes: Vec<String>,
}

/// Bytes for a part of a claimed place; the range counts from the place's start.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) old: Range<usize>,
    pub(super) insert: Vec<u8>,
}

/// Answers every operation on one text, each for itself.
pub(super) fn answer_all(
    operations: &[Operation],
    first_edit: usize,
    manner: Manner,
    snapshot: &Snapshot,
) -> Vec<Result<Answer, Failed>> {
    let searches: Vec<_> = operations.iter().map(|operation| Search::of(operation, snapshot)).collect();
    let needles: Vec<Needle<'_>> = searches.iter().flatten().flatten().map(Search::needle).collect();
    let mut found = search(snapshot.text(), &needles).into_iter();
    let mut hits: Vec<Result<Hits, Reason>> = Vec::with_capacity(operations.len());
    for search in &searches {
        hits.push(match search {
            Ok(Some(_)) => Ok(found.next().unwrap_or_default()),
            Ok(None) => Ok(Hits::default()),
            Err(reason) => Err(reason.clone()),
        });
    }
    let mut diagnoses = MOST_DIAGNOSES;
    operations
        .iter()
        .zip(hits)
        .zip(first_edit..)
        .map(|((operation, hits), edit)| {
            hits.and_then(|hits| answer(operation, &hits, edit, manner, snapshot, &mut diagnoses))
                .map_err(|reason| (edit, reason))
        })
        .collect()
}

/// A text that an operation has to find.
struct Search {
    needle: String,
    within: Span,
    keep: usize,
}

impl Search {
    fn of(operation: &Operation, snapshot: &Snapshot) -> Result<Option<Self>, Reason> {
        let Operation::Replace { old, which, within, .. } = operation else { return Ok(None) };
        if old.trim().is_empty() {
            return Err(Reason::BlankOld { empty: old.is_empty() });
        }
        Ok(Some(Self {
            needle: snapshot.needle(&canonical(old)).into_owned(),
            within: match within {
                Some(lines) => hint_span(*lines, snapshot)?,
                None => Span::new(0, snapshot.text().len()),
            },
            keep: match which {
                Which::Unique => MOST_LINES,
                Which::All => usize::MAX,
            },
        }))
    }

    fn needle(&self) -> Needle<'_> {
        Needle { text: self.needle.as_bytes(), within: self.within, keep: self.keep }
    }
}

/// A hint may reach beyond the end of the file, but must start inside it.
fn hint_span(lines: LineRange, snapshot: &Snapshot) -> Result<Span, Reason> {
    let count = snapshot.line_count();
    let LineRange { first, last } = lines;
    if first < 1 || first > count || last < first {
        return Err(Reason::OutOfRange { first, last, count });
    }
    Ok(Span::new(snapshot.line_span(first).start(), snapshot.line_span(last.min(count)).end()))
}

fn answer(
    operation: &Operation,
    hits: &Hits,
    edit: usize,
    manner: Manner,
    snapshot: &Snapshot,
    diagnoses: &mut usize,
) -> Result<Answer, Reason> {
    match operation {
        Operation::Replace { old, new, which, within } => {
            let (old, new) = (canonical(old), canonical(new));
            unambiguous(hits, snapshot.needle(&old).len(), *which, snapshot)?;
            if hits.count == 0 {
                return recovered(edit, &old, &new, *within, manner, snapshot, diagnoses);
            }
            let needle = snapshot.needle(&old);
            let spans = hits.starts.iter().map(|&start| Span::new(start, start + needle.len())).collect();
            replace(edit, Rung::Exact, spans, new.into_owned(), manner, snapshot)
        }
        Operation::ReplaceLines { lines, new, expect } => {
            replace_lines(edit, *lines, &canonical(new), expect.as_deref(), snapshot)
        }
        Operation::InsertLines { after, text } => insert_lines(edit, *after, &canonical(text), snapshot),
        Operation::Append { text, separator, .. } => {
            let end = snapshot.text().len();
            let mut text = canonical(text).into_owned();
            if *separator == Separator::Newline && !snapshot.ends_with_newline() {
                text.insert(0, '\n');
            }
            stated(edit, Span::new(end, end), text, Vec::new(), snapshot)
        }
        Operation::Prepend { text, separator, .. } => {
            let mut text = canonical(text).into_owned();
            let joins = !snapshot.text().is_empty() && !text.is_empty() && !text.ends_with('\n');
            if *separator == Separator::Newline && joins {
                text.push('\n');
            }
            stated(edit, Span::new(0, 0), text, Vec::new(), snapshot)
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

/// Text that does not stand in the file as given: found all the same, or not, and why.
fn recovered(
    edit: usize,
    old: &str,
    new: &str,
    within: Option<LineRange>,
    manner: Manner,
    snapshot: &Snapshot,
    diagnoses: &mut usize,
) -> Result<Answer, Reason> {
    // Each look reads the file once more.
    let Some(left) = diagnoses.checked_sub(1) else { return Err(Reason::NotFound(Diagnosis::none())) };
    *diagnoses = left;
    if manner.matching == Matching::Recover {
        let part = match within {
            Some(lines) => hint_span(lines, snapshot)?,
            None => Span::new(0, snapshot.text().len()),
        };
        match recover(old, new, part, snapshot) {
            Attempt::Nothing => {}
            Attempt::One(found) => {
                let line = snapshot.line_of(found.at.start());
                let mut answer = replace(edit, found.rung, vec![found.at], found.new, manner, snapshot)?;
                answer.notes.insert(0, format!("edit {edit}: recovered at line {line}: {}", found.how));
                return Ok(answer);
            }
            Attempt::Several(lines) => {
                let count = lines.len();
                return Err(Reason::Ambiguous {
                    lines,
                    count,
                    apart: count,
                    overlapping: false,
                    candidates: Vec::new(),
                });
            }
        }
    }
    let diagnosis = diagnose(old, new, within, snapshot);
    Err(match (diagnosis.cause, manner.repeated) {
        (Cause::AlreadyApplied, Repeated::AlreadyApplied) => Reason::AlreadyApplied(diagnosis),
        _ => Reason::NotFound(diagnosis),
    })
}

fn unambiguous(hits: &Hits, length: usize, which: Which, snapshot: &Snapshot) -> Result<(), Reason> {
    let decided = match which {
        Which::Unique => hits.count <= 1,
        Which::All => !hits.overlapping,
    };
    if decided {
        return Ok(());
    }
    let lines = hits.starts.iter().take(MOST_LINES).map(|&start| snapshot.line_of(start)).collect();
    let shown = hits.starts.iter().take(MOST_CANDIDATES);
    let candidates = shown.map(|&start| candidate_at(Span::new(start, start + length), snapshot)).collect();
    let (count, apart, overlapping) = (hits.count, hits.apart, hits.overlapping);
    Err(Reason::Ambiguous { lines, count, apart, overlapping, candidates })
}

/// Puts `new` in the place of found text.
fn replace(
    edit: usize,
    rung: Rung,
    spans: Vec<Span>,
    mut new: String,
    manner: Manner,
    snapshot: &Snapshot,
) -> Result<Answer, Reason> {
    let mut notes = Vec::new();
    let drops = |span: &&Span| drops_newline(**span, &new, snapshot);
    if let Some(span) = spans.iter().find(drops) {
        let line = snapshot.line_of(span.end() - 1);
        match manner.final_newline {
            FinalNewline::Kept => {
                notes.push(format!(
                    "edit {edit}: the old text ends with a newline and the new one does not; the newline of line {line} was kept (to join lines, put both into the old text)"
                ));
                new.push('\n');
            }
            FinalNewline::Literal if span.end() < snapshot.text().len() => {
                notes.push(format!(
                    "edit {edit}: the new text lacks the newline that the old one ends with; line {line} and the one after it were joined"
                ));
            }
            FinalNewline::Literal => {}
        }
    }
    let old = spans[0].of(snapshot.text());
    let parts = parts(old, &new, snapshot)?;
    Ok(Answer { edit, rung, spans, parts, new, notes })
}

/// Whole lines, from a line's start to its newline, replaced by text that has no newline at its end.
fn drops_newline(span: Span, new: &str, snapshot: &Snapshot) -> bool {
    let text = snapshot.text();
    let whole = (span.start() == 0 || text[span.start() - 1] == b'\n') && span.of(text).ends_with(b"\n");
    whole && !new.is_empty() && !new.ends_with('\n')
}

fn replace_lines(
    edit: usize,
    lines: LineRange,
    new: &str,
    expect: Option<&str>,
    snapshot: &Snapshot,
) -> Result<Answer, Reason> {
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
    // Lines have ends of their own: the new text's last newline says nothing, the file's does.
    let mut new = new.to_owned();
    if found.ends_with('\n') {
        if !new.is_empty() && !new.ends_with('\n') {
            new.push('\n');
        }
    } else if new.ends_with('\n') {
        new.pop();
    }
    stated(edit, span, new, Vec::new(), snapshot)
}

fn insert_lines(edit: usize, after: usize, text: &str, snapshot: &Snapshot) -> Result<Answer, Reason> {
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
    stated(edit, Span::new(at, at), text, Vec::new(), snapshot)
}

fn trim_newline(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// An operation that names its place.
fn stated(
    edit: usize,
    at: Span,
    new: String,
    notes: Vec<String>,
    snapshot: &Snapshot,
) -> Result<Answer, Reason> {
    let parts = parts(at.of(snapshot.text()), &new, snapshot)?;
    Ok(Answer { edit, rung: Rung::Stated, spans: vec![at], parts, new, notes })
}

/// What changes where canonical `new` takes the place of `old`, in the file's bytes.
pub(super) fn parts(old: &[u8], new: &str, snapshot: &Snapshot) -> Result<Vec<Part>, Reason> {
    let new = snapshot.needle(new);
    narrow(old, new.as_bytes())
        .into_iter()
        .map(|swap| Ok(Part { old: swap.old, insert: snapshot.encode(&canonical(&new[swap.new]))? }))
        .collect()
}
