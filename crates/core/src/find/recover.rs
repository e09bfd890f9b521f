//! Recovery: finds old text that differs from the file, if the place is beyond doubt.
//!
//! Every possible place is compared with the request, and every difference is classified (see [`DifferenceKind`]). The search
//! goes from strict to loose: the request as sent, then with transport damage removed, and last with different words
//! in context lines. The first step that finds anything ends the search; see [`super`] for the reason.

use slipstitch_text::display::truncate_chars;
use std::ops::Range;

use super::alignment::{Alignment, Difference};
use super::drift::{self, DriftMatch};
use super::merge::{Merged, Unmergeable, is_distinctive, merge};
use super::script::{Role, Script};
use super::search::{Needle, search};
use super::search_index::SearchIndex;
use super::transport::{Interpretation, interpretations};
use super::{block, elision, inside};
use crate::change::DifferenceKind;
use crate::change::{Lines, Rung};
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// Longer text is not recovered: it would need an index of all its lines.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// How much of a line a message shows.
const MAX_SHOWN_CHARS: usize = 80;

/// A recovered place and the change to make there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecoveredPlace {
    /// How request and file differ; never empty.
    pub(super) classes: Vec<DifferenceKind>,
    /// In the searchable text.
    pub(super) at: Span,
    pub(super) lines: Lines,
    pub(super) replacement: Replacement,
    /// The differences, line by line.
    pub(super) differences: Vec<Difference>,
    /// The similarity of the lines in percent.
    pub(super) percent: u8,
}

impl RecoveredPlace {
    /// Adds a difference that shows the transport damage.
    fn with_transport_difference(mut self, old: &str, snapshot: &Snapshot) -> Self {
        let damage = self.classes.iter().copied().find(|class| class.rung() == Rung::Transport);
        let first = old.lines().find(|line| !line.trim().is_empty());
        if let (Some(class), Some(request)) = (damage, first) {
            let file = snapshot.line(self.lines.start).into_owned();
            let request = request.to_owned();
            self.differences.push(Difference { class, line: self.lines.start, request, file });
        }
        self
    }

    /// Describes the difference that matters most.
    pub(super) fn describe_worst(&self) -> Option<String> {
        let shown = |difference: &&Difference| !difference.request.is_empty() && !difference.file.is_empty();
        let worst = self.differences.iter().rev().filter(shown).max_by_key(|difference| difference.class)?;
        let (file, request) =
            (truncate_chars(&worst.file, MAX_SHOWN_CHARS), truncate_chars(&worst.request, MAX_SHOWN_CHARS));
        let description = worst.class.describe(&file, &request);
        Some(
            description.unwrap_or_else(|| {
                format!("the file has {file:?} on line {}, you sent {request:?}", worst.line)
            }),
        )
    }
}

/// What replaces the text of a recovered place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Replacement {
    /// Canonical text for all of it.
    Text(String),
    /// Canonical text for some ranges of the searchable text; the rest is kept.
    Parts(Vec<(Range<usize>, String)>),
}

/// The outcome of a recovery, or of one of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recovery {
    /// No place.
    NotFound,
    /// One place.
    Found(RecoveredPlace),
    /// Several places. A looser step could only find more.
    Ambiguous(Vec<Lines>),
    /// One place, and the new text is already there.
    AlreadyApplied(Lines),
    /// One place, and the request cannot be merged into it.
    Unmergeable(Lines, Unmergeable),
}

/// A way of comparing lines, strictest first. The order is behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Consecutive lines; trailing and leading whitespace, blank lines and look-alike punctuation may differ.
    Block,
    /// Like `Block`; whitespace inside context lines may differ as well.
    Spaced,
    /// Consecutive lines around elisions.
    Elided,
    /// Different words in context lines.
    Drifted,
}

/// All strategies, in order.
pub(super) const STRATEGIES: &[Strategy] =
    &[Strategy::Block, Strategy::Spaced, Strategy::Elided, Strategy::Drifted];

/// A script to find, and what is known about its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScriptSearch<'s> {
    pub(super) script: &'s Script,
    /// The damage that was repaired in the request.
    pub(super) classes: &'s [DifferenceKind],
    /// The line where it should start. Only used to choose between identical texts.
    pub(super) line: Option<usize>,
    /// The line that it must end with.
    pub(super) last: Option<usize>,
}

