//! Quoting and truncation of text that is shown to users and models.
//!
//! Forms show text that a model or a client wrote. That text must not be able to add lines to a form, hide characters or
//! grow without bound: the user has to see which words are the server's and which are not.

/// The longest text from a model that a form shows, in characters.
const MAX_LINE_CHARS: usize = 500;

/// The longest client name that is kept, in characters.
const MAX_NAME_CHARS: usize = 100;

/// Whether a character is invisible or changes how others are displayed.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}'
        | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text on one line of limited length, with only visible characters.
pub(crate) fn one_line(text: &str) -> String {
    let visible: String = text
        .chars()
        .filter(|c| !is_invisible(*c))
        .map(|c| if c.is_control() { ' ' } else { c })
        // Bounds the work for very long texts; whitespace is collapsed below, hence the margin.
        .take(MAX_LINE_CHARS * 20)
        .collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_LINE_CHARS) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// [`one_line`] in double quotes, which cannot occur inside.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text).replace('"', "'"))
}

/// A client's name, fit for the journal and a terminal; `None` if nothing is left of it.
pub(crate) fn client_name(name: &str) -> Option<String> {
    let name: String =
        name.trim().chars().filter(|c| !c.is_control() && !is_invisible(*c)).take(MAX_NAME_CHARS).collect();
    Some(name).filter(|name| !name.is_empty())
}

/// The text cut at a line end to at most `max_chars` characters; if it was cut, `notice` follows.
pub(crate) fn truncate_lines(text: &str, max_chars: usize, notice: &str) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => {
            let end = text[..end].rfind('\n').map_or(end, |newline| newline + 1);
            format!("{}… {notice}\n", &text[..end])
        }
    }
}

/// Names as a list for a message: `` `a`, `b` ``.
pub(crate) fn name_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_removes_line_breaks_and_invisible_characters() {
        assert_eq!(one_line(" a\r\n\n\tb\u{2028}c\u{85}d "), "a b c d");
        assert_eq!(one_line("a\u{202e}b\u{2066}c\u{200b}\u{e0041}\u{1b}[31m"), "abc [31m");
        assert_eq!(one_line("größer als 5 € 👍"), "größer als 5 € 👍");
        assert_eq!(one_line("\u{200b}\n"), "");
    }

    #[test]
    fn quoted_truncates_and_replaces_inner_quotes() {
        let long = quoted(&"ä ".repeat(5_000));
        assert_eq!(long.chars().count(), MAX_LINE_CHARS + 3);
        assert!(long.ends_with("…\""), "{long}");
        assert_eq!(quoted("x\" approved by \"y"), "\"x' approved by 'y\"");
    }

    #[test]
    fn client_names_are_cleaned_and_bounded() {
        assert_eq!(client_name(" claude-code\n"), Some("claude-code".into()));
        assert_eq!(client_name("a\u{1b}[31mb\nc"), Some("a[31mbc".into()));
        assert_eq!(client_name("a\u{202e}b\u{200b}"), Some("ab".into()));
        assert_eq!(client_name(" \n"), None);
        assert_eq!(client_name(&"ä".repeat(1000)).map(|name| name.chars().count()), Some(MAX_NAME_CHARS));
    }

    #[test]
    fn truncate_lines_cuts_at_a_line_end() {
        assert_eq!(truncate_lines("short\n", 100, "more"), "short\n");
        let long = "+ä line\n".repeat(2_000);
        let cut = truncate_lines(&long, 6_000, "the rest is elsewhere");
        assert!(cut.chars().count() < 6_040 && cut.ends_with("line\n… the rest is elsewhere\n"));
    }
}
