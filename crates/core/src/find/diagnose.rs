//! Finds out why a text was not found, and the closest places.
//!
//! Lines of the request that occur in the file vote for where the request would start, and the differences at the
//! places with the most votes are classified. If no line occurs, the lines that share the most words with the
//! request's longest line are listed instead. Both searches are bounded.

use std::collections::HashSet;

use super::alignment::{Alignment, Difference};
use super::diagnosis::{
    Candidate, Cause, Diagnosis, LineDifference, MAX_CANDIDATES, candidate, candidate_at,
};
use super::drift::closest_alignments;
use super::recover::{MAX_BYTES, RecoveredPlace, Recovery, lines_of_span};
use super::script::{Role, Script};
use super::search_index::SearchIndex;
use super::similarity::line_similarity;
use crate::change::{DifferenceKind, Lines, Rung};
use crate::plan::LineRange;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// How many differences of a candidate are shown.
const MAX_DIFFERENCES: usize = 4;
/// How similar a place must be to be listed, and to be diagnosed.
const MIN_CLOSE: f64 = 0.4;
const MIN_VERY_CLOSE: f64 = 0.6;
/// How much of the file is compared word by word.
const MAX_WORD_BYTES: usize = 4 << 20;

/// Diagnoses why canonical `old` was not found. `recovery` is what recovery would do if the tool allowed it.
pub(super) fn diagnose(
    old: &str,
    new: &str,
    within: Option<LineRange>,
    recovery: &Recovery,
    snapshot: &Snapshot,
) -> Diagnosis {
    let find = |text: &str| memchr::memmem::find(snapshot.text(), snapshot.needle(text).as_bytes());
    if within.is_some()
        && let Some(start) = find(old)
    {
        let at = Span::new(start, start + snapshot.needle(old).len());
        return Diagnosis::new(Cause::OutsideRange, vec![candidate_at(at, snapshot)]);
    }
    if let Recovery::Found(found) = recovery {
        return diagnose_recovered(found, snapshot).with_resend(snapshot);
    }
    let mut near = NearMatches::by_lines(old, new, snapshot);
    if near.candidates.is_empty() {
        let wanted: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        near = NearMatches::by_words(&wanted, snapshot);
    }
    if let Some(place) = find_applied(old, new, snapshot)
        && near
            .candidates
            .iter()
            .map(|candidate| candidate.lines)
            .all(|lines| lines.start < place.start + place.count && place.start < lines.start + lines.count)
    {
        return Diagnosis::new(Cause::AlreadyApplied, vec![candidate(place, snapshot)]);
    }
    match near.cause {
        Some(cause) => Diagnosis::new(cause, near.candidates).with_resend(snapshot),
        None => Diagnosis::new(Cause::NotFound, near.candidates),
    }
}

/// Describes a place that recovery found.
fn diagnose_recovered(found: &RecoveredPlace, snapshot: &Snapshot) -> Diagnosis {
    let cause = match found.classes.iter().map(|class| class.rung()).max() {
        Some(Rung::Transport) => Cause::Transport,
        Some(Rung::Punctuation) => Cause::Punctuation,
        Some(Rung::Elision | Rung::Drift) => Cause::StaleContext,
        _ => Cause::Whitespace,
    };
    let mut place = candidate_at(found.at, snapshot);
    place.differences = shown_differences(&found.differences);
    if cause == Cause::Transport {
        let first = place.lines.start;
        place.differences = found
            .classes
            .iter()
            .filter(|class| class.rung() == Rung::Transport)
            .map(|&class| LineDifference { class, line: first, file: String::new(), request: String::new() })
            .collect();
    }
    Diagnosis::new(cause, vec![place])
}

/// Places that are similar to the request.
struct NearMatches {
    cause: Option<Cause>,
    candidates: Vec<Candidate>,
}

impl NearMatches {
    fn by_lines(old: &str, new: &str, snapshot: &Snapshot) -> Self {
        let mut near = Self { cause: None, candidates: Vec::new() };
        if snapshot.text().len() > MAX_BYTES {
            return near;
        }
        let script = Script::of_snippet(old, new);
        let index = SearchIndex::new(Span::new(0, snapshot.text().len()), snapshot);
        for (alignment, score) in closest_alignments(&script, &index).into_iter().take(MAX_CANDIDATES) {
            if score < MIN_CLOSE {
                break;
            }
            let differences = alignment.differences(&script, &index);
            if near.candidates.is_empty() && score >= MIN_VERY_CLOSE {
                near.cause = Some(cause_of(&differences, &script, &alignment));
            }
            let lines = alignment.lines();
            near.candidates.push(Candidate {
                differences: shown_differences(&differences),
                ..candidate(lines, snapshot)
            });
        }
        near
    }
}

