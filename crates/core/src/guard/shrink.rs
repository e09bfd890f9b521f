//! Refuses edits that keep less than a third of a file: they are more likely a mistake than intended.

use super::{GuardInput, Policy, Refusal, Verdict};
use crate::change::{LineTotals, PathChange};
use crate::plan::{Operation, Shrink};

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let Some(changes) = input.changes else { return Verdict::Pass };
    if input.plan.rules.shrink == Shrink::Allowed {
        return Verdict::Pass;
    }
    for (file, plan) in changes.files().iter().zip(&input.plan.files) {
        // Overwriting or deleting a file states the intent to remove its text.
        let is_intended =
            plan.operations.iter().any(|o| matches!(o, Operation::Overwrite { .. } | Operation::Delete));
        if is_intended || file.path_change == PathChange::Delete {
            continue;
        }
        if let Some(LineTotals { before, after }) = file.totals
            && shrinks_too_much(before, after, input.policy)
        {
            return Verdict::Refuse(Refusal::Shrinks { path: file.path.clone(), before, after });
        }
    }
    Verdict::Pass
}

fn shrinks_too_much(before: usize, after: usize, policy: &Policy) -> bool {
    before >= policy.shrink_from_lines && after < before / policy.shrink_to_one_in
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_to_keep_less_than_a_third_of_a_long_file() {
        let policy = Policy::default();
        assert!(shrinks_too_much(50, 3, &policy));
        assert!(shrinks_too_much(20, 5, &policy));
        assert!(!shrinks_too_much(20, 6, &policy));
        assert!(!shrinks_too_much(19, 0, &policy));
    }
}
