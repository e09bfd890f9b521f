//! Finds out why a text was not found, and the closest places.
//!
//! Lines of the request that occur in the file vote for where the request would start, and the differences at the
//! places with the most votes are classified. If no line occurs, the lines that share the most words with the
//! request's longest line are listed instead. Both searches are bounded.

use std::collections::HashSet;

use super::alignment::{Alignment, Difference};
use super::culprit::choose_culprit;
use super::diagnosis::{Candidate, Cause, Diagnosis, LineDifference, Mismatch, candidate, candidate_at};
use super::drift::{ClosePlace, closest_places, surpassing};
use super::elision::{has_elision, is_elision};
use super::file_text::FileText;
use super::heading::{names_other_block, names_other_item, rows_naming_blocks_around_change};
use super::limits::{
    MARGIN, MAX_CANDIDATES, MAX_DIFFERENCES, MAX_RARE, MAX_WORD_BYTES, MIN_CLOSE, MIN_PINNING_LETTERS,
    MIN_SPELLED_ALIKE, MIN_SPELLED_LETTERS, MIN_VERY_CLOSE,
};
use super::offer::{Offers, encloses_change};
use super::outline::rows_around_changes;
use super::punctuation::{is_distinctive, letters, line_key};
use super::recovery::{RecoveredPlace, Recovery, lines_of_span};
use super::request::{Reading, SearchRequest};
use super::script::{Role, Row, Script};
use super::search::find_only;
use super::search_index::SearchIndex;
use super::similarity::line_similarity;
use super::whitespace;
use crate::change::{DifferenceKind, Lines, Rung};
use crate::plan::Tolerance;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// Finds out why a request was not found.
pub(super) struct Diagnoser<'d, 'a> {
    pub(super) request: &'d SearchRequest,
    pub(super) file: &'d FileText<'a>,
    /// What the rules of the request overlook.
    pub(super) tolerance: Tolerance,
}

impl Diagnoser<'_, '_> {
    /// Diagnoses the request. `recovery` is what recovery would do if the tool allowed it.
    pub(super) fn diagnose(&self, recovery: &Recovery) -> Diagnosis {
        let snapshot = self.file.snapshot;
        let (old, new) = self.request.texts();
        let offers = Offers { request: self.request, file: self.file };
        if let Some(within) = self.request.place.within {
            let places = places_outside(within, &old, snapshot);
            if !places.is_empty() {
                let candidates = places.into_iter().map(|at| candidate_at(at, snapshot)).collect();
                return Diagnosis::new(Cause::OutsideRange, candidates);
            }
        }
        if let Recovery::Found(found) = recovery {
            return offers.with_merged(self.diagnose_recovered(found), found);
        }
        let mut near = self.near_lines();
        if near.candidates.is_empty() {
            let wanted: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            near = NearMatches::by_words(&wanted, snapshot);
            if let ([line], true) = (&wanted[..], near.candidates.is_empty()) {
                near = NearMatches::by_case(line, snapshot);
            }
            if let ([line], true) = (&wanted[..], near.candidates.is_empty()) {
                near = NearMatches::by_spelling(line, snapshot);
            }
            near.mismatch = near.mismatch.map(|found| found.in_script(self.request.as_meant()));
        }
        let overlaps = |place: Lines, lines: Lines| {
            lines.start < place.start + place.count && place.start < lines.start + lines.count
        };
        if let Some(place) = find_applied(&old, &new, snapshot)
            && near.rivals().all(|rival| overlaps(place, rival.lines))
        {
            return Diagnosis::new(Cause::AlreadyApplied, vec![candidate(place, snapshot)]);
        }
        if near.cause != Some(Cause::Whitespace)
            && let Some(diagnosis) = self.diagnose_whitespace(&old)
        {
            return diagnosis;
        }
        let is_close = near.cause.is_some();
        let is_undecided = !near.is_decided && near.rivals().nth(1).is_some();
        let mut diagnosis = Diagnosis::new(near.cause.unwrap_or(Cause::NotFound), near.candidates);
        diagnosis.mismatch = Some(self.named_mismatch(near.mismatch));
        // If several places are about as close, a hint to choose one invites a guess. And what a line of dots stands for is known
        // only where the lines around it are found.
        let has_elision =
            || self.file.index().is_some_and(|index| has_elision(self.request.as_meant(), &index));
        let is_decided = near.is_decided && !has_elision();
        if is_decided && let Some(first) = diagnosis.candidates.first_mut() {
            first.choosable = offers.is_choosable(first.lines);
        }
        if is_close && is_decided {
            diagnosis = offers.with_resend(diagnosis);
            // Offer the whole edit only if it would apply there once the removed lines are corrected.
            let is_possible = |first: &Candidate| {
                first.choosable || offers.has_all_context(first.lines) || offers.is_renamed(first.lines)
            };
            let is_offered = diagnosis.candidates.first().is_some_and(is_possible);
            diagnosis.resend_edit = diagnosis.resend_edit.filter(|_| is_offered);
        }
        // A line of dots is like no line of the file, so the differences say little about where it belongs.
        if !diagnosis.offers_something() && self.request.as_meant().rows.iter().any(is_elision) {
            diagnosis.cause = Cause::NotFound;
        }
        Diagnosis { is_undecided, ..diagnosis.with_lines_to_read(&near.read, snapshot) }
    }

