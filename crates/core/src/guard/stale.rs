//! Refuses an edit for another version of the file than the current one.

use super::{GuardInput, Refusal, Verdict};
use crate::path::FilePath;
use crate::snapshot::Snapshot;
use slipstitch_text::VersionClaim;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let refusal = input.plan.files.iter().find_map(|file| {
        let claim = file.version.as_ref()?;
        check_version(claim, &file.path, input.snapshots.get(&file.path))
    });
    refusal.map_or(Verdict::Pass, Verdict::Refuse)
}

/// The refusal if the claim does not name the current file.
pub(crate) fn check_version(
    claim: &VersionClaim,
    path: &FilePath,
    current: Option<&Snapshot>,
) -> Option<Refusal> {
    if current.is_some_and(|snapshot| claim.matches_with(snapshot.hash(), || snapshot.bytes())) {
        return None;
    }
    Some(Refusal::Stale { path: path.clone(), current: current.map(Snapshot::hash) })
}
