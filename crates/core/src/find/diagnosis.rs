//! What is known about text that was not found: the cause, the closest places, and what to do next.

use serde::Serialize;

use super::alignment::Difference;
use super::limits::{
    MAX_CANDIDATES, MAX_DIFFERENCE_CHARS, MAX_PREVIEW_CHARS, MAX_PREVIEW_LINES, READ_CONTEXT,
};
use super::recovery::lines_of_span;
use super::still_there::{EqualLines, StillThere};
use crate::change::{DifferenceKind, Lines, Rung};
use crate::path::FilePath;
use crate::ports::versions::{ChangedBy, VersionSource};
use crate::snapshot::Snapshot;
use slipstitch_text::Span;
use slipstitch_text::display::{join_items, truncate_chars};
use std::ops::Range;
use std::sync::Arc;

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
    /// The block around the change has another name.
    OtherBlock,
    /// A line to be replaced differs.
    ChangedLine,
    /// The text is in the file, but outside the given line range.
    OutsideRange,
    /// The new text is already in the file.
    AlreadyApplied,
    /// A line is given both as context and as deleted, and the file has it once.
    EchoedLine,
    /// The shared lines do not determine the indentation of the added ones.
    Indentation,
    /// The edit would delete lines that the request elides.
    Elision,
    /// The text is in another file.
    InOtherFile,
    /// The text was in an earlier version of the file and has changed since.
    ChangedSince,
    /// The text was in an earlier version of the file and has been removed since.
    RemovedSince,
    /// The text was in an earlier version of the file and is still there, but because of lines like it, it is not certain that
    /// this is the place.
    UnclearSince,
}

/// What is known about text that was not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The cause.
    pub cause: Cause,
    /// The closest places, best first.
    pub candidates: Vec<Candidate>,
    /// The file's text at the first candidate, to resend as the old text if that is the place. Only if the new text can
    /// stay as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend: Option<String>,
    /// Old and new text to send instead, if the first candidate is the place and the new text has to change as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend_edit: Option<ResendEdit>,
    /// The lines to read again if nothing can be sent instead: the place, or every place that may be meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Lines>,
    /// The first line that differs at the closest place.
    #[serde(skip)]
    pub mismatch: Option<Mismatch>,
    /// The version in which the text was found.
    #[serde(skip)]
    pub(crate) quoted: Option<QuotedVersion>,
    /// Who changed the text since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<ChangedBy>,
    /// Another file that contains the text, and the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<(FilePath, usize)>,
    /// What the edit did, if it is already applied.
    #[serde(skip)]
    pub(crate) applied: AppliedForm,
    /// Whether several places are about as close, so that any of them may be meant.
    #[serde(skip)]
    pub(super) is_undecided: bool,
}

/// What an edit that is already applied has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AppliedForm {
    /// It replaced its old text.
    #[default]
    Replacement,
    /// It added lines next to its old text, which is still there.
    Insertion,
    /// It removed its old text.
    Removal,
    /// It created the file.
    Creation,
    /// It deleted the file.
    Deletion,
    /// It moved the file.
    Move,
    /// It set the file's mode.
    Mode,
}

/// An earlier version that contains the text of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuotedVersion {
    /// Where it comes from.
    pub(crate) source: VersionSource,
    /// Its content.
    pub(crate) version: Arc<[u8]>,
    /// The lines of the current file that replaced the text, half open; empty if the text is gone.
    pub(crate) lines_now: Range<usize>,
    /// Where the text still stands as it was, if it does.
    pub(crate) still_there: Option<StillThere>,
}

/// An edit to send instead of the one that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResendEdit {
    /// The old text.
    pub old_text: String,
    /// The new text.
    pub new_text: String,
}

/// The line of a request that keeps it from its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// The line of the file, if a place is close.
    pub line: Option<usize>,
    /// The request's line.
    pub expected: String,
    /// The file's line; `None` past the end of the file.
    pub found: Option<String>,
    /// Whether the request removes its line.
    pub is_removed: bool,
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
    /// Whether the request can be applied there if the caller says that this is the place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub choosable: bool,
    /// A line near it that tells it from the other candidates with the same text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landmark: Option<Landmark>,
}

/// A line near a candidate that the other candidates do not have at the same distance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Landmark {
    /// Its line number.
    pub line: usize,
    /// Its text without indentation, truncated if long.
    pub text: String,
}

impl Candidate {
    /// Where it is: its lines, and the line that tells it from the others.
    pub fn describe_place(&self) -> String {
        match &self.landmark {
            None => self.lines.to_string(),
            Some(Landmark { line, text }) => {
                let side = if *line < self.lines.start { "below" } else { "above" };
                format!("{}, {side} line {line} `{text}`", self.lines)
            }
        }
    }
}

