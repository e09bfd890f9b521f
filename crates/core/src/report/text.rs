//! Renders reports as text, for models and people.

use std::borrow::Cow;
use std::fmt::Write;

use super::{ConflictReport, FailureReport, FileReport, Report};
use crate::change::Rung;
use crate::find::{Cause, describe_overlap, times};
use crate::outcome::{Outcome, Refused, Status};
use crate::plan::{Footer, LineAnchor, LinePrefix, ReadOn, ReadPlan};
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
    add_ids(report, &mut out);
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
    if let Some(diff) = report.diff.as_ref().filter(|_| report.needs_diff()) {
        report.files.iter().for_each(|file| add_recovered(file, &mut out));
        out.push_str(&truncate_diff(diff));
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// The change's id and the files' versions, in one line if there is one file.
fn add_ids(report: &Report, out: &mut String) {
    let change = report.change.map(|change| format!("change {change}"));
    let has_versions = report.is_success() || report.outcome == Outcome::Refused(Refused::StaleFile);
    let label = if report.status() == Status::WouldApply { "version after" } else { "version" };
    let versions =
        report.files.iter().filter(|_| has_versions).filter_map(|file| Some((file, file.version?)));
    match &versions.collect::<Vec<_>>()[..] {
        [(_, hash)] if report.files.len() == 1 => {
            let version = format!("{label} {}", hash.short());
            line(out, &change.into_iter().chain([version]).collect::<Vec<_>>().join(", "));
        }
        versions => {
            change.iter().for_each(|change| line(out, change));
            for (file, hash) in versions {
                let path = file.moved_to.as_ref().unwrap_or(&file.path);
                line(out, &format!("{label} of `{path}`: {}", hash.short()));
            }
        }
    }
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
        // If several edits are already applied, the line about each is enough.
        if has_several && report.status() == Status::AlreadyApplied {
            continue;
        }
        let hides_previews = failure.has_equal_candidates();
        for (number, candidate) in (1..).zip(&failure.candidates) {
            let end = if hides_previews { "" } else { ":" };
            line(out, &format!("candidate {number}, {}{end}", candidate.describe_place()));
            for text in candidate.preview.lines().filter(|_| !hides_previews) {
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
    let more = report.failures.len().saturating_sub(MAX_EDITS) + report.more_failures;
    if more > 0 {
        line(out, &format!("- … and {more} more"));
    }
}

/// Which edits of a batch were recovered.
fn add_recovered(file: &FileReport, out: &mut String) {
    if file.edits.len() < 2 {
        return;
    }
    let recovered = file.edits.iter().filter(|edit| edit.rung > Rung::Exact);
    let mut numbers: Vec<String> = recovered.map(|edit| edit.edit.to_string()).take(MAX_EDITS + 1).collect();
    if numbers.len() > MAX_EDITS {
        numbers[MAX_EDITS] = "…".into();
    }
    match &numbers[..] {
        [] => {}
        [number] => line(out, &format!("recovered: edit {number}")),
        numbers => line(out, &format!("recovered: edits {}", numbers.join(", "))),
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

/// A diff for the answer to a model: truncated, and without the `diff --git` line of files that `---` and `+++` name.
pub fn diff_for_model(diff: &str) -> String {
    let mut out = String::new();
    let mut lines = diff.lines().peekable();
    while let Some(text) = lines.next() {
        let is_repeated =
            text.starts_with("diff --git ") && lines.peek().is_some_and(|next| next.starts_with("--- "));
        if !is_repeated {
            line(&mut out, text);
        }
    }
    truncate_diff(&out).trim_end_matches('\n').to_owned()
}

fn truncate_line(text: &str, max: usize) -> Cow<'_, str> {
    match truncate_bytes(text, max) {
        Some((start, omitted)) => format!("{start}[… {omitted} more bytes]").into(),
        None => text.into(),
    }
}

/// Lines `first` to `last` of a file of `size` bytes, most of which was not read; `text` is those lines.
pub(crate) fn numbered_excerpt(
    text: &str,
    first: usize,
    last: usize,
    size: usize,
    plan: &ReadPlan,
) -> String {
    let (mut out, shown) = number_lines(text.lines().map(Cow::Borrowed), first, plan);
    let read_on = if shown < last { read_on_after(shown, plan) } else { String::new() };
    let _ = writeln!(out, "[lines {first}-{shown} of a file of {size} bytes{read_on}]");
    out.push_str("version: not computed for a part of a large file; `get_file_info` returns it");
    out
}

/// How to read on after a line, for the note below the lines.
fn read_on_after(line: usize, plan: &ReadPlan) -> String {
    match plan.read_on {
        ReadOn::Line => format!("; read on from line {}", line + 1),
        ReadOn::Offset => format!("; read on with offset {line}"),
    }
}

/// Lines with their numbers from `first`, as many as the plan's budget allows but at least one, and the number of the last one.
fn number_lines<'t>(
    lines: impl Iterator<Item = Cow<'t, str>>,
    first: usize,
    plan: &ReadPlan,
) -> (String, usize) {
    let mut out = String::new();
    let mut last_shown = first.saturating_sub(1);
    for (number, text) in (first..).zip(lines) {
        if out.len() + text.len() > plan.budget && number > first {
            break;
        }
        let shown = match truncate_bytes(&text, plan.budget) {
            None => text.as_ref().into(),
            // A read that names its last line gets more.
            Some((start, omitted)) if plan.last.is_none() => {
                format!("{start}[… {omitted} more bytes; a read that ends at line {number} shows more of it]")
                    .into()
            }
            Some(_) => truncate_line(&text, plan.budget),
        };
        let _ = match plan.prefix {
            LinePrefix::Number => writeln!(out, "{number:>6}\t{shown}"),
            LinePrefix::Colon => writeln!(out, "{number}: {shown}"),
            LinePrefix::Hash => writeln!(out, "{}|{shown}", LineAnchor::of(number, &text)),
            LinePrefix::None => writeln!(out, "{shown}"),
        };
        last_shown = number;
    }
    (out, last_shown)
}

/// Lines `first` to `last` of a file with their numbers, up to the plan's budget; below them what is needed to edit the
/// file: its version, and line endings and encoding if unusual. Returns the text and the last line shown.
pub fn numbered_lines(snapshot: &Snapshot, first: usize, last: usize, plan: &ReadPlan) -> (String, usize) {
    let count = snapshot.line_count();
    let lines = (first..=last.min(count)).map(|number| snapshot.line(number));
    let (mut out, last_shown) = number_lines(lines, first, plan);
    if last_shown < last.min(count) || (plan.last.is_none() && last < count) {
        let _ = writeln!(out, "[lines {first}-{last_shown} of {count}{}]", read_on_after(last_shown, plan));
    } else if first > 1 || last < count {
        let _ = writeln!(out, "[lines {first}-{last_shown} of {count}]");
    } else if count == 0 {
        out.push_str("[the file is empty]\n");
    }
    if plan.footer == Footer::Version {
        let _ = writeln!(out, "version: {}", snapshot.hash().short());
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
    (out, last_shown)
}

impl FailureReport {
    /// Whether `lines` lists only some of the places.
    pub fn has_more_lines(&self) -> bool {
        self.matches.is_some_and(|matches| matches + self.overlapping > self.lines.len())
    }

    /// How often the text occurs: `once`, or the number of times.
    pub fn describe_times(&self) -> String {
        times(self.matches.unwrap_or_default())
    }

    /// `, and another one overlaps it`, if the text overlaps itself; otherwise empty.
    pub fn describe_overlap(&self) -> String {
        describe_overlap(self.matches.unwrap_or_default(), self.overlapping)
    }

    /// The lines of the matches, as a sentence on a new line; below it, what tells the first of them apart.
    pub fn list_match_lines(&self) -> String {
        format!("\nFound at {}.{}", list_lines(&self.lines, 12, false), self.describe_landmarks())
    }

    /// What tells the first matches apart, each on a new line; empty if nothing does.
    pub fn describe_landmarks(&self) -> String {
        let told_apart = self.candidates.iter().filter(|candidate| candidate.landmark.is_some());
        told_apart.map(|candidate| format!("\n- {}", candidate.describe_place())).collect()
    }

    /// Whether the candidates have the same text, so that only their surroundings tell them apart.
    fn has_equal_candidates(&self) -> bool {
        let mut candidates = self.candidates.iter();
        candidates.next().is_some_and(|first| {
            first.landmark.is_some() && candidates.all(|other| other.preview == first.preview)
        })
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