    /// The places where only whitespace differs, if the text begins or ends inside a line, so that its lines are not those of the
    /// file.
    fn diagnose_whitespace(&self, old: &str) -> Option<Diagnosis> {
        let snapshot = self.file.snapshot;
        let mut places = whitespace::find_places(old, self.request.place.within, snapshot);
        let differing = |at: &Span| -> Option<Difference> {
            let mut line = snapshot.line_of(at.start());
            let found = String::from_utf8_lossy(at.of(snapshot.text()));
            let is_blank = |text: &&str| text.trim().is_empty();
            let wanted = old.trim().lines().filter(|line| !is_blank(line));
            let mut found = found.lines();
            for request in wanted {
                let file = found.by_ref().inspect(|_| line += 1).find(|line| !is_blank(line))?;
                if file != request {
                    let (request, file) = (request.to_owned(), file.to_owned());
                    let class = match request.trim() == file.trim() {
                        true => DifferenceKind::Indentation,
                        false => DifferenceKind::Spacing,
                    };
                    return Some(Difference { class, line: line - 1, request, file });
                }
            }
            None
        };
        // Exact text that has to be complete lines is no match for another reason.
        places.retain(|at| differing(at).is_some());
        let candidates = places.iter().map(|at| Candidate {
            differences: differing(at).iter().map(LineDifference::from).collect(),
            ..candidate_at(*at, snapshot)
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let lines: Vec<Lines> = candidates.iter().map(|candidate| candidate.lines).collect();
        let mismatch = places.first().and_then(differing).map(|difference| {
            let Difference { line, request, file, .. } = difference;
            let mismatch =
                Mismatch { line: Some(line), expected: request, found: Some(file), is_removed: false };
            mismatch.in_script(self.request.as_meant())
        });
        let mut diagnosis = Diagnosis::new(Cause::Whitespace, candidates);
        diagnosis.mismatch = Some(self.named_mismatch(mismatch));
        // Within a line, the new text can stay as it is.
        let (_, new) = self.request.texts();
        if let ([at], false) = (&places[..], old.contains('\n') || old.trim() != old) {
            let offers = Offers { request: self.request, file: self.file };
            diagnosis = offers.with_texts(diagnosis, *at, &[(at.start()..at.end(), new)]);
        }
        (!places.is_empty()).then(|| diagnosis.with_lines_to_read(&lines, snapshot))
    }

    /// Places with the most lines of the request, the one to offer first.
    fn near_lines(&self) -> NearMatches {
        let mut near = NearMatches::default();
        let Some(index) = self.file.index() else { return near };
        let script = self.request.as_meant();
        let mut closest = closest_places(script, &index);
        let Some(best) = closest.first().map(|place| place.similarity) else { return near };
        let lines = script.anchors().count() as f64;
        let rivals = closest.iter().take_while(|place| (best - place.similarity) * lines < MARGIN).count();
        let rivals = match self.place_of_removed_lines(&closest) {
            Some(at) => {
                closest[..=at].rotate_right(1);
                1
            }
            None => rivals,
        };
        let chosen = self.choose_rival(&closest[..rivals]);
        near.is_decided = chosen.is_some_and(|chosen| chosen.is_certain);
        if let Some(chosen) = chosen {
            closest[..=chosen.at].rotate_right(1);
        }
        let named = if chosen.is_some() { 1 } else { rivals };
        near.rivals = Some(named);
        closest.truncate(MAX_CANDIDATES);
        for (n, place) in closest.into_iter().enumerate() {
            let ClosePlace { alignment, similarity, other_name, is_other_block, .. } = place;
            if similarity < MIN_CLOSE {
                break;
            }
            let differences = alignment.differences(script, &index);
            if near.candidates.is_empty() {
                near.mismatch = choose_culprit(differing_lines(script, &alignment, &index), self.tolerance);
                if similarity >= MIN_VERY_CLOSE {
                    near.cause = Some(cause_of(&differences, script, &alignment, is_other_block));
                }
            }
            let lines = alignment.lines();
            // The same body under another heading is not what the caller is looking for. A heading above it that ends before
            // the change may have changed, if a line to be removed is only there.
            let is_worth_reading = other_name.is_none()
                || (is_in_same_block(script, &alignment, &index)
                    && has_only_removed_line(script, &alignment, &index));
            near.read.extend(Some(lines).filter(|_| n < named && is_worth_reading));
            let mut shown = shown_differences(&differences);
            if is_other_block && let Some(name) = other_name.and_then(|row| alignment.line(row)) {
                // The last one is part of the message.
                shown.sort_by_key(|one| one.line == name);
            }
            near.candidates.push(Candidate { differences: shown, ..candidate(lines, self.file.snapshot) });
        }
        near
    }

    /// The only place with the lines that the request removes, if the closest one lacks them and the request can be applied there.
    /// What is to be changed says more about the place than what is around it.
    fn place_of_removed_lines(&self, closest: &[ClosePlace]) -> Option<usize> {
        let has_removed = |place: &ClosePlace| place.removed_similarity == 1.0;
        if closest.first().is_none_or(has_removed) {
            return None;
        }
        let offers = Offers { request: self.request, file: self.file };
        let mut found = (0..closest.len()).filter(|&at| has_removed(&closest[at]));
        let (Some(at), None) = (found.next(), found.next()) else { return None };
        let is_place = closest[at].has_only_removed_line
            && closest[at].similarity >= MIN_CLOSE
            && offers.is_choosable(closest[at].alignment.lines());
        is_place.then_some(at)
    }

    /// The place to offer among several that are about as close: the only one to which the request can be applied, because
    /// the lines that it removes are there, the one where the request says it is, the only one with all lines of the
    /// request, or with one that is nowhere else, or one that has every line that the others have and more.
    fn choose_rival(&self, rivals: &[ClosePlace]) -> Option<ChosenRival> {
        if rivals.len() < 2 {
            return (!rivals.is_empty()).then_some(ChosenRival { at: 0, is_certain: true });
        }
        let offers = Offers { request: self.request, file: self.file };
        let is_stated =
            |place: &ClosePlace| self.request.place.line.is_some_and(|line| place.alignment.first == line);
        let choosable: Vec<usize> = (0..rivals.len())
            .filter(|&at| rivals[at].similarity >= MIN_CLOSE)
            .filter(|&at| offers.is_choosable(rivals[at].alignment.lines()))
            .collect();
        let mut stated = choosable.iter().copied().filter(|&at| is_stated(&rivals[at]));
        // However similar the others are as a whole, they lack lines of the request.
        let complete = only(&choosable, |at| rivals[at].has_all_lines);
        // A line that is nowhere else proves little if all others are at the depth of the request somewhere else.
        let is_as_deep = |&at: &usize| {
            rivals.iter().all(|other| other.indented_lines() <= rivals[at].indented_lines() + 1)
        };
        let pinned = || only(&choosable, |at| rivals[at].has_only_line).filter(is_as_deep);
        let surpassing =
            || surpassing(&rivals.iter().collect::<Vec<_>>()).filter(|at| choosable.contains(at));
        match (&choosable[..], stated.next().or(complete).or_else(pinned).or_else(surpassing)) {
            (&[at], _) | (_, Some(at)) => Some(ChosenRival { at, is_certain: true }),
            _ => rivals.iter().position(is_stated).map(|at| ChosenRival { at, is_certain: false }),
        }
    }

    /// The line that a refusal names: at the closest place, or else at the stated line.
    fn named_mismatch(&self, near: Option<Mismatch>) -> Mismatch {
        let snapshot = self.file.snapshot;
        let count = snapshot.line_count();
        let old = || self.request.as_meant().rows.iter().filter(|row| row.is_old());
        let at_stated = || {
            let line = self.request.place.line.filter(|&line| line <= count)?;
            let differing = (line..).zip(old()).filter_map(|(at, row)| {
                let found = (at <= count).then(|| snapshot.line(at).into_owned());
                (found.as_ref() != Some(&row.text)).then(|| Mismatch::of_row(row, Some(at), found))
            });
            choose_culprit(differing.collect(), self.tolerance)
        };
        near.or_else(at_stated)
            .or_else(|| old().next().map(|row| Mismatch::of_row(row, None, None)))
            .unwrap_or_default()
    }

    /// Describes a place that recovery found.
    fn diagnose_recovered(&self, found: &RecoveredPlace) -> Diagnosis {
        let cause = match found.classes.iter().map(|class| class.rung()).max() {
            Some(Rung::Transport) => Cause::Transport,
            Some(Rung::Punctuation) => Cause::Punctuation,
            Some(Rung::Elision | Rung::Drift | Rung::Evidence) => Cause::StaleContext,
            _ => Cause::Whitespace,
        };
        let mut place = candidate_at(found.at, self.file.snapshot);
        place.choosable = true;
        place.differences = shown_differences(&found.differences);
        if cause == Cause::Transport {
            let first = place.lines.start;
            place.differences = found
                .classes
                .iter()
                .filter(|class| class.rung() == Rung::Transport)
                .map(|&class| LineDifference {
                    class,
                    line: first,
                    file: String::new(),
                    request: String::new(),
                })
                .collect();
        }
        let mut diagnosis = Diagnosis::new(cause, vec![place]);
        let differing = found.differences.iter().map(|difference| {
            let mismatch = Mismatch {
                line: Some(difference.line),
                expected: difference.request.clone(),
                found: Some(difference.file.clone()),
                is_removed: false,
            };
            mismatch.in_script(self.request.as_meant())
        });
        diagnosis.mismatch = choose_culprit(differing.collect(), self.tolerance);
        diagnosis
    }
}

/// The reading closest to the file, if it is closer than the request as sent. A fence around a text is no part of it, however
/// many of the other lines match.
pub(super) fn closest_reading(request: &SearchRequest, file: &FileText<'_>) -> Option<usize> {
    if request.readings.len() < 2 {
        return None;
    }
    let index = file.index()?;
    let similarity = |reading: &Reading| {
        closest_places(&reading.script, &index).first().map_or(0.0, |best| best.similarity)
    };
    let readings: Vec<f64> = request.readings.iter().map(similarity).collect();
    // Among equally similar readings, take the one with the fewest repairs.
    let (best, most) = readings.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1))?;
    (best > 0 && *most >= MIN_VERY_CLOSE && *most > readings[0]).then_some(best)
}

