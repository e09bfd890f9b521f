//! What the dialect's answers say. An error has its short form first, then the long one.

use super::{EDIT_FILE, LIST_DIRECTORY, PROPOSE_FILE_EDIT};
use slipstitch_core::change::{Lines, Place};
use slipstitch_core::dialect::{Effect, RenderInput, Rendered};
use slipstitch_core::outcome::{Failed, Invalid, Outcome, Refused, Status, Unplaced};
use slipstitch_core::report::{Report, plain_text};

/// How much of a string that was not found an answer repeats.
const MAX_SEARCHED: usize = 200;
/// How many lines of each side a mini diff shows, and how much of a line.
const MAX_LINES: usize = 10;
const MAX_LINE: usize = 200;

pub(super) fn render(told: &RenderInput<'_>) -> Rendered {
    let report = told.report;
    let mut out = match (report.status(), report.proposal) {
        (Status::Shown, _) => return plain_text(report).into(),
        (Status::Applied, _) => applied(told),
        (Status::NoChange, _) => {
            format!("No change to {}: the result is the same. Nothing was written.", told.argument("path"))
        }
        (_, Some(_)) => waits(told),
        _ => error(told),
    };
    for warning in &report.warnings {
        out.push_str(&format!("\nWarning: {warning}"));
    }
    out.into()
}

fn applied(told: &RenderInput<'_>) -> String {
    let mut out = format!("✓ Edit applied to {}\n\n{}", told.argument("path"), change(told));
    let places = told.report.files.iter().flat_map(|file| &file.edits).flat_map(|edit| &edit.places);
    if let Some(Lines { start, count }) = places.map(affected).next() {
        out.push_str(&format!("Lines affected: {start}-{}\n", start + count.max(1) - 1));
    }
    out + &mini_diff(told)
}

/// The lines that came; where none did, those that went.
fn affected(place: &Place) -> Lines {
    if place.after.count > 0 { place.after } else { place.before }
}

/// What the change is for, on a line of its own, if the caller said so.
fn change(told: &RenderInput<'_>) -> String {
    match told.argument("description") {
        "" => String::new(),
        description => format!("Change: {description}\n"),
    }
}

fn mini_diff(told: &RenderInput<'_>) -> String {
    let (old, new) = match told.tool.name {
        EDIT_FILE => (told.argument("old_str").into(), told.argument("new_str").into()),
        // The caller sent the whole file; what differs is in the report.
        PROPOSE_FILE_EDIT => (changed('-', told.report), changed('+', told.report)),
        _ => (String::new(), told.argument("content").into()),
    };
    let mut out = String::from("Diff:");
    side('-', &old, &mut out);
    side('+', &new, &mut out);
    out
}

/// The lines that went or came, out of the report's diff.
fn changed(sign: char, report: &Report) -> String {
    let diff = report.diff.as_deref().unwrap_or_default();
    // Before the first hunk are the names of the file.
    let lines = diff.lines().skip_while(|line| !line.starts_with("@@"));
    lines.filter_map(|line| line.strip_prefix(sign)).flat_map(|line| [line, "\n"]).collect()
}

fn side(sign: char, text: &str, out: &mut String) {
    let mut lines = text.lines();
    for line in lines.by_ref().take(MAX_LINES) {
        out.push_str(&format!("\n  {sign} {}", cut(line, MAX_LINE)));
    }
    match lines.count() {
        0 => {}
        1 => out.push_str(&format!("\n  {sign} … (1 more line)")),
        more => out.push_str(&format!("\n  {sign} … ({more} more lines)")),
    }
}

/// A text, cut off after so many characters.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

fn waits(told: &RenderInput<'_>) -> String {
    let report = told.report;
    let id = report.proposal.map_or(String::new(), |id| id.to_string());
    format!(
        "Edit to {} proposed as {id}; it is not applied yet.\n\n{}Reason: {}\n\
         The user reviews it with `slipstitch review show {id}` and decides with `slipstitch review accept {id}` or \
         `slipstitch review reject {id}`. Do not send it again.",
        told.argument("path"),
        change(told),
        report.message.split_once(": ").map_or(report.message.as_str(), |(_, why)| why)
    )
}

fn error(told: &RenderInput<'_>) -> String {
    let report = told.report;
    let path = told.argument("path");
    let writes = told.tool.effect != Effect::Reads;
    match (report.outcome, report.failures.first()) {
        (Outcome::Unplaced(Unplaced::NoMatch), Some(failure)) => format!(
            "Error: String not found in file\n\
             Error: String not found in {path}\n\nSearched for:\n{}{}",
            cut(told.argument("old_str"), MAX_SEARCHED),
            failure.describe_candidates("\n\n", "new text")
        ),
        (Outcome::Unplaced(Unplaced::Ambiguous), Some(failure)) => {
            let count = failure.match_count();
            format!(
                "Error: Found {count} matches. Provide more context.\n\
                 Error: Found {count} matches for the search string in {path}.\n\n\
                 Please provide more surrounding context to make a unique match.{}",
                failure.list_match_lines()
            )
        }
        (Outcome::Invalid(Invalid::OutsideRoot), _) => {
            format!("Error: Path outside project root\nError: Path '{path}' is outside project root")
        }
        (Outcome::Invalid(Invalid::FileNotFound), _) if told.tool.name == LIST_DIRECTORY => {
            format!("Error: Directory '{path}' not found\nUse list_directory without a path to see the root.")
        }
        (Outcome::Invalid(Invalid::FileNotFound), _) => {
            format!("Error: File '{path}' not found\nCheck the path; list_directory shows what is there.")
        }
        (
            Outcome::Failed(Failed::PermissionDenied | Failed::Io) | Outcome::Refused(Refused::CannotKeep),
            _,
        ) if writes => {
            format!("Error: Cannot write to file\nError editing file: {}", report.message)
        }
        _ => other(report),
    }
}

fn other(report: &Report) -> String {
    match &report.hint {
        Some(hint) => format!("Error: {}\n{hint}", report.message),
        None => format!("Error: {}", report.message),
    }
}
