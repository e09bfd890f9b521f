//! Finds out why a text was not found, and the closest places.
//!
//! Lines of the request that occur in the file vote for where the request would start, and the differences at the
//! places with the most votes are classified. If no line occurs, the lines that share the most words with the
//! request's longest line are listed instead. Both searches are bounded.

use std::collections::HashSet;

use super::alignment::{Alignment, Difference};
use super::diagnosis::{
    Candidate, Cause, Diagnosis, LineDifference, Mismatch, ResendEdit, candidate, candidate_at,
};
use super::drift::closest_alignments;
use super::file_text::FileText;
use super::heading::item_name;
use super::ladder;
use super::limits::{MAX_CANDIDATES, MAX_WORD_BYTES};
use super::merge::merge;
use super::recovery::{RecoveredPlace, Recovery, Replacement, lines_of_span};
use super::request::{PlaceHint, SearchRequest};
use super::script::{Role, Script};
use super::search_index::SearchIndex;
use super::similarity::line_similarity;
use crate::change::{DifferenceKind, Lines, Rung};
use crate::plan::Tolerance;
use crate::snapshot::Snapshot;
use slipstitch_text::{Span, canonical};

/// How many differences of a candidate are shown.
const MAX_DIFFERENCES: usize = 4;
/// How similar a place must be to be listed, and to be diagnosed.
const MIN_CLOSE: f64 = 0.4;
const MIN_VERY_CLOSE: f64 = 0.6;
/// How many lines the closest place must be ahead of the next for a suggestion to edit there.
const MIN_LEAD: f64 = 0.95;
/// The longest text that the caller is offered to resend.
const MAX_RESEND_BYTES: usize = 4 << 10;

/// Finds out why a request was not found.
pub(super) struct Diagnoser<'d, 'a> {
    pub(super) request: &'d SearchRequest,
    pub(super) file: &'d FileText<'a>,
}

impl Diagnoser<'_, '_> {
    /// Diagnoses the request. `recovery` is what recovery would do if the tool allowed it.
    pub(super) fn diagnose(&self, recovery: &Recovery) -> Diagnosis {
        let snapshot = self.file.snapshot;
        let (old, new) = self.texts();
        if self.request.place.within.is_some()
            && let Some(start) = memchr::memmem::find(snapshot.text(), snapshot.needle(&old).as_bytes())
        {
            let at = Span::new(start, start + snapshot.needle(&old).len());
            return Diagnosis::new(Cause::OutsideRange, vec![candidate_at(at, snapshot)]);
        }
        if let Recovery::Found(found) = recovery {
            return self.with_merged(diagnose_recovered(found, snapshot), found);
        }
        let mut near = self.near_lines();
        if near.candidates.is_empty() {
            let wanted: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            near = NearMatches::by_words(&wanted, snapshot);
        }
        if let Some(place) = find_applied(&old, &new, snapshot)
            && near.candidates.iter().map(|candidate| candidate.lines).all(|lines| {
                lines.start < place.start + place.count && place.start < lines.start + lines.count
            })
        {
            return Diagnosis::new(Cause::AlreadyApplied, vec![candidate(place, snapshot)]);
        }
        let is_close = near.cause.is_some();
        let mut diagnosis = Diagnosis::new(near.cause.unwrap_or(Cause::NotFound), near.candidates);
        diagnosis.mismatch = Some(self.first_mismatch(near.mismatch));
        // With several places that are about as close, a hint to choose one invites a guess.
        if near.is_ahead {
            for candidate in &mut diagnosis.candidates {
                candidate.choosable = self.is_choosable(candidate.lines);
            }
        }
        if is_close && near.is_ahead {
            diagnosis = self.with_resend(diagnosis);
            // Only what could be applied there is offered in full.
            let is_choosable = diagnosis.candidates.first().is_some_and(|first| first.choosable);
            diagnosis.resend_edit = diagnosis.resend_edit.filter(|_| is_choosable);
        }
        diagnosis
    }

    /// Old and new text of the request as sent.
    fn texts(&self) -> (String, String) {
        let reading = &self.request.readings[0];
        match &reading.snippet {
            Some((old, new)) => (old.clone(), new.clone()),
            None => (reading.script.text(Role::is_old), reading.script.text(Role::is_new)),
        }
    }

    /// Whether the request can be applied at some lines if the caller chooses them.
    fn is_choosable(&self, lines: Lines) -> bool {
        let at = lines_span(lines, self.file.snapshot);
        let chosen = self.request.at(PlaceHint { within: Some(at), chosen: true, ..PlaceHint::default() });
        matches!(ladder::find(&chosen, self.file, Tolerance::Recover), Recovery::Found(_))
    }

