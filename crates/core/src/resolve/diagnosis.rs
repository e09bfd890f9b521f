//! Why a text was not found, and the places that come closest.
//!
//! One pass over the file: lines of the request that stand in the file, white space at their ends
//! aside, vote for the place where the request would start. Where no line stands in the file, the
//! lines that share the most words with the request's longest line are named. Both are bounded.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::change::{Lines, Span};
use crate::plan::LineRange;
use crate::snapshot::Snapshot;

/// How many places are named.
pub(super) const MOST_CANDIDATES: usize = 3;
/// How many lines of a place are shown, and how much of each.
const PREVIEW_LINES: usize = 6;
const PREVIEW_CHARACTERS: usize = 160;
/// How many votes are counted: a million equal lines all vote, and say nothing.
const MOST_VOTES: usize = 200_000;
/// How much of the file is compared word by word.
const MOST_WORD_BYTES: usize = 4 << 20;

/// Why a text was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// Nothing better is known.
    NotFound,
    /// The text stands there but for white space.
    Whitespace,
    /// The text is in the file, but outside the lines that were named.
    OutsideRange,
    /// The new text stands in the file already.
    AlreadyApplied,
}

/// What is known about a text that was not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Why.
    pub cause: Cause,
    /// The places that come closest, best first.
    pub candidates: Vec<Candidate>,
}

/// A place that comes close.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Its lines.
    pub lines: Lines,
    /// What stands there, cut short if it is long.
    pub preview: String,
}

impl Diagnosis {
    /// Nothing was looked into.
    pub(super) fn none() -> Self {
        Self { cause: Cause::NotFound, candidates: Vec::new() }
    }

    pub(super) fn message(&self) -> String {
        let place = self.candidates.first().map(|candidate| candidate.lines.to_string());
        match (self.cause, place) {
            (Cause::NotFound, Some(place)) => {
                format!("the old text is not in the file; the closest text is at {place}")
            }
            (Cause::NotFound, None) => "the old text is not in the file".into(),
            (Cause::Whitespace, place) => format!(
                "the old text is not in the file as given; at {} it stands with other white space",
                place.unwrap_or_default()
            ),
            (Cause::OutsideRange, place) => {
                format!(
                    "the old text is not inside the lines given; it stands at {}",
                    place.unwrap_or_default()
                )
            }
            (Cause::AlreadyApplied, place) => format!(
                "the old text is not in the file, and the new text stands at {} already",
                place.unwrap_or_default()
            ),
        }
    }

    /// What to do next; `old` is what the caller's tool calls the old text.
    pub(super) fn hint(&self, old: &str) -> String {
        match self.cause {
            Cause::NotFound if self.candidates.is_empty() => {
                format!("Check the path, read the file, and copy {old} from it.")
            }
            Cause::NotFound => format!("Copy {old} from the file as it is now."),
            Cause::Whitespace => format!("Send {old} with the file's own white space, as shown."),
            Cause::OutsideRange => "Give the lines it stands in, or no range.".into(),
            Cause::AlreadyApplied => "Nothing is left to do.".into(),
        }
    }
}

/// Looks for what the caller may have meant by canonical `old`, which is not where it should be.
pub(super) fn diagnose(old: &str, new: &str, within: Option<LineRange>, snapshot: &Snapshot) -> Diagnosis {
    let find = |text: &str| memchr::memmem::find(snapshot.text(), snapshot.needle(text).as_bytes());
    let at = |start: usize, text: &str| {
        candidate_at(Span::new(start, start + snapshot.needle(text).len()), snapshot)
    };
    if within.is_some()
        && let Some(start) = find(old)
    {
        return Diagnosis { cause: Cause::OutsideRange, candidates: vec![at(start, old)] };
    }
    let wanted: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut places = by_lines(&wanted, snapshot);
    if places.is_empty() {
        places = by_words(&wanted, snapshot);
    }
    if let Some(place) = already_there(old, new, snapshot)
        && places
            .iter()
            .all(|lines| lines.start < place.start + place.count && place.start < lines.start + lines.count)
    {
        return Diagnosis { cause: Cause::AlreadyApplied, candidates: vec![candidate(place, snapshot)] };
    }
    let same = |lines: &Lines| {
        let there = (lines.start..lines.start + lines.count).map(|n| snapshot.line(n).trim().to_owned());
        there.filter(|line| !line.is_empty()).eq(wanted.iter().copied())
    };
    let cause = if places.first().is_some_and(same) { Cause::Whitespace } else { Cause::NotFound };
    Diagnosis { cause, candidates: places.into_iter().map(|lines| candidate(lines, snapshot)).collect() }
}

/// Where the new text stands, if that shows that the edit was made: it stands in one place only, has a
/// line of its own that says something, and is otherwise like the old text. That nothing else in the
/// file is like the old text is for the caller to see.
fn already_there(old: &str, new: &str, snapshot: &Snapshot) -> Option<Lines> {
    let telling = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() >= 4;
    let known: HashSet<&str> = old.lines().map(str::trim).collect();
    let mut own = new.lines().map(str::trim).filter(telling);
    if !own.any(|line| !known.contains(line)) || !alike(old, new) {
        return None;
    }
    let start = stands_alone_once(new, snapshot)?;
    Some(lines_of(Span::new(start, start + snapshot.needle(new).len()), snapshot))
}

