//! Drift: context lines with different words in the file, such as a typo, a paraphrased comment, or a neighbouring
//! line that has changed since. Most lines must match exactly, including every removed line, and the place must beat
//! any other by nearly a whole line.
//!
//! The margin is in lines because near-twins differ by about a line. Given two functions that share all but one
//! line, a request with one typo resembles both: a high similarity shows that *one of them* was meant, but not which.
//! A place is only accepted if every other place matches worse by nearly a whole line.

use std::collections::HashMap;

use super::alignment::Alignment;
use super::heading;
use super::merge::is_distinctive;
use super::punctuation::line_key;
use super::script::{Role, Script};
use super::search_index::{SearchIndex, squashed_hash};
use super::similarity::{MIN_LINE_SIMILARITY, line_similarity};
use crate::change::Lines;

/// A line that occurs more often than this does not vote.
const MAX_OCCURRENCES: usize = 2000;
/// How many votes are counted, and how many of the places with the most votes are compared.
const MAX_VOTES: usize = 400_000;
const MAX_WINDOWS: usize = 24;
/// The minimum average similarity of all lines.
const MIN_SCORE: f64 = 0.7;
/// How many lines the best place must be ahead of the next.
const MARGIN: f64 = 0.95;
/// The minimum similarity of a line next to which lines are added.
const MIN_NEIGHBOUR_SIMILARITY: f64 = 0.85;
/// This many exact lines outweigh one line that has been rewritten completely.
const EXACT_LINES_PER_REWRITTEN: usize = 5;
/// The margin for a place where the request says it is.
const MARGIN_AT_STATED_LINE: f64 = 0.3;
/// Shorter requests leave the place in doubt.
const MIN_LINES: usize = 3;
/// The result of the search.
pub(super) enum DriftMatch {
    /// No place that is close enough.
    None,
    /// One place, clearly ahead of all others.
    One(Alignment),
    /// Several places that are about as close.
    Ambiguous(Vec<Lines>),
}

/// A possible place and its score.
struct Window {
    start: usize,
    score: f64,
    /// The similarity of each line.
    similarities: Vec<f64>,
    /// Which lines name a different item than the request's line.
    other_item: Vec<bool>,
}

/// The row, role and key of an anchor.
type Anchor = (usize, Role, String);

fn script_anchors(script: &Script) -> Vec<Anchor> {
    script.anchors().map(|(row, text)| (row, text.role, line_key(&text.text).into_owned())).collect()
}

/// The possible places, best first.
fn best_windows(anchors: &[Anchor], index: &SearchIndex<'_>) -> Vec<Window> {
    let mut windows: Vec<Window> = vote_for_starts(anchors, index)
        .into_iter()
        .map(|start| score_window(start, anchors, index))
        .collect();
    windows.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.start.cmp(&b.start)));
    windows
}

fn align(window: &Window, anchors: &[Anchor], script: &Script, index: &SearchIndex<'_>) -> Alignment {
    let pairs: Vec<(usize, usize)> =
        anchors.iter().enumerate().map(|(n, (row, ..))| (*row, window.start + n)).collect();
    Alignment::new(script, &pairs, index)
}

/// The closest places, and how similar each is to the request, from 0 to 1.
pub(super) fn closest_alignments(script: &Script, index: &SearchIndex<'_>) -> Vec<(Alignment, f64)> {
    let anchors = script_anchors(script);
    let share = |window: &Window| window.score / anchors.len() as f64;
    best_windows(&anchors, index)
        .iter()
        .map(|window| (align(window, &anchors, script, index), share(window)))
        .collect()
}

/// Finds the place of a request; `line` is where the request says it starts.
pub(super) fn find_place(script: &Script, line: Option<usize>, index: &SearchIndex<'_>) -> DriftMatch {
    let anchors = script_anchors(script);
    if anchors.len() < MIN_LINES {
        return DriftMatch::None;
    }
    let windows = best_windows(&anchors, index);
    let Some(best) = windows.first() else { return DriftMatch::None };
    if best.score < MIN_SCORE * anchors.len() as f64 || !is_convincing(best, &anchors, script) {
        return DriftMatch::None;
    }
    let stated = line.is_some_and(|line| align(best, &anchors, script, index).first == line);
    let margin = if stated { MARGIN_AT_STATED_LINE } else { MARGIN };
    let rivals: Vec<&Window> =
        windows[1..].iter().filter(|other| best.score - other.score < margin).collect();
    if !rivals.is_empty() {
        let lines = |window: &Window| align(window, &anchors, script, index).lines();
        return DriftMatch::Ambiguous(std::iter::once(best).chain(rivals).map(lines).collect());
    }
    DriftMatch::One(align(best, &anchors, script, index))
}

