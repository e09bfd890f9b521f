//! The ladder: every way of finding a request that has no exact match, from strict to loose, as one table.
//!
//! A policy is a bound on it: [`Tolerance`] says how far down a caller may go. The first rung that matches anything ends
//! the search, even if it matches several places; see [`super`] for the reason.

use super::alignment::{Alignment, Difference};
use super::drift::{self, DriftMatch, Trust};
use super::evidence;
use super::file_text::FileText;
use super::limits::{Budget, MAX_RARE};
use super::merge::MergePolicy;
use super::punctuation::{is_distinctive, line_key};
use super::recovery::{RecoveredPlace, Recovery, merge_into};
use super::request::{Reading, SearchRequest};
use super::script::{Role, Script};
use super::search_index::{SearchIndex, squashed_hash};
use super::{block, elision, inside, similar};
use crate::change::{DifferenceKind, Rung};
use crate::plan::Tolerance;
use crate::snapshot::Snapshot;

/// A way of comparing a request with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// The repaired text, byte by byte. The request as sent is known to have no exact match.
    Verbatim,
    /// Consecutive lines; trailing and leading whitespace, blank lines and look-alike punctuation may differ.
    Block,
    /// Like `Block`; whitespace inside lines may differ as well.
    Spaced,
    /// Text inside a line, with different look-alike punctuation.
    Inside,
    /// Consecutive lines around elisions.
    Elided,
    /// Context lines may differ if the lines as a whole are similar enough.
    Similar,
    /// Context lines may differ by slips of the pen.
    Drifted,
}

/// One rung.
struct Step {
    comparison: Comparison,
    /// Whether it is tried only after all other rungs have failed for every reading.
    last: bool,
    /// Who may use it.
    allows: fn(Tolerance) -> bool,
}

/// From strict to loose; the order is behaviour.
const LADDER: &[Step] = &[
    Step { comparison: Comparison::Verbatim, last: false, allows: recovers },
    Step { comparison: Comparison::Block, last: false, allows: |tolerance| tolerance != Tolerance::Exact },
    Step {
        comparison: Comparison::Spaced,
        last: false,
        allows: |tolerance| !matches!(tolerance, Tolerance::Exact | Tolerance::TrailingWhitespace),
    },
    Step { comparison: Comparison::Inside, last: false, allows: recovers },
    Step { comparison: Comparison::Elided, last: false, allows: recovers },
    Step {
        comparison: Comparison::Similar,
        last: true,
        allows: |tolerance| matches!(tolerance, Tolerance::Similar { .. }),
    },
    Step { comparison: Comparison::Drifted, last: true, allows: recovers },
];

fn recovers(tolerance: Tolerance) -> bool {
    tolerance == Tolerance::Recover
}

/// Whether a tolerance accepts a place with this difference.
fn accepts(tolerance: Tolerance, class: DifferenceKind) -> bool {
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::TrailingWhitespace => class == DifferenceKind::TrailingWhitespace,
        Tolerance::Whitespace | Tolerance::Similar { .. } => {
            matches!(
                class,
                DifferenceKind::TrailingWhitespace | DifferenceKind::Indentation | DifferenceKind::Spacing
            )
        }
        Tolerance::Recover => true,
    }
}

/// Finds a request that has no exact match.
pub(super) fn find(request: &SearchRequest, file: &FileText<'_>, tolerance: Tolerance) -> Recovery {
    match find_reading(request, file, tolerance) {
        Recovery::Found(mut found) => {
            found.differences.extend(describe_damage(&found, request, file.snapshot));
            Recovery::Found(found)
        }
        recovery => recovery,
    }
}

/// A difference that shows the transport damage.
fn describe_damage(
    found: &RecoveredPlace,
    request: &SearchRequest,
    snapshot: &Snapshot,
) -> Option<Difference> {
    let class = found.classes.iter().copied().find(|class| class.rung() == Rung::Transport)?;
    let (_, row) = request.as_sent().anchors().next()?;
    let (line, file) = (found.lines.start, snapshot.line(found.lines.start).into_owned());
    (row.text != file).then(|| Difference { class, line, request: row.text.clone(), file })
}

fn find_reading(request: &SearchRequest, file: &FileText<'_>, tolerance: Tolerance) -> Recovery {
    if tolerance == Tolerance::Exact || request.readings[0].is_blank() {
        return Recovery::NotFound;
    }
    let Some(whole) = file.index() else {
        return if file.budget.is_spent() { Recovery::TooCostly } else { Recovery::NotFound };
    };
    let index = request.place.within.map_or_else(|| whole.clone(), |span| whole.within(span));
    let lines = if has_rare_line(request, &index) { MAX_RARE.min(index.len()) } else { index.len() };
    if !file.spend_on_lines(lines) {
        return Recovery::TooCostly;
    }
    if recovers(tolerance) && !request.place.chosen {
        let here = block::find_places(request.as_sent(), &index);
        if here.len() < 2
            && let Some(recovery) = evidence::find(request, here.first(), file, &whole)
        {
            return recovery;
        }
    }
    let search = Search { request, index: &index, tolerance, budget: &file.budget };
    match search.descend(false) {
        Recovery::NotFound => search.descend(true),
        recovery => recovery,
    }
}

