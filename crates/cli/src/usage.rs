//! Usage errors.

use slipstitch::core::text::display::{escape_controls, escape_text};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::escape::UnsafeNames;
use crate::output::{CommandOutput, Effect, write_streams};

/// Names that other tools have for our commands.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("replace", "edit"),
    ("sed", "edit"),
    ("sub", "edit"),
    ("change", "edit"),
    ("apply", "patch"),
    ("diff", "show"),
    ("cat", "read"),
    ("view", "read"),
    ("open", "read"),
    ("history", "log"),
    ("status", "log"),
    ("revert", "undo"),
    ("rollback", "undo"),
    ("restore", "undo"),
    ("rm", "delete"),
    ("remove", "delete"),
    ("mv", "move"),
    ("rename", "move"),
    ("create", "write"),
    ("new", "write"),
    ("add", "append"),
    ("insert", "lines"),
    ("install", "mcp install"),
    ("serve", "mcp"),
    ("server", "mcp"),
    ("settings", "config"),
    ("approve", "review"),
    ("accept", "review accept"),
];

/// Tips for commands that do not exist.
const NO_COMMANDS: &[(&str, &str)] = &[
    ("version", "slipstitch --version prints the version"),
    ("init", "nothing has to be set up; edit a file of the project"),
    ("commit", "every change is recorded as it is made; slipstitch log lists them"),
    ("docs", "slipstitch help lists the commands and topics"),
];

/// Tips for a word that a command does not take, or lacks. The word is an option, an argument, or the start of the name of a
/// missing argument.
const OTHER_WAYS: &[(&str, &str, &str)] = &[
    ("edit", "--old", "name the texts: slipstitch edit FILE --old TEXT --new TEXT"),
    ("lines", "--new", "give the new lines with --new or --new-file, or delete the lines with --delete"),
    ("lines", "<LINES>", "name the lines, such as 4 or 4-6, or insert with --after N"),
    ("write", "[-]", "name the text: slipstitch write FILE --content TEXT"),
    ("append", "[-]", "name the text: slipstitch append FILE --content TEXT"),
    ("undo", "--last", "without an id, the last change is undone: slipstitch undo"),
    ("redo", "--last", "without an id, the last undo is reverted: slipstitch redo"),
    ("show", "--last", "without an id, the last change is shown: slipstitch show"),
    ("log", "-n", "limit the list with --limit N"),
    ("log", "-p", "slipstitch show ID shows the diff of a change"),
    ("config", "set", "settings are kept in a file; slipstitch config path prints where it is"),
    ("config", "edit", "settings are kept in a file; slipstitch config path prints where it is"),
    ("config", "get", "slipstitch config show prints all settings in effect"),
];

/// Suggests our name for a command of another tool, instead of one that is only spelled alike.
fn suggest_own_name(error: &mut clap::Error) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return };
    if let Some((_, own)) = OTHER_NAMES.iter().find(|(other, _)| other == word) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![(*own).into()]));
    } else if let Some((_, tip)) = NO_COMMANDS.iter().find(|(other, _)| other == word) {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
    }
}

/// Adds a tip to an error about arguments that other tools would accept.
fn explain_way(error: &mut clap::Error, command: &clap::Command, arguments: &[OsString]) {
    let names = || command.get_subcommands().map(clap::Command::get_name);
    let used = arguments.iter().skip(1).find_map(|argument| names().find(|name| argument == name));
    let Some(used) = used else { return };
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    let words = match (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidSubcommand)) {
        (Some(ContextValue::Strings(missing)), _) => missing.clone(),
        // What looks like an option of `sed`.
        (Some(ContextValue::String(unknown)), _) if used == "edit" && !unknown.starts_with("--") => {
            vec!["--old".into()]
        }
        (Some(ContextValue::String(word)), _) if is_unknown || word == "[-]" => vec![word.clone()],
        (None, Some(ContextValue::String(word))) => vec![word.clone()],
        _ => return,
    };
    let is_lines = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    let tip = match used {
        "read" if is_unknown && words.iter().any(is_lines) => {
            Some("name the lines: slipstitch read FILE --lines 10-20")
        }
        _ => OTHER_WAYS
            .iter()
            .find(|(name, start, _)| *name == used && words.iter().any(|word| word.starts_with(start)))
            .map(|(.., tip)| *tip),
    };
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// `write` and `append` take nothing but `-` after the file. Any other word is an argument too many, not a bad value of `[-]`.
fn reword_stray_text(error: &mut clap::Error, command: &clap::Command) {
    let is_stray = error.kind() == ErrorKind::InvalidValue
        && error.get(ContextKind::InvalidArg) == Some(&ContextValue::String("[-]".into()));
    let Some(text) = error.get(ContextKind::InvalidValue).filter(|_| is_stray).cloned() else { return };
    let tip = error.get(ContextKind::Suggested).cloned();
    *error = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(command);
    error.insert(ContextKind::InvalidArg, text);
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, tip);
    }
}