/// The occurrences of a text that are closest to a range in which it is not, in the order of the file.
fn places_outside(range: Span, text: &str, snapshot: &Snapshot) -> Vec<Span> {
    let needle = snapshot.needle(text);
    if needle.is_empty() {
        return Vec::new();
    }
    let mut closest: Vec<(usize, usize)> = Vec::new();
    for start in memchr::memmem::find_iter(snapshot.text(), needle.as_bytes()) {
        let before = range.start().saturating_sub(start + needle.len());
        let after = start.saturating_sub(range.end());
        closest.push((before + after, start));
        if closest.len() > MAX_CANDIDATES {
            closest.sort_unstable();
            closest.truncate(MAX_CANDIDATES);
        }
    }
    closest.sort_unstable_by_key(|(_, start)| *start);
    closest.into_iter().map(|(_, start)| Span::new(start, start + needle.len())).collect()
}

impl Mismatch {
    fn of_row(row: &Row, line: Option<usize>, found: Option<String>) -> Self {
        Self { line, expected: row.text.clone(), found, is_removed: row.role == Role::Removed }
    }

    /// The same with the line as the request has it, indentation included, and whether the request removes it.
    pub(super) fn in_script(self, script: &Script) -> Self {
        let old = || script.rows.iter().filter(|row| row.is_old());
        let row = old()
            .find(|row| row.text == self.expected)
            .or_else(|| old().find(|row| row.text.trim() == self.expected.trim()));
        match row {
            Some(row) => Self { expected: row.text.clone(), is_removed: row.role == Role::Removed, ..self },
            None => self,
        }
    }
}