impl ScriptSearch<'_> {
    /// Looks for the script with one strategy.
    pub(super) fn try_strategy(&self, strategy: Strategy, index: &SearchIndex<'_>) -> Recovery {
        let places = match strategy {
            Strategy::Block => block::find_places(self.script, index),
            Strategy::Spaced => block::find_places_ignoring_spacing(self.script, index),
            Strategy::Elided => elision::find_places(self.script, index),
            Strategy::Drifted => return self.find_drifted(index),
        };
        let right_end = |alignment: &Alignment| self.last.is_none_or(|last| alignment.last == last);
        self.choose_place(places.into_iter().filter(right_end).collect(), index)
    }

    fn find_drifted(&self, index: &SearchIndex<'_>) -> Recovery {
        if is_already_applied(self.script, index) {
            return Recovery::NotFound;
        }
        match drift::find_place(self.script, self.line, index) {
            DriftMatch::One(alignment) if self.last.is_none_or(|last| alignment.last == last) => {
                self.merge_into(&alignment, index)
            }
            DriftMatch::None | DriftMatch::One(_) => Recovery::NotFound,
            DriftMatch::Ambiguous(lines) => Recovery::Ambiguous(lines),
        }
    }

    /// Accepts a single place. Among several, it accepts the only one with the request's exact indentation, or, if all
    /// have identical text, the one at the stated line.
    fn choose_place(&self, places: Vec<Alignment>, index: &SearchIndex<'_>) -> Recovery {
        if let [one] = &places[..] {
            return self.merge_into(one, index);
        }
        if places.is_empty() {
            return Recovery::NotFound;
        }
        let mut same = places.iter().filter(|alignment| alignment.has_same_indentation(self.script, index));
        if let (Some(one), None) = (same.next(), same.next()) {
            return self.merge_into(one, index);
        }
        let stated = places.iter().find(|alignment| self.line == Some(alignment.first));
        match stated.filter(|one| places.iter().all(|other| index.same_lines(one.lines(), other.lines()))) {
            Some(one) => self.merge_into(one, index),
            None => Recovery::Ambiguous(places.iter().map(Alignment::lines).collect()),
        }
    }

    /// Merges the script into a place.
    fn merge_into(&self, alignment: &Alignment, index: &SearchIndex<'_>) -> Recovery {
        let lines = alignment.lines();
        match merge(self.script, alignment, index) {
            Ok(Merged { at, parts }) => {
                let differences = alignment.differences(self.script, index);
                let mut classes: Vec<DifferenceKind> = self.classes.to_vec();
                classes.extend(differences.iter().map(|difference| difference.class));
                if classes.is_empty() {
                    classes.push(DifferenceKind::FinalNewline);
                }
                classes.sort_unstable();
                classes.dedup();
                let percent = alignment.percent(self.script, index);
                Recovery::Found(RecoveredPlace {
                    classes,
                    at,
                    lines,
                    replacement: Replacement::Parts(parts),
                    differences,
                    percent,
                })
            }
            Err(Unmergeable::AlreadyPresent) => Recovery::AlreadyApplied(lines),
            Err(why) => Recovery::Unmergeable(lines, why),
        }
    }
}

/// Finds canonical `old` inside `within`.
pub(super) fn recover(old: &str, new: &str, within: Span, snapshot: &Snapshot) -> Recovery {
    match search_interpretations(old, new, within, snapshot) {
        Recovery::Found(found) => Recovery::Found(found.with_transport_difference(old, snapshot)),
        recovery => recovery,
    }
}

fn search_interpretations(old: &str, new: &str, within: Span, snapshot: &Snapshot) -> Recovery {
    if within.len() > MAX_BYTES {
        return Recovery::NotFound;
    }
    let index = SearchIndex::new(within, snapshot);
    let interpretations: Vec<(Interpretation, Script)> = interpretations(old, new)
        .into_iter()
        .map(|interpretation| {
            let script = Script::of_snippet(&interpretation.old, &interpretation.new);
            (interpretation, script)
        })
        .collect();
    let search = |interpretation: &'_ Interpretation, script: &'_ Script, strategy| {
        ScriptSearch { script, classes: &interpretation.classes, line: None, last: None }
            .try_strategy(strategy, &index)
    };
    for (interpretation, script) in &interpretations {
        let steps: [&dyn Fn() -> Recovery; 5] = [
            &|| find_verbatim(interpretation, within, snapshot),
            &|| search(interpretation, script, Strategy::Block),
            &|| search(interpretation, script, Strategy::Spaced),
            &|| find_inside_line(interpretation, within, snapshot),
            &|| search(interpretation, script, Strategy::Elided),
        ];
        // The request as sent is known to have no exact match.
        for step in &steps[usize::from(interpretation.classes.is_empty())..] {
            match step() {
                Recovery::NotFound => {}
                recovery => return recovery,
            }
        }
    }
    if interpretations.iter().any(|(_, script)| is_already_applied(script, &index)) {
        return Recovery::NotFound;
    }
    let drifted = interpretations
        .iter()
        .map(|(interpretation, script)| search(interpretation, script, Strategy::Drifted));
    drifted.into_iter().find(|recovery| *recovery != Recovery::NotFound).unwrap_or(Recovery::NotFound)
}

