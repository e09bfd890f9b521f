//! Text that is given by an option, by a file, or on standard input.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

/// More than this is not read: it could not be one request, and it might never end.
const MOST: u64 = 1 << 30;

/// The text that `write` and `append` are about.
#[derive(Debug, Args)]
pub(crate) struct Content {
    /// `-` reads the text from standard input, even from a terminal; nothing reads what is piped in
    #[arg(value_name = "-", value_parser = ["-"], conflicts_with_all = ["content", "from"])]
    stdin: Option<String>,
    /// The text, literally
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "from")]
    content: Option<String>,
    /// A file that holds the text; `-` is standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

impl Content {
    pub(crate) fn read(self) -> Result<String, Box<Report>> {
        match (self.content, self.from, self.stdin) {
            (Some(text), ..) => Ok(text),
            (None, Some(file), _) => from_file(&file),
            (None, None, Some(_)) => from_stdin(),
            (None, None, None) => from_piped_stdin(),
        }
    }
}

/// The text that is given in one of two ways; the command line makes sure that it is.
pub(crate) fn text_or_file(text: Option<String>, file: Option<&Path>) -> Result<String, Box<Report>> {
    match (text, file) {
        (Some(text), _) => Ok(text),
        (None, Some(file)) => from_file(file),
        (None, None) => Ok(String::new()),
    }
}

/// Whether a file argument stands for standard input.
pub(crate) fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// A file's text, as it is; `-` is standard input.
pub(crate) fn from_file(file: &Path) -> Result<String, Box<Report>> {
    if is_stdin(file) {
        return from_stdin();
    }
    let name = format!("`{}`", file.display());
    match File::open(file) {
        Ok(opened) => read(opened, &name),
        Err(error) => Err(unreadable(&name, &error)),
    }
}

/// What comes in on standard input.
pub(crate) fn from_stdin() -> Result<String, Box<Report>> {
    read(std::io::stdin().lock(), "standard input")
}

/// The same, unless a person would have to type it, or nothing comes: a command that failed at the
/// other end of the pipe should not empty a file.
fn from_piped_stdin() -> Result<String, Box<Report>> {
    if std::io::stdin().is_terminal() {
        let hint = "Give it with `--content TEXT` or `--from FILE`, pipe it in, or type it after `-`.";
        return Err(Report::custom(Status::Invalid, "no_content", "no text is given").hint(hint).into());
    }
    let text = from_stdin()?;
    if text.is_empty() {
        let hint = "If the text is meant to be empty, say so with `--content ''` or `-`.";
        let message = "no text is given, and standard input is empty";
        return Err(Report::custom(Status::Invalid, "no_content", message).hint(hint).into());
    }
    Ok(text)
}

fn read(source: impl Read, name: &str) -> Result<String, Box<Report>> {
    let mut bytes = Vec::new();
    source.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MOST {
        let message = format!("{name} holds more than {MOST} bytes");
        return Err(Report::custom(Status::Invalid, "input_too_large", message)
            .hint("Give less text at a time.")
            .into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Report::custom(
            Status::Invalid,
            "input_not_text",
            format!("{name} is not UTF-8 text: byte {} is not", at + 1),
        )
        .hint("Convert it to UTF-8; it is written in the encoding of the file that is edited.")
        .into()
    })
}

fn unreadable(name: &str, error: &std::io::Error) -> Box<Report> {
    Report::custom(Status::Invalid, "input_unreadable", format!("{name} cannot be read: {error}"))
        .hint("Check the name; it is relative to the working folder, and `-` is standard input.")
        .into()
}
