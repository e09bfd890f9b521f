//! What `torture` does when a rig starts it as a process of its own.

use std::process::ExitCode;

use crate::concurrency::{editing, foreign};
use crate::{editor, serve};

/// The first word on the command line of a worker.
pub const WORD: &str = "worker";

/// Runs a worker; the words after [`WORD`] say which.
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "it answers as a program does")]
pub fn run(words: &[String]) -> ExitCode {
    let done = match words.split_first() {
        Some((kind, rest)) if kind == "naive" => editor::naive(rest).map_err(|error| error.to_string()),
        Some((kind, rest)) if kind == "careless" => editor::careless(rest).map_err(|error| error.to_string()),
        Some((kind, rest)) if kind == "edit" => editing::run(rest),
        Some((kind, rest)) if kind == "append" => foreign::append(rest),
        Some((kind, rest)) if kind == "replace" => foreign::replace(rest),
        Some((kind, rest)) if kind == "serve" => serve::unprotected(rest),
        _ => Err("a worker is started by a rig, never by hand".into()),
    };
    match done {
        Ok(()) => {
            println!("done");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}
