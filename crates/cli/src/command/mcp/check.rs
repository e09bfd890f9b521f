//! Checks that a server with some arguments would start. A host whose server does not start says little more than
//! that, so `install` finds out first.

use std::path::Path;

use clap::Parser;
use slipstitch::config::Config;
use slipstitch_mcp::{Catalogue, RootsError, ServeError};

use crate::command::Cli;
use crate::command::Command;
use crate::command::mcp::{Mcp, error_report};
use crate::error::CommandError;
use crate::global::Global;
use crate::{usage, workspace};

/// The names of the tools that a server with these arguments offers. Rejects arguments that `slipstitch` would reject,
/// with the same message, and those that a host cannot use.
pub(super) fn would_start(arguments: &[String]) -> Result<Vec<String>, CommandError> {
    let words = std::iter::once("slipstitch").chain(arguments.iter().map(String::as_str));
    let cli = Cli::try_parse_from(words).map_err(|error| usage_error(&error))?;
    let Command::Mcp(server) = cli.command else { return Err(not_a_server("they are for another command")) };
    if server.command.is_some() {
        return Err(not_a_server("they are for `install` or `uninstall`"));
    }
    if server.http.is_some() {
        return Err(not_a_server("a host talks to the servers it starts over standard input and output"));
    }
    let tools = tool_names(&server)?;
    check_files(&cli.global)?;
    Ok(tools)
}

fn tool_names(server: &Mcp) -> Result<Vec<String>, CommandError> {
    let names: Vec<String> = server.dialect.iter().map(|name| name.trim().to_owned()).collect();
    let catalogue = Catalogue::new(&names).map_err(|error| error_report(&ServeError::Catalogue(error)))?;
    let tools = catalogue.dialects().iter().flat_map(|dialect| dialect.tools);
    Ok(tools.map(|tool| tool.name.to_owned()).collect())
}

/// Checks absolute paths only: relative ones depend on the directory in which the host starts the server.
fn check_files(global: &Global) -> Result<(), CommandError> {
    if let Some(missing) = global.root.iter().find(|root| root.is_absolute() && !root.is_dir()) {
        return Err(error_report(&ServeError::Roots(RootsError::Missing(missing.clone()))));
    }
    let config = global.config.as_deref().filter(|file| file.is_absolute());
    config.map_or(Ok(()), check_config)
}

fn check_config(file: &Path) -> Result<(), CommandError> {
    Config::load(Some(file)).map(|_| ()).map_err(|error| workspace::open_error_report(error.into()))
}

fn usage_error(error: &clap::Error) -> CommandError {
    if !error.use_stderr() {
        return not_a_server("they ask for help or the version");
    }
    let hint = "Nothing was written. `slipstitch mcp --help` lists the server's options.";
    CommandError::with_multiline_message(usage::report(error, &[]).hint(hint))
}

fn not_a_server(reason: &str) -> CommandError {
    let message = format!("a host cannot start the server with these arguments: {reason}");
    CommandError::usage(
        message,
        "Nothing was written. Omit them after `--`; `slipstitch mcp --help` lists the server's options.",
    )
}
