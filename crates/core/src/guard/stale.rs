//! The caller named a version: is the file still that?

use super::{Matter, Refusal, Verdict};

pub(super) fn judge(matter: &Matter<'_>) -> Verdict {
    for file in &matter.plan.files {
        let Some(claim) = &file.version else { continue };
        let current = matter.seen.get(&file.path);
        if !current.is_some_and(|snapshot| claim.names(snapshot.hash(), snapshot.bytes())) {
            let current = current.map(|snapshot| snapshot.hash());
            return Verdict::Refuse(Refusal::Stale { path: file.path.clone(), current });
        }
    }
    Verdict::Pass
}
