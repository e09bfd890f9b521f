//! Quoting and truncation of text that is shown to users and models.
//!
//! Forms show text that a model or a client wrote. That text must not be able to add lines to a form, hide characters or
//! grow without bound: the user has to see which words are the server's and which are not.

use slipstitch::core::text::display::{is_invisible, visible_line};

/// The longest text from a model that a form shows, in characters.
const MAX_LINE_CHARS: usize = 500;

/// The longest client name that is kept, in characters.
const MAX_NAME_CHARS: usize = 100;

/// The text on one line of limited length, with only visible characters.
pub(crate) fn one_line(text: &str) -> String {
    visible_line(text, MAX_LINE_CHARS)
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
