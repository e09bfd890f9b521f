//! Look-alike punctuation: models write `"` where the file has `“`, and the reverse. A short table that never
//! includes letters or digits: `l` and `1` are different code.

use std::borrow::Cow;

use super::limits::MIN_DISTINCTIVE_LETTERS;

/// The plain character for a look-alike; `None` for invisible characters.
fn plain_form(c: char) -> Option<char> {
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

/// Replaces look-alike punctuation with plain characters.
pub(super) fn fold_punctuation(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.chars().all(|c| c != ELLIPSIS && plain_form(c) == Some(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(fold_with_offsets(text).0)
}

/// Like [`fold_punctuation`]; also returns the offset in `text` of each byte of the result, and of its end.
pub(super) fn fold_with_offsets(text: &str) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(text.len());
    let mut offsets = Vec::with_capacity(text.len() + 1);
    for (at, c) in text.char_indices() {
        match (c, plain_form(c)) {
            (ELLIPSIS, _) => out.push_str("..."),
            (_, Some(plain)) => out.push(plain),
            (_, None) => {}
        }
        offsets.resize(out.len(), at);
    }
    offsets.push(text.len());
    (out, offsets)
}

/// A line as it is compared: without whitespace at either end, and with plain punctuation.
pub(super) fn line_key(line: &str) -> Cow<'_, str> {
    match fold_punctuation(line) {
        Cow::Borrowed(line) => Cow::Borrowed(line.trim()),
        Cow::Owned(line) => Cow::Owned(line.trim().to_owned()),
    }
}

/// Whether a line has enough letters and digits to identify it.
pub(super) fn is_distinctive(line: &str) -> bool {
    letters(line) >= MIN_DISTINCTIVE_LETTERS
}

/// How many letters and digits a line has.
pub(super) fn letters(line: &str) -> usize {
    line.chars().filter(|c| c.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_look_alike_punctuation_but_not_letters() {
        assert_eq!(line_key("\t“it’s” – a\u{a0}b… \u{200b}"), "\"it's\" - a b...");
        assert_ne!(line_key("l0"), line_key("10"));
        assert_ne!(line_key("ﬁ ½"), line_key("fi 1/2"));
    }

    #[test]
    fn maps_every_byte_back_to_its_source() {
        let text = "a…“b”";
        let (folded, offsets) = fold_with_offsets(text);
        assert_eq!(folded, "a...\"b\"");
        assert_eq!(&text[offsets[4]..offsets[7]], "“b”");
    }
}
