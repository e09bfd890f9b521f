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
use super::elision::{has_elision, is_elision, is_elision_of_file};
use super::file_text::FileText;
use super::heading::{names_other_block, names_other_item, rows_naming_blocks_around_change};
use super::limits::{
    MARGIN, MAX_CANDIDATES, MAX_DIFFERENCES, MIN_CLOSE, MIN_PINNING_LETTERS, MIN_VERY_CLOSE,
};
use super::near_matches::{NearMatches, words};
use super::offer::{Offers, encloses_change};
use super::outline::rows_around_changes;
use super::punctuation::{is_distinctive, letters, line_key};
use super::recovery::{RecoveredPlace, Recovery, lines_of_span};
use super::request::{Reading, SearchRequest};
use super::script::{Role, Row, Script};
use super::search::find_only;
use super::search_index::SearchIndex;
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
            if n < named && is_worth_reading {
                near.read.extend(lines_of_changes(script, &alignment, &index));
            }
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

/// The lines of a place that a caller has to read to make its changes: all of them, or, if the request leaves lines out, the pieces
/// from the first change to the last one; `None` if none of their lines has a place.
fn lines_of_changes(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> Option<Lines> {
    if !has_elision(script, index) {
        return Some(alignment.lines());
    }
    let rows = &script.rows;
    let is_changed = |row: &Row| row.role != Role::Context;
    let is_dots = |row: &Row| is_elision_of_file(row, index);
    let (first, last) = (rows.iter().position(is_changed)?, rows.iter().rposition(is_changed)?);
    let start = rows[..first].iter().rposition(is_dots).map_or(0, |row| row + 1);
    let end = rows[last..].iter().position(is_dots).map_or(rows.len(), |row| last + row);
    let lines = || (start..end).filter_map(|row| alignment.line(row));
    let (first, last) = (lines().min()?, lines().max()?);
    Some(Lines { start: first, count: last + 1 - first })
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

/// One of several places that are about as close.
#[derive(Clone, Copy)]
struct ChosenRival {
    at: usize,
    /// Whether the request can be applied there, and nowhere else.
    is_certain: bool,
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
