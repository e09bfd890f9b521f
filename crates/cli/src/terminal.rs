//! The terminal that output goes to: its width, and a pager for output that does not fit on it.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

use crate::global::{Global, Paging};
use crate::streams;

/// The width of the terminal that stdout goes to; `None` if it goes elsewhere.
pub(crate) fn width() -> Option<usize> {
    std::io::stdout().is_terminal().then(size).flatten().map(|(columns, _)| columns)
}

/// The width of the terminal that stderr goes to; `None` if it goes elsewhere.
pub(crate) fn message_width() -> Option<usize> {
    std::io::stderr().is_terminal().then(size).flatten().map(|(columns, _)| columns)
}

/// Columns and rows. `COLUMNS` and `LINES` win, as everywhere.
fn size() -> Option<(usize, usize)> {
    let variable = |name: &str| std::env::var(name).ok()?.parse().ok().filter(|&number: &usize| number > 0);
    let found = terminal_size::terminal_size_of(std::io::stdout())
        .or_else(|| terminal_size::terminal_size_of(std::io::stderr()));
    let columns = variable("COLUMNS").or(found.map(|(columns, _)| columns.0.into()))?;
    let rows = variable("LINES").or(found.map(|(_, rows)| rows.0.into()))?;
    Some((columns, rows))
}

/// Shows text in the user's pager if it does not fit on the terminal. Returns whether it was shown.
///
/// The pager is `SLIPSTITCH_PAGER`, else `PAGER`, else `less`; an empty one or `cat` means none, as for Git. `less` gets the
/// options that Git gives it: keep colours, quit if all fits, leave the text on the screen.
pub(crate) fn page(text: &[u8], global: &Global) -> bool {
    let is_interactive = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if global.paging() == Paging::Never || !is_interactive || fits(text) {
        return false;
    }
    let variable = |name: &str| std::env::var_os(name);
    let pager =
        variable("SLIPSTITCH_PAGER").or_else(|| variable("PAGER")).unwrap_or_else(|| OsString::from("less"));
    if pager.is_empty() || pager == "cat" {
        return false;
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(&pager).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    let written = child.stdin.take().map(|mut input| input.write_all(text));
    // A pager that was closed early has shown enough; one that does not exist has shown nothing.
    let status = child.wait();
    let is_missing = status.is_ok_and(|status| matches!(status.code(), Some(126 | 127)));
    written.is_some() && !is_missing
}

/// Whether text fits on the terminal, with a line left for the prompt.
fn fits(text: &[u8]) -> bool {
    let Some((columns, rows)) = size() else { return true };
    let mut used = 0;
    for line in anstream::adapter::strip_bytes(text).into_vec().split(|&byte| byte == b'\n') {
        let length = streams::columns(&String::from_utf8_lossy(line));
        used += length.div_ceil(columns).max(1);
        if used > rows {
            return false;
        }
    }
    true
}
