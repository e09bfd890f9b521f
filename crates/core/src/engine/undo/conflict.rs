//! Reports for changes that cannot be undone, with the conflicting lines.

use super::overlap::{Overlap, Overlaps};
use crate::change::Lines;
use crate::outcome::{Failed, Refused};
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::report::{ConflictReport, LaterChange, Report, excerpt, whole_lines};
use slipstitch_text::Span;
use slipstitch_text::display::join_items;

/// How many changes are listed.
const MAX_CHANGES: usize = 10;

/// How many places of one change are named.
const MAX_PLACES: usize = 3;

/// A place that was changed again after the change to undo.
pub(super) struct Conflict<'a> {
    /// What changed it again.
    pub(super) later: Overlaps,
    /// The text after the change, and the place in it.
    pub(super) left: (&'a [u8], Span),
    /// The current text, and the place in it.
    pub(super) now: (&'a [u8], Span),
}

/// The refusal for a change with places that were changed again; `later` is what changed any of them.
pub(super) fn report_conflicts(
    id: ChangeId,
    path: &FilePath,
    later: &Overlaps,
    conflicts: Vec<Conflict<'_>>,
) -> Report {
    let text = conflicts.first().map_or(&[][..], |conflict| conflict.now.0);
    let later = later_changes(later, text);
    let conflicts = conflicts.into_iter().map(|conflict| {
        let (left, now) =
            (whole_lines(conflict.left.0, conflict.left.1), whole_lines(conflict.now.0, conflict.now.1));
        ConflictReport {
            path: path.clone(),
            change: Some(id),
            proposal: None,
            expected: None,
            by: conflict.later.recorded(),
            later: later_changes(&conflict.later, conflict.now.0),
            line: line_at(conflict.now.0, now.start()),
            left: excerpt(left.of(conflict.left.0)),
            now: excerpt(now.of(conflict.now.0)),
        }
    });
    conflict_report(id, path, &later, conflicts.collect())
}

/// The refusal for places that were changed again.
pub(super) fn conflict_report(
    id: ChangeId,
    path: &FilePath,
    later: &[LaterChange],
    conflicts: Vec<ConflictReport>,
) -> Report {
    let lost = if later.len() > 1 { "those changes" } else { "that change" };
    let message = format!(
        "`{path}` was changed after {id} in the same place, by {}, so undoing {id} would lose {lost}",
        describe_changes(later)
    );
    let mut report = refusal(message, &hint_to_undo_first(later));
    report.conflicts = conflicts;
    report
}

/// Later changes with their lines in the current text.
pub(super) fn later_changes(later: &Overlaps, text: &[u8]) -> Vec<LaterChange> {
    let lines = |places: &[Span]| -> Vec<Lines> {
        let mut lines: Vec<Lines> = places.iter().map(|&place| lines_of(place, text)).collect();
        lines.dedup();
        lines
    };
    let describe = |overlap: &Overlap| LaterChange {
        change: overlap.by,
        lines: if later.is_complete { lines(&overlap.places) } else { Vec::new() },
    };
    later.changes.iter().map(describe).collect()
}

fn line_at(text: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text[..at]).count() + 1
}

/// The lines of a place. A newline at its start ends the line before.
fn lines_of(place: Span, text: &[u8]) -> Lines {
    let is_at_line_start = |at: usize| at == 0 || text[at - 1] == b'\n';
    let found = place.of(text);
    let newline = [&b"\n"[..], b"\r\n"].into_iter().find(|newline| found.starts_with(newline));
    let skipped = newline.filter(|newline| !is_at_line_start(place.start()) && found.len() > newline.len());
    let start = place.start() + skipped.map_or(0, <[u8]>::len);
    let found = &text[start..place.end()];
    let newlines = memchr::memchr_iter(b'\n', found).count();
    let count = match found.last() {
        None if is_at_line_start(start) => 0,
        Some(b'\n') => newlines,
        _ => newlines + 1,
    };
    Lines { start: line_at(text, start), count }
}

