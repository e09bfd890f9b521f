//! An edit that changes nothing is not written: not even the file's time stamp moves.

use super::{Matter, Refusal, Verdict};

pub(super) fn judge(matter: &Matter<'_>) -> Verdict {
    match matter.changes {
        Some(changes) if changes.is_empty() => Verdict::Refuse(Refusal::NoChange),
        _ => Verdict::Pass,
    }
}
