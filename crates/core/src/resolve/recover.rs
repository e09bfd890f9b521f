//! Finding old text that is not quite what the file has, where the place is beyond doubt.
//!
//! Every place where the request could go is looked at, and every difference between the request and the file is
//! put into a class; see [`Class`]. The order is strict first: what was sent, then what may have been damaged on
//! the way, and last lines that drifted. As soon as one step finds something, later ones are not asked: they
//! would only find more.

use std::ops::Range;

use super::class::Class;
use super::drift::{self, Drifted};
use super::merge::{Merged, Unmergeable, is_telling, merge};
use super::reading::{Reading, readings};
use super::script::{Role, Script};
use super::search::{Needle, search};
use super::seats::{Difference, Seats};
use super::terrain::Terrain;
use super::{block, elision, inside};
use crate::change::{Lines, Span};
use crate::snapshot::Snapshot;

/// A longer text is not looked through: it costs a table of its lines.
pub(super) const MOST_BYTES: usize = 64 << 20;

/// How much of a line a message shows.
const SHOWN: usize = 80;

/// A place that was found, and what changes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// How request and file differ; never empty.
    pub(super) classes: Vec<Class>,
    /// In the searchable text.
    pub(super) at: Span,
    pub(super) change: Change,
    /// The differences between the lines of the request and the file's.
    pub(super) differences: Vec<Difference>,
}

impl Found {
    /// The difference that matters most, in words.
    pub(super) fn how(&self) -> Option<String> {
        let shown = |difference: &&Difference| !difference.wanted.is_empty() && !difference.there.is_empty();
        let worst = self.differences.iter().rev().filter(shown).max_by_key(|difference| difference.class)?;
        let (there, wanted) = (cut(&worst.there), cut(&worst.wanted));
        Some(format!("line {} is {there:?} in the file and {wanted:?} in the request", worst.line))
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

/// Looks for canonical `old` in a part of the searchable text.
pub(super) fn recover(old: &str, new: &str, within: Span, snapshot: &Snapshot) -> Attempt {
    if within.len() > MOST_BYTES {
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
    for (reading, script) in &readings {
        let mended = !reading.classes.is_empty();
        let steps: [&dyn Fn() -> Attempt; 5] = [
            &|| if mended { as_it_stands(reading, within, snapshot) } else { Attempt::Nothing },
            &|| settle(block::places(script, &terrain), script, reading, &terrain),
            &|| settle(block::spaced_places(script, &terrain), script, reading, &terrain),
            &|| in_a_line(reading, within, snapshot),
            &|| settle(elision::places(script, &terrain), script, reading, &terrain),
        ];
        for step in steps {
            match step() {
                Attempt::Nothing => {}
                attempt => return attempt,
            }
        }
    }
    if readings.iter().any(|(_, script)| made_before(script, &terrain)) {
        return Attempt::Nothing;
    }
    for (reading, script) in &readings {
        match drift::place(script, &terrain) {
            Drifted::None => {}
            Drifted::One(seats) => return fit(&seats, script, reading, &terrain),
            Drifted::Several(lines) => return Attempt::Several(lines),
        }
    }
    Attempt::Nothing
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
            return fit(&Seats::new(&script, &filled, &terrain), &script, &reading, &terrain);
        }
    }
    Attempt::Nothing
}

/// Whether all of the new text stands in the file, and has lines of its own that say something: what looks like
/// the old text is then another place.
fn made_before(script: &Script, terrain: &Terrain<'_>) -> bool {
    script.rows.iter().any(|row| row.role == Role::Come && is_telling(&row.text))
        && !block::places(&script.after(), terrain).is_empty()
}

/// The text as it was meant, found exactly.
fn as_it_stands(reading: &Reading, within: Span, snapshot: &Snapshot) -> Attempt {
    let needle = snapshot.needle(&reading.old);
    let hits = search(snapshot.text(), &[Needle { text: needle.as_bytes(), within, keep: 1000 }]).remove(0);
    match hits.starts[..] {
        [] => Attempt::Nothing,
        [start] => Attempt::One(Found {
            classes: reading.classes.clone(),
            at: Span::new(start, start + needle.len()),
            change: Change::Text(reading.new.clone()),
            differences: Vec::new(),
        }),
        ref starts => {
            let at = |&start: &usize| lines_at(Span::new(start, start + needle.len()), snapshot);
            Attempt::Several(starts.iter().map(at).collect())
        }
    }
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
                classes: [&reading.classes[..], &[Class::Punctuation]].concat(),
                at,
                change: Change::Text(new.unwrap_or_else(|| reading.new.clone())),
                differences: vec![Difference {
                    class: Class::Punctuation,
                    line: snapshot.line_of(at.start()),
                    wanted: reading.old.clone(),
                    there: there.into_owned(),
                }],
            })
        }
        ref several => Attempt::Several(several.iter().map(|&at| lines_at(at, snapshot)).collect()),
    }
}

/// One place, or none, or too many. Among several, one whose lines are all indented as in the request is the one
/// that was meant if it is the only such one.
fn settle(places: Vec<Seats>, script: &Script, reading: &Reading, terrain: &Terrain<'_>) -> Attempt {
    match &places[..] {
        [] => Attempt::Nothing,
        [one] => fit(one, script, reading, terrain),
        several => {
            let mut same = several.iter().filter(|seats| seats.same_indentation(script, terrain));
            match (same.next(), same.next()) {
                (Some(one), None) => fit(one, script, reading, terrain),
                _ => Attempt::Several(several.iter().map(Seats::lines).collect()),
            }
        }
    }
}

/// Puts a request into a place.
fn fit(seats: &Seats, script: &Script, reading: &Reading, terrain: &Terrain<'_>) -> Attempt {
    let lines = seats.lines();
    match merge(script, seats, terrain) {
        Ok(Merged { at, parts }) => {
            let differences = seats.differences(script, terrain);
            let mut classes: Vec<Class> = reading.classes.clone();
            classes.extend(differences.iter().map(|difference| difference.class));
            if classes.is_empty() {
                classes.push(Class::FinalNewline);
            }
            classes.sort_unstable();
            classes.dedup();
            Attempt::One(Found { classes, at, change: Change::Parts(parts), differences })
        }
        Err(Unmergeable::AlreadyThere) => Attempt::AlreadyThere(lines),
        Err(why) => Attempt::Unfit(lines, why),
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
