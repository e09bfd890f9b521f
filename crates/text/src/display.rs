//! Helpers for text in messages: shortening, quoting, listing numbers.
//!
//! Every message that shows part of a file or of a request is built from these, so that what was left out always looks
//! the same: `…` at the end of a shortened text, `, …` at the end of a shortened list.

use std::borrow::Cow;
use std::fmt::Display;

use crate::file_name::raw_byte;

/// Text with replacement characters for what is not UTF-8. Text that is UTF-8 is checked several times as fast as by
/// [`String::from_utf8_lossy`], and that is almost all text.
pub fn decode_lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// At most `max` characters of a text, followed by `…` if some were left out.
pub fn truncate_chars(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// At most `max` characters of a text, cut at a line end; `None` for a text that fits.
pub fn truncate_at_line_end(text: &str, max: usize) -> Option<&str> {
    let (end, _) = text.char_indices().nth(max)?;
    Some(text[..end].rfind('\n').map_or(&text[..end], |newline| &text[..=newline]))
}

/// The first `max` bytes of a text that is longer, and how many bytes were left out; `None` for a text that fits.
///
/// A character is never split, so the result may be a few bytes shorter than `max`.
pub fn truncate_bytes(text: &str, max: usize) -> Option<(&str, usize)> {
    if text.len() <= max {
        return None;
    }
    let kept = &text[..text.floor_char_boundary(max)];
    Some((kept, text.len() - kept.len()))
}

/// The first `max` lines of a text, and how many lines were left out.
pub fn truncate_lines(text: &str, max: usize) -> (impl Iterator<Item = &str>, usize) {
    (text.lines().take(max), text.lines().skip(max).count())
}

/// Numbers separated by commas. `, …` follows if there are more than `max`, or if the caller knows of more.
pub fn list_numbers(numbers: &[usize], max: usize, has_more: bool) -> String {
    let shown: Vec<String> = numbers.iter().take(max).map(usize::to_string).collect();
    let rest = if has_more || numbers.len() > max { ", …" } else { "" };
    format!("{}{rest}", shown.join(", "))
}

/// Ascending line numbers as `line 3` or `lines 3, 7, …`; a number that is repeated is listed once.
pub fn list_lines(lines: &[usize], max: usize, has_more: bool) -> String {
    let mut distinct = lines.to_vec();
    distinct.dedup();
    let word = if distinct.len() == 1 { "line" } else { "lines" };
    format!("{word} {}", list_numbers(&distinct, max, has_more))
}

/// Names in backticks, separated by commas.
pub fn quote_names(names: impl IntoIterator<Item = impl Display>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Names in backticks, as a sentence lists them: `a`, `b` and `c`.
pub fn quote_and(names: &[impl Display]) -> String {
    match names {
        [] => String::new(),
        [name] => quote_names([name]),
        [names @ .., last] => format!("{} and `{last}`", quote_names(names)),
    }
}

/// Whether a character is invisible or changes how others are displayed.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}'
        | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text from an untrusted source on one line of at most `max` characters, with visible characters only and single
/// spaces between words.
pub fn visible_line(text: &str, max: usize) -> String {
    let visible: String = text
        .chars()
        .filter(|c| !is_invisible(*c))
        .map(|c| if c.is_control() { ' ' } else { c })
        // Bounds the work for very long texts; whitespace is collapsed below, hence the margin.
        .take(max.saturating_mul(20))
        .collect();
    truncate_chars(&visible.split_whitespace().collect::<Vec<_>>().join(" "), max).into_owned()
}

/// Whether a character can make a terminal show something else than the text: a control character, one that some programs
/// take for a line end, an invisible one such as those that reverse the order of what follows, or a byte of a file name.
pub fn is_deceptive(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_invisible(c) || raw_byte(c).is_some()
}

/// The text on one line: newlines, other control characters and invisible characters become escapes.
pub fn escape_controls(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        push_char(c, !is_deceptive(c), &mut out);
        out
    })
}

/// A text of several lines: control characters and invisible characters become escapes, except tabs and line endings.
pub fn escape_text(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        let is_kept = match c {
            '\n' | '\t' => true,
            // Elsewhere it moves the cursor back to the start of the line.
            '\r' => rest.peek().is_none_or(|&next| next == '\n'),
            c => !is_deceptive(c),
        };
        push_char(c, is_kept, &mut out);
    }
    out
}

fn push_char(c: char, is_kept: bool, out: &mut String) {
    if is_kept {
        out.push(c);
    } else if let Some(byte) = raw_byte(c) {
        out.push_str(&format!("\\x{byte:02x}"));
    } else {
        out.extend(c.escape_default());
    }
}

