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
    // Newlines between the pieces count, like those inside them.
    let new: usize = operation.new_pieces().map(|piece| piece.len() + 1).sum();
    new.saturating_sub(1) + old
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstitch_patch::{Hunk, HunkLine};

    #[test]
    fn a_hunk_counts_as_much_as_its_joined_text() {
        let line = |role, text: &str| HunkLine { role, text: text.into(), newline: true };
        let lines = [
            line(Role::Context, "a"),
            line(Role::Removed, "b"),
            line(Role::Added, "cd"),
            line(Role::Added, ""),
        ];
        for (lines, old) in [(&lines[..], 4), (&lines[..2], 4), (&lines[2..3], 0), (&lines[2..], 0), (&[], 0)]
        {
            let hunk = Hunk { lines: lines.to_vec(), ..Hunk::default() };
            let operation = Operation::Hunk(Box::new(hunk));
            assert_eq!(count_text_bytes(&operation), operation.new_text().len() + old);
            let pieces: Vec<_> = operation.new_pieces().collect();
            assert_eq!(pieces.join("\n"), operation.new_text());
        }
    }
}
