//! Why a subcommand failed.

use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::wording::address_a_person;

/// A report, and whether one of its texts has several lines.
///
/// Line breaks in messages and hints are escaped, because they may be part of a file name. A few texts of the program
/// itself have several lines, which only the code that writes them knows.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) report: Box<Report>,
    pub(crate) layout: Layout,
}

/// Which text of a report is printed with its line breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    OneLine,
    /// The message comes from parsing arguments or settings, and shows the place.
    MultilineMessage,
    /// The hint ends with lines to copy.
    MultilineHint,
}

impl CommandError {
    /// An error in the arguments or the environment.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::with_multiline_message(Report::custom(Status::Invalid, "usage", message).hint(hint))
    }

    /// The answer to a question was no. `effect` says that nothing was done.
    pub(crate) fn declined(effect: &str) -> Self {
        Report::custom(Status::Refused, "declined", effect).into()
    }

    /// An error whose message may have several lines.
    pub(crate) fn with_multiline_message(report: Report) -> Self {
        Self { report: report.into(), layout: Layout::MultilineMessage }
    }

    /// An error whose hint may have several lines.
    pub(crate) fn with_multiline_hint(report: Report) -> Self {
        Self { report: report.into(), layout: Layout::MultilineHint }
    }
}

impl From<Report> for CommandError {
    fn from(report: Report) -> Self {
        Box::new(report).into()
    }
}

impl From<Box<Report>> for CommandError {
    fn from(mut report: Box<Report>) -> Self {
        address_a_person(&mut report);
        Self { report, layout: Layout::OneLine }
    }
}
