//! What really changes when one text takes another's place: whole lines, and no more of them than
//! need be. Lines that both texts share keep the file's own bytes, its own newline among them.

use std::ops::Range;

use imara_diff::sources::byte_lines;
use imara_diff::{Algorithm, Diff, InternedInput, Token};

/// Up to so many pairs of lines are compared by Myers' algorithm. Long texts that repeat a few lines
/// would keep it busy for minutes; they are cut at lines that occur once, and what is left between two
/// cuts counts as changed if it is still too long.
const MAX_PAIRS: usize = 1 << 22;

/// A longer text is not taken apart into lines, but only cut down at its two ends.
const MAX_BYTES: usize = 64 << 20;

/// A part of the old text and the part of the new one that takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// The parts in which two texts differ, front to back, cut at line ends.
pub fn narrow(old: &[u8], new: &[u8]) -> Vec<Swap> {
    if old.len().max(new.len()) > MAX_BYTES {
        return ends(old, new).into_iter().collect();
    }
    let input = InternedInput::new(byte_lines(old), byte_lines(new));
    let mut swaps = Vec::new();
    if input.before.len().saturating_mul(input.after.len()) <= MAX_PAIRS {
        // Myers, because histogram explodes where many small changes are scattered over a long text.
        let mut diff = Diff::compute(Algorithm::Myers, &input);
        diff.postprocess_lines(&input);
        for hunk in diff.hunks() {
            let lines = |range: Range<u32>| range.start as usize..range.end as usize;
            swaps.push(Swap { old: lines(hunk.before), new: lines(hunk.after) });
        }
    } else {
        let tokens = input.interner.num_tokens();
        long(&input.before, &input.after, tokens, &mut swaps);
    }
    let (old_starts, new_starts) = (line_starts(old), line_starts(new));
    let bytes = |starts: &[usize], lines: Range<usize>| starts[lines.start]..starts[lines.end];
    swaps
        .into_iter()
        .map(|swap| Swap { old: bytes(&old_starts, swap.old), new: bytes(&new_starts, swap.new) })
        .collect()
}

/// The lines in which two lists differ, front to back.
pub fn lines_apart(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut input: InternedInput<&str> = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut swaps = Vec::new();
    let tokens = input.interner.num_tokens();
    between(&input.before, &input.after, 0..old.len(), 0..new.len(), tokens, &mut swaps);
    swaps.into_iter().map(|swap| (swap.old, swap.new)).collect()
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

/// Cuts long texts at the lines that occur once in both, and compares what lies between.
fn long(old: &[Token], new: &[Token], tokens: u32, swaps: &mut Vec<Swap>) {
    let mut from = (0, 0);
    for (at_old, at_new) in anchors(old, new, tokens).into_iter().chain([(old.len(), new.len())]) {
        between(old, new, from.0..at_old, from.1..at_new, tokens, swaps);
        from = (at_old + 1, at_new + 1);
    }
}

/// Compares two stretches; lines that both start or end with are left out first.
fn between(
    old: &[Token],
    new: &[Token],
    mut gone: Range<usize>,
    mut come: Range<usize>,
    tokens: u32,
    swaps: &mut Vec<Swap>,
) {
    let same = old[gone.clone()].iter().zip(&new[come.clone()]).take_while(|(a, b)| a == b).count();
    gone.start += same;
    come.start += same;
    let (old_rest, new_rest) = (old[gone.clone()].iter().rev(), new[come.clone()].iter().rev());
    let same = old_rest.zip(new_rest).take_while(|(a, b)| a == b).count();
    gone.end -= same;
    come.end -= same;
    if gone.is_empty() && come.is_empty() {
        return;
    }
    if gone.is_empty() || come.is_empty() || gone.len().saturating_mul(come.len()) > MAX_PAIRS {
        swaps.push(Swap { old: gone, new: come });
        return;
    }
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, &old[gone.clone()], &new[come.clone()], tokens);
    let lines = |start: usize, range: Range<u32>| start + range.start as usize..start + range.end as usize;
    swaps.extend(
        diff.hunks()
            .map(|hunk| Swap { old: lines(gone.start, hunk.before), new: lines(come.start, hunk.after) }),
    );
}

/// Pairs of places of lines that occur once in each text, as many as keep their order in both.
fn anchors(old: &[Token], new: &[Token], tokens: u32) -> Vec<(usize, usize)> {
    let mut places = vec![(0u32, 0u32, 0usize, 0usize); tokens as usize]; // times and last place in each
    for (at, token) in old.iter().enumerate() {
        let place = &mut places[token.0 as usize];
        (place.0, place.2) = (place.0 + 1, at);
    }
    for (at, token) in new.iter().enumerate() {
        let place = &mut places[token.0 as usize];
        (place.1, place.3) = (place.1 + 1, at);
    }
    let single = |token: &Token| match places[token.0 as usize] {
        (1, 1, at_old, at_new) => Some((at_old, at_new)),
        _ => None,
    };
    longest_rise(&old.iter().filter_map(single).collect::<Vec<_>>())
}

/// The longest part of some pairs, ordered by the first, in which the second rises too.
fn longest_rise(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = Vec::new(); // for each length, the pair that ends the lowest such row
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (number, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut row = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(number) = next {
        row.push(pairs[number]);
        next = before[number];
    }
    row.reverse();
    row
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

        #[test]
        fn long_texts_are_cut_and_put_together(old in proptest::collection::vec(0u32..12, 0..40), new in proptest::collection::vec(0u32..12, 0..40)) {
            let tokens = |list: &[u32]| list.iter().copied().map(Token).collect::<Vec<_>>();
            let (old, new) = (tokens(&old), tokens(&new));
            let mut swaps = Vec::new();
            long(&old, &new, 12, &mut swaps);
            let mut made = Vec::new();
            let mut at = 0;
            for swap in swaps {
                made.extend_from_slice(&old[at..swap.old.start]);
                made.extend_from_slice(&new[swap.new.clone()]);
                at = swap.old.end;
            }
            made.extend_from_slice(&old[at..]);
            prop_assert_eq!(made, new);
        }
    }
}
