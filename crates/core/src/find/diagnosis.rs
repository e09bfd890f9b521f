//! Why a text was not found, and the closest places.
//!
//! Lines of the request that occur in the file vote for where the request would start, and the differences at the
//! places with the most votes are classified. If no line occurs, the lines that share the most words with the
//! request's longest line are listed instead. Both searches are bounded.

use std::collections::HashSet;

use serde::Serialize;

use super::alignment::{Alignment, Difference};
use super::drift::{closest_alignments, line_similarity};
use super::recover::{MAX_BYTES, RecoveredPlace, Recovery, lines_of_span};
use super::script::{Role, Script};
use super::search_index::SearchIndex;
use crate::change::Class;
use crate::change::{Lines, Rung};
use crate::path::FilePath;
use crate::plan::LineRange;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;
use slipstitch_text::canonical;

/// How many candidates are listed.
pub(super) const MAX_CANDIDATES: usize = 3;
/// How many lines of a candidate are shown, and how much of each.
const MAX_PREVIEW_LINES: usize = 6;
const MAX_PREVIEW_CHARS: usize = 160;
/// How many differences of a candidate are shown, and how much of each line.
const MAX_DIFFERENCES: usize = 4;
const MAX_DIFFERENCE_CHARS: usize = 120;
/// The longest text that the caller is offered to resend.
const MAX_RESEND_BYTES: usize = 4 << 10;
/// How similar a place must be to be listed, and to be diagnosed.
const MIN_CLOSE: f64 = 0.4;
const MIN_VERY_CLOSE: f64 = 0.6;
/// How much of the file is compared word by word.
const MAX_WORD_BYTES: usize = 4 << 20;

/// Why a text was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// No better cause is known.
    NotFound,
    /// Only whitespace differs.
    Whitespace,
    /// Only look-alike punctuation differs.
    Punctuation,
    /// The text matches without line numbers, escapes, a fence or similar transport damage.
    Transport,
    /// Context lines differ.
    StaleContext,
    /// A line to be replaced differs.
    ChangedLine,
    /// The text is in the file, but outside the given line range.
    OutsideRange,
    /// The new text is already in the file.
    AlreadyApplied,
    /// The shared lines do not determine the indentation of the added ones.
    Indentation,
    /// The edit would delete lines that the request elides.
    Elision,
    /// The text is in another file.
    InOtherFile,
}

/// What is known about text that was not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The cause.
    pub cause: Cause,
    /// The closest places, best first.
    pub candidates: Vec<Candidate>,
    /// The file's text at the first candidate, to resend as the old text if that is the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend: Option<String>,
    /// Another file that contains the text, and the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<(FilePath, usize)>,
}

/// A place that is close to the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Its lines.
    pub lines: Lines,
    /// Its text, truncated if long.
    pub preview: String,
    /// How it differs from the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<LineDifference>,
}

/// A line that differs between request and file. Whitespace at either end is visible: `·` is a space and `→` a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineDifference {
    /// The kind of difference.
    pub class: Class,
    /// The line number in the file.
    pub line: usize,
    /// The file's text.
    pub file: String,
    /// The request's text.
    pub request: String,
}

impl std::fmt::Display for LineDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { class, line, file, request } = self;
        if let Some(apart) = class.apart(file, request) {
            return f.write_str(&apart);
        }
        write!(f, "the file has `{file}` on line {line}, you sent `{request}` ({})", class.words())
    }
}

impl From<&Difference> for LineDifference {
    fn from(difference: &Difference) -> Self {
        let Difference { class, line, request, file } = difference;
        Self { class: *class, line: *line, file: show_whitespace(file), request: show_whitespace(request) }
    }
}

