//! Questions at a terminal.

use std::io::{BufRead, IsTerminal, Write};

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
