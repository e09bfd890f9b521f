//! Renders the outcome of a diff: applied, failed hunk by hunk, or dry run.

use super::line_list;
use slipstitch_core::dialect::RenderInput;
use slipstitch_core::outcome::{Status, Topic, Unplaced};
use slipstitch_core::report::{Action, FailureReport, Report};

/// Maximum number of failed hunks listed in an answer.
const MAX_FAILURES: usize = 50;

/// The lines of the answer; `None` for outcomes that all tools render alike.
pub(super) fn render(input: &RenderInput<'_>) -> Option<Vec<String>> {
    let report = input.report;
    let argument =
        ["target", "path"].map(|name| input.argument(name)).into_iter().find(|name| !name.is_empty());
    let file = report.files.first().map(|file| file.path.to_string());
    let path = file.unwrap_or_else(|| argument.unwrap_or_default().to_owned());
    let mut out = match report.status() {
        Status::Applied => vec![format!("Applied patch to {path}: {}", summarize(report, Tense::Done))],
        Status::WouldApply => {
            vec![
                "Dry run - no changes made:".into(),
                format!("  {path}: {}", summarize(report, Tense::Would)),
            ]
        }
        Status::AlreadyApplied => vec![format!("Patch is already applied to {path}: no changes made")],
        Status::NoChange => vec![format!("Patch changes nothing in {path}: no changes made")],
        _ if report
            .failures
            .iter()
            .any(|failure| failure.edit.is_some() && failure.reason != Unplaced::FileNotFound) =>
        {
            failed(input, &path, if is_dry_run(input) { Tense::Would } else { Tense::Done })
        }
        _ => return None,
    };
    out.extend(report.warnings.iter().map(|warning| format!("  Warning: {warning}")));
    Some(out)
}

/// Whether nothing would have been written even if every hunk had applied.
fn is_dry_run(input: &RenderInput<'_>) -> bool {
    input.fields()["dry_run"] == true
}

/// Whether a summary reports what was written, or what a dry run would write.
#[derive(Clone, Copy)]
enum Tense {
    Done,
    Would,
}

impl Tense {
    fn pick(self, done: &'static str, would: &'static str) -> &'static str {
        match self {
            Self::Done => done,
            Self::Would => would,
        }
    }
}

/// The number of hunks, or the creation or deletion of the file.
fn summarize(report: &Report, tense: Tense) -> String {
    let verb = tense.pick("applied", "would apply");
    let Some(file) = report.files.first() else { return verb.to_owned() };
    match (file.action, file.edits.len()) {
        (Action::Created, _) => format!("the file {}", tense.pick("was created", "would be created")),
        (Action::Deleted, _) => format!("the file {}", tense.pick("was deleted", "would be deleted")),
        (_, 1) => format!("1 hunk {verb}"),
        (_, count) => format!("{count} hunks {verb}"),
    }
}

fn failed(input: &RenderInput<'_>, path: &str, tense: Tense) -> Vec<String> {
    let report = input.report;
    let failing: Vec<usize> = report.failures.iter().filter_map(|failure| failure.edit).collect();
    let mut out = match tense {
        Tense::Done => vec![format!("Patch failed on {path}:")],
        Tense::Would => vec!["Dry run - no changes made:".into(), format!("  {path}: the patch would fail")],
    };
    let mut next = 1;
    for failure in report.failures.iter().take(MAX_FAILURES) {
        let number = failure.edit.unwrap_or(next);
        // The deletion comes after the last hunk, and is none itself.
        if failure.reason == Unplaced::ContentDiffers {
            out.extend(applied_hunks(next, number, tense));
            out.push(format!("  {}", describe_deletion(path)));
            next = report.edits + 1;
            continue;
        }
        out.extend(applied_hunks(next, number, tense));
        out.extend(explain(number, failure));
        out.extend(removed_line_note(input, failure).map(str::to_owned));
        next = number + 1;
    }
    let more = failing.len().saturating_sub(MAX_FAILURES) + report.more_failures;
    if more > 0 {
        out.push(format!("  … and {more} more hunks failed"));
    } else {
        out.extend(applied_hunks(next, report.edits + 1, tense));
    }
    if let Tense::Done = tense {
        out.push("No changes made (atomic rollback).".into());
    }
    out
}

/// Why a file is not deleted by a diff that leaves some of its lines.
fn describe_deletion(path: &str) -> String {
    format!(
        "The diff deletes {path}, but its hunks do not remove every line. Read the file again and send a diff that removes \
         all of them; to remove only these, give {path} after `+++` instead of /dev/null."
    )
}

/// Lists the hunks from number `from` up to but excluding `to` as applied.
fn applied_hunks(from: usize, to: usize, tense: Tense) -> Option<String> {
    let verb = tense.pick("applied", "would apply");
    match to.saturating_sub(from) {
        0 => None,
        1 => Some(format!("  Hunk {from}: {verb}")),
        _ => Some(format!("  Hunks {from}-{}: {verb}", to - 1)),
    }
}

/// In fuzzy mode, says if it is a removed line that differs: similarity does not help then.
fn removed_line_note(input: &RenderInput<'_>, failure: &FailureReport) -> Option<&'static str> {
    (input.argument("mode") == "fuzzy" && failure.is_removed_line)
        .then_some("    The diff removes this line, so it must match the file whatever the threshold is.")
}

fn explain(number: usize, failure: &FailureReport) -> Vec<String> {
    let mut out = Vec::new();
    let mut head = |text: String| out.push(format!("  Hunk {number} failed: {text}"));
    match (failure.reason.topic(), failure.line, &failure.expected) {
        (Topic::NoMatch, line, Some(expected)) => {
            match line {
                Some(line) => head(format!("context mismatch at line {line}")),
                None => head("context not found in file".into()),
            }
            out.push(format!("    Expected: \"{expected}\""));
            out.push(match (&failure.found, line) {
                (Some(found), _) => format!("    Found:    \"{found}\""),
                (None, Some(_)) => "    Found:    end of file".into(),
                (None, None) => return out,
            });
        }
        (Topic::Ambiguous, ..) => {
            let more = failure.has_more_lines();
            head(format!("context matches at {}; add more context", line_list(&failure.lines, more)));
        }
        (Topic::AlreadyApplied, ..) => head("already applied".into()),
        (
            Topic::NoMatch
            | Topic::Displaced
            | Topic::BlankOldText
            | Topic::OldTextMissing
            | Topic::OutOfRange
            | Topic::FileNotFound
            | Topic::FileExists
            | Topic::OutsideRoot
            | Topic::BadRequest
            | Topic::StaleFile
            | Topic::ShrinksFile
            | Topic::RestrictedMode
            | Topic::NotWritable
            | Topic::General,
            ..,
        ) => head(failure.message.clone()),
    }
    out
}
