//! Limits the size of requests and of files.

use super::{GuardInput, Refusal, Verdict};
use crate::change::FileChange;
use crate::plan::Operation;
use slipstitch_patch::Role;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let size = input.plan.files.iter().flat_map(|file| &file.operations).map(count_text_bytes).sum();
    let max = input.policy.max_request_bytes;
    if size > max {
        return Verdict::Refuse(Refusal::RequestTooLarge { size, max });
    }
    let dialect_max = input.plan.rules.max_file_bytes.unwrap_or(u64::MAX);
    let max = input.policy.max_file_bytes.min(dialect_max);
    let too_large = |file: &&FileChange| {
        let (before, after) = (file.splices.base_len() as u64, file.splices.new_len() as u64);
        // A file that is already too large may become smaller; a dialect's own limit applies to every result.
        (after > dialect_max || (after > max && after > before)) && file.path_after().is_some()
    };
    match input.changes.and_then(|changes| changes.files().iter().find(too_large)) {
        Some(file) => {
            let size = file.splices.new_len() as u64;
            Verdict::Refuse(Refusal::FileTooLarge { path: file.path.clone(), size, max })
        }
        None => Verdict::Pass,
    }
}

/// The bytes of old and new text in an operation.
fn count_text_bytes(operation: &Operation) -> usize {
    let old = match operation {
        Operation::Replace { old, .. } => old.len(),
        Operation::ReplaceLines { expect: Some(expect), .. } => expect.len(),
        Operation::Hunk(hunk) | Operation::HunkAt { hunk, .. } => {
            let lines = hunk.lines.iter().filter(|line| line.role != Role::Added);
            lines.map(|line| line.text.len() + 1).sum()
        }
        _ => 0,
    };
    operation.new_text().len() + old
}
