//! Renders reports as text, for models and people.

use std::borrow::Cow;
use std::fmt::Write;

use super::{ConflictReport, FailureReport, FileReport, Report};
use crate::change::Rung;
use crate::find::Cause;
use crate::outcome::{Outcome, Refused, Status};
use crate::plan::{Footer, ReadPlan};
use crate::snapshot::Snapshot;
use slipstitch_text::display::{list_lines, truncate_bytes};
use slipstitch_text::{Encoding, Newline};

/// How much of a diff is shown.
const MAX_DIFF_LINES: usize = 120;
const MAX_DIFF_BYTES: usize = 32 << 10;
const MAX_LINE_BYTES: usize = 2000;

/// How many edits, failures or conflicts are listed.
const MAX_EDITS: usize = 20;

/// The report as plain text: what happened, what to do next, the versions, the diff.
pub fn plain_text(report: &Report) -> String {
    if let (Status::Shown, Some(text)) = (report.status(), &report.text) {
        return text.clone();
    }
    let mut out = String::new();
    line(&mut out, &format!("{}{}", prefix(report), report.message));
    if let Some(change) = report.change {
        line(&mut out, &format!("change: {change}"));
    }
    add_failures(report, &mut out);
    for text in report.conflicts.iter().take(MAX_EDITS).flat_map(ConflictReport::lines) {
        line(&mut out, &text);
    }
    if let Some(hint) = &report.hint {
        line(&mut out, &format!("hint: {hint}"));
    }
    for warning in &report.warnings {
        line(&mut out, &format!("warning: {warning}"));
    }
    for file in report
        .files
        .iter()
        .filter(|_| report.is_success() || report.outcome == Outcome::Refused(Refused::StaleFile))
    {
        add_file(file, report.status(), &mut out);
    }
    if let Some(diff) = &report.diff {
        out.push_str(&truncate_diff(diff));
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn prefix(report: &Report) -> &'static str {
    match report.status() {
        Status::Refused | Status::Invalid | Status::Failed => "error: ",
        Status::NoChange => "no change: ",
        Status::AlreadyApplied => "already applied: ",
        Status::Pending => "pending: ",
        Status::Applied | Status::WouldApply | Status::Shown => "",
    }
}

fn add_failures(report: &Report, out: &mut String) {
    let has_several = report.failures.len() > 1;
    for failure in report.failures.iter().take(MAX_EDITS) {
        if has_several {
            let edit = failure.edit.map_or(String::new(), |edit| format!("edit {edit}, "));
            line(out, &format!("- {edit}`{}`: {}", failure.path, failure.message));
        }
        for (number, candidate) in (1..).zip(&failure.candidates) {
            line(out, &format!("candidate {number}, {}:", candidate.lines));
            for text in candidate.preview.lines() {
                line(out, &format!("    {text}"));
            }
            for difference in candidate.differences.iter().map(ToString::to_string) {
                if !failure.message.contains(&difference) {
                    line(out, &format!("  {difference}"));
                }
            }
        }
    }
    for failure in report.failures.iter().take(MAX_EDITS) {
        let is_choosable = failure.candidates.iter().any(|candidate| candidate.choosable);
        if let Some(edit) = failure.resend_edit.as_ref().filter(|_| !is_choosable) {
            line(out, "new text for candidate 1, if that is the place:");
            edit.new_text.lines().for_each(|text| line(out, &format!("    {text}")));
        }
    }
    if report.failures.len() > MAX_EDITS {
        line(out, &format!("- … and {} more", report.failures.len() - MAX_EDITS));
    }
}

fn add_file(file: &FileReport, status: Status, out: &mut String) {
    for edit in file.edits.iter().filter(|_| file.edits.len() > 1).take(MAX_EDITS) {
        let places: Vec<String> = edit.places.iter().take(10).map(|place| place.before.to_string()).collect();
        let more = if edit.occurrences > places.len() { ", …" } else { "" };
        let rung = if edit.rung > Rung::Exact { " (recovered)" } else { "" };
        line(out, &format!("- edit {}: {}{more}{rung}", edit.edit, places.join(", ")));
    }
    if file.edits.len() > MAX_EDITS {
        line(out, &format!("- … and {} more edits", file.edits.len() - MAX_EDITS));
    }
    if let Some(hash) = file.hash {
        let label = if status == Status::WouldApply { "version after" } else { "version" };
        line(out, &format!("{label} of `{}`: {hash}", file.moved_to.as_ref().unwrap_or(&file.path)));
    }
}

/// A diff, truncated to what fits into an answer.
pub fn truncate_diff(diff: &str) -> String {
    let mut out = String::new();
    let mut lines = diff.lines();
    for text in lines.by_ref().take(MAX_DIFF_LINES) {
        line(&mut out, &truncate_line(text, MAX_LINE_BYTES));
        if out.len() > MAX_DIFF_BYTES {
            break;
        }
    }
    match lines.count() {
        0 => {}
        more => line(&mut out, &format!("[… {more} more lines of the diff …]")),
    }
    out
}

fn truncate_line(text: &str, max: usize) -> Cow<'_, str> {
    match truncate_bytes(text, max) {
        Some((start, omitted)) => format!("{start}[… {omitted} more bytes]").into(),
        None => text.into(),
    }
}

