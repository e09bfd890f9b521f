//! Undo in a file that was changed outside the journal since, so that its earlier text cannot be rebuilt.
//!
//! The change's stored diff, reversed, must apply: every line exactly, in one place only, and at the start or end of the
//! file where the diff has no context lines. There is no fuzzy fallback.

use super::conflict::{conflict_report, later_changes};
use super::overlap::{Overlaps, find_overlaps};
use crate::change::PlacedEdit;
use crate::engine::history::FileHistory;
use crate::find::resolve;
use crate::outcome::Refused;
use crate::plan::patch::{PatchDirection, PatchOptions, operations, rules};
use crate::plan::{EditPlan, FilePlan, Operation, Overwriting, Tolerance};
use crate::ports::journal::{Entry, FileRecord};
use crate::report::{ConflictReport, Report, is_whole_diff};
use crate::snapshot::{Snapshot, Snapshots};
use slipstitch_patch::{Action, FilePatch, Format, Hunk, HunkLine, ParseOptions, Patch, Role, parse};
use slipstitch_text::{Encoding, Span, Splices};

/// The splices that revert the change in `now`.
pub(super) fn revert_by_diff(
    entry: &Entry,
    record: &FileRecord,
    now: &Snapshot,
    history: &FileHistory,
) -> Result<Splices, Report> {
    let path = history.path.as_ref().unwrap_or(&record.inverse.path);
    if record.inverse.splices.is_empty() {
        return Ok(Splices::none(now.bytes().len()));
    }
    let refuse = |why: &str| {
        let id = entry.summary.id;
        let message = format!(
            "`{path}` was changed since {id} by something not recorded here, and {why}, so {id} cannot be undone"
        );
        Report::new(Refused::ChangedSince, message)
            .hint("Nothing was written. Edit the file instead; the change's diff shows what it did.")
    };
    if now.encoding() != Encoding::Utf8 || now.is_binary() || now.newlines().is_mixed() {
        return Err(refuse("its diff cannot represent the bytes of such a file"));
    }
    let file = reversed_file(entry, record).ok_or_else(|| refuse("its diff is incomplete"))?;
    let terms = PatchOptions {
        format: Some(Format::Unified),
        parse_options: STRICT,
        direction: PatchDirection::Forward,
        path: Some(path),
        roots: &[],
        overwriting: Overwriting::Refused,
        tolerance: Tolerance::Exact,
    };
    let planned = operations(&file, &terms).map_err(|_| refuse("its diff cannot be parsed"))?;
    let hunks: Vec<Hunk> = planned
        .into_iter()
        .filter_map(|operation| match operation {
            Operation::Hunk(hunk) => Some(*hunk),
            _ => None,
        })
        .collect();
    let places: Vec<Span> = record.inverse.splices.iter().map(|splice| splice.at).collect();
    let find = |left| find_overlaps(history, places, (left, now.hash()), None);
    let later = record.hash_after().map_or_else(Overlaps::default, find);
    let conflict = |hunk: &Hunk| {
        let (line, present) = present_lines(hunk, now);
        let conflict = ConflictReport {
            path: path.clone(),
            change: Some(entry.summary.id),
            proposal: None,
            expected: None,
            by: later.recorded(),
            later: later_changes(&later, now.bytes()),
            line,
            left: hunk.old_lines().map(|line| format!("{}\n", line.text.trim_end_matches('\r'))).collect(),
            now: present,
        };
        conflict_report(entry.summary.id, path, &later_changes(&later, now.bytes()), vec![conflict])
    };
    if let Some(hunk) = hunks.iter().find(|hunk| !is_at_file_edge(hunk, now)) {
        return Err(conflict(hunk));
    }
    let without_line = |hunk: &Hunk| Operation::Hunk(Box::new(Hunk { line: None, ..hunk.clone() }));
    let plan =
        FilePlan { path: path.clone(), version: None, operations: hunks.iter().map(without_line).collect() };
    let plan = EditPlan::new(vec![plan], rules(Format::Unified, Tolerance::Exact));
    let mut snapshots = Snapshots::default();
    snapshots.insert(path.clone(), Some(now.successor(now.bytes().to_vec())));
    match resolve(&plan, &snapshots) {
        Ok(changes) => {
            let file = changes.files().first().ok_or_else(|| refuse("its diff does not apply"))?;
            match file.edits.iter().zip(&hunks).find(|(placed, hunk)| is_far(placed, hunk)) {
                Some((_, hunk)) => Err(conflict(hunk)),
                None => Ok(file.splices.clone()),
            }
        }
        Err(error) => {
            let edit = error.failures.first().and_then(|failure| failure.edit).unwrap_or(1);
            Err(hunks.get(edit.saturating_sub(1)).map_or_else(|| refuse("its diff does not apply"), conflict))
        }
    }
}

/// A hunk that applies farther away than this, in lines, may have matched a copy of the original text.
const MAX_DISTANCE: usize = 1000;

fn is_far(placed: &PlacedEdit, hunk: &Hunk) -> bool {
    let found = placed.places.first().map(|place| place.before.start);
    found.zip(hunk.line).is_some_and(|(found, line)| found.abs_diff(line) > MAX_DISTANCE)
}

/// Stored diffs need no repair.
const STRICT: ParseOptions = ParseOptions::STRICT;

/// The file's part of the reversed diff; `None` if the diff is incomplete.
fn reversed_file(entry: &Entry, record: &FileRecord) -> Option<FilePatch> {
    let is_truncated = !is_whole_diff(&entry.diff);
    // Bytes that are not text are not in the diff.
    if is_truncated || entry.diff.contains('\u{FFFD}') {
        return None;
    }
    let patch: Patch = parse(&entry.diff, Some(Format::Unified), STRICT).ok()?.reversed().ok()?;
    let single = patch.files.len() == 1;
    // In the diff, a file that was reached through a symlink has the symlink's name.
    let file = patch
        .files
        .into_iter()
        .find(|file| single || file.path.as_deref() == Some(record.inverse.path.as_str()))?;
    matches!(file.action, Action::Update { .. }).then_some(file)
}

/// Whether a hunk without context before or after its changes matches at the start or end of the file. It did when the
/// diff was made, and nothing else identifies its place. Always true for a hunk with context on both sides.
fn is_at_file_edge(hunk: &Hunk, now: &Snapshot) -> bool {
    let old: Vec<&str> = hunk.old_lines().map(|line| line.text.trim_end_matches('\r')).collect();
    let matches_at = |first: usize| {
        old.iter().enumerate().all(|(offset, text)| {
            let number = first + offset;
            number >= 1 && number <= now.line_count() && now.line(number) == *text
        })
    };
    let is_context = |line: Option<&HunkLine>| line.is_some_and(|line| line.role == Role::Context);
    let start = is_context(hunk.lines.first()) || matches_at(1);
    let end = is_context(hunk.lines.last())
        || (now.line_count() + 1).checked_sub(old.len()).is_some_and(matches_at);
    start && end
}

/// The current lines where the hunk was, and the first one's number.
fn present_lines(hunk: &Hunk, now: &Snapshot) -> (usize, String) {
    let first = hunk.line.unwrap_or(1).max(1);
    let last = (first + hunk.old_lines().count().saturating_sub(1)).min(now.line_count());
    (first, (first..=last).map(|number| format!("{}\n", now.line(number))).collect())
}
