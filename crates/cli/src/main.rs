//! The `slipstitch` command-line program.

mod caller_names;
mod change;
mod command;
mod complete;
mod consent;
mod diff;
mod environment;
mod error;
mod escape;
mod file_argument;
mod file_set;
mod global;
mod ids;
mod input;
mod json;
mod lines;
mod model_option;
mod other_roots;
mod output;
mod path_filter;
mod progress;
mod project;
mod prompt;
mod render;
mod reviewer;
mod selection;
mod shell;
mod streams;
mod terminal;
mod topics;
mod usage;
mod wording;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // Prints completions and ends if a shell asks for them.
    clap_complete::CompleteEnv::with_factory(command::parser).complete();
    // A patch of many files keeps several handles open per file, and the default soft limit is low for the sake of
    // programs that use `select`. If it can't be raised, a patch that needs more handles is refused with the reason.
    slipstitch_platform::process::raise_open_file_limit();
    let code = match parse() {
        Ok(cli) => output::print_result(cli.command.run(&cli.global), &cli.global),
        Err(error) => usage::print_parse_error(error, command::parser, std::env::args_os()),
    };
    // A busy Emacs reloads its buffers only if this process still runs when it is free.
    slipstitch::editors::finish_reloads(slipstitch::editors::Emacs::TIMEOUT);
    code
}

/// Parses the command line. Help is laid out for the terminal only if it is shown: that costs more than parsing.
fn parse() -> Result<command::Cli, clap::Error> {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(parsed) = command::parse_named(&arguments) {
        return parsed;
    }
    command::Cli::try_parse().map_err(|error| match error.kind() {
        DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand => {
            command::parser().try_get_matches().err().unwrap_or(error)
        }
        _ => error,
    })
}
