//! A line diff: which whole lines differ between two texts. Lines that both texts
//! share keep the file's own bytes, including its newline.

use std::hash::Hash;
use std::ops::Range;

use imara_diff::sources::byte_lines;
use imara_diff::{Algorithm, Diff, InternedInput, Interner, Token, TokenSource as _};

/// The most pairs of lines to compare with Myers' algorithm. It would take minutes on long texts that
/// repeat a few lines. Such texts are split at lines that occur once, and a section that is still too
/// long counts as changed.
const MAX_PAIRS: usize = 1 << 22;

/// Longer texts are not split into lines; only their common start and end are left out.
const MAX_BYTES: usize = 64 << 20;

/// A range of the old text and the range of the new text that replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRange {
    /// The range of the old text.
    pub old: Range<usize>,
    /// The range of the new text.
    pub new: Range<usize>,
}

/// Compares two texts line by line and returns the byte ranges that differ, in order.
pub fn diff_lines(old: &[u8], new: &[u8]) -> Vec<ChangedRange> {
    let mut changes = Vec::new();
    for_each_changed_range(old, new, |change| changes.push(change));
    changes
}

/// Compares two texts line by line and passes the byte ranges that differ to `found`, in order. Allocates nothing for texts of one
/// line, of which a change can have millions.
pub fn for_each_changed_range(old: &[u8], new: &[u8], mut found: impl FnMut(ChangedRange)) {
    if old == new {
        return;
    }
    // One line against one line needs no algorithm.
    if is_one_line(old) && is_one_line(new) {
        return found(ChangedRange { old: 0..old.len(), new: 0..new.len() });
    }
    match old.len().max(new.len()) > MAX_BYTES {
        true => trim_common_ends(old, new).into_iter().for_each(found),
        false => compare_lines(old, new).into_iter().for_each(found),
    }
}

fn compare_lines(old: &[u8], new: &[u8]) -> Vec<ChangedRange> {
    let tokens = estimate_lines(old) + estimate_lines(new);
    let mut interner = Interner::new(tokens);
    let (before, old_starts) = intern_lines(old, &mut interner);
    let (after, new_starts) = intern_lines(new, &mut interner);
    let input = InternedInput { before, after, interner };
    let mut changes = Vec::new();
    if input.before.len().saturating_mul(input.after.len()) <= MAX_PAIRS {
        // Myers, because histogram diffs explode when many small changes are scattered over a long text.
        let mut diff = Diff::compute(Algorithm::Myers, &input);
        diff.postprocess_lines(&input);
        for hunk in diff.hunks() {
            let lines = |range: Range<u32>| range.start as usize..range.end as usize;
            changes.push(ChangedRange { old: lines(hunk.before), new: lines(hunk.after) });
        }
    } else {
        let tokens = input.interner.num_tokens();
        SectionDiff::new(&input.before, &input.after, tokens, &mut changes).diff_between_anchors();
    }
    let bytes =
        |starts: &[u32], lines: Range<usize>| starts[lines.start] as usize..starts[lines.end] as usize;
    for change in &mut changes {
        change.old = bytes(&old_starts, change.old.clone());
        change.new = bytes(&new_starts, change.new.clone());
    }
    changes
}

/// Compares two lists of lines, words or hashes, and returns the index ranges that differ, in order.
pub fn diff_slices<T: Copy + Default + Eq + Hash>(old: &[T], new: &[T]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut input: InternedInput<T> = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut changes = Vec::new();
    let tokens = input.interner.num_tokens();
    SectionDiff::new(&input.before, &input.after, tokens, &mut changes)
        .diff_section(0..old.len(), 0..new.len());
    changes.into_iter().map(|change| (change.old, change.new)).collect()
}

fn is_one_line(text: &[u8]) -> bool {
    match text {
        [] => true,
        [body @ .., _] => memchr::memchr(b'\n', body).is_none(),
    }
}

/// About how many lines a text has, by the length of its first ones.
fn estimate_lines(text: &[u8]) -> usize {
    byte_lines(text).estimate_tokens() as usize
}

/// The token of each line of a text, and where each line starts; the end of the text comes last. The text has at most [`MAX_BYTES`].
fn intern_lines<'t>(text: &'t [u8], interner: &mut Interner<&'t [u8]>) -> (Vec<Token>, Vec<u32>) {
    let estimate = estimate_lines(text);
    let (mut tokens, mut starts) = (Vec::with_capacity(estimate), Vec::with_capacity(estimate + 1));
    let mut start = 0;
    starts.push(0);
    let newlines = memchr::memchr_iter(b'\n', text).map(|newline| newline + 1);
    let rest = (!text.is_empty() && !text.ends_with(b"\n")).then_some(text.len());
    for end in newlines.chain(rest) {
        tokens.push(interner.intern(&text[start..end]));
        starts.push(end as u32);
        start = end;
    }
    (tokens, starts)
}

