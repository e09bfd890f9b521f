//! Asks for a review if the plan requires one: always, or for changes that affect many lines.

use super::{GuardInput, Verdict};
use crate::change::{ChangeSet, PlacedEdit};
use crate::plan::Review;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let Some(changes) = input.changes else { return Verdict::Pass };
    match &input.plan.review {
        Review::No => Verdict::Pass,
        Review::Always { why } => Verdict::Ask(why.clone()),
        Review::OverLines { lines } => match count_affected_lines(changes) {
            count if count > *lines => {
                Verdict::Ask(format!("it affects {count} lines; more than {lines} need a review"))
            }
            _ => Verdict::Pass,
        },
    }
}

/// The lines that a change removes or adds, whichever is more at each place.
fn count_affected_lines(changes: &ChangeSet) -> usize {
    let lines = |edit: &PlacedEdit| {
        let listed: usize = edit.places.iter().map(|place| place.before.count.max(place.after.count)).sum();
        // Places beyond those listed have at least one line each.
        listed + edit.occurrences.saturating_sub(edit.places.len())
    };
    changes.files().iter().flat_map(|file| &file.edits).map(lines).sum()
}
