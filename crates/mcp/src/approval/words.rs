//! What a model or a client says, as a form can show it: nobody but the server makes the lines of a form.

/// How much of it a form shows, in characters.
const MAX_WORDS: usize = 500;

/// Whether a character shows as nothing, or changes how others show.
pub(crate) fn unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}'
        | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text as one line that is not too long, of characters that show as what they are.
pub(crate) fn one_line(text: &str) -> String {
    let seen: String = text
        .chars()
        .filter(|c| !unseen(*c))
        .map(|c| if c.is_control() { ' ' } else { c })
        // More than enough for the line, however long the text is.
        .take(MAX_WORDS * 20)
        .collect();
    let line = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_WORDS) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// The same in quotes, so that it shows who says it.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text).replace('"', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_in_their_line() {
        assert_eq!(one_line(" a\r\n\n\tb\u{2028}c\u{85}d "), "a b c d");
        assert_eq!(one_line("a\u{202e}b\u{2066}c\u{200b}\u{e0041}\u{1b}[31m"), "abc [31m");
        assert_eq!(one_line("größer als 5 € 👍"), "größer als 5 € 👍");
        assert_eq!(one_line("\u{200b}\n"), "");
    }

    #[test]
    fn words_are_cut_and_quoted() {
        let long = quoted(&"ä ".repeat(5_000));
        assert_eq!(long.chars().count(), MAX_WORDS + 3);
        assert!(long.ends_with("…\""), "{long}");
        assert_eq!(quoted("x\" approved by \"y"), "\"x' approved by 'y\"");
    }
}
