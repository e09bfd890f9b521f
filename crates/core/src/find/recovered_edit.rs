//! Applies edits at recovered places.

use std::ops::Range;

use super::alignment::Difference;
use super::error::Reason;
use super::file_text::FileText;
use super::limits::{MAX_SHOWN_CHARS, MAX_SHOWN_LINES};
use super::recovery::{RecoveredPlace, Replacement};
use super::resolved_edit::{Part, Parts, ResolvedEdit, encode_at, replace};
use crate::change::{DifferenceKind, Rung};
use crate::plan::{EditRules, NewlineStyle, Run, Tolerance};
use crate::snapshot::Snapshot;
use slipstitch_text::display::decode_lossy;
use slipstitch_text::display::{join_items, truncate_chars};
use slipstitch_text::{Span, canonical};

/// Applies an edit at a recovered place; `name` identifies it in notes.
pub(super) fn apply_recovered(
    name: &str,
    mut found: RecoveredPlace,
    rules: EditRules,
    file: &FileText<'_>,
) -> Result<ResolvedEdit, Reason> {
    let snapshot = file.snapshot;
    let replacement = std::mem::replace(&mut found.replacement, Replacement::Parts(Vec::new()));
    let resolved = match replacement {
        Replacement::Text(new) => replace(name, Rung::Exact, vec![found.at], new, rules, snapshot)?,
        Replacement::Parts(changes) => apply_parts(found.at, changes, rules.newline, snapshot)?,
    };
    Ok(with_recovery_notes(name, found, resolved, rules.tolerance, file.run))
}

/// Adds notes about how the place was found.
fn with_recovery_notes(
    name: &str,
    found: RecoveredPlace,
    mut resolved: ResolvedEdit,
    tolerance: Tolerance,
    run: Run,
) -> ResolvedEdit {
    let Some(rung) = found.classes.iter().map(|class| class.rung()).max() else { return resolved };
    let is_similar = is_similar_only(&found, tolerance);
    let notes = match tolerance {
        Tolerance::TrailingWhitespace => vec![trailing_whitespace_note(name, &found)],
        Tolerance::Whitespace | Tolerance::Similar { .. } => {
            let how = if is_similar { "fuzzy" } else { "tolerant" };
            let percent = found.percent.map_or(String::new(), |percent| format!("{percent}% similarity "));
            let line = found.lines.start;
            let mut notes =
                vec![format!("{name} {} via {how} match ({percent}at line {line})", applied(run))];
            notes.extend(differing_lines(name, &found));
            if found.has_unclear_indent {
                notes.push(format!(
                    "{name}: the file does not show how to indent the added lines, so they are indented as in the diff"
                ));
            }
            notes
        }
        Tolerance::Exact | Tolerance::Recover => {
            let labels = join_items(found.classes.iter().map(|class| class.label()));
            let how = found.describe_worst().map_or(String::new(), |how| format!(": {how}"));
            vec![format!("{name}: recovered at {} ({labels}){how}", found.lines)]
        }
    };
    resolved.notes.splice(0..0, notes);
    resolved.rung = if is_similar { Rung::Fuzzy } else { rung };
    resolved.classes = found.classes;
    resolved
}

/// What happens to an edit in a run.
pub(super) fn applied(run: Run) -> &'static str {
    match run {
        Run::Real => "applied",
        Run::Dry => "would apply",
    }
}

/// Whether only its similarity speaks for a place, and not that the lines differ just in whitespace.
fn is_similar_only(found: &RecoveredPlace, tolerance: Tolerance) -> bool {
    let Tolerance::Similar { threshold } = tolerance else { return false };
    let is_outer_whitespace = |class: &DifferenceKind| {
        matches!(class, DifferenceKind::TrailingWhitespace | DifferenceKind::Indentation)
    };
    let is_whitespace =
        |class: &DifferenceKind| is_outer_whitespace(class) || *class == DifferenceKind::Spacing;
    let is_similar = found.percent.is_none_or(|percent| f64::from(percent) >= 100.0 * threshold.value());
    !found.classes.iter().all(is_outer_whitespace) && (is_similar || !found.classes.iter().all(is_whitespace))
}

fn trailing_whitespace_note(name: &str, found: &RecoveredPlace) -> String {
    let mut lines: Vec<usize> = found.differences.iter().map(|difference| difference.line).collect();
    lines.dedup();
    if lines.is_empty() {
        return format!("{name}: the final newline differs from the file's; the file's was kept");
    }
    let more = if lines.len() > MAX_SHOWN_LINES { ", …" } else { "" };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let shown: Vec<String> = lines.iter().take(MAX_SHOWN_LINES).map(usize::to_string).collect();
    format!(
        "{name}: trailing whitespace differs from the file's at {word} {}{more}; context lines keep the file's",
        shown.join(", ")
    )
}

/// Notes that show the lines that differ.
fn differing_lines(name: &str, found: &RecoveredPlace) -> Vec<String> {
    let mut differences: Vec<&Difference> = found.differences.iter().collect();
    differences.dedup_by_key(|difference| difference.line);
    let mut notes: Vec<String> = Vec::new();
    for difference in differences.iter().take(MAX_SHOWN_LINES) {
        let (file, request) = (
            truncate_chars(&difference.file, MAX_SHOWN_CHARS),
            truncate_chars(&difference.request, MAX_SHOWN_CHARS),
        );
        let described = difference.class.describe(&file, &request);
        let what = described.unwrap_or_else(|| format!("the file has {file:?}, the diff has {request:?}"));
        notes.push(format!("{name}, line {}: {what}", difference.line));
    }
    if differences.len() > MAX_SHOWN_LINES {
        notes.push(format!("{name}: {} more lines differ", differences.len() - MAX_SHOWN_LINES));
    }
    notes
}

/// Replaces some parts of a span and keeps the rest.
fn apply_parts(
    at: Span,
    changes: Vec<(Range<usize>, String)>,
    style: NewlineStyle,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let text = snapshot.text();
    let kept = |from: usize, to: usize| canonical(&decode_lossy(&text[from..to])).into_owned();
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
    Ok(ResolvedEdit::new(Rung::Exact, vec![at], Parts::Shared(parts), new))
}
