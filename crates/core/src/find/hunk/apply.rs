//! Turns a matched hunk into changes of the file. Context lines keep the file's bytes.

use super::line_table::LineTable;
use super::variant::{Line, Variant};
use super::{Caveat, HunkFinder, HunkMatch, PendingHunk};
use crate::find::error::Reason;
use crate::find::recovered_edit::applied;
use crate::find::resolved_edit::{Part, Parts, ResolvedEdit, diff_parts};
use crate::plan::Run;
use crate::snapshot::Snapshot;
use slipstitch_patch::Role;
use slipstitch_text::Span;
use slipstitch_text::display::decode_lossy;
use slipstitch_text::{Encoding, NewlineCounts};

/// Consecutive removed lines and the lines added instead of them.
struct LineRun<'r, 'h> {
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
    let (table, snapshot) = (&finder.table, finder.file.snapshot);
    let runs = runs(variant, matched.start);
    let (from, to) = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) => (first.from, last.to),
        _ => (matched.start, matched.start),
    };
    let claim = table.span(from, to);
    let exact_endings = has_exact_line_endings(variant, matched.start, table, snapshot);
    let mut changed = Vec::new();
    let mut new = String::new();
    let mut at = from;
    for run in &runs {
        let text = RunText::of(run, variant, table, exact_endings);
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
    let resolved = ResolvedEdit::new(matched.rung, vec![claim], Parts::Shared(changed), new);
    Ok(ResolvedEdit { notes: notes(pending, matched, finder.file.run), ..resolved })
}

/// Groups the removed and added lines of a hunk.
fn runs<'r, 'h>(variant: &'r Variant<'h>, start: usize) -> Vec<LineRun<'r, 'h>> {
    let mut runs: Vec<LineRun<'r, 'h>> = Vec::new();
    let mut open = false;
    let mut at = start;
    for line in &variant.lines {
        if line.role == Role::Context {
            at += 1;
            open = false;
            continue;
        }
        if !open {
            runs.push(LineRun { from: at, to: at, added: Vec::new() });
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
    let text = decode_lossy(bytes);
    if snapshot.needle("\n").len() > 1 { text.replace("\r\n", "\n") } else { text.into_owned() }
}

/// The text that replaces a run of lines.
struct RunText {
    canonical: String,
    /// The same with the diff's line endings, if they are used.
    literal: Option<String>,
}

impl RunText {
    fn of(run: &LineRun<'_, '_>, variant: &Variant<'_>, table: &LineTable<'_>, exact_endings: bool) -> Self {
        let mut canonical = String::new();
        let mut literal = String::new();
        for line in &run.added {
            canonical.push_str(line.text);
            canonical.push('\n');
            literal.push_str(line.text);
            literal.push_str(if line.crlf { "\r\n" } else { "\n" });
        }
        let mut exact = exact_endings;
        if run.to == table.count() && !run.added.is_empty() {
            if !variant.file_end().leaves_newline(table.lacks_final_newline()) {
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
        Self { canonical, literal: exact.then_some(literal) }
    }

    /// The changes, relative to the start of the claim.
    fn parts(&self, run: Span, claim: Span, finder: &HunkFinder<'_>) -> Result<Vec<Part>, Reason> {
        let offset = run.start() - claim.start();
        if let Some(literal) = &self.literal {
            let insert = finder.file.snapshot.encoding().encode(literal)?.into();
            return Ok(vec![Part { old: offset..offset + run.len(), insert }]);
        }
        let list = diff_parts(run, &self.canonical, finder.rules.newline, finder.file.snapshot)?;
        Ok(list
            .into_iter()
            .map(|part| Part { old: part.old.start + offset..part.old.end + offset, ..part })
            .collect())
    }
}

/// Notes for the caller about a match that is less than certain.
fn notes(pending: &PendingHunk<'_>, matched: HunkMatch, run: Run) -> Vec<String> {
    let (number, line) = (pending.number, matched.start + 1);
    let scope = pending.hunk.scopes.last().map_or("", |scope| scope.trim());
    match matched.caveat {
        Caveat::None => Vec::new(),
        Caveat::Elsewhere => {
            let stated = pending.hunk.line.unwrap_or_default();
            vec![format!(
                "Hunk {number} does not match at line {stated}; of several other matches, the nearest is used, at line {line}"
            )]
        }
        Caveat::OutsideScope => {
            vec![format!(
                "Hunk {number} {} at line {line}, which is not in the block of `{scope}`",
                applied(run)
            )]
        }
        Caveat::ScopeMissing => vec![scope_note(number, scope)],
    }
}

/// A note about a hunk that is not where its header says.
pub(super) fn offset_note(number: usize, stated: usize, line: usize, offset: isize, run: Run) -> String {
    let lines = if offset.abs() == 1 { "line" } else { "lines" };
    format!(
        "Hunk {number} {} at line {line}, not at line {stated} as its header says (offset {offset} {lines})",
        applied(run)
    )
}

/// A note about an insertion without context that is not where its header says.
pub(super) fn shift_note(number: usize, stated: usize, after: usize, run: Run) -> String {
    format!(
        "Hunk {number} {} after line {after}, not after line {stated} as its header says: it has no context, and the hunk \
         before it is off by as much",
        applied(run)
    )
}

/// A note about a scope line that is not in the file.
pub(super) fn scope_note(number: usize, scope: &str) -> String {
    format!(
        "Hunk {number}: `{scope}` after `@@` is not in the file and was ignored; the hunk's own lines are there once"
    )
}
