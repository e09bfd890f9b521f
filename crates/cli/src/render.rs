//! Reports as text.

use anstyle::{AnsiColor, Style};
use slipstitch::core::find::Candidate;
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::report::{ConflictReport, FailureReport, Report};
use slipstitch::core::text::display::escape_controls;

use crate::consent;
use crate::diff;
use crate::error::{CommandError, Layout};
use crate::escape::{self, UnsafeNames};
use crate::output::{CommandOutput, Effect};
use crate::streams::{Streams, StyledText};

/// How many matching lines the message of an ambiguous edit lists.
const MAX_LINES_IN_MESSAGE: usize = 12;

impl CommandOutput for Report {
    fn status(&self) -> Status {
        Report::status(self)
    }

    fn change(&self) -> Option<ChangeId> {
        self.change
    }

    fn effect(&self) -> Effect {
        match (self.change, Report::status(self)) {
            (Some(_), _) if consent::says_not_undoable(self) => Effect::Other,
            (Some(id), _) => Effect::Change(id),
            (None, Status::Applied) => Effect::Other,
            // It is in the review queue.
            (None, Status::Pending) if self.proposal.is_some() => Effect::Other,
            _ => Effect::Nothing,
        }
    }

    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn write(&self, streams: &mut Streams) {
        write_report(self, Layout::OneLine, streams);
    }
}

impl CommandOutput for CommandError {
    fn status(&self) -> Status {
        self.report.status()
    }

    fn json(&self) -> serde_json::Result<String> {
        self.report.json()
    }

    fn write(&self, streams: &mut Streams) {
        write_report(&self.report, self.layout, streams);
    }
}

fn write_report(report: &Report, layout: Layout, streams: &mut Streams) {
    if let Some(text) = &report.text {
        streams.out.line(text);
    }
    match (&report.raw_diff, &report.diff) {
        (Some(bytes), _) => diff::write_colored(bytes, &mut streams.out),
        (None, Some(text)) => diff::write_colored(text.as_bytes(), &mut streams.out),
        (None, None) => {}
    }
    let unsafe_names = UnsafeNames::in_report(report);
    if report.status() != Status::Shown {
        write_headline(report, layout, &mut streams.err);
    }
    let has_several = report.failures.len() > 1;
    // If several edits are already applied, the line about each is enough.
    let shows_previews = !(has_several && report.status() == Status::AlreadyApplied);
    for failure in &report.failures {
        write_failure(failure, has_several, shows_previews, &mut streams.err);
    }
    if report.more_failures > 0 {
        streams.err.line(format!("  … and {} more", report.more_failures));
    }
    for text in report.conflicts.iter().flat_map(ConflictReport::lines) {
        streams.err.line(format!("  {}", unsafe_names.escape_in(&text)));
    }
    if let Some(hint) = escape::printable_hint(report, layout) {
        write_labelled(AnsiColor::Cyan, "hint", &hint, &mut streams.err);
    }
    for warning in &report.warnings {
        write_labelled(AnsiColor::Yellow, "warning", &escape_controls(warning), &mut streams.err);
    }
}

fn write_headline(report: &Report, layout: Layout, err: &mut StyledText) {
    let message = &escape::printable_message(report, layout);
    match (report.status(), report.change) {
        (Status::Applied, Some(id)) if consent::says_not_undoable(report) => {
            err.prose(&format!("{message} (change {id}; it can't be undone)"), 0);
        }
        (Status::Applied, Some(id)) => {
            err.prose(&format!("{message} (change {id}; undo with: slipstitch undo {id})"), 0);
        }
        (Status::WouldApply, _) => err.prose(&format!("{message} (dry run, nothing was written)"), 0),
        (Status::Refused | Status::Invalid | Status::Failed, _) => {
            write_labelled(AnsiColor::Red, "error", message, err);
        }
        (Status::Pending, _) => write_labelled(AnsiColor::Yellow, "pending", message, err),
        (Status::NoChange, _) => {
            let message = message.strip_prefix("the edit changes nothing: ").unwrap_or(message);
            err.prose(&format!("no change: {message}"), 0);
        }
        (Status::AlreadyApplied, _) => err.prose(&format!("already applied: {message}"), 0),
        (Status::Applied | Status::Shown, _) => err.prose(message, 0),
    }
}

fn write_failure(failure: &FailureReport, several: bool, shows_previews: bool, err: &mut StyledText) {
    if several {
        let edit = failure.edit.map_or(String::new(), |edit| format!("edit {edit}, "));
        err.prose(&escape_controls(&format!("  {edit}`{}`: {}", failure.path, failure.message)), 0);
    }
    if failure.lines.len() > MAX_LINES_IN_MESSAGE {
        let lines = failure.lines.iter().skip(MAX_LINES_IN_MESSAGE).map(usize::to_string);
        let more = if failure.has_more_lines() { ", …" } else { "" };
        err.line(format!("  and lines {}{more}", lines.collect::<Vec<_>>().join(", ")));
    }
    for candidate in failure.candidates.iter().filter(|_| shows_previews) {
        write_preview(candidate, err);
    }
}

fn write_preview(candidate: &Candidate, err: &mut StyledText) {
    let end = candidate.lines.start + candidate.lines.count;
    for (number, text) in (candidate.lines.start..).zip(candidate.preview.lines()) {
        let is_elided = text == "…" && number + 1 < end;
        let number = if is_elided { String::new() } else { number.to_string() };
        err.line(format!("  {number:>6}  {text}"));
    }
}

pub(crate) fn write_labelled(color: AnsiColor, label: &str, text: &str, err: &mut StyledText) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    err.styled(style, format!("{label}:"));
    let mut lines = text.lines();
    err.prose(&format!(" {}", lines.next().unwrap_or_default()), label.len() + 1);
    for line in lines {
        err.line(format!("  {line}"));
    }
}
