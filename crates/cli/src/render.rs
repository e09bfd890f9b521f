//! A report as people read it.

use anstyle::{AnsiColor, Style};
use slipstitch::core::find::Candidate;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::{ConflictReport, FailureReport, Report};

use crate::diff;
use crate::names::{self, Odd, one_line};
use crate::output::Outcome;
use crate::page::{Page, Surface};

/// How many lines the message of an ambiguous edit names.
const NAMED_IN_MESSAGE: usize = 12;

impl Outcome for Report {
    fn status(&self) -> Status {
        Report::status(self)
    }

    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn write(&self, page: &mut Page) {
        if let Some(text) = &self.text {
            page.out.line(text);
        }
        match (&self.raw_diff, &self.diff) {
            (Some(bytes), _) => diff::write(bytes, &mut page.out),
            (None, Some(text)) => diff::write(text.as_bytes(), &mut page.out),
            (None, None) => {}
        }
        let odd = Odd::of(self);
        if self.outcome != slipstitch::core::outcome::Outcome::Shown {
            headline(self, &mut page.notes);
        }
        for failure in &self.failures {
            about(failure, self.failures.len() > 1, &mut page.notes);
        }
        for text in self.conflicts.iter().flat_map(ConflictReport::lines) {
            page.notes.line(format!("  {}", odd.escaped(&text)));
        }
        if let Some(hint) = names::hint(self) {
            labelled(AnsiColor::Cyan, "hint", &hint, &mut page.notes);
        }
        for warning in &self.warnings {
            labelled(AnsiColor::Yellow, "warning", &one_line(warning), &mut page.notes);
        }
    }
}

fn headline(report: &Report, notes: &mut Surface) {
    let message = &names::message(report);
    match (report.status(), report.change) {
        (Status::Applied, Some(id)) => {
            notes.line(format!("{message} (change {id}; undo with: slipstitch undo {id})"));
        }
        (Status::WouldApply, _) => notes.line(format!("{message} (dry run: nothing was written)")),
        (Status::Refused | Status::Invalid | Status::Failed, _) => {
            labelled(AnsiColor::Red, "error", message, notes);
        }
        (Status::NoChange, _) => notes.line(format!("no change: {message}")),
        (Status::AlreadyApplied, _) => notes.line(format!("already applied: {message}")),
        (Status::Applied | Status::Shown, _) => notes.line(message),
    }
}

fn about(failure: &FailureReport, several: bool, notes: &mut Surface) {
    if several {
        let edit = failure.edit.map_or(String::new(), |edit| format!("edit {edit}, "));
        notes.line(one_line(&format!("  {edit}`{}`: {}", failure.path, failure.message)));
    }
    if failure.lines.len() > NAMED_IN_MESSAGE {
        let lines: Vec<String> = failure.lines.iter().map(usize::to_string).collect();
        let more = if failure.matches.is_some_and(|count| count > lines.len()) { ", …" } else { "" };
        notes.line(format!("  lines {}{more}", lines.join(", ")));
    }
    for candidate in &failure.candidates {
        preview(candidate, notes);
    }
}

fn preview(candidate: &Candidate, notes: &mut Surface) {
    let known = candidate.lines.start..candidate.lines.start + candidate.lines.count;
    for (number, text) in (candidate.lines.start..).zip(candidate.preview.lines()) {
        let cut_short = text == "…" && number + 1 < known.end;
        let number = if cut_short { String::new() } else { number.to_string() };
        notes.line(format!("  {number:>6}  {text}"));
    }
}

fn labelled(colour: AnsiColor, label: &str, text: &str, notes: &mut Surface) {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    notes.styled(style, format!("{label}:"));
    let mut lines = text.lines();
    notes.line(format!(" {}", lines.next().unwrap_or_default()));
    for line in lines {
        notes.line(format!("  {line}"));
    }
}
