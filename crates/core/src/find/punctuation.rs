//! Characters that look alike: models write one where the file has the other. A short table, and never
//! letters or digits: `l` and `1` are different lines of code.

use std::borrow::Cow;

/// The plain character that another one is taken for; `None` for one that cannot be seen.
fn plain(c: char) -> Option<char> {
    Some(match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{00a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{00ad}' => return None,
        _ => c,
    })
}

const ELLIPSIS: char = '\u{2026}';

/// The text with plain punctuation.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.chars().all(|c| c != ELLIPSIS && plain(c) == Some(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(folded_with_places(text).0)
}

/// The text with plain punctuation, and for each byte of it where it comes from.
pub(super) fn folded_with_places(text: &str) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len() + 1);
    for (at, c) in text.char_indices() {
        match (c, plain(c)) {
            (ELLIPSIS, _) => out.push_str("..."),
            (_, Some(plain)) => out.push(plain),
            (_, None) => {}
        }
        places.resize(out.len(), at);
    }
    places.push(text.len());
    (out, places)
}

/// What is left of a line when white space at its ends and the look of its punctuation are put aside.
pub(super) fn key(line: &str) -> Cow<'_, str> {
    match folded(line) {
        Cow::Borrowed(line) => Cow::Borrowed(line.trim()),
        Cow::Owned(line) => Cow::Owned(line.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_are_the_same_and_letters_are_not() {
        assert_eq!(key("\t“it’s” – a\u{a0}b… \u{200b}"), "\"it's\" - a b...");
        assert_ne!(key("l0"), key("10"));
        assert_ne!(key("ﬁ ½"), key("fi 1/2"));
    }

    #[test]
    fn every_byte_knows_where_it_comes_from() {
        let text = "a…“b”";
        let (folded, places) = folded_with_places(text);
        assert_eq!(folded, "a...\"b\"");
        assert_eq!(&text[places[4]..places[7]], "“b”");
    }
}
