//! Questions at a terminal.

use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use slipstitch_platform::terminal::{self, HiddenInput};

/// Whether someone can be asked.
pub(crate) fn can_ask() -> bool {
    std::io::stderr().is_terminal() && std::io::stdin().is_terminal()
}

/// Shows some lines and asks a question; no if there is nobody to ask.
pub(crate) fn confirm(lines: &[String], question: &str) -> bool {
    if !can_ask() {
        return false;
    }
    let (mut prompt, mut answer) = (std::io::stderr(), String::new());
    let shown: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let asked =
        prompt.write_all(format!("{shown}{question} [y/N] ").as_bytes()).and_then(|()| prompt.flush());
    asked.is_ok()
        && std::io::stdin().lock().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Asks for a secret at the controlling terminal, whatever stdin is, without showing what is typed.
pub(crate) fn ask_secret(question: &str) -> io::Result<String> {
    let (input, mut output) = terminal::open()?;
    // First, so that nothing is shown of what is typed as soon as the question appears.
    let hidden = HiddenInput::start(&input)?;
    write!(output, "{question}: ")?;
    let mut line = String::new();
    let read = BufReader::new(&input).read_line(&mut line);
    drop(hidden);
    writeln!(output)?;
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