/// Whether every reading has a line that is rare enough to be looked up.
fn has_rare_line(request: &SearchRequest, index: &SearchIndex<'_>) -> bool {
    request.readings.iter().all(|reading| {
        reading.script.anchors().any(|(_, row)| {
            index
                .occurrences(squashed_hash(&line_key(&row.text)))
                .is_some_and(|lines| lines.len() <= MAX_RARE)
        })
    })
}

/// A search in one part of a file.
struct Search<'s> {
    request: &'s SearchRequest,
    index: &'s SearchIndex<'s>,
    tolerance: Tolerance,
    budget: &'s Budget,
}

impl Search<'_> {
    /// Tries the rungs from strict to loose, for the most likely readings first.
    fn descend(&self, last: bool) -> Recovery {
        let rungs = || LADDER.iter().filter(|step| step.last == last && (step.allows)(self.tolerance));
        if last && self.request.readings.iter().any(|reading| is_already_applied(&reading.script, self.index))
        {
            return Recovery::NotFound;
        }
        for readings in self.request.readings.chunk_by(|a, b| a.rank() == b.rank()) {
            if readings[0].rank() > 0 && !recovers(self.tolerance) {
                break;
            }
            for step in rungs() {
                let found = readings.iter().map(|reading| self.try_rung(step.comparison, reading));
                let found: Vec<Recovery> = found.filter(|recovery| *recovery != Recovery::NotFound).collect();
                if let Some(recovery) = agree(found) {
                    return recovery;
                }
            }
        }
        Recovery::NotFound
    }

    fn try_rung(&self, comparison: Comparison, reading: &Reading) -> Recovery {
        let (script, index) = (&reading.script, self.index);
        if reading.is_blank() {
            return Recovery::NotFound;
        }
        let places = match comparison {
            Comparison::Verbatim => {
                return inside::find_verbatim(reading, self.request.place.within, index.snapshot);
            }
            Comparison::Inside => {
                return inside::find_look_alikes(reading, self.request.place.within, index.snapshot);
            }
            Comparison::Drifted => return self.find_drifted(reading),
            Comparison::Similar => {
                let Tolerance::Similar { threshold } = self.tolerance else { return Recovery::NotFound };
                // The ratio is that of the lines as sent, not of other readings of them.
                if !reading.classes.is_empty() {
                    return Recovery::NotFound;
                }
                match similar::find_places(script, threshold, index, self.budget) {
                    Some(mut places) => {
                        places.retain(|place| self.ends_right(place));
                        return self.choose_similar(&places, reading);
                    }
                    None => return Recovery::TooCostly,
                }
            }
            Comparison::Block => self.accepted(block::find_places(script, index), script),
            Comparison::Spaced if recovers(self.tolerance) => {
                block::find_places_ignoring_spacing(script, index)
            }
            Comparison::Spaced => self.accepted(block::find_places_by_spacing(script, index), script),
            Comparison::Elided => elision::find_places(script, index),
        };
        self.choose(places, reading)
    }

    /// The places with no difference that the caller does not tolerate.
    fn accepted(&self, mut places: Vec<Alignment>, script: &Script) -> Vec<Alignment> {
        if !recovers(self.tolerance) {
            places.retain(|place| {
                let differences = place.differences(script, self.index);
                differences.iter().all(|difference| accepts(self.tolerance, difference.class))
            });
        }
        places
    }

    /// Merges a reading into a place. A caller that sets a limit to differences also learns the similarity.
    fn merge(&self, reading: &Reading, place: &Alignment) -> Recovery {
        // The modes of a diff say what may differ, and its added lines are taken literally.
        let policy = match self.tolerance {
            Tolerance::TrailingWhitespace | Tolerance::Whitespace | Tolerance::Similar { .. } => {
                MergePolicy::AsSent
            }
            Tolerance::Exact | Tolerance::Recover => MergePolicy::Careful,
        };
        let mut merged = merge_into(reading, place, self.index, policy);
        if let Recovery::Found(found) = &mut merged
            && !recovers(self.tolerance)
        {
            found.percent = similar::percent(&reading.script, place, self.index, self.budget);
        }
        merged
    }

    fn find_drifted(&self, reading: &Reading) -> Recovery {
        let trust = match (self.request.place.chosen, self.request.place.line) {
            (true, _) => Trust::Chosen,
            (false, Some(line)) => Trust::StatedLine(line),
            (false, None) => Trust::TextAlone,
        };
        match drift::find_place(&reading.script, trust, self.index) {
            DriftMatch::One(alignment) if self.ends_right(&alignment) => {
                merge_into(reading, &alignment, self.index, MergePolicy::Careful)
            }
            DriftMatch::None | DriftMatch::One(_) => Recovery::NotFound,
            DriftMatch::Ambiguous(lines) => Recovery::Ambiguous(lines),
        }
    }

    fn ends_right(&self, alignment: &Alignment) -> bool {
        self.request.place.last.is_none_or(|last| alignment.last == last)
    }

    /// Accepts a single place. Among several, it accepts the only one with the request's exact indentation or blank lines, or,
    /// if all have identical text, the one that is clearly nearest to the stated line.
    fn choose(&self, places: Vec<Alignment>, reading: &Reading) -> Recovery {
        let places: Vec<Alignment> = places.into_iter().filter(|place| self.ends_right(place)).collect();
        if let [one] = &places[..] {
            return self.merge(reading, one);
        }
        if places.is_empty() {
            return Recovery::NotFound;
        }
        match self.closest_in_form(&places, reading).or_else(|| self.nearest_of_identical(&places)) {
            Some(one) => self.merge(reading, one),
            None => Recovery::Ambiguous(places.iter().map(Alignment::lines).collect()),
        }
    }

    /// The place whose indentation and blank lines are those of the request where any other place's are, and in more. With one place
    /// for each, nothing shows in which of the two the request is wrong. Nor does anything if another place has the newline at the
    /// start or the end of the request and this one does not.
    fn closest_in_form<'p>(&self, places: &'p [Alignment], reading: &Reading) -> Option<&'p Alignment> {
        let script = &reading.script;
        let layout = |place: &Alignment| {
            [place.has_same_indentation(script, self.index), place.has_same_blank_lines(script, self.index)]
        };
        let forms: Vec<_> = places
            .iter()
            .map(|place| (layout(place), place.has_outer_newlines(script, self.index)))
            .collect();
        let is_closer = |at: usize, other: usize| {
            let ((layout, newlines), (other_layout, other_newlines)) = (forms[at], forms[other]);
            let has_its_layout = layout.iter().zip(&other_layout).all(|(fits, other)| fits >= other);
            has_its_layout && layout != other_layout && newlines >= other_newlines
        };
        let is_closest = |at: usize| (0..places.len()).all(|other| other == at || is_closer(at, other));
        (0..places.len()).find(|&at| is_closest(at)).map(|at| &places[at])
    }

    /// Accepts a single place, or one of several with identical text. Indentation is part of the similarity, so it does not
    /// decide again.
    fn choose_similar(&self, places: &[Alignment], reading: &Reading) -> Recovery {
        match places {
            [] => Recovery::NotFound,
            [one] => self.merge(reading, one),
            several => match self.nearest_of_identical(several) {
                Some(one) => self.merge(reading, one),
                None => Recovery::Ambiguous(several.iter().map(Alignment::lines).collect()),
            },
        }
    }

    /// The place nearest to the stated line, if all places have the same text and every other one is at least twice as far.
    fn nearest_of_identical<'p>(&self, places: &'p [Alignment]) -> Option<&'p Alignment> {
        let line = self.request.place.line?;
        let distance = |place: &Alignment| place.first.abs_diff(line);
        let nearest = places.iter().min_by_key(|place| distance(place))?;
        let decided = places.iter().all(|other| {
            self.index.same_lines(nearest.lines(), other.lines())
                && (other == nearest || distance(other) >= (2 * distance(nearest)).max(1))
        });
        decided.then_some(nearest)
    }
}

