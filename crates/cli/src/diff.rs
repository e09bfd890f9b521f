//! Coloured unified diffs, with the words that changed and the syntax of the file.

use anstyle::{AnsiColor, Style};
use slipstitch_review::{Class, Part, mark_hunk};

use crate::streams::StyledText;

/// Longer diffs are coloured by line only: highlighting takes longer than all the rest.
const MAX_MARKED_BYTES: usize = 256 << 10;

/// Writes `diff` with colours.
pub(crate) fn write_colored(diff: &[u8], out: &mut StyledText) {
    if !out.uses_color() {
        return out.text(diff);
    }
    let marks_words = diff.len() <= MAX_MARKED_BYTES;
    let mut path = String::new();
    let mut lines = diff.split_inclusive(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let Some(counts) = hunk_counts(line) else {
            if let Some(name) = path_of(line) {
                path = name;
            }
            let style = if line.starts_with(b"\\") { Style::new() } else { Style::new().bold() };
            out.styled(style, line);
            continue;
        };
        out.styled(AnsiColor::Cyan.on_default(), line);
        let body = take_body(&mut lines, counts);
        if marks_words && body.iter().all(|line| std::str::from_utf8(line).is_ok()) {
            write_marked(&body, &path, out);
        } else {
            body.iter().for_each(|line| out.styled(line_style(line.first()), line));
        }
    }
}

/// The lines of a hunk. They are counted, because a removed line that starts with `--` looks like a file header.
fn take_body<'d>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'d [u8]>>,
    (mut old, mut new): (usize, usize),
) -> Vec<&'d [u8]> {
    let mut body = Vec::new();
    while let Some(line) = lines.next_if(|line| old > 0 || new > 0 || line.starts_with(b"\\")) {
        let (removed, added) = match line.first() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            _ => (1, 1),
        };
        (old, new) = (old.saturating_sub(removed), new.saturating_sub(added));
        body.push(line);
    }
    body
}

fn write_marked(body: &[&[u8]], path: &str, out: &mut StyledText) {
    let text = |line: &'_ [u8]| -> (char, String) {
        let line = String::from_utf8_lossy(line);
        let line = line.strip_suffix('\n').unwrap_or(&line);
        let sign = line.chars().next().unwrap_or(' ');
        (sign, line.get(sign.len_utf8()..).unwrap_or_default().to_owned())
    };
    let lines: Vec<(char, String)> =
        body.iter().filter(|line| !line.starts_with(b"\\")).map(|line| text(line)).collect();
    let borrowed: Vec<(char, &str)> = lines.iter().map(|(sign, text)| (*sign, text.as_str())).collect();
    let mut marks = mark_hunk(path, &borrowed).into_iter();
    for line in body {
        if line.starts_with(b"\\") {
            out.text(line);
            continue;
        }
        let sign = line.first();
        out.styled(line_style(sign), line.get(..1).unwrap_or_default());
        for part in marks.next().unwrap_or_default() {
            out.styled(part_style(sign, &part), &part.text);
        }
        if line.ends_with(b"\n") {
            out.text("\n");
        }
    }
}

/// The colour of a whole line.
fn line_style(sign: Option<&u8>) -> Style {
    match sign {
        Some(b'-') => AnsiColor::Red.on_default(),
        Some(b'+') => AnsiColor::Green.on_default(),
        _ => Style::new(),
    }
}

/// Removed and added lines keep their colour, and what changed in them is reversed, so that it is as readable as the line on
/// dark and light terminals alike: a background of our own is not. Context lines have the colours of their syntax.
fn part_style(sign: Option<&u8>, part: &Part) -> Style {
    match sign {
        Some(b'-' | b'+') if part.is_changed => line_style(sign).bold().invert(),
        Some(b'-' | b'+') => syntax_style(part.class).unwrap_or_else(|| line_style(sign)),
        _ => syntax_style(part.class).unwrap_or_default(),
    }
}

fn syntax_style(class: Option<Class>) -> Option<Style> {
    let color = match class? {
        Class::Keyword => AnsiColor::Magenta,
        Class::String => AnsiColor::Yellow,
        Class::Comment => AnsiColor::BrightBlack,
        Class::Number => AnsiColor::Blue,
        Class::Name => AnsiColor::Cyan,
    };
    Some(color.on_default())
}

/// The path in a file header.
fn path_of(line: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(line).ok()?.trim_end();
    let name = name.strip_prefix("+++ ").or_else(|| name.strip_prefix("--- "))?;
    (name != "/dev/null").then(|| name.trim_start_matches("b/").trim_start_matches("a/").to_owned())
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
                    \x1b[31m-\x1b[0m\x1b[31m-- old\x1b[0m\n\x1b[32m+\x1b[0m\x1b[32m++ new\x1b[0m\n\
                    \x1b[1m--- a/y\x1b[0m\n\x1b[1m+++ b/y\x1b[0m\n";
        assert_eq!(colored(diff), want);
    }

    #[test]
    fn marks_the_words_that_changed_and_the_syntax() {
        let diff = "--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n // note\n-let a = old_name + 1;\n+let a = new_name + 1;\n";
        let shown = colored(diff);
        assert!(shown.contains(" \x1b[90m// note\x1b[0m\n"), "{shown:?}");
        assert!(shown.contains("\x1b[1m\x1b[7m\x1b[31mold_name\x1b[0m"), "{shown:?}");
        assert!(shown.contains("\x1b[1m\x1b[7m\x1b[32mnew_name\x1b[0m"), "{shown:?}");
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
