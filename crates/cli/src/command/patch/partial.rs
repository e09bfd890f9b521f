//! `--reject` and `--3way`: apply what can be applied, and leave the rest in `.rej` files or between conflict markers.
//!
//! Everything is still one change: `slipstitch undo` takes back the hunks, the markers and the `.rej` files together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use slipstitch::Workspace;
use slipstitch::core::outcome::Unplaced;
use slipstitch::core::patch::{Hunk, Role};
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::{EditPlan, FilePlan, IfMissing, LineRange, Operation, Plan, Run};
use slipstitch::core::report::{FailureReport, Report};
use slipstitch::core::snapshot::{FileContent, Meta, Snapshot};
use slipstitch::core::text::EncodingRule;
use slipstitch::os_path::text_to_path;

use super::hunks::{self, Part, parts};

/// Conflict markers around the file's text, the text that the patch expects, and its new text.
const MARKERS: [&str; 4] =
    ["<<<<<<< file\n", "||||||| expected by the patch\n", "=======\n", ">>>>>>> patch\n"];

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
    /// One for each hunk that could not be applied.
    notes: Vec<Note>,
    /// How many of the parts are left.
    left: usize,
    parts: Vec<Part>,
}

/// What became of a hunk that could not be applied.
enum Note {
    /// It is not in the file.
    Elsewhere(String),
    /// It is written between conflict markers, by this operation of the file's plan.
    Marked { path: FilePath, operation: usize, message: String },
}

impl PartialPlan {
    /// One line for each hunk that could not be applied, with the line numbers of the changed files.
    pub(super) fn describe_leftovers(&self, report: &Report) -> Vec<String> {
        let line_of = |path: &FilePath, operation: usize| {
            let file = report.files.iter().find(|file| file.path == *path)?;
            Some(file.edits.get(operation)?.places.first()?.after.start)
        };
        let describe = |note: &Note| match note {
            Note::Elsewhere(text) => text.clone(),
            Note::Marked { path, operation, message } => {
                let line = line_of(path, *operation).map_or(String::new(), |line| format!(" at line {line}"));
                format!("`{path}`: conflict markers{line}: {message}")
            }
        };
        self.notes.iter().map(describe).collect()
    }

    /// How much of the patch is left to do; `None` if all of it is in place.
    pub(super) fn describe_progress(&self) -> Option<String> {
        let verb = if self.left == 1 { "is" } else { "are" };
        (self.left > 0).then(|| format!("{} {verb} left", hunks::some_of(self.left, &self.parts)))
    }
}

