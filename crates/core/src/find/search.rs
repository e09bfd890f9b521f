//! Exact search: every occurrence of a text, in time linear in text and file.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem::Finder;

use super::limits::{MAX_HITS, MAX_SINGLE_PASSES};
use slipstitch_text::Span;

/// The occurrences of one needle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hits {
    /// The start of each hit, in order; at most [`Needle::keep`] of them.
    pub(super) starts: Vec<usize>,
    /// The number of hits, including overlapping ones.
    pub(super) count: usize,
    /// The number of hits when overlapping ones are skipped.
    pub(super) non_overlapping: usize,
    /// Whether any two of them overlap.
    pub(super) overlapping: bool,
}

/// A text to search for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needle<'a> {
    pub(super) text: &'a [u8],
    /// Only hits inside this span count.
    pub(super) within: Span,
    /// How many starts to keep.
    pub(super) keep: usize,
}

/// The end of the last hit, and of the last one counted as non-overlapping.
#[derive(Debug, Clone, Copy, Default)]
struct LastHit {
    end: usize,
    end_non_overlapping: usize,
}

impl Hits {
    fn add(&mut self, needle: &Needle<'_>, start: usize, last: &mut LastHit) {
        let end = start + needle.text.len();
        if start < needle.within.start() || end > needle.within.end() {
            return;
        }
        if last.end_non_overlapping <= start {
            self.non_overlapping += 1;
            last.end_non_overlapping = end;
        }
        self.overlapping |= start < last.end;
        last.end = end;
        self.count += 1;
        if self.starts.len() < needle.keep {
            self.starts.push(start);
        }
    }
}

/// The hits of a needle, given where its text occurs.
pub(super) fn hits_at(starts: &[usize], needle: &Needle<'_>) -> Hits {
    let mut hits = Hits::default();
    let mut last = LastHit::default();
    starts.iter().for_each(|&start| hits.add(needle, start, &mut last));
    hits
}

