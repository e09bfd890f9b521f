//! Renders `agent-q` answers. The specification gives each error a short and a long form; an answer has both, short
//! first.

use super::{
    CREATE_FILE, DELETE_FILE, DIRECTORY_TREE, EDIT_FILE, LIST_DIRECTORY, MOVE_FILE, PROPOSE_FILE_EDIT,
    SEARCH_FILES,
};
use slipstitch_core::change::{Lines, Place};
use slipstitch_core::dialect::{Effect, RenderInput, Rendered};
use slipstitch_core::outcome::{Status, Topic};
use slipstitch_core::report::{Report, plain_text};
use slipstitch_core::text::display::truncate_chars;

/// Maximum number of characters quoted from an `old_str` that was not found.
const MAX_SEARCHED: usize = 200;
/// Maximum number of removed and of added lines in a mini diff.
const MAX_LINES: usize = 10;
/// Maximum number of characters of a line in a mini diff.
const MAX_LINE: usize = 200;

pub(super) fn render(input: &RenderInput<'_>) -> Rendered {
    let report = input.report;
    let mut out = match (report.status(), report.proposal) {
        (Status::Shown, _) => return plain_text(report).into(),
        (Status::Applied, _) => applied(input),
        (Status::NoChange, _) if input.tool.name == MOVE_FILE => {
            format!("No change to {}: source and destination are the same file.", file_argument(input))
        }
        (Status::NoChange, _) => {
            format!(
                "No change to {}: old and new content are identical. Nothing was written.",
                file_argument(input)
            )
        }
        (Status::Pending, Some(_)) => pending(input),
        // What the user has decided is no longer pending.
        (Status::Refused, Some(id)) => format!("{id} was not applied: {}", report.message),
        (
            Status::WouldApply
            | Status::AlreadyApplied
            | Status::Pending
            | Status::Refused
            | Status::Invalid
            | Status::Failed,
            _,
        ) => error(input),
    };
    for warning in &report.warnings {
        out.push_str(&format!("\nWarning: {warning}"));
    }
    out.into()
}

/// The file that the call is about.
fn file_argument<'a>(input: &'a RenderInput<'_>) -> &'a str {
    input.argument(if input.tool.name == MOVE_FILE { "source" } else { "path" })
}

fn applied(input: &RenderInput<'_>) -> String {
    let path = file_argument(input);
    let headline = match input.tool.name {
        CREATE_FILE => format!("✓ Created {path}"),
        DELETE_FILE => format!("✓ Deleted {path}"),
        MOVE_FILE => format!("✓ Moved {path} to {}", input.argument("destination")),
        _ => format!("✓ Edit applied to {path}"),
    };
    let mut out = format!("{headline}\n\n{}", change(input));
    if matches!(input.tool.name, CREATE_FILE | MOVE_FILE | DELETE_FILE) {
        return out.trim_end().to_owned();
    }
    let places = input.report.files.iter().flat_map(|file| &file.edits).flat_map(|edit| &edit.places);
    if let Some(Lines { start, count }) = places.map(affected).next() {
        out.push_str(&format!("Lines affected: {start}-{}\n", start + count.max(1) - 1));
    }
    out + &mini_diff(input)
}

/// The added lines, or the removed lines if none were added.
fn affected(place: &Place) -> Lines {
    if place.after.count > 0 { place.after } else { place.before }
}

/// The line with the caller's description; empty without one.
fn change(input: &RenderInput<'_>) -> String {
    match input.argument("description") {
        "" => String::new(),
        description => format!("Change: {description}\n"),
    }
}

fn mini_diff(input: &RenderInput<'_>) -> String {
    let (old, new): (String, String) = match input.tool.name {
        EDIT_FILE => (input.argument("old_str").into(), input.argument("new_str").into()),
        // The call contains the whole file, so the changed lines come from the report.
        PROPOSE_FILE_EDIT => (changed('-', input.report), changed('+', input.report)),
        _ => (String::new(), input.argument("content").into()),
    };
    let mut out = String::from("Diff:");
    // If only one of them ends with a newline, the edit adds or removes a line break, which shows as an empty line.
    let breaks_differ =
        input.tool.name == EDIT_FILE && !new.is_empty() && old.ends_with('\n') != new.ends_with('\n');
    push_side('-', &old, breaks_differ, &mut out);
    push_side('+', &new, breaks_differ, &mut out);
    out
}

/// The removed (`-`) or added (`+`) lines of the report's diff.
fn changed(sign: char, report: &Report) -> String {
    let diff = report.diff.as_deref().unwrap_or_default();
    // The lines before the first hunk are the file header.
    let lines = diff.lines().skip_while(|line| !line.starts_with("@@"));
    lines.filter_map(|line| line.strip_prefix(sign)).flat_map(|line| [line, "\n"]).collect()
}

