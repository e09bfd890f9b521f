//! Reconstructs someone else's change to a file from the old and the new text.

use crate::line_diff::{ChangedRange, diff_lines};
use crate::{Span, Splice, Splices};

/// The splices that turn `from` into `to`, line by line.
///
/// When a line is added or removed next to an identical one, a diff cannot tell which of the two it was. All
/// candidates count as changed.
pub fn diff_splices(from: &[u8], to: &[u8]) -> Splices {
    let mut changes: Vec<ChangedRange> = Vec::new();
    for change in diff_lines(from, to).into_iter().map(|change| widen(change, from, to)) {
        match changes.last_mut() {
            Some(last) if change.old.start <= last.old.end || change.new.start <= last.new.end => {
                last.old.end = last.old.end.max(change.old.end);
                last.new.end = last.new.end.max(change.new.end);
            }
            _ => changes.push(change),
        }
    }
    let list = changes
        .into_iter()
        .map(|change| Splice {
            at: Span::new(change.old.start, change.old.end),
            insert: to[change.new].into(),
        })
        .collect();
    Splices::new(from.len(), list).unwrap_or_else(|_| Splices::one(from.len(), Span::new(0, from.len()), to))
}

/// Widens a change by the lines that it could be shifted over.
fn widen(change: ChangedRange, from: &[u8], to: &[u8]) -> ChangedRange {
    let (up, down) = match (change.old.is_empty(), change.new.is_empty()) {
        (true, false) => shift_room(to, change.new.start, change.new.end),
        (false, true) => shift_room(from, change.old.start, change.old.end),
        _ => (0, 0),
    };
    ChangedRange {
        old: change.old.start - up..change.old.end + down,
        new: change.new.start - up..change.new.end + down,
    }
}

/// How many bytes the whole lines `start..end` of `text` could be shifted up and down without changing the diff's
/// result.
fn shift_room(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let (mut up, mut down) = (0, 0);
    while let (Some(above), Some(last)) = (line_before(text, start - up), line_before(text, end - up))
        && above == last
    {
        up += above.len();
    }
    while let (Some(first), Some(below)) = (line_after(text, start + down), line_after(text, end + down))
        && first == below
    {
        down += first.len();
    }
    (up, down)
}

/// The line that ends at `at`, with its newline.
fn line_before(text: &[u8], at: usize) -> Option<&[u8]> {
    let before = text.get(..at).filter(|before| !before.is_empty())?;
    let start = memchr::memrchr(b'\n', &before[..before.len() - 1]).map_or(0, |newline| newline + 1);
    Some(&before[start..])
}

/// The line that starts at `at`, with its newline.
fn line_after(text: &[u8], at: usize) -> Option<&[u8]> {
    let after = text.get(at..).filter(|after| !after.is_empty())?;
    let end = memchr::memchr(b'\n', after).map_or(after.len(), |newline| newline + 1);
    Some(&after[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn changed(from: &str, to: &str) -> Vec<String> {
        let splices = diff_splices(from.as_bytes(), to.as_bytes());
        splices.iter().map(|splice| from[splice.at.start()..splice.at.end()].to_owned()).collect()
    }

    #[test]
    fn lines_that_may_have_changed_count_as_changed() {
        assert_eq!(changed("a\nb\nc\n", "a\nb\nb\nc\n"), ["b\n"]);
        assert_eq!(changed("a\nb\nb\nc\n", "a\nb\nc\n"), ["b\nb\n"]);
        assert_eq!(changed("x\na\nb\n", "x\na\nb\na\nb\n"), ["a\nb\n"]);
        assert_eq!(changed("a\nb\nc\n", "a\nnew\nb\nc\n"), [""]);
        assert_eq!(changed("a\nb\nc\n", "a\nB\nc\n"), ["b\n"]);
    }

    proptest! {
        #[test]
        fn applying_the_splices_gives_the_new_text(from in "([ab]\n){0,12}[ab]?", to in "([abc]\n){0,12}[ab]?") {
            prop_assert_eq!(diff_splices(from.as_bytes(), to.as_bytes()).apply(from.as_bytes()), to.into_bytes());
        }
    }
}