/// Later changes, for a message.
fn describe_changes(later: &[LaterChange]) -> String {
    let describe = |change: &LaterChange| {
        let name =
            change.change.map_or_else(|| "something not recorded here".to_owned(), |id| id.to_string());
        match &change.lines[..] {
            [] => name,
            lines if lines.len() > MAX_PLACES => {
                format!("{name} ({}, …)", join_items(&lines[..MAX_PLACES]))
            }
            lines => format!("{name} ({})", join_items(lines)),
        }
    };
    match later {
        [] => "something not recorded here".into(),
        [first, .., last] if later.len() > MAX_CHANGES => {
            format!("{} changes, from {} to {}", later.len(), describe(first), describe(last))
        }
        changes => join_items(changes.iter().map(describe)),
    }
}

/// How to make room for an undo. What is not recorded cannot be undone, so undoing the others would not be enough.
fn hint_to_undo_first(later: &[LaterChange]) -> String {
    let ids: Option<Vec<ChangeId>> = later.iter().map(|change| change.change).collect();
    match ids.as_deref() {
        None | Some([]) => "Edit the file instead.".into(),
        Some([first, .., last]) if later.len() > MAX_CHANGES => {
            format!("Undo those first, from {last} back to {first}, or edit the file instead.")
        }
        Some(ids) => format!("Undo {} first, or edit the file instead.", join_items(ids.iter().rev())),
    }
}

fn refusal(message: String, hint: &str) -> Report {
    Report::new(Refused::ChangedSince, message).hint(format!("Nothing was written. {hint}"))
}

/// The change created the file, and the file was changed since.
pub(super) fn created_and_changed(id: ChangeId, path: &FilePath, later: &Overlaps, now: &[u8]) -> Report {
    let later = later_changes(later, now);
    let lost = if later.len() > 1 { "those changes" } else { "that change" };
    let message = format!(
        "`{path}` was changed after {id}, which created it, by {}: undoing {id} would delete the file and lose {lost}",
        describe_changes(&later)
    );
    let hint = match &later[..] {
        [] => "If you don't need its content, delete the file.".into(),
        later if later.iter().any(|change| change.change.is_none()) => {
            "If you don't need its content, delete the file.".into()
        }
        later => hint_to_undo_first(later),
    };
    refusal(message, &hint)
}

/// A recorded change deleted the file.
pub(super) fn deleted(id: ChangeId, path: &FilePath, by: Option<ChangeId>) -> Report {
    let by: Vec<LaterChange> =
        by.into_iter().map(|id| LaterChange { change: Some(id), lines: Vec::new() }).collect();
    let message =
        format!("`{path}` was deleted after {id} by {}, so {id} cannot be undone", describe_changes(&by));
    refusal(message, &hint_to_undo_first(&by))
}

/// The file is missing, and no recorded change deleted it.
pub(super) fn missing(id: ChangeId, path: &FilePath) -> Report {
    let message = format!(
        "`{path}` no longer exists: it was deleted or renamed after {id} by something not recorded here"
    );
    refusal(message, "Restore the file under that name and try again.")
}

/// A later change moved the file.
pub(super) fn moved(id: ChangeId, from: &FilePath, to: &FilePath, by: Option<ChangeId>) -> Report {
    let by = by.map_or_else(String::new, |by| format!(" by {by}"));
    let message = format!("`{from}` was moved to `{to}`{by} after {id}, so {id} cannot be undone");
    refusal(message, "Undo the later move first (see the log).")
}

/// Another file exists where one would be restored.
pub(super) fn in_the_way(path: &FilePath) -> Report {
    let message = format!("another file now exists at `{path}`, where the old one would be restored");
    refusal(message, "Move or delete that file first.")
}

/// The record does not lead to the recorded content.
pub(super) fn damaged(path: &FilePath) -> Report {
    let message = format!("the journal's record is damaged: it would not restore `{path}`");
    Report::new(Failed::Journal, message).hint("Nothing was written. Restore the file by other means.")
}

/// The file is private, and another process made the change.
pub(super) fn withheld(id: ChangeId, path: &FilePath) -> Report {
    let message = format!(
        "{id} cannot be undone: `{path}` is private, so its text was kept only by the process that made the change"
    );
    Report::new(Refused::PrivateText, message)
        .hint("Nothing was written. Restore the file by other means. `private` and `private_except` in `[journal]` say which files are private.")
}
