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
    /// `hunk` or `block`; `None` for an operation on the whole file.
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

/// The kind of all parts, if they are of one kind.
fn common_kind(parts: &[Part]) -> Option<&'static str> {
    let first = parts.first()?.kind();
    first.filter(|_| parts.iter().all(|part| part.kind() == first))
}

/// Counts some of the parts: `2 of 3 hunks`. If there are several kinds, the total is left out: `2 parts`.
pub(super) fn some_of(number: usize, parts: &[Part]) -> String {
    let count = |number: usize, kind: &str| format!("{number} {kind}{}", if number == 1 { "" } else { "s" });
    match common_kind(parts) {
        Some(kind) => format!("{number} of {}", count(parts.len(), kind)),
        None => count(number, "part"),
    }
}

/// Puts the number of the hunk or block in front of the failure's message, if it is about one.
pub(super) fn name_failure(failure: &mut FailureReport, parts: &[Part]) {
    if let Some((part, kind)) = failed_hunk(failure, parts) {
        failure.message = format!("{kind} {}: {}", part.number, failure.message);
    }
}

fn failed_hunk<'p>(failure: &FailureReport, parts: &'p [Part]) -> Option<(&'p Part, &'static str)> {
    let part = parts.get(failure.edit?.checked_sub(1)?)?;
    Some((part, part.kind()?))
}

/// Names the hunks in a report of a patch that cannot be applied.
pub(super) fn name_failures(report: &mut Report, parts: &[Part]) {
    report.failures.iter_mut().for_each(|failure| name_failure(failure, parts));
    let is_done = report.status() == Status::AlreadyApplied;
    match &report.failures[..] {
        [] => {}
        [only] if failed_hunk(only, parts).is_some() => {
            report.message = format!("`{}`, {}", only.path, only.message)
        }
        [_] => {}
        _ if is_done => report.message = "every part of the patch is in place".into(),
        several => {
            let done = several.iter().filter(|failure| failure.reason == Unplaced::AlreadyApplied).count();
            let failed = several.len() - done + report.more_failures;
            if failed == 0 {
                let done = some_of(done, parts);
                report.message = format!("{done} are already applied, so nothing was written");
                report.hint = Some("`--reject` applies the others.".into());
                return;
            }
            let done = if done > 0 { format!(" ({done} already applied)") } else { String::new() };
            report.message =
                format!("{} cannot be applied, so nothing was written{done}", some_of(failed, parts));
        }
    }
}