impl NearMatches {
    /// Lines that share words with the request. For a request of one line, with the difference.
    fn by_words(wanted: &[&str], snapshot: &Snapshot) -> Self {
        let mut near = Self { cause: None, candidates: Vec::new() };
        for lines in lines_sharing_words(wanted, snapshot) {
            let mut place = candidate(lines, snapshot);
            if let [line] = wanted {
                let file = snapshot.line(lines.start).into_owned();
                if line_similarity(line, file.trim()) >= MIN_VERY_CLOSE {
                    let request = (*line).to_owned();
                    let difference =
                        Difference { class: DifferenceKind::Drift, line: lines.start, request, file };
                    place.differences.push((&difference).into());
                    near.cause =
                        Some(Cause::ChangedLine).filter(|_| near.candidates.is_empty()).or(near.cause);
                }
            }
            near.candidates.push(place);
        }
        near
    }
}

/// Why a request does not match a place that is close.
fn cause_of(differences: &[Difference], script: &Script, alignment: &Alignment) -> Cause {
    let is_removed = |line: usize| {
        script
            .rows
            .iter()
            .enumerate()
            .any(|(row, text)| text.role == Role::Removed && alignment.line(row) == Some(line))
    };
    let mut cause = Cause::Whitespace;
    for difference in differences {
        match difference.class {
            DifferenceKind::Drift | DifferenceKind::PartialLine if is_removed(difference.line) => {
                return Cause::ChangedLine;
            }
            DifferenceKind::Drift | DifferenceKind::PartialLine => cause = Cause::StaleContext,
            DifferenceKind::Punctuation if cause == Cause::Whitespace => cause = Cause::Punctuation,
            _ => {}
        }
    }
    cause
}

/// The differences to show, the worst last.
fn shown_differences(differences: &[Difference]) -> Vec<LineDifference> {
    let mut list: Vec<&Difference> = differences.iter().filter(|one| one.request != one.file).collect();
    list.sort_by_key(|one| std::cmp::Reverse(one.class));
    list.truncate(MAX_DIFFERENCES);
    list.iter().rev().map(|&one| one.into()).collect()
}

/// Where the new text is, if that shows that the edit is already applied: it occurs exactly once, has a distinctive
/// line that the old text lacks, and shares words with the old text. The caller still has to check that nothing
/// else in the file resembles the old text.
fn find_applied(old: &str, new: &str, snapshot: &Snapshot) -> Option<Lines> {
    let distinctive = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() >= 4;
    let known: HashSet<&str> = old.lines().map(str::trim).collect();
    let mut own = new.lines().map(str::trim).filter(distinctive);
    if !own.any(|line| !known.contains(line)) || !share_words(old, new) {
        return None;
    }
    let start = find_unique(new, snapshot)?;
    Some(lines_of_span(Span::new(start, start + snapshot.needle(new).len()), snapshot))
}

/// Whether two texts share at least half the words of the one with fewer words.
fn share_words(old: &str, new: &str) -> bool {
    let (old, new): (HashSet<&str>, HashSet<&str>) = (words(old).collect(), words(new).collect());
    let fewer = old.len().min(new.len());
    fewer > 0 && old.intersection(&new).count() * 2 >= fewer
}

/// Where a text is, if it occurs exactly once and is not cut inside a word.
fn find_unique(text: &str, snapshot: &Snapshot) -> Option<usize> {
    let (haystack, needle) = (snapshot.text(), snapshot.needle(text));
    let mut places = memchr::memmem::find_iter(haystack, needle.as_bytes());
    let start = places.next()?;
    let in_word = |byte: Option<&u8>| byte.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let word_before = start > 0 && in_word(haystack.get(start - 1)) && in_word(needle.as_bytes().first());
    let word_after = in_word(haystack.get(start + needle.len())) && in_word(needle.as_bytes().last());
    (places.next().is_none() && !word_before && !word_after).then_some(start)
}

/// Lines that share at least half the words of the request's longest line.
fn lines_sharing_words(wanted: &[&str], snapshot: &Snapshot) -> Vec<Lines> {
    let Some(longest) = wanted.iter().max_by_key(|line| line.len()) else { return Vec::new() };
    let mut words: Vec<&str> = words(longest).collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() {
        return Vec::new();
    }
    let text = snapshot.text();
    let mut best: Vec<(usize, usize)> = Vec::new(); // shared words, line
    for (number, line) in text[..text.len().min(MAX_WORD_BYTES)].split(|&byte| byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let mut seen: Vec<&str> =
            self::words(&line).filter(|word| words.binary_search(word).is_ok()).collect();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() * 2 >= words.len() {
            best.push((seen.len(), number + 1));
            best.sort_by_key(|&(shared, line)| (std::cmp::Reverse(shared), line));
            best.truncate(MAX_CANDIDATES);
        }
    }
    best.into_iter().map(|(_, line)| Lines { start: line, count: 1 }).collect()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1)
}
