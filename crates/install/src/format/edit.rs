//! An edit: the entry it concerns, and the byte ranges it replaces. Everything outside them is copied unchanged.

use std::ops::Range;

use slipstitch::core::text::{Span, Splice, Splices};

/// Where an entry is: the key of the mapping of servers, and the server's name in it.
pub(crate) type EntryPath<'a> = [&'a str; 2];

pub(super) fn insertion(at: usize, text: impl Into<String>) -> Splice {
    Splice { at: Span::new(at, at), insert: text.into().into_bytes() }
}

pub(super) fn deletion(range: Range<usize>) -> Splice {
    Splice { at: Span::new(range.start, range.end), insert: Vec::new() }
}

/// Applies splices; `None` if they overlap, or do not fit the text.
pub(super) fn apply(text: &str, splices: Vec<Splice>) -> Option<String> {
    if splices.iter().any(|splice| splice.at.end() > text.len()) {
        return None;
    }
    let splices = Splices::new(text.len(), splices).ok()?;
    String::from_utf8(splices.apply(text.as_bytes())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_everything_outside_the_ranges() {
        let splices = vec![insertion(1, "XY"), deletion(2..4), insertion(5, "Z")];
        assert_eq!(apply("abcde", splices).as_deref(), Some("aXYbeZ"));
        assert_eq!(apply("abc", Vec::new()).as_deref(), Some("abc"));
    }

    #[test]
    fn rejects_splices_that_overlap_or_do_not_fit() {
        assert_eq!(apply("abcde", vec![deletion(0..3), insertion(2, "x")]), None);
        assert_eq!(apply("abcde", vec![deletion(4..6)]), None);
        assert_eq!(apply("é", vec![insertion(1, "x")]), None);
    }
}
