//! Slips of the pen: whether a context line of the request is a miswritten line of the file, and not another line.

use super::heading::{self, is_comment};
use super::limits::{MIN_OTHER_LETTER_CHARS, MIN_SUBSTITUTED_CHARS, MIN_TYPO_CHARS};
use super::search_index::SearchIndex;

/// How a context line of the request differs from the line of the file that it is paired with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judgement {
    /// A typo, or a comment in other words.
    Slip,
    /// The line may have been rewritten since. Its words are no longer in the file.
    MaybeRewritten,
    /// A comment with this many words of the file in place of others. It may belong to something else.
    WordsSwapped(usize),
    /// It is another line: it names something else, or has a word that the file has elsewhere.
    OtherLine,
}

/// Judges a context line that differs from the file's. A word of the request that the file has elsewhere is not a slip.
pub(super) fn judge(request: &str, file: &str, index: &SearchIndex<'_>) -> Judgement {
    if heading::names_item(request) || heading::names_item(file) {
        return judge_name(request, file, index, has_swapped_letters);
    }
    if is_comment(request) && is_comment(file) {
        if !shares_words(request, file) {
            return Judgement::OtherLine;
        }
        let substituted = substitutions(request, file);
        let swapped = substituted.iter().filter(|(word, _)| is_word_of_file(word, index)).count();
        return if swapped > 0 { Judgement::WordsSwapped(swapped) } else { Judgement::Slip };
    }
    if has_known_word(request, file, index) {
        return Judgement::OtherLine;
    }
    match differs_by(request, file, is_typo) {
        true => Judgement::Slip,
        false if names_something(request) || names_something(file) => Judgement::OtherLine,
        false if heading::leading_name(request) != heading::leading_name(file) => Judgement::OtherLine,
        false => Judgement::MaybeRewritten,
    }
}

/// Judges a context line that encloses a change, in whatever language: it is miswritten, or it is the line of another block.
pub(super) fn judge_enclosing(request: &str, file: &str, index: &SearchIndex<'_>) -> Judgement {
    let names_differ = heading::block_name(request) != heading::block_name(file);
    let is_item = heading::names_item(request) || heading::names_item(file);
    judge_name(request, file, index, if names_differ || is_item { has_swapped_letters } else { is_typo })
}

/// Whether a line probably differs from the file's by typos alone, and its words are nowhere else in the file. Enough to show the
/// caller the line, not to apply anything.
pub(super) fn is_miswritten(request: &str, file: &str, index: &SearchIndex<'_>) -> bool {
    let is_miswritten = |a: &str, b: &str| is_typo(a, b) || differs_by_last_letter(a, b);
    !has_known_word(request, file, index) && differs_by(request, file, is_miswritten)
}

/// Whether a line probably names the same thing as the file's, in spite of a slip: one letter too many or too few inside a word, two
/// letters swapped, or another case. A different letter makes a different name: `load_a`, `load_b`.
pub(super) fn is_misspelt_name(request: &str, file: &str, index: &SearchIndex<'_>) -> bool {
    let is_misspelt = |a: &str, b: &str| {
        let keeps_letters = a.len() != b.len() || a.eq_ignore_ascii_case(b) || has_swapped_letters(a, b);
        keeps_letters && is_typo(a, b)
    };
    !has_known_word(request, file, index) && differs_by(request, file, is_misspelt)
}

/// Whether one word is the other with one more letter at its end: `crates`, `dependencie`.
fn differs_by_last_letter(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let rest = long.strip_prefix(short).filter(|_| short.chars().count() >= MIN_TYPO_CHARS);
    let is_letter = |rest: &str| rest.chars().count() == 1 && rest.starts_with(char::is_alphabetic);
    rest.is_some_and(is_letter)
}

