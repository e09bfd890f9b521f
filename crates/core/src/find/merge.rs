//! Putting a request into its place: lines that stay keep the file's bytes, lines that go are taken out, and
//! lines that come are indented as the file is. Nothing that only served to find the place is written.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::indentation::Indentation;
use super::punctuation::{folded, folded_with_places, key};
use super::script::{Role, Script};
use super::seats::{Seat, Seats, indent};
use super::terrain::Terrain;
use slipstitch_text::Span;

/// A request in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Merged {
    /// The whole lines that it covers, in the searchable text.
    pub(super) at: Span,
    /// What changes there: a part of the searchable text and the canonical text for it.
    pub(super) parts: Vec<(Range<usize>, String)>,
}

impl Merged {
    /// Without the last newline, if the request stops before it.
    fn cut_to(mut self, script: &Script, terrain: &Terrain<'_>) -> Self {
        let newline = terrain.snapshot.needle("\n");
        if !script.open_end || !self.at.of(terrain.snapshot.text()).ends_with(newline.as_bytes()) {
            return self;
        }
        let end = self.at.end() - newline.len();
        if let Some((range, text)) = self.parts.last_mut().filter(|(range, _)| range.end > end) {
            // Lines that go altogether take their newline with them.
            if range.start > end || !text.ends_with('\n') {
                return self;
            }
            range.end = end;
            text.pop();
        }
        self.at = Span::new(self.at.start(), end);
        self
    }
}

/// Why a request does not go into a place that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unmergeable {
    /// The lines that both have do not say how the new ones are indented.
    Indentation,
    /// Lines that were left out would be deleted.
    Elision,
    /// The new lines stand there already.
    AlreadyThere,
}

/// Puts a request into a place.
pub(super) fn merge(script: &Script, seats: &Seats, terrain: &Terrain<'_>) -> Result<Merged, Unmergeable> {
    let changes = Changes::of(script, seats, terrain)?;
    if changes.gone.is_empty() && !changes.come.is_empty() && changes.stand_there(terrain) {
        return Err(Unmergeable::AlreadyThere);
    }
    Ok(changes.merged(seats, terrain).cut_to(script, terrain))
}

/// What happens to the lines of the file.
#[derive(Default)]
struct Changes {
    gone: BTreeSet<usize>,
    /// New lines, by the line that they stand before.
    come: BTreeMap<usize, Vec<String>>,
}

impl Changes {
    fn of(script: &Script, seats: &Seats, terrain: &Terrain<'_>) -> Result<Self, Unmergeable> {
        let come: Vec<&str> =
            script.rows.iter().filter(|row| row.role == Role::Added).map(|row| indent(&row.text)).collect();
        let indentation = Indentation::learn(&seats.indents(script, terrain), &come);
        let first_new = script.rows.iter().position(|row| row.role != Role::Removed);
        let partners = replaced(script);
        let mut changes = Self::default();
        let mut before = None; // the last line of the file that the rows have passed
        let mut last_gone = None;
        for (number, row) in script.rows.iter().enumerate() {
            match (row.role, seats.seats[number]) {
                (Role::Removed, Seat::Lines(..)) => return Err(Unmergeable::Elision),
                (Role::Removed, Seat::Line(line)) => {
                    // Blank lines between two lines that go belong to them.
                    let from = last_gone.map_or(line, |last: usize| last + 1);
                    changes.gone.extend(from..=line);
                    (before, last_gone) = (Some(line), Some(line));
                }
                (Role::Context, Seat::Line(line)) => (before, last_gone) = (Some(line), None),
                (Role::Context, Seat::Lines(_, last)) => (before, last_gone) = (Some(last), None),
                (Role::Context | Role::Removed, Seat::Nowhere) => {}
                (Role::Added, _) => {
                    let at = before.map_or_else(|| following(seats, number), |line| line + 1);
                    let there = partners[number].and_then(|gone| Some((gone, seats.line(gone)?)));
                    let there = there.map(|(gone, line)| (gone, terrain.snapshot.line(line)));
                    let text = match there {
                        // The request calls the line otherwise in the old text only.
                        Some((_, line)) if line == row.text => row.text.clone(),
                        _ if row.blank => row.text.clone(),
                        there => {
                            let indent = indent(&row.text);
                            let deep = indentation
                                .apply(indent, first_new == Some(number))
                                .ok_or(Unmergeable::Indentation)?;
                            let body = &row.text[indent.len()..];
                            let own = there.and_then(|(gone, line)| {
                                restored(script.rows[gone].text.trim(), body, line.trim())
                            });
                            format!("{deep}{}", own.as_deref().unwrap_or(body))
                        }
                    };
                    changes.come.entry(at).or_default().push(text);
                }
            }
        }
        Ok(changes)
    }

    /// Whether the new lines are there already, beside their place.
    fn stand_there(&self, terrain: &Terrain<'_>) -> bool {
        // Braces and the like stand everywhere.
        let telling = |lines: &&Vec<String>| {
            lines.iter().all(|line| line.trim().is_empty()) || lines.iter().any(|line| is_distinctive(line))
        };
        self.come.values().all(|lines| telling(&lines))
            && self.come.iter().all(|(&at, lines)| there(at, lines, terrain))
    }

