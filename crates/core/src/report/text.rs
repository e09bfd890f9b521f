//! The report as text, for models and people.

use std::fmt::Write;

use super::{ConflictReport, FailureReport, FileReport, Report};
use crate::change::Rung;
use crate::find::Cause;
use crate::outcome::{Outcome, Refused, Status};
use crate::plan::{Footer, ReadPlan};
use crate::snapshot::Snapshot;
use slipstitch_text::{Encoding, Newline};

/// How much of a diff an answer carries; the rest is in the file and in the journal.
const MAX_DIFF_LINES: usize = 120;
const MAX_DIFF_BYTES: usize = 32 << 10;
const MAX_LINE_BYTES: usize = 2000;

/// How many edits or failures an answer lists.
const MAX_EDITS: usize = 20;

/// The report in a few lines: what happened, what to do next, the diff, the versions.
pub fn plain(report: &Report) -> String {
    if let (Status::Shown, Some(text)) = (report.status(), &report.text) {
        return text.clone();
    }
    let mut out = String::new();
    line(&mut out, &format!("{}{}", mark(report), report.message));
    if let Some(change) = report.change {
        line(&mut out, &format!("change: {change}"));
    }
    failures(report, &mut out);
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
        about_file(file, report.status(), &mut out);
    }
    if let Some(diff) = &report.diff {
        out.push_str(&shortened(diff));
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn mark(report: &Report) -> &'static str {
    match report.status() {
        Status::Refused | Status::Invalid | Status::Failed => "error: ",
        Status::NoChange => "no change: ",
        Status::AlreadyApplied => "already applied: ",
        Status::Applied | Status::WouldApply | Status::Shown => "",
    }
}

fn failures(report: &Report, out: &mut String) {
    let several = report.failures.len() > 1;
    for failure in report.failures.iter().take(MAX_EDITS) {
        if several {
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
    if report.failures.len() > MAX_EDITS {
        line(out, &format!("- … and {} more", report.failures.len() - MAX_EDITS));
    }
}

fn about_file(file: &FileReport, status: Status, out: &mut String) {
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
        let when = if status == Status::WouldApply { "version after" } else { "version" };
        line(out, &format!("{when} of `{}`: {hash}", file.moved_to.as_ref().unwrap_or(&file.path)));
    }
}

/// A diff that fits into an answer.
pub fn shortened(diff: &str) -> String {
    let mut out = String::new();
    let mut lines = diff.lines();
    for text in lines.by_ref().take(MAX_DIFF_LINES) {
        line(&mut out, &cut(text, MAX_LINE_BYTES));
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

/// A line, cut off where it gets too long.
fn cut(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let end = text.floor_char_boundary(most);
    format!("{}[… {} more bytes]", &text[..end], text.len() - end).into()
}

/// Lines `first` to `last` of a file with their numbers, cut off at the plan's budget, and below them
/// what an editor of the file needs to know.
pub fn read_text(snapshot: &Snapshot, first: usize, last: usize, plan: &ReadPlan) -> String {
    let count = snapshot.line_count();
    let mut out = String::new();
    let mut shown = first.saturating_sub(1);
    for number in first..=last.min(count) {
        let text = snapshot.line(number);
        if out.len() + text.len() > plan.budget && number > first {
            break;
        }
        let _ = writeln!(out, "{number:>6}\t{}", cut(&text, plan.budget));
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
        let _ = writeln!(out, "line ends: mixed, mostly {}", newlines.dominant().name());
    } else if newlines.dominant() != Newline::Lf {
        let _ = writeln!(out, "line ends: {}", newlines.dominant().name());
    }
    if snapshot.encoding() != Encoding::Utf8 || snapshot.has_bom() {
        let mark = if snapshot.has_bom() { " with a byte order mark" } else { "" };
        let _ = writeln!(out, "encoding: {}{mark}", snapshot.encoding());
    }
    if !snapshot.ends_with_newline() {
        out.push_str("no newline at the end of the file\n");
    }
    out.pop();
    out
}

impl FailureReport {
    /// How many matches there are for documents that count without overlap; two that overlap are still
    /// not one.
    pub fn matches_told(&self) -> usize {
        let apart = self.matches_apart.unwrap_or_default();
        if apart > 1 { apart } else { self.matches.unwrap_or_default() }
    }

    /// The lines that the matches start in, as a sentence on a line of its own.
    pub fn found_at(&self) -> String {
        const SHOWN: usize = 12;
        let mut lines = self.lines.clone();
        lines.dedup();
        let shown: Vec<String> = lines.iter().take(SHOWN).map(usize::to_string).collect();
        let more = if lines.len() > SHOWN { ", …" } else { "" };
        let word = if lines.len() == 1 { "line" } else { "lines" };
        format!("\nFound at {word} {}{more}.", shown.join(", "))
    }

    /// The places that come closest, each after `gap`; `new` is what the dialect calls the new text.
    pub fn closest(&self, gap: &str, new: &str) -> String {
        let mut out = String::new();
        for candidate in &self.candidates {
            let what = match self.cause {
                Some(Cause::AlreadyApplied) => format!("The {new} stands already at"),
                Some(Cause::Whitespace) => "With other white space it stands at".into(),
                Some(Cause::Punctuation) => "With other punctuation it stands at".into(),
                _ => "Close to it is".into(),
            };
            let _ = write!(out, "{gap}{what} {}:", candidate.lines);
            for line in candidate.preview.lines() {
                let _ = write!(out, "\n    {line}");
            }
            for difference in candidate.differences.iter().filter(|one| one.file != one.request) {
                let _ = write!(out, "\n  {difference}");
            }
        }
        if let (Some(Cause::InOtherFile), message) = (self.cause, &self.message) {
            let _ = write!(out, "{gap}{message}.");
        }
        out
    }
}
