//! The possible places of a request: lines that match vote for where it would start, and all others are paired around them.

use std::collections::HashMap;

use crate::find::alignment::{Alignment, indent};
use crate::find::limits::{
    EXTRA_LINE_COST, MAX_GAP_PAIRS, MAX_OFFSET, MAX_VOTES, MAX_VOTING_OCCURRENCES, MAX_WINDOWS,
    RARE_LINE_WEIGHT,
};
use crate::find::outline;
use crate::find::punctuation::{is_distinctive, line_key};
use crate::find::script::{Role, Script};
use crate::find::search_index::{SearchIndex, squashed_hash};
use crate::find::similarity::line_similarity;

/// A line of the request that must be in the file.
pub(super) struct Anchor {
    pub(super) row: usize,
    pub(super) role: Role,
    pub(super) key: String,
    pub(super) squashed: u64,
    /// The whitespace before it.
    pub(super) indent: String,
}

pub(super) fn script_anchors(script: &Script) -> Vec<Anchor> {
    script
        .anchors()
        .map(|(row, text)| {
            let key = line_key(&text.text).into_owned();
            Anchor {
                row,
                role: text.role,
                squashed: squashed_hash(&key),
                key,
                indent: indent(&text.text).to_owned(),
            }
        })
        .collect()
}

/// A possible place.
pub(super) struct Window {
    /// The position that each anchor is paired with.
    pub(super) pairs: Vec<Option<usize>>,
    /// The similarity of each pair, 0 for an anchor without one.
    pub(super) similarities: Vec<f64>,
    /// How many lines of the file between the first and the last pair have no partner.
    pub(super) extra: usize,
    pub(super) score: f64,
}

impl Window {
    pub(super) fn new(pairs: Vec<Option<usize>>, anchors: &[Anchor], index: &SearchIndex<'_>) -> Self {
        let similarities: Vec<f64> = anchors
            .iter()
            .zip(&pairs)
            .map(|(anchor, at)| at.map_or(0.0, |at| similarity(anchor, at, index)))
            .collect();
        let paired: Vec<usize> = pairs.iter().flatten().copied().collect();
        let span = paired.first().zip(paired.last()).map_or(0, |(first, last)| last + 1 - first);
        let extra = span - paired.len();
        let score = similarities.iter().sum::<f64>() - EXTRA_LINE_COST * extra as f64;
        Self { pairs, similarities, extra, score }
    }

    pub(super) fn is_exact(&self, n: usize) -> bool {
        self.similarities[n] == 1.0
    }

    pub(super) fn exactness(&self, n: usize, anchors: &[Anchor], index: &SearchIndex<'_>) -> Exactness {
        match self.pairs[n].filter(|_| self.is_exact(n)) {
            None => Exactness::Different,
            Some(at) if indent(&index.text(at)) == anchors[n].indent => Exactness::Indented,
            Some(_) => Exactness::Words,
        }
    }

    /// Whether the lines that are paired follow each other.
    pub(super) fn is_consecutive(&self) -> bool {
        let paired: Vec<usize> = self.pairs.iter().copied().flatten().collect();
        paired.windows(2).all(|two| two[1] == two[0] + 1)
    }

    pub(super) fn align(&self, anchors: &[Anchor], script: &Script, index: &SearchIndex<'_>) -> Alignment {
        let pairs: Vec<(usize, usize)> = anchors
            .iter()
            .zip(&self.pairs)
            .filter_map(|(anchor, at)| at.map(|at| (anchor.row, at)))
            .collect();
        Alignment::new(script, &pairs, index)
    }

    /// Whether the line that an anchor is paired with encloses the change in the file too. Otherwise it may be anything that has
    /// come between the lines of the request, and what it names does not matter.
    pub(super) fn encloses_change(
        &self,
        n: usize,
        anchors: &[Anchor],
        script: &Script,
        index: &SearchIndex<'_>,
    ) -> bool {
        let position = |row: usize| {
            let n = anchors.binary_search_by_key(&row, |anchor| anchor.row).ok()?;
            self.pairs[n]
        };
        let below = outline::row_at_change(script, |row| position(row).is_some()).and_then(position);
        matches!((self.pairs[n], below), (Some(at), Some(below)) if outline::encloses(index, at, below))
    }

    pub(super) fn first(&self) -> Option<usize> {
        self.pairs.iter().flatten().next().copied()
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.pairs.iter().flatten().next_back().copied()
    }
}

