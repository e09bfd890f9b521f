//! Tells equal texts in a file apart by the lines around them.

use std::collections::BTreeSet;

use super::diagnosis::{Candidate, Landmark};
use super::limits::{MAX_LANDMARK_DISTANCE, MAX_SHOWN_CHARS};
use crate::snapshot::Snapshot;
use slipstitch_text::display::truncate_chars;

/// Gives every candidate the nearest line above it, or else below it, that tells the candidates apart. A line that is
/// different for all of them is preferred to a nearer one that only some of them share.
pub(super) fn add_landmarks(candidates: &mut [Candidate], snapshot: &Snapshot) {
    if candidates.len() < 2 {
        return;
    }
    let mut partial = None;
    let count = snapshot.line_count();
    for is_above in [true, false] {
        for distance in 1..=MAX_LANDMARK_DISTANCE {
            let numbers: Vec<usize> =
                candidates.iter().filter_map(|one| neighbour(one, is_above, distance, count)).collect();
            // Where the file ends for one candidate, the others have no line to compare.
            if numbers.len() < candidates.len() {
                break;
            }
            let texts: Vec<String> =
                numbers.iter().map(|&number| snapshot.line(number).trim().to_owned()).collect();
            let mut distinct: Vec<&String> = texts.iter().filter(|text| is_telling(text)).collect();
            distinct.sort_unstable();
            distinct.dedup();
            if distinct.len() == texts.len() {
                set_landmarks(candidates, &numbers, &texts);
                return;
            }
            if distinct.len() > 1 && partial.is_none() {
                partial = Some((numbers, texts));
            }
        }
    }
    match partial {
        Some((numbers, texts)) => set_landmarks(candidates, &numbers, &texts),
        None => add_landmarks_beside_edge(candidates, snapshot),
    }
}

/// Sets landmarks if one candidate is at the start or the end of the file: it has no line to compare there, which tells it
/// apart.
fn add_landmarks_beside_edge(candidates: &mut [Candidate], snapshot: &Snapshot) {
    let count = snapshot.line_count();
    for is_above in [true, false] {
        let (at_edge, others): (Vec<_>, Vec<_>) =
            candidates.iter_mut().partition(|one| neighbour(one, is_above, 1, count).is_none());
        let numbers: Vec<usize> =
            others.iter().filter_map(|one| neighbour(one, is_above, 1, count)).collect();
        let texts: Vec<String> =
            numbers.iter().map(|&number| snapshot.line(number).trim().to_owned()).collect();
        let distinct: BTreeSet<&String> = texts.iter().filter(|text| is_telling(text)).collect();
        if at_edge.len() == 1 && distinct.len() == texts.len() {
            set_landmarks(others, &numbers, &texts);
            return;
        }
    }
}

fn neighbour(candidate: &Candidate, is_above: bool, distance: usize, count: usize) -> Option<usize> {
    let lines = candidate.lines;
    let number = match is_above {
        true => lines.start.checked_sub(distance)?,
        false => lines.start + lines.count.max(1) - 1 + distance,
    };
    (1..=count).contains(&number).then_some(number)
}

/// Whether a line says anything: blank lines and lone brackets do not.
fn is_telling(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn set_landmarks<'c>(
    candidates: impl IntoIterator<Item = &'c mut Candidate>,
    numbers: &[usize],
    texts: &[String],
) {
    for ((candidate, &line), text) in candidates.into_iter().zip(numbers).zip(texts) {
        candidate.landmark =
            Some(Landmark { line, text: truncate_chars(text, MAX_SHOWN_CHARS).into_owned() });
    }
}