/// The one range left after removing the lines that both texts start and end with.
fn trim_common_ends(old: &[u8], new: &[u8]) -> Option<ChangedRange> {
    if old == new {
        return None;
    }
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let front = memchr::memrchr(b'\n', &old[..same]).map_or(0, |at| at + 1);
    let (old_rest, new_rest) = (&old[front..], &new[front..]);
    let same = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let tail = &old_rest[old_rest.len() - same..];
    let back = memchr::memchr(b'\n', tail).map_or(0, |at| tail.len() - at - 1);
    Some(ChangedRange { old: front..old.len() - back, new: front..new.len() - back })
}

/// Compares two long texts section by section.
struct SectionDiff<'a> {
    old: &'a [Token],
    new: &'a [Token],
    changes: &'a mut Vec<ChangedRange>,
    renumbering: Renumbering,
    diff: Diff,
}

impl<'a> SectionDiff<'a> {
    fn new(old: &'a [Token], new: &'a [Token], tokens: u32, changes: &'a mut Vec<ChangedRange>) -> Self {
        Self { old, new, changes, renumbering: Renumbering::new(tokens), diff: Diff::default() }
    }

    /// Splits the texts at lines that occur once in both, and compares the sections in between.
    fn diff_between_anchors(&mut self) {
        let anchors = anchors(self.old, self.new, self.renumbering.tokens());
        let mut from = (0, 0);
        for (at_old, at_new) in anchors.into_iter().chain([(self.old.len(), self.new.len())]) {
            self.diff_section(from.0..at_old, from.1..at_new);
            from = (at_old + 1, at_new + 1);
        }
    }

    /// Compares two sections, after leaving out the lines that both start or end with.
    fn diff_section(&mut self, mut removed: Range<usize>, mut added: Range<usize>) {
        let (old, new) = (&self.old[removed.clone()], &self.new[added.clone()]);
        let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        removed.start += same;
        added.start += same;
        let (old, new) = (&old[same..], &new[same..]);
        let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        removed.end -= same;
        added.end -= same;
        if removed.is_empty() && added.is_empty() {
            return;
        }
        let pairs = removed.len().saturating_mul(added.len());
        // One line against one line, both different, needs no algorithm.
        if pairs <= 1 || pairs > MAX_PAIRS {
            self.changes.push(ChangedRange { old: removed, new: added });
            return;
        }
        let (old, new) = (&self.old[removed.clone()], &self.new[added.clone()]);
        let tokens = self.renumbering.renumber(old, new);
        let Renumbering { old, new, .. } = &self.renumbering;
        self.diff.compute_with(Algorithm::Myers, old, new, tokens);
        let lines =
            |start: usize, range: Range<u32>| start + range.start as usize..start + range.end as usize;
        self.changes.extend(self.diff.hunks().map(|hunk| ChangedRange {
            old: lines(removed.start, hunk.before),
            new: lines(added.start, hunk.after),
        }));
    }
}

/// Gives the tokens of a section numbers of their own, from zero.
///
/// The diff clears tables with an entry per token number. With the numbers of the whole text, a text with
/// many small sections would spend most of its time on that: sections times lines.
struct Renumbering {
    /// For each token of the whole text, its number in the current section, or `UNSEEN`.
    numbers: Vec<u32>,
    old: Vec<Token>,
    new: Vec<Token>,
}

impl Renumbering {
    const UNSEEN: u32 = u32::MAX;

    fn new(tokens: u32) -> Self {
        Self { numbers: vec![Self::UNSEEN; tokens as usize], old: Vec::new(), new: Vec::new() }
    }

    /// How many tokens the whole text has.
    fn tokens(&self) -> u32 {
        self.numbers.len() as u32
    }

    /// Fills `old` and `new` with the section's own numbers and returns how many there are.
    fn renumber(&mut self, old: &[Token], new: &[Token]) -> u32 {
        let mut next = 0;
        for (section, renumbered) in [(old, &mut self.old), (new, &mut self.new)] {
            renumbered.clear();
            renumbered.extend(section.iter().map(|token| {
                let number = &mut self.numbers[token.0 as usize];
                if *number == Self::UNSEEN {
                    *number = next;
                    next += 1;
                }
                Token(*number)
            }));
        }
        for token in old.iter().chain(new) {
            self.numbers[token.0 as usize] = Self::UNSEEN;
        }
        next
    }
}

