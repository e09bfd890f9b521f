//! `\n`, `\t` and `\"` as two characters: text that was escaped once too often.

pub(super) fn repair(old: &str, new: &str) -> Option<(String, String)> {
    let escaped = Escaped::of(old);
    if escaped == Escaped::default() {
        return None;
    }
    if escaped.newlines && is_plain(new) {
        return Some((escaped.decode(old), new.to_owned()));
    }
    // New text with the plain character was not escaped. Where newlines are escaped, everything else is too.
    let all = escaped.newlines && !has_line_breaks(new);
    let there = Escaped {
        newlines: all,
        tabs: (escaped.tabs || all) && !new.contains('\t'),
        quotes: (escaped.quotes || all) && !has_plain_quote(new),
        backslashes: false,
        literals: false,
    };
    // Where anything is escaped, a backslash is too: `\\n` is the `\n` of a string literal.
    let there = Escaped { backslashes: escaped.backslashes || there != Escaped::default(), ..there };
    let decoded = escaped.decode(old);
    // Only an old text with line breaks inside a literal shows that those of the new text are no part of it.
    let is_shown = escaped.literals && decoded != (Escaped { literals: false, ..escaped }).decode(old);
    let there = Escaped { literals: is_shown, ..there };
    // A literal that spans lines, or one that contains `\n`: the text does not say which, unless the old text has it too.
    let mut is_doubtful = false;
    let new = there.decode_noting(new, |rest| {
        let line = rest.split("\\n").next().unwrap_or_default();
        is_doubtful |= is_indented(line) && !old.contains(line);
    });
    (!is_doubtful).then_some((decoded, new))
}

/// Which characters a text contains as escapes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Escaped {
    newlines: bool,
    tabs: bool,
    quotes: bool,
    backslashes: bool,
    /// Whether the escapes of string literals were escaped again, so that a line break between quotes is one, as after the
    /// backslash that continues a line, or after a lone quotation mark.
    literals: bool,
}

impl Escaped {
    fn of(text: &str) -> Self {
        let newlines = text.contains("\\n") && !has_line_breaks(text);
        let quotes = text.contains("\\\"") && !has_plain_quote(text);
        let tabs = text.contains("\\t") && !text.contains('\t');
        let backslashes = (newlines || quotes || tabs) && text.contains("\\\\");
        Self { newlines, tabs, quotes, backslashes, literals: newlines && text.contains("\\\\") }
    }

    fn decode(self, text: &str) -> String {
        self.decode_noting(text, |_| {})
    }

