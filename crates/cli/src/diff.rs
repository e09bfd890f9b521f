//! A unified diff in colours.

use anstyle::{AnsiColor, Style};

use crate::page::Surface;

/// Adds `diff` line by line. Hunks are counted through, because a removed line that starts with `--`
/// looks like a header.
pub(crate) fn write(diff: &[u8], surface: &mut Surface) {
    let (mut old, mut new) = (0usize, 0usize);
    for line in diff.split_inclusive(|&byte| byte == b'\n') {
        let style = if old == 0 && new == 0 {
            match counts(line) {
                Some(counts) => {
                    (old, new) = counts;
                    AnsiColor::Cyan.on_default()
                }
                None if line.starts_with(b"\\") => Style::new(),
                None => Style::new().bold(),
            }
        } else {
            let (gone, come, style) = match line.first() {
                Some(b'-') => (1, 0, AnsiColor::Red.on_default()),
                Some(b'+') => (0, 1, AnsiColor::Green.on_default()),
                Some(b'\\') => (0, 0, Style::new()),
                _ => (1, 1, Style::new()),
            };
            (old, new) = (old.saturating_sub(gone), new.saturating_sub(come));
            style
        };
        surface.styled(style, line);
    }
}

/// How many old and new lines a hunk has, from its first line.
fn counts(line: &[u8]) -> Option<(usize, usize)> {
    let ranges = std::str::from_utf8(line).ok()?.strip_prefix("@@ -")?;
    let (old, rest) = ranges.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(diff: &str) -> String {
        let mut surface = Surface::new(true, false);
        write(diff.as_bytes(), &mut surface);
        String::from_utf8(surface.bytes).unwrap()
    }

    #[test]
    fn lines_are_coloured_by_what_they_are() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- old\n+++ new\n--- a/y\n+++ b/y\n";
        let want = "\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n same\n\
                    \x1b[31m--- old\x1b[0m\n\x1b[32m+++ new\x1b[0m\n\
                    \x1b[1m--- a/y\x1b[0m\n\x1b[1m+++ b/y\x1b[0m\n";
        assert_eq!(painted(diff), want);
    }

    #[test]
    fn the_bytes_are_the_same_without_the_colours() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
        let mut surface = Surface::new(false, false);
        write(diff.as_bytes(), &mut surface);
        assert_eq!(surface.bytes, diff.as_bytes());
        assert!(painted(diff).ends_with("\n\\ No newline at end of file\n"));
    }
}
