//! Finding old text that is not quite what the file has, where the place is beyond doubt.
//!
//! Every place where the request could go is looked at, and every difference between the request and the file is
//! put into a class; see [`DifferenceKind`]. The order is strict first: what was sent, then what may have been damaged on
//! the way, and last lines that drifted. As soon as one step finds something, later ones are not asked: they
//! would only find more.

use std::ops::Range;

use super::drift::{self, Drifted};
use super::merge::{Merged, Unmergeable, is_distinctive, merge};
use super::reading::{Reading, readings};
use super::script::{Role, Script};
use super::search::{Needle, search};
use super::seats::{Difference, Seats};
use super::terrain::Terrain;
use super::{block, elision, inside};
use crate::change::DifferenceKind;
use crate::change::{Lines, Rung};
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// A longer text is not looked through: it costs a table of its lines.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// How much of a line a message shows.
const SHOWN: usize = 80;

/// A place that was found, and what changes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// How request and file differ; never empty.
    pub(super) classes: Vec<DifferenceKind>,
    /// In the searchable text.
    pub(super) at: Span,
    pub(super) lines: Lines,
    pub(super) change: Change,
    /// The differences between the lines of the request and the file's.
    pub(super) differences: Vec<Difference>,
    /// How alike the lines are, in percent.
    pub(super) percent: u8,
}

impl Found {
    /// The same with the line that damage on the way made another one.
    fn told_as_sent(mut self, old: &str, snapshot: &Snapshot) -> Self {
        let damage = self.classes.iter().copied().find(|class| class.rung() == Rung::Transport);
        let first = old.lines().find(|line| !line.trim().is_empty());
        if let (Some(class), Some(wanted)) = (damage, first) {
            let there = snapshot.line(self.lines.start).into_owned();
            let wanted = wanted.to_owned();
            self.differences.push(Difference { class, line: self.lines.start, wanted, there });
        }
        self
    }

    /// The difference that matters most, in words.
    pub(super) fn how(&self) -> Option<String> {
        let shown = |difference: &&Difference| !difference.wanted.is_empty() && !difference.there.is_empty();
        let worst = self.differences.iter().rev().filter(shown).max_by_key(|difference| difference.class)?;
        let (there, wanted) = (cut(&worst.there), cut(&worst.wanted));
        let description = worst.class.describe(&there, &wanted);
        Some(description.unwrap_or_else(|| {
            format!("line {} is {there:?} in the file and {wanted:?} in the request", worst.line)
        }))
    }
}

/// What is to stand in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// This canonical text.
    Text(String),
    /// What stands there, with other canonical text in some parts of it. They count from the start of the
    /// searchable text.
    Parts(Vec<(Range<usize>, String)>),
}

/// What a step has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Nothing like it.
    Nothing,
    /// One place.
    One(Found),
    /// Several places. A looser step would only find more.
    Several(Vec<Lines>),
    /// One place, and the new text stands there.
    AlreadyThere(Lines),
    /// One place, and the request does not go into it.
    Unfit(Lines, Unmergeable),
}

/// A way to look for lines. The order is behaviour: strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// One after another, but for white space at their ends, blank lines and look-alikes.
    Block,
    /// The same with other white space inside lines that stay.
    Spaced,
    /// With lines left out.
    Elided,
    /// With other words in lines that stay.
    Drifted,
}

/// All ways, in order.
pub(super) const WAYS: &[Way] = &[Way::Block, Way::Spaced, Way::Elided, Way::Drifted];

/// Lines to look for, and what is known of their place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search<'s> {
    pub(super) script: &'s Script,
    /// What was mended in them before.
    pub(super) classes: &'s [DifferenceKind],
    /// The line where they should start. It decides among equal texts, and nothing else.
    pub(super) line: Option<usize>,
    /// The line that must be their last.
    pub(super) last: Option<usize>,
}

