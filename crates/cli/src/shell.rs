//! Quoting for commands that users copy into a shell.

/// Quotes `text` as one shell word, on one line.
pub(crate) fn quote(text: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+,:@%".contains(character);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    if !text.chars().any(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    // Control characters would break the line; `$'…'` can write them as escapes.
    let escaped = text.chars().map(|character| match character {
        '\'' | '\\' => format!("\\{character}"),
        control if control.is_control() => {
            let mut bytes = [0; 4];
            control.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\{byte:03o}")).collect()
        }
        other => other.to_string(),
    });
    format!("$'{}'", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_words_with_special_characters() {
        for (text, quoted) in [
            ("/a/b-c_1.txt", "/a/b-c_1.txt"),
            ("", "''"),
            ("e 1", "'e 1'"),
            ("é", "'é'"),
            ("$(x)`y`", "'$(x)`y`'"),
            ("it's", r"'it'\''s'"),
            ("a\nb'\\\u{9b}", r"$'a\012b\'\\\302\233'"),
        ] {
            assert_eq!(quote(text), quoted);
        }
    }
}
