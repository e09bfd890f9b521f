//! Renders `nexus3` answers.

mod patch;

use serde_json::Value;

use super::{EDIT_LINES, EDIT_LINES_BATCH};
use slipstitch_core::change::{Lines, Place, PlacedEdit};
use slipstitch_core::dialect::{RenderInput, Rendered};
use slipstitch_core::find::Cause;
use slipstitch_core::outcome::{Status, Topic, Unplaced};
use slipstitch_core::report::{FailureReport, Report, plain_text};

/// Maximum number of characters of a quoted string.
const MAX_QUOTED: usize = 60;
/// Maximum number of line numbers listed in an answer.
const MAX_LINES: usize = 12;

pub(super) fn render(input: &RenderInput<'_>) -> Rendered {
    let report = input.report;
    if input.tool.name == super::patch::NAME
        && let Some(out) = patch::render(input)
    {
        return out.join("\n").into();
    }
    let mut out = match report.status() {
        Status::Applied if input.tool.name == EDIT_LINES => lines_replaced(report),
        Status::Applied if input.tool.name == EDIT_LINES_BATCH => line_ranges_replaced(report),
        Status::Applied => strings_replaced(report, &Edits::of(input)),
        _ if report.failures.iter().any(|failure| is_about_text(failure.reason)) => {
            not_replaced(report, &Edits::of(input))
        }
        _ => other(report),
    };
    for warning in &report.warnings {
        out.push(format!("Warning: {warning}"));
    }
    out.join("\n").into()
}

/// The replacements of an `edit_file` call.
struct Edits {
    list: Vec<Value>,
    is_batch: bool,
}

impl Edits {
    fn of(input: &RenderInput<'_>) -> Self {
        let mut fields = input.fields();
        match fields["edits"].take() {
            Value::Array(list) if !list.is_empty() => Self { list, is_batch: true },
            _ => Self { list: vec![fields], is_batch: false },
        }
    }

    fn get(&self, number: usize) -> &Value {
        number.checked_sub(1).and_then(|at| self.list.get(at)).unwrap_or(&Value::Null)
    }

    fn quoted(&self, number: usize) -> String {
        quoted(self.get(number)["old_string"].as_str().unwrap_or_default())
    }
}

/// The string's first non-blank line in quotes, truncated.
fn quoted(text: &str) -> String {
    let mut lines = text.lines();
    let before = lines.by_ref().take_while(|line| line.trim().is_empty()).count();
    let line = text.lines().nth(before).unwrap_or_default();
    let cut: String = line.chars().take(MAX_QUOTED).collect();
    let start = if before > 0 { "…" } else { "" };
    let more = cut.len() < line.len() || text.trim_end().lines().count() > before + 1;
    format!("\"{start}{cut}{}\"", if more { "…" } else { "" })
}

fn path(report: &Report) -> String {
    report.files.first().map_or(String::new(), |file| file.path.to_string())
}

fn strings_replaced(report: &Report, edits: &Edits) -> Vec<String> {
    let path = path(report);
    let placed: &[PlacedEdit] = report.files.first().map_or(&[], |file| &file.edits);
    let what = |edit: &PlacedEdit| {
        let times = if edit.occurrences > 1 { format!(" {} times", edit.occurrences) } else { String::new() };
        (format!("Replaced {}{times}", edits.quoted(edit.edit)), format!("({})", original_lines(edit)))
    };
    if !edits.is_batch {
        let lines = placed.iter().map(what).map(|(what, lines)| format!("{what} in {path} {lines}"));
        return lines.collect();
    }
    numbered(&path, placed, |edit| {
        let (what, lines) = what(edit);
        format!("{what} {lines}")
    })
}

/// A headline and one line for each edit of a batch.
fn numbered(path: &str, placed: &[PlacedEdit], describe: impl Fn(&PlacedEdit) -> String) -> Vec<String> {
    let count = if placed.len() == 1 { "1 edit".into() } else { format!("{} edits", placed.len()) };
    let mut out = vec![format!("Applied {count} to {path}:")];
    out.extend(placed.iter().map(|edit| format!("  {}. {}", edit.edit, describe(edit))));
    out
}

