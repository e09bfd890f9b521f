//! The parts of a patch, as messages name them: hunk 2 of a diff, block 1 of SEARCH/REPLACE text.

use slipstitch::core::outcome::{Status, Unplaced};
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::{EditPlan, Operation};
use slipstitch::core::report::{FailureReport, Report};

/// One operation of a patch.
pub(super) struct Part {
    pub(super) path: FilePath,
    /// Its number in the file, from 1.
    number: usize,
    pub(super) operation: Operation,
}

impl Part {
    /// `hunk` or `block`; `None` for what concerns the whole file.
    fn kind(&self) -> Option<&'static str> {
        match self.operation {
            Operation::Hunk(_) => Some("hunk"),
            Operation::Replace { .. } => Some("block"),
            _ => None,
        }
    }
}

/// The parts in the order of the patch. The edits of a report are numbered in the same order.
pub(super) fn parts(plan: &EditPlan) -> Vec<Part> {
    let of_file =
        plan.files.iter().flat_map(|file| (1..).zip(&file.operations).map(move |part| (file, part)));
    of_file
        .map(|(file, (number, operation))| Part {
            path: file.path.clone(),
            number,
            operation: operation.clone(),
        })
        .collect()
}

/// What all parts are called.
pub(super) fn common_kind(parts: &[Part]) -> &'static str {
    let kinds = || parts.iter().map(|part| part.kind().unwrap_or("part"));
    let first = kinds().next().unwrap_or("part");
    if kinds().all(|kind| kind == first) { first } else { "part" }
}

/// `1 hunk`, `2 hunks`.
pub(super) fn count(number: usize, kind: &str) -> String {
    format!("{number} {kind}{}", if number == 1 { "" } else { "s" })
}

/// Names the hunk in the message of its failure.
pub(super) fn name_failure(failure: &mut FailureReport, parts: &[Part]) {
    let part = failure.edit.and_then(|edit| parts.get(edit - 1));
    if let Some((part, kind)) = part.and_then(|part| Some((part, part.kind()?))) {
        failure.message = format!("{kind} {}: {}", part.number, failure.message);
    }
}

/// Names the hunks in a report of a patch that cannot be applied.
pub(super) fn name_failures(report: &mut Report, parts: &[Part]) {
    report.failures.iter_mut().for_each(|failure| name_failure(failure, parts));
    let is_done = report.status() == Status::AlreadyApplied;
    match &report.failures[..] {
        [] => {}
        [only] if only.edit.is_some() => report.message = format!("`{}`, {}", only.path, only.message),
        [_] => {}
        _ if is_done => report.message = "every part of the patch is in place".into(),
        several => {
            let done = several.iter().filter(|failure| failure.reason == Unplaced::AlreadyApplied).count();
            let failed = several.len() - done + report.more_failures;
            let all = count(parts.len(), common_kind(parts));
            let done = if done > 0 { format!(" ({done} already applied)") } else { String::new() };
            report.message = format!("{failed} of {all} cannot be applied, so nothing was written{done}");
        }
    }
}