/// A line that differs between request and file. Whitespace at either end is visible: `·` is a space and `→` a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineDifference {
    /// The kind of difference.
    pub class: DifferenceKind,
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
        if let Some(text) = class.describe(file, request) {
            return f.write_str(&text);
        }
        if file.is_empty() && !request.is_empty() {
            return write!(f, "the file has no line `{request}` there");
        }
        write!(f, "the file has `{file}` on line {line}, you sent `{request}` ({})", class.label())
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

    /// A diagnosis with a cause and the closest places.
    pub fn new(cause: Cause, candidates: Vec<Candidate>) -> Self {
        Self {
            cause,
            candidates,
            resend: None,
            resend_edit: None,
            read: Vec::new(),
            mismatch: None,
            quoted: None,
            changed_by: None,
            elsewhere: None,
            applied: AppliedForm::Replacement,
            is_undecided: false,
        }
    }

    /// The text is in another file.
    pub(crate) fn elsewhere((path, lines): (FilePath, Lines)) -> Self {
        Self { elsewhere: Some((path, lines.start)), ..Self::new(Cause::InOtherFile, Vec::new()) }
    }

    /// A diagnosis with one known place.
    pub(super) fn at(cause: Cause, lines: Lines, snapshot: &Snapshot) -> Self {
        Self::new(cause, vec![candidate(lines, snapshot)])
    }

    /// An edit that is already applied: it replaced its old text at these lines, or removed it if there are none.
    pub(super) fn of_applied(places: &[Lines], snapshot: &Snapshot) -> Self {
        let candidates = places.iter().take(MAX_CANDIDATES).map(|&lines| candidate(lines, snapshot));
        let applied = if places.is_empty() { AppliedForm::Removal } else { AppliedForm::Replacement };
        Self { applied, ..Self::new(Cause::AlreadyApplied, candidates.collect()) }
    }

    /// An edit of a whole file that is already applied.
    pub(super) fn of_applied_file(applied: AppliedForm) -> Self {
        Self { applied, ..Self::new(Cause::AlreadyApplied, Vec::new()) }
    }

    /// Whether the caller can follow up without reading anything.
    pub(super) fn offers_something(&self) -> bool {
        self.resend.is_some() || self.resend_edit.is_some() || self.candidates.iter().any(|one| one.choosable)
    }

    /// Adds the lines to read, with a few around them, unless there is something to send instead.
    pub(super) fn with_lines_to_read(mut self, places: &[Lines], snapshot: &Snapshot) -> Self {
        if self.offers_something() {
            return self;
        }
        self.read = places.iter().map(|&place| lines_around(place, snapshot)).collect();
        self.read = joined(std::mem::take(&mut self.read));
        self
    }

    /// The lines to read, as part of a sentence.
    fn listed_lines_to_read(&self) -> String {
        self.read.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
    }

    /// Describes the version in which the text was found.
    fn version(&self) -> String {
        match self.quoted.as_ref().map(|quoted| &quoted.source) {
            Some(VersionSource::Shown) => "a version of the file that you were shown".into(),
            Some(VersionSource::Journal(_)) => "an earlier version of the file".into(),
            Some(VersionSource::Index) => "the staged version of the file".into(),
            Some(VersionSource::Head) => "the last commit".into(),
            None => "an earlier version of the file".into(),
        }
    }

    /// The places of all candidates, as part of a sentence.
    fn listed_places(&self) -> String {
        match &self.candidates[..] {
            [] => String::new(),
            [one] => one.lines.to_string(),
            // There may be more.
            several if several.len() >= MAX_CANDIDATES => format!("{} and further down", several[0].lines),
            several => format!("lines {}", join_items(several.iter().map(|place| place.lines.start))),
        }
    }

    /// Whether there are several places, and nothing in their text tells them apart.
    fn has_same_text_at_all_places(&self) -> bool {
        let mut two = self.candidates.windows(2).peekable();
        two.peek().is_some() && two.all(|two| two[0].preview == two[1].preview)
    }

    fn by(&self) -> String {
        self.changed_by.as_ref().map_or(String::new(), |by| format!(" ({by})"))
    }

    /// Where the text is; `only` is the place of the first candidate.
    fn describe_places(&self, only: &str) -> String {
        let lines = join_items(self.candidates.iter().map(|candidate| candidate.lines.start));
        match self.candidates.len() {
            0 | 1 => format!("it is at {only}"),
            2 => format!("it is at lines {lines}"),
            // There may be more, further away.
            _ => format!("the closest places are at lines {lines}"),
        }
    }

    pub(super) fn message(&self) -> String {
        let first = self.candidates.first();
        let place = first.map(|candidate| candidate.lines.to_string()).unwrap_or_default();
        let damage = first.map_or(String::new(), |candidate| {
            let mut words: Vec<&str> = candidate.differences.iter().map(|one| one.class.label()).collect();
            words.dedup();
            words.join(", ")
        });
        let difference = first.and_then(|candidate| candidate.differences.last());
        let difference = difference.map_or(String::new(), |one| format!(": {one}"));
        match self.cause {
            Cause::NotFound if first.is_some() => {
                format!("no exact match; the closest text is at {place}")
            }
            Cause::NotFound => match &self.mismatch {
                Some(Mismatch { line: Some(line), expected, found: Some(found), .. }) => format!(
                    "the old text was not found in the file: on line {line} the file has `{found}`, you sent `{expected}`"
                ),
                _ => "the old text was not found in the file".into(),
            },
            Cause::Whitespace => {
                let places = match &self.candidates[..] {
                    several @ [_, _, ..] if several.iter().all(differs_in_whitespace) => {
                        let places = join_items(several.iter().map(|candidate| candidate.lines));
                        format!("{} places ({places})", several.len())
                    }
                    _ => place,
                };
                format!("no exact match; only whitespace differs at {places}{difference}")
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
            Cause::OtherBlock => {
                format!("no exact match; {place} are closest, but they belong to another block{difference}")
            }
            Cause::ChangedLine => match first {
                Some(candidate) if candidate.lines.count > 1 => format!(
                    "no exact match; {place} are closest, but a line to be replaced differs{difference}"
                ),
                _ => format!("no exact match; {place} is closest{difference}"),
            },
            Cause::OutsideRange => {
                format!("the old text is not in the given line range; {}", self.describe_places(&place))
            }
            Cause::EchoedLine => format!(
                "the hunk has a line both as context and as deleted, and the file has it once, at {place}"
            ),
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
            Cause::AlreadyApplied => match self.applied {
                AppliedForm::Replacement => {
                    let places = self.listed_places();
                    format!("the old text was not found, and the new text is already at {places}")
                }
                AppliedForm::Insertion => format!("the lines that it adds are already there, at {place}"),
                AppliedForm::Removal => "the old text was already removed".into(),
                AppliedForm::Creation => "the file already exists and has this content".into(),
                AppliedForm::Deletion => "the file was already deleted".into(),
                AppliedForm::Move => "the file was already moved".into(),
                AppliedForm::Mode => "the file already has this mode".into(),
            },
            Cause::ChangedSince => {
                let lines = self.quoted.as_ref().map(|quoted| &quoted.lines_now);
                let changed = lines
                    .filter(|lines| !lines.is_empty())
                    .map_or(place, |lines| Lines { start: lines.start, count: lines.len() }.to_string());
                format!("the old text is from {}, and {changed} changed since{}", self.version(), self.by())
            }
            Cause::RemovedSince => {
                format!("the old text is from {}, and was removed since{}", self.version(), self.by())
            }
            Cause::UnclearSince => {
                let still_there = self.quoted.as_ref().and_then(|quoted| quoted.still_there);
                let at = still_there.map_or(place, |still_there| still_there.at.to_string());
                let doubt = match still_there.map(|still_there| still_there.equal_lines) {
                    Some(EqualLines::Added) => {
                        "equal lines were added since, so it is not certain which are meant"
                    }
                    Some(EqualLines::Removed) => {
                        "equal lines were removed since, so it is not certain which were meant"
                    }
                    Some(EqualLines::Several) => {
                        "there are equal lines elsewhere, so it is not certain which are meant"
                    }
                    Some(EqualLines::None) | None => "it is not certain that this is the place",
                };
                format!("the old text is from {}, and still at {at}, but {doubt}", self.version())
            }
        }
    }

    /// What to do next; `old` is the tool's name for the old text.
    pub(super) fn hint(&self, old: &str) -> String {
        let hint = self.hint_of_cause(old);
        match (&self.read[..], self.cause) {
            ([], _) | (_, Cause::ChangedLine | Cause::ChangedSince) => hint,
            ([_], _) => format!("{hint} Read {} again.", self.listed_lines_to_read()),
            _ => format!("{hint} Read {} again; any of them may be meant.", self.listed_lines_to_read()),
        }
    }

    /// The end of a hint: if there is more than one place, the caller has to choose.
    fn choice(&self) -> String {
        match &self.candidates[..] {
            [] | [_] => String::new(),
            several => {
                let lines = join_items(several.iter().map(|candidate| candidate.lines.start));
                format!(" for whichever of lines {lines} you mean")
            }
        }
    }

    fn hint_of_cause(&self, old: &str) -> String {
        match self.cause {
            Cause::NotFound if self.candidates.is_empty() => {
                format!("Check the path, read the file, and copy {old} from it.")
            }
            Cause::NotFound => format!("Copy {old} exactly from the current file."),
            Cause::StaleContext if self.is_undecided => format!("Copy {old} from the place that you mean."),
            Cause::Whitespace if self.has_same_text_at_all_places() => format!(
                "Send {old} with the file's whitespace, and with more of the lines around it: the places have the same text."
            ),
            Cause::Whitespace => format!("Send {old} with the file's whitespace, as shown{}.", self.choice()),
            Cause::Punctuation => {
                format!("Send {old} with the file's punctuation, as shown{}.", self.choice())
            }
            Cause::Transport => format!("Send {old} exactly as it is in the file."),
            Cause::StaleContext => format!("Send {old} with the context lines as they are in the file."),
            Cause::OtherBlock => format!(
                "Check which block you mean. If it is this one, copy {old} from the file, with its name; \
                 if not, read the file to find the right one."
            ),
            Cause::ChangedLine => {
                let unread = match self.read[..] {
                    [] => "the file".into(),
                    _ => self.listed_lines_to_read(),
                };
                let meant = match &self.candidates[..] {
                    [] | [_] => "that is the line you mean".to_owned(),
                    several => {
                        let lines = join_items(several.iter().map(|candidate| candidate.lines.start));
                        format!("one of lines {lines} is the one you mean")
                    }
                };
                format!("If {meant}, send {old} as the file has it; otherwise read {unread} again.")
            }
            Cause::OutsideRange if self.candidates.len() > 1 => {
                "Set the range to the lines that contain the one you mean.".into()
            }
            Cause::OutsideRange => {
                "Widen the range so that it contains the text, or search the whole file.".into()
            }
            Cause::EchoedLine => {
                "To delete that line, send it only as deleted. If it was there twice, one is already deleted."
                    .into()
            }
            Cause::Indentation => format!("Copy {old} from the file, including its indentation."),
            Cause::Elision => "List the lines to delete, or keep the line of dots in the new text.".into(),
            Cause::InOtherFile => "If you mean that file, send the edit with its path.".into(),
            Cause::AlreadyApplied => "Nothing to do.".into(),
            Cause::ChangedSince if !self.read.is_empty() => format!(
                "Read {} again and make the edit for the text that is there now.",
                self.listed_lines_to_read()
            ),
            Cause::ChangedSince if !self.offers_something() => {
                "Read the file again and make the edit for the text that is there now.".into()
            }
            Cause::ChangedSince => format!(
                "Look at the text that is there now; if the edit still makes sense, send {old} as shown."
            ),
            Cause::RemovedSince => "Read the file again; the text may have been moved or rewritten.".into(),
            Cause::UnclearSince if self.read.is_empty() && self.offers_something() => {
                format!("If you mean the lines that are there now, send {old} as shown.")
            }
            Cause::UnclearSince => {
                format!("Copy {old} from the file, with lines around it that show which place you mean.")
            }
        }
    }
}