/// Prints what clap returned: help, the version, or a usage error.
pub(crate) fn print_parse_error(
    mut error: clap::Error,
    parser: fn() -> clap::Command,
    arguments: impl Iterator<Item = OsString>,
) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    if !error.use_stderr() {
        return match print_in_color(&error, &arguments) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let message = format!("error: cannot write the output: {error}\n");
                write_streams(b"", message.as_bytes(), Status::Failed, Effect::Nothing)
            }
            _ => ExitCode::SUCCESS,
        };
    }
    let command = &parser();
    suggest_own_name(&mut error);
    explain_way(&mut error, command, &arguments);
    reword_stray_text(&mut error, command);
    let report = report(&error, &arguments);
    if wants_json(command, &arguments) {
        let json = report.json().unwrap_or_default() + "\n";
        return write_streams(json.as_bytes(), b"", Status::Invalid, Effect::Nothing);
    }
    if error.kind() == ErrorKind::InvalidUtf8 {
        let hint = report.hint.unwrap_or_default();
        let message = format!("error: {}\nhint: {hint}\n", escape_controls(&report.message));
        return write_streams(b"", message.as_bytes(), Status::Invalid, Effect::Nothing);
    }
    let unsafe_names = UnsafeNames::from_invocation();
    if !unsafe_names.is_empty() {
        let message = escape_text(&unsafe_names.escape_in(&error.render().to_string()));
        return write_streams(b"", message.as_bytes(), Status::Invalid, Effect::Nothing);
    }
    // If stderr can't be written, there is nowhere left to report it.
    let _ = print_in_color(&error, &arguments);
    write_streams(b"", b"", Status::Invalid, Effect::Nothing)
}

/// Prints help or an error with the colours that `--color` wants. clap itself does not know the option yet when it prints.
fn print_in_color(error: &clap::Error, arguments: &[OsString]) -> io::Result<()> {
    let text = match color_option(arguments) {
        Some("never") => error.render().to_string(),
        Some("always") => error.render().ansi().to_string(),
        _ => return error.print(),
    };
    match error.use_stderr() {
        true => io::stderr().write_all(text.as_bytes()),
        false => io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()),
    }
}

/// The value of the last `--color`.
fn color_option(arguments: &[OsString]) -> Option<&str> {
    let options = arguments.iter().take_while(|argument| *argument != "--").map(|argument| argument.to_str());
    let mut found = None;
    let mut is_value = false;
    for option in options {
        match option {
            value if std::mem::take(&mut is_value) => found = value,
            Some("--color") => is_value = true,
            Some(option) => found = option.strip_prefix("--color=").or(found),
            None => {}
        }
    }
    found
}

/// A usage error as a report.
pub(crate) fn report(error: &clap::Error, arguments: &[OsString]) -> Report {
    let (message, hint) = match error.kind() {
        ErrorKind::InvalidUtf8 => {
            let culprit = arguments.iter().find(|argument| argument.to_str().is_none());
            let culprit = culprit.map_or(String::new(), |argument| format!(" `{}`", argument.display()));
            (
                format!("the argument{culprit} is not UTF-8"),
                "Pass text as UTF-8, or put it into a file and pass its name (`--new-file` and similar options).",
            )
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            ("no command given".into(), "Run `slipstitch --help` to list the commands.")
        }
        _ => (
            first_paragraph(error),
            "Run `slipstitch --help` to list the commands, `slipstitch COMMAND --help` for one of them.",
        ),
    };
    Report::custom(Status::Invalid, "usage", message).hint(hint)
}

fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    text.split("\n\n").next().unwrap_or(text).trim_end().into()
}

/// Whether `--json` is given as an option, and not after `--` or as another option's value.
fn wants_json(command: &clap::Command, arguments: &[OsString]) -> bool {
    let takes_free_text = |argument: &OsString| {
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
        if takes_free_text(argument) {
            rest.next();
        }
    }
    false
}