/// The lines that an edit replaced, numbered as in the original file.
fn original_lines(edit: &PlacedEdit) -> String {
    let mut numbers: Vec<usize> = edit.places.iter().map(|place| place.before.start).collect();
    numbers.dedup();
    line_list(&numbers, edit.occurrences > edit.places.len())
}

fn line_list(numbers: &[usize], more: bool) -> String {
    let word = if numbers.len() == 1 && !more { "line" } else { "lines" };
    let shown: Vec<String> = numbers.iter().take(MAX_LINES).map(usize::to_string).collect();
    let rest = if more || numbers.len() > MAX_LINES { ", …" } else { "" };
    format!("{word} {}{rest}", shown.join(", "))
}

fn lines_replaced(report: &Report) -> Vec<String> {
    let path = path(report);
    let Some(place) = report.files.first().and_then(|file| file.edits.first()?.places.first()) else {
        return vec![report.message.clone()];
    };
    let Lines { count: before, .. } = place.before;
    let after = place.after.count;
    let what = describe_lines(place, &format!(" of {path}"));
    let shift = match after.checked_sub(before) {
        Some(0) => String::new(),
        Some(added) => format!(" (line numbers below increased by {added})"),
        None => format!(" (line numbers below decreased by {})", before - after),
    };
    vec![what + &shift]
}

fn describe_lines(place: &Place, of: &str) -> String {
    match place.after.count {
        0 => format!("Deleted {}{of}", place.before),
        1 => format!("Replaced {}{of} with 1 line", place.before),
        count => format!("Replaced {}{of} with {count} lines", place.before),
    }
}

/// The ranges that a batch replaced, numbered as in the original file.
fn line_ranges_replaced(report: &Report) -> Vec<String> {
    let mut placed = report.files.first().map_or(Vec::new(), |file| file.edits.clone());
    placed.sort_by_key(|edit| edit.edit);
    numbered(&path(report), &placed, |edit| {
        edit.places.first().map_or(String::new(), |place| describe_lines(place, ""))
    })
}

/// Whether the dialect has its own message for this failure.
fn is_about_text(reason: Unplaced) -> bool {
    match reason.topic() {
        Topic::NoMatch
        | Topic::AlreadyApplied
        | Topic::Ambiguous
        | Topic::Displaced
        | Topic::BlankOldText => true,
        Topic::OldTextMissing
        | Topic::OutOfRange
        | Topic::FileNotFound
        | Topic::FileExists
        | Topic::OutsideRoot
        | Topic::BadRequest
        | Topic::StaleFile
        | Topic::ShrinksFile
        | Topic::RestrictedMode
        | Topic::NotWritable
        | Topic::General => false,
    }
}

fn not_replaced(report: &Report, edits: &Edits) -> Vec<String> {
    let mut out = vec![if edits.is_batch {
        "Batch edit failed (no changes made):".to_owned()
    } else {
        "Edit failed (no changes made):".to_owned()
    }];
    for failure in &report.failures {
        let reason = explain(failure, edits);
        out.push(match failure.edit.filter(|_| edits.is_batch) {
            Some(edit) => format!("  Edit {edit}: {reason}"),
            None => format!("  {reason}"),
        });
    }
    if report.more_failures > 0 {
        out.push(format!("  … and {} more edits failed", report.more_failures));
    }
    for failure in &report.failures {
        push_details(failure, edits.is_batch, &mut out);
    }
    out
}

