//! Coloured unified diffs.

use anstyle::{AnsiColor, Style};

use crate::streams::StyledText;

/// Writes `diff` with colours. It counts the lines of each hunk, because a removed line that starts with `--` looks
/// like a file header.
pub(crate) fn write_colored(diff: &[u8], out: &mut StyledText) {
    if !out.has_color() {
        return out.text(diff);
    }
    let (mut old, mut new) = (0usize, 0usize);
    for line in diff.split_inclusive(|&byte| byte == b'\n') {
        let style = if old == 0 && new == 0 {
            match hunk_counts(line) {
                Some(counts) => {
                    (old, new) = counts;
                    AnsiColor::Cyan.on_default()
                }
                None if line.starts_with(b"\\") => Style::new(),
                None => Style::new().bold(),
            }
        } else {
            let (removed, added, style) = match line.first() {
                Some(b'-') => (1, 0, AnsiColor::Red.on_default()),
                Some(b'+') => (0, 1, AnsiColor::Green.on_default()),
                Some(b'\\') => (0, 0, Style::new()),
                _ => (1, 1, Style::new()),
            };
            (old, new) = (old.saturating_sub(removed), new.saturating_sub(added));
            style
        };
        out.styled(style, line);
    }
}

/// The numbers of old and new lines in a hunk header.
fn hunk_counts(line: &[u8]) -> Option<(usize, usize)> {
    let ranges = std::str::from_utf8(line).ok()?.strip_prefix("@@ -")?;
    let (old, rest) = ranges.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colored(diff: &str) -> String {
        let mut out = StyledText::new(true, false);
        write_colored(diff.as_bytes(), &mut out);
        String::from_utf8(out.bytes).unwrap()
    }

    #[test]
    fn colours_lines_by_kind() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- old\n+++ new\n--- a/y\n+++ b/y\n";
        let want = "\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n same\n\
                    \x1b[31m--- old\x1b[0m\n\x1b[32m+++ new\x1b[0m\n\
                    \x1b[1m--- a/y\x1b[0m\n\x1b[1m+++ b/y\x1b[0m\n";
        assert_eq!(colored(diff), want);
    }

    #[test]
    fn writes_the_diff_unchanged_without_colours() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
        let mut out = StyledText::new(false, false);
        write_colored(diff.as_bytes(), &mut out);
        assert_eq!(out.bytes, diff.as_bytes());
        assert!(colored(diff).ends_with("\n\\ No newline at end of file\n"));
    }
}
