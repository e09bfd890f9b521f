//! Drift: context lines that differ from the file's, or that only one of the two has. Every removed line must match.
//!
//! The text alone cannot tell a stale quotation from a twin: a function that was removed and one that resembles it look
//! exactly like a function that was edited. So on text alone a context line may only differ by a slip of the pen, which a
//! known word never is (see [`slip`](super::slip)), and the place must be ahead of every other by nearly a whole line.
//!
//! The margin is in lines because near-twins differ by about a line. Given two functions that share all but one line, a
//! request with one typo resembles both: a high similarity shows that *one of them* was meant, but not which.

use std::collections::{HashMap, HashSet};

use super::alignment::{Alignment, indent};
use super::heading;
use super::limits::{
    EXACT_LINES_PER_GAP, EXACT_LINES_PER_REWRITTEN, EXTRA_LINE_COST, MARGIN, MARGIN_AT_STATED_LINE,
    MAX_GAP_PAIRS, MAX_OFFSET, MAX_REWRITTEN_PARAGRAPHS, MAX_SWAPPED_WORDS, MAX_VOTES,
    MAX_VOTING_OCCURRENCES, MAX_WINDOWS, MIN_LINES, MIN_PINNING_LETTERS, MIN_SCORE, MIN_VERY_CLOSE,
    RARE_LINE_WEIGHT,
};
use super::outline::{self, EnclosingRows};
use super::punctuation::{is_distinctive, letters, line_key};
use super::script::{Role, Script};
use super::search_index::{SearchIndex, squashed_hash};
use super::similarity::line_similarity;
use super::slip::{self, Judgement};
use crate::change::Lines;

/// The result of the search.
pub(super) enum DriftMatch {
    /// No place that is close enough.
    None,
    /// One place, clearly ahead of all others.
    One(Alignment),
    /// Several places that are about as close.
    Ambiguous(Vec<Lines>),
}

/// What is known about the place besides the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Nothing.
    TextAlone,
    /// The request says that it starts at this line.
    StatedLine(usize),
    /// The caller looked at the searched lines and chose them: context lines may differ freely.
    Chosen,
}

/// A line of the request that must be in the file.
struct Anchor {
    row: usize,
    role: Role,
    key: String,
    squashed: u64,
    /// The whitespace before it.
    indent: String,
}

