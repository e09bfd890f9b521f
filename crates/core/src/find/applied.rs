//! Insertions that are already there.
//!
//! An edit that replaces a line is over when its old text is gone, and the search for that text finds out (see
//! [`miss`](super::miss)). An edit that only adds lines leaves its old text in place: sent again, it has an exact match, and
//! applying it would add the lines twice. So the text around an exact match decides here, for snippets, SEARCH/REPLACE blocks
//! and hunks alike: if the whole new text already surrounds the match, line by line, the edit is done.
//!
//! Added lines without enough letters, such as a closing brace, prove nothing: a brace next to a brace may well be
//! the one that is missing. Text added inside a line is always written, as the request says.

use super::diagnosis::{Cause, Diagnosis};
use super::error::Reason;
use super::punctuation::is_distinctive;
use super::recovery::lines_of_span;
use crate::plan::{EditRules, IfAlreadyApplied};
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// Fails if `old`, which is at `found`, already has the lines around it that `new` adds. Both texts are canonical.
pub(super) fn require_unapplied(
    old: &str,
    new: &str,
    found: Span,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<(), Reason> {
    if rules.if_already_applied != IfAlreadyApplied::Succeed || old.is_empty() || new.len() <= old.len() {
        return Ok(());
    }
    match find_inserted(old, new, found, snapshot) {
        Some(span) => {
            let lines = lines_of_span(span, snapshot);
            let diagnosis = Diagnosis::at(Cause::AlreadyApplied, lines, snapshot);
            Err(Reason::AlreadyApplied(Diagnosis { is_insertion: true, ..diagnosis }))
        }
        None => Ok(()),
    }
}

/// Where the new text is, if it is there with its old text at `found`.
fn find_inserted(old: &str, new: &str, found: Span, snapshot: &Snapshot) -> Option<Span> {
    // Only where a line starts, and mostly there is just one such place; a searcher would cost more than all comparisons.
    let room = &new.as_bytes()[..new.len() - old.len()];
    let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', room).map(|newline| newline + 1));
    starts.filter(|&at| new.as_bytes()[at..].starts_with(old.as_bytes())).find_map(|at| {
        let (above, below) = (new.get(..at)?, new.get(at + old.len()..)?);
        let adds_lines = (below.is_empty() || below.starts_with('\n') || old.ends_with('\n'))
            && above.lines().chain(below.lines()).any(is_distinctive);
        let (above, below) = (snapshot.needle(above), snapshot.needle(below.trim_end_matches('\n')));
        let span = Span::new(found.start().checked_sub(above.len())?, found.end() + below.len());
        (adds_lines
            && span.end() <= snapshot.text_len()
            && snapshot.text_in(Span::new(span.start(), found.start()))[..] == *above.as_bytes()
            && snapshot.text_in(Span::new(found.end(), span.end()))[..] == *below.as_bytes()
            && (above.is_empty() || is_line_start(span.start(), snapshot))
            && (below.is_empty() || is_line_end(span.end(), snapshot)))
        .then_some(span)
    })
}

fn is_line_start(at: usize, snapshot: &Snapshot) -> bool {
    at == 0 || snapshot.text_in(Span::new(at - 1, at))[..] == *b"\n"
}

fn is_line_end(at: usize, snapshot: &Snapshot) -> bool {
    at == snapshot.text_len() || matches!(snapshot.text_in(Span::new(at, at + 1))[..], [b'\n' | b'\r'])
}