/// Ranges in the order of the file, with those that touch joined into one.
fn joined(mut ranges: Vec<Lines>) -> Vec<Lines> {
    ranges.sort_by_key(|range| (range.start, range.count));
    let mut out: Vec<Lines> = Vec::new();
    for range in ranges {
        match out.last_mut().filter(|last| range.start <= last.start + last.count) {
            Some(last) => last.count = last.count.max(range.start + range.count - last.start),
            None => out.push(range),
        }
    }
    out
}

/// Whether a candidate is known to differ from the request in whitespace, and in nothing else. The worst difference is the last.
fn differs_in_whitespace(candidate: &Candidate) -> bool {
    candidate.differences.last().is_some_and(|worst| worst.class.rung() == Rung::Whitespace)
}

/// Some lines with a few lines of context.
fn lines_around(Lines { start, count }: Lines, snapshot: &Snapshot) -> Lines {
    let first = start.saturating_sub(READ_CONTEXT).max(1);
    let last = (start + count.max(1) - 1 + READ_CONTEXT).min(snapshot.line_count()).max(first);
    Lines { start: first, count: last + 1 - first }
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
            truncate_chars(&line, MAX_PREVIEW_CHARS).into_owned()
        })
        .collect();
    if lines.count > shown {
        preview.push("…".into());
    }
    Candidate {
        lines,
        preview: preview.join("\n"),
        differences: Vec::new(),
        choosable: false,
        landmark: None,
    }
}