/// Names differ by one letter too often, so only two swapped letters are a slip there.
fn judge_name(
    request: &str,
    file: &str,
    index: &SearchIndex<'_>,
    is_miswritten: fn(&str, &str) -> bool,
) -> Judgement {
    let is_slip = !has_known_word(request, file, index) && differs_by(request, file, is_miswritten);
    if is_slip { Judgement::Slip } else { Judgement::OtherLine }
}

/// The words of one line that differ: the request's word and the file's. None if the lines do not have the
/// same number of tokens. Short words are left out; they are articles and conjunctions.
pub(super) fn substitutions<'l>(request: &'l str, file: &'l str) -> Vec<(&'l str, &'l str)> {
    let (a, b) = (tokens(request), tokens(file));
    if a.len() != b.len() {
        return Vec::new();
    }
    a.into_iter().zip(b).filter(|(a, b)| a != b && a.chars().count() >= MIN_SUBSTITUTED_CHARS).collect()
}

/// Whether two lines name different items.
pub(super) fn name_differs(request: &str, file: &str) -> bool {
    heading::names_other_item(request, file) || heading::leading_name(request) != heading::leading_name(file)
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

/// Whether two lines have the same tokens, apart from words that are miswritten in some way.
fn differs_by(request: &str, file: &str, is_miswritten: impl Fn(&str, &str) -> bool) -> bool {
    let (a, b) = (tokens(request), tokens(file));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || is_miswritten(a, b))
}

/// Whether at least half of the request's words are words of the file's line.
fn shares_words(request: &str, file: &str) -> bool {
    let here: Vec<&str> = words(file).collect();
    let (mut shared, mut all) = (0, 0);
    for word in words(request) {
        all += 1;
        shared += usize::from(here.contains(&word));
    }
    shared * 2 >= all && shared > 0
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

/// Whether two words differ by a typo inside the word: a letter too many or too few, another letter, two swapped; or in case.
/// Numbers and short words have no typos, and a letter at either end makes another word: `file2`, `aload`, `created`.
pub(super) fn is_typo(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let is_name = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if long.chars().count() < MIN_TYPO_CHARS || !is_name(a) || !is_name(b) {
        return false;
    }
    if short.eq_ignore_ascii_case(long) || has_swapped_letters(a, b) {
        return true;
    }
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    let front = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    let (rest, long_rest) = (&short[front..], &long[front..]);
    if front == 0 || !long_rest[0].is_alphabetic() {
        return false;
    }
    // A single letter between underscores is a name: `x_range`, `get_y_range`.
    let is_part = |at: usize| {
        let is_edge = |c: Option<&char>| c.is_none_or(|&c| c == '_');
        is_edge(at.checked_sub(1).and_then(|before| long.get(before))) && is_edge(long.get(at + 1))
    };
    match long.len() - short.len() {
        0 => {
            short.len() >= MIN_OTHER_LETTER_CHARS
                && rest.len() > 1
                && rest[1..] == long_rest[1..]
                && rest[0].is_alphabetic()
                && !is_part(front)
        }
        1 => !rest.is_empty() && *rest == long_rest[1..] && !is_part(front),
        _ => false,
    }
}

/// Whether two words differ by two swapped letters.
fn has_swapped_letters(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let front = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (rest, other) = (&a[front..], &b[front..]);
    a.len() == b.len()
        && a.len() >= MIN_TYPO_CHARS
        && rest.len() >= 2
        && rest[0] == other[1]
        && rest[1] == other[0]
        && rest[2..] == other[2..]
        && rest[..2].iter().all(|c| c.is_alphabetic())
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
    #[case("load_file2(a)", "load_file(a)", false)]
    #[case("aload(a)", "load(a)", false)]
    #[case("get_x_range(a)", "get_y_range(a)", false)]
    #[case("on_create(a)", "on_created(a)", false)]
    fn tells_typos_from_other_words(#[case] request: &str, #[case] file: &str, #[case] typo: bool) {
        assert_eq!(differs_by(request, file, is_typo), typo);
    }
}