    /// Like [`Self::decode`]; `note` gets what follows each escaped line break that is kept because it is between quotes.
    fn decode_noting(self, text: &str, mut note: impl FnMut(&str)) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut quoted = false; // an escape between plain quotes belongs to a string literal
        while let Some(at) = rest.find('\\') {
            // A string in triple quotes may span several lines.
            quoted ^= rest[..at].replace("\"\"\"", "").matches('"').count() % 2 == 1;
            out.push_str(&rest[..at]);
            let quoted = quoted && !self.literals;
            let plain = match rest[at + 1..].chars().next() {
                Some('n') if self.newlines && quoted => {
                    note(&rest[at + 2..]);
                    None
                }
                Some('n') if self.newlines => Some('\n'),
                Some('t') if self.tabs && !quoted => Some('\t'),
                Some('"') if self.quotes && !quoted => Some('"'),
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

/// Whether a text of several lines was not escaped at all: it has line breaks, and neither quotation marks nor indentation are escaped.
/// Its `\n` is that of a string literal.
fn is_plain(text: &str) -> bool {
    let has_escaped_quotes = text.contains("\\\"") && !has_plain_quote(text);
    let has_escaped_tabs = text.lines().any(|line| line.starts_with("\\t"));
    has_line_breaks(text) && !has_escaped_quotes && !has_escaped_tabs
}

/// Whether a text has several lines. Newlines at its ends may have been added around text that was escaped: the lines of a SEARCH/REPLACE
/// block always end with one.
fn has_line_breaks(text: &str) -> bool {
    text.trim_matches('\n').contains('\n')
}

/// Whether a text starts with more than one space or with a tab, escaped or not.
fn is_indented(text: &str) -> bool {
    text.starts_with("  ") || text.starts_with('\t') || text.starts_with("\\t")
}

/// Whether a quotation mark occurs without a backslash before it.
fn has_plain_quote(text: &str) -> bool {
    text.match_indices('"').any(|(at, _)| !text[..at].ends_with('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(old: &str, new: &str) -> (String, String) {
        repair(old, new).unwrap()
    }

    #[test]
    fn decodes_escapes() {
        assert_eq!(repaired(r"a\n\tb", r"a\n\tc"), ("a\n\tb".into(), "a\n\tc".into()));
        assert_eq!(repaired(r#"say(\"a\")"#, r#"say(\"b\")"#), (r#"say("a")"#.into(), r#"say("b")"#.into()));
        assert_eq!(repaired(r#"p(\"a\\n\")\nq"#, "x"), ("p(\"a\\n\")\nq".into(), "x".into()));
    }

    #[test]
    fn newlines_at_the_ends_do_not_show_that_a_text_was_not_escaped() {
        let (old, new) = ("a\n\tb\n".to_owned(), "a\n\tc\n".to_owned());
        assert_eq!(repaired("a\\n\\tb\n", "a\\n\\tc\n"), (old.clone(), new.clone()));
        assert_eq!(repaired("a\\n\\tb\n\n", "a\\n\\tc\n"), (format!("{old}\n"), new.clone()));
        assert_eq!(
            repaired("\na\\n\\tb", "\na\\n\\tc\n"),
            (format!("\n{}", old.trim_end()), format!("\n{new}"))
        );
    }

    #[test]
    fn a_new_text_that_was_not_escaped_keeps_its_literals() {
        let old = r#"for line in f:\n    handle(line, \"a\\\\nb\\t\")"#;
        let new = "for line in f:\n    added = 1\n    handle(line, \"a\\\\nb\\t\")";
        let plain = "for line in f:\n    handle(line, \"a\\\\nb\\t\")";
        assert_eq!(repaired(old, new), (plain.into(), new.into()));
        assert_eq!(repaired(r"a\n\tb\n", "a\n\\tc\n").1, "a\n\tc\n");
    }

    #[test]
    fn decodes_newlines_between_triple_quotes() {
        let new = "def f():\\n    \"\"\"\\n    Says it.\\n    \"\"\"\\n    return \"a\\n\"";
        let decoded = "def f():\n    \"\"\"\n    Says it.\n    \"\"\"\n    return \"a\\n\"";
        assert_eq!(repaired(r"def f():\n    pass", new).1, decoded);
    }

    #[test]
    fn decodes_a_line_break_between_quotes_that_a_backslash_continues() {
        let old = r#"text: "a\\nb\\\n  c"\nkey: 1"#;
        let new = r#"text: "a\\nB\\\n  c"\nkey: 1"#;
        let decoded = "text: \"a\\nb\\\n  c\"\nkey: 1".to_owned();
        assert_eq!(repaired(old, new), (decoded.clone(), decoded.replace('b', "B")));
        // The old text has none, so the literal of the new text is one.
        let new = r#"say("b\n")\nq"#;
        assert_eq!(repaired(r#"say("a\\n")\nq"#, new).1, "say(\"b\\n\")\nq");
    }

    #[test]
    fn decodes_what_follows_a_lone_quotation_mark() {
        let old = r#"// (")\n  a.replace(/%0A/, '\\n')\n  b()"#;
        let decoded = "// (\")\n  a.replace(/%0A/, '\\n')\n  b()".to_owned();
        assert_eq!(repaired(old, &old.replace('b', "c")), (decoded.clone(), decoded.replace('b', "c")));
    }

    #[test]
    fn leaves_open_what_a_literal_of_several_lines_is() {
        assert_eq!(repair(r"a\nb", r#"c(r"\n    d\n")\nb"#), None);
        assert_eq!(repaired(r"a\nb", r#"c("d\n")\nb"#).1, "c(\"d\\n\")\nb");
    }

    #[test]
    fn keeps_new_text_without_escapes() {
        assert_eq!(repaired(r"a\nb", "c\nprint('\\n')").1, "c\nprint('\\n')");
        assert_eq!(repaired(r"a = 1\nb = 2", r#"print("x\n")"#).1, r#"print("x\n")"#);
        assert_eq!(repair("a\nb", "c"), None);
    }
}
