//! What really changes when one text takes another's place: whole lines, and no more of them than
//! need be. Lines that both texts share keep the file's own bytes, its own newline among them.

use std::ops::Range;

use imara_diff::sources::byte_lines;
use imara_diff::{Algorithm, Diff, InternedInput};

/// Beyond this size a text is only cut down at its two ends.
const MOST_BYTES: usize = 16 << 20;

/// A part of the old text and the part of the new one that takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Swap {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// The parts in which two texts differ, front to back, cut at line ends.
pub(crate) fn narrow(old: &[u8], new: &[u8]) -> Vec<Swap> {
    if old.len().max(new.len()) > MOST_BYTES {
        return ends(old, new).into_iter().collect();
    }
    let input = InternedInput::new(byte_lines(old), byte_lines(new));
    // Myers, because histogram explodes where many small changes are scattered over a long text.
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let old_ends = line_starts(old);
    let new_ends = line_starts(new);
    diff.hunks()
        .map(|hunk| Swap {
            old: old_ends[hunk.before.start as usize]..old_ends[hunk.before.end as usize],
            new: new_ends[hunk.after.start as usize]..new_ends[hunk.after.end as usize],
        })
        .collect()
}

fn line_starts(text: &[u8]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in byte_lines(text) {
        at += line.len();
        starts.push(at);
    }
    starts
}

/// What is left when the lines that both texts start and end with are taken away.
fn ends(old: &[u8], new: &[u8]) -> Option<Swap> {
    if old == new {
        return None;
    }
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let front = memchr::memrchr(b'\n', &old[..same]).map_or(0, |at| at + 1);
    let (old_rest, new_rest) = (&old[front..], &new[front..]);
    let same = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let tail = &old_rest[old_rest.len() - same..];
    let back = memchr::memchr(b'\n', tail).map_or(0, |at| tail.len() - at - 1);
    Some(Swap { old: front..old.len() - back, new: front..new.len() - back })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rebuilt(old: &[u8], new: &[u8], swaps: &[Swap]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        for swap in swaps {
            out.extend_from_slice(&old[at..swap.old.start]);
            out.extend_from_slice(&new[swap.new.clone()]);
            at = swap.old.end;
        }
        out.extend_from_slice(&old[at..]);
        out
    }

    #[test]
    fn shared_lines_are_left_alone() {
        assert_eq!(narrow(b"a\nb\nc\n", b"a\nX\nc\n"), [Swap { old: 2..4, new: 2..4 }]);
        assert_eq!(narrow(b"a\n", b"a\n"), []);
        assert_eq!(ends(b"a\nb\nc\n", b"a\nX\nc\n"), Some(Swap { old: 2..4, new: 2..4 }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_parts_make_the_new_text(old in "[ab\n]{0,30}", new in "[ab\n]{0,30}") {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            prop_assert_eq!(rebuilt(old, new, &narrow(old, new)), new);
            let swaps: Vec<Swap> = ends(old, new).into_iter().collect();
            prop_assert_eq!(rebuilt(old, new, &swaps), new);
        }
    }
}
