//! Requests and results that are too long.

use super::{GuardInput, Refusal, Verdict};
use crate::change::FileChange;
use crate::plan::Operation;
use slipstitch_patch::Role;

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    let size = input.plan.files.iter().flat_map(|file| &file.operations).map(text_of).sum();
    let most = input.policy.max_request_bytes;
    if size > most {
        return Verdict::Refuse(Refusal::RequestTooLarge { size, most });
    }
    let own = input.plan.rules.max_file_bytes.unwrap_or(u64::MAX);
    let most = input.policy.max_file_bytes.min(own);
    let too_large = |file: &&FileChange| {
        let (before, after) = (file.splices.base_len() as u64, file.splices.new_len() as u64);
        // What is too large already may become smaller, unless the dialect's limit is for every result.
        (after > own || (after > most && after > before)) && file.path_after().is_some()
    };
    match input.changes.and_then(|changes| changes.files().iter().find(too_large)) {
        Some(file) => {
            let size = file.splices.new_len() as u64;
            Verdict::Refuse(Refusal::FileTooLarge { path: file.path.clone(), size, most })
        }
        None => Verdict::Pass,
    }
}

/// How many bytes of text an operation carries.
fn text_of(operation: &Operation) -> usize {
    let besides = match operation {
        Operation::Replace { old, .. } => old.len(),
        Operation::ReplaceLines { expect: Some(expect), .. } => expect.len(),
        Operation::Hunk(hunk) => {
            let old = hunk.lines.iter().filter(|line| line.role != Role::Added);
            old.map(|line| line.text.len() + 1).sum()
        }
        _ => 0,
    };
    operation.new_text().len() + besides
}
