//! Operations on a text: where each one goes and what it puts there.

use std::ops::Range;

use super::Failed;
use super::diagnosis::{Cause, Diagnosis, MAX_CANDIDATES, candidate, candidate_at, diagnose};
use super::error::Reason;
use super::merge::Unmergeable;
use super::recover::{Attempt, Change, Found, chosen, recover};
use super::search::{Hits, Needle, search};
use super::seats::indent;
use crate::change::DifferenceKind;
use crate::change::Rung;
use crate::plan::{
    EditRules, IfAlreadyApplied, InsertAfter, LineRange, Matching, NewlineStyle, OmittedNewline, Operation,
    Separator, Which,
};
use crate::snapshot::Snapshot;
use slipstitch_text::Span;
use slipstitch_text::canonical;
use slipstitch_text::diff_lines;

/// How many matches of an ambiguous text are looked up by line.
const MAX_LINES: usize = 1000;

/// How many texts of one batch that were not found are looked into.
const MAX_DIAGNOSES: usize = 10;

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
    /// How the request differs from the file in its place.
    pub(super) classes: Vec<DifferenceKind>,
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
    rules: EditRules,
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
    let mut diagnoses = MAX_DIAGNOSES;
    operations
        .iter()
        .zip(hits)
        .zip(first_edit..)
        .map(|((operation, hits), edit)| {
            hits.and_then(|hits| answer(operation, &hits, edit, rules, snapshot, &mut diagnoses))
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
                Which::Unique => MAX_LINES,
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
    rules: EditRules,
    snapshot: &Snapshot,
    diagnoses: &mut usize,
) -> Result<Answer, Reason> {
    match operation {
        Operation::Replace { old, new, which, within } => {
            let (old, new) = (canonical(old), canonical(new));
            unambiguous(hits, snapshot.needle(&old).len(), *which, snapshot)?;
            if hits.count == 0 {
                return recovered(edit, &old, &new, *within, rules, snapshot, diagnoses);
            }
            let needle = snapshot.needle(&old);
            let spans = hits.starts.iter().map(|&start| Span::new(start, start + needle.len())).collect();
            replace(edit, Rung::Exact, spans, new.into_owned(), rules, snapshot)
        }
        Operation::ReplaceAt { old, new, lines } => {
            let (old, new) = (canonical(old), canonical(new));
            match chosen(&old, &new, hint_span(*lines, snapshot)?, snapshot) {
                Attempt::One(found) => {
                    let answer = fitted(edit, found, rules, snapshot)?;
                    Ok(Answer { rung: Rung::Chosen, ..answer })
                }
                attempt => not_fitted(attempt, &old, &new, Some(*lines), rules, snapshot),
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
            stated(edit, Span::new(end, end), text, rules.newline, snapshot)
        }
        Operation::Prepend { text, separator, .. } => {
            let mut text = canonical(text).into_owned();
            let joins = !snapshot.text().is_empty() && !text.is_empty() && !text.ends_with('\n');
            if *separator == Separator::Newline && joins {
                text.push('\n');
            }
            stated(edit, Span::new(0, 0), text, rules.newline, snapshot)
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
    rules: EditRules,
    snapshot: &Snapshot,
    diagnoses: &mut usize,
) -> Result<Answer, Reason> {
    // Each look reads the file once more.
    let Some(left) = diagnoses.checked_sub(1) else { return Err(Reason::NotFound(Diagnosis::none())) };
    *diagnoses = left;
    let part = match within {
        Some(lines) => hint_span(lines, snapshot)?,
        None => Span::new(0, snapshot.text().len()),
    };
    match recover(old, new, part, snapshot) {
        Attempt::One(found) if rules.matching == Matching::Recover => fitted(edit, found, rules, snapshot),
        attempt => not_fitted(attempt, old, new, within, rules, snapshot),
    }
}

/// Why a text that does not stand in the file as given was not put anywhere.
fn not_fitted(
    attempt: Attempt,
    old: &str,
    new: &str,
    within: Option<LineRange>,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<Answer, Reason> {
    let recovers = rules.matching == Matching::Recover;
    Err(match attempt {
        Attempt::Several(lines) if recovers => {
            let count = lines.len();
            let shown = lines.iter().take(MAX_CANDIDATES);
            Reason::Ambiguous {
                candidates: shown.map(|&lines| candidate(lines, snapshot)).collect(),
                lines: lines.iter().map(|lines| lines.start).collect(),
                count,
                apart: count,
                overlapping: false,
            }
        }
        Attempt::AlreadyThere(lines) if recovers => {
            repeated(rules, Diagnosis::at(Cause::AlreadyApplied, lines, snapshot))
        }
        Attempt::Unfit(lines, why) if recovers => {
            let cause = match why {
                Unmergeable::Elision => Cause::Elision,
                Unmergeable::Indentation | Unmergeable::AlreadyThere => Cause::Indentation,
            };
            Reason::NotFound(Diagnosis::at(cause, lines, snapshot))
        }
        attempt => repeated(rules, diagnose(old, new, within, &attempt, snapshot)),
    })
}

/// What an edit is called whose old text is not there.
fn repeated(rules: EditRules, diagnosis: Diagnosis) -> Reason {
    match (diagnosis.cause, rules.if_already_applied) {
        (Cause::AlreadyApplied, IfAlreadyApplied::Succeed) => Reason::AlreadyApplied(diagnosis),
        _ => Reason::NotFound(diagnosis),
    }
}

/// An edit in a place that was found in spite of differences.
fn fitted(edit: usize, found: Found, rules: EditRules, snapshot: &Snapshot) -> Result<Answer, Reason> {
    let name = format!("edit {edit}");
    let answer = match &found.change {
        Change::Text(new) => {
            let answer = replace(edit, Rung::Exact, vec![found.at], new.clone(), rules, snapshot)?;
            told(&name, found, answer)
        }
        Change::Parts(_) => fitted_as(&name, found, rules.newline, snapshot)?,
    };
    Ok(Answer { edit, ..answer })
}

/// Lines in a place that was found in spite of differences; `name` is what the answer calls them.
pub(super) fn fitted_as(
    name: &str,
    mut found: Found,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<Answer, Reason> {
    let changes = match std::mem::replace(&mut found.change, Change::Parts(Vec::new())) {
        Change::Parts(changes) => changes,
        Change::Text(new) => vec![(found.at.start()..found.at.end(), new)],
    };
    let answer = changed_parts(found.at, changes, style, snapshot)?;
    Ok(told(name, found, answer))
}

/// An answer that says how its place was found.
fn told(name: &str, found: Found, mut answer: Answer) -> Answer {
    let words: Vec<&str> = found.classes.iter().map(|class| class.label()).collect();
    if words.is_empty() {
        return answer;
    }
    let how = found.how().map_or(String::new(), |how| format!(": {how}"));
    answer.notes.insert(0, format!("{name}: recovered at {} ({}){how}", found.lines, words.join(", ")));
    answer.rung = found.classes.iter().map(|class| class.rung()).max().unwrap_or(Rung::Exact);
    answer.classes = found.classes;
    answer
}

/// Some parts of a place changed, the rest kept.
fn changed_parts(
    at: Span,
    changes: Vec<(Range<usize>, String)>,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<Answer, Reason> {
    let text = snapshot.text();
    let kept = |from: usize, to: usize| canonical(&String::from_utf8_lossy(&text[from..to])).into_owned();
    let mut new = String::new();
    let mut done = at.start();
    let mut parts = Vec::with_capacity(changes.len());
    for (range, insert) in changes {
        new.push_str(&kept(done, range.start));
        new.push_str(&insert);
        done = range.end;
        let old = range.start - at.start()..range.end - at.start();
        let insert = encoded(&insert, Span::new(range.start, range.end), style, snapshot)?;
        parts.push(Part { old, insert });
    }
    new.push_str(&kept(done, at.end()));
    Ok(Answer {
        edit: 0,
        rung: Rung::Exact,
        spans: vec![at],
        parts,
        new,
        notes: Vec::new(),
        classes: Vec::new(),
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
    let lines = hits.starts.iter().take(MAX_LINES).map(|&start| snapshot.line_of(start)).collect();
    let shown = hits.starts.iter().take(MAX_CANDIDATES);
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
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<Answer, Reason> {
    let mut notes = Vec::new();
    if rules.omitted_newline == OmittedNewline::Keep
        && let [at] = spans[..]
        && let Some((kept, note)) = kept_at_start(at, &new, snapshot)
    {
        notes.push(format!("edit {edit}: {note}"));
        new = kept;
    }
    let drops = |span: &&Span| drops_newline(**span, &new, snapshot);
    if let Some(span) = spans.iter().find(drops) {
        let line = snapshot.line_of(span.end() - 1);
        match rules.omitted_newline {
            OmittedNewline::Keep => {
                notes.push(format!(
                    "edit {edit}: the old text ends with a newline and the new one does not; the newline of line {line} was kept (to join lines, put both into the old text)"
                ));
                new.push('\n');
            }
            OmittedNewline::Literal if span.end() < snapshot.text().len() => {
                notes.push(format!(
                    "edit {edit}: the new text lacks the newline that the old one ends with; line {line} and the one after it were joined"
                ));
            }
            OmittedNewline::Literal => {}
        }
    }
    let style = if spans.len() == 1 { rules.newline } else { NewlineStyle::Dominant };
    let parts = parts(spans[0], &new, style, snapshot)?;
    Ok(Answer { edit, rung, spans, parts, new, notes, classes: Vec::new() })
}

/// New text for a place whose first line it does not mean to change as it says: it lacks the newline that the
/// old text starts with, or repeats the indentation that stands before the old text.
fn kept_at_start(at: Span, new: &str, snapshot: &Snapshot) -> Option<(String, String)> {
    let text = snapshot.text();
    let old = String::from_utf8_lossy(at.of(text));
    let old = canonical(&old);
    let line = snapshot.line_of(at.start());
    if let Some(rest) = old.strip_prefix('\n') {
        let ends_line = old.ends_with('\n')
            || text[at.end()..].first().is_none_or(|&byte| byte == b'\n' || byte == b'\r');
        let joins = new.trim() == old.trim() || indent(new) != indent(rest);
        return (ends_line && !new.is_empty() && !new.starts_with('\n') && !joins && !rest.starts_with('\n')).then(|| {
            let note = format!("the old text starts with a newline and the new one does not; the newline of line {line} was kept (to join lines, put both into the old text)");
            (format!("\n{new}"), note)
        });
    }
    let before = &text[snapshot.line_span(line).start()..at.start()];
    let before =
        std::str::from_utf8(before).ok().filter(|before| !before.is_empty() && before.trim().is_empty())?;
    let bare = new.strip_prefix(before).filter(|bare| !bare.starts_with([' ', '\t']) && *bare != old)?;
    (indent(&old).is_empty()).then(|| {
        let note = format!("the new text starts with the indentation that stands before the old text in line {line}; it was not written twice");
        (bare.to_owned(), note)
    })
}

/// Whole lines replaced by text that has no newline at its end. They go to a newline, from a line's start or from
/// its first character that is not blank: the indentation of the first line is easily left out.
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
    style: NewlineStyle,
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
    stated(edit, span, new, style, snapshot)
}

fn insert_lines(
    edit: usize,
    after: usize,
    text: &str,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<Answer, Reason> {
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
    stated(edit, Span::new(at, at), text, style, snapshot)
}

fn trim_newline(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// An operation that names its place.
fn stated(
    edit: usize,
    at: Span,
    new: String,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<Answer, Reason> {
    let parts = parts(at, &new, style, snapshot)?;
    Ok(Answer {
        edit,
        rung: Rung::Stated,
        spans: vec![at],
        parts,
        new,
        notes: Vec::new(),
        classes: Vec::new(),
    })
}

/// What changes where canonical `new` takes the place of what stands at `at`, in the file's bytes.
pub(super) fn parts(
    at: Span,
    new: &str,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<Vec<Part>, Reason> {
    let new = snapshot.needle(new);
    diff_lines(at.of(snapshot.text()), new.as_bytes())
        .into_iter()
        .map(|swap| {
            let view = Span::new(at.start() + swap.old.start, at.start() + swap.old.end);
            Ok(Part { old: swap.old, insert: encoded(&canonical(&new[swap.new]), view, style, snapshot)? })
        })
        .collect()
}

/// Canonical text as bytes for a part of the file.
fn encoded(text: &str, view: Span, style: NewlineStyle, snapshot: &Snapshot) -> Result<Vec<u8>, Reason> {
    let newline = match style {
        NewlineStyle::Dominant => snapshot.newlines().dominant(),
        NewlineStyle::Nearby => snapshot.newline_near(view),
    };
    Ok(snapshot.encode_with(text, newline)?)
}
