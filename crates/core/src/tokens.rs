//! How many tokens a text is for a language model, counted only where its length does not decide.

/// The longest token of the vocabulary, in bytes.
const LONGEST_TOKEN: usize = 128;

/// Whether texts together are more than `most` tokens of the `o200k_base` vocabulary.
///
/// A token is at least one byte and at most 128, so short and very long texts need no count.
pub fn more_than<'a>(texts: impl Iterator<Item = &'a str> + Clone, most: usize) -> bool {
    let bytes: usize = texts.clone().map(str::len).sum();
    if bytes <= most {
        return false;
    }
    if bytes / LONGEST_TOKEN > most {
        return true;
    }
    let tokenizer = bpe_openai::o200k_base();
    let mut left = most;
    for text in texts {
        match tokenizer.count_till_limit(&tokenizer.normalize(text), left) {
            Some(count) => left -= count,
            None => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn too_many(text: &str, most: usize) -> bool {
        more_than(std::iter::once(text), most)
    }

    #[test]
    fn the_count_is_exact_where_the_length_does_not_decide() {
        // " the" is one token.
        let text = " the".repeat(1000);
        assert!(!too_many(&text, 1000));
        assert!(too_many(&text, 999));
        assert!(!more_than([text.as_str(), &text].into_iter(), 2000));
        assert!(more_than([text.as_str(), &text].into_iter(), 1999));
    }

    #[test]
    fn short_and_very_long_texts_need_no_count() {
        assert!(!too_many("abc", 3));
        assert!(too_many(&"x".repeat(LONGEST_TOKEN * 11), 10));
    }
}