    fn merged(&self, seats: &Seats, terrain: &Terrain<'_>) -> Merged {
        let snapshot = terrain.snapshot;
        let mut parts = Vec::new();
        let mut points: BTreeSet<usize> = self.come.keys().copied().collect();
        points.extend(&self.gone);
        let mut next = 0;
        for &start in &points {
            if start < next {
                continue;
            }
            // A run of lines that go, with what comes before and after each of them.
            let mut end = start;
            let mut text: Vec<&str> = self.come.get(&end).into_iter().flatten().map(String::as_str).collect();
            while self.gone.contains(&end) {
                end += 1;
                text.extend(self.come.get(&end).into_iter().flatten().map(String::as_str));
            }
            next = end + 1;
            parts.push(part(start, end, &text, terrain));
        }
        let first = snapshot.line_span(seats.first).start();
        let last = snapshot.line_span(seats.last).end();
        let (start, end) = parts
            .iter()
            .fold((first, last), |(start, end), (range, _)| (start.min(range.start), end.max(range.end)));
        Merged { at: Span::new(start, end), parts }
    }
}

/// Whether a line says enough to be known by.
pub(super) fn is_distinctive(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).count() >= 4
}

/// The lines from `start` up to `end` in the searchable text, and the text that takes their place.
fn part(start: usize, end: usize, text: &[&str], terrain: &Terrain<'_>) -> (Range<usize>, String) {
    let snapshot = terrain.snapshot;
    let from = snapshot.line_span(start).start();
    let to = if end > start { snapshot.line_span(end - 1).end() } else { from };
    let mut lines = text.join("\n");
    let at_end = to == snapshot.text().len() && !snapshot.ends_with_newline();
    if text.is_empty() && at_end {
        // What is left still ends without a newline.
        let newline = snapshot.needle("\n").len();
        return (from.saturating_sub(newline)..to, lines);
    }
    if !text.is_empty() {
        match (at_end, end > start) {
            // The file's last line has no newline, and neither has its successor.
            (true, true) => {}
            (true, false) => lines.insert(0, '\n'),
            (false, _) => lines.push('\n'),
        }
    }
    (from..to, lines)
}

/// The line that the first row after `number` with a place has.
fn following(seats: &Seats, number: usize) -> usize {
    let next = seats.seats[number..].iter().find_map(|seat| match *seat {
        Seat::Line(line) => Some(line),
        Seat::Lines(first, _) => Some(first),
        Seat::Nowhere => None,
    });
    next.unwrap_or(seats.first)
}

/// For each new line the line whose place it takes: one that says the same, or, where as many lines go as
/// come, the one at the same point among them.
fn replaced(script: &Script) -> Vec<Option<usize>> {
    let mut gone_by_text: HashMap<&str, usize> = HashMap::new();
    for (number, row) in script.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Removed) {
        gone_by_text.entry(&row.text).or_insert(number);
    }
    let mut partners = vec![None; script.rows.len()];
    let mut at = 0;
    while at < script.rows.len() {
        let run =
            |from: usize, role: Role| script.rows[from..].iter().take_while(|row| row.role == role).count();
        let gone = run(at, Role::Removed);
        let come = run(at + gone, Role::Added);
        let new = at + gone..at + gone + come;
        for (number, partner) in new.clone().zip(&mut partners[new]) {
            let opposite = (gone == come).then_some(number - gone);
            *partner = gone_by_text.get(script.rows[number].text.as_str()).copied().or(opposite);
        }
        at += (gone + come).max(1);
    }
    partners
}

/// A new line with the file's own punctuation where the request did not mean to change it: `gone` is what the
/// request calls the file's line `there`. `None` if the two do not differ in look-alikes.
pub(super) fn restored(gone: &str, come: &str, there: &str) -> Option<String> {
    if gone == there || folded(gone) != folded(there) {
        return None;
    }
    let front: usize =
        gone.chars().zip(come.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (gone_rest, come_rest) = (&gone[front..], &come[front..]);
    let back: usize = gone_rest
        .chars()
        .rev()
        .zip(come_rest.chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let (plain, places) = folded_with_places(there);
    let (front_at, back_at) =
        (folded(&gone[..front]).len(), plain.len() - folded(&gone[gone.len() - back..]).len());
    // Dots that are one character in the file are kept or replaced as a whole.
    let cuts = |at: usize| at > 0 && at < plain.len() && places[at] == places[at - 1];
    if cuts(front_at) || cuts(back_at) {
        return None;
    }
    let (front_end, back_start) = (places[front_at], places[back_at]);
    let middle = &come[front..come.len() - back];
    (front_end <= back_start).then(|| format!("{}{middle}{}", &there[..front_end], &there[back_start..]))
}

/// Whether some lines stand right before or right after a place, blank lines aside.
fn there(at: usize, lines: &[String], terrain: &Terrain<'_>) -> bool {
    let count = terrain.snapshot.line_count();
    let keys: Vec<_> = lines.iter().map(|line| key(line)).filter(|key| !key.is_empty()).collect();
    if keys.is_empty() {
        let blank = |line: usize| (1..=count).contains(&line) && key(&terrain.snapshot.line(line)).is_empty();
        return (at..at + lines.len()).all(blank) || (at.saturating_sub(lines.len())..at).all(blank);
    }
    let says =
        |line: usize| Some(key(&terrain.snapshot.line(line)).into_owned()).filter(|key| !key.is_empty());
    let after = (at..=count).filter_map(says).take(keys.len());
    let before: Vec<String> = (1..at).rev().filter_map(says).take(keys.len()).collect();
    after.eq(keys.iter().map(|key| key.as_ref().to_owned()))
        || before.into_iter().rev().eq(keys.iter().map(|key| key.as_ref().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::restored;

    #[test]
    fn punctuation_that_the_request_does_not_change_stays() {
        assert_eq!(restored("say “a”", "say “b”", "say \"a\"").as_deref(), Some("say \"b\""));
        assert_eq!(restored("x - “a”", "x - 'b'", "x – \"a\"").as_deref(), Some("x – 'b'"));
        assert_eq!(restored("wait... a", "wait... b", "wait… a").as_deref(), Some("wait… b"));
        assert_eq!(restored("a", "b", "a"), None);
        assert_eq!(restored("a", "b", "c"), None);
    }
}
