//! Applies edits at recovered places.

use std::ops::Range;

use super::error::Reason;
use super::recovery::{RecoveredPlace, Replacement};
use super::resolved_edit::{Part, Parts, ResolvedEdit, encode_at, replace};
use crate::change::{DifferenceKind, Rung};
use crate::plan::{EditRules, NewlineStyle, Tolerance};
use crate::snapshot::Snapshot;
use slipstitch_text::display::join_items;
use slipstitch_text::{Span, canonical};

/// Applies an edit at a recovered place; `name` identifies it in notes.
pub(super) fn apply_recovered(
    name: &str,
    mut found: RecoveredPlace,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let replacement = std::mem::replace(&mut found.replacement, Replacement::Parts(Vec::new()));
    let resolved = match replacement {
        Replacement::Text(new) => replace(name, Rung::Exact, vec![found.at], new, rules, snapshot)?,
        Replacement::Parts(changes) => apply_parts(found.at, changes, rules.newline, snapshot)?,
    };
    Ok(with_recovery_note(name, found, resolved, rules.tolerance))
}

/// Adds a note about how the place was found.
fn with_recovery_note(
    name: &str,
    found: RecoveredPlace,
    mut resolved: ResolvedEdit,
    tolerance: Tolerance,
) -> ResolvedEdit {
    let Some(rung) = found.classes.iter().map(|class| class.rung()).max() else { return resolved };
    let (line, percent) = (found.lines.start, found.percent);
    let is_whitespace = |class: &DifferenceKind| {
        matches!(class, DifferenceKind::TrailingWhitespace | DifferenceKind::Indentation)
    };
    let is_similar =
        matches!(tolerance, Tolerance::Similar { .. }) && !found.classes.iter().all(is_whitespace);
    let note = match tolerance {
        Tolerance::TrailingWhitespace => {
            format!("{name}: trailing whitespace differs from the file's at line {line}; the file's was kept")
        }
        Tolerance::Whitespace | Tolerance::Similar { .. } => {
            let how = if is_similar { "fuzzy" } else { "tolerant" };
            format!("{name} applied via {how} match ({percent}% similarity at line {line})")
        }
        Tolerance::Exact | Tolerance::Recover => {
            let labels = join_items(found.classes.iter().map(|class| class.label()));
            let how = found.describe_worst().map_or(String::new(), |how| format!(": {how}"));
            format!("{name}: recovered at {} ({labels}){how}", found.lines)
        }
    };
    resolved.notes.insert(0, note);
    resolved.rung = if is_similar { Rung::Fuzzy } else { rung };
    resolved.classes = found.classes;
    resolved
}

/// Replaces some parts of a span and keeps the rest.
fn apply_parts(
    at: Span,
    changes: Vec<(Range<usize>, String)>,
    style: NewlineStyle,
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
    Ok(ResolvedEdit::new(Rung::Exact, vec![at], Parts::Shared(parts), new))
}