/// How similar an anchor is to a line. Whitespace inside context lines does not count.
fn similarity(anchor: &Anchor, at: usize, index: &SearchIndex<'_>) -> f64 {
    let file = index.text(at);
    let file = line_key(&file);
    if anchor.role == Role::Context && anchor.squashed == index.squashed(at) {
        return 1.0;
    }
    line_similarity(&anchor.key, &file)
}

/// How closely a line of a place matches a line of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exactness {
    /// It has another line, or none.
    Different,
    /// Only its whitespace differs.
    Words,
    /// Its indentation is the same too.
    Indented,
}

/// The possible places, best first.
pub(super) fn best_windows(anchors: &[Anchor], index: &SearchIndex<'_>) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for start in vote_for_starts(anchors, index) {
        let window = Window::new(pair_lines(start, anchors, index), anchors, index);
        // Neighbouring starts often lead to the same place.
        let is_known = windows.iter().any(|known| known.pairs == window.pairs || overlaps(known, &window));
        match windows.iter_mut().find(|known| overlaps(known, &window)) {
            Some(known) if window.score > known.score => *known = window,
            _ if is_known => {}
            _ => windows.push(window),
        }
    }
    windows.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.first().cmp(&b.first())));
    windows
}

/// Whether two places pair some anchor with the same line.
pub(super) fn overlaps(a: &Window, b: &Window) -> bool {
    a.pairs.iter().zip(&b.pairs).any(|(a, b)| a.is_some() && a == b)
}

/// Lets every line of the request vote for where the request would start; the most votes come first.
fn vote_for_starts(anchors: &[Anchor], index: &SearchIndex<'_>) -> Vec<isize> {
    let mut offsets: HashMap<u64, Vec<usize>> = HashMap::new();
    for (offset, anchor) in anchors.iter().enumerate() {
        offsets.entry(anchor.squashed).or_default().push(offset);
    }
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for &hash in offsets.keys() {
        let known = index.occurrences(hash).map(|known| known.take(MAX_VOTING_OCCURRENCES + 1).collect());
        places.extend(known.map(|known| (hash, known)));
    }
    let unknown = if places.is_empty() { index.len() } else { 0 };
    for at in 0..unknown {
        if offsets.contains_key(&index.squashed(at)) {
            let list = places.entry(index.squashed(at)).or_default();
            if list.len() <= MAX_VOTING_OCCURRENCES {
                list.push(at);
            }
        }
    }
    let mut rarest: Vec<(&u64, &Vec<usize>)> =
        places.iter().filter(|(_, list)| list.len() <= MAX_VOTING_OCCURRENCES).collect();
    rarest.sort_by_key(|(hash, list)| (list.len(), offsets[*hash][0]));
    let mut votes: HashMap<isize, usize> = HashMap::new();
    let mut left = MAX_VOTES;
    for (hash, list) in rarest {
        let offsets = &offsets[hash];
        match left.checked_sub(list.len() * offsets.len()) {
            Some(rest) => left = rest,
            None => break,
        }
        for &at in list {
            for &offset in offsets {
                *votes.entry(at as isize - offset as isize).or_default() += vote_weight(list.len());
            }
        }
    }
    let mut ranked: Vec<(isize, usize)> = votes.into_iter().collect();
    ranked.sort_by_key(|&(start, votes)| (std::cmp::Reverse(votes), start));
    ranked.into_iter().take(MAX_WINDOWS).map(|(start, _)| start).collect()
}

/// The weight of a line's vote. A line that occurs rarely says more about the place.
fn vote_weight(occurrences: usize) -> usize {
    1 + RARE_LINE_WEIGHT / occurrences.max(1)
}

/// Pairs the anchors with the lines from about `start` on: first the lines that match, then those between them.
fn pair_lines(start: isize, anchors: &[Anchor], index: &SearchIndex<'_>) -> Vec<Option<usize>> {
    let mut pairs = match_exact_lines(start, anchors, index);
    let matched: Vec<usize> = (0..pairs.len()).filter(|&n| pairs[n].is_some()).collect();
    let (Some(&first), Some(&last)) = (matched.first(), matched.last()) else { return pairs };
    for two in matched.windows(2) {
        let (from, to) = (pairs[two[0]].unwrap_or_default() + 1, pairs[two[1]].unwrap_or_default());
        fill_gap(two[0] + 1..two[1], from..to, anchors, index, &mut pairs);
    }
    // Lines before the first match and after the last one are paired as they come.
    let at_first = pairs[first].unwrap_or_default();
    for n in (0..first).rev() {
        pairs[n] = at_first.checked_sub(first - n);
    }
    let at_last = pairs[last].unwrap_or_default();
    for (pair, at) in pairs[last + 1..].iter_mut().zip(at_last + 1..index.len()) {
        *pair = Some(at);
    }
    pairs
}

