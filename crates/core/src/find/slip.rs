//! Slips of the pen: whether a context line of the request is a miswritten line of the file, and not another line.

use super::heading::{self, is_comment};
use super::search_index::SearchIndex;

/// How a context line of the request differs from the line of the file that it is paired with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slip {
    /// A typo, or a comment in other words.
    OfThePen,
    /// The line may have been rewritten since. Its words are not in the file anymore.
    Rewritten,
    /// It is another line: it names something else, or has a word that the file has elsewhere.
    None,
}

/// Judges a context line that differs from the file's. A word of the request that the file has elsewhere is not a slip.
pub(super) fn judge(request: &str, file: &str, index: &SearchIndex<'_>) -> Slip {
    // A paraphrase changes the number of words; a comment with words swapped may belong to something else.
    let is_swap = tokens(request).len() == tokens(file).len();
    if is_comment(request) && is_comment(file) {
        return if is_swap { Slip::Rewritten } else { Slip::OfThePen };
    }
    if has_known_word(request, file, index) {
        return Slip::None;
    }
    match differs_by_typos(request, file) {
        true => Slip::OfThePen,
        false if names_something(request) || names_something(file) => Slip::None,
        false if heading::leading_name(request) != heading::leading_name(file) => Slip::None,
        false => Slip::Rewritten,
    }
}

/// Whether a line names an item or opens a block.
pub(super) fn names_something(line: &str) -> bool {
    heading::names_item(line) || heading::opens_block(line)
}

/// Whether the request's line has a word that the file has as a word, but not on the line `file`.
pub(super) fn has_known_word(request: &str, file: &str, index: &SearchIndex<'_>) -> bool {
    let here: Vec<&str> = words(file).collect();
    words(request).filter(|word| !here.contains(word)).any(|word| is_word_of_file(word, index))
}

fn is_word_of_file(word: &str, index: &SearchIndex<'_>) -> bool {
    let text = index.snapshot.text();
    let is_word_byte =
        |byte: Option<&u8>| byte.is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80);
    memchr::memmem::find_iter(text, word.as_bytes()).any(|at| {
        !is_word_byte(at.checked_sub(1).and_then(|before| text.get(before)))
            && !is_word_byte(text.get(at + word.len()))
    })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Whether two lines have the same tokens, apart from typos in words.
fn differs_by_typos(request: &str, file: &str) -> bool {
    let (a, b) = (tokens(request), tokens(file));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || is_typo(a, b))
}

/// The words of a line, and every other character that is not whitespace.
fn tokens(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        if !first.is_whitespace() {
            found.push(&rest[..end]);
        }
        rest = &rest[end..];
    }
    found
}

/// Whether two words differ by a typo: one letter too many or too few, one other letter, two swapped, or another case.
/// Numbers and short words have no typos.
pub(super) fn is_typo(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.chars().count() < 4
        || [a, b].iter().any(|word| !word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    {
        return false;
    }
    if short.eq_ignore_ascii_case(long) {
        return true;
    }
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    let front = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    let (rest, long_rest) = (&short[front..], &long[front..]);
    match long.len() - short.len() {
        0 => {
            let swapped = rest.len() >= 2
                && rest[0] == long_rest[1]
                && rest[1] == long_rest[0]
                && rest[2..] == long_rest[2..];
            // `read1` and `read2`, `lhs` and `rhs` are different names: only a letter inside a long word counts.
            let replaced = short.len() >= 6
                && front > 0
                && rest.len() > 1
                && rest[1..] == long_rest[1..]
                && rest[0].is_alphabetic()
                && long_rest[0].is_alphabetic();
            swapped || replaced
        }
        // A plural is another word.
        1 => *rest == long_rest[1..] && !(rest.is_empty() && long_rest == ['s']),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("return vlaue", "return value", true)]
    #[case("retrun value;", "return value;", true)]
    #[case("return Value", "return value", true)]
    #[case("timeout = 3000", "timeout = 5000", false)]
    #[case("foo_add_event(x)", "foo_is_event(x)", false)]
    #[case("return read(a)", "return write(a)", false)]
    #[case("set(True)", "set(False)", false)]
    #[case("let lines = 1", "let line = 1", false)]
    #[case("a < b", "a > b", false)]
    #[case("call(a, b)", "call(a)", false)]
    fn tells_typos_from_other_words(#[case] request: &str, #[case] file: &str, #[case] typo: bool) {
        assert_eq!(differs_by_typos(request, file), typo);
    }
}