/// The only one of some places with a property.
fn only(places: &[usize], has: impl Fn(usize) -> bool) -> Option<usize> {
    let mut found = places.iter().copied().filter(|&at| has(at));
    found.next().filter(|_| found.next().is_none())
}

/// Whether the lines that name the blocks around the change name the same ones at a place.
fn is_in_same_block(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> bool {
    let line = |row: usize| alignment.line(row).map(|line| index.snapshot.line(line));
    let is_other = |row: usize| {
        line(row).is_some_and(|line| names_other_block(&script.rows[row].text, &line))
            && encloses_change(script, row, alignment, index)
    };
    if rows_around_changes(script).iter().any(is_other) {
        return false;
    }
    rows_naming_blocks_around_change(script)
        .into_iter()
        .all(|row| line(row).is_some_and(|line| !names_other_item(&script.rows[row].text, &line)))
}

/// Whether a line that a request removes is at a place, and nowhere else in the file.
fn has_only_removed_line(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> bool {
    script.anchors().filter(|(_, row)| row.role == Role::Removed).any(|(number, row)| {
        let at = alignment.line(number).and_then(|line| index.position_of_line(line));
        let is_long = letters(&row.text) >= MIN_PINNING_LETTERS;
        at.is_some_and(|at| {
            is_long && index.has_key(at, &line_key(&row.text)) && index.occurs_once(index.squashed(at))
        })
    })
}

/// The lines of a request that differ from the lines they are aligned with.
fn differing_lines(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> Vec<Mismatch> {
    let mut next = alignment.first;
    let mut differing = Vec::new();
    for (number, row) in script.rows.iter().enumerate().filter(|(_, row)| row.is_old()) {
        let line = alignment.line(number).unwrap_or(next);
        next = line + 1;
        let found = (line <= index.snapshot.line_count()).then(|| index.snapshot.line(line).into_owned());
        if found.as_ref() != Some(&row.text) {
            differing.push(Mismatch::of_row(row, Some(line), found));
        }
    }
    differing
}

/// Places that are similar to the request.
#[derive(Default)]
struct NearMatches {
    cause: Option<Cause>,
    candidates: Vec<Candidate>,
    mismatch: Option<Mismatch>,
    /// Whether the first candidate is the only one that can be offered.
    is_decided: bool,
    /// The places to read if there is nothing to offer.
    read: Vec<Lines>,
    /// How many candidates are about as close as the first; `None` if that is unknown.
    rivals: Option<usize>,
}

/// One of several places that are about as close.
#[derive(Clone, Copy)]
struct ChosenRival {
    at: usize,
    /// Whether the request can be applied there, and nowhere else.
    is_certain: bool,
}

impl NearMatches {
    /// The candidates that are about as close as the first, itself included.
    fn rivals(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().take(self.rivals.unwrap_or(usize::MAX))
    }

    /// Lines that have a text in another case, those that have nothing else first.
    fn by_case(line: &str, snapshot: &Snapshot) -> Self {
        let folded = line.to_lowercase();
        let mut found: Vec<(bool, usize)> = Vec::new();
        let text = snapshot.text();
        for (at, file) in text[..text.len().min(MAX_WORD_BYTES)].split(|&byte| byte == b'\n').enumerate() {
            let file = String::from_utf8_lossy(file).to_lowercase();
            if file.contains(&folded) {
                found.push((file.trim() != folded, at + 1));
                found.sort_unstable();
                found.truncate(MAX_CANDIDATES);
            }
        }
        let mut near = Self::default();
        for (_, number) in found {
            let lines = Lines { start: number, count: 1 };
            let mut place = candidate(lines, snapshot);
            near.add_difference(line, lines, &mut place, snapshot);
            near.candidates.push(place);
        }
        near.with_places_to_read()
    }

    /// Lines that are spelled almost like the request's only line, closest first. They are only shown; nothing is decided by
    /// them.
    fn by_spelling(line: &str, snapshot: &Snapshot) -> Self {
        let text = snapshot.text();
        let length = line.chars().count();
        let mut found: Vec<(f64, usize)> = Vec::new();
        for (at, file) in text[..text.len().min(MAX_WORD_BYTES)].split(|&byte| byte == b'\n').enumerate() {
            // A line of very different length cannot be close.
            let file = file.trim_ascii();
            if letters(line) < MIN_SPELLED_LETTERS || file.len() < length / 2 || file.len() > 4 * length {
                continue;
            }
            let similarity = line_similarity(line, &String::from_utf8_lossy(file));
            if similarity >= MIN_SPELLED_ALIKE {
                found.push((similarity, at + 1));
                found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                found.truncate(MAX_CANDIDATES);
            }
        }
        let read: Vec<Lines> =
            found.into_iter().map(|(_, number)| Lines { start: number, count: 1 }).collect();
        let candidates = read.iter().map(|&lines| candidate(lines, snapshot)).collect();
        Self { candidates, read, rivals: Some(0), ..Self::default() }
    }

    /// Lines that share words with the request. For a request of one line, with the difference.
    fn by_words(wanted: &[&str], snapshot: &Snapshot) -> Self {
        let mut near = Self::default();
        for lines in lines_sharing_words(wanted, snapshot) {
            let mut place = candidate(lines, snapshot);
            if let [line] = wanted
                && line_similarity(line, snapshot.line(lines.start).trim()) >= MIN_VERY_CLOSE
            {
                near.add_difference(line, lines, &mut place, snapshot);
            }
            near.candidates.push(place);
        }
        near.with_places_to_read()
    }

    /// Adds how a line of the file differs from the request's only line.
    fn add_difference(&mut self, line: &str, at: Lines, place: &mut Candidate, snapshot: &Snapshot) {
        let (request, file) = (line.to_owned(), snapshot.line(at.start).into_owned());
        let mismatch = Mismatch {
            line: Some(at.start),
            expected: request.clone(),
            found: Some(file.clone()),
            is_removed: false,
        };
        self.mismatch.get_or_insert(mismatch);
        let difference = Difference { class: DifferenceKind::Drift, line: at.start, request, file };
        place.differences.push((&difference).into());
        self.cause = Some(Cause::ChangedLine).filter(|_| self.candidates.is_empty()).or(self.cause);
    }

    fn with_places_to_read(mut self) -> Self {
        self.is_decided = self.candidates.len() == 1;
        self.read = self.candidates.iter().map(|candidate| candidate.lines).collect();
        self
    }
}

/// Why a request does not match a place that is close.
fn cause_of(
    differences: &[Difference],
    script: &Script,
    alignment: &Alignment,
    is_other_block: bool,
) -> Cause {
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
                cause = if is_other_block { Cause::OtherBlock } else { Cause::StaleContext };
            }
            DifferenceKind::Punctuation if cause == Cause::Whitespace => cause = Cause::Punctuation,
            _ => {}
        }
    }
    cause
}

