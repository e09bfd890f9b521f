//! Control characters and invisible characters in printed names.
//!
//! A file name can contain anything but NUL and `/`: newlines that make one line look like two, or escape sequences
//! that a terminal obeys. Text output shows them as escapes; JSON output has the names as they are.

use slipstitch::core::text::display::{escape_controls, escape_text, is_deceptive};
use std::ffi::{OsStr, OsString};

use clap::builder::StyledStr;
use slipstitch::core::outcome::{Outcome, Refused, Status, Unplaced};
use slipstitch::core::report::Report;

use crate::error::Layout;

/// Prefixes of the environment variables that name files and sessions.
const VARIABLE_PREFIXES: &[&str] = &["SLIPSTITCH_", "XDG_", "HOME"];

/// The report's message, safe to print. It is escaped as a whole, because a rejected name is not listed anywhere in the
/// report and may itself contain quotes.
pub(crate) fn printable_message(report: &Report, layout: Layout) -> String {
    match layout {
        Layout::OneLine if is_decision(report) => {
            escape_text(&UnsafeNames::in_report(report).escape_in(&report.message))
        }
        Layout::MultilineMessage => UnsafeNames::from_invocation().escape_in(&report.message),
        Layout::OneLine | Layout::MultilineHint => escape_controls(&report.message),
    }
}

/// Whether a report says what was decided about a proposal. Its message ends with the lines that were written, or with the
/// reviewer's reason; both can have several lines.
fn is_decision(report: &Report) -> bool {
    let is_settled =
        report.status() == Status::Applied || report.outcome == Outcome::Refused(Refused::Declined);
    report.proposal.is_some() && is_settled
}

/// The report's hint, safe to print: one line, or one line followed by text to copy.
pub(crate) fn printable_hint(report: &Report, layout: Layout) -> Option<String> {
    let hint = report.hint.as_deref()?;
    // That hint ends with the lines that the file has.
    let has_lines = report.outcome == Outcome::Unplaced(Unplaced::UnexpectedLines);
    Some(match layout == Layout::MultilineHint || has_lines {
        true => UnsafeNames::in_report(report).escape_in(hint),
        false => escape_controls(hint),
    })
}

/// Names with control characters or invisible ones, longest first.
pub(crate) struct UnsafeNames(Vec<String>);

impl UnsafeNames {
    /// Names of files in a report.
    pub(crate) fn in_report(report: &Report) -> Self {
        let files = report.files.iter().flat_map(|file| [Some(&file.path), file.moved_to.as_ref()]).flatten();
        let failures = report.failures.iter().map(|failure| &failure.path);
        let conflicts = report.conflicts.iter().map(|conflict| &conflict.path);
        Self::among(files.chain(failures).chain(conflicts).map(ToString::to_string))
    }

    /// Names in this process's arguments, environment and working directory.
    pub(crate) fn from_invocation() -> Self {
        let text = |given: OsString| given.to_string_lossy().into_owned();
        let arguments = std::env::args_os().skip(1).map(text).flat_map(|argument| {
            let value = argument.split_once('=').map(|(_, value)| value.to_owned());
            // clap drops escape sequences from what it prints.
            let printed = StyledStr::from(&argument).to_string();
            let printed_value = value.as_ref().map(|value| StyledStr::from(value).to_string());
            [Some(argument), value, Some(printed), printed_value]
        });
        let is_ours =
            |name: &OsStr| VARIABLE_PREFIXES.iter().any(|prefix| text(name.to_owned()).starts_with(prefix));
        let variables = std::env::vars_os().filter(|(name, _)| is_ours(name)).map(|(_, value)| text(value));
        let folder = std::env::current_dir().ok().map(|folder| text(folder.into()));
        Self::among(arguments.flatten().chain(variables).chain(folder))
    }

    /// Those of `names` that have such characters.
    pub(crate) fn among(names: impl Iterator<Item = String>) -> Self {
        // Whitespace alone occurs everywhere and names nothing.
        let is_unsafe = |name: &String| name.chars().any(is_deceptive) && !name.trim().is_empty();
        let mut names: Vec<String> = names.filter(is_unsafe).collect();
        // A name must be replaced before its own prefix is.
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        Self(names)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Escapes every occurrence of these names in `text`.
    pub(crate) fn escape_in(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, name| text.replace(name, &escape_controls(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstitch::core::ports::journal::ProposalId;

    #[test]
    fn keeps_newlines_only_in_parser_messages() {
        let report = Report::custom(Status::Invalid, "usage", "`a`\nb` is\twrong");
        let printed = |layout| printable_message(&report, layout);
        assert_eq!(printed(Layout::OneLine), "`a`\\nb` is\\twrong");
        assert_eq!(printed(Layout::MultilineMessage), "`a`\nb` is\twrong");
    }

    #[test]
    fn keeps_the_lines_of_a_decision() {
        let mut report = Report::new(Outcome::Applied, "p1 was accepted; this was written:\n+a\u{1b}[2J\n");
        assert!(printable_message(&report, Layout::OneLine).contains("written:\\n"), "no proposal");
        report.proposal = Some(ProposalId(1));
        let printed = printable_message(&report, Layout::OneLine);
        assert_eq!(printed, "p1 was accepted; this was written:\n+a\\u{1b}[2J\n");
        report.outcome = Outcome::Refused(Refused::PendingReview);
        assert!(!printable_message(&report, Layout::OneLine).contains('\n'));
    }

    #[test]
    fn keeps_newlines_only_in_hints_with_file_lines() {
        let printed = |outcome: Outcome, layout| {
            printable_hint(&Report::new(outcome, "").hint("now:\n\ta"), layout).unwrap()
        };
        let other = Outcome::Refused(Refused::NothingToUndo);
        assert_eq!(printed(other, Layout::OneLine), "now:\\n\\ta");
        assert_eq!(printed(other, Layout::MultilineHint), "now:\n\ta");
        assert_eq!(printed(Unplaced::UnexpectedLines.into(), Layout::OneLine), "now:\n\ta");
    }

    #[test]
    fn escapes_names_in_text_and_ignores_whitespace() {
        let names = |names: &[&str]| UnsafeNames::among(names.iter().map(ToString::to_string));
        assert!(names(&["plain", "\n", " \t"]).is_empty());
        assert_eq!(names(&["a\nb", "a\nb\nc"]).escape_in("a\nb\nc\na\nb\n"), "a\\nb\\nc\na\\nb\n");
    }
}
