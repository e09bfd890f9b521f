//! What someone else did to a file, made out of the text before and the text after.

use crate::narrow::{Swap, narrow};
use crate::{Span, Splice, Splices};

/// What makes the text `to` out of the text `from`, line by line.
///
/// Lines that were added or removed beside lines that say the same could as well have been those. Nobody knows which;
/// so all of them count as touched.
pub fn apart(from: &[u8], to: &[u8]) -> Splices {
    let mut swaps: Vec<Swap> = Vec::new();
    for swap in narrow(from, to).into_iter().map(|swap| widened(swap, from, to)) {
        match swaps.last_mut() {
            Some(last) if swap.old.start <= last.old.end || swap.new.start <= last.new.end => {
                last.old.end = last.old.end.max(swap.old.end);
                last.new.end = last.new.end.max(swap.new.end);
            }
            _ => swaps.push(swap),
        }
    }
    let list = swaps
        .into_iter()
        .map(|swap| Splice { at: Span::new(swap.old.start, swap.old.end), insert: to[swap.new].to_vec() })
        .collect();
    Splices::new(from.len(), list)
        .unwrap_or_else(|_| Splices::one(from.len(), Span::new(0, from.len()), to.to_vec()))
}

/// A swap with the lines around it over which it could be moved.
fn widened(swap: Swap, from: &[u8], to: &[u8]) -> Swap {
    let (up, down) = match (swap.old.is_empty(), swap.new.is_empty()) {
        (true, false) => leeway(to, swap.new.start, swap.new.end),
        (false, true) => leeway(from, swap.old.start, swap.old.end),
        _ => (0, 0),
    };
    Swap { old: swap.old.start - up..swap.old.end + down, new: swap.new.start - up..swap.new.end + down }
}

/// By how many bytes whole lines from `start` to `end` could be others of the same text, further up and further down.
fn leeway(text: &[u8], start: usize, end: usize) -> (usize, usize) {
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

    fn touched(from: &str, to: &str) -> Vec<String> {
        let splices = apart(from.as_bytes(), to.as_bytes());
        splices.iter().map(|splice| from[splice.at.start()..splice.at.end()].to_owned()).collect()
    }

    #[test]
    fn a_line_that_could_have_been_another_is_touched() {
        assert_eq!(touched("a\nb\nc\n", "a\nb\nb\nc\n"), ["b\n"]);
        assert_eq!(touched("a\nb\nb\nc\n", "a\nb\nc\n"), ["b\nb\n"]);
        assert_eq!(touched("x\na\nb\n", "x\na\nb\na\nb\n"), ["a\nb\n"]);
        assert_eq!(touched("a\nb\nc\n", "a\nnew\nb\nc\n"), [""]);
        assert_eq!(touched("a\nb\nc\n", "a\nB\nc\n"), ["b\n"]);
    }

    proptest! {
        #[test]
        fn it_makes_the_one_out_of_the_other(from in "([ab]\n){0,12}[ab]?", to in "([abc]\n){0,12}[ab]?") {
            prop_assert_eq!(apart(from.as_bytes(), to.as_bytes()).apply(from.as_bytes()), to.into_bytes());
        }
    }
}