/// Whether two texts share at least half of the words of the one that has fewer.
fn alike(old: &str, new: &str) -> bool {
    let (old, new): (HashSet<&str>, HashSet<&str>) = (words(old).collect(), words(new).collect());
    let fewer = old.len().min(new.len());
    fewer > 0 && old.intersection(&new).count() * 2 >= fewer
}

/// Where a text stands, if it stands in one place only and there not inside a word.
fn stands_alone_once(text: &str, snapshot: &Snapshot) -> Option<usize> {
    let (haystack, needle) = (snapshot.text(), snapshot.needle(text));
    let mut places = memchr::memmem::find_iter(haystack, needle.as_bytes());
    let start = places.next()?;
    let in_word = |byte: Option<&u8>| byte.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let word_before = start > 0 && in_word(haystack.get(start - 1)) && in_word(needle.as_bytes().first());
    let word_after = in_word(haystack.get(start + needle.len())) && in_word(needle.as_bytes().last());
    (places.next().is_none() && !word_before && !word_after).then_some(start)
}

fn lines_of(span: Span, snapshot: &Snapshot) -> Lines {
    let start = snapshot.line_of(span.start());
    let last = snapshot.line_of(span.end().max(span.start() + 1) - 1);
    Lines { start, count: last - start + 1 }
}

/// The lines of a text that are not blank, with their numbers and without white space around them.
/// Blank lines are left out of the request too.
fn filled_lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    (1..).zip(lines).filter(|(_, line)| !line.is_empty())
}

/// Places where lines of the request stand, the one with the most of them first.
fn by_lines(wanted: &[&str], snapshot: &Snapshot) -> Vec<Lines> {
    let mut places_in_request: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (offset, line) in wanted.iter().enumerate() {
        places_in_request.entry(line.as_bytes()).or_default().push(offset);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut counted = 0;
    for (position, (_, line)) in filled_lines(snapshot.text()).enumerate() {
        let Some(offsets) = places_in_request.get(line) else { continue };
        for start in offsets.iter().take(4).filter_map(|&offset| position.checked_sub(offset)) {
            *votes.entry(start).or_default() += line.len().min(40);
            counted += 1;
        }
        if counted >= MOST_VOTES {
            break;
        }
    }
    let all: usize = wanted.iter().map(|line| line.len().min(40)).sum();
    let mut ranked: Vec<(usize, usize)> = votes.into_iter().filter(|(_, weight)| weight * 3 >= all).collect();
    ranked.sort_by_key(|&(start, weight)| (std::cmp::Reverse(weight), start));
    ranked.truncate(MOST_CANDIDATES);
    let starts: Vec<usize> = ranked.into_iter().map(|(start, _)| start).collect();
    line_ranges(&starts, wanted.len(), snapshot)
}

/// The lines from each of some filled lines on, `count` filled lines long; one more pass, because a
/// table of all lines would take more room than the file has lines of interest.
fn line_ranges(starts: &[usize], count: usize, snapshot: &Snapshot) -> Vec<Lines> {
    let mut found = vec![Lines { start: 0, count: 0 }; starts.len()];
    let upto = starts.iter().max().map_or(0, |last| last + count);
    for (position, (number, _)) in filled_lines(snapshot.text()).enumerate().take(upto) {
        for (&start, lines) in starts.iter().zip(&mut found) {
            if position == start {
                *lines = Lines { start: number, count: 1 };
            } else if position > start && position < start + count {
                lines.count = number - lines.start + 1;
            }
        }
    }
    found
}

/// Lines that share at least half the words of the request's longest line.
fn by_words(wanted: &[&str], snapshot: &Snapshot) -> Vec<Lines> {
    let Some(longest) = wanted.iter().max_by_key(|line| line.len()) else { return Vec::new() };
    let mut words: Vec<&str> = words(longest).collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() {
        return Vec::new();
    }
    let text = snapshot.text();
    let mut best: Vec<(usize, usize)> = Vec::new(); // shared words, line
    for (number, line) in text[..text.len().min(MOST_WORD_BYTES)].split(|&byte| byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let mut seen: Vec<&str> =
            self::words(&line).filter(|word| words.binary_search(word).is_ok()).collect();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() * 2 >= words.len() {
            best.push((seen.len(), number + 1));
            best.sort_by_key(|&(shared, line)| (std::cmp::Reverse(shared), line));
            best.truncate(MOST_CANDIDATES);
        }
    }
    best.into_iter().map(|(_, line)| Lines { start: line, count: 1 }).collect()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1)
}

/// The lines that a match lies in.
pub(super) fn candidate_at(span: Span, snapshot: &Snapshot) -> Candidate {
    candidate(lines_of(span, snapshot), snapshot)
}

fn candidate(lines: Lines, snapshot: &Snapshot) -> Candidate {
    let shown = lines.count.min(PREVIEW_LINES);
    let mut preview: Vec<String> = (lines.start..lines.start + shown)
        .map(|number| {
            let line = snapshot.line(number);
            match line.char_indices().nth(PREVIEW_CHARACTERS) {
                Some((end, _)) => format!("{}…", &line[..end]),
                None => line.into_owned(),
            }
        })
        .collect();
    if lines.count > shown {
        preview.push("…".into());
    }
    Candidate { lines, preview: preview.join("\n") }
}