/// Appends the lines of one side; `last_break_counts` says that a final newline starts another, empty line.
fn push_side(sign: char, text: &str, last_break_counts: bool, out: &mut String) {
    let empty = (last_break_counts && text.ends_with('\n')).then_some("");
    let mut lines = text.lines().chain(empty);
    for line in lines.by_ref().take(MAX_LINES) {
        out.push_str(&format!("\n  {sign} {}", truncate_chars(line, MAX_LINE)));
    }
    match lines.count() {
        0 => {}
        1 => out.push_str(&format!("\n  {sign} … (1 more line)")),
        more => out.push_str(&format!("\n  {sign} … ({more} more lines)")),
    }
}

fn pending(input: &RenderInput<'_>) -> String {
    let report = input.report;
    let id = report.proposal.map_or(String::new(), |id| id.to_string());
    format!(
        "{} {} proposed as {id}; it has not been applied yet.\n\n{}Reason: {}\n\
         {}",
        match input.tool.name {
            DELETE_FILE => "Deletion of",
            CREATE_FILE => "Creation of",
            MOVE_FILE => "Move of",
            _ => "Edit to",
        },
        file_argument(input),
        change(input),
        report.message.split_once(": ").map_or(report.message.as_str(), |(_, why)| why),
        report.hint.as_deref().unwrap_or("Only the user can accept it.")
    )
}

fn error(input: &RenderInput<'_>) -> String {
    let report = input.report;
    let path = file_argument(input);
    let writes = input.tool.effect != Effect::Reads;
    let Some(topic) = report.outcome.topic() else { return other(report) };
    match (topic, report.failures.first()) {
        (Topic::NoMatch, Some(failure)) if input.tool.name == PROPOSE_FILE_EDIT => format!(
            "Error: The original text is not in {path}\nRead the file again.{}",
            failure.describe_candidates("\n\n", "new text")
        ),
        (Topic::NoMatch, Some(failure)) => format!(
            "Error: String not found in file\n\
             Error: String not found in {path}\n\nSearched for:\n{}{}",
            truncate_chars(input.argument("old_str"), MAX_SEARCHED),
            failure.describe_candidates("\n\n", "new text")
        ),
        // The specification counts without overlap, so `aa` occurs once in `aaa`; but there are two places for it.
        (Topic::Ambiguous, Some(failure)) if failure.matches == Some(1) => {
            let overlap = failure.describe_overlap();
            format!(
                "Error: Found 1 match{overlap}. Provide more context.\n\
                 Error: Found 1 match for the search string in {path}{overlap}.\n\n\
                 Please provide more surrounding context to make a unique match.{}",
                failure.list_match_lines()
            )
        }
        (Topic::Ambiguous, Some(failure)) => {
            let count = failure.matches.unwrap_or_default();
            format!(
                "Error: Found {count} matches. Provide more context.\n\
                 Error: Found {count} matches for the search string in {path}.\n\n\
                 Please provide more surrounding context to make a unique match.{}",
                failure.list_match_lines()
            )
        }
        (Topic::OutsideRoot, _) => {
            let hint = report.hint.as_deref().unwrap_or_default();
            let path = if is_outside(path, report) { path } else { input.argument("destination") };
            format!(
                "Error: Path outside project root\nError: Path '{path}' is outside project root\n{}. {hint}",
                report.message
            )
        }
        (Topic::FileNotFound, _)
            if matches!(input.tool.name, LIST_DIRECTORY | DIRECTORY_TREE | SEARCH_FILES) =>
        {
            format!("Error: Directory '{path}' not found\nUse list_directory without a path to see the root.")
        }
        (Topic::FileNotFound, _) => {
            let question = report.did_you_mean().unwrap_or_else(|| "Check the path.".into());
            format!("Error: File '{path}' not found\n{question} list_directory shows what is there.")
        }
        (Topic::NotWritable, _) if writes => {
            format!("Error: Cannot write to file\nError editing file: {}", report.message)
        }
        (
            Topic::NoMatch
            | Topic::Ambiguous
            | Topic::AlreadyApplied
            | Topic::Displaced
            | Topic::BlankOldText
            | Topic::OldTextMissing
            | Topic::OutOfRange
            | Topic::FileExists
            | Topic::BadRequest
            | Topic::StaleFile
            | Topic::ShrinksFile
            | Topic::RestrictedMode
            | Topic::NotWritable
            | Topic::General,
            _,
        ) => other(report),
    }
}

/// Whether the message is about this path: a move has two.
fn is_outside(path: &str, report: &Report) -> bool {
    report.message.contains(&format!("`{path}`"))
}

fn other(report: &Report) -> String {
    match &report.hint {
        Some(hint) => format!("Error: {}\n{hint}", report.message),
        None => format!("Error: {}", report.message),
    }
}