    /// Adds what to send if the first candidate is the place: the file's text as the old text, and the new text merged into
    /// it. The request's own new text would write back lines that have changed in the file.
    pub(super) fn with_resend(&self, diagnosis: Diagnosis) -> Diagnosis {
        let Some(candidate) = diagnosis.candidates.first() else { return diagnosis };
        let Some(index) = self.file.index() else { return diagnosis };
        let script = self.request.as_sent();
        let part = index.within(lines_span(candidate.lines, self.file.snapshot));
        let alignment = match closest_alignments(script, &part).into_iter().next() {
            Some((alignment, _)) => alignment,
            // A single line that resembles nothing else.
            None if part.len() == 1 && self.is_whole_line(candidate.lines.start) => {
                let pairs: Vec<(usize, usize)> = script.anchors().map(|(row, _)| (row, 0)).collect();
                Alignment::new(script, &pairs, &part)
            }
            None => return diagnosis,
        };
        let all_paired =
            script.anchors().all(|(row, text)| text.role == Role::Context || alignment.line(row).is_some());
        // A block with another name is another block, however similar.
        let change = script.first_change();
        let is_same_block =
            script.anchors().filter(|(row, _)| *row < change).enumerate().all(|(n, (row, text))| {
                let name = item_name(&text.text);
                match alignment.line(row) {
                    Some(line) => name.is_none() || item_name(&part.snapshot.line(line)) == name,
                    None => name.is_none() || n > 0,
                }
            });
        let Ok(merged) = merge(script, &alignment, &part) else { return diagnosis };
        if !all_paired || !is_same_block {
            return diagnosis;
        }
        self.with_texts(diagnosis, merged.at, &merged.parts)
    }

    /// Whether the request is a single line, and not only part of the given one.
    fn is_whole_line(&self, line: usize) -> bool {
        let mut anchors = self.request.as_sent().anchors();
        let (Some((_, row)), None) = (anchors.next(), anchors.next()) else { return false };
        let (request, file) = (row.text.trim().len(), self.file.snapshot.line(line).trim().len());
        request * 10 >= file * 7
    }

    fn with_merged(&self, diagnosis: Diagnosis, found: &RecoveredPlace) -> Diagnosis {
        match &found.replacement {
            Replacement::Parts(parts) => self.with_texts(diagnosis, found.at, parts),
            Replacement::Text(new) => {
                let parts = [(found.at.start()..found.at.end(), new.clone())];
                self.with_texts(diagnosis, found.at, &parts)
            }
        }
    }

    /// Adds the text of a place and the text that would replace it.
    fn with_texts(
        &self,
        mut diagnosis: Diagnosis,
        at: Span,
        parts: &[(std::ops::Range<usize>, String)],
    ) -> Diagnosis {
        let text = self.file.snapshot.text();
        let shown = |from: usize, to: usize| {
            std::str::from_utf8(&text[from..to]).ok().map(|text| canonical(text).into_owned())
        };
        let merged = || {
            let mut new = String::new();
            let mut copied = at.start();
            for (range, insert) in parts {
                new.push_str(&shown(copied, range.start)?);
                new.push_str(insert);
                copied = range.end;
            }
            new.push_str(&shown(copied, at.end())?);
            Some(new)
        };
        let (Some(old), Some(new)) = (shown(at.start(), at.end()), merged()) else { return diagnosis };
        if old.len().max(new.len()) > MAX_RESEND_BYTES {
            return diagnosis;
        }
        let (old, new) = (old.trim_end_matches('\n'), new.trim_end_matches('\n'));
        let (_, sent) = self.texts();
        if sent.trim_matches('\n') == new.trim_matches('\n') {
            diagnosis.resend = Some(old.to_owned());
        } else {
            diagnosis.resend_edit = Some(ResendEdit { old_text: old.to_owned(), new_text: new.to_owned() });
        }
        diagnosis
    }

    /// Places with the most lines of the request.
    fn near_lines(&self) -> NearMatches {
        let mut near = NearMatches::default();
        let Some(index) = self.file.index() else { return near };
        let script = self.request.as_sent();
        let closest = closest_alignments(script, &index);
        let lines = script.anchors().count() as f64;
        near.is_ahead = match &closest[..] {
            [(_, first), (_, second), ..] => (first - second) * lines >= MIN_LEAD,
            _ => true,
        };
        for (alignment, score) in closest.into_iter().take(MAX_CANDIDATES) {
            if score < MIN_CLOSE {
                break;
            }
            let differences = alignment.differences(script, &index);
            if near.candidates.is_empty() {
                near.mismatch = first_difference(script, &alignment, &index);
                if score >= MIN_VERY_CLOSE {
                    near.cause = Some(cause_of(&differences, script, &alignment));
                }
            }
            let lines = alignment.lines();
            near.candidates.push(Candidate {
                differences: shown_differences(&differences),
                ..candidate(lines, self.file.snapshot)
            });
        }
        near
    }

