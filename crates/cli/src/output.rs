//! Printing a command's result. Nothing else in the program writes to stdout or stderr.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use clap::ColorChoice;
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::ChangeId;

use crate::error::CommandError;
use crate::global::Global;
use crate::streams::{Streams, StyledText, escape_json};
use crate::terminal;

/// The output of a subcommand.
pub(crate) trait CommandOutput {
    /// The status, which decides the exit code.
    fn status(&self) -> Status {
        Status::Shown
    }

    /// The change that was made, if any. It stays made if the output cannot be written.
    fn change(&self) -> Option<ChangeId> {
        None
    }

    /// What was done. It stays done if the output cannot be written.
    fn effect(&self) -> Effect {
        self.change().map_or(Effect::Nothing, Effect::Change)
    }

    /// One JSON value, for `--json`.
    fn json(&self) -> serde_json::Result<String>;

    /// Writes the output as text.
    fn write(&self, streams: &mut Streams);
}

/// What a command did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Nothing,
    /// It made this change.
    Change(ChangeId),
    /// It did something else that lasts, such as storing a proposal or forgetting a change.
    Other,
}

/// The result of a subcommand: its output, or the reason it failed.
pub(crate) type CommandResult = Result<Box<dyn CommandOutput>, CommandError>;

/// Prints a result and returns its exit code.
pub(crate) fn print_result(result: CommandResult, options: &Global) -> ExitCode {
    let output = result.unwrap_or_else(|error| Box::new(error));
    if options.json {
        let json = output.json().map(|json| json + "\n");
        return match json {
            Ok(json) if std::io::stdout().is_terminal() => {
                write_streams(escape_json(&json).as_bytes(), b"", output.status(), output.effect())
            }
            Ok(json) => write_streams(json.as_bytes(), b"", output.status(), output.effect()),
            Err(error) => {
                let message = format!("error: {error}\n");
                write_streams(b"", message.as_bytes(), Status::Failed, output.effect())
            }
        };
    }
    let mut streams = new_streams(options.color);
    output.write(&mut streams);
    // What a change did is not paged: it is done, and the next command is waiting.
    let is_only_shown = matches!(output.status(), Status::Shown | Status::WouldApply);
    if is_only_shown && terminal::page(&streams.out.bytes, options) {
        streams.out.bytes.clear();
    }
    write_streams(&streams.out.bytes, &streams.err.bytes, output.status(), output.effect())
}

/// Prints a part of a command's output while the command runs; with `--json`, as one line. Fails if nobody reads any more.
pub(crate) fn print_part(part: &dyn CommandOutput, options: &Global) -> std::io::Result<()> {
    let mut streams = new_streams(options.color);
    if options.json {
        streams.out.line(part.json()?);
    } else {
        part.write(&mut streams);
    }
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&streams.out.bytes)?;
    stdout.flush()
}

/// An empty text for stderr, to be written before the command has ended.
pub(crate) fn message_text(options: &Global) -> StyledText {
    new_streams(options.color).err
}

/// Empty buffers with the styling that stdout and stderr support.
fn new_streams(color: ColorChoice) -> Streams {
    let (out, err) = (std::io::stdout(), std::io::stderr());
    let use_color = |automatic: anstream::ColorChoice| match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => automatic != anstream::ColorChoice::Never,
    };
    let mut streams = Streams {
        out: StyledText::new(use_color(AutoStream::choice(&out)), out.is_terminal()),
        // Messages are escaped even in a pipe: someone may still read them on a terminal, and no program needs the bytes.
        err: StyledText::new(use_color(AutoStream::choice(&err)), true),
    };
    streams.err.width = terminal::message_width();
    streams
}

/// The exit code of a command that did its work although its output could not be written.
const DONE_WITHOUT_OUTPUT: u8 = 4;

/// Writes both streams and returns the exit code.
///
/// A closed pipe is not a failure: the reader has seen enough. Any other error is one, but if the command did something, the
/// exit code is neither that of a failure, which would invite a second try, nor that of success, because the output is missing.
pub(crate) fn write_streams(out: &[u8], err: &[u8], status: Status, effect: Effect) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(out).and_then(|()| stdout.flush());
    let mut stderr = std::io::stderr().lock();
    // If stderr can't be written, there is nowhere left to report it.
    let _ = stderr.write_all(err);
    let Err(error) = written else { return exit_code(status) };
    let is_closed = error.kind() == ErrorKind::BrokenPipe;
    let is_said = |id: ChangeId| String::from_utf8_lossy(err).contains(&format!("(change {id}"));
    match effect {
        // If stderr already names the change, a closed pipe needs no second message.
        Effect::Change(id) if !(is_closed && is_said(id)) => {
            let _ = writeln!(
                stderr,
                "warning: the change was made (change {id}; undo with: slipstitch undo {id}), but its output could not be written: {error}"
            );
        }
        Effect::Other if !is_closed => {
            let _ = writeln!(
                stderr,
                "warning: the command did its work, but its output could not be written: {error}"
            );
        }
        _ => {}
    }
    match effect {
        _ if is_closed => exit_code(status),
        Effect::Change(_) | Effect::Other => DONE_WITHOUT_OUTPUT.into(),
        Effect::Nothing => {
            let _ = writeln!(stderr, "error: cannot write the output: {error}");
            exit_code(Status::Failed)
        }
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
