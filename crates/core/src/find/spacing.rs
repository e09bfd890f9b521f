//! Lines that differ in whitespace only, wherever it is.
//!
//! Whitespace is ignored where it does not separate tokens: `f( a )` is `f(a)`, but `a b` is not `ab`, and `- -x` is not
//! `--x`.

use super::punctuation::fold_punctuation;

/// A line without the whitespace that does not separate tokens. What is left of the rest is one blank each.
pub(super) fn spacing_key(line: &str) -> String {
    collapse(line, Quotes::Ignored)
}

/// Like [`spacing_key`]; whitespace in quotes is kept, because it is part of a string.
pub(super) fn code_key(line: &str) -> String {
    collapse(line, Quotes::Kept)
}

/// Whether two lines are the same apart from form: whitespace outside of quotes, and look-alike punctuation.
pub(super) fn is_same_code(a: &str, b: &str) -> bool {
    code_key(&fold_punctuation(a)) == code_key(&fold_punctuation(b))
}

/// What to do with whitespace in quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Ignored,
    Kept,
}

fn collapse(line: &str, quotes: Quotes) -> String {
    let mut out = String::with_capacity(line.len());
    let mut blank = false;
    let mut open: Option<char> = None;
    for c in line.trim().chars() {
        if c.is_whitespace() && open.is_none() {
            blank = true;
            continue;
        }
        if blank && out.chars().next_back().is_some_and(|before| separates(before, c)) {
            out.push(' ');
        }
        blank = false;
        if quotes == Quotes::Kept && matches!(c, '"' | '\'' | '`') {
            open = match open {
                None => Some(c),
                Some(quote) if quote == c && !out.ends_with('\\') => None,
                open => open,
            };
        }
        out.push(c);
    }
    out
}

/// Whether whitespace between two characters keeps two tokens apart.
fn separates(before: char, after: char) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_operator = |c: char| !is_word(c) && !matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';');
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
    // `f "x"` and `f"x"` are different strings, and `1 .` is not `1.`.
    is_word(before) && (is_word(after) || is_quote(after) || after == '.')
        || is_quote(before) && is_word(after)
        || before == '.' && is_word(after)
        || is_operator(before) && is_operator(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("x  =\t1", "x = 1")]
    #[case("f( a,b )", "f(a, b)")]
    #[case("    def main() :", "def main():")]
    #[case("a=b", "a = b")]
    fn ignores_whitespace_that_does_not_separate_tokens(#[case] a: &str, #[case] b: &str) {
        assert_eq!(spacing_key(a), spacing_key(b));
        assert!(is_same_code(a, b));
    }

    #[rstest]
    #[case("return a", "returna")]
    #[case("a b()", "ab()")]
    #[case("x = - -y", "x = --y")]
    #[case("count  =  1", "count = 100")]
    #[case("f \"x\"", "f\"x\"")]
    #[case("1 .real", "1.real")]
    fn keeps_tokens_apart(#[case] a: &str, #[case] b: &str) {
        assert_ne!(spacing_key(a), spacing_key(b));
        assert!(!is_same_code(a, b));
    }

    #[test]
    fn whitespace_in_quotes_is_part_of_the_code() {
        assert_eq!(spacing_key("log(\"a  b\")"), spacing_key("log(\"a b\")"));
        assert!(!is_same_code("log(\"a  b\")", "log(\"a b\")"));
        assert!(is_same_code("log( \"a \\\" b\" )", "log(\"a \\\" b\")"));
        assert!(!is_same_code("log(\"a\\\"  b\")", "log(\"a\\\" b\")"));
        // An apostrophe may open a string, so the rest must be the same.
        assert!(!is_same_code("# don't  stop", "# don't stop"));
    }

    #[test]
    fn look_alike_punctuation_is_the_same_code() {
        assert!(is_same_code("say( “a” )", "say(\"a\")"));
    }
}