fn explain(failure: &FailureReport, edits: &Edits) -> String {
    let edit = failure.edit.unwrap_or_default();
    let quoted = edits.quoted(edit);
    let all = edits.get(edit)["replace_all"] == true;
    match (failure.reason.topic(), failure.matches) {
        (Topic::Displaced, Some(times)) if all => format!(
            "{quoted} appears {} after the previous edits, not as often as in the file before the call. Combine the edits, or \
             reorder them.",
            if times == 1 { "1 time".to_owned() } else { format!("{times} times") }
        ),
        (Topic::Displaced, Some(times)) => {
            format!("{quoted} appears {times} times after the previous edits. Provide more context.")
        }
        (Topic::Displaced, None) => format!("{quoted} not found in file after the previous edits"),
        // `replace_all` would be refused as well.
        (Topic::Ambiguous, Some(_)) if all || failure.overlapping > 0 => {
            let (times, overlap) = (failure.describe_times(), failure.describe_overlap());
            format!("{quoted} appears {times}{overlap}. Provide more context.")
        }
        (Topic::Ambiguous, Some(times)) => {
            format!("{quoted} appears {times} times. Use replace_all=true or provide more context.")
        }
        (Topic::NoMatch | Topic::AlreadyApplied, _) => format!("{quoted} not found in file"),
        (Topic::BlankOldText, _) => {
            failure.message.replace("the old text", "old_string") + ". Give the text to replace."
        }
        (
            Topic::Ambiguous
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
            _,
        ) => failure.message.clone(),
    }
}

/// Appends what helps to fix a failed edit: the matching lines, or the closest text.
fn push_details(failure: &FailureReport, is_batch: bool, out: &mut Vec<String>) {
    let which = match failure.edit.filter(|_| is_batch) {
        Some(edit) => format!("Edit {edit}: "),
        None => String::new(),
    };
    if !failure.lines.is_empty() {
        let more = failure.has_more_lines();
        let mut lines = failure.lines.clone();
        lines.dedup();
        // These are not lines of the original file, which all other line numbers refer to.
        let when = if failure.reason.topic() == Topic::Displaced { " after the previous edits" } else { "" };
        out.push(format!("{which}found at {}{when}.", line_list(&lines, more)));
    }
    // With several matches, the line numbers are enough.
    for candidate in failure.candidates.iter().filter(|_| failure.matches.is_none()) {
        let what = match failure.cause {
            Some(Cause::AlreadyApplied) => "the new text is already at",
            Some(Cause::Whitespace) => "found with different whitespace at",
            _ => "the closest text is at",
        };
        out.push(format!("{which}{what} {}:", candidate.lines));
        out.extend(candidate.preview.lines().map(|line| format!("    {line}")));
        out.extend(candidate.differences.iter().map(|difference| format!("  {difference}")));
    }
}

/// Renders outcomes other than missing or ambiguous text.
fn other(report: &Report) -> Vec<String> {
    let topic = report.outcome.topic();
    let hint = match topic {
        Some(Topic::FileNotFound) => Some("Check the path: this tool only changes existing files."),
        Some(Topic::ShrinksFile) => Some(
            "If old_string contains more than should be replaced, shorten it. To remove whole lines, use edit_lines.",
        ),
        Some(
            Topic::NoMatch
            | Topic::Ambiguous
            | Topic::AlreadyApplied
            | Topic::Displaced
            | Topic::BlankOldText
            | Topic::OldTextMissing
            | Topic::OutOfRange
            | Topic::FileExists
            | Topic::OutsideRoot
            | Topic::BadRequest
            | Topic::StaleFile
            | Topic::RestrictedMode
            | Topic::NotWritable
            | Topic::General,
        )
        | None => report.hint.as_deref(),
    };
    match report.status() {
        Status::Invalid | Status::Refused | Status::Failed => {
            let message = if topic == Some(Topic::BadRequest) {
                report.message.clone()
            } else {
                format!("Error: {}", report.message)
            };
            let lines = std::iter::once(message).chain(report.did_you_mean());
            lines.chain(hint.map(str::to_owned)).collect()
        }
        Status::Applied
        | Status::WouldApply
        | Status::NoChange
        | Status::AlreadyApplied
        | Status::Shown
        | Status::Pending => {
            vec![plain_text(&Report { warnings: Vec::new(), files: Vec::new(), ..report.clone() })]
        }
    }
}
