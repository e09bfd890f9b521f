//! The outcome of a search: a place and the change to make there, or why there is none.

use std::ops::Range;
use std::sync::Arc;

use super::alignment::{Alignment, Difference, indent};
use super::limits::MAX_SHOWN_CHARS;
use super::merge::{MergePolicy, Merged, Unmergeable, merge};
use super::new_depths::NewDepths;
use super::request::Reading;
use super::script::{Script, without_shared_newlines};
use super::search_index::SearchIndex;
use super::still_there::StillThere;
use crate::change::{DifferenceKind, Lines};
use crate::ports::versions::VersionSource;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;
use slipstitch_text::display::truncate_chars;

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
    /// The similarity of the lines in percent, if it was computed.
    pub(super) percent: Option<u8>,
    /// Whether added lines have the request's indentation because nothing shows what it should be.
    pub(super) has_unclear_indent: bool,
}

impl RecoveredPlace {
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

/// The outcome of a search, or of one of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recovery {
    /// No place.
    NotFound,
    /// One place.
    Found(RecoveredPlace),
    /// Several places. A looser step could only find more.
    Ambiguous(Vec<Lines>),
    /// The new text is already there, at these lines; no lines if the old text was removed as requested.
    AlreadyApplied(Vec<Lines>),
    /// One place, and the request cannot be merged into it.
    Unmergeable(Lines, Unmergeable),
    /// The request quotes an earlier version, and what it changes has changed since.
    Stale(StaleQuote),
    /// The budget is spent.
    TooCostly,
}

/// A request that quotes an earlier version, and cannot be carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StaleQuote {
    /// The current lines between the first and the last quoted line; `None` if nothing is left of them.
    pub(super) now: Option<Lines>,
    /// Where among them the quotation still stands as it was, and why that may not be the place.
    pub(super) still_there: Option<StillThere>,
    /// Whether those lines are still recognisable as the quoted text. Otherwise they may as well be another block.
    pub(super) is_left: bool,
    /// Whether they are worth reading although they are not: the lines that decide about the place are there.
    pub(super) is_worth_reading: bool,
    /// The edit on the current lines, if the lines that it changes are still there. It is offered, not made.
    pub(super) offer: Option<Box<RecoveredPlace>>,
    /// Where the version comes from.
    pub(super) source: VersionSource,
    /// The text of the version.
    pub(super) version: Arc<[u8]>,
    /// The current lines that replaced the quoted ones, half open; empty if there are none.
    pub(super) lines_now: Range<usize>,
}

/// Merges a reading into a place.
pub(super) fn merge_into(
    reading: &Reading,
    alignment: &Alignment,
    index: &SearchIndex<'_>,
    policy: MergePolicy,
) -> Recovery {
    let (script, lines) = (&reading.script, alignment.lines());
    let merged = match with_file_indentation(reading, alignment, index) {
        Some((script, alignment)) => merge(&script, &alignment, index, policy),
        None => merge(script, alignment, index, policy),
    };
    match merged {
        Ok(Merged { at, parts, has_unclear_indent }) => {
            let differences = alignment.differences(script, index);
            let mut classes: Vec<DifferenceKind> = reading.classes.clone();
            classes.extend(differences.iter().map(|difference| difference.class));
            if classes.is_empty() {
                classes.push(DifferenceKind::FinalNewline);
            }
            classes.sort_unstable();
            classes.dedup();
            Recovery::Found(RecoveredPlace {
                classes,
                at,
                lines,
                replacement: Replacement::Parts(parts),
                differences,
                percent: None,
                has_unclear_indent,
            })
        }
        Err(Unmergeable::AlreadyPresent) => Recovery::AlreadyApplied(vec![lines]),
        Err(why) => Recovery::Unmergeable(lines, why),
    }
}

/// If only the old text lost its indentation, the request with the file's indentation in the old text. Which lines the two texts
/// share shows only then.
fn with_file_indentation(
    reading: &Reading,
    alignment: &Alignment,
    index: &SearchIndex<'_>,
) -> Option<(Script, Alignment)> {
    let (old, new) = reading.snippet.as_ref()?;
    let (_, new) = without_shared_newlines(old, new);
    // Any other difference is merged line by line, so that the file's characters are kept.
    let differs_in_indentation_only = reading.script.anchors().all(|(row, text)| {
        alignment.line(row).is_some_and(|line| index.snapshot.line(line).trim() == text.text.trim())
    });
    if !differs_in_indentation_only || NewDepths::of(&reading.script, alignment, index) != NewDepths::LikeFile
    {
        return None;
    }
    // Only the indentation is the file's. Blank lines and trailing whitespace are merged like in any other request.
    let old = reading.script.rows.iter().enumerate().filter(|(_, row)| row.is_old());
    let lines = old.map(|(number, row)| match alignment.line(number).filter(|_| !row.blank) {
        Some(line) => format!("{}{}", indent(&index.snapshot.line(line)), row.text.trim_start()),
        None => row.text.clone(),
    });
    let script = Script {
        stops_before_newline: reading.script.stops_before_newline,
        ..Script::of_snippet(&lines.collect::<Vec<_>>().join("\n"), new)
    };
    let places = reading.script.anchors().filter_map(|(row, _)| index.position_of_line(alignment.line(row)?));
    let pairs: Vec<(usize, usize)> = script.anchors().map(|(row, _)| row).zip(places).collect();
    let alignment = Alignment::new(&script, &pairs, index);
    Some((script, alignment))
}

/// The lines that a span touches.
pub(super) fn lines_of_span(at: Span, snapshot: &Snapshot) -> Lines {
    let start = snapshot.line_of(at.start());
    let last = snapshot.line_of(at.end().max(at.start() + 1) - 1);
    Lines { start, count: last - start + 1 }
}