/// Merges a request into lines that the caller chose. They must have as many non-blank lines as the request.
pub(super) fn recover_at(old: &str, new: &str, lines: Span, snapshot: &Snapshot) -> Recovery {
    let index = SearchIndex::new(lines, snapshot);
    for interpretation in interpretations(old, new) {
        match find_verbatim(&interpretation, lines, snapshot) {
            Recovery::NotFound => {}
            recovery => return recovery,
        }
        let script = Script::of_snippet(&interpretation.old, &interpretation.new);
        let rows: Vec<usize> = script.anchors().map(|(row, _)| row).collect();
        if rows.len() == index.len() {
            let pairs: Vec<(usize, usize)> = rows.into_iter().zip(0..).collect();
            let alignment = Alignment::new(&script, &pairs, &index);
            let search =
                ScriptSearch { script: &script, classes: &interpretation.classes, line: None, last: None };
            return search.merge_into(&alignment, &index);
        }
    }
    Recovery::NotFound
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

/// Finds the repaired old text exactly.
fn find_verbatim(interpretation: &Interpretation, within: Span, snapshot: &Snapshot) -> Recovery {
    let needle = snapshot.needle(&interpretation.old);
    let hits = search(snapshot.text(), &[Needle { text: needle.as_bytes(), within, keep: 1000 }]).remove(0);
    let whole = |start: &usize| {
        respects_boundaries(Span::new(*start, start + needle.len()), interpretation, snapshot)
    };
    let starts: Vec<usize> = hits.starts.into_iter().filter(whole).collect();
    match starts[..] {
        [] => Recovery::NotFound,
        [start] => Recovery::Found(RecoveredPlace {
            classes: interpretation.classes.clone(),
            at: Span::new(start, start + needle.len()),
            lines: lines_of_span(Span::new(start, start + needle.len()), snapshot),
            replacement: Replacement::Text(interpretation.new.clone()),
            differences: Vec::new(),
            percent: 100,
        }),
        ref starts => {
            let at = |&start: &usize| lines_of_span(Span::new(start, start + needle.len()), snapshot);
            Recovery::Ambiguous(starts.iter().map(at).collect())
        }
    }
}

/// Whether a match is not cut out of a larger text: escapes and entities only need word boundaries, but text that
/// was on complete lines (fenced, numbered, with diff markers) must match complete lines.
fn respects_boundaries(at: Span, interpretation: &Interpretation, snapshot: &Snapshot) -> bool {
    let text = snapshot.text();
    let (before, after) = (&text[..at.start()], &text[at.end()..]);
    let checks_words = interpretation
        .classes
        .iter()
        .all(|class| matches!(class, DifferenceKind::Escapes | DifferenceKind::Entities));
    if checks_words {
        let word =
            |byte: Option<&u8>| byte.is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80);
        let body = at.of(text);
        return !(word(before.last()) && word(body.first()) || word(after.first()) && word(body.last()));
    }
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let line_end = memchr::memchr(b'\n', after).unwrap_or(after.len());
    let ends = at.of(text).ends_with(b"\n") || after[..line_end].trim_ascii().is_empty();
    before[line_start..].trim_ascii().is_empty() && ends
}

/// Finds text inside a line, with different look-alike punctuation.
fn find_inside_line(interpretation: &Interpretation, within: Span, snapshot: &Snapshot) -> Recovery {
    let places = inside::find_places(&interpretation.old, within, snapshot);
    match places[..] {
        [] => Recovery::NotFound,
        [at] => {
            let file = String::from_utf8_lossy(at.of(snapshot.text()));
            let new = super::merge::restore_punctuation(&interpretation.old, &interpretation.new, &file);
            Recovery::Found(RecoveredPlace {
                classes: [&interpretation.classes[..], &[DifferenceKind::Punctuation]].concat(),
                at,
                lines: lines_of_span(at, snapshot),
                replacement: Replacement::Text(new.unwrap_or_else(|| interpretation.new.clone())),
                differences: vec![Difference {
                    class: DifferenceKind::Punctuation,
                    line: snapshot.line_of(at.start()),
                    request: interpretation.old.clone(),
                    file: file.into_owned(),
                }],
                percent: 100,
            })
        }
        ref several => Recovery::Ambiguous(several.iter().map(|&at| lines_of_span(at, snapshot)).collect()),
    }
}

/// The lines that a span touches.
pub(super) fn lines_of_span(at: Span, snapshot: &Snapshot) -> Lines {
    let start = snapshot.line_of(at.start());
    let last = snapshot.line_of(at.end().max(at.start() + 1) - 1);
    Lines { start, count: last - start + 1 }
}
