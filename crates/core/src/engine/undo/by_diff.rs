//! Taking a change back in a file that something else has changed since, so that the journal does not lead back.
//!
//! The change's own diff, reversed, must fit: every line of it as it stands there, in one place only, and at the file's
//! start or end where the diff has no lines around it. There is no second try.

use super::conflict::clash;
use crate::change::PlacedEdit;
use crate::engine::history::Life;
use crate::find::resolve;
use crate::outcome::Refused;
use crate::plan::patch::{PatchDirection, PatchOptions, operations, rules};
use crate::plan::{EditPlan, FilePlan, Operation, Overwriting, Placing};
use crate::ports::journal::{Entry, FileRecord};
use crate::report::{ConflictReport, Report};
use crate::snapshot::Snapshot;
use crate::snapshot::Snapshots;
use slipstitch_patch::{Action, FilePatch, Format, ParseOptions, Patch, parse};
use slipstitch_patch::{Hunk, Role};
use slipstitch_text::Encoding;
use slipstitch_text::Splices;

/// The splices that take the change back in `now`.
pub(super) fn reversed_by_diff(
    entry: &Entry,
    record: &FileRecord,
    now: &Snapshot,
    life: &Life,
) -> Result<Splices, Report> {
    let path = life.path.as_ref().unwrap_or(&record.inverse.path);
    if record.inverse.splices.is_empty() {
        return Ok(Splices::none(now.bytes().len()));
    }
    let unknown = |why: &str| {
        let id = entry.summary.id;
        let message = format!(
            "`{path}` was changed after {id} by something else, as far as the journal can tell, and {why}, so {id} cannot be taken back"
        );
        Report::new(Refused::ChangedSince, message)
            .hint("Nothing was written. Edit the file instead; the change's diff shows what it did.")
    };
    if now.encoding() != Encoding::Utf8 || now.is_binary() || now.newlines().is_mixed() {
        return Err(unknown("its diff does not hold the bytes of such a file"));
    }
    let file = reversed_file(entry, record).ok_or_else(|| unknown("its diff does not hold all of it"))?;
    let options = PatchOptions {
        format: Some(Format::Unified),
        parse_options: STRICT,
        direction: PatchDirection::Forward,
        path: Some(path),
        roots: &[],
        overwriting: Overwriting::Refused,
        placing: Placing::Strict,
    };
    let planned = operations(&file, &options).map_err(|_| unknown("its diff cannot be read"))?;
    let hunks: Vec<Hunk> = planned
        .into_iter()
        .filter_map(|operation| match operation {
            Operation::Hunk(hunk) => Some(*hunk),
            _ => None,
        })
        .collect();
    let conflict = |hunk: &Hunk| {
        let (line, there) = lines_there(hunk, now);
        clash(ConflictReport {
            path: path.clone(),
            change: entry.summary.id,
            by: Vec::new(),
            line,
            left: hunk.old_lines().map(|line| format!("{}\n", line.text.trim_end_matches('\r'))).collect(),
            now: there,
        })
    };
    if let Some(loose) = hunks.iter().find(|hunk| !at_its_end(hunk, now)) {
        return Err(conflict(loose));
    }
    let unplaced = |hunk: &Hunk| Operation::Hunk(Box::new(Hunk { line: None, ..hunk.clone() }));
    let plan =
        FilePlan { path: path.clone(), version: None, operations: hunks.iter().map(unplaced).collect() };
    let plan = EditPlan::new(vec![plan], rules(Format::Unified, Placing::Strict));
    let mut seen = Snapshots::default();
    seen.insert(path.clone(), Some(now.successor(now.bytes().to_vec())));
    match resolve(&plan, &seen) {
        Ok(changes) => {
            let file = changes.files().first().ok_or_else(|| unknown("it fits nowhere"))?;
            match file.edits.iter().zip(&hunks).find(|(placed, hunk)| is_far(placed, hunk)) {
                Some((_, hunk)) => Err(conflict(hunk)),
                None => Ok(file.splices.clone()),
            }
        }
        Err(error) => {
            let edit = error.failures.first().and_then(|failure| failure.edit).unwrap_or(1);
            Err(hunks.get(edit.saturating_sub(1)).map_or_else(|| unknown("it fits nowhere"), conflict))
        }
    }
}

/// So many lines from where it was, a hunk that fits may well be a copy of what was there.
const FAR: usize = 1000;

fn is_far(placed: &PlacedEdit, hunk: &Hunk) -> bool {
    let found = placed.places.first().map(|place| place.before.start);
    found.zip(hunk.line).is_some_and(|(found, line)| found.abs_diff(line) > FAR)
}

/// A diff of ours needs no repair.
const STRICT: ParseOptions = ParseOptions { strict: true, strip: None };

/// The part of the reversed diff that is about the file; nothing if the diff is not whole.
fn reversed_file(entry: &Entry, record: &FileRecord) -> Option<FilePatch> {
    let shortened =
        entry.diff.contains("more bytes of the diff …]") || entry.diff.contains("(the diff would hold ");
    // Bytes that were no text are not in the diff.
    if shortened || entry.diff.contains('\u{FFFD}') {
        return None;
    }
    let patch: Patch = parse(&entry.diff, Some(Format::Unified), STRICT).ok()?.reversed().ok()?;
    let single = patch.files.len() == 1;
    // A file that was reached through a symlink has another name in the diff.
    let file = patch
        .files
        .into_iter()
        .find(|file| single || file.path.as_deref() == Some(record.inverse.path.as_str()))?;
    matches!(file.action, Action::Update { .. }).then_some(file)
}

/// Whether a hunk without lines before or after its changes stands at the file's start or end: it did when the diff was
/// made, and that is all that tells its place.
fn at_its_end(hunk: &Hunk, now: &Snapshot) -> bool {
    let old: Vec<&str> = hunk.old_lines().map(|line| line.text.trim_end_matches('\r')).collect();
    let stands_at = |first: usize| {
        old.iter().enumerate().all(|(offset, text)| {
            let number = first + offset;
            number >= 1 && number <= now.line_count() && now.line(number) == *text
        })
    };
    let kept =
        |line: Option<&slipstitch_patch::HunkLine>| line.is_some_and(|line| line.role == Role::Context);
    let starts = kept(hunk.lines.first()) || stands_at(1);
    let ends =
        kept(hunk.lines.last()) || (now.line_count() + 1).checked_sub(old.len()).is_some_and(stands_at);
    starts && ends
}

/// What stands where the hunk stood.
fn lines_there(hunk: &Hunk, now: &Snapshot) -> (usize, String) {
    let first = hunk.line.unwrap_or(1).max(1);
    let last = (first + hunk.old_lines().count().saturating_sub(1)).min(now.line_count());
    (first, (first..=last).map(|number| format!("{}\n", now.line(number))).collect())
}
