//! Why a text was not found, and the places that come closest.
//!
//! Lines of the request that stand in the file vote for the place where it would start; the differences in the
//! places with the most votes are put into classes. Where no line stands in the file, the lines that share the
//! most words with the request's longest line are named. Both are bounded.

use std::collections::HashSet;

use serde::Serialize;

use super::drift::{closest, likeness};
use super::recover::{Attempt, Found, MAX_BYTES, lines_at};
use super::script::{Role, Script};
use super::seats::{Difference, Seats};
use super::terrain::Terrain;
use crate::change::DifferenceKind;
use crate::change::{Lines, Rung};
use crate::path::FilePath;
use crate::plan::LineRange;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;
use slipstitch_text::canonical;

/// How many places are named.
pub(super) const MAX_CANDIDATES: usize = 3;
/// How many lines of a place are shown, and how much of each.
const PREVIEW_LINES: usize = 6;
const PREVIEW_CHARACTERS: usize = 160;
/// How many differences of a place are told, and how much of each line.
const MAX_DIFFERENCES: usize = 4;
const DIFFERENCE_CHARACTERS: usize = 120;
/// How much of a place the caller is given to send again.
const MAX_RESENT: usize = 4 << 10;
/// How much of the request must stand in a place for it to be close.
const CLOSE: f64 = 0.4;
const VERY_CLOSE: f64 = 0.6;
/// How much of the file is compared word by word.
const MAX_WORD_BYTES: usize = 4 << 20;

/// Why a text was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// Nothing better is known.
    NotFound,
    /// The text stands there but for white space.
    Whitespace,
    /// The text stands there but for punctuation that looks alike.
    Punctuation,
    /// The text stands there but for what was put around or into it: line numbers, escapes, a fence, …
    Transport,
    /// Lines that only say where the change goes have other words in the file.
    StaleContext,
    /// A line that is to be replaced has other words in the file.
    ChangedLine,
    /// The text is in the file, but outside the lines that were named.
    OutsideRange,
    /// The new text stands in the file already.
    AlreadyApplied,
    /// The lines that request and file share do not say how the new ones are indented.
    Indentation,
    /// The edit would delete lines that the request leaves out.
    Elision,
    /// The text stands in another file.
    InOtherFile,
}

/// What is known about a text that was not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Why.
    pub cause: Cause,
    /// The places that come closest, best first.
    pub candidates: Vec<Candidate>,
    /// The file's own text in the first of them, to be sent as the old text if that place is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend: Option<String>,
    /// Another file that the text stands in, and the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<(FilePath, usize)>,
}

/// A place that comes close.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Its lines.
    pub lines: Lines,
    /// What stands there, cut short if it is long.
    pub preview: String,
    /// How it differs from the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<LineDifference>,
}

/// A line that is otherwise in the request than in the file. Blanks at the ends of both texts can be seen: `·` is
/// a space and `→` a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineDifference {
    /// In which way.
    pub class: DifferenceKind,
    /// The line of the file.
    pub line: usize,
    /// The file's text.
    pub file: String,
    /// The request's text.
    pub request: String,
}

impl std::fmt::Display for LineDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { class, line, file, request } = self;
        if let Some(description) = class.describe(file, request) {
            return f.write_str(&description);
        }
        write!(f, "line {line} is `{file}` in the file and `{request}` in the request ({})", class.label())
    }
}

impl From<&Difference> for LineDifference {
    fn from(difference: &Difference) -> Self {
        let Difference { class, line, wanted, there } = difference;
        Self { class: *class, line: *line, file: visible(there), request: visible(wanted) }
    }
}