/// The differences to show, one for each line, the worst last.
pub(super) fn shown_differences(differences: &[Difference]) -> Vec<LineDifference> {
    let mut list: Vec<&Difference> = differences.iter().filter(|one| one.request != one.file).collect();
    list.sort_by_key(|one| std::cmp::Reverse(one.class));
    let mut shown = HashSet::new();
    list.retain(|one| shown.insert((one.line, &one.request)));
    list.truncate(MAX_DIFFERENCES);
    list.iter().rev().map(|&one| one.into()).collect()
}

/// Where the new text is, if that shows that the edit is already applied: it occurs exactly once, has a distinctive
/// line that the old text lacks, and shares words with the old text. The caller still has to check that nothing
/// else in the file resembles the old text.
fn find_applied(old: &str, new: &str, snapshot: &Snapshot) -> Option<Lines> {
    let distinctive = |line: &&str| is_distinctive(line);
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
    let start = find_only(haystack, needle.as_bytes())?;
    let in_word = |byte: Option<&u8>| byte.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let word_before = start > 0 && in_word(haystack.get(start - 1)) && in_word(needle.as_bytes().first());
    let word_after = in_word(haystack.get(start + needle.len())) && in_word(needle.as_bytes().last());
    (!word_before && !word_after).then_some(start)
}

