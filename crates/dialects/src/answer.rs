//! Answers of the tools that other hosts have: one short sentence for each file, and the diagnosis if there is none.

use slipstitch_core::change::{Place, PlacedEdit, Rung};
use slipstitch_core::dialect::{RenderInput, Rendered};
use slipstitch_core::outcome::Status;
use slipstitch_core::report::{Action, FileReport, diff_for_model, plain_text};

/// How many places are named in a sentence.
const MAX_PLACES: usize = 3;

/// Renders what happened. A change that is not exactly what was asked for is shown as a diff, and so is an undo, whose
/// caller has not sent the text.
pub(crate) fn render(input: &RenderInput<'_>) -> Rendered {
    let report = input.report;
    if report.status() != Status::Applied {
        return plain_text(report).into();
    }
    let mut out: Vec<String> = report.files.iter().map(describe_change).collect();
    out.extend(report.warnings.iter().map(|warning| format!("Note: {warning}")));
    let is_unknown = |file: &FileReport| {
        let is_undo = file.action == Action::Modified && file.edits.is_empty();
        is_undo || file.edits.iter().any(|edit| edit.rung > Rung::Exact)
    };
    if report.files.iter().any(is_unknown)
        && let Some(diff) = &report.diff
    {
        out.push(diff_for_model(diff));
    }
    out.join("\n").into()
}

/// What happened to a file, in a sentence.
pub(crate) fn describe_change(file: &FileReport) -> String {
    let path = &file.path;
    let lines = match file.lines {
        Some(1) => " (1 line)".into(),
        Some(count) => format!(" ({count} lines)"),
        None => String::new(),
    };
    match (file.action, &file.moved_to) {
        (Action::Created, _) => format!("Created {path}{lines}."),
        (Action::Deleted, _) => format!("Deleted {path}."),
        (Action::Moved, Some(to)) => format!("Moved {path} to {to}."),
        _ if is_overwritten(file) => format!("Overwrote {path}{lines}."),
        _ => format!("Edited {path}{}.", describe_places(&file.edits)),
    }
}

/// Whether the whole file was replaced by one operation.
fn is_overwritten(file: &FileReport) -> bool {
    let [PlacedEdit { rung: Rung::Stated, places, .. }] = &file.edits[..] else { return false };
    matches!(&places[..], [place] if place.before.start == 1 && Some(place.after.count) == file.lines)
}

fn describe_places(edits: &[PlacedEdit]) -> String {
    let occurrences: usize = edits.iter().map(|edit| edit.occurrences).sum();
    let places: Vec<String> =
        edits.iter().flat_map(|edit| &edit.places).take(MAX_PLACES + 1).map(describe_place).collect();
    match places.len() {
        0 => String::new(),
        1..=MAX_PLACES if occurrences == places.len() => format!(", {}", places.join(", ")),
        _ => format!(" in {occurrences} places"),
    }
}

/// The lines of a place now; where lines were only removed, the line that follows.
fn describe_place(place: &Place) -> String {
    match place.after.count {
        0 => format!("at line {}", place.after.start),
        _ => place.after.to_string(),
    }
}
