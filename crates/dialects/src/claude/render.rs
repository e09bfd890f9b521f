//! What the dialect's answers say.

use super::commands;
use slipstitch_core::dialect::{RenderInput, Rendered};
use slipstitch_core::find::Cause;
use slipstitch_core::guard::Refusal;
use slipstitch_core::outcome::{Status, Unplaced};
use slipstitch_core::report::{Action, FailureReport, Report, plain_text, snippet};

/// How many matching lines an answer names.
const MAX_LINES: usize = 100;

pub(super) fn render(told: &RenderInput<'_>) -> Rendered {
    let report = told.report;
    let mut out = match report.status() {
        Status::Applied => applied(told),
        Status::Shown => return plain_text(report).into(),
        Status::NoChange => {
            vec!["Nothing to change: the file already is as asked. It was not written.".into()]
        }
        Status::AlreadyApplied => vec![format!("Already done, nothing was written: {}", report.message)],
        _ if report.failures.is_empty() => refused(report),
        _ => failed(told),
    };
    out.extend(report.warnings.iter().map(|warning| format!("Note: {warning}")));
    out.join("\n").into()
}

fn applied(told: &RenderInput<'_>) -> Vec<String> {
    let report = told.report;
    let Some(file) = report.files.first() else { return vec![report.message.clone()] };
    let path = &file.path;
    let lines = |count: Option<usize>| match count {
        Some(1) => "1 line".into(),
        count => format!("{} lines", count.unwrap_or_default()),
    };
    if told.argument("command") == "undo_edit" {
        // A change of several files is taken back in all of them.
        let names: Vec<String> = report.files.iter().map(|file| file.path.to_string()).collect();
        let mut out = vec![format!("Took back the last change of {}.", names.join(", "))];
        out.extend(shown(report, if names.len() > 1 { "They are now" } else { "It is now" }));
        return out;
    }
    let whole = told.tool.name == "Write" || told.argument("command") == "create";
    match (file.action, whole) {
        (Action::Created, _) => vec![format!("Created {path} ({}).", lines(file.lines))],
        (_, true) => {
            let before =
                file.edits.first().and_then(|edit| edit.places.first()).map(|place| place.before.count);
            vec![format!(
                "Overwrote {path}, which was there before: {} then, {} now.",
                lines(before),
                lines(file.lines)
            )]
        }
        _ => {
            let places: usize = file.edits.iter().map(|edit| edit.occurrences).sum();
            let count = if places > 1 { format!(" in {places} places") } else { String::new() };
            let mut out = vec![format!("Edited {path}{count}.")];
            out.extend(shown(report, "The lines around the change are now"));
            out
        }
    }
}

/// The changed places of a file that is still there.
fn shown(report: &Report, title: &str) -> Option<String> {
    if report.files.iter().all(|file| file.action == Action::Deleted) {
        return Some("The file was made by that change, so it is gone now.".into());
    }
    let text = snippet(report.diff.as_deref()?);
    if text.is_empty() { Some("The file is now empty.".into()) } else { Some(format!("{title}:\n{text}")) }
}

fn refused(report: &Report) -> Vec<String> {
    let message = match &report.refusal {
        Some(Refusal::Unconfirmed { path }) => {
            format!(
                "old_string is empty, and {path} has text: an empty one makes files, it does not replace them"
            )
        }
        _ => report.message.clone(),
    };
    std::iter::once(format!("Error: {message}")).chain(report.hint.clone()).collect()
}

/// The names of the fields in a tool.
struct Names {
    old: &'static str,
    many: Option<&'static str>,
}

fn failed(told: &RenderInput<'_>) -> Vec<String> {
    let names = match told.tool.name {
        commands::NAME => Names { old: "old_str", many: None },
        _ => Names { old: "old_string", many: Some("set replace_all") },
    };
    let several = told.tool.name == "MultiEdit";
    let mut out = Vec::new();
    for failure in &told.report.failures {
        let edit = match failure.edit.filter(|_| several) {
            Some(edit) => format!("edit {edit}: "),
            None => String::new(),
        };
        out.push(format!("Error: {edit}{}", why(failure, &names)));
        if failure.reason == Unplaced::NoMatch {
            for candidate in &failure.candidates {
                out.push(format!("{}:", candidate.lines));
                out.extend(candidate.preview.lines().map(|line| format!("    {line}")));
                out.extend(candidate.differences.iter().map(|difference| format!("  {difference}")));
            }
        }
    }
    out.push("Nothing was written.".into());
    out
}

fn why(failure: &FailureReport, names: &Names) -> String {
    let (path, old) = (&failure.path, names.old);
    match (failure.reason, failure.matches) {
        (Unplaced::Ambiguous, Some(count)) => {
            let mut distinct = failure.lines.clone();
            distinct.dedup();
            let lines: Vec<String> = distinct.iter().take(MAX_LINES).map(usize::to_string).collect();
            let more = if lines.len() < distinct.len() || failure.lines.len() < count { ", …" } else { "" };
            let word = if lines.len() == 1 { "line" } else { "lines" };
            let many = names.many.map_or(String::new(), |many| format!(", or {many}"));
            let context = "Add lines around it until it matches once";
            format!(
                "{old} matches {count} times in {path}, at {word} {}{more}. {context}{many}.",
                lines.join(", ")
            )
        }
        (Unplaced::NoMatch, _) if failure.cause == Some(Cause::Whitespace) => {
            format!(
                "{old} is not in {path} as given; it stands there with other white space. Copy it from here:"
            )
        }
        (Unplaced::NoMatch, _) if failure.candidates.is_empty() => {
            format!(
                "{old} is not in {path}. Look at the file and copy the text from it, without line numbers."
            )
        }
        (Unplaced::NoMatch, _) => format!("{old} is not in {path}. What comes closest:"),
        (Unplaced::BlankOldText, _) => {
            format!(
                "{}; it must be text that stands in {path}.",
                failure.message.replace("the old text", old)
            )
        }
        (Unplaced::FileNotFound, _) => format!("there is no file {path}. {}", failure.hint),
        (Unplaced::OutOfRange, _) => {
            format!("{path}: {}. Lines count from 1; insert_line 0 is the start.", failure.message)
        }
        (
            Unplaced::FileExists
            | Unplaced::BinaryFile
            | Unplaced::AlreadyApplied
            | Unplaced::Ambiguous
            | Unplaced::HunkMismatch
            | Unplaced::NotAtEnd
            | Unplaced::OutsideScope
            | Unplaced::ScopeNotFound
            | Unplaced::NoPlace
            | Unplaced::UnclearIndentation
            | Unplaced::TooCostly
            | Unplaced::ContentDiffers
            | Unplaced::Displaced
            | Unplaced::UnexpectedLines
            | Unplaced::Overlap
            | Unplaced::Unencodable
            | Unplaced::SplitsCharacter
            | Unplaced::JoinsNewlines
            | Unplaced::NoClipboard
            | Unplaced::CannotStrip
            | Unplaced::SameFile
            | Unplaced::PathTwice
            | Unplaced::NotAlone,
            _,
        ) => format!("{path}: {}. {}", failure.message, failure.hint),
    }
}
