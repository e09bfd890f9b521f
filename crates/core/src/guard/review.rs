//! Some changes are for a person to agree to: all of a kind, or those that affect many lines.

use super::{GuardInput, Verdict};
use crate::change::{ChangeSet, PlacedEdit};
use crate::plan::Review;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let Some(changes) = input.changes else { return Verdict::Pass };
    match &input.plan.review {
        Review::No => Verdict::Pass,
        Review::Always { why } => Verdict::Ask(why.clone()),
        Review::OverLines { lines } => match affected(changes) {
            count if count > *lines => {
                Verdict::Ask(format!("it affects {count} lines, and more than {lines} need a review"))
            }
            _ => Verdict::Pass,
        },
    }
}

/// How many lines a change takes or puts in, whichever is more at each place.
fn affected(changes: &ChangeSet) -> usize {
    let lines = |edit: &PlacedEdit| {
        let told: usize = edit.places.iter().map(|place| place.before.count.max(place.after.count)).sum();
        // Places beyond those that are told have at least a line each.
        told + edit.occurrences.saturating_sub(edit.places.len())
    };
    changes.files().iter().flat_map(|file| &file.edits).map(lines).sum()
}
