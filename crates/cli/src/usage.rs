//! Arguments that make no sense.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::args::Cli;
use crate::names::{Odd, one_line};
use crate::output::{Outcome, deliver};

/// Shows what clap has to say: help, the version, or what is wrong.
pub(crate) fn finish(error: &clap::Error, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    if !error.use_stderr() {
        // A reader that has gone away is no failure.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<OsString> = arguments.collect();
    let report = report(error, &arguments);
    if wants_json(&arguments) {
        let json = report.json().unwrap_or_default() + "\n";
        return deliver(json.as_bytes(), b"", Status::Invalid);
    }
    if error.kind() == ErrorKind::InvalidUtf8 {
        let hint = report.hint.unwrap_or_default();
        let notes = format!("error: {}\nhint: {hint}\n", one_line(&report.message));
        return deliver(b"", notes.as_bytes(), Status::Invalid);
    }
    let odd = Odd::named_by_caller();
    if !odd.is_empty() {
        let notes = odd.escaped(&error.render().to_string());
        return deliver(b"", notes.as_bytes(), Status::Invalid);
    }
    let _ = error.print();
    deliver(b"", b"", Status::Invalid)
}

/// What is wrong with arguments, as a report.
pub(crate) fn report(error: &clap::Error, arguments: &[OsString]) -> Report {
    let (message, hint) = match error.kind() {
        ErrorKind::InvalidUtf8 => {
            let culprit = arguments.iter().find(|argument| argument.to_str().is_none());
            let culprit = culprit.map_or(String::new(), |argument| format!(" `{}`", argument.display()));
            (
                format!("the argument{culprit} is not UTF-8"),
                "Give text as UTF-8; a file's content can be given by name (`--new-file` and the like).",
            )
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            ("there is no command".into(), "`slipstitch --help` shows the commands.")
        }
        _ => (
            first_paragraph(error),
            "`slipstitch --help` shows the commands, `slipstitch COMMAND --help` one of them.",
        ),
    };
    Report::custom(Status::Invalid, "usage", message).hint(hint)
}

fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    text.split("\n\n").next().unwrap_or(text).trim_end().into()
}

/// Whether `--json` is among the arguments: not after `--`, and not as the text of an option.
fn wants_json(arguments: &[OsString]) -> bool {
    let command = Cli::command();
    let takes_any_text = |argument: &OsString| {
        command
            .get_subcommands()
            .flat_map(clap::Command::get_arguments)
            .filter(|known| known.is_allow_hyphen_values_set())
            .filter_map(clap::Arg::get_long)
            .any(|long| argument.to_str() == Some(&format!("--{long}")))
    };
    let mut rest = arguments.iter().take_while(|argument| *argument != "--");
    while let Some(argument) = rest.next() {
        if argument == "--json" {
            return true;
        }
        if takes_any_text(argument) {
            rest.next();
        }
    }
    false
}
