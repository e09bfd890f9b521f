//! The command-line program of Slipstitch.

mod args;
mod change;
mod command;
mod consent;
mod diff;
mod input;
mod json;
mod lines;
mod names;
mod output;
mod page;
mod render;
mod shell;
mod usage;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    allow_many_files();
    match args::Cli::try_parse() {
        Ok(cli) => output::finish(cli.command.run(&cli.global), &cli.global),
        Err(error) => usage::finish(&error, std::env::args_os()),
    }
}

/// A patch of many files holds several handles of each; the usual limit is low for the sake of old programs.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Where it cannot be raised, such a patch is refused with the reason.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