fn script_anchors(script: &Script) -> Vec<Anchor> {
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
struct Window {
    /// The position that each anchor is paired with.
    pairs: Vec<Option<usize>>,
    /// The similarity of each pair, 0 for an anchor without one.
    similarities: Vec<f64>,
    /// How many lines of the file between the first and the last pair have no partner.
    extra: usize,
    score: f64,
}

impl Window {
    fn new(pairs: Vec<Option<usize>>, anchors: &[Anchor], index: &SearchIndex<'_>) -> Self {
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

    fn is_exact(&self, n: usize) -> bool {
        self.similarities[n] == 1.0
    }

    fn exactness(&self, n: usize, anchors: &[Anchor], index: &SearchIndex<'_>) -> Exactness {
        match self.pairs[n].filter(|_| self.is_exact(n)) {
            None => Exactness::Different,
            Some(at) if indent(&index.text(at)) == anchors[n].indent => Exactness::Indented,
            Some(_) => Exactness::Words,
        }
    }

    /// Whether the lines that are paired follow each other.
    fn is_consecutive(&self) -> bool {
        let paired: Vec<usize> = self.pairs.iter().copied().flatten().collect();
        paired.windows(2).all(|two| two[1] == two[0] + 1)
    }

    fn align(&self, anchors: &[Anchor], script: &Script, index: &SearchIndex<'_>) -> Alignment {
        let pairs: Vec<(usize, usize)> = anchors
            .iter()
            .zip(&self.pairs)
            .filter_map(|(anchor, at)| at.map(|at| (anchor.row, at)))
            .collect();
        Alignment::new(script, &pairs, index)
    }

    /// Whether the line that an anchor is paired with encloses the change in the file too. Otherwise it may be anything that has
    /// come between the lines of the request, and what it names does not matter.
    fn encloses_change(
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

    fn first(&self) -> Option<usize> {
        self.pairs.iter().flatten().next().copied()
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

/// A place that resembles a request.
pub(super) struct ClosePlace {
    pub(super) alignment: Alignment,
    /// How similar its lines are to the request's, from 0 to 1.
    pub(super) similarity: f64,
    /// How similar the least similar removed line is; 1 if none is removed.
    pub(super) removed_similarity: f64,
    /// Whether every added line replaces a removed one, or is between lines that match.
    pub(super) has_place_for_additions: bool,
    /// The row of a line that names a block around the change, if it names another one here.
    pub(super) other_name: Option<usize>,
    /// Whether that name is more than miswritten, so that this is another block.
    pub(super) is_other_block: bool,
    /// Whether it has a line of the request that the file has nowhere else.
    pub(super) has_only_line: bool,
    /// Whether it has every line of the request, with nothing between them.
    pub(super) has_all_lines: bool,
    /// How exactly the place has each line of the request.
    exactness: Vec<Exactness>,
    /// How many lines the place has between those of the request.
    extra: usize,
}

/// How closely a line of a place matches a line of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Exactness {
    /// It has another line, or none.
    Different,
    /// Only its whitespace differs.
    Words,
    /// Its indentation is the same too.
    Indented,
}

impl ClosePlace {
    fn new(
        window: &Window,
        anchors: &[Anchor],
        script: &Script,
        enclosing: &EnclosingRows,
        index: &SearchIndex<'_>,
    ) -> Self {
        let removed = (0..anchors.len()).filter(|&n| anchors[n].role == Role::Removed);
        let naming = heading::rows_naming_blocks_around_change(script);
        let names_other_item = |n: usize| {
            let (row, request) = (anchors[n].row, &anchors[n].key);
            let names_other_block = |file: &str| {
                let names = (heading::item_name(request), heading::item_name(file));
                (naming.contains(&row) && matches!(names, (Some(request), Some(file)) if request != file))
                    || (enclosing.contains(row)
                        && heading::names_other_block(request, file)
                        && window.encloses_change(n, anchors, script, index))
            };
            window.pairs[n].is_some_and(|at| names_other_block(&index.text(at)))
        };
        let other_names: Vec<usize> =
            (0..anchors.len()).filter(|&n| !window.is_exact(n) && names_other_item(n)).collect();
        let is_miswritten = |n: &usize| {
            window.pairs[*n].is_some_and(|at| slip::is_miswritten(&anchors[*n].key, &index.text(at), index))
        };
        Self {
            alignment: window.align(anchors, script, index),
            similarity: window.score / anchors.len() as f64,
            removed_similarity: removed.map(|n| window.similarities[n]).fold(1.0, f64::min),
            has_place_for_additions: additions_have_a_place(window, anchors, script, Neighbours::Both, index),
            other_name: other_names.first().map(|&n| anchors[n].row),
            is_other_block: !other_names.iter().all(is_miswritten),
            has_all_lines: (0..anchors.len()).all(|n| window.is_exact(n)) && window.is_consecutive(),
            has_only_line: (0..anchors.len()).any(|n| window.is_exact(n) && is_only_line(&anchors[n], index)),
            exactness: (0..anchors.len()).map(|n| window.exactness(n, anchors, index)).collect(),
            extra: window.extra,
        }
    }

    /// Whether it has every line of the request at least as exactly as another place, at least one of them more exactly, and
    /// no more lines in between.
    pub(super) fn surpasses(&self, other: &Self) -> bool {
        let pairs = || self.exactness.iter().zip(&other.exactness);
        self.extra <= other.extra
            && pairs().all(|(own, other)| own >= other)
            && pairs().any(|(own, other)| own > other)
    }
}

/// The only one of some places that surpasses all others.
pub(super) fn surpassing(places: &[&ClosePlace]) -> Option<usize> {
    let surpasses_all =
        |&at: &usize| (0..places.len()).all(|other| other == at || places[at].surpasses(places[other]));
    (0..places.len()).find(surpasses_all)
}

/// The closest places, best first.
pub(super) fn closest_places(script: &Script, index: &SearchIndex<'_>) -> Vec<ClosePlace> {
    let anchors = script_anchors(script);
    let windows = best_windows(&anchors, index);
    let enclosing = outline::rows_around_changes(script);
    windows.iter().map(|window| ClosePlace::new(window, &anchors, script, &enclosing, index)).collect()
}

/// Finds the place of a request.
pub(super) fn find_place(script: &Script, trust: Trust, index: &SearchIndex<'_>) -> DriftMatch {
    let anchors = script_anchors(script);
    if anchors.len() < MIN_LINES && trust != Trust::Chosen {
        return DriftMatch::None;
    }
    let windows = best_windows(&anchors, index);
    let Some(best) = windows.first() else { return DriftMatch::None };
    // Where context may differ freely, the lines on both sides of an insertion must be right.
    let neighbours = if trust == Trust::Chosen { Neighbours::Both } else { Neighbours::One };
    if !removed_lines_match(best, &anchors)
        || !additions_have_a_place(best, &anchors, script, neighbours, index)
    {
        return DriftMatch::None;
    }
    let alignment = best.align(&anchors, script, index);
    let margin = match trust {
        Trust::Chosen
            if best.score * 2.0 < anchors.len() as f64 || names_differ(best, &anchors, script, index) =>
        {
            return DriftMatch::None;
        }
        Trust::Chosen => return DriftMatch::One(alignment),
        Trust::StatedLine(line) if alignment.first == line => MARGIN_AT_STATED_LINE,
        Trust::StatedLine(_) | Trust::TextAlone => MARGIN,
    };
    if !is_convincing(best, &anchors, script, index) || !removed_lines_are_certain(best, &anchors, index) {
        return DriftMatch::None;
    }
    let rivals: Vec<&Window> =
        windows[1..].iter().filter(|other| best.score - other.score < margin).collect();
    if !rivals.is_empty() {
        let lines = |window: &Window| window.align(&anchors, script, index).lines();
        return DriftMatch::Ambiguous(std::iter::once(best).chain(rivals).map(lines).collect());
    }
    DriftMatch::One(alignment)
}

/// The possible places, best first.
fn best_windows(anchors: &[Anchor], index: &SearchIndex<'_>) -> Vec<Window> {
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
fn overlaps(a: &Window, b: &Window) -> bool {
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

/// Whether every removed line is in the file, and nothing is between two that follow each other.
fn removed_lines_match(window: &Window, anchors: &[Anchor]) -> bool {
    let removed = |n: usize| anchors[n].role == Role::Removed;
    let in_place = (0..anchors.len()).filter(|&n| removed(n)).all(|n| window.is_exact(n));
    let together = (1..anchors.len()).filter(|&n| removed(n) && removed(n - 1)).all(
        |n| matches!((window.pairs[n - 1], window.pairs[n]), (Some(before), Some(at)) if at == before + 1),
    );
    in_place && together
}

/// Whether it is certain which lines are to be removed: one of them occurs once in the file, or the quoted lines next to them
/// match with nothing in between. The lines of another block prove nothing about `}` or `return None`, however many match. If a
/// quoted line equal to a removed one is missing, nothing is certain: either of the two may be the one that is left.
fn removed_lines_are_certain(window: &Window, anchors: &[Anchor], index: &SearchIndex<'_>) -> bool {
    let is_removed = |n: usize| anchors[n].role == Role::Removed;
    let is_only =
        |n: usize| is_distinctive(&anchors[n].key) && index.occurs_once_in_file(anchors[n].squashed);
    let is_attached = |first: usize, second: usize| {
        let follows = |at: usize| window.pairs[second] == Some(at + 1);
        window.is_exact(first) && window.is_exact(second) && window.pairs[first].is_some_and(follows)
    };
    let lacks_equal = (0..anchors.len()).filter(|&n| !window.is_exact(n)).any(|missing| {
        (0..anchors.len()).any(|n| is_removed(n) && anchors[n].squashed == anchors[missing].squashed)
    });
    let mut start = 0;
    let mut runs = anchors.chunk_by(|a, b| a.role == b.role).map(|run| {
        start += run.len();
        start - run.len()..start
    });
    !lacks_equal
        && runs.all(|run| {
            !is_removed(run.start)
                || run.clone().any(is_only)
                || (run.start.checked_sub(1).is_none_or(|above| is_attached(above, run.start))
                    && (run.end == anchors.len() || is_attached(run.end - 1, run.end)))
        })
}

/// Whether every change replaces, or is next to, a line that occurs once in the file. Then a rewritten line around it matters
/// less.
fn changes_are_at_only_lines(
    window: &Window,
    anchors: &[Anchor],
    script: &Script,
    index: &SearchIndex<'_>,
) -> bool {
    let is_only = |n: usize| {
        window.is_exact(n)
            && is_distinctive(&anchors[n].key)
            && index.occurs_once_in_file(anchors[n].squashed)
    };
    let mut start = 0;
    let mut runs =
        script.rows.chunk_by(|a, b| (a.role == Role::Context) == (b.role == Role::Context)).map(|run| {
            start += run.len();
            start - run.len()..start
        });
    runs.all(|run| {
        let before = anchors.partition_point(|anchor| anchor.row < run.start);
        let after = anchors.partition_point(|anchor| anchor.row < run.end);
        match script.rows[run.start].role {
            Role::Context => true,
            _ if after > before => (before..after).any(is_only),
            _ => before.checked_sub(1).is_some_and(is_only) || (after < anchors.len() && is_only(after)),
        }
    })
}

/// How many of the lines next to an insertion must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Neighbours {
    One,
    Both,
}

/// Whether every added line replaces a removed one, or is next to lines that match, with nothing unexpected in between.
fn additions_have_a_place(
    window: &Window,
    anchors: &[Anchor],
    script: &Script,
    neighbours: Neighbours,
    index: &SearchIndex<'_>,
) -> bool {
    let added = || script.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Added);
    // A blank line goes to the same place as the lines that are added with it.
    let adds_text = added().any(|(_, row)| !row.blank);
    added().filter(|(_, row)| !row.blank || !adds_text).all(|(number, _)| {
        let next = anchors.partition_point(|anchor| anchor.row < number);
        let around = [next.checked_sub(1), (next < anchors.len()).then_some(next)];
        let mut around = around.into_iter().flatten().peekable();
        if around.clone().any(|n| anchors[n].role == Role::Removed) {
            return true;
        }
        let positions: Vec<usize> = around.clone().filter_map(|n| window.pairs[n]).collect();
        let is_torn = matches!(positions[..], [before, after] if after != before + 1);
        let is_certain = |n: usize| window.is_exact(n);
        // A missing line does not show what follows it.
        let is_missing = neighbours == Neighbours::One && positions.len() < around.clone().count();
        around.peek().is_some()
            && !is_torn
            && !is_missing
            && match neighbours {
                // A single brace is next to anything.
                Neighbours::One => {
                    around.clone().any(|n| is_certain(n) && is_distinctive(&anchors[n].key))
                        || around.all(is_certain)
                }
                Neighbours::Both => {
                    let is_apart = |n: usize| is_changed_but_apart(window, &anchors[n], n, number, script);
                    around.clone().all(is_certain)
                        || (around.clone().all(|n| is_certain(n) || is_apart(n))
                            && around.any(|n| is_certain(n) && is_only_line(&anchors[n], index)))
                }
            }
    })
}

/// Whether a line next to an insertion has turned into one like it, and a blank line is between the two, so that the insertion does
/// not depend on it.
fn is_changed_but_apart(
    window: &Window,
    anchor: &Anchor,
    n: usize,
    insertion: usize,
    script: &Script,
) -> bool {
    let between = anchor.row.min(insertion) + 1..anchor.row.max(insertion);
    window.similarities[n] >= MIN_VERY_CLOSE
        && script.rows[between].iter().any(|row| row.role != Role::Removed && row.blank)
}

/// Whether a line says enough to prove a place, and is in the file once.
fn is_only_line(anchor: &Anchor, index: &SearchIndex<'_>) -> bool {
    letters(&anchor.key) >= MIN_PINNING_LETTERS && index.occurs_once_in_file(anchor.squashed)
}

/// Whether the text alone proves the place: most lines match, and every other one differs by a slip of the pen.
fn is_convincing(window: &Window, anchors: &[Anchor], script: &Script, index: &SearchIndex<'_>) -> bool {
    let count = anchors.len();
    let exact = (0..count).filter(|&n| window.is_exact(n)).count();
    // Lines such as a single brace occur everywhere, so at least two exact lines must be distinctive.
    let distinctive = (0..count).filter(|&n| window.is_exact(n) && is_distinctive(&anchors[n].key)).count();
    let missing = window.pairs.iter().filter(|at| at.is_none()).count();
    let gaps = missing + window.extra;
    if window.score < MIN_SCORE * count as f64 || distinctive < 2 || exact < 2 || exact * 2 <= count {
        return false;
    }
    if gaps > 0 && (exact + missing < count || exact < EXACT_LINES_PER_GAP * gaps || !ends_are_exact(window))
    {
        return false;
    }
    let (mut rewritten, mut swapped) = (0, 0);
    let proves_place = changes_are_at_only_lines(window, anchors, script, index);
    let enclosing = outline::rows_around_changes(script);
    let agree = anchors.iter().enumerate().all(|(n, anchor)| match window.pairs[n] {
        _ if window.is_exact(n) => true,
        Some(at) => {
            let is_enclosing = enclosing.contains(anchor.row);
            let judge = if is_enclosing { slip::judge_enclosing } else { slip::judge };
            match judge(&anchor.key, &line_key(&index.text(at)), index) {
                Judgement::Slip => true,
                Judgement::MaybeRewritten => {
                    rewritten += 1;
                    proves_place
                        && rewritten <= MAX_REWRITTEN_PARAGRAPHS
                        && !outline::tells_paragraphs_apart(script, anchor.row, at, index)
                }
                Judgement::WordsSwapped(words) => {
                    (rewritten, swapped) = (rewritten + 1, swapped + words);
                    swapped <= MAX_SWAPPED_WORDS
                }
                Judgement::OtherLine => false,
            }
        }
        // A heading that the file lacks is the mark of another block, unless the change is not in that block.
        None => {
            !slip::names_something(&anchor.key)
                || (window.extra == 0 && heading::is_beside_changes(script, anchor.row))
        }
    });
    if repeats_a_substitution(window, anchors, index) {
        return false;
    }
    // One rewritten line is an edit; several with swapped words are the mark of a twin.
    let needed = if rewritten > 1 { 2 * EXACT_LINES_PER_REWRITTEN } else { EXACT_LINES_PER_REWRITTEN };
    agree && distinctive >= needed * rewritten
}

/// Whether a line above the change names another block than the file's line: it is another place, whoever chose it.
fn names_differ(window: &Window, anchors: &[Anchor], script: &Script, index: &SearchIndex<'_>) -> bool {
    let change = script.first_change();
    let above = anchors.iter().enumerate().filter(|(n, anchor)| {
        anchor.row < change && !window.is_exact(*n) && !heading::ends_before_change(script, anchor.row)
    });
    let enclosing = outline::rows_around_changes(script);
    above.into_iter().any(|(n, anchor)| {
        let is_enclosing = enclosing.contains(anchor.row);
        match window.pairs[n] {
            Some(at) => {
                let file = index.text(at);
                // A typo does not make it a different name.
                !slip::is_misspelt_name(&anchor.key, &line_key(&file), index)
                    && (slip::name_differs(&anchor.key, &line_key(&file))
                        || (is_enclosing
                            && heading::names_other_block(&anchor.key, &file)
                            && window.encloses_change(n, anchors, script, index)))
            }
            // A line that only the request has names the place if it comes first.
            None => {
                n == 0
                    && (heading::names_item(&anchor.key)
                        || (is_enclosing && heading::block_name(&anchor.key).is_some()))
            }
        }
    })
}

/// Whether the same word is in place of the same other word on several lines: the mark of a twin.
fn repeats_a_substitution(window: &Window, anchors: &[Anchor], index: &SearchIndex<'_>) -> bool {
    let mut seen = HashSet::new();
    for (n, anchor) in anchors.iter().enumerate().filter(|(n, _)| !window.is_exact(*n)) {
        let Some(at) = window.pairs[n] else { continue };
        let file = index.text(at);
        let key = line_key(&file);
        let of_line: HashSet<(String, String)> = slip::substitutions(&anchor.key, &key)
            .into_iter()
            .map(|(request, file)| (request.to_owned(), file.to_owned()))
            .collect();
        if of_line.iter().any(|pair| seen.contains(pair)) {
            return true;
        }
        seen.extend(of_line);
    }
    false
}

fn ends_are_exact(window: &Window) -> bool {
    let ends = [0, window.pairs.len() - 1];
    ends.iter().all(|&n| window.is_exact(n))
}
