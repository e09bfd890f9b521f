//! The places of a change as they are now, with line numbers: made from its diff.

use std::fmt::Write;

/// How many lines an answer carries.
const MAX_LINES: usize = 80;

/// The lines that a unified diff leaves, numbered; `…` stands between places that are apart. Where it is about several
/// files, each begins with its name.
pub fn snippet(diff: &str) -> String {
    let several = diff.lines().filter(|line| line.starts_with("diff --git ")).nth(1).is_some();
    let mut out = String::new();
    let mut hunk = Hunk::default();
    let mut name = None;
    let mut first = true;
    let mut shown = 0;
    let mut left_out = 0;
    for line in diff.split_inclusive('\n') {
        let line = line.trim_end_matches(['\n', '\r']);
        if hunk.is_over() {
            if let Some(next) = Hunk::starting(line) {
                hunk = next;
                match name.take().filter(|_| several) {
                    _ if left_out > 0 => {}
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
        } else if let Some((number, text)) = hunk.next(line) {
            if shown < MAX_LINES {
                let _ = writeln!(out, "{number:>6}\t{text}");
                shown += 1;
            } else {
                left_out += 1;
            }
        }
    }
    if left_out > 0 {
        let _ = writeln!(out, "[… {left_out} more lines …]");
    }
    out.pop();
    out
}

/// A hunk that is being read: what is left of it, and where it is in the new text.
#[derive(Debug, Default)]
struct Hunk {
    old: usize,
    new: usize,
    number: usize,
}

impl Hunk {
    /// The hunk that begins with this line.
    fn starting(line: &str) -> Option<Self> {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
        let number = new.split(',').next()?.parse().ok()?;
        Some(Self { old: count(old)?, new: count(new)?, number })
    }

    /// Whether all of its lines were read: what follows says something about files.
    fn is_over(&self) -> bool {
        self.old == 0 && self.new == 0
    }

    /// The number and the text of a line that the new text has.
    fn next<'a>(&mut self, line: &'a str) -> Option<(usize, &'a str)> {
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
    fn what_stays_and_what_comes_is_numbered() {
        let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n+1\r\n two\n@@ -8 +8,2 @@\n+7.5\n eight\n\\ No newline at end of file\n";
        assert_eq!(snippet(diff), "     1\t1\n     2\ttwo\n…\n     8\t7.5\n     9\teight");
    }

    #[test]
    fn a_long_change_is_cut() {
        let added: String = (0..100).map(|n| format!("+{n}\n")).collect();
        let text = snippet(&format!("@@ -0,0 +1,100 @@\n{added}"));
        assert_eq!(text.lines().count(), 81);
        assert!(text.ends_with("[… 20 more lines …]"), "{text}");
    }

    #[test]
    fn files_are_told_apart_and_their_headers_are_no_lines() {
        let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n\\ No newline at end of file\n\
                    diff --git a/x/b b/x/b\n--- a/x/b\n+++ b/x/b\n@@ -3 +3 @@\n-b\n+++ B\n@@ -9 +9 @@\n-c\n+C\n";
        assert_eq!(snippet(diff), "a:\n     1\t1\n     2\ttwo\nx/b:\n     3\t++ B\n…\n     9\tC");
    }
}
