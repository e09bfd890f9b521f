//! Why a hunk has no place: the line at which it stops fitting, and what stands there instead.

use super::page::Likeness;
use super::reading::Reading;
use super::{Desk, Task};
use crate::find::diagnosis::{Candidate, Cause, Diagnosis, candidate_at};
use crate::find::error::Reason;
use slipstitch_patch::Role;

/// How many hunks of one file are looked into; for the others only the place that they name is.
pub(super) const MAX_LOOKS: usize = 20;
/// How many lines of the file vote for a place.
const MAX_VOTES: usize = 100_000;

/// What is wrong with a hunk that fits nowhere.
pub(super) fn missing(task: &Task<'_>, wanted: Option<usize>, desk: &Desk<'_>, looks: &mut usize) -> Reason {
    let reading = &task.readings[0];
    let mut place = wanted;
    let mut seen = false;
    if let Some(left) = looks.checked_sub(1) {
        *looks = left;
        if let Some(there) = already_there(reading, wanted, desk) {
            return Reason::AlreadyApplied(Diagnosis::of(Cause::AlreadyApplied, vec![there]));
        }
        let found = closest(reading, wanted, desk);
        seen = found.is_some();
        place = found.or(wanted);
    }
    let first = reading.old().next().map_or("", |line| line.text);
    let Some(start) = place else {
        let expected = first.to_owned();
        return Reason::HunkMissing { line: None, expected, found: None, closest: None };
    };
    let end = start.saturating_add(reading.old_count()).min(desk.page.count());
    let closest = (seen && start < end).then(|| candidate_at(desk.page.span(start, end), desk.snapshot));
    for (at, line) in (start..).zip(reading.old()) {
        let there = (at < desk.page.count()).then(|| desk.page.line(at));
        if there != Some(line.text.as_bytes()) {
            let found = (at < desk.page.count()).then(|| desk.page.shown(at));
            let expected = line.text.to_owned();
            return Reason::HunkMissing { line: Some(at + 1), expected, found, closest };
        }
    }
    // Its lines stand there: what does not fit is what is around them.
    let line = start + 1;
    let at_end = start + reading.old_count() == desk.page.count();
    match task.hunk.scopes.last() {
        Some(scope) if !task.hunk.at_end => Reason::OutsideScope { line, scope: scope.trim().to_owned() },
        _ => Reason::NotAtEnd { line, newline: at_end },
    }
}

/// The place where most of the hunk's lines stand, the nearest to the one that it names.
fn closest(reading: &Reading<'_>, wanted: Option<usize>, desk: &Desk<'_>) -> Option<usize> {
    let index = desk.trimmed.as_ref().unwrap_or(&desk.exact);
    let query = index.query(reading);
    let telling = |text: &str| !Likeness::Trimmed.key(text.as_bytes()).is_empty();
    let mut votes: std::collections::BTreeMap<usize, usize> = std::collections::BTreeMap::new();
    let mut counted = 0;
    for (position, line) in reading.old().enumerate().filter(|(_, line)| telling(line.text)) {
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
    let all: usize = reading.old().map(|line| line.text.trim().len().min(40)).sum();
    let distance = |start: usize| wanted.map_or(start, |wanted| wanted.abs_diff(start));
    votes
        .into_iter()
        .filter(|(_, weight)| weight * 4 >= all)
        .max_by_key(|&(start, weight)| (weight, std::cmp::Reverse(distance(start))))
        .map(|(start, _)| start)
}

/// Where the hunk's new lines stand, if that shows that it was applied before.
fn already_there(reading: &Reading<'_>, wanted: Option<usize>, desk: &Desk<'_>) -> Option<Candidate> {
    let says = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    if !reading.lines.iter().any(|line| line.role == Role::Added && says(line.text)) {
        return None;
    }
    let new: Vec<&str> = reading.new_lines().map(|line| line.text).collect();
    let page = &desk.page;
    let stands = |start: usize| {
        start + new.len() <= page.count()
            && new.iter().enumerate().all(|(n, text)| page.line(start + n) == text.as_bytes())
    };
    let shown = |start: usize| candidate_at(page.span(start, start + new.len()), desk.snapshot);
    if let Some(start) = wanted.filter(|&start| stands(start)) {
        return Some(shown(start));
    }
    let text = new.join("\n");
    let needle = desk.snapshot.needle(&text);
    let mut places = memchr::memmem::find_iter(desk.snapshot.text(), needle.as_bytes())
        .map(|at| desk.snapshot.line_of(at) - 1)
        .filter(|&start| stands(start));
    let start = places.next()?;
    places.next().is_none().then(|| shown(start))
}
