//! Text given by an option, a file, or standard input.

use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::CommandError;

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

/// Input over this size is not read: it is too large for one request, and it might never end.
const MAX_INPUT_BYTES: u64 = 1 << 30;

/// The text for `write` and `append`.
#[derive(Debug, Args)]
pub(crate) struct Content {
    /// `-` reads the text from standard input, even if it is a terminal; without it, only piped input is read
    #[arg(value_name = "-", value_parser = ["-"], conflicts_with_all = ["content", "from"])]
    stdin: Option<String>,
    /// The text, taken literally
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "from")]
    content: Option<String>,
    /// Read the text from a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

impl Content {
    pub(crate) fn read(self) -> Result<String, CommandError> {
        match (self.content, self.from, self.stdin) {
            (Some(text), ..) => Ok(text),
            (None, Some(file), _) => read_file(&file),
            (None, None, Some(_)) => read_stdin(),
            (None, None, None) => read_piped_stdin(),
        }
    }
}

/// Text from an option or a file. The argument parser makes sure that exactly one is given.
pub(crate) fn read_text_or_file(text: Option<String>, file: Option<&Path>) -> Result<String, CommandError> {
    match (text, file) {
        (Some(text), _) => Ok(text),
        (None, Some(file)) => read_file(file),
        (None, None) => Ok(String::new()),
    }
}

/// Whether a file argument means standard input.
pub(crate) fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Reads a file as UTF-8; `-` is standard input.
pub(crate) fn read_file(file: &Path) -> Result<String, CommandError> {
    if is_stdin(file) {
        return read_stdin();
    }
    let name = format!("`{}`", file.display());
    match File::open(file) {
        Ok(opened) => read_utf8(opened, &name),
        Err(error) => Err(unreadable(&name, &error)),
    }
}

/// Reads standard input as UTF-8.
pub(crate) fn read_stdin() -> Result<String, CommandError> {
    read_utf8(std::io::stdin().lock(), "standard input")
}

/// Reads standard input, and says so if it is a terminal: someone may be waiting for the program.
pub(crate) fn read_stdin_with_notice(what: &str) -> Result<String, CommandError> {
    if std::io::stdin().is_terminal() {
        let notice = format!("Reading {what} from the terminal. End it with Ctrl-D on a line of its own.\n");
        let _ = std::io::stderr().write_all(notice.as_bytes());
    }
    read_stdin()
}

/// Reads standard input, unless it is a terminal or empty: a command that failed at the other end of the pipe should
/// not empty a file.
fn read_piped_stdin() -> Result<String, CommandError> {
    if std::io::stdin().is_terminal() {
        let hint = "Use `--content TEXT` or `--from FILE`, pipe the text in, or add `-` to type it.";
        return Err(Report::custom(Status::Invalid, "no_content", "no text given").hint(hint).into());
    }
    let text = read_stdin()?;
    if text.is_empty() {
        let hint = "To write an empty text, use `--content ''` or `-`.";
        let message = "no text given, and standard input is empty";
        return Err(Report::custom(Status::Invalid, "no_content", message).hint(hint).into());
    }
    Ok(text)
}

fn read_utf8(source: impl Read, name: &str) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    source.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let message = format!("{name} is larger than {MAX_INPUT_BYTES} bytes");
        return Err(Report::custom(Status::Invalid, "input_too_large", message)
            .hint("Split the text into smaller parts.")
            .into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Report::custom(
            Status::Invalid,
            "input_not_text",
            format!("{name} is not valid UTF-8 (first invalid byte: byte {})", at + 1),
        )
        .hint("Convert it to UTF-8; it is written in the encoding of the edited file.")
        .into()
    })
}

fn unreadable(name: &str, error: &std::io::Error) -> CommandError {
    let why = match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        // The OS error number is of no use to the reader.
        _ => error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase(),
    };
    Report::custom(Status::Invalid, "input_unreadable", format!("cannot read {name}: {why}"))
        .hint("Check the path; it is relative to the working folder, and `-` is standard input.")
        .into()
}
