//! One interpretation of a hunk's text, in lines of the searchable text.

use crate::find::script::FileEnd;
use slipstitch_patch::{HunkLine, Role};

/// A line of a hunk, without its line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'h> {
    pub(super) role: Role,
    pub(super) text: &'h str,
    /// Whether it has a line ending.
    pub(super) newline: bool,
    /// Whether that is `\r\n` in the diff.
    pub(super) crlf: bool,
}

/// The lines of one interpretation of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variant<'h> {
    pub(super) lines: Vec<Line<'h>>,
}

impl<'h> Variant<'h> {
    /// Splits the diff's lines at `\r`, which ends a line in the searchable text just as `\n` does.
    pub(super) fn new(lines: &'h [HunkLine]) -> Self {
        let mut out = Vec::with_capacity(lines.len());
        for line in lines {
            let (body, crlf) = match line.text.strip_suffix('\r') {
                Some(body) => (body, true),
                None => (line.text.as_str(), false),
            };
            if !body.contains('\r') {
                // In a file that ends with `\r`, that is a newline.
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

    /// The lines that must be in the file.
    pub(super) fn old(&self) -> impl Iterator<Item = &Line<'h>> {
        self.lines.iter().filter(|line| line.role.is_old())
    }

    /// The lines that will be in the file.
    pub(super) fn new_lines(&self) -> impl Iterator<Item = &Line<'h>> {
        self.lines.iter().filter(|line| line.role.is_new())
    }

    /// The text of each line on one side.
    pub(super) fn texts_of(&self, is_on_side: fn(Role) -> bool) -> impl Iterator<Item = &'h str> + Clone {
        self.lines.iter().filter(move |line| is_on_side(line.role)).map(|line| line.text)
    }

    /// The text of one side, without its last newline.
    pub(super) fn text(&self, is_on_side: fn(Role) -> bool) -> String {
        let mut text = String::with_capacity(self.text_len(is_on_side) + 1);
        for line in self.texts_of(is_on_side) {
            text.push_str(line);
            text.push('\n');
        }
        text.pop();
        text
    }

    /// The length of the text of one side.
    pub(super) fn text_len(&self, is_on_side: fn(Role) -> bool) -> usize {
        let with_newlines: usize = self.texts_of(is_on_side).map(|line| line.len() + 1).sum();
        with_newlines.saturating_sub(1)
    }

    /// The number of lines that must be in the file.
    pub(super) fn old_count(&self) -> usize {
        self.old().count()
    }

    /// Whether the old lines are all blank.
    pub(super) fn is_blank(&self) -> bool {
        self.old().all(|line| line.text.trim().is_empty())
    }

    /// Whether a line is marked as having no newline, and so as the end of the file.
    pub(super) fn ends_file(&self) -> bool {
        self.lines.iter().any(|line| !line.newline)
    }

    /// Whether the last old line is marked as having no newline.
    pub(super) fn old_lacks_newline(&self) -> bool {
        self.old().last().is_some_and(|line| !line.newline)
    }

    /// Whether the last new line is marked as having no newline.
    pub(super) fn new_lacks_newline(&self) -> bool {
        self.new_lines().last().is_some_and(|line| !line.newline)
    }

    /// What the hunk says about the newline at the end of the file.
    pub(super) fn file_end(&self) -> FileEnd {
        FileEnd::OfHunk {
            old_lacks_newline: self.old_lacks_newline(),
            new_lacks_newline: self.new_lacks_newline(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, newline: bool) -> HunkLine {
        HunkLine { role: Role::Context, text: text.into(), newline }
    }

    #[test]
    fn a_side_has_the_lines_of_its_roles() {
        let of = |role, text: &str| HunkLine { role, text: text.into(), newline: true };
        let lines =
            [of(Role::Context, "é"), of(Role::Removed, "b"), of(Role::Added, ""), of(Role::Added, "d")];
        let variant = Variant::new(&lines);
        assert_eq!([Role::is_old, Role::is_new].map(|side| variant.text(side)), ["é\nb", "é\n\nd"]);
        for lines in [&lines[..], &lines[..2], &lines[2..3], &[]] {
            let variant = Variant::new(lines);
            for side in [Role::is_old, Role::is_new] {
                let joined = variant.texts_of(side).collect::<Vec<_>>().join("\n");
                assert_eq!((variant.text(side), variant.text_len(side)), (joined.clone(), joined.len()));
            }
        }
    }

    #[test]
    fn carriage_returns_end_lines_too() {
        let lines = [line("a\rb\r", true), line("c", false)];
        let read: Vec<(String, bool, bool)> = Variant::new(&lines)
            .lines
            .into_iter()
            .map(|line| (line.text.to_owned(), line.newline, line.crlf))
            .collect();
        assert_eq!(read, [("a".into(), true, false), ("b".into(), true, true), ("c".into(), false, false)]);
    }
}