    /// The first line that differs: at the closest place, or else at the stated line.
    fn first_mismatch(&self, near: Option<Mismatch>) -> Mismatch {
        let snapshot = self.file.snapshot;
        let mut old = self.request.as_sent().rows.iter().filter(|row| row.is_old());
        let first = old.clone().next().map_or(String::new(), |row| row.text.clone());
        let at_stated = || {
            let line = self.request.place.line.filter(|&line| line <= snapshot.line_count())?;
            let differs = |(at, row): &(usize, &super::script::Row)| {
                *at > snapshot.line_count() || snapshot.line(*at) != row.text
            };
            let (at, row) = (line..).zip(old.by_ref()).find(differs)?;
            let found = (at <= snapshot.line_count()).then(|| snapshot.line(at).into_owned());
            Some(Mismatch { line: Some(at), expected: row.text.clone(), found })
        };
        near.or_else(at_stated).unwrap_or(Mismatch { line: None, expected: first, found: None })
    }
}

fn lines_span(Lines { start, count }: Lines, snapshot: &Snapshot) -> Span {
    Span::new(snapshot.line_span(start).start(), snapshot.line_span(start + count.max(1) - 1).end())
}

/// The first line of a request that differs from the line it is aligned with.
fn first_difference(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> Option<Mismatch> {
    let mut next = alignment.first;
    for (number, row) in script.rows.iter().enumerate().filter(|(_, row)| row.is_old()) {
        let line = alignment.line(number).unwrap_or(next);
        next = line + 1;
        let found = (line <= index.snapshot.line_count()).then(|| index.snapshot.line(line).into_owned());
        if found.as_ref() != Some(&row.text) {
            return Some(Mismatch { line: Some(line), expected: row.text.clone(), found });
        }
    }
    None
}

/// Describes a place that recovery found.
fn diagnose_recovered(found: &RecoveredPlace, snapshot: &Snapshot) -> Diagnosis {
    let cause = match found.classes.iter().map(|class| class.rung()).max() {
        Some(Rung::Transport) => Cause::Transport,
        Some(Rung::Punctuation) => Cause::Punctuation,
        Some(Rung::Elision | Rung::Drift | Rung::Evidence) => Cause::StaleContext,
        _ => Cause::Whitespace,
    };
    let mut place = candidate_at(found.at, snapshot);
    place.choosable = true;
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
    let mut diagnosis = Diagnosis::new(cause, vec![place]);
    diagnosis.mismatch = found.differences.first().map(|difference| Mismatch {
        line: Some(difference.line),
        expected: difference.request.clone(),
        found: Some(difference.file.clone()),
    });
    diagnosis
}

/// Places that are similar to the request.
#[derive(Default)]
struct NearMatches {
    cause: Option<Cause>,
    candidates: Vec<Candidate>,
    mismatch: Option<Mismatch>,
    /// Whether the first candidate is clearly closer than the others.
    is_ahead: bool,
}

impl NearMatches {
    /// Lines that share words with the request. For a request of one line, with the difference.
    fn by_words(wanted: &[&str], snapshot: &Snapshot) -> Self {
        let mut near = Self::default();
        for lines in lines_sharing_words(wanted, snapshot) {
            let mut place = candidate(lines, snapshot);
            if let [line] = wanted {
                let file = snapshot.line(lines.start).into_owned();
                if line_similarity(line, file.trim()) >= MIN_VERY_CLOSE {
                    let request = (*line).to_owned();
                    let found = Some(file.clone());
                    let mismatch = Mismatch { line: Some(lines.start), expected: request.clone(), found };
                    near.mismatch.get_or_insert(mismatch);
                    let difference =
                        Difference { class: DifferenceKind::Drift, line: lines.start, request, file };
                    place.differences.push((&difference).into());
                    near.cause =
                        Some(Cause::ChangedLine).filter(|_| near.candidates.is_empty()).or(near.cause);
                }
            }
            near.candidates.push(place);
        }
        near.is_ahead = near.candidates.len() == 1;
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
            DifferenceKind::Drift | DifferenceKind::PartialLine | DifferenceKind::ExtraLines => {
                cause = Cause::StaleContext;
            }
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