/// Lines `first` to `last` of a file with their numbers, up to the plan's budget; below them what is needed to edit the
/// file: its version, and line endings and encoding if unusual.
pub fn numbered_lines(snapshot: &Snapshot, first: usize, last: usize, plan: &ReadPlan) -> String {
    let count = snapshot.line_count();
    let mut out = String::new();
    let mut shown = first.saturating_sub(1);
    for number in first..=last.min(count) {
        let text = snapshot.line(number);
        if out.len() + text.len() > plan.budget && number > first {
            break;
        }
        let _ = writeln!(out, "{number:>6}\t{}", truncate_line(&text, plan.budget));
        shown = number;
    }
    if shown < last.min(count) {
        let _ = writeln!(out, "[lines {first}-{shown} of {count}; read on from line {}]", shown + 1);
    } else if first > 1 || last < count {
        let _ = writeln!(out, "[lines {first}-{shown} of {count}]");
    } else if count == 0 {
        out.push_str("[the file is empty]\n");
    }
    if plan.footer == Footer::Version {
        let _ = writeln!(out, "version: {}", snapshot.hash());
    }
    let newlines = snapshot.newlines();
    if newlines.is_mixed() {
        let _ = writeln!(out, "line endings: mixed, mostly {}", newlines.dominant().name());
    } else if newlines.dominant() != Newline::Lf {
        let _ = writeln!(out, "line endings: {}", newlines.dominant().name());
    }
    if snapshot.encoding() != Encoding::Utf8 || snapshot.has_bom() {
        let mark = if snapshot.has_bom() { " with a byte order mark" } else { "" };
        let _ = writeln!(out, "encoding: {}{mark}", snapshot.encoding());
    }
    if !snapshot.ends_with_newline() {
        out.push_str("no newline at end of file\n");
    }
    out.pop();
    out
}

impl FailureReport {
    /// The number of matches for dialects that count without overlap. If all matches overlap, all of them are counted:
    /// the text is still ambiguous.
    pub fn match_count(&self) -> usize {
        let apart = self.matches_apart.unwrap_or_default();
        if apart > 1 { apart } else { self.matches.unwrap_or_default() }
    }

    /// The lines of the matches, as a sentence on a new line.
    pub fn list_match_lines(&self) -> String {
        format!("\nFound at {}.", list_lines(&self.lines, 12, false))
    }

    /// The closest places, each after `separator`; `new` is the dialect's name for the new text.
    pub fn describe_candidates(&self, separator: &str, new: &str) -> String {
        let mut out = String::new();
        for candidate in &self.candidates {
            let what = match self.cause {
                Some(Cause::AlreadyApplied) => format!("The {new} is already at"),
                Some(Cause::Whitespace) => "With different whitespace it is at".into(),
                Some(Cause::Punctuation) => "With different punctuation it is at".into(),
                _ => "The closest text is at".into(),
            };
            let _ = write!(out, "{separator}{what} {}:", candidate.lines);
            for line in candidate.preview.lines() {
                let _ = write!(out, "\n    {line}");
            }
            for difference in candidate.differences.iter().filter(|one| one.file != one.request) {
                let _ = write!(out, "\n  {difference}");
            }
        }
        if let (Some(Cause::InOtherFile), message) = (self.cause, &self.message) {
            let _ = write!(out, "{separator}{message}.");
        }
        out
    }
}
