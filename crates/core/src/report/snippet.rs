//! The changed lines of a file with line numbers, taken from the diff.

use std::fmt::Write;

/// How many lines are shown.
const MAX_LINES: usize = 80;

/// The new text of each hunk of a unified diff, with line numbers; `…` separates hunks. If the diff has several files,
/// each starts with its name.
pub fn snippet(diff: &str) -> String {
    let has_several_files = diff.lines().filter(|line| line.starts_with("diff --git ")).nth(1).is_some();
    let mut out = String::new();
    let mut hunk = Hunk::default();
    let mut name = None;
    let mut first = true;
    let mut shown = 0;
    let mut omitted = 0;
    for line in diff.split_inclusive('\n') {
        let line = line.trim_end_matches(['\n', '\r']);
        if hunk.is_complete() {
            if let Some(next) = Hunk::parse_header(line) {
                hunk = next;
                match name.take().filter(|_| has_several_files) {
                    _ if omitted > 0 => {}
                    Some(name) => {
                        let _ = writeln!(out, "{name}:");
                    }
                    None if !first => out.push_str("…\n"),
                    None => {}
                }
                first = false;
            } else if let Some(file) = line.strip_prefix("+++ ") {
                name = Some(file.strip_prefix("b/").unwrap_or(file));
            }
        } else if let Some((number, text)) = hunk.parse_line(line) {
            if shown < MAX_LINES {
                let _ = writeln!(out, "{number:>6}\t{text}");
                shown += 1;
            } else {
                omitted += 1;
            }
        }
    }
    if omitted > 0 {
        let _ = writeln!(out, "[… {omitted} more lines …]");
    }
    out.pop();
    out
}

/// A hunk that is being parsed: the lines that remain, and the next line number of the new text.
#[derive(Debug, Default)]
struct Hunk {
    old: usize,
    new: usize,
    number: usize,
}

impl Hunk {
    /// Parses a hunk header.
    fn parse_header(line: &str) -> Option<Self> {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
        let number = new.split(',').next()?.parse().ok()?;
        Some(Self { old: count(old)?, new: count(new)?, number })
    }

    /// Whether all of its lines were parsed; file headers may follow.
    fn is_complete(&self) -> bool {
        self.old == 0 && self.new == 0
    }

    /// Parses a line; returns its number and text if it belongs to the new text.
    fn parse_line<'a>(&mut self, line: &'a str) -> Option<(usize, &'a str)> {
        let text = match line.split_at_checked(1)? {
            ("-", _) => {
                self.old = self.old.saturating_sub(1);
                return None;
            }
            ("+", text) => text,
            (" ", text) => {
                self.old = self.old.saturating_sub(1);
                text
            }
            _ => return None,
        };
        self.new = self.new.saturating_sub(1);
        self.number += 1;
        Some((self.number - 1, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_context_and_added_lines() {
        let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n+1\r\n two\n@@ -8 +8,2 @@\n+7.5\n eight\n\\ No newline at end of file\n";
        assert_eq!(snippet(diff), "     1\t1\n     2\ttwo\n…\n     8\t7.5\n     9\teight");
    }

    #[test]
    fn truncates_long_changes() {
        let added: String = (0..100).map(|n| format!("+{n}\n")).collect();
        let text = snippet(&format!("@@ -0,0 +1,100 @@\n{added}"));
        assert_eq!(text.lines().count(), 81);
        assert!(text.ends_with("[… 20 more lines …]"), "{text}");
    }

    #[test]
    fn separates_files_and_skips_their_headers() {
        let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n\\ No newline at end of file\n\
                    diff --git a/x/b b/x/b\n--- a/x/b\n+++ b/x/b\n@@ -3 +3 @@\n-b\n+++ B\n@@ -9 +9 @@\n-c\n+C\n";
        assert_eq!(snippet(diff), "a:\n     1\t1\n     2\ttwo\nx/b:\n     3\t++ B\n…\n     9\tC");
    }
}