impl Search<'_> {
    /// Goes one way.
    pub(super) fn go(&self, way: Way, terrain: &Terrain<'_>) -> Attempt {
        let places = match way {
            Way::Block => block::places(self.script, terrain),
            Way::Spaced => block::spaced_places(self.script, terrain),
            Way::Elided => elision::places(self.script, terrain),
            Way::Drifted => return self.drifted(terrain),
        };
        let right_end = |seats: &Seats| self.last.is_none_or(|last| seats.last == last);
        self.settle(places.into_iter().filter(right_end).collect(), terrain)
    }

    fn drifted(&self, terrain: &Terrain<'_>) -> Attempt {
        if is_already_applied(self.script, terrain) {
            return Attempt::Nothing;
        }
        match drift::place(self.script, self.line, terrain) {
            Drifted::One(seats) if self.last.is_none_or(|last| seats.last == last) => {
                self.fit(&seats, terrain)
            }
            Drifted::None | Drifted::One(_) => Attempt::Nothing,
            Drifted::Several(lines) => Attempt::Several(lines),
        }
    }

    /// One place, or none, or too many. Among several, one whose lines are all indented as in the request is the
    /// one that was meant if it is the only such one; among equal texts, the one at the line that was named.
    fn settle(&self, places: Vec<Seats>, terrain: &Terrain<'_>) -> Attempt {
        if let [one] = &places[..] {
            return self.fit(one, terrain);
        }
        if places.is_empty() {
            return Attempt::Nothing;
        }
        let mut same = places.iter().filter(|seats| seats.same_indentation(self.script, terrain));
        if let (Some(one), None) = (same.next(), same.next()) {
            return self.fit(one, terrain);
        }
        let named = places.iter().find(|seats| self.line == Some(seats.first));
        match named.filter(|one| places.iter().all(|other| terrain.same_lines(one.lines(), other.lines()))) {
            Some(one) => self.fit(one, terrain),
            None => Attempt::Several(places.iter().map(Seats::lines).collect()),
        }
    }

    /// Puts the lines into a place.
    fn fit(&self, seats: &Seats, terrain: &Terrain<'_>) -> Attempt {
        let lines = seats.lines();
        match merge(self.script, seats, terrain) {
            Ok(Merged { at, parts }) => {
                let differences = seats.differences(self.script, terrain);
                let mut classes: Vec<DifferenceKind> = self.classes.to_vec();
                classes.extend(differences.iter().map(|difference| difference.class));
                if classes.is_empty() {
                    classes.push(DifferenceKind::FinalNewline);
                }
                classes.sort_unstable();
                classes.dedup();
                let percent = seats.percent(self.script, terrain);
                Attempt::One(Found { classes, at, lines, change: Change::Parts(parts), differences, percent })
            }
            Err(Unmergeable::AlreadyThere) => Attempt::AlreadyThere(lines),
            Err(why) => Attempt::Unfit(lines, why),
        }
    }
}

/// Looks for canonical `old` in a part of the searchable text.
pub(super) fn recover(old: &str, new: &str, within: Span, snapshot: &Snapshot) -> Attempt {
    match look(old, new, within, snapshot) {
        Attempt::One(found) => Attempt::One(found.told_as_sent(old, snapshot)),
        attempt => attempt,
    }
}

fn look(old: &str, new: &str, within: Span, snapshot: &Snapshot) -> Attempt {
    if within.len() > MAX_BYTES {
        return Attempt::Nothing;
    }
    let terrain = Terrain::new(within, snapshot);
    let readings: Vec<(Reading, Script)> = readings(old, new)
        .into_iter()
        .map(|reading| {
            let script = Script::of_snippet(&reading.old, &reading.new);
            (reading, script)
        })
        .collect();
    let search = |reading: &'_ Reading, script: &'_ Script, way| {
        Search { script, classes: &reading.classes, line: None, last: None }.go(way, &terrain)
    };
    for (reading, script) in &readings {
        let steps: [&dyn Fn() -> Attempt; 5] = [
            &|| as_it_stands(reading, within, snapshot),
            &|| search(reading, script, Way::Block),
            &|| search(reading, script, Way::Spaced),
            &|| in_a_line(reading, within, snapshot),
            &|| search(reading, script, Way::Elided),
        ];
        // What was sent does not stand there as it is.
        for step in &steps[usize::from(reading.classes.is_empty())..] {
            match step() {
                Attempt::Nothing => {}
                attempt => return attempt,
            }
        }
    }
    if readings.iter().any(|(_, script)| is_already_applied(script, &terrain)) {
        return Attempt::Nothing;
    }
    let drifted = readings.iter().map(|(reading, script)| search(reading, script, Way::Drifted));
    drifted.into_iter().find(|attempt| *attempt != Attempt::Nothing).unwrap_or(Attempt::Nothing)
}

