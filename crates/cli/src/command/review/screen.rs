//! `slipstitch review` at a terminal: the full-screen view.

use std::io::IsTerminal;

use clap::ColorChoice;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::{Reviewer, Workspace};
use slipstitch_review::terminal;

use crate::global::Global;
use crate::other_roots::OtherRoots;
use crate::output::CommandResult;

/// How proposals are shown to whoever runs the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Display {
    /// In the full-screen view.
    Screen,
    /// Line by line, with questions.
    Lines,
    /// As a list, without questions.
    List,
}

/// Full screen for a person, line by line on a terminal that cannot move its cursor, and a list for programs.
pub(super) fn choose_display(global: &Global) -> Display {
    let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    match !global.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        true if is_dumb => Display::Lines,
        true => Display::Screen,
        false => Display::List,
    }
}

/// Shows the view until it is closed.
pub(super) fn run(
    workspace: &Workspace,
    reviewer: Reviewer,
    global: &Global,
    limits: terminal::Limits<'_>,
) -> CommandResult {
    let elsewhere = OtherRoots::of(workspace).describe_pending();
    let note = elsewhere.map(|roots| format!("note: proposals {roots}"));
    let options = terminal::Options { reviewer, note, colors: colors(global.color), limits };
    let decided = terminal::run(workspace, options).map_err(|error| {
        Report::custom(Status::Failed, "terminal", format!("cannot use the terminal: {error}"))
    })?;
    let message = match decided {
        0 => "Nothing was decided.".to_owned(),
        1 => "1 proposal decided.".to_owned(),
        count => format!("{count} proposals decided."),
    };
    Ok(Box::new(Report::custom(Status::Applied, "reviewed", message)))
}

fn colors(choice: ColorChoice) -> terminal::Colors {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Never => terminal::Colors::Off,
        ColorChoice::Auto if is_refused => terminal::Colors::Off,
        ColorChoice::Auto | ColorChoice::Always => terminal::Colors::On,
    }
}
