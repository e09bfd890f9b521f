//! Edits whose old text has no exact match: recovered if the place is beyond doubt, otherwise explained.

use std::ops::Range;

use super::diagnose::diagnose;
use super::diagnosis::{Cause, Diagnosis, MAX_CANDIDATES, candidate};
use super::error::Reason;
use super::merge::Unmergeable;
use super::recover::{RecoveredPlace, Recovery, Replacement, recover};
use super::resolved_edit::{Part, ResolvedEdit, encode_at, line_range_span, replace};
use crate::change::Rung;
use crate::plan::{EditRules, IfAlreadyApplied, LineRange, Matching, NewlineStyle};
use crate::snapshot::Snapshot;
use slipstitch_text::{Span, canonical};

/// Tries to recover an edit whose old text has no exact match.
pub(super) fn recover_edit(
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
pub(super) fn explain_failure(
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
    match (diagnosis.cause, rules.if_already_applied) {
        (Cause::AlreadyApplied, IfAlreadyApplied::Succeed) => Reason::AlreadyApplied(diagnosis),
        _ => Reason::NotFound(diagnosis),
    }
}

/// Applies an edit at a recovered place.
pub(super) fn apply_recovered(
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
    style: NewlineStyle,
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
    let words: Vec<&str> = found.classes.iter().map(|class| class.label()).collect();
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
