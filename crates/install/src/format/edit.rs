//! An edit: the entry it concerns, and the byte ranges it replaces. Everything outside them is copied unchanged.

use std::ops::Range;

/// Where an entry is: the key of the mapping of servers, and the server's name in it.
pub(crate) type EntryPath<'a> = [&'a str; 2];

/// The replacement of a byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    range: Range<usize>,
    text: String,
}

impl Splice {
    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, text: text.into() }
    }

    pub(super) fn delete(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }

    pub(super) fn is_insertion(&self) -> bool {
        self.range.is_empty()
    }
}

/// Applies splices; `None` if they are out of order or overlap.
pub(super) fn apply(text: &str, splices: &[Splice]) -> Option<String> {
    let mut result = String::new();
    let mut copied = 0;
    for splice in splices {
        result.push_str(text.get(copied..splice.range.start)?);
        result.push_str(&splice.text);
        copied = splice.range.end;
    }
    Some(result + text.get(copied..)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_everything_outside_the_ranges() {
        let splices = [Splice::insert(1, "XY"), Splice::delete(2..4), Splice::insert(5, "Z")];
        assert_eq!(apply("abcde", &splices).as_deref(), Some("aXYbeZ"));
        assert_eq!(apply("abc", &[]).as_deref(), Some("abc"));
    }

    #[test]
    fn rejects_splices_that_overlap_or_do_not_fit() {
        assert_eq!(apply("abcde", &[Splice::delete(0..3), Splice::insert(2, "x")]), None);
        assert_eq!(apply("abcde", &[Splice::delete(4..6)]), None);
        assert_eq!(apply("é", &[Splice::insert(1, "x")]), None);
    }
}
