//! Why a hunk matches nowhere: the first line that differs, and what the file has file_line.

use super::line_table::LineComparison;
use super::variant::Variant;
use super::{HunkFinder, PendingHunk};
use crate::find::diagnosis::{Candidate, Cause, Diagnosis, candidate_at};
use crate::find::error::Reason;
use slipstitch_patch::Role;

/// How many hunks of one file are diagnosed; for the others only the stated line is compared.
pub(super) const MAX_DIAGNOSED: usize = 20;
/// How many votes of lines are counted.
const MAX_VOTES: usize = 100_000;

/// Explains why a hunk matches nowhere.
pub(super) fn explain(
    pending: &PendingHunk<'_>,
    stated: Option<usize>,
    finder: &HunkFinder<'_>,
    diagnoses: &mut usize,
) -> Reason {
    let variant = &pending.variants[0];
    let mut place = stated;
    let mut found_similar = false;
    if let Some(left) = diagnoses.checked_sub(1) {
        *diagnoses = left;
        if let Some(applied) = find_applied(variant, stated, finder) {
            return Reason::AlreadyApplied(Diagnosis::new(Cause::AlreadyApplied, vec![applied]));
        }
        let found = closest(variant, stated, finder);
        found_similar = found.is_some();
        place = found.or(stated);
    }
    let first = variant.old().next().map_or("", |line| line.text);
    let Some(start) = place else {
        let expected = first.to_owned();
        return Reason::HunkMissing { line: None, expected, found: None, closest: None };
    };
    let end = start.saturating_add(variant.old_count()).min(finder.table.count());
    let closest =
        (found_similar && start < end).then(|| candidate_at(finder.table.span(start, end), finder.snapshot));
    for (at, line) in (start..).zip(variant.old()) {
        let file_line = (at < finder.table.count()).then(|| finder.table.line(at));
        if file_line != Some(line.text.as_bytes()) {
            let found = (at < finder.table.count()).then(|| finder.table.shown(at));
            let expected = line.text.to_owned();
            return Reason::HunkMissing { line: Some(at + 1), expected, found, closest };
        }
    }
    // The lines match, so it is their surroundings that do not.
    let line = start + 1;
    let at_end = start + variant.old_count() == finder.table.count();
    match pending.hunk.scopes.last() {
        Some(scope) if !pending.hunk.at_end => Reason::OutsideScope { line, scope: scope.trim().to_owned() },
        _ => Reason::NotAtEnd { line, newline: at_end },
    }
}

/// The place with the most matching lines, and among equals the one nearest to the stated line.
fn closest(variant: &Variant<'_>, stated: Option<usize>, finder: &HunkFinder<'_>) -> Option<usize> {
    let index = finder.trimmed.as_ref().unwrap_or(&finder.exact);
    let query = index.query(variant);
    let has_text = |text: &str| !LineComparison::Trimmed.key(text.as_bytes()).is_empty();
    let mut votes: std::collections::BTreeMap<usize, usize> = std::collections::BTreeMap::new();
    let mut counted = 0;
    for (position, line) in variant.old().enumerate().filter(|(_, line)| has_text(line.text)) {
        for &at in index.places(&query, position) {
            if let Some(start) = (at as usize).checked_sub(position) {
                *votes.entry(start).or_default() += line.text.trim().len().min(40);
            }
            counted += 1;
            if counted >= MAX_VOTES {
                break;
            }
        }
    }
    let all: usize = variant.old().map(|line| line.text.trim().len().min(40)).sum();
    let distance = |start: usize| stated.map_or(start, |stated| stated.abs_diff(start));
    votes
        .into_iter()
        .filter(|(_, weight)| weight * 4 >= all)
        .max_by_key(|&(start, weight)| (weight, std::cmp::Reverse(distance(start))))
        .map(|(start, _)| start)
}

/// Where the hunk's new lines are, if that shows that it is already applied.
fn find_applied(variant: &Variant<'_>, stated: Option<usize>, finder: &HunkFinder<'_>) -> Option<Candidate> {
    let is_distinctive = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    if !variant.lines.iter().any(|line| line.role == Role::Added && is_distinctive(line.text)) {
        return None;
    }
    let new: Vec<&str> = variant.new_lines().map(|line| line.text).collect();
    let table = &finder.table;
    let matches_at = |start: usize| {
        start + new.len() <= table.count()
            && new.iter().enumerate().all(|(n, text)| table.line(start + n) == text.as_bytes())
    };
    let shown = |start: usize| candidate_at(table.span(start, start + new.len()), finder.snapshot);
    if let Some(start) = stated.filter(|&start| matches_at(start)) {
        return Some(shown(start));
    }
    let text = new.join("\n");
    let needle = finder.snapshot.needle(&text);
    let mut places = memchr::memmem::find_iter(finder.snapshot.text(), needle.as_bytes())
        .map(|at| finder.snapshot.line_of(at) - 1)
        .filter(|&start| matches_at(start));
    let start = places.next()?;
    places.next().is_none().then(|| shown(start))
}