/// Lets every line of the request vote for where the request would start; the most votes come first.
fn vote_for_starts(anchors: &[Anchor], index: &SearchIndex<'_>) -> Vec<usize> {
    let mut offsets: HashMap<u64, Vec<usize>> = HashMap::new();
    for (offset, (_, _, key)) in anchors.iter().enumerate() {
        offsets.entry(squashed_hash(key)).or_default().push(offset);
    }
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for &hash in offsets.keys() {
        let known = index
            .occurrences(hash)
            .map(|known| known.iter().take(MAX_OCCURRENCES + 1).map(|&at| at as usize));
        places.extend(known.map(|known| (hash, known.collect())));
    }
    let unknown = if places.is_empty() { index.len() } else { 0 };
    for at in 0..unknown {
        if offsets.contains_key(&index.squashed(at)) {
            let list = places.entry(index.squashed(at)).or_default();
            if list.len() <= MAX_OCCURRENCES {
                list.push(at);
            }
        }
    }
    let mut rarest: Vec<(&u64, &Vec<usize>)> =
        places.iter().filter(|(_, list)| list.len() <= MAX_OCCURRENCES).collect();
    rarest.sort_by_key(|(hash, list)| (list.len(), offsets[*hash][0]));
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut left = MAX_VOTES;
    for (hash, list) in rarest {
        let offsets = &offsets[hash];
        match left.checked_sub(list.len() * offsets.len()) {
            Some(rest) => left = rest,
            None => break,
        }
        for &at in list {
            for start in offsets.iter().filter_map(|&offset| at.checked_sub(offset)) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    let mut ranked: Vec<(usize, usize)> =
        votes.into_iter().filter(|(start, _)| start + anchors.len() <= index.len()).collect();
    ranked.sort_by_key(|&(start, votes)| (std::cmp::Reverse(votes), start));
    ranked.into_iter().take(MAX_WINDOWS).map(|(start, _)| start).collect()
}

/// Compares the request with the lines from `start` on.
fn score_window(start: usize, anchors: &[Anchor], index: &SearchIndex<'_>) -> Window {
    let (mut similarities, mut other_item) =
        (Vec::with_capacity(anchors.len()), Vec::with_capacity(anchors.len()));
    for (at, (_, _, want)) in (start..).zip(anchors) {
        let file = index.text(at);
        let file = line_key(&file);
        similarities.push(line_similarity(want, &file));
        other_item.push(heading::is_different_item(want, &file));
    }
    Window { start, score: similarities.iter().sum(), similarities, other_item }
}

/// Whether a place is good enough: removed lines match exactly, most lines do, every other line is similar or
/// surrounded by exact ones, and every added line has a neighbour that is certain.
fn is_convincing(window: &Window, anchors: &[Anchor], script: &Script) -> bool {
    let exact = |n: usize| window.similarities.get(n).is_none_or(|&similarity| similarity == 1.0);
    let exact_lines = (0..anchors.len()).filter(|&n| exact(n)).count();
    let other_item = |n: usize| window.other_item[n];
    let carried = |n: usize| {
        n > 0
            && exact(n - 1)
            && exact(n + 1)
            && exact_lines >= EXACT_LINES_PER_REWRITTEN * (anchors.len() - exact_lines)
    };
    let lines_agree = anchors.iter().enumerate().all(|(n, (_, role, _))| {
        exact(n)
            || (*role == Role::Context
                && !other_item(n)
                && (window.similarities[n] >= MIN_LINE_SIMILARITY || carried(n)))
    });
    // Lines such as a single brace occur everywhere, so at least two exact lines must be distinctive.
    let distinctive = (0..anchors.len()).filter(|&n| exact(n) && is_distinctive(&anchors[n].2)).count();
    if !lines_agree || distinctive < 2 || exact_lines < 2 || exact_lines * 2 <= anchors.len() {
        return false;
    }
    let is_certain = |row: &usize| {
        anchors
            .binary_search_by_key(row, |(at, ..)| *at)
            .is_ok_and(|n| window.similarities[n] >= MIN_NEIGHBOUR_SIMILARITY)
    };
    let anchor_rows: Vec<usize> = anchors.iter().map(|(row, ..)| *row).collect();
    script.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Added).all(|(number, _)| {
        let next = anchor_rows.partition_point(|&row| row < number);
        next.checked_sub(1).and_then(|before| anchor_rows.get(before)).is_some_and(is_certain)
            || anchor_rows.get(next).is_some_and(is_certain)
    })
}