/// Puts a request into lines that the caller chose. As many of them must say something as of the request's.
pub(super) fn chosen(old: &str, new: &str, lines: Span, snapshot: &Snapshot) -> Attempt {
    let terrain = Terrain::new(lines, snapshot);
    for reading in readings(old, new) {
        match as_it_stands(&reading, lines, snapshot) {
            Attempt::Nothing => {}
            attempt => return attempt,
        }
        let script = Script::of_snippet(&reading.old, &reading.new);
        let rows: Vec<usize> = script.filled().map(|(row, _)| row).collect();
        if rows.len() == terrain.len() {
            let filled: Vec<(usize, usize)> = rows.into_iter().zip(0..).collect();
            let seats = Seats::new(&script, &filled, &terrain);
            let search = Search { script: &script, classes: &reading.classes, line: None, last: None };
            return search.fit(&seats, &terrain);
        }
    }
    Attempt::Nothing
}

/// Whether all of the new text stands in the file, and says enough to be known by: what looks like the old text is
/// then another place.
fn is_already_applied(script: &Script, terrain: &Terrain<'_>) -> bool {
    let after = script.after();
    let telling =
        |role: Role| script.rows.iter().filter(|row| row.role == role && is_distinctive(&row.text)).count();
    (telling(Role::Added) > 0 || telling(Role::Context) > 1) && !block::places(&after, terrain).is_empty()
}

/// The text as it was meant, found exactly.
fn as_it_stands(reading: &Reading, within: Span, snapshot: &Snapshot) -> Attempt {
    let needle = snapshot.needle(&reading.old);
    let hits = search(snapshot.text(), &[Needle { text: needle.as_bytes(), within, keep: 1000 }]).remove(0);
    let whole = |start: &usize| stands_apart(Span::new(*start, start + needle.len()), reading, snapshot);
    let starts: Vec<usize> = hits.starts.into_iter().filter(whole).collect();
    match starts[..] {
        [] => Attempt::Nothing,
        [start] => Attempt::One(Found {
            classes: reading.classes.clone(),
            at: Span::new(start, start + needle.len()),
            lines: lines_at(Span::new(start, start + needle.len()), snapshot),
            change: Change::Text(reading.new.clone()),
            differences: Vec::new(),
            percent: 100,
        }),
        ref starts => {
            let at = |&start: &usize| lines_at(Span::new(start, start + needle.len()), snapshot);
            Attempt::Several(starts.iter().map(at).collect())
        }
    }
}

/// Whether a match does not start or end inside a word; what stood on lines of its own must stand on such lines.
fn stands_apart(at: Span, reading: &Reading, snapshot: &Snapshot) -> bool {
    let text = snapshot.text();
    let (before, after) = (&text[..at.start()], &text[at.end()..]);
    let in_words = reading
        .classes
        .iter()
        .all(|class| matches!(class, DifferenceKind::Escapes | DifferenceKind::Entities));
    if in_words {
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

/// A text inside a line, with other punctuation.
fn in_a_line(reading: &Reading, within: Span, snapshot: &Snapshot) -> Attempt {
    let places = inside::places(&reading.old, within, snapshot);
    match places[..] {
        [] => Attempt::Nothing,
        [at] => {
            let there = String::from_utf8_lossy(at.of(snapshot.text()));
            let new = super::merge::restored(&reading.old, &reading.new, &there);
            Attempt::One(Found {
                classes: [&reading.classes[..], &[DifferenceKind::Punctuation]].concat(),
                at,
                lines: lines_at(at, snapshot),
                change: Change::Text(new.unwrap_or_else(|| reading.new.clone())),
                differences: vec![Difference {
                    class: DifferenceKind::Punctuation,
                    line: snapshot.line_of(at.start()),
                    wanted: reading.old.clone(),
                    there: there.into_owned(),
                }],
                percent: 100,
            })
        }
        ref several => Attempt::Several(several.iter().map(|&at| lines_at(at, snapshot)).collect()),
    }
}

/// The lines that a part of the searchable text lies in.
pub(super) fn lines_at(at: Span, snapshot: &Snapshot) -> Lines {
    let start = snapshot.line_of(at.start());
    let last = snapshot.line_of(at.end().max(at.start() + 1) - 1);
    Lines { start, count: last - start + 1 }
}

/// A text that fits into a message.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
