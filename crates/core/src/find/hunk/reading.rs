//! One way to read a hunk, in the lines that the searchable text has.

use slipstitch_patch::{HunkLine, Role};

/// A line of a hunk, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'h> {
    pub(super) role: Role,
    pub(super) text: &'h str,
    /// Whether a newline ends it.
    pub(super) newline: bool,
    /// Whether that newline is `\r\n` in the diff.
    pub(super) crlf: bool,
}

/// The lines of a hunk, read in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading<'h> {
    pub(super) lines: Vec<Line<'h>>,
}

impl<'h> Reading<'h> {
    /// A `\r` ends a line of the searchable text as a `\n` does, so a line of the diff may be several.
    pub(super) fn new(lines: &'h [HunkLine]) -> Self {
        let mut out = Vec::with_capacity(lines.len());
        for line in lines {
            let (body, crlf) = match line.text.strip_suffix('\r') {
                Some(body) => (body, true),
                None => (line.text.as_str(), false),
            };
            if !body.contains('\r') {
                // A file that ends in `\r` has a newline there.
                let newline = line.newline || crlf;
                out.push(Line { role: line.role, text: body, newline, crlf });
                continue;
            }
            let parts: Vec<&str> = body.split('\r').collect();
            let last = parts.len() - 1;
            for (number, part) in parts.into_iter().enumerate() {
                let newline = number < last || line.newline || crlf;
                out.push(Line { role: line.role, text: part, newline, crlf: crlf && number == last });
            }
        }
        Self { lines: out }
    }

    /// The lines that must stand in the file.
    pub(super) fn old(&self) -> impl Iterator<Item = &Line<'h>> {
        self.lines.iter().filter(|line| line.role.is_old())
    }

    /// The lines that will stand there.
    pub(super) fn new_lines(&self) -> impl Iterator<Item = &Line<'h>> {
        self.lines.iter().filter(|line| line.role.is_new())
    }

    /// How many lines must stand in the file.
    pub(super) fn old_count(&self) -> usize {
        self.old().count()
    }

    /// Whether the lines that must stand in the file say nothing.
    pub(super) fn is_blank(&self) -> bool {
        self.old().all(|line| line.text.trim().is_empty())
    }

    /// Whether a line says of itself that it ends the file.
    pub(super) fn ends_file(&self) -> bool {
        self.lines.iter().any(|line| !line.newline)
    }

    /// Whether the last of the old lines is said to have no newline.
    pub(super) fn old_is_open(&self) -> bool {
        self.old().last().is_some_and(|line| !line.newline)
    }

    /// Whether the last of the new lines is said to have no newline.
    pub(super) fn new_is_open(&self) -> bool {
        self.new_lines().last().is_some_and(|line| !line.newline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, newline: bool) -> HunkLine {
        HunkLine { role: Role::Context, text: text.into(), newline }
    }

    #[test]
    fn carriage_returns_end_lines_too() {
        let lines = [line("a\rb\r", true), line("c", false)];
        let read: Vec<(String, bool, bool)> = Reading::new(&lines)
            .lines
            .into_iter()
            .map(|line| (line.text.to_owned(), line.newline, line.crlf))
            .collect();
        assert_eq!(read, [("a".into(), true, false), ("b".into(), true, true), ("c".into(), false, false)]);
    }
}