/// Pairs of line numbers of lines that occur once in each text and are in the same order in both.
fn anchors(old: &[Token], new: &[Token], tokens: u32) -> Vec<(usize, usize)> {
    let at_old = only_lines(old, tokens);
    let at_new = only_lines(new, tokens);
    let pair = |token: &Token| Some((at_old[token.0 as usize].get()?, at_new[token.0 as usize].get()?));
    longest_increasing(&old.iter().filter_map(pair).collect::<Vec<_>>())
}

/// The number of the only line with a token, if there is exactly one. There is one of these for each line of two long texts, so
/// they are small.
#[derive(Clone, Copy)]
struct OnlyLine(u32);

impl OnlyLine {
    const NONE: Self = Self(u32::MAX);
    const SEVERAL: Self = Self(u32::MAX - 1);

    fn add(&mut self, line: usize) {
        *self = if self.0 == Self::NONE.0 { Self(line as u32) } else { Self::SEVERAL };
    }

    fn get(self) -> Option<usize> {
        (self.0 < Self::SEVERAL.0).then_some(self.0 as usize)
    }
}

/// For each token, the only line that has it.
fn only_lines(lines: &[Token], tokens: u32) -> Vec<OnlyLine> {
    let mut only = vec![OnlyLine::NONE; tokens as usize];
    for (at, token) in lines.iter().enumerate() {
        only[token.0 as usize].add(at);
    }
    only
}

/// The longest subsequence of `pairs`, which are sorted by their first element, whose second element increases.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = Vec::new(); // for each length, the subsequence's last pair with the smallest second element
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (number, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut longest = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(number) = next {
        longest.push(pairs[number]);
        next = before[number];
    }
    longest.reverse();
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apply(old: &[u8], new: &[u8], changes: &[ChangedRange]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        for change in changes {
            out.extend_from_slice(&old[at..change.old.start]);
            out.extend_from_slice(&new[change.new.clone()]);
            at = change.old.end;
        }
        out.extend_from_slice(&old[at..]);
        out
    }

    #[test]
    fn leaves_out_shared_lines() {
        assert_eq!(diff_lines(b"a\nb\nc\n", b"a\nX\nc\n"), [ChangedRange { old: 2..4, new: 2..4 }]);
        assert_eq!(diff_lines(b"a\n", b"a\n"), []);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn applying_the_changes_gives_the_new_text(old in "[ab\n]{0,30}", new in "[ab\n]{0,30}") {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            prop_assert_eq!(apply(old, new, &diff_lines(old, new)), new);
            let changes: Vec<ChangedRange> = trim_common_ends(old, new).into_iter().collect();
            prop_assert_eq!(apply(old, new, &changes), new);
        }

        #[test]
        fn lines_are_interned_like_those_of_the_library(old in "[ab\n]{0,40}", new in "[ab\n]{0,40}") {
            let expected = InternedInput::new(byte_lines(old.as_bytes()), byte_lines(new.as_bytes()));
            let mut interner = Interner::new(0);
            for (text, tokens) in [(&old, expected.before), (&new, expected.after)] {
                let (found, starts) = intern_lines(text.as_bytes(), &mut interner);
                prop_assert_eq!(found, tokens);
                let lines: Vec<&[u8]> = starts.windows(2).map(|pair| &text.as_bytes()[pair[0] as usize..pair[1] as usize]).collect();
                prop_assert_eq!(lines, byte_lines(text.as_bytes()).collect::<Vec<_>>());
            }
        }

        #[test]
        fn anchored_diffs_give_the_new_text(old in proptest::collection::vec(0u32..12, 0..40), new in proptest::collection::vec(0u32..12, 0..40)) {
            let tokens = |list: &[u32]| list.iter().copied().map(Token).collect::<Vec<_>>();
            let (old, new) = (tokens(&old), tokens(&new));
            let mut changes = Vec::new();
            SectionDiff::new(&old, &new, 12, &mut changes).diff_between_anchors();
            let mut rebuilt = Vec::new();
            let mut at = 0;
            for change in changes {
                rebuilt.extend_from_slice(&old[at..change.old.start]);
                rebuilt.extend_from_slice(&new[change.new.clone()]);
                at = change.old.end;
            }
            rebuilt.extend_from_slice(&old[at..]);
            prop_assert_eq!(rebuilt, new);
        }
    }
}