/// Lines that share at least half the words of the request's longest line.
fn lines_sharing_words(wanted: &[&str], snapshot: &Snapshot) -> Vec<Lines> {
    let Some(longest) = wanted.iter().max_by_key(|line| line.len()) else { return Vec::new() };
    let mut wanted_words = WantedWords::new(longest);
    if wanted_words.len() == 0 {
        return Vec::new();
    }
    let text = snapshot.text();
    if text.len() > MAX_WORD_BYTES {
        return lines_with_rarest_word(longest, &wanted_words.words, snapshot);
    }
    let mut best: Vec<(usize, usize)> = Vec::new(); // shared words, line
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let shared = wanted_words.count_in(line);
        if shared * 2 >= wanted_words.len() {
            best.push((shared, number + 1));
            best.sort_by_key(|&(shared, line)| (std::cmp::Reverse(shared), line));
            best.truncate(MAX_CANDIDATES);
        }
    }
    best.into_iter().map(|(_, line)| Lines { start: line, count: 1 }).collect()
}

/// The words of a line that others are compared with.
struct WantedWords<'w> {
    /// Sorted, each once.
    words: Vec<&'w str>,
    /// Which of them the current line has.
    seen: Vec<bool>,
    /// The lengths of the words, as bits: most other words have none of them.
    lengths: u64,
}

