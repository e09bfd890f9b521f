//! File names that are not UTF-8, as text.
//!
//! Paths are text everywhere: in requests, in the journal, in diffs. A name such as `caf\xe9.txt`, which an old archive may
//! contain, is bytes. Each byte that is not part of UTF-8 therefore becomes one character of a private range, and the disk gets the
//! byte again. Characters of that range in a name are written as bytes too, so that every name has one text and every text one name.
//! Only bytes from 0x80 on have such characters: no text can smuggle a `/` or a `..` into a name.

use std::borrow::Cow;

/// The first character of the range, less 0x80: it stands for no byte.
const BASE: u32 = 0x10_FE00;

/// The byte of a file name that a character stands for, if it does.
pub fn raw_byte(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(BASE)?).ok().filter(|byte| *byte >= 0x80)
}

fn raw_char(byte: u8) -> char {
    char::from_u32(BASE + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The text of a file name.
pub fn name_to_text(name: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(name) {
        Ok(text) if text.chars().all(|c| raw_byte(c).is_none()) => Cow::Borrowed(text),
        _ => {
            let mut text = String::with_capacity(name.len());
            for chunk in name.utf8_chunks() {
                for c in chunk.valid().chars() {
                    match raw_byte(c) {
                        None => text.push(c),
                        Some(_) => text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(raw_char)),
                    }
                }
                text.extend(chunk.invalid().iter().copied().map(raw_char));
            }
            Cow::Owned(text)
        }
    }
}

/// The file name of a text.
pub fn text_to_name(text: &str) -> Cow<'_, [u8]> {
    if text.chars().all(|c| raw_byte(c).is_none()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut name = Vec::with_capacity(text.len());
    for c in text.chars() {
        match raw_byte(c) {
            Some(byte) => name.push(byte),
            None => name.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(name)
}

/// The one text for the name that a text stands for: two bytes of a character, written one by one, are that character.
pub fn canonical_text(text: &str) -> Cow<'_, str> {
    match text_to_name(text) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(name) => Cow::Owned(name_to_text(&name).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_in_utf8_are_their_own_text() {
        for name in ["a.txt", "größe", "漢字", "\u{10ffff}", "\u{e000}"] {
            assert!(matches!(name_to_text(name.as_bytes()), Cow::Borrowed(text) if text == name));
            assert!(matches!(text_to_name(name), Cow::Borrowed(bytes) if bytes == name.as_bytes()));
        }
    }

    #[test]
    fn a_byte_is_one_character() {
        let text = name_to_text(b"caf\xe9.txt");
        assert_eq!(text, "caf\u{10fee9}.txt");
        assert_eq!(&*text_to_name(&text), b"caf\xe9.txt");
        assert_eq!(canonical_text("\u{10fec3}\u{10fea9}"), "é");
    }

    #[test]
    fn no_character_stands_for_a_slash_or_a_dot() {
        for byte in 0..0x80u32 {
            assert_eq!(char::from_u32(BASE + byte).and_then(raw_byte), None);
        }
    }

    proptest! {
        #[test]
        fn every_name_has_one_text(name in proptest::collection::vec(any::<u8>(), 0..24)) {
            let text = name_to_text(&name).into_owned();
            prop_assert_eq!(&*text_to_name(&text), &name[..]);
            prop_assert_eq!(canonical_text(&text), text.as_str());
        }

        #[test]
        fn canonical_texts_have_the_same_name(text in ".{0,12}", bytes in proptest::collection::vec(0x80u8.., 0..6)) {
            let text: String = text.chars().chain(bytes.into_iter().map(raw_char)).collect();
            let canonical = canonical_text(&text);
            prop_assert_eq!(text_to_name(&canonical), text_to_name(&text));
            prop_assert_eq!(canonical_text(&canonical), canonical.as_ref());
        }
    }
}
