//! Renders `claude` answers.

use super::commands::{self, Command};
use super::{MULTI_EDIT, WRITE};
use slipstitch_core::dialect::{RenderInput, Rendered};
use slipstitch_core::find::Cause;
use slipstitch_core::guard::Refusal;
use slipstitch_core::outcome::{Status, Topic, Unplaced};
use slipstitch_core::report::{Action, FailureReport, Report, plain_text, snippet};

/// Maximum number of matching lines listed in an answer.
const MAX_LINES: usize = 100;

pub(super) fn render(input: &RenderInput<'_>) -> Rendered {
    let report = input.report;
    let mut out = match report.status() {
        Status::Applied => applied(input),
        Status::Shown => return plain_text(report).into(),
        Status::NoChange => {
            vec!["No change: old and new content are identical. Nothing was written.".into()]
        }
        Status::AlreadyApplied => vec![format!("Already applied, nothing was written: {}", report.message)],
        Status::Pending => vec![plain_text(&Report { warnings: Vec::new(), ..report.clone() })],
        Status::WouldApply | Status::Refused | Status::Invalid | Status::Failed => {
            if report.failures.is_empty() { refused(report) } else { failed(input) }
        }
    };
    out.extend(report.warnings.iter().map(|warning| format!("Note: {warning}")));
    out.join("\n").into()
}

fn applied(input: &RenderInput<'_>) -> Vec<String> {
    let report = input.report;
    let Some(file) = report.files.first() else { return vec![report.message.clone()] };
    let path = &file.path;
    let lines = |count: Option<usize>| match count {
        Some(1) => "1 line".into(),
        count => format!("{} lines", count.unwrap_or_default()),
    };
    let command = Command::of(input);
    if command == Some(Command::UndoEdit) {
        // Undoing a change that touched several files restores all of them.
        let names: Vec<String> = report.files.iter().map(|file| file.path.to_string()).collect();
        let mut out = vec![format!("Undid the last change to {}.", names.join(", "))];
        out.extend(changed_lines(report, "The lines around the change are now"));
        return out;
    }
    let whole = input.tool.name == WRITE || command == Some(Command::Create);
    match (file.action, whole) {
        (Action::Created, _) => vec![format!("Created {path} ({}).", lines(file.lines))],
        (_, true) => {
            let before =
                file.edits.first().and_then(|edit| edit.places.first()).map(|place| place.before.count);
            vec![format!("Overwrote {path}: {} before, {} now.", lines(before), lines(file.lines))]
        }
        _ => {
            let places: usize = file.edits.iter().map(|edit| edit.occurrences).sum();
            let first = file.edits.first().and_then(|edit| edit.places.first());
            let place = match first {
                _ if places > 1 => format!(" in {places} places"),
                Some(place) if place.after.count > 0 => format!(" at {}", place.after),
                _ => String::new(),
            };
            let mut out = vec![format!("Edited {path}{place}.")];
            if report.needs_diff() {
                out.extend(changed_lines(report, "The lines around the change are now"));
            }
            out
        }
    }
}

/// The changed lines with their surroundings, below `title`.
fn changed_lines(report: &Report, title: &str) -> Option<String> {
    if report.files.iter().all(|file| file.action == Action::Deleted) {
        return Some("That change had created the file, so it has been deleted.".into());
    }
    let text = snippet(report.diff.as_deref()?);
    if text.is_empty() { Some("The file is now empty.".into()) } else { Some(format!("{title}:\n{text}")) }
}

fn refused(report: &Report) -> Vec<String> {
    let message = match &report.refusal {
        Some(Refusal::Unconfirmed { path }) => {
            format!(
                "old_string is empty, but {path} already has content; an empty old_string only creates files"
            )
        }
        _ => report.message.clone(),
    };
    std::iter::once(format!("Error: {message}")).chain(report.hint.clone()).collect()
}

/// How a tool names the old text, and its option to replace every occurrence.
struct Names {
    old: &'static str,
    all: Option<&'static str>,
}

fn failed(input: &RenderInput<'_>) -> Vec<String> {
    let names = match input.tool.name {
        commands::NAME => Names { old: "old_str", all: None },
        _ => Names { old: "old_string", all: Some("set replace_all") },
    };
    let is_batch = input.tool.name == MULTI_EDIT;
    let mut out = Vec::new();
    for failure in &input.report.failures {
        let edit = match failure.edit.filter(|_| is_batch) {
            Some(edit) => format!("edit {edit}: "),
            None => String::new(),
        };
        out.push(format!("Error: {edit}{}", explain(failure, &names)));
        if failure.reason == Unplaced::NoMatch {
            for candidate in &failure.candidates {
                out.push(format!("{}:", candidate.lines));
                out.extend(candidate.preview.lines().map(|line| format!("    {line}")));
                out.extend(candidate.differences.iter().map(|difference| format!("  {difference}")));
            }
        }
    }
    if input.report.more_failures > 0 {
        out.push(format!("… and {} more edits failed", input.report.more_failures));
    }
    out.push("Nothing was written.".into());
    out
}

fn explain(failure: &FailureReport, names: &Names) -> String {
    let (path, old) = (&failure.path, names.old);
    match (failure.reason.topic(), failure.matches) {
        (Topic::Ambiguous, Some(_)) => {
            let mut distinct = failure.lines.clone();
            distinct.dedup();
            let lines: Vec<String> = distinct.iter().take(MAX_LINES).map(usize::to_string).collect();
            let more = if lines.len() < distinct.len() || failure.has_more_lines() { ", …" } else { "" };
            let word = if lines.len() == 1 { "line" } else { "lines" };
            let all = names.all.map_or(String::new(), |all| format!(", or {all}"));
            let context = "Add surrounding lines until it matches once";
            format!(
                "{old} matches {} in {path}{}, at {word} {}{more}. {context}{all}.{}",
                failure.describe_times(),
                failure.describe_overlap(),
                lines.join(", "),
                failure.describe_landmarks()
            )
        }
        (Topic::NoMatch, _) if failure.cause == Some(Cause::Whitespace) => {
            format!(
                "{old} not found in {path}: the text occurs there with different whitespace. Copy it from here:"
            )
        }
        (Topic::NoMatch, _) if failure.candidates.is_empty() => {
            format!(
                "{old} not found in {path}. Read the file and copy the text from it, without line numbers."
            )
        }
        (Topic::NoMatch, _) => format!("{old} not found in {path}. Closest text:"),
        (Topic::BlankOldText, _) => {
            format!("{}; it must be text from {path}.", failure.message.replace("the old text", old))
        }
        (Topic::FileNotFound, _) => format!("file not found: {path}. {}", failure.hint),
        (Topic::OutOfRange, _) => {
            format!(
                "{path}: {}. Line numbers start at 1; insert_line 0 is the start of the file.",
                failure.message
            )
        }
        (
            Topic::Ambiguous
            | Topic::AlreadyApplied
            | Topic::Displaced
            | Topic::OldTextMissing
            | Topic::FileExists
            | Topic::OutsideRoot
            | Topic::BadRequest
            | Topic::StaleFile
            | Topic::ShrinksFile
            | Topic::RestrictedMode
            | Topic::NotWritable
            | Topic::General,
            _,
        ) => format!("{path}: {}. {}", failure.message, failure.hint),
    }
}
