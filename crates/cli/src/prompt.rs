//! Questions at a terminal.

use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use slipstitch_platform::terminal::{self, HiddenInput};

use crate::progress;
use crate::streams::StyledText;
use crate::terminal::message_width;

/// Whether someone can be asked.
pub(crate) fn can_ask() -> bool {
    std::io::stderr().is_terminal() && std::io::stdin().is_terminal()
}

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// There is nobody to ask.
    Nobody,
}

/// Shows a text, which ends with a newline or is empty, and asks a question.
pub(crate) fn ask(text: &[u8], question: &str) -> Answer {
    if !can_ask() {
        return Answer::Nobody;
    }
    let _hold = progress::hold();
    let (mut prompt, mut answer) = (io::stderr(), String::new());
    let mut shown = StyledText::new(false, true);
    shown.width = message_width();
    shown.wrapped(&format!("{question} [y/N] "), 0);
    let asked = prompt.write_all(&[text, &shown.bytes].concat()).and_then(|()| prompt.flush()).is_ok();
    let is_answered = asked && io::stdin().lock().read_line(&mut answer).is_ok();
    // After Ctrl-D, the cursor is still on the line of the question.
    if is_answered && !answer.ends_with('\n') {
        let _ = prompt.write_all(b"\n");
    }
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" if is_answered => Answer::Yes,
        _ => Answer::No,
    }
}

/// Lines as one text.
pub(crate) fn join_lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Asks for a secret at the controlling terminal, whatever stdin is, without showing what is typed.
pub(crate) fn ask_secret(question: &str) -> io::Result<String> {
    let _hold = progress::hold();
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
