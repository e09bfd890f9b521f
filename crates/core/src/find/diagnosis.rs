//! What is known about text that was not found: the cause, the closest places, and what to do next.

use serde::Serialize;

use super::alignment::Difference;
use super::recover::lines_of_span;
use crate::change::{DifferenceKind, Lines};
use crate::path::FilePath;
use crate::snapshot::Snapshot;
use slipstitch_text::{Span, canonical};

/// How many candidates are listed.
pub(super) const MAX_CANDIDATES: usize = 3;
/// How many lines of a candidate are shown, and how much of each.
const MAX_PREVIEW_LINES: usize = 6;
const MAX_PREVIEW_CHARS: usize = 160;
/// How much of a differing line is shown.
const MAX_DIFFERENCE_CHARS: usize = 120;
/// The longest text that the caller is offered to resend.
const MAX_RESEND_BYTES: usize = 4 << 10;

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
    pub(super) fn with_resend(mut self, snapshot: &Snapshot) -> Self {
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
            Cause::OutsideRange => {
                "Widen the range so that it contains the text, or search the whole file.".into()
            }
            Cause::Indentation => format!("Copy {old} from the file, including its indentation."),
            Cause::Elision => "List the lines to delete, or keep the line of dots in the new text.".into(),
            Cause::InOtherFile => "If you mean that file, send the edit with its path.".into(),
            Cause::AlreadyApplied => "Nothing to do.".into(),
        }
    }
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
