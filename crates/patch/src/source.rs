//! The lines of a patch's text, and what is noted while they are read.

use super::{Fault, PatchError, Repair};

/// A patch's text in lines, without their line ends.
///
/// A text whose every line ends in CRLF came through a channel that does that; the carriage returns
/// are not the patch's. Where only some lines have one, it belongs to the line.
pub(super) struct Source<'a> {
    lines: Vec<&'a str>,
    /// Whether the last line has a newline.
    pub(super) terminated: bool,
    /// The end of the last line that is not blank.
    pub(super) text_end: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let terminated = text.is_empty() || text.ends_with('\n');
        let body = text.strip_suffix('\n').unwrap_or(text);
        let mut lines: Vec<&str> = if text.is_empty() { Vec::new() } else { body.split('\n').collect() };
        let whole = if terminated { lines.len() } else { lines.len().saturating_sub(1) };
        if whole > 0 && lines[..whole].iter().all(|line| line.ends_with('\r')) {
            lines.iter_mut().for_each(|line| *line = line.strip_suffix('\r').unwrap_or(line));
        }
        Self::of(lines, terminated)
    }

    fn of(lines: Vec<&'a str>, terminated: bool) -> Self {
        let text_end = lines.iter().rposition(|line| !is_blank(line)).map_or(0, |last| last + 1);
        Self { lines, terminated, text_end }
    }

    /// The same lines without the indentation that all of them have.
    pub(super) fn dedented(&self, indent: &str) -> Self {
        let lines = self.lines.iter().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
        Self::of(lines, self.terminated)
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line at an index from 0; an empty one after the end.
    pub(super) fn line(&self, index: usize) -> &'a str {
        self.get(index).unwrap_or("")
    }

    /// The line at an index from 0.
    pub(super) fn get(&self, index: usize) -> Option<&'a str> {
        self.lines.get(index).copied()
    }

    /// The line without blanks and carriage returns at its end.
    pub(super) fn trimmed(&self, index: usize) -> &'a str {
        self.line(index).trim_end()
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &[&'a str] {
        let end = end.min(self.lines.len());
        &self.lines[start.min(end)..end]
    }

    /// The end of `start..end` without the blank lines before it.
    pub(super) fn without_blank_tail(&self, start: usize, end: usize) -> usize {
        let blank = self.slice(start, end).iter().rev().take_while(|line| is_blank(line)).count();
        end.min(self.len()).max(start) - blank
    }
}

/// Whether a line holds nothing, its carriage return aside.
pub(super) fn is_blank(line: &str) -> bool {
    line.is_empty() || line == "\r"
}

/// The repairs made so far, or their refusal.
pub(super) struct Notes {
    strict: bool,
    pub(super) repairs: Vec<Repair>,
}

impl Notes {
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, repairs: Vec::new() }
    }

    /// Whether nothing may be repaired.
    pub(super) fn strict(&self) -> bool {
        self.strict
    }

    /// Notes that the line at `index` was wrong and how it was read; an error if that is not wanted.
    pub(super) fn repair(&mut self, index: usize, what: impl Into<String>) -> Result<(), PatchError> {
        let what = what.into();
        if self.strict {
            let hint = "Correct the patch, or switch strict validation off to have it repaired.";
            let what = format!("strict validation refuses what would else be repaired: {what}");
            return Err(fault(Fault::Strict, index, what, hint));
        }
        self.remark(index, what);
        Ok(())
    }

    /// Notes how the line at `index` was read, which is no fault.
    pub(super) fn remark(&mut self, index: usize, what: impl Into<String>) {
        self.repairs.push(Repair { line: index + 1, what: what.into() });
    }
}

/// An error about the line at `index`.
pub(super) fn fault(
    fault: Fault,
    index: usize,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> PatchError {
    PatchError { line: index + 1, fault, message: message.into(), hint: hint.into() }
}

/// An error about the form of the line at `index`.
pub(super) fn syntax(index: usize, message: impl Into<String>, hint: impl Into<String>) -> PatchError {
    fault(Fault::Syntax, index, message, hint)
}

/// The largest line number that is read and written.
pub(super) const MAX_LINE: usize = u32::MAX as usize;

/// A number that a patch states; larger ones than any file has lines are an error.
pub(super) fn number(digits: &str, index: usize) -> Result<usize, PatchError> {
    digits.parse::<u32>().ok().and_then(|value| usize::try_from(value).ok()).ok_or_else(|| {
        let shown: String = digits.chars().take(30).collect();
        syntax(
            index,
            format!("`{shown}` is not a line number"),
            "Line numbers and counts are whole numbers that fit the file, as in `@@ -12,3 +12,4 @@`.",
        )
    })
}

/// The start of a line, for a message.
pub(super) fn shorten(line: &str) -> String {
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into(),
    }
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
    fn carriage_returns_of_the_channel_are_not_the_patchs() {
        assert_eq!(all("a\r\nb\r\n"), ["a", "b"]);
        assert_eq!(all("a\r\nb"), ["a", "b"]);
        assert_eq!(all("a\nb\r\n"), ["a", "b\r"]);
    }

    #[test]
    fn the_last_newline_ends_a_line_and_begins_none() {
        assert!(all("").is_empty());
        assert_eq!(all("\n"), [""]);
        assert_eq!(all("a"), ["a"]);
        assert_eq!(all("a\n\n"), ["a", ""]);
    }

    #[test]
    fn numbers_beyond_any_file_are_refused() {
        assert_eq!(number("12", 0), Ok(12));
        assert!(number("99999999999999999999", 0).unwrap_err().message.contains("99999999999999999999"));
        assert!(number("", 0).is_err());
    }
}
