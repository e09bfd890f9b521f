//! Refuses edits that keep less than a third of a file: they are more likely a mistake than intended.

use super::{GuardInput, Refusal, Verdict};
use crate::change::{LineTotals, PathChange};
use crate::plan::{Operation, Shrink};

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let Some(changes) = input.changes else { return Verdict::Pass };
    let limits = match input.plan.rules.shrink {
        Shrink::Allowed => return Verdict::Pass,
        Shrink::Guarded => (input.policy.shrink_from_lines, input.policy.shrink_to_one_in),
        Shrink::Limited { from_lines, to_one_in, .. } => (from_lines, to_one_in.get()),
    };
    for (file, plan) in changes.files().iter().zip(&input.plan.files) {
        // Overwriting or deleting a file states the intent to remove its text.
        let is_intended =
            plan.operations.iter().any(|o| matches!(o, Operation::Overwrite { .. } | Operation::Delete));
        if is_intended || file.path_change == PathChange::Delete {
            continue;
        }
        if let Some(LineTotals { before, after }) = file.totals
            && shrinks_too_much(before, after, limits)
        {
            return Verdict::Refuse(Refusal::Shrinks { path: file.path.clone(), before, after });
        }
    }
    Verdict::Pass
}

fn shrinks_too_much(before: usize, after: usize, (from_lines, to_one_in): (usize, usize)) -> bool {
    before >= from_lines && after < before / to_one_in
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Policy;

    #[test]
    fn refuses_to_keep_less_than_a_third_of_a_long_file() {
        let policy = Policy::default();
        let limits = (policy.shrink_from_lines, policy.shrink_to_one_in);
        assert!(shrinks_too_much(50, 3, limits));
        assert!(shrinks_too_much(20, 5, limits));
        assert!(!shrinks_too_much(20, 6, limits));
        assert!(!shrinks_too_much(19, 0, limits));
    }
}
