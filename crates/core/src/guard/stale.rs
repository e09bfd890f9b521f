//! The caller named a version: is the file still that?

use super::{GuardInput, Refusal, Verdict};
use crate::path::FilePath;
use crate::snapshot::Snapshot;
use slipstitch_text::VersionClaim;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let refusal = input.plan.files.iter().find_map(|file| {
        let claim = file.version.as_ref()?;
        differs(claim, &file.path, input.seen.get(&file.path))
    });
    refusal.map_or(Verdict::Pass, Verdict::Refuse)
}

/// The refusal of a claim that does not name what stands at the path.
pub(crate) fn differs(claim: &VersionClaim, path: &FilePath, current: Option<&Snapshot>) -> Option<Refusal> {
    if current.is_some_and(|snapshot| claim.matches(snapshot.hash(), snapshot.bytes())) {
        return None;
    }
    Some(Refusal::Stale { path: path.clone(), current: current.map(Snapshot::hash) })
}
