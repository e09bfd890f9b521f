//! Questions at a terminal.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

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
    let mut terminal = File::options().read(true).write(true).open("/dev/tty")?;
    // First, so that nothing is shown of what is typed as soon as the question appears.
    let terminal_settings = terminal.try_clone()?;
    let hidden = HiddenInput::start(&terminal_settings)?;
    write!(terminal, "{question}: ")?;
    let mut line = String::new();
    let read = BufReader::new(&terminal).read_line(&mut line);
    drop(hidden);
    writeln!(terminal)?;
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// A terminal that does not show what is typed; dropping it restores the terminal.
struct HiddenInput<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> HiddenInput<'a> {
    fn start(terminal: &'a File) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(terminal, OptionalActions::Now, &hidden)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for HiddenInput<'_> {
    fn drop(&mut self) {
        // There is nobody to tell; the shell resets the terminal too.
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}
