//! Reduces a proposed change to the hunks that are accepted.

use crate::change::{ChangeSet, FileChange, LineTotals, Lines, Place, PlacedEdit, Rung};
use crate::ports::journal::RejectedHunk;
use crate::report::{HunkChange, changes_by_hunk};
use crate::snapshot::Snapshots;
use slipstitch_text::Splices;

/// A change without some of its hunks; `None` if they cannot be told apart. `count` is the number of hunks that reviewers saw.
pub(super) fn without_hunks(
    changes: ChangeSet,
    snapshots: &Snapshots,
    context: usize,
    count: usize,
    left_out: &[RejectedHunk],
) -> Option<ChangeSet> {
    let is_kept = |number: usize| left_out.iter().all(|rejected| rejected.hunk != number);
    let mut next = 1;
    let mut files = Vec::new();
    for file in changes.files().iter().filter(|file| !file.is_empty()) {
        let hunks = changes_by_hunk(file, snapshots.get(&file.path), context);
        let first = next;
        next += hunks.as_ref().map_or(1, Vec::len);
        match hunks {
            _ if (first..next).all(is_kept) => files.push(file.clone()),
            Some(hunks) => {
                let kept =
                    (first..next).zip(hunks).filter(|(number, _)| is_kept(*number)).map(|(_, hunk)| hunk);
                files.extend(keep_hunks(file, snapshots.bytes(&file.path), kept.collect()));
            }
            None => {}
        }
    }
    // A truncated diff shows fewer hunks than there are.
    if next - 1 != count || files.is_empty() {
        return None;
    }
    ChangeSet::new(files).ok()
}

/// The change of a file reduced to some of its hunks; `None` if there are none.
fn keep_hunks(file: &FileChange, before: &[u8], hunks: Vec<HunkChange>) -> Option<FileChange> {
    let mut growth = 0isize;
    let mut places = Vec::new();
    for HunkChange { lines, growth: added, .. } in &hunks {
        let after = Lines {
            start: lines.start.saturating_add_signed(growth),
            count: lines.count.saturating_add_signed(*added),
        };
        places.push(Place { before: *lines, after });
        growth += added;
    }
    let occurrences = places.len();
    places.truncate(PlacedEdit::MAX_PLACES);
    let mut differences: Vec<_> = file.edits.iter().flat_map(|edit| edit.differences.clone()).collect();
    differences.sort_unstable();
    differences.dedup();
    let rung = file.edits.iter().map(|edit| edit.rung).max().unwrap_or(Rung::Stated);
    let splices = hunks.into_iter().flat_map(|hunk| hunk.splices).collect::<Vec<_>>();
    if splices.is_empty() {
        return None;
    }
    let splices = Splices::new(before.len(), splices).ok()?;
    Some(FileChange {
        after: Some(splices.hash_after(before)),
        splices,
        edits: vec![PlacedEdit { edit: 1, rung, differences, occurrences, places }],
        totals: file.totals.map(|LineTotals { before, .. }| LineTotals {
            before,
            after: before.saturating_add_signed(growth),
        }),
        ..file.clone()
    })
}