/// Finds all needles, none of which may be empty.
pub(super) fn search(haystack: &[u8], needles: &[Needle<'_>]) -> Vec<Hits> {
    let mut numbers: HashMap<(&[u8], Span), usize> = HashMap::new();
    let mut distinct: Vec<Needle<'_>> = Vec::new();
    let mut which = Vec::with_capacity(needles.len());
    for needle in needles {
        let number = *numbers.entry((needle.text, needle.within)).or_insert_with(|| {
            distinct.push(Needle { keep: 0, ..*needle });
            distinct.len() - 1
        });
        distinct[number].keep = distinct[number].keep.max(needle.keep);
        which.push(number);
    }
    let found = search_distinct(haystack, &distinct);
    if found.len() == needles.len() {
        return found;
    }
    which.into_iter().map(|number| found[number].clone()).collect()
}

fn search_distinct(haystack: &[u8], needles: &[Needle<'_>]) -> Vec<Hits> {
    if needles.len() > MAX_SINGLE_PASSES {
        let automaton =
            AhoCorasick::builder().match_kind(MatchKind::Standard).build(needles.iter().map(|n| n.text));
        if let Ok(automaton) = automaton {
            if let Some(found) = search_together(haystack, needles, &automaton) {
                return found;
            }
            return needles.iter().map(|needle| search_one(haystack, needle, needle.keep)).collect();
        }
    }
    needles.iter().map(|needle| search_one(haystack, needle, usize::MAX)).collect()
}

/// Finds all needles in one pass; `None` if there are too many hits.
fn search_together(haystack: &[u8], needles: &[Needle<'_>], automaton: &AhoCorasick) -> Option<Vec<Hits>> {
    let mut left = MAX_HITS;
    let mut all = vec![(Hits::default(), LastHit::default()); needles.len()];
    for found in automaton.find_overlapping_iter(haystack) {
        left = left.checked_sub(1)?;
        let number = found.pattern().as_usize();
        let (hits, last) = &mut all[number];
        hits.add(&needles[number], found.start(), last);
    }
    Some(all.into_iter().map(|(hits, _)| hits).collect())
}

/// Where a text is, if it occurs exactly once.
pub(super) fn find_only(haystack: &[u8], text: &[u8]) -> Option<usize> {
    let needle = Needle { text, within: Span::new(0, haystack.len()), keep: 1 };
    let hits = search_one(haystack, &needle, 1);
    hits.starts.first().copied().filter(|_| hits.count == 1)
}

/// Finds one needle; stops after more than `max_hits` hits.
///
/// A fast search finds the first hit of a run. From there on, as long as a suffix of one hit can be a prefix of the
/// next, the search goes byte by byte with the needle's borders (Knuth-Morris-Pratt). Restarting the fast search one
/// byte later would be quadratic for `aaaa` in a run of `a`.
fn search_one(haystack: &[u8], needle: &Needle<'_>, max_hits: usize) -> Hits {
    let text = needle.text;
    let finder = Finder::new(text);
    let borders = borders(text);
    let mut hits = Hits::default();
    let mut last = LastHit::default();
    let mut at = needle.within.start();
    let stop = needle.within.end().min(haystack.len());
    while let Some(found) = haystack.get(at..stop).and_then(|rest| finder.find(rest)) {
        hits.add(needle, at + found, &mut last);
        if hits.count > max_hits {
            break;
        }
        at += found + text.len();
        let mut matched = borders[text.len() - 1];
        while matched > 0 && at < stop {
            while matched > 0 && text[matched] != haystack[at] {
                matched = borders[matched - 1];
            }
            matched += usize::from(text[matched] == haystack[at]);
            at += 1;
            if matched == text.len() {
                hits.add(needle, at - text.len(), &mut last);
                matched = borders[text.len() - 1];
            }
        }
    }
    hits
}

/// For each prefix, the length of its longest proper prefix that is also its suffix.
pub(super) fn borders<T: PartialEq>(text: &[T]) -> Vec<usize> {
    let mut borders = vec![0; text.len()];
    let mut length = 0;
    for at in 1..text.len() {
        while length > 0 && text[at] != text[length] {
            length = borders[length - 1];
        }
        length += usize::from(text[at] == text[length]);
        borders[at] = length;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find_all(text: &[u8], haystack: &[u8]) -> Vec<usize> {
        let needle = Needle { text, within: Span::new(0, haystack.len()), keep: usize::MAX };
        search_one(haystack, &needle, usize::MAX).starts
    }

    fn naive(text: &[u8], haystack: &[u8]) -> Vec<usize> {
        (0..haystack.len()).filter(|&at| haystack[at..].starts_with(text)).collect()
    }

    #[test]
    fn counts_overlapping_hits() {
        assert_eq!(find_all(b"aa", b"aaa"), [0, 1]);
        assert_eq!(find_all(b"aba", b"xabababa"), [1, 3, 5]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn both_searches_agree_with_a_naive_one(haystack in "[ab]{0,40}", text in "[ab]{1,6}", others in proptest::collection::vec("[ab]{1,5}", 9)) {
            let haystack = haystack.as_bytes();
            prop_assert_eq!(find_all(text.as_bytes(), haystack), naive(text.as_bytes(), haystack));
            let needles: Vec<Needle<'_>> = others.iter()
                .map(|o| Needle { text: o.as_bytes(), within: Span::new(0, haystack.len()), keep: usize::MAX })
                .collect();
            for (one, hits) in needles.iter().zip(search(haystack, &needles)) {
                let want = naive(one.text, haystack);
                prop_assert_eq!(hits.count, want.len());
                prop_assert_eq!(hits.overlapping, want.windows(2).any(|w| w[1] < w[0] + one.text.len()));
                prop_assert_eq!(hits.starts, want);
            }
        }
    }
}
