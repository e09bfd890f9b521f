//! `\n`, `\t` and `\"` as two characters: text that was quoted once too often.

pub(super) fn mend(old: &str, new: &str) -> Option<(String, String)> {
    let escaped = Escaped::of(old);
    if escaped == Escaped::default() {
        return None;
    }
    // New text that has the plain character was not quoted. Where ends of lines were, all of it was.
    let all = escaped.newlines && !new.contains('\n');
    let there = Escaped {
        newlines: all,
        tabs: (escaped.tabs || all) && !new.contains('\t'),
        quotes: (escaped.quotes || all) && !has_plain_quote(new),
        backslashes: escaped.backslashes,
    };
    Some((escaped.undone(old), there.undone(new)))
}

/// Which characters a text holds as two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Escaped {
    newlines: bool,
    tabs: bool,
    quotes: bool,
    backslashes: bool,
}

impl Escaped {
    fn of(text: &str) -> Self {
        let newlines = text.contains("\\n") && !text.trim_end_matches('\n').contains('\n');
        let quotes = text.contains("\\\"") && !has_plain_quote(text);
        let tabs = text.contains("\\t") && !text.contains('\t');
        Self { newlines, tabs, quotes, backslashes: (newlines || quotes || tabs) && text.contains("\\\\") }
    }

    fn undone(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut quoted = false; // inside plain quotation marks it is a string of the program
        while let Some(at) = rest.find('\\') {
            quoted ^= rest[..at].matches('"').count() % 2 == 1;
            out.push_str(&rest[..at]);
            let plain = match rest[at + 1..].chars().next().filter(|_| !quoted) {
                Some('n') if self.newlines => Some('\n'),
                Some('t') if self.tabs => Some('\t'),
                Some('"') if self.quotes => Some('"'),
                Some('\\') if self.backslashes => Some('\\'),
                _ => None,
            };
            out.push(plain.unwrap_or('\\'));
            rest = &rest[at + 1 + usize::from(plain.is_some())..];
        }
        out.push_str(rest);
        out
    }
}

/// Whether a quotation mark stands without a backslash before it.
fn has_plain_quote(text: &str) -> bool {
    text.match_indices('"').any(|(at, _)| !text[..at].ends_with('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(old: &str, new: &str) -> (String, String) {
        mend(old, new).unwrap()
    }

    #[test]
    fn what_was_quoted_is_unquoted() {
        assert_eq!(mended(r"a\n\tb", r"a\n\tc"), ("a\n\tb".into(), "a\n\tc".into()));
        assert_eq!(mended(r#"say(\"a\")"#, r#"say(\"b\")"#), (r#"say("a")"#.into(), r#"say("b")"#.into()));
        assert_eq!(mended(r#"p(\"a\\n\")\nq"#, "x"), ("p(\"a\\n\")\nq".into(), "x".into()));
    }

    #[test]
    fn new_text_that_is_plain_stays() {
        assert_eq!(mended(r"a\nb", "c\nprint('\\n')").1, "c\nprint('\\n')");
        assert_eq!(mended(r"a = 1\nb = 2", r#"print("x\n")"#).1, r#"print("x\n")"#);
        assert_eq!(mend("a\nb", "c"), None);
    }
}