/// Combines the results of equally likely readings: one place if they agree on it. Of two matches at the same place, the one
/// with fewer differences.
fn agree(recoveries: Vec<Recovery>) -> Option<Recovery> {
    let mut best: Option<Recovery> = None;
    for recovery in recoveries {
        best = Some(match (best, recovery) {
            (None, recovery) => recovery,
            (Some(Recovery::Found(a)), Recovery::Found(b)) if a.lines == b.lines => {
                Recovery::Found(if b.differences.len() < a.differences.len() { b } else { a })
            }
            (Some(Recovery::Found(a)), Recovery::Found(b)) => Recovery::Ambiguous(vec![a.lines, b.lines]),
            (Some(Recovery::Found(a)), _) => Recovery::Found(a),
            (Some(_), Recovery::Found(b)) => Recovery::Found(b),
            (Some(first), _) => first,
        });
    }
    best
}

/// Whether the complete new text is already in the file and distinctive enough to be no coincidence. Text that
/// resembles the old text is then another place, not a drifted one.
fn is_already_applied(script: &Script, index: &SearchIndex<'_>) -> bool {
    let after = script.after();
    let distinctive =
        |role: Role| script.rows.iter().filter(|row| row.role == role && is_distinctive(&row.text)).count();
    (distinctive(Role::Added) > 0 || distinctive(Role::Context) > 1)
        && !block::find_places(&after, index).is_empty()
}
