//! An edit that changes nothing is not written, so that not even the modification time changes.

use super::{GuardInput, Refusal, Verdict};

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    match input.changes {
        Some(changes) if changes.is_empty() => Verdict::Refuse(Refusal::NoChange),
        _ => Verdict::Pass,
    }
}
