//! Turns a matched hunk into changes of the file. Context lines keep the file's bytes.

use super::line_table::LineTable;
use super::variant::{Line, Variant};
use super::{Caveat, HunkFinder, HunkMatch, PendingHunk};
use crate::change::Rung;
use crate::find::alignment::{IndentPair, indent};
use crate::find::error::Reason;
use crate::find::indentation::Indentation;
use crate::find::resolved_edit::{Part, ResolvedEdit, diff_parts};
use crate::plan::Placing;
use crate::snapshot::Snapshot;
use slipstitch_patch::Role;
use slipstitch_text::Span;
use slipstitch_text::{Encoding, NewlineCounts};

/// Consecutive removed lines and the lines added instead of them.
struct Run<'r, 'h> {
    from: usize,
    to: usize,
    added: Vec<&'r Line<'h>>,
}

/// What a hunk changes at its place.
pub(super) fn apply_hunk(
    pending: &PendingHunk<'_>,
    matched: HunkMatch,
    finder: &HunkFinder<'_>,
) -> Result<ResolvedEdit, Reason> {
    let variant = &pending.variants[matched.variant];
    let (table, snapshot) = (&finder.table, finder.snapshot);
    let runs = runs(variant, matched.start);
    let (from, to) = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) => (first.from, last.to),
        _ => (matched.start, matched.start),
    };
    let claim = table.span(from, to);
    let indentation = indentation(variant, matched, table);
    let exact_endings = has_exact_line_endings(variant, matched.start, table, snapshot);
    let mut changed = Vec::new();
    let mut new = String::new();
    let mut at = from;
    for run in &runs {
        let text = RunText::of(run, variant, &indentation, table, exact_endings)?;
        let span = table.span(run.from, run.to);
        new.push_str(&canonical_lines(table, at, run.from, snapshot));
        new.push_str(&text.canonical);
        at = run.to;
        changed.extend(text.parts(span, claim, finder)?);
    }
    if snapshot.newlines().cr > 0 && std::str::from_utf8(claim.of(snapshot.text())).is_err() {
        // The claim may have to be rewritten as a whole, and undecodable bytes cannot be.
        return Err(Reason::SplitsCharacter);
    }
    Ok(ResolvedEdit {
        number: 0,
        rung: matched.rung,
        spans: vec![claim],
        parts: changed,
        new,
        notes: notes(pending, matched, finder.placing == Placing::TrailingWhitespace),
        classes: Vec::new(),
    })
}

/// Groups the removed and added lines of a hunk.
fn runs<'r, 'h>(variant: &'r Variant<'h>, start: usize) -> Vec<Run<'r, 'h>> {
    let mut runs: Vec<Run<'r, 'h>> = Vec::new();
    let mut open = false;
    let mut at = start;
    for line in &variant.lines {
        if line.role == Role::Context {
            at += 1;
            open = false;
            continue;
        }
        if !open {
            runs.push(Run { from: at, to: at, added: Vec::new() });
            open = true;
        }
        let Some(run) = runs.last_mut() else { continue };
        if line.role == Role::Removed {
            at += 1;
            run.to = at;
        } else {
            run.added.push(line);
        }
    }
    runs
}

/// Learns how to indent added lines from the non-blank old lines and the lines they match.
fn indentation(variant: &Variant<'_>, matched: HunkMatch, table: &LineTable<'_>) -> Indentation {
    let exact = matched.rung <= Rung::Exact;
    let old = (matched.start..).zip(variant.old()).filter(|(_, line)| !exact && !line.text.trim().is_empty());
    let pairs: Vec<IndentPair> = old
        .map(|(at, line)| IndentPair {
            removed: line.role == Role::Removed,
            request: indent(line.text).to_owned(),
            file: indent(&table.shown(at)).to_owned(),
        })
        .collect();
    let added: Vec<&str> =
        variant.lines.iter().filter(|line| line.role == Role::Added).map(|line| indent(line.text)).collect();
    Indentation::learn(&pairs, &added)
}

