//! `torture worker …`: what this program does when a rig starts it as a separate process.

use std::process::ExitCode;

use crate::concurrency::{editing_worker, foreign_writer};
use crate::{naive_editors, program, unprotected_server};

/// The first argument of a worker process.
pub const SUBCOMMAND: &str = program::WORKER_SUBCOMMAND;

/// Runs the worker named by the first of the arguments after [`SUBCOMMAND`].
#[allow(clippy::print_stdout, reason = "a worker is a command-line program")]
pub fn run(args: &[String]) -> ExitCode {
    let Some((kind, rest)) = args.split_first() else { return fail("no worker named") };
    let done = match kind.as_str() {
        "write-in-place" => naive_editors::write_in_place(rest).map_err(|error| error.to_string()),
        "ignore-short-writes" => naive_editors::ignore_short_writes(rest).map_err(|error| error.to_string()),
        "edit" => editing_worker::run(rest),
        "append" => foreign_writer::append(rest),
        "replace" => foreign_writer::replace(rest),
        "save" => foreign_writer::save(rest),
        "serve" => unprotected_server::run(rest),
        kind => Err(format!("unknown worker `{kind}`; workers are started by rigs")),
    };
    match done {
        Ok(()) => {
            println!("done");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error),
    }
}

#[allow(clippy::print_stderr, reason = "a worker is a command-line program")]
fn fail(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(3)
}
