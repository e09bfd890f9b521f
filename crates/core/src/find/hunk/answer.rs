//! From a place to what changes there. Lines that stay keep the file's bytes.

use super::page::Page;
use super::reading::{Line, Reading};
use super::{Desk, Doubt, Placed, Task};
use crate::change::Rung;
use crate::find::error::Reason;
use crate::find::indentation::Indentation;
use crate::find::seats::{IndentPair, indent};
use crate::find::text::{Answer, Part, parts};
use crate::plan::Placing;
use crate::snapshot::Snapshot;
use slipstitch_patch::Role;
use slipstitch_text::Span;
use slipstitch_text::{Encoding, NewlineCounts};

/// Lines of the file that go, and the lines that come in their place.
struct Run<'r, 'h> {
    from: usize,
    to: usize,
    come: Vec<&'r Line<'h>>,
}

/// What a hunk changes at the place that was found for it.
pub(super) fn answer(task: &Task<'_>, placed: Placed, desk: &Desk<'_>) -> Result<Answer, Reason> {
    let reading = &task.readings[placed.reading];
    let (page, snapshot) = (&desk.page, desk.snapshot);
    let runs = runs(reading, placed.start);
    let (from, to) = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) => (first.from, last.to),
        _ => (placed.start, placed.start),
    };
    let claim = page.span(from, to);
    let indentation = indentation(reading, placed, page);
    let exact_ends = has_exact_ends(reading, placed.start, page, snapshot);
    let mut changed = Vec::new();
    let mut new = String::new();
    let mut at = from;
    for run in &runs {
        let text = Text::of(run, reading, &indentation, page, exact_ends)?;
        let span = page.span(run.from, run.to);
        new.push_str(&kept(page, at, run.from, snapshot));
        new.push_str(&text.canonical);
        at = run.to;
        changed.extend(text.parts(span, claim, desk)?);
    }
    if snapshot.newlines().cr > 0 && std::str::from_utf8(claim.of(snapshot.text())).is_err() {
        // Such a place may have to be written anew as a whole, and these bytes cannot be.
        return Err(Reason::SplitsCharacter);
    }
    Ok(Answer {
        edit: 0,
        rung: placed.rung,
        spans: vec![claim],
        parts: changed,
        new,
        notes: notes(task, placed, desk.placing == Placing::TrailingWhitespace),
        classes: Vec::new(),
    })
}

/// The parts of a hunk in which lines go or come.
fn runs<'r, 'h>(reading: &'r Reading<'h>, start: usize) -> Vec<Run<'r, 'h>> {
    let mut runs: Vec<Run<'r, 'h>> = Vec::new();
    let mut open = false;
    let mut at = start;
    for line in &reading.lines {
        if line.role == Role::Context {
            at += 1;
            open = false;
            continue;
        }
        if !open {
            runs.push(Run { from: at, to: at, come: Vec::new() });
            open = true;
        }
        let Some(run) = runs.last_mut() else { continue };
        if line.role == Role::Removed {
            at += 1;
            run.to = at;
        } else {
            run.come.push(line);
        }
    }
    runs
}

/// How lines that come are indented, by the old lines that say something and the file's lines that they were
/// found at.
fn indentation(reading: &Reading<'_>, placed: Placed, page: &Page<'_>) -> Indentation {
    let exact = placed.rung <= Rung::Exact;
    let old = (placed.start..).zip(reading.old()).filter(|(_, line)| !exact && !line.text.trim().is_empty());
    let pairs: Vec<IndentPair> = old
        .map(|(at, line)| IndentPair {
            gone: line.role == Role::Removed,
            wanted: indent(line.text).to_owned(),
            there: indent(&page.shown(at)).to_owned(),
        })
        .collect();
    let come: Vec<&str> =
        reading.lines.iter().filter(|line| line.role == Role::Added).map(|line| indent(line.text)).collect();
    Indentation::learn(&pairs, &come)
}