/// Items separated by commas.
pub fn join_items(items: impl IntoIterator<Item = impl Display>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncate_chars_counts_characters_not_bytes() {
        assert_eq!(truncate_chars("äöü", 3), "äöü");
        assert_eq!(truncate_chars("äöü", 2), "äö…");
        assert_eq!(truncate_chars("", 0), "");
        assert_eq!(truncate_chars("a", 0), "…");
    }

    #[test]
    fn quote_and_puts_and_before_the_last_name() {
        assert_eq!(quote_and(&["a"]), "`a`");
        assert_eq!(quote_and(&["a", "b"]), "`a` and `b`");
        assert_eq!(quote_and(&["a", "b", "c"]), "`a`, `b` and `c`");
    }

    #[test]
    fn truncate_at_line_end_keeps_whole_lines() {
        assert_eq!(truncate_at_line_end("ab\nc\n", 5), None);
        assert_eq!(truncate_at_line_end("ab\ncd\n", 4), Some("ab\n"));
        assert_eq!(truncate_at_line_end("äbc", 1), Some("ä"));
    }

    #[test]
    fn visible_line_removes_line_breaks_and_invisible_characters() {
        assert_eq!(visible_line(" a\r\n\n\tb\u{2028}c\u{85}d ", 99), "a b c d");
        assert_eq!(visible_line("a\u{202e}b\u{2066}c\u{200b}\u{e0041}\u{1b}[31m", 99), "abc [31m");
        assert_eq!(visible_line("größer als 5 € 👍", 99), "größer als 5 € 👍");
        assert_eq!(visible_line("\u{200b}\n", 99), "");
        assert_eq!(visible_line(&"ä ".repeat(5_000), 5), "ä ä ä…");
    }

    #[test]
    fn unicode_line_ends_are_escaped() {
        assert_eq!(escape_controls("a\u{2028}b\u{2029}c"), "a\\u{2028}b\\u{2029}c");
        assert_eq!(escape_text("a\u{2028}b\n"), "a\\u{2028}b\n");
    }

    #[test]
    fn escape_controls_keeps_text_on_one_line() {
        assert_eq!(escape_controls("a\nb\u{1b}[1mé"), "a\\nb\\u{1b}[1mé");
    }

    #[test]
    fn every_bidirectional_control_character_is_escaped() {
        let controls =
            "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        for c in controls.chars() {
            let escaped = format!("a\\u{{{:x}}}b", c as u32);
            assert_eq!(escape_controls(&format!("a{c}b")), escaped);
            assert_eq!(escape_text(&format!("a{c}b")), escaped);
        }
        assert_eq!(escape_text("é\t你好 שלום\r\nx\u{200b}"), "é\t你好 שלום\r\nx\\u{200b}");
        assert_eq!(escape_text("hidden\rshown\n"), "hidden\\rshown\n");
    }

    #[test]
    fn truncate_bytes_never_splits_a_character() {
        assert_eq!(truncate_bytes("äb", 3), None);
        assert_eq!(truncate_bytes("äb", 2), Some(("ä", 1)));
        assert_eq!(truncate_bytes("äb", 1), Some(("", 3)));
    }

    #[test]
    fn truncate_lines_counts_what_is_left_out() {
        let (shown, more) = truncate_lines("a\nb\nc\n", 2);
        assert_eq!((shown.collect::<Vec<_>>(), more), (vec!["a", "b"], 1));
        let (shown, more) = truncate_lines("a\r\nb", 2);
        assert_eq!((shown.collect::<Vec<_>>(), more), (vec!["a", "b"], 0));
    }

    #[test]
    fn list_numbers_marks_an_incomplete_list() {
        assert_eq!(list_numbers(&[1, 2], 2, false), "1, 2");
        assert_eq!(list_numbers(&[1, 2, 3], 2, false), "1, 2, …");
        assert_eq!(list_numbers(&[1], 2, true), "1, …");
    }

    #[test]
    fn list_lines_drops_repeated_lines() {
        assert_eq!(list_lines(&[4, 4], 12, false), "line 4");
        assert_eq!(list_lines(&[4, 4, 6], 12, false), "lines 4, 6");
        assert_eq!(list_lines(&[4, 5, 6], 2, false), "lines 4, 5, …");
    }

    #[test]
    fn names_are_quoted_and_items_are_not() {
        assert_eq!(quote_names(["a", "b"]), "`a`, `b`");
        assert_eq!(join_items([1, 2]), "1, 2");
        assert_eq!(quote_names([""; 0]), "");
    }
}
