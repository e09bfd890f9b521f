//! The command-line program of Incise.

mod args;
mod change;
mod command;
mod consent;
mod diff;
mod input;
mod json;
mod lines;
mod output;
mod page;
mod render;
mod usage;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match args::Cli::try_parse() {
        Ok(cli) => output::finish(cli.command.run(&cli.global), &cli.global),
        Err(error) => usage::finish(&error, std::env::args_os()),
    }
}