impl<'w> WantedWords<'w> {
    fn new(line: &'w str) -> Self {
        let mut words: Vec<&str> = words(line).collect();
        words.sort_unstable();
        words.dedup();
        let lengths = words.iter().fold(0, |bits, word| bits | length_bit(word.len()));
        Self { seen: vec![false; words.len()], words, lengths }
    }

    fn len(&self) -> usize {
        self.words.len()
    }

    /// How many of the words a line has.
    fn count_in(&mut self, line: &[u8]) -> usize {
        self.seen.fill(false);
        match std::str::from_utf8(line) {
            // Most lines: no character has to be decoded.
            Ok(line) if line.is_ascii() => {
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                for word in line.as_bytes().split(|byte| !is_word(byte)) {
                    self.note(word);
                }
            }
            Ok(line) => words(line).for_each(|word| self.note(word.as_bytes())),
            Err(_) => {
                words(&String::from_utf8_lossy(line)).for_each(|word| self.note(word.as_bytes()));
            }
        }
        self.seen.iter().filter(|seen| **seen).count()
    }

    fn note(&mut self, word: &[u8]) {
        if self.lengths & length_bit(word.len()) == 0 {
            return;
        }
        if let Ok(at) = self.words.binary_search_by(|wanted| wanted.as_bytes().cmp(word)) {
            self.seen[at] = true;
        }
    }
}

/// A bit for a length; long words share one.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// In a text that is too long to be compared line by line: the lines with the rarest word of the request, those that share most
/// words first. The start of the text alone would make its first lines look close, wherever the right one is.
fn lines_with_rarest_word(line: &str, words: &[&str], snapshot: &Snapshot) -> Vec<Lines> {
    let text = snapshot.text();
    let places = |word: &&str| -> Vec<usize> {
        memchr::memmem::find_iter(text, word.as_bytes()).take(MAX_RARE + 1).collect()
    };
    let rarest = words.iter().map(places).filter(|places| !places.is_empty()).min_by_key(Vec::len);
    let rarest = rarest.filter(|places| places.len() <= MAX_RARE).unwrap_or_default();
    let mut numbers: Vec<usize> = rarest.into_iter().map(|at| snapshot.line_of(at)).collect();
    numbers.dedup();
    let shared =
        |text: &str| words.iter().filter(|word| self::words(text).any(|other| other == **word)).count();
    let mut best: Vec<(usize, f64, usize)> = numbers
        .into_iter()
        .map(|number| {
            let text = snapshot.line(number);
            (shared(&text), line_similarity(line, text.trim()), number)
        })
        .filter(|(shared, ..)| shared * 2 >= words.len())
        .collect();
    best.sort_by(|one, other| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)).then(one.2.cmp(&other.2)));
    best.into_iter().take(MAX_CANDIDATES).map(|(.., start)| Lines { start, count: 1 }).collect()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1)
}
