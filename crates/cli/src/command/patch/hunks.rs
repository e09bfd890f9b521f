//! The parts of a patch, as messages name them: hunk 2 of a diff, block 1 of SEARCH/REPLACE text.

use slipstitch::core::path::FilePath;
use slipstitch::core::plan::{EditPlan, Operation};
use slipstitch::core::report::Report;

/// One operation of a patch.
pub(super) struct Part {
    pub(super) path: FilePath,
    /// Its number in the file, from 1.
    number: usize,
    /// `hunk` or `block`.
    kind: &'static str,
    pub(super) operation: Operation,
}

/// The parts in the order of the patch. The edits of a report are numbered in the same order.
pub(super) fn parts(plan: &EditPlan) -> Vec<Part> {
    let of_file =
        plan.files.iter().flat_map(|file| (1..).zip(&file.operations).map(move |part| (file, part)));
    of_file
        .map(|(file, (number, operation))| Part {
            path: file.path.clone(),
            number,
            kind: if matches!(operation, Operation::Hunk(_)) { "hunk" } else { "block" },
            operation: operation.clone(),
        })
        .collect()
}

/// Names the hunks in a report of a patch that cannot be applied.
pub(super) fn name_failures(report: &mut Report, parts: &[Part]) {
    let is_hunk = |part: &&Part| matches!(part.operation, Operation::Hunk(_) | Operation::Replace { .. });
    let total = parts.iter().filter(is_hunk).count();
    for failure in &mut report.failures {
        let part = failure.edit.and_then(|edit| parts.get(edit - 1)).filter(is_hunk);
        if let Some(part) = part {
            failure.message = format!("{} {}: {}", part.kind, part.number, failure.message);
        }
    }
    let kind = parts.first().map_or("hunk", |part| part.kind);
    match &report.failures[..] {
        [] => {}
        [only] => report.message = format!("`{}`, {}", only.path, only.message),
        several => {
            report.message =
                format!("{} of {total} {kind}s cannot be applied, so nothing was written", several.len());
        }
    }
}