/// Makes a plan without the failures of `report`; `None` if there is nothing to leave out.
pub(super) fn without_failures(
    plan: &EditPlan,
    report: &Report,
    leftovers: Leftovers,
    workspace: &Workspace,
) -> Option<PartialPlan> {
    let parts = parts(plan);
    let failures = all_failures(plan, report, &parts, workspace);
    let failed: BTreeMap<usize, &FailureReport> =
        failures.iter().filter_map(|failure| Some((failure.edit?, failure))).collect();
    let is_whole_file =
        |failure: &&FailureReport| failure.edit.is_none() && failure.reason == Unplaced::AlreadyApplied;
    let done: Vec<&FailureReport> = failures.iter().filter(is_whole_file).collect();
    // Other failures of whole files cannot be left out.
    if failed.len() + done.len() < failures.len() || failures.is_empty() {
        return None;
    }
    let (mut rejected, mut notes): (BTreeMap<String, String>, Vec<Note>) = (BTreeMap::new(), Vec::new());
    let mut left = 0;
    let mut files = Vec::new();
    let mut number = 0;
    for file in &plan.files {
        if let Some(failure) = done.iter().find(|failure| failure.path == file.path) {
            notes.push(Note::Elsewhere(format!("`{}`: {}", file.path, failure.message)));
            number += file.operations.len();
            continue;
        }
        let mut operations = Vec::new();
        for operation in &file.operations {
            number += 1;
            let Some(failure) = failed.get(&number) else {
                operations.push(operation.clone());
                continue;
            };
            if failure.reason == Unplaced::AlreadyApplied {
                notes.push(Note::Elsewhere(format!("`{}`: {}", file.path, failure.message)));
                continue;
            }
            let part = &parts[number - 1];
            left += 1;
            let conflict = match leftovers {
                Leftovers::Conflict => conflict(part, failure, workspace),
                Leftovers::Reject => None,
            };
            match conflict {
                Some(operation) => {
                    let (path, message) = (file.path.clone(), failure.message.clone());
                    notes.push(Note::Marked { path, operation: operations.len(), message });
                    operations.push(operation);
                }
                None => {
                    let name = format!("{}.rej", file.path);
                    let text = format!("`{}`, left in `{name}`: {}", file.path, failure.message);
                    notes.push(Note::Elsewhere(text));
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
    Some(PartialPlan { plan: EditPlan { files, ..plan.clone() }, notes, left, parts })
}

/// Everything that cannot be applied. A report lists only the first failures, so the rest of the plan is tried again without
/// them.
fn all_failures(
    plan: &EditPlan,
    report: &Report,
    parts: &[Part],
    workspace: &Workspace,
) -> Vec<FailureReport> {
    let mut failures = report.failures.clone();
    let mut more = report.more_failures;
    while more > 0 {
        let failed: BTreeSet<usize> = failures.iter().filter_map(|failure| failure.edit).collect();
        let mut numbers = Vec::new();
        let mut number = 0;
        let mut without_failed = |file: &FilePlan| {
            let mut operations = file.operations.clone();
            operations.retain(|_| {
                number += 1;
                let is_left = !failed.contains(&number);
                numbers.extend(is_left.then_some(number));
                is_left
            });
            FilePlan { operations, ..file.clone() }
        };
        let mut files: Vec<FilePlan> = plan.files.iter().map(&mut without_failed).collect();
        files.retain(|file| !file.operations.is_empty());
        let rest = workspace.run(Plan::Edit(EditPlan { files, run: Run::Dry, ..plan.clone() }), "patch");
        if rest.failures.is_empty() {
            break;
        }
        more = rest.more_failures;
        failures.extend(rest.failures.into_iter().map(|mut failure| {
            failure.edit = failure.edit.and_then(|edit| numbers.get(edit - 1).copied());
            hunks::name_failure(&mut failure, parts);
            failure
        }));
    }
    failures
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

/// An operation that puts a hunk at its closest place, between markers. As in Git, lines at the start and the end that all
/// sides have in common stay outside.
fn conflict(part: &Part, failure: &FailureReport, workspace: &Workspace) -> Option<Operation> {
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
    let bytes = std::fs::read(Path::new(workspace.root()).join(text_to_path(part.path.as_str()))).ok()?;
    let file =
        Snapshot::new(FileContent { bytes: bytes.into(), meta: Meta::default() }, EncodingRule::Detect);
    if place.start == 0 || place.start + place.count > file.line_count() + 1 {
        return None;
    }
    let lines = place.start..place.start + place.count;
    let now: Vec<String> = lines.map(|line| file.line(line).into_owned()).collect();
    let now: Vec<&str> = now.iter().map(String::as_str).collect();
    // A conflict left by an earlier run has to be resolved first.
    let is_marker = |line: &&str| [MARKERS[0], MARKERS[3]].iter().any(|marker| marker.trim_end() == *line);
    if now.iter().any(is_marker) {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let (head, tail) = common_ends([&now, &old, &new]);
    let inner = |side: &[&str]| -> String {
        side[head..side.len() - tail].iter().map(|line| format!("{line}\n")).collect()
    };
    let (first, count) = (place.start + head, now.len() - head - tail);
    let [start, base, middle, end] = MARKERS;
    let new = format!("{start}{}{base}{}{middle}{}{end}", inner(&now), inner(&old), inner(&new));
    let lines = LineRange { first, last: first + count.max(1) - 1 };
    Some(Operation::ReplaceLines { lines, new, expect: None })
}

/// How many lines all sides have in common at the start and at the end. At least one line of the first side is left for the
/// markers to replace.
fn common_ends(sides: [&[&str]; 3]) -> (usize, usize) {
    let shortest = sides.iter().map(|side| side.len()).min().unwrap_or_default();
    let room = shortest.min(sides[0].len().saturating_sub(1));
    let [now, old, new] = sides;
    let head = (0..room).take_while(|&at| now[at] == old[at] && now[at] == new[at]).count();
    let from_end = |side: &[&'_ str], at: usize| side[side.len() - 1 - at].to_owned();
    let is_common =
        |&at: &usize| from_end(now, at) == from_end(old, at) && from_end(now, at) == from_end(new, at);
    let tail = (0..room - head).take_while(is_common).count();
    (head, tail)
}

#[cfg(test)]
mod tests {
    use super::common_ends;

    #[test]
    fn common_lines_stay_outside_of_the_markers() {
        assert_eq!(common_ends([&["a", "X", "c"], &["a", "b", "c"], &["a", "B", "c"]]), (1, 1));
        assert_eq!(common_ends([&["a", "a"], &["a"], &["a", "a", "a"]]), (1, 0));
        assert_eq!(common_ends([&["a"], &["a", "b"], &["a", "c"]]), (0, 0), "a line is left to replace");
        assert_eq!(common_ends([&["x"], &[], &["y"]]), (0, 0));
    }
}
