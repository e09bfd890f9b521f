//! `--reject` and `--3way`: apply what can be applied, and leave the rest in `.rej` files or between conflict markers.
//!
//! Everything is still one change: `slipstitch undo` takes back the hunks, the markers and the `.rej` files together.

use std::collections::BTreeMap;
use std::path::Path;

use slipstitch::Workspace;
use slipstitch::core::outcome::Unplaced;
use slipstitch::core::patch::{Hunk, Role};
use slipstitch::core::plan::{EditPlan, FilePlan, IfMissing, LineRange, Operation};
use slipstitch::core::report::{FailureReport, Report};
use slipstitch::os_path::text_to_path;

use super::hunks::{Part, parts};

/// What happens to hunks that cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leftovers {
    /// They are written to `.rej` files.
    Reject,
    /// They are left at the closest place, between conflict markers; without one, in `.rej` files.
    Conflict,
}

/// A plan for what can be applied, and what becomes of the rest.
pub(super) struct PartialPlan {
    pub(super) plan: EditPlan,
    /// One line for each hunk that could not be applied.
    pub(super) notes: Vec<String>,
}

/// Makes a plan without the failures of `report`; `None` if there is nothing to leave out.
pub(super) fn without_failures(
    plan: &EditPlan,
    report: &Report,
    leftovers: Leftovers,
    workspace: &Workspace,
) -> Option<PartialPlan> {
    let failed: BTreeMap<usize, &FailureReport> =
        report.failures.iter().filter_map(|failure| Some((failure.edit?, failure))).collect();
    if failed.is_empty() {
        return None;
    }
    let parts = parts(plan);
    let (mut rejected, mut notes): (BTreeMap<String, String>, Vec<String>) = (BTreeMap::new(), Vec::new());
    let mut files = Vec::new();
    let mut number = 0;
    for file in &plan.files {
        let mut operations = Vec::new();
        for operation in &file.operations {
            number += 1;
            let Some(failure) = failed.get(&number) else {
                operations.push(operation.clone());
                continue;
            };
            if failure.reason == Unplaced::AlreadyApplied {
                notes.push(format!("`{}`: {}", file.path, failure.message));
                continue;
            }
            let part = &parts[number - 1];
            let conflict = match leftovers {
                Leftovers::Conflict => conflict(part, failure, workspace),
                Leftovers::Reject => None,
            };
            match conflict {
                Some((operation, line)) => {
                    notes.push(format!(
                        "`{}`: conflict markers at line {line}: {}",
                        file.path, failure.message
                    ));
                    operations.push(operation);
                }
                None => {
                    let name = format!("{}.rej", file.path);
                    notes.push(format!("`{}`, left in `{name}`: {}", file.path, failure.message));
                    let head = || match operation {
                        Operation::Replace { .. } => format!("{}\n", file.path),
                        _ => format!("--- {}\n+++ {}\n", file.path, file.path),
                    };
                    rejected.entry(name).or_insert_with(head).push_str(&render(operation)?);
                }
            }
        }
        if !operations.is_empty() {
            files.push(FilePlan { operations, ..file.clone() });
        }
    }
    for (name, content) in rejected {
        let path = workspace.path(&name).ok()?;
        let operation = Operation::Overwrite { content, if_missing: IfMissing::Create };
        files.push(FilePlan { path, version: None, operations: vec![operation] });
    }
    Some(PartialPlan { plan: EditPlan { files, ..plan.clone() }, notes })
}

/// A hunk or a block as text that can be applied by hand; `None` for anything else.
fn render(operation: &Operation) -> Option<String> {
    match operation {
        Operation::Hunk(hunk) => Some(render_hunk(hunk)),
        Operation::Replace { old, new, .. } => {
            let ended = |text: &str| {
                if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
            };
            Some(format!("<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n", ended(old), ended(new)))
        }
        _ => None,
    }
}

fn render_hunk(hunk: &Hunk) -> String {
    let count = |keep: fn(Role) -> bool| hunk.lines.iter().filter(|line| keep(line.role)).count();
    let mut text = match hunk.line {
        Some(line) => {
            format!("@@ -{line},{} +{line},{} @@\n", count(Role::is_old), count(Role::is_new))
        }
        None => "@@\n".to_owned(),
    };
    for line in &hunk.lines {
        let sign = match line.role {
            Role::Context => ' ',
            Role::Removed => '-',
            Role::Added => '+',
        };
        text.push_str(&format!("{sign}{}\n", line.text));
        if !line.newline {
            text.push_str("\\ No newline at end of file\n");
        }
    }
    text
}

/// An operation that puts a hunk at its closest place, between markers, and the line of the first marker.
fn conflict(part: &Part, failure: &FailureReport, workspace: &Workspace) -> Option<(Operation, usize)> {
    let (old, new) = match &part.operation {
        Operation::Hunk(hunk) => {
            let text = |keep: fn(Role) -> bool| -> String {
                let lines = hunk.lines.iter().filter(|line| keep(line.role));
                lines.map(|line| format!("{}\n", line.text)).collect()
            };
            (text(Role::is_old), text(Role::is_new))
        }
        Operation::Replace { old, new, .. } => {
            (format!("{}\n", old.trim_end_matches('\n')), format!("{}\n", new.trim_end_matches('\n')))
        }
        _ => return None,
    };
    let place = failure.candidates.first()?.lines;
    let file =
        std::fs::read_to_string(Path::new(workspace.root()).join(text_to_path(part.path.as_str()))).ok()?;
    let now: String = file
        .lines()
        .skip(place.start.checked_sub(1)?)
        .take(place.count)
        .map(|line| format!("{line}\n"))
        .collect();
    let new = format!("<<<<<<< file\n{now}||||||| expected by the patch\n{old}=======\n{new}>>>>>>> patch\n");
    let lines = LineRange { first: place.start, last: place.start + place.count.max(1) - 1 };
    Some((Operation::ReplaceLines { lines, new, expect: None }, place.start))
}
