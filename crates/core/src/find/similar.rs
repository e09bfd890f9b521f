//! Similar lines: context lines may differ if the request as a whole is similar enough. Removed lines may not.
//!
//! The measure is part of the contract of the tools that ask for a threshold: twice the length of the longest common
//! subsequence, line by line including newlines, divided by the length of both texts.

use std::collections::BTreeSet;

use rapidfuzz::distance::lcs_seq;

use super::alignment::Alignment;
use super::limits::{MAX_SIMILAR_LINE_BYTES, MAX_SIMILAR_PLACES};
use super::punctuation::line_key;
use super::script::{Role, Script};
use super::search_index::{SearchIndex, squashed_hash};

/// Similarities closer than this are equal.
const EPSILON: f64 = 1e-9;

/// The most similar places; several if they are equally similar.
pub(super) fn find_places(script: &Script, per_mille: u16, index: &SearchIndex<'_>) -> Vec<Alignment> {
    let threshold = f64::from(per_mille) / 1000.0;
    let anchors: Vec<(usize, Role, &str)> =
        script.anchors().map(|(row, text)| (row, text.role, text.text.trim())).collect();
    let mut found: Vec<(f64, Alignment)> = Vec::new();
    for start in candidate_starts(&anchors, index) {
        let removed_match = anchors
            .iter()
            .enumerate()
            .all(|(n, (_, role, text))| *role != Role::Removed || index.text(start + n).trim() == *text);
        if !removed_match {
            continue;
        }
        let pairs: Vec<(usize, usize)> =
            anchors.iter().enumerate().map(|(n, (row, ..))| (*row, start + n)).collect();
        let alignment = Alignment::new(script, &pairs, index);
        let similarity = similarity(script, &alignment, index);
        if similarity >= threshold {
            found.push((similarity, alignment));
        }
    }
    let best = found.iter().map(|(similarity, _)| *similarity).fold(0.0, f64::max);
    found.retain(|(similarity, _)| best - similarity <= EPSILON);
    found.into_iter().map(|(_, alignment)| alignment).collect()
}

/// Where the request may start: wherever its rarest removed line occurs; without removed lines, wherever a context line
/// occurs; if none does, anywhere.
fn candidate_starts(anchors: &[(usize, Role, &str)], index: &SearchIndex<'_>) -> BTreeSet<usize> {
    let Some(last) = index.len().checked_sub(anchors.len()) else { return BTreeSet::new() };
    let places = |text: &str| -> Vec<usize> {
        let hash = squashed_hash(&line_key(text));
        match index.occurrences(hash) {
            Some(known) => known.take(MAX_SIMILAR_PLACES).collect(),
            None => {
                (0..index.len()).filter(|&at| index.squashed(at) == hash).take(MAX_SIMILAR_PLACES).collect()
            }
        }
    };
    let of_role = |role: Role| {
        let of_role = anchors.iter().enumerate().filter(move |(_, (_, other, _))| *other == role);
        of_role.map(|(n, (_, _, text))| (n, places(text)))
    };
    let rarest = of_role(Role::Removed).min_by_key(|(_, places)| places.len());
    let voters: Vec<(usize, Vec<usize>)> = match rarest {
        Some(rarest) => vec![rarest],
        None => of_role(Role::Context).collect(),
    };
    let mut starts: BTreeSet<usize> = voters
        .iter()
        .flat_map(|(n, places)| places.iter().filter_map(|at| at.checked_sub(*n)))
        .filter(|&start| start <= last)
        .take(MAX_SIMILAR_PLACES)
        .collect();
    if starts.is_empty() && anchors.iter().all(|(_, role, _)| *role == Role::Context) {
        starts.extend((0..=last).take(MAX_SIMILAR_PLACES));
    }
    starts
}

/// The similarity of the old lines to the file's, from 0 to 1.
pub(super) fn similarity(script: &Script, alignment: &Alignment, index: &SearchIndex<'_>) -> f64 {
    let (mut same, mut all) = (0, 0);
    for (number, row) in script.rows.iter().enumerate().filter(|(_, row)| row.is_old()) {
        all += row.text.len() + 1;
        if let Some(line) = alignment.line(number) {
            let file = index.snapshot.line(line);
            all += file.len() + 1;
            same += 2 + 2 * common_length(row.text.as_bytes(), file.as_bytes());
        }
    }
    if all == 0 { 0.0 } else { same as f64 / all as f64 }
}

/// The length of the longest common subsequence.
fn common_length(a: &[u8], b: &[u8]) -> usize {
    if a == b {
        return a.len();
    }
    if a.len().max(b.len()) > MAX_SIMILAR_LINE_BYTES {
        return 0;
    }
    lcs_seq::similarity(a.iter().copied(), b.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_longest_common_subsequence() {
        assert_eq!(common_length(b"return value", b"return  val"), 10);
        assert_eq!(common_length(b"abc", b"xyz"), 0);
    }
}
