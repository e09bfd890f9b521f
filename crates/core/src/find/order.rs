//! Batches whose edits are in the order of the file.
//!
//! Such a batch says more than its texts do: each edit is somewhere after the one before it. If a text occurs at lines 10 and
//! 80 and the edit before it is at line 50, only line 80 is after it. This settles an ambiguity without a guess, but only if
//! a single occurrence is left. The first of several is never taken, and a looser comparison is never tried.

use super::EditFailure;
use super::error::Reason;
use super::resolved_edit::ResolvedEdit;
use crate::change::Rung;
use crate::plan::{LineRange, Operation};
use crate::snapshot::Snapshot;
use slipstitch_text::display::list_lines;

/// Settles ambiguous edits by the place of the edit before them. `resolve` resolves the edit with that index again.
pub(super) fn settle_by_order(
    results: Vec<Result<ResolvedEdit, EditFailure>>,
    operations: &[Operation],
    snapshot: &Snapshot,
    resolve: impl Fn(usize, &[Operation]) -> Option<Result<ResolvedEdit, EditFailure>>,
) -> Vec<Result<ResolvedEdit, EditFailure>> {
    let mut settled: Vec<Result<ResolvedEdit, EditFailure>> = Vec::with_capacity(results.len());
    for (at, result) in results.into_iter().enumerate() {
        let previous = settled.last().and_then(|previous| previous.as_ref().ok());
        let settled_now = match (&result, previous) {
            (Err((edit, Reason::Ambiguous { lines, .. })), Some(previous)) => {
                below(&operations[at], previous, snapshot)
                    .and_then(|narrowed| resolve(at, &[narrowed])?.ok())
                    .filter(|found| found.rung == Rung::Exact && is_listed(found, lines, snapshot))
                    .map(|found| with_note(found, *edit, lines))
            }
            _ => None,
        };
        settled.push(settled_now.map_or(result, Ok));
    }
    settled
}

/// Whether an edit's place is one of the ambiguous ones. Another one would be the result of a looser comparison.
fn is_listed(found: &ResolvedEdit, lines: &[usize], snapshot: &Snapshot) -> bool {
    found.spans.iter().all(|span| lines.contains(&snapshot.line_of(span.start())))
}

/// The operation, restricted to the lines below an edit's place.
fn below(operation: &Operation, previous: &ResolvedEdit, snapshot: &Snapshot) -> Option<Operation> {
    let Operation::Replace { old, new, which, within: None } = operation else { return None };
    let end = previous.spans.last()?.end();
    // A span of whole lines ends at the start of the next line.
    let is_line_start = end == 0 || snapshot.text()[..end].ends_with(b"\n");
    let first = snapshot.line_of(end) + usize::from(!is_line_start);
    let last = snapshot.line_count();
    let within = Some(LineRange { first, last });
    (first <= last).then(|| Operation::Replace { old: old.clone(), new: new.clone(), which: *which, within })
}

fn with_note(mut found: ResolvedEdit, edit: usize, lines: &[usize]) -> ResolvedEdit {
    found.notes.push(format!(
        "edit {edit}: the text occurs at {}; it was replaced at the only place after the edit before it",
        list_lines(lines, 12, false)
    ));
    found
}