/// Whether the diff specifies the line endings of a file with mixed ones: some of its lines have a `\r`, and each old
/// line has one exactly where the file's line does. A file with only `\r\n` keeps it regardless, because models copy
/// context lines with `\r` and write new lines without.
fn has_exact_line_endings(
    variant: &Variant<'_>,
    start: usize,
    table: &LineTable<'_>,
    snapshot: &Snapshot,
) -> bool {
    let NewlineCounts { lf, crlf, cr } = snapshot.newlines();
    let shown = variant.old_count() > 0 || lf + crlf + cr == 0;
    let possible = shown && snapshot.encoding() == Encoding::Utf8 && !(lf == 0 && crlf > 0);
    if !possible || !variant.lines.iter().any(|line| line.crlf) {
        return false;
    }
    (start..).zip(variant.old()).all(|(at, line)| {
        let end = table.span(at, at + 1).end();
        let raw = snapshot.raw_span(Span::new(end.saturating_sub(1), end));
        !line.newline || raw.is_some_and(|raw| (raw.len() == 2) == line.crlf)
    })
}

fn canonical_lines(table: &LineTable<'_>, from: usize, to: usize, snapshot: &Snapshot) -> String {
    let bytes = table.span(from, to).of(snapshot.text());
    let text = String::from_utf8_lossy(bytes);
    if snapshot.needle("\n").len() > 1 { text.replace("\r\n", "\n") } else { text.into_owned() }
}

/// The text that replaces a run of lines.
struct RunText {
    canonical: String,
    /// The same with the diff's line endings, if they are used.
    literal: Option<String>,
}

impl RunText {
    fn of(
        run: &Run<'_, '_>,
        variant: &Variant<'_>,
        indentation: &Indentation,
        table: &LineTable<'_>,
        exact_endings: bool,
    ) -> Result<Self, Reason> {
        let mut canonical = String::new();
        let mut literal = String::new();
        for line in &run.added {
            let text =
                indentation.reindent_line(line.text).ok_or(Reason::UnclearIndent { line: run.from + 1 })?;
            canonical.push_str(&text);
            canonical.push('\n');
            literal.push_str(&text);
            literal.push_str(if line.crlf { "\r\n" } else { "\n" });
        }
        let mut exact = exact_endings;
        if run.to == table.count() && !run.added.is_empty() {
            let keeps_newline = match table.lacks_final_newline() {
                true => variant.old_lacks_newline() && !variant.new_lacks_newline(),
                false => variant.old_lacks_newline() || !variant.new_lacks_newline(),
            };
            if !keeps_newline {
                canonical.pop();
                literal.pop();
                if literal.ends_with('\r') {
                    literal.pop();
                }
            }
            if table.lacks_final_newline() && run.from == run.to {
                canonical.insert(0, '\n');
                exact = false;
            }
        }
        Ok(Self { canonical, literal: exact.then_some(literal) })
    }

    /// The changes, relative to the start of the claim.
    fn parts(&self, run: Span, claim: Span, finder: &HunkFinder<'_>) -> Result<Vec<Part>, Reason> {
        let offset = run.start() - claim.start();
        if let Some(literal) = &self.literal {
            let insert = finder.snapshot.encoding().encode(literal)?;
            return Ok(vec![Part { old: offset..offset + run.len(), insert }]);
        }
        let list = diff_parts(run, &self.canonical, finder.newline, finder.snapshot)?;
        Ok(list
            .into_iter()
            .map(|part| Part { old: part.old.start + offset..part.old.end + offset, ..part })
            .collect())
    }
}

/// Notes for the caller about an inexact match.
fn notes(pending: &PendingHunk<'_>, matched: HunkMatch, trailing_only: bool) -> Vec<String> {
    let (number, line) = (pending.number, matched.start + 1);
    // Never 100 %: it is not identical.
    let percent = ((matched.similarity * 100.0).round() as u32).min(99);
    let how = match (matched.rung, matched.caveat) {
        (Rung::Tolerant, _) if trailing_only => {
            return vec![format!(
                "Hunk {number}: trailing whitespace differs from the file's at line {line}; the file's was kept"
            )];
        }
        (Rung::Fuzzy, _) => "fuzzy match",
        (Rung::Tolerant, _) => "tolerant match",
        (_, Caveat::Elsewhere) => {
            let stated = pending.hunk.line.unwrap_or_default();
            return vec![format!(
                "Hunk {number} does not match at line {stated}, but in several other places; it was applied at the nearest, line {line}"
            )];
        }
        (_, Caveat::OutsideScope) => {
            let scope = pending.hunk.scopes.last().map_or("", |scope| scope.trim());
            return vec![format!(
                "Hunk {number} was applied at line {line}, which is not in the block of `{scope}`"
            )];
        }
        (_, Caveat::None) => return Vec::new(),
    };
    vec![format!("Hunk {number} applied via {how} ({percent}% similarity at line {line})")]
}