/// Makes whitespace at either end, and invisible characters anywhere, visible.
fn show_whitespace(line: &str) -> String {
    let (start, end) = (line.len() - line.trim_start().len(), line.trim_end().len());
    let mut out = String::new();
    for (at, c) in line.char_indices().take(MAX_DIFFERENCE_CHARS) {
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
    if line.chars().nth(MAX_DIFFERENCE_CHARS).is_some() {
        out.push('…');
    }
    out
}

impl Diagnosis {
    /// A diagnosis without any search.
    pub(super) fn unknown() -> Self {
        Self::new(Cause::NotFound, Vec::new())
    }

    pub(super) fn new(cause: Cause, candidates: Vec<Candidate>) -> Self {
        Self { cause, candidates, resend: None, elsewhere: None }
    }

    /// The text is in another file.
    pub(crate) fn elsewhere((path, lines): (FilePath, Lines)) -> Self {
        Self { elsewhere: Some((path, lines.start)), ..Self::new(Cause::InOtherFile, Vec::new()) }
    }

    /// A diagnosis with one known place.
    pub(super) fn at(cause: Cause, lines: Lines, snapshot: &Snapshot) -> Self {
        Self::new(cause, vec![candidate(lines, snapshot)])
    }

    /// Adds the first candidate's text, for the caller to resend.
    fn with_resend(mut self, snapshot: &Snapshot) -> Self {
        self.resend = self.candidates.first().and_then(|candidate| {
            let Lines { start, count } = candidate.lines;
            let span =
                Span::new(snapshot.line_span(start).start(), snapshot.line_span(start + count - 1).end());
            let text = std::str::from_utf8(span.of(snapshot.text()))
                .ok()
                .filter(|text| text.len() <= MAX_RESEND_BYTES)?;
            Some(canonical(text).trim_end_matches('\n').to_owned())
        });
        self
    }

    pub(super) fn message(&self) -> String {
        let first = self.candidates.first();
        let place = first.map(|candidate| candidate.lines.to_string()).unwrap_or_default();
        let damage = first.map_or(String::new(), |candidate| {
            let mut words: Vec<&str> = candidate.differences.iter().map(|one| one.class.words()).collect();
            words.dedup();
            words.join(", ")
        });
        let difference = first.and_then(|candidate| candidate.differences.last());
        let difference = difference.map_or(String::new(), |one| format!(": {one}"));
        match self.cause {
            Cause::NotFound if first.is_some() => {
                format!("no exact match; the closest text is at {place}")
            }
            Cause::NotFound => "the old text was not found in the file".into(),
            Cause::Whitespace => {
                format!("no exact match; only whitespace differs at {place}{difference}")
            }
            Cause::Punctuation => {
                format!("no exact match; only punctuation differs at {place}{difference}")
            }
            Cause::Transport => {
                format!("no exact match; without {damage} it matches at {place}")
            }
            Cause::StaleContext => {
                format!("no exact match; context lines differ at {place}{difference}")
            }
            Cause::ChangedLine => match first {
                Some(candidate) if candidate.lines.count > 1 => format!(
                    "no exact match; {place} are closest, but a line to be replaced differs{difference}"
                ),
                _ => format!("no exact match; {place} is closest{difference}"),
            },
            Cause::OutsideRange => {
                format!("the old text is not in the given line range; it is at {place}")
            }
            Cause::Indentation => format!(
                "the old text matches at {place}, but its indentation does not show how to indent the new lines"
            ),
            Cause::Elision => format!("the old text elides lines that the edit at {place} would delete"),
            Cause::InOtherFile => match &self.elsewhere {
                Some((path, line)) => {
                    format!("the old text was not found in this file; it is in `{path}` at line {line}")
                }
                None => "the old text was not found in the file".into(),
            },
            Cause::AlreadyApplied => {
                format!("the old text was not found, and the new text is already at {place}")
            }
        }
    }

    /// What to do next; `old` is the tool's name for the old text.
    pub(super) fn hint(&self, old: &str) -> String {
        match self.cause {
            Cause::NotFound if self.candidates.is_empty() => {
                format!("Check the path, read the file, and copy {old} from it.")
            }
            Cause::NotFound => format!("Copy {old} exactly from the current file."),
            Cause::Whitespace => format!("Send {old} with the file's whitespace, as shown."),
            Cause::Punctuation => format!("Send {old} with the file's punctuation, as shown."),
            Cause::Transport => format!("Send {old} exactly as it is in the file."),
            Cause::StaleContext => format!("Send {old} with the context lines as they are in the file."),
            Cause::ChangedLine => {
                format!(
                    "If that is the line you mean, send {old} as the file has it; otherwise read the file again."
                )
            }
            Cause::OutsideRange => "Give a line range that contains it, or no range.".into(),
            Cause::Indentation => format!("Copy {old} from the file, including its indentation."),
            Cause::Elision => "List the lines to delete, or keep the line of dots in the new text.".into(),
            Cause::InOtherFile => "If you mean that file, send the edit with its path.".into(),
            Cause::AlreadyApplied => "Nothing to do.".into(),
        }
    }
}

/// Diagnoses why canonical `old` was not found. `recovery` is what recovery would do if the tool allowed it.
pub(super) fn diagnose(
    old: &str,
    new: &str,
    within: Option<LineRange>,
    recovery: &Recovery,
    snapshot: &Snapshot,
) -> Diagnosis {
    let find = |text: &str| memchr::memmem::find(snapshot.text(), snapshot.needle(text).as_bytes());
    if within.is_some()
        && let Some(start) = find(old)
    {
        let at = Span::new(start, start + snapshot.needle(old).len());
        return Diagnosis::new(Cause::OutsideRange, vec![candidate_at(at, snapshot)]);
    }
    if let Recovery::Found(found) = recovery {
        return diagnose_recovered(found, snapshot).with_resend(snapshot);
    }
    let mut near = NearMatches::by_lines(old, new, snapshot);
    if near.candidates.is_empty() {
        let wanted: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        near = NearMatches::by_words(&wanted, snapshot);
    }
    if let Some(place) = find_applied(old, new, snapshot)
        && near
            .candidates
            .iter()
            .map(|candidate| candidate.lines)
            .all(|lines| lines.start < place.start + place.count && place.start < lines.start + lines.count)
    {
        return Diagnosis::new(Cause::AlreadyApplied, vec![candidate(place, snapshot)]);
    }
    match near.cause {
        Some(cause) => Diagnosis::new(cause, near.candidates).with_resend(snapshot),
        None => Diagnosis::new(Cause::NotFound, near.candidates),
    }
}

/// Describes a place that recovery found.
fn diagnose_recovered(found: &RecoveredPlace, snapshot: &Snapshot) -> Diagnosis {
    let cause = match found.classes.iter().map(|class| class.rung()).max() {
        Some(Rung::Transport) => Cause::Transport,
        Some(Rung::Punctuation) => Cause::Punctuation,
        Some(Rung::Elision | Rung::Drift) => Cause::StaleContext,
        _ => Cause::Whitespace,
    };
    let mut place = candidate_at(found.at, snapshot);
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
    Diagnosis::new(cause, vec![place])
}

/// Places that are similar to the request.
struct NearMatches {
    cause: Option<Cause>,
    candidates: Vec<Candidate>,
}

impl NearMatches {
    fn by_lines(old: &str, new: &str, snapshot: &Snapshot) -> Self {
        let mut near = Self { cause: None, candidates: Vec::new() };
        if snapshot.text().len() > MAX_BYTES {
            return near;
        }
        let script = Script::of_snippet(old, new);
        let index = SearchIndex::new(Span::new(0, snapshot.text().len()), snapshot);
        for (alignment, score) in closest_alignments(&script, &index).into_iter().take(MAX_CANDIDATES) {
            if score < MIN_CLOSE {
                break;
            }
            let differences = alignment.differences(&script, &index);
            if near.candidates.is_empty() && score >= MIN_VERY_CLOSE {
                near.cause = Some(cause_of(&differences, &script, &alignment));
            }
            let lines = alignment.lines();
            near.candidates.push(Candidate {
                differences: shown_differences(&differences),
                ..candidate(lines, snapshot)
            });
        }
        near
    }
}

impl NearMatches {
    /// Lines that share words with the request. For a request of one line, with the difference.
    fn by_words(wanted: &[&str], snapshot: &Snapshot) -> Self {
        let mut near = Self { cause: None, candidates: Vec::new() };
        for lines in lines_sharing_words(wanted, snapshot) {
            let mut place = candidate(lines, snapshot);
            if let [line] = wanted {
                let file = snapshot.line(lines.start).into_owned();
                if line_similarity(line, file.trim()) >= MIN_VERY_CLOSE {
                    let request = (*line).to_owned();
                    let difference = Difference { class: Class::Drift, line: lines.start, request, file };
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
            Class::Drift | Class::PartialLine if is_removed(difference.line) => return Cause::ChangedLine,
            Class::Drift | Class::PartialLine => cause = Cause::StaleContext,
            Class::Punctuation if cause == Cause::Whitespace => cause = Cause::Punctuation,
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

/// The candidate for the lines that a match touches.
pub(super) fn candidate_at(span: Span, snapshot: &Snapshot) -> Candidate {
    candidate(lines_of_span(span, snapshot), snapshot)
}

/// The candidate for some lines.
pub(super) fn candidate(lines: Lines, snapshot: &Snapshot) -> Candidate {
    let shown = lines.count.min(MAX_PREVIEW_LINES);
    let mut preview: Vec<String> = (lines.start..lines.start + shown)
        .map(|number| {
            let line = snapshot.line(number);
            match line.char_indices().nth(MAX_PREVIEW_CHARS) {
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
