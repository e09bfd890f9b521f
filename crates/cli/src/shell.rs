//! Quoting for commands that users copy into a shell.

use std::borrow::Cow;

/// Quotes `text` so that a POSIX shell reads it as one word. The result is always on one line.
pub(crate) fn quote(text: &str) -> Cow<'_, str> {
    // shlex leaves control characters as they are, and refuses NUL. A line break or an escape sequence must not get into
    // a line that is shown, so these texts are quoted in the `$'…'` form that bash, zsh and POSIX.1-2024 know.
    match shlex::try_quote(text) {
        Ok(quoted) if !text.chars().any(char::is_control) => quoted,
        _ => Cow::Owned(quote_control_characters(text)),
    }
}

fn quote_control_characters(text: &str) -> String {
    let escape = |character: char| match character {
        '\'' | '\\' => format!("\\{character}"),
        control if control.is_control() => {
            let mut bytes = [0; 4];
            control.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\{byte:03o}")).collect()
        }
        other => other.to_string(),
    };
    format!("$'{}'", text.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_a_shell_would_interpret() {
        for (text, quoted) in [
            ("/a/b-c_1.txt", "/a/b-c_1.txt"),
            ("", "''"),
            ("e 1", "'e 1'"),
            ("é", "'é'"),
            ("$(x)`y`", "'$(x)`y`'"),
            ("it's", "\"it's\""),
            ("it's $x", "\"it's \"'$x'"),
            ("a\nb'\\\u{9b}", r"$'a\012b\'\\\302\233'"),
        ] {
            assert_eq!(quote(text), quoted);
            if !text.contains('\n') {
                assert_eq!(shlex::split(quoted).as_deref(), Some(&[text.to_owned()][..]));
            }
        }
    }
}
