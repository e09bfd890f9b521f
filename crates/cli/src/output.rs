//! Printing a command's result. Nothing else in the program writes to stdout or stderr.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use clap::ColorChoice;
use slipstitch::core::outcome::Status;

use crate::error::CommandError;
use crate::global::Global;
use crate::streams::{Streams, StyledText};

/// The output of a subcommand.
pub(crate) trait CommandOutput {
    /// The status, which decides the exit code.
    fn status(&self) -> Status {
        Status::Shown
    }

    /// One JSON value, for `--json`.
    fn json(&self) -> serde_json::Result<String>;

    /// Writes the output as text.
    fn write(&self, streams: &mut Streams);
}

/// The result of a subcommand: its output, or the reason it failed.
pub(crate) type CommandResult = Result<Box<dyn CommandOutput>, CommandError>;

/// Prints a result and returns its exit code.
pub(crate) fn print_result(result: CommandResult, options: &Global) -> ExitCode {
    let output = result.unwrap_or_else(|error| Box::new(error));
    if options.json {
        let json = output.json().map(|json| json + "\n");
        return match json {
            Ok(json) => write_streams(json.as_bytes(), b"", output.status()),
            Err(error) => write_streams(b"", format!("error: {error}\n").as_bytes(), Status::Failed),
        };
    }
    let mut streams = new_streams(options.color);
    output.write(&mut streams);
    write_streams(&streams.out.bytes, &streams.err.bytes, output.status())
}

/// Empty buffers with the styling that stdout and stderr support.
fn new_streams(color: ColorChoice) -> Streams {
    let (out, err) = (std::io::stdout(), std::io::stderr());
    let use_color = |automatic: anstream::ColorChoice| match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => automatic != anstream::ColorChoice::Never,
    };
    Streams {
        out: StyledText::new(use_color(AutoStream::choice(&out)), out.is_terminal()),
        // Messages are escaped even in a pipe: someone may still read them on a terminal, and no program needs the bytes.
        err: StyledText::new(use_color(AutoStream::choice(&err)), true),
    }
}

/// Writes both streams and returns the exit code. A closed pipe is not a failure: the reader has seen enough.
pub(crate) fn write_streams(out: &[u8], err: &[u8], status: Status) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(out).and_then(|()| stdout.flush());
    let mut stderr = std::io::stderr().lock();
    // If stderr can't be written, there is nowhere left to report it.
    let _ = stderr.write_all(err);
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(stderr, "error: cannot write the output: {error}");
            exit_code(Status::Failed)
        }
        _ => exit_code(status),
    }
}

fn exit_code(status: Status) -> ExitCode {
    match status {
        Status::Refused => 1.into(),
        Status::Invalid => 2.into(),
        Status::Failed => 3.into(),
        _ => ExitCode::SUCCESS,
    }
}
