//! The one place that writes to the terminal, and what a run ends with.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use clap::ColorChoice;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::args::Global;
use crate::page::{Page, Surface};

/// What a subcommand has to say.
pub(crate) trait Outcome {
    /// How it went.
    fn status(&self) -> Status {
        Status::Shown
    }

    /// For programs: one JSON value.
    fn json(&self) -> serde_json::Result<String>;

    /// For people.
    fn write(&self, page: &mut Page);
}

/// What a subcommand ends with: something to say, or why there is not.
pub(crate) type Done = Result<Box<dyn Outcome>, Box<Report>>;

/// Says it and ends the run.
pub(crate) fn finish(done: Done, options: &Global) -> ExitCode {
    let outcome = done.unwrap_or_else(|refused| refused);
    if options.json {
        let json = outcome.json().map(|json| json + "\n");
        return match json {
            Ok(json) => deliver(json.as_bytes(), b"", outcome.status()),
            Err(error) => deliver(b"", format!("error: {error}\n").as_bytes(), Status::Failed),
        };
    }
    let mut page = page(options.color);
    outcome.write(&mut page);
    deliver(&page.out.bytes, &page.notes.bytes, outcome.status())
}

/// Empty pages that know where they will be shown.
fn page(colour: ColorChoice) -> Page {
    let (out, notes) = (std::io::stdout(), std::io::stderr());
    let wanted = |automatic: anstream::ColorChoice| match colour {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => automatic != anstream::ColorChoice::Never,
    };
    Page {
        out: Surface::new(wanted(AutoStream::choice(&out)), out.is_terminal()),
        // What is said about it may be read by way of a pipe, too, and nobody needs its bytes.
        notes: Surface::new(wanted(AutoStream::choice(&notes)), true),
    }
}

/// Writes to both streams. A reader that has gone away is no failure: it has seen enough.
pub(crate) fn deliver(out: &[u8], notes: &[u8], status: Status) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(out).and_then(|()| stdout.flush());
    let mut stderr = std::io::stderr().lock();
    // There is nowhere left to say that stderr cannot be written to.
    let _ = stderr.write_all(notes);
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(stderr, "error: the output cannot be written: {error}");
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
