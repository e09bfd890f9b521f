//! Exact token counts in the `o200k_base` vocabulary, for limits that are given in tokens.
//!
//! The vocabulary comes with the `tiktoken` crate, about 800 KB compressed. It is unpacked on first use, and only
//! if the length of the texts does not already decide the answer.
//!
//! ```
//! let texts = ["one two", " three"];
//! assert!(!slipstitch_tokens::more_than(texts, 3));
//! assert!(slipstitch_tokens::more_than(texts, 2));
//! ```

use std::sync::LazyLock;

use regex::Regex;
use tiktoken::CoreBpe;

/// The longest token of the vocabulary, in bytes.
const MAX_TOKEN_BYTES: usize = 128;

static VOCABULARY: LazyLock<&CoreBpe> =
    LazyLock::new(|| tiktoken::get_encoding("o200k_base").expect("the vocabulary is compiled in"));

/// The pattern that `o200k_base` splits text with, without the look-ahead of its last branch: see [`next_piece`].
static PIECE: LazyLock<Regex> = LazyLock::new(|| {
    let branches = [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+",
    ];
    Regex::new(&format!(r"\A(?:{})", branches.join("|"))).expect("the pattern is valid")
});

/// Whether the texts together have more than `max` tokens.
///
/// A token is at least one byte and at most 128, so most texts need no count.
pub fn more_than<'a>(texts: impl IntoIterator<Item = &'a str> + Clone, max: usize) -> bool {
    let bytes: usize = texts.clone().into_iter().map(str::len).sum();
    if bytes <= max {
        return false;
    }
    if bytes / MAX_TOKEN_BYTES > max {
        return true;
    }
    let mut total = 0;
    texts.into_iter().flat_map(pieces).any(|piece| {
        total += VOCABULARY.count(piece);
        total > max
    })
}

/// The number of tokens of a text. Names of special tokens such as `<|endoftext|>` count as ordinary text.
pub fn count(text: &str) -> usize {
    pieces(text).map(|piece| VOCABULARY.count(piece)).sum()
}

/// The parts of a text that are encoded separately.
///
/// `CoreBpe::count` splits as well, but it looks at the whole rest of the text after every Unicode space, which is
/// quadratic, and cannot stop at a limit. A piece on its own is one piece for it, so counting piece by piece gives
/// the same number.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(next_piece(rest)?);
        rest = after;
        Some(piece)
    })
}

/// Where the first piece of a text ends.
///
/// The vocabulary's pattern ends with `\s+(?!\S)|\s+`: spaces before other text leave the last one to it. Only that
/// branch matches text that ends with a space other than a newline.
fn next_piece(text: &str) -> Option<usize> {
    let piece = PIECE.find(text)?.as_str();
    let last = piece.chars().next_back()?;
    let is_space_run = last.is_whitespace() && !matches!(last, '\r' | '\n');
    let shorter = piece.len() - last.len_utf8();
    let followed = piece.len() < text.len();
    Some(if is_space_run && followed && shorter > 0 { shorter } else { piece.len() })
}

#[cfg(test)]
mod tests;