/// Whether the diff gives the ends of lines of a file that has several kinds: some lines have a `\r`, and
/// every old line has one if the file's has. A file that has `\r\n` throughout keeps it, because a diff
/// whose context was copied and whose new lines were not says nothing.
fn has_exact_ends(reading: &Reading<'_>, start: usize, page: &Page<'_>, snapshot: &Snapshot) -> bool {
    let NewlineCounts { lf, crlf, cr } = snapshot.newlines();
    let shown = reading.old_count() > 0 || lf + crlf + cr == 0;
    let possible = shown && snapshot.encoding() == Encoding::Utf8 && !(lf == 0 && crlf > 0);
    if !possible || !reading.lines.iter().any(|line| line.crlf) {
        return false;
    }
    (start..).zip(reading.old()).all(|(at, line)| {
        let end = page.span(at, at + 1).end();
        let raw = snapshot.raw_span(Span::new(end.saturating_sub(1), end));
        !line.newline || raw.is_some_and(|raw| (raw.len() == 2) == line.crlf)
    })
}

fn kept(page: &Page<'_>, from: usize, to: usize, snapshot: &Snapshot) -> String {
    let bytes = page.span(from, to).of(snapshot.text());
    let text = String::from_utf8_lossy(bytes);
    if snapshot.needle("\n").len() > 1 { text.replace("\r\n", "\n") } else { text.into_owned() }
}

/// The text that takes the place of a run's lines.
struct Text {
    canonical: String,
    /// The same with the ends of lines that the diff gives, for a file that has several kinds.
    literal: Option<String>,
}

impl Text {
    fn of(
        run: &Run<'_, '_>,
        reading: &Reading<'_>,
        indentation: &Indentation,
        page: &Page<'_>,
        exact_ends: bool,
    ) -> Result<Self, Reason> {
        let mut canonical = String::new();
        let mut literal = String::new();
        for line in &run.come {
            let text = indentation.of_line(line.text).ok_or(Reason::UnclearIndent { line: run.from + 1 })?;
            canonical.push_str(&text);
            canonical.push('\n');
            literal.push_str(&text);
            literal.push_str(if line.crlf { "\r\n" } else { "\n" });
        }
        let mut exact = exact_ends;
        if run.to == page.count() && !run.come.is_empty() {
            let keeps_newline = match page.open_end() {
                true => reading.old_is_open() && !reading.new_is_open(),
                false => reading.old_is_open() || !reading.new_is_open(),
            };
            if !keeps_newline {
                canonical.pop();
                literal.pop();
                if literal.ends_with('\r') {
                    literal.pop();
                }
            }
            if page.open_end() && run.from == run.to {
                canonical.insert(0, '\n');
                exact = false;
            }
        }
        Ok(Self { canonical, literal: exact.then_some(literal) })
    }

    /// What changes, counted from the start of the claim.
    fn parts(&self, run: Span, claim: Span, desk: &Desk<'_>) -> Result<Vec<Part>, Reason> {
        let offset = run.start() - claim.start();
        if let Some(literal) = &self.literal {
            let insert = desk.snapshot.encoding().encode(literal)?;
            return Ok(vec![Part { old: offset..offset + run.len(), insert }]);
        }
        let list = parts(run, &self.canonical, desk.newline, desk.snapshot)?;
        Ok(list
            .into_iter()
            .map(|part| Part { old: part.old.start + offset..part.old.end + offset, ..part })
            .collect())
    }
}

/// What the caller should know of a place that is not exactly what the hunk says.
fn notes(task: &Task<'_>, placed: Placed, mends: bool) -> Vec<String> {
    let (number, line) = (task.number, placed.start + 1);
    // Never 100: it is not the same.
    let percent = ((placed.similarity * 100.0).round() as u32).min(99);
    let how = match (placed.rung, placed.doubt) {
        (Rung::Tolerant, _) if mends => {
            return vec![format!(
                "Hunk {number}: white space at the ends of lines differs from the file's at line {line}; the file's was taken"
            )];
        }
        (Rung::Fuzzy, _) => "fuzzy match",
        (Rung::Tolerant, _) => "tolerant match",
        (_, Doubt::Elsewhere) => {
            let stated = task.hunk.line.unwrap_or_default();
            return vec![format!(
                "Hunk {number} does not fit at line {stated} and fits in several places; it was applied at the nearest, line {line}"
            )];
        }
        (_, Doubt::OutsideScope) => {
            let scope = task.hunk.scopes.last().map_or("", |scope| scope.trim());
            return vec![format!(
                "Hunk {number} was applied at line {line}, which is not in the block of `{scope}`"
            )];
        }
        (_, Doubt::None) => return Vec::new(),
    };
    vec![format!("Hunk {number} applied via {how} ({percent}% similarity at line {line})")]
}
