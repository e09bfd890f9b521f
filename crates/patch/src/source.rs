//! The lines of a patch's text, and the repairs collected while parsing them.

use super::{PatchError, PatchErrorKind, Repair};
use slipstitch_text::display::truncate_chars;

/// The repair of a hunk header without lines.
pub(super) const DROPPED_EMPTY: &str = "dropped an empty hunk";

/// A patch's text, split into lines without line endings.
///
/// If every line ends in CRLF, the carriage returns come from the transport and are stripped. If
/// only some lines have one, it is part of the line.
pub(super) struct Source<'a> {
    lines: Vec<&'a str>,
    /// Whether the last line has a newline.
    pub(super) terminated: bool,
    /// The index after the last line that is not blank.
    pub(super) text_end: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let terminated = text.is_empty() || text.ends_with('\n');
        let body = text.strip_suffix('\n').unwrap_or(text);
        let mut lines: Vec<&str> = if text.is_empty() { Vec::new() } else { body.split('\n').collect() };
        let complete = if terminated { lines.len() } else { lines.len().saturating_sub(1) };
        if complete > 0 && lines[..complete].iter().all(|line| line.ends_with('\r')) {
            lines.iter_mut().for_each(|line| *line = line.strip_suffix('\r').unwrap_or(line));
        }
        split_joined_hunks(&mut lines);
        Self::from_lines(lines, terminated)
    }

    fn from_lines(lines: Vec<&'a str>, terminated: bool) -> Self {
        let text_end = lines.iter().rposition(|line| !is_blank(line)).map_or(0, |last| last + 1);
        Self { lines, terminated, text_end }
    }

    /// Strips `indent` from every line that has it.
    pub(super) fn dedented(&self, indent: &str) -> Self {
        let lines = self.lines.iter().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
        Self::from_lines(lines, self.terminated)
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line at an index from 0; empty past the end.
    pub(super) fn line(&self, index: usize) -> &'a str {
        self.get(index).unwrap_or("")
    }

    /// The line at an index from 0.
    pub(super) fn get(&self, index: usize) -> Option<&'a str> {
        self.lines.get(index).copied()
    }

    /// The line without trailing whitespace.
    pub(super) fn trimmed(&self, index: usize) -> &'a str {
        self.line(index).trim_end()
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &[&'a str] {
        let end = end.min(self.lines.len());
        &self.lines[start.min(end)..end]
    }

    /// The end of the range `start..end` after dropping trailing blank lines.
    pub(super) fn trim_blank_end(&self, start: usize, end: usize) -> usize {
        let blank = self.slice(start, end).iter().rev().take_while(|line| is_blank(line)).count();
        end.min(self.len()).max(start) - blank
    }
}

/// Splits `@@` from the lines of its hunk if a literal `\n` joins all of them: `@@\n a\n-b\n+c`. The rest is read like any other
/// hunk whose lines are joined.
fn split_joined_hunks(lines: &mut Vec<&str>) {
    let mut at = 0;
    while at < lines.len() {
        let next = lines.get(at + 1).map_or("", |line| line.trim());
        let has_own_lines = !(next.is_empty() || next.starts_with("@@") || next.starts_with("***"));
        if lines[at].starts_with("@@")
            && !has_own_lines
            && let Some((header, hunk)) = lines[at].split_once("\\n")
            && (hunk.starts_with(['+', '-']) || hunk.contains("\\n+") || hunk.contains("\\n-"))
        {
            lines[at] = header;
            lines.insert(at + 1, hunk);
        }
        at += 1;
    }
}

/// Whether a line is empty, apart from a carriage return.
pub(super) fn is_blank(line: &str) -> bool {
    line.is_empty() || line == "\r"
}

/// Collects repairs, or rejects them in strict mode.
pub(super) struct Notes {
    strict: bool,
    keeps_idle_hunks: bool,
    pub(super) repairs: Vec<Repair>,
}

impl Notes {
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, keeps_idle_hunks: false, repairs: Vec::new() }
    }

    /// The same for a caller that wants the hunks that change nothing, too.
    pub(super) fn keeping_idle_hunks(self, keeps_idle_hunks: bool) -> Self {
        Self { keeps_idle_hunks, ..self }
    }

    /// Whether hunks that change nothing are kept.
    pub(super) fn keeps_idle_hunks(&self) -> bool {
        self.keeps_idle_hunks
    }

    /// Whether repairs are errors.
    pub(super) fn strict(&self) -> bool {
        self.strict
    }

    /// Records a repair of the line at `index`; an error in strict mode.
    pub(super) fn repair(&mut self, index: usize, message: impl Into<String>) -> Result<(), PatchError> {
        let message = message.into();
        if self.strict {
            let hint = "Correct the patch, or turn off strict validation to have it repaired.";
            let message = format!("strict validation allows no repair: {message}");
            return Err(error_at(PatchErrorKind::Strict, index, message, hint));
        }
        self.remark(index, message);
        Ok(())
    }

    /// Records how the line at `index` was interpreted, which strict mode allows too.
    pub(super) fn remark(&mut self, index: usize, message: impl Into<String>) {
        self.repairs.push(Repair { line: index + 1, message: message.into() });
    }
}

/// An error about the line at `index`.
pub(super) fn error_at(
    kind: PatchErrorKind,
    index: usize,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> PatchError {
    PatchError { line: index + 1, kind, message: message.into(), hint: hint.into() }
}

/// A syntax error in the line at `index`.
pub(super) fn syntax_error(index: usize, message: impl Into<String>, hint: impl Into<String>) -> PatchError {
    error_at(PatchErrorKind::Syntax, index, message, hint)
}

/// Parses a line number or count. One larger than any file has lines is an error.
pub(super) fn parse_number(digits: &str, index: usize) -> Result<usize, PatchError> {
    digits.parse::<u32>().ok().and_then(|value| usize::try_from(value).ok()).ok_or_else(|| {
        let shown: String = digits.chars().take(30).collect();
        syntax_error(
            index,
            format!("`{shown}` is not a line number"),
            "Line numbers and counts are whole numbers within the file, as in `@@ -12,3 +12,4 @@`.",
        )
    })
}

/// Truncates a line for a message.
pub(super) fn truncate(line: &str) -> String {
    truncate_chars(line, 60).into_owned()
}

/// `1 line`, `2 lines`.
pub(super) fn lines(count: usize) -> String {
    if count == 1 { "1 line".into() } else { format!("{count} lines") }
}

/// `1 blank line`, `2 blank lines`.
pub(super) fn blank_lines(count: usize) -> String {
    if count == 1 { "1 blank line".into() } else { format!("{count} blank lines") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        let source = Source::new(text);
        source.slice(0, source.len()).to_vec()
    }

    #[test]
    fn strips_carriage_returns_added_by_the_transport() {
        assert_eq!(all("a\r\nb\r\n"), ["a", "b"]);
        assert_eq!(all("a\r\nb"), ["a", "b"]);
        assert_eq!(all("a\nb\r\n"), ["a", "b\r"]);
    }

    #[test]
    fn the_last_newline_does_not_start_another_line() {
        assert!(all("").is_empty());
        assert_eq!(all("\n"), [""]);
        assert_eq!(all("a"), ["a"]);
        assert_eq!(all("a\n\n"), ["a", ""]);
    }

    #[test]
    fn rejects_numbers_that_are_too_large() {
        assert_eq!(parse_number("12", 0), Ok(12));
        assert!(
            parse_number("99999999999999999999", 0).unwrap_err().message.contains("99999999999999999999")
        );
        assert!(parse_number("", 0).is_err());
    }
}