/// A line whose blanks at its ends, and whose characters that cannot be seen, can be seen.
fn visible(line: &str) -> String {
    let (start, end) = (line.len() - line.trim_start().len(), line.trim_end().len());
    let mut out = String::new();
    for (at, c) in line.char_indices().take(DIFFERENCE_CHARACTERS) {
        match c {
            ' ' if at < start || at >= end => out.push('·'),
            '\t' => out.push('→'),
            c if c.is_control()
                || (c.is_whitespace() && c != ' ')
                || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}') =>
            {
                out.extend(c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    if line.chars().nth(DIFFERENCE_CHARACTERS).is_some() {
        out.push('…');
    }
    out
}

impl Diagnosis {
    /// Nothing was looked into.
    pub(super) fn none() -> Self {
        Self::of(Cause::NotFound, Vec::new())
    }

    pub(super) fn of(cause: Cause, candidates: Vec<Candidate>) -> Self {
        Self { cause, candidates, resend: None, elsewhere: None }
    }

    /// The text stands in another file.
    pub(crate) fn elsewhere((path, lines): (FilePath, Lines)) -> Self {
        Self { elsewhere: Some((path, lines.start)), ..Self::of(Cause::InOtherFile, Vec::new()) }
    }

    /// A place that is known, and what is the matter with it.
    pub(super) fn at(cause: Cause, lines: Lines, snapshot: &Snapshot) -> Self {
        Self::of(cause, vec![candidate(lines, snapshot)])
    }

    /// The same with the text of its first candidate to be sent again.
    fn with_text(mut self, snapshot: &Snapshot) -> Self {
        self.resend = self.candidates.first().and_then(|candidate| {
            let Lines { start, count } = candidate.lines;
            let span =
                Span::new(snapshot.line_span(start).start(), snapshot.line_span(start + count - 1).end());
            let text =
                std::str::from_utf8(span.of(snapshot.text())).ok().filter(|text| text.len() <= MAX_RESENT)?;
            Some(canonical(text).trim_end_matches('\n').to_owned())
        });
        self
    }

    pub(super) fn message(&self) -> String {
        let first = self.candidates.first();
        let place = first.map(|candidate| candidate.lines.to_string()).unwrap_or_default();
        let but_for = first.map_or(String::new(), |candidate| {
            let mut words: Vec<&str> = candidate.differences.iter().map(|one| one.class.label()).collect();
            words.dedup();
            words.join(", ")
        });
        let difference = first.and_then(|candidate| candidate.differences.last());
        let difference = difference.map_or(String::new(), |one| format!(": {one}"));
        match self.cause {
            Cause::NotFound if first.is_some() => {
                format!("the old text is not in the file; the closest text is at {place}")
            }
            Cause::NotFound => "the old text is not in the file".into(),
            Cause::Whitespace => {
                format!(
                    "the old text is not in the file as given; at {place} it stands with other white space{difference}"
                )
            }
            Cause::Punctuation => {
                format!(
                    "the old text is not in the file as given; at {place} it stands with other punctuation{difference}"
                )
            }
            Cause::Transport => {
                format!("the old text is not in the file as given; at {place} it stands without {but_for}")
            }
            Cause::StaleContext => {
                format!(
                    "the old text is not in the file; at {place} it stands with other words in lines that are to stay{difference}"
                )
            }
            Cause::ChangedLine => {
                format!(
                    "the old text is not in the file; at {place} a line that is to be replaced says something else{difference}"
                )
            }
            Cause::OutsideRange => {
                format!("the old text is not inside the lines given; it stands at {place}")
            }
            Cause::Indentation => format!(
                "the old text is at {place}, but indented in a way that does not tell how the new lines are to be indented"
            ),
            Cause::Elision => format!("the old text leaves lines out that the edit at {place} would delete"),
            Cause::InOtherFile => match &self.elsewhere {
                Some((path, line)) => {
                    format!("the old text is not in the file, but in `{path}` at line {line}")
                }
                None => "the old text is not in the file".into(),
            },
            Cause::AlreadyApplied => {
                format!("the old text is not in the file, and the new text stands at {place} already")
            }
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
            Cause::Punctuation => format!("Send {old} with the file's own punctuation, as shown."),
            Cause::Transport => format!("Send {old} as it stands in the file."),
            Cause::StaleContext => format!("Send {old} with those lines as the file has them."),
            Cause::ChangedLine => {
                format!("If that line is meant, send {old} as the file has it; else read the file again.")
            }
            Cause::OutsideRange => "Give the lines it stands in, or no range.".into(),
            Cause::Indentation => format!("Copy {old} from the file with its own indentation."),
            Cause::Elision => {
                "Give the lines that are to go, or keep the line of dots in the new text.".into()
            }
            Cause::InOtherFile => "Send the edit with that path, if that file is meant.".into(),
            Cause::AlreadyApplied => "Nothing is left to do.".into(),
        }
    }
}

/// Looks for what the caller may have meant by canonical `old`, which is not where it should be. `attempt` is what
/// recovery would do, where the caller's tool does not allow it.
pub(super) fn diagnose(
    old: &str,
    new: &str,
    within: Option<LineRange>,
    attempt: &Attempt,
    snapshot: &Snapshot,
) -> Diagnosis {
    let find = |text: &str| memchr::memmem::find(snapshot.text(), snapshot.needle(text).as_bytes());
    if within.is_some()
        && let Some(start) = find(old)
    {
        let at = Span::new(start, start + snapshot.needle(old).len());
        return Diagnosis::of(Cause::OutsideRange, vec![candidate_at(at, snapshot)]);
    }
    if let Attempt::One(found) = attempt {
        return but_for(found, snapshot).with_text(snapshot);
    }
    let mut near = Near::look(old, new, snapshot);
    if near.candidates.is_empty() {
        let wanted: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        near = Near::by_words(&wanted, snapshot);
    }
    if let Some(place) = already_there(old, new, snapshot)
        && near
            .candidates
            .iter()
            .map(|candidate| candidate.lines)
            .all(|lines| lines.start < place.start + place.count && place.start < lines.start + lines.count)
    {
        return Diagnosis::of(Cause::AlreadyApplied, vec![candidate(place, snapshot)]);
    }
    match near.cause {
        Some(cause) => Diagnosis::of(cause, near.candidates).with_text(snapshot),
        None => Diagnosis::of(Cause::NotFound, near.candidates),
    }
}

/// A place that recovery found.
fn but_for(found: &Found, snapshot: &Snapshot) -> Diagnosis {
    let cause = match found.classes.iter().map(|class| class.rung()).max() {
        Some(Rung::Transport) => Cause::Transport,
        Some(Rung::Punctuation) => Cause::Punctuation,
        Some(Rung::Elision | Rung::Drift) => Cause::StaleContext,
        _ => Cause::Whitespace,
    };
    let mut place = candidate_at(found.at, snapshot);
    place.differences = told(&found.differences);
    if cause == Cause::Transport {
        let first = place.lines.start;
        place.differences = found
            .classes
            .iter()
            .filter(|class| class.rung() == Rung::Transport)
            .map(|&class| LineDifference { class, line: first, file: String::new(), request: String::new() })
            .collect();
    }
    Diagnosis::of(cause, vec![place])
}

/// The places that lines of the request vote for.
struct Near {
    cause: Option<Cause>,
    candidates: Vec<Candidate>,
}

impl Near {
    fn look(old: &str, new: &str, snapshot: &Snapshot) -> Self {
        let mut near = Self { cause: None, candidates: Vec::new() };
        if snapshot.text().len() > MAX_BYTES {
            return near;
        }
        let script = Script::of_snippet(old, new);
        let terrain = Terrain::new(Span::new(0, snapshot.text().len()), snapshot);
        for (seats, score) in closest(&script, &terrain).into_iter().take(MAX_CANDIDATES) {
            if score < CLOSE {
                break;
            }
            let differences = seats.differences(&script, &terrain);
            if near.candidates.is_empty() && score >= VERY_CLOSE {
                near.cause = Some(cause_of(&differences, &script, &seats));
            }
            let lines = seats.lines();
            near.candidates.push(Candidate { differences: told(&differences), ..candidate(lines, snapshot) });
        }
        near
    }
}

impl Near {
    /// Lines that share words with the request; if it is one line, with the difference.
    fn by_words(wanted: &[&str], snapshot: &Snapshot) -> Self {
        let mut near = Self { cause: None, candidates: Vec::new() };
        for lines in by_words(wanted, snapshot) {
            let mut place = candidate(lines, snapshot);
            if let [line] = wanted {
                let there = snapshot.line(lines.start).into_owned();
                if likeness(line, there.trim()) >= VERY_CLOSE {
                    let wanted = (*line).to_owned();
                    let difference =
                        Difference { class: DifferenceKind::Drift, line: lines.start, wanted, there };
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

/// What keeps a request from a place that is close.
fn cause_of(differences: &[Difference], script: &Script, seats: &Seats) -> Cause {
    let gone = |line: usize| {
        script
            .rows
            .iter()
            .enumerate()
            .any(|(row, text)| text.role == Role::Removed && seats.line(row) == Some(line))
    };
    let mut cause = Cause::Whitespace;
    for difference in differences {
        match difference.class {
            DifferenceKind::Drift | DifferenceKind::PartialLine if gone(difference.line) => {
                return Cause::ChangedLine;
            }
            DifferenceKind::Drift | DifferenceKind::PartialLine => cause = Cause::StaleContext,
            DifferenceKind::Punctuation if cause == Cause::Whitespace => cause = Cause::Punctuation,
            _ => {}
        }
    }
    cause
}

/// The differences that a message tells, the worst last.
fn told(differences: &[Difference]) -> Vec<LineDifference> {
    let mut list: Vec<&Difference> = differences.iter().filter(|one| one.wanted != one.there).collect();
    list.sort_by_key(|one| std::cmp::Reverse(one.class));
    list.truncate(MAX_DIFFERENCES);
    list.iter().rev().map(|&one| one.into()).collect()
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
    Some(lines_at(Span::new(start, start + snapshot.needle(new).len()), snapshot))
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

/// The lines that a match lies in.
pub(super) fn candidate_at(span: Span, snapshot: &Snapshot) -> Candidate {
    candidate(lines_at(span, snapshot), snapshot)
}

/// Some lines as a place that is named.
pub(super) fn candidate(lines: Lines, snapshot: &Snapshot) -> Candidate {
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
    Candidate { lines, preview: preview.join("\n"), differences: Vec::new() }
}
