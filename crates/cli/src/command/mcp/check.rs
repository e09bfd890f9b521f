//! Whether a server that is started with some arguments would start. A host that starts one which does not says
//! little more than that, so `install` finds out before.

use std::path::Path;

use clap::Parser;
use slipstitch::config::Config;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch_mcp::{Catalogue, RootsError, ServeError};

use crate::args::{Cli, Global};
use crate::command::Command;
use crate::command::mcp::{Mcp, refusal};
use crate::{usage, workspace};

/// Refuses what `slipstitch` would refuse with these arguments, in the same words, and what a host cannot use.
pub(super) fn would_start(arguments: &[String]) -> Result<(), Box<Report>> {
    let words = std::iter::once("slipstitch").chain(arguments.iter().map(String::as_str));
    let cli = Cli::try_parse_from(words).map_err(|error| unreadable(&error))?;
    let Command::Mcp(server) = cli.command else { return Err(no_server("they are for another command")) };
    if server.step.is_some() {
        return Err(no_server("they are for `install` or `uninstall`"));
    }
    if server.http.is_some() {
        return Err(no_server("a host that starts a server speaks with it over standard input and output"));
    }
    dialects(&server)?;
    files(&cli.global)
}

fn dialects(server: &Mcp) -> Result<(), Box<Report>> {
    let names: Vec<String> = server.dialect.iter().map(|name| name.trim().to_owned()).collect();
    Catalogue::new(&names).map(|_| ()).map_err(|error| refusal(&ServeError::Catalogue(error)))
}

/// Only what is named in full: the host's working folder is not this one.
fn files(global: &Global) -> Result<(), Box<Report>> {
    if let Some(missing) = global.root.iter().find(|root| root.is_absolute() && !root.is_dir()) {
        return Err(refusal(&ServeError::Roots(RootsError::Missing(missing.clone()))));
    }
    let config = global.config.as_deref().filter(|file| file.is_absolute());
    config.map_or(Ok(()), settings)
}

fn settings(file: &Path) -> Result<(), Box<Report>> {
    Config::load(Some(file)).map(|_| ()).map_err(|error| workspace::open_error_report(error.into()))
}

/// What the program says of arguments that it cannot read.
fn unreadable(error: &clap::Error) -> Box<Report> {
    if !error.use_stderr() {
        return no_server("they ask for help or for the version");
    }
    let hint = "Nothing was written. `slipstitch mcp --help` shows what the server takes.";
    usage::report(error, &[]).hint(hint).into()
}

fn no_server(why: &str) -> Box<Report> {
    let message = format!("a host cannot use the server with these arguments: {why}");
    Report::custom(Status::Invalid, "usage", message)
        .hint("Nothing was written. Leave them out after `--`; `slipstitch mcp --help` shows what the server takes.")
        .into()
}
