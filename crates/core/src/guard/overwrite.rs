//! Requires a confirmation for overwriting a file that has text, in dialects that ask for one.

use super::{GuardInput, Refusal, Verdict};
use crate::plan::{Operation, OverwriteConsent};

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    // Judged once the change is known, so that the refusal can show it.
    if input.changes.is_none() || input.plan.rules.overwrite == OverwriteConsent::Given {
        return Verdict::Pass;
    }
    let overwrites = |operation: &Operation| matches!(operation, Operation::Overwrite { .. });
    let file = input.plan.files.iter().find(|file| {
        let has_text = input.snapshots.get(&file.path).is_some_and(|snapshot| snapshot.byte_len() > 0);
        has_text && file.operations.iter().any(overwrites)
    });
    match file {
        Some(file) => Verdict::Refuse(Refusal::Unconfirmed { path: file.path.clone() }),
        None => Verdict::Pass,
    }
}
