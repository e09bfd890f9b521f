//! An edit that leaves less than a third of a file is more likely a mistake than a wish.

use super::{GuardInput, Policy, Refusal, Verdict};
use crate::change::{LineTotals, PathChange};
use crate::plan::{Operation, Shrink};

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let Some(changes) = input.changes else { return Verdict::Pass };
    if input.plan.rules.shrink == Shrink::Allowed {
        return Verdict::Pass;
    }
    for (file, plan) in changes.files().iter().zip(&input.plan.files) {
        // Whoever overwrites or deletes a file has said that its text may go.
        let meant =
            plan.operations.iter().any(|o| matches!(o, Operation::Overwrite { .. } | Operation::Delete));
        if meant || file.path_change == PathChange::Delete {
            continue;
        }
        if let Some(LineTotals { before, after }) = file.totals
            && reduction(before, after, input.policy)
        {
            return Verdict::Refuse(Refusal::Shrinks { path: file.path.clone(), before, after });
        }
    }
    Verdict::Pass
}

/// Whether so many lines are too few after so many before.
fn reduction(before: usize, after: usize, policy: &Policy) -> bool {
    before >= policy.shrink_from_lines && after < before / policy.shrink_to_one_in
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_may_stay_and_short_files_may_shrink() {
        let policy = Policy::default();
        assert!(reduction(50, 3, &policy));
        assert!(reduction(20, 5, &policy));
        assert!(!reduction(20, 6, &policy));
        assert!(!reduction(19, 0, &policy));
    }
}