/// The longest common subsequence of anchors and lines, at most [`MAX_OFFSET`] lines out of step with `start`.
fn match_exact_lines(start: isize, anchors: &[Anchor], index: &SearchIndex<'_>) -> Vec<Option<usize>> {
    let width = 2 * MAX_OFFSET + 1;
    let position = |n: usize, offset: usize| start + n as isize + offset as isize - MAX_OFFSET as isize;
    let is_match = |n: usize, offset: usize| {
        usize::try_from(position(n, offset))
            .is_ok_and(|at| at < index.len() && index.squashed(at) == anchors[n].squashed)
    };
    // Of two lone braces the one at the same depth is meant.
    let worth = |n: usize, offset: usize| {
        let has_same_depth =
            usize::try_from(position(n, offset)).is_ok_and(|at| indent(&index.text(at)) == anchors[n].indent);
        4 * weight(&anchors[n]) + u32::from(has_same_depth)
    };
    // best[n][offset]: the most matches of the anchors from `n` on with the lines from that position on.
    let mut best = vec![vec![0u32; width + 1]; anchors.len() + 1];
    for n in (0..anchors.len()).rev() {
        for offset in (0..width).rev() {
            // A step to the next anchor keeps the offset; skipping an anchor lowers it, skipping a line raises it.
            let mut most = best[n][offset + 1];
            if offset > 0 {
                most = most.max(best[n + 1][offset - 1]);
            }
            if is_match(n, offset) {
                most = most.max(worth(n, offset) + best[n + 1][offset]);
            } else {
                most = most.max(best[n + 1][offset]);
            }
            best[n][offset] = most;
        }
    }
    let mut pairs = vec![None; anchors.len()];
    let (mut n, mut offset) = (
        0,
        (0..width)
            .max_by_key(|&offset| (best[0][offset], std::cmp::Reverse(offset.abs_diff(MAX_OFFSET))))
            .unwrap_or(MAX_OFFSET),
    );
    while n < anchors.len() && offset < width {
        let here = best[n][offset];
        if is_match(n, offset) && here == worth(n, offset) + best[n + 1][offset] {
            pairs[n] = usize::try_from(position(n, offset)).ok();
            n += 1;
        } else if here == best[n + 1][offset] {
            n += 1;
        } else if offset > 0 && here == best[n + 1][offset - 1] {
            (n, offset) = (n + 1, offset - 1);
        } else {
            offset += 1;
        }
    }
    pairs
}

/// How much a match of this line says about the place.
fn weight(anchor: &Anchor) -> u32 {
    if is_distinctive(&anchor.key) { 4 } else { 1 }
}

/// Pairs the anchors and lines between two matches: in order if there are as many of each, else by similarity.
fn fill_gap(
    rows: std::ops::Range<usize>,
    lines: std::ops::Range<usize>,
    anchors: &[Anchor],
    index: &SearchIndex<'_>,
    pairs: &mut [Option<usize>],
) {
    if rows.len() == lines.len() {
        rows.zip(lines).for_each(|(n, at)| pairs[n] = Some(at));
        return;
    }
    if rows.is_empty() || lines.is_empty() || rows.len() * lines.len() > MAX_GAP_PAIRS {
        return;
    }
    // The alignment with the highest total similarity; a line that resembles nothing stays without a partner.
    let (height, width) = (rows.len(), lines.len());
    let similar: Vec<Vec<f64>> =
        rows.clone().map(|n| lines.clone().map(|at| similarity(&anchors[n], at, index)).collect()).collect();
    let mut best = vec![vec![0.0f64; width + 1]; height + 1];
    for n in (0..height).rev() {
        for at in (0..width).rev() {
            best[n][at] = best[n + 1][at].max(best[n][at + 1]).max(similar[n][at] + best[n + 1][at + 1]);
        }
    }
    let (mut n, mut at) = (0, 0);
    while n < height && at < width {
        if similar[n][at] > 0.0 && best[n][at] == similar[n][at] + best[n + 1][at + 1] {
            pairs[rows.start + n] = Some(lines.start + at);
            (n, at) = (n + 1, at + 1);
        } else if best[n][at] == best[n + 1][at] {
            n += 1;
        } else {
            at += 1;
        }
    }
}
