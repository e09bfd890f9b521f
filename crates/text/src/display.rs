//! Helpers for text in messages: shortening, quoting, listing numbers.
//!
//! Every message that shows part of a file or of a request is built from these, so that what was left out always looks
//! the same: `…` at the end of a shortened text, `, …` at the end of a shortened list.

use std::borrow::Cow;
use std::fmt::Display;

/// At most `max` characters of a text, followed by `…` if some were left out.
pub fn truncate_chars(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
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
