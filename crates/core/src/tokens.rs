//! Token limits, counted with a tokenizer only when the length in bytes does not decide.

/// The longest token of the vocabulary, in bytes.
const MAX_TOKEN_BYTES: usize = 128;

/// Whether the texts together have more than `limit` tokens of the `o200k_base` vocabulary.
///
/// A token has 1 to 128 bytes, so short and very long texts need no tokenizer.
pub fn exceeds<'a>(texts: impl Iterator<Item = &'a str> + Clone, limit: usize) -> bool {
    let bytes: usize = texts.clone().map(str::len).sum();
    if bytes <= limit {
        return false;
    }
    if bytes / MAX_TOKEN_BYTES > limit {
        return true;
    }
    let tokenizer = bpe_openai::o200k_base();
    let mut remaining = limit;
    for text in texts {
        match tokenizer.count_till_limit(&tokenizer.normalize(text), remaining) {
            Some(count) => remaining -= count,
            None => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exceeds_one(text: &str, limit: usize) -> bool {
        exceeds(std::iter::once(text), limit)
    }

    #[test]
    fn counts_exactly_when_the_length_does_not_decide() {
        // " the" is one token.
        let text = " the".repeat(1000);
        assert!(!exceeds_one(&text, 1000));
        assert!(exceeds_one(&text, 999));
        assert!(!exceeds([text.as_str(), &text].into_iter(), 2000));
        assert!(exceeds([text.as_str(), &text].into_iter(), 1999));
    }

    #[test]
    fn decides_short_and_very_long_texts_by_length() {
        assert!(!exceeds_one("abc", 3));
        assert!(exceeds_one(&"x".repeat(MAX_TOKEN_BYTES * 11), 10));
    }
}
