//! Refuses NUL characters: they would make a text file binary, and it could not be edited any more.

use super::{GuardInput, Refusal, Verdict};
use crate::plan::Operation;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let with_nul = input.plan.files.iter().find(|file| {
        let was_binary = input.snapshots.get(&file.path).is_some_and(|snapshot| snapshot.is_binary());
        !was_binary
            && file.operations.iter().flat_map(Operation::new_pieces).any(|piece| piece.contains('\0'))
    });
    match with_nul {
        Some(file) => Verdict::Refuse(Refusal::Nul { path: file.path.clone() }),
        None => Verdict::Pass,
    }
}
