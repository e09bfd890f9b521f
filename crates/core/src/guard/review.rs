//! Asks for a review if the plan requires one: always, or for changes that affect many lines.

use super::rules::count_affected_lines;
use super::{GuardInput, Verdict};
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
