//! Elision: a line of dots that represents lines of the file, in both the old and the new text. The pieces before
//! and after it are found separately, and the lines in between are kept.

use super::alignment::{Alignment, RowMatch, indent};
use super::block::find_runs;
use super::heading::opens_block;
use super::limits::{MAX_CHAINS, MAX_ELIDED_LINES};
use super::punctuation::line_key;
use super::script::{Role, Row, Script};
use super::search_index::{SearchIndex, squashed_hash};
use crate::plan::is_elided_comment;

/// The places of a request with elisions; none if it has no elisions.
pub(super) fn find_places(script: &Script, index: &SearchIndex<'_>) -> Vec<Alignment> {
    let Some(pieces) = split_at_elisions(script) else { return Vec::new() };
    let keys = |piece: &[usize]| -> Vec<String> {
        piece.iter().map(|&row| line_key(&script.rows[row].text).into_owned()).collect()
    };
    let found: Vec<Vec<usize>> = pieces
        .rows
        .iter()
        .map(|piece| {
            let keys = keys(piece);
            find_runs(&keys.iter().map(String::as_str).collect::<Vec<_>>(), index)
        })
        .collect();
    let mut chains: Vec<Vec<usize>> =
        found.first().map_or_else(Vec::new, |starts| starts.iter().map(|&s| vec![s]).collect());
    for (number, starts) in found.iter().enumerate().skip(1) {
        let before = pieces.rows[number - 1].len();
        let mut longer = Vec::new();
        for chain in &chains {
            let end = chain[number - 1] + before;
            let near = starts.iter().filter(|&&start| start >= end && start - end <= MAX_ELIDED_LINES);
            longer.extend(near.map(|&start| chain.iter().copied().chain([start]).collect::<Vec<_>>()));
            if longer.len() > MAX_CHAINS {
                break;
            }
        }
        chains = longer;
    }
    chains.retain(|chain| {
        (1..chain.len()).all(|n| stays_in_block(chain[n - 1] + pieces.rows[n - 1].len(), chain[n], index))
    });
    chains.iter().map(|chain| align(script, &pieces, chain, index)).collect()
}

/// Whether the elided lines stay inside the block opened by the line before them. Only matters if the line after
/// them is inside that block too.
fn stays_in_block(from: usize, to: usize, index: &SearchIndex<'_>) -> bool {
    let depth = |at: usize| indent(&index.text(at)).len();
    let Some(before) = from.checked_sub(1).filter(|&before| opens_block(&index.text(before))) else {
        return true;
    };
    let head = depth(before);
    depth(to) <= head || (from..to).all(|at| depth(at) > head)
}

/// The pieces of a request between its elisions.
struct Pieces {
    /// The anchor rows of each piece.
    rows: Vec<Vec<usize>>,
    /// The elision rows between them.
    elisions: Vec<usize>,
}

/// Splits a request at its elisions; `None` if there are none, or a piece between two of them is empty.
fn split_at_elisions(script: &Script) -> Option<Pieces> {
    let mut rows = vec![Vec::new()];
    let mut elisions = Vec::new();
    for (number, row) in script.anchors() {
        if row.role == Role::Context && is_elision(row) {
            elisions.push(number);
            rows.push(Vec::new());
        } else if let Some(piece) = rows.last_mut() {
            piece.push(number);
        }
    }
    // Dots at either end only say that the file continues; they hide nothing.
    if rows.first().is_some_and(Vec::is_empty) && !elisions.is_empty() {
        rows.remove(0);
        elisions.remove(0);
    }
    if rows.last().is_some_and(Vec::is_empty) && !elisions.is_empty() {
        rows.pop();
        elisions.pop();
    }
    let anchored = !rows.is_empty() && rows.iter().all(|piece| !piece.is_empty());
    let has_elision = rows.iter().map(Vec::len).sum::<usize>() < script.anchors().count();
    (anchored && has_elision).then_some(Pieces { rows, elisions })
}

fn align(script: &Script, pieces: &Pieces, chain: &[usize], index: &SearchIndex<'_>) -> Alignment {
    let pairs: Vec<(usize, usize)> = pieces
        .rows
        .iter()
        .zip(chain)
        .flat_map(|(piece, &start)| piece.iter().enumerate().map(move |(n, &row)| (row, start + n)))
        .collect();
    let mut alignment = Alignment::new(script, &pairs, index);
    for (number, &row) in pieces.elisions.iter().enumerate() {
        let before = index.line_number(chain[number] + pieces.rows[number].len() - 1);
        let after = index.line_number(chain[number + 1]);
        alignment.rows[row] = RowMatch::Elided(before + 1, after - 1);
    }
    alignment
}

/// Whether a request leaves out lines that it does not change.
pub(super) fn has_elision(script: &Script, index: &SearchIndex<'_>) -> bool {
    script.rows.iter().any(|row| is_elision_of_file(row, index))
}

/// Whether a row of a request represents lines of the file. A line of dots that is in the file does not: `...` may be the body of a
/// function.
pub(super) fn is_elision_of_file(row: &Row, index: &SearchIndex<'_>) -> bool {
    let is_in_file = || {
        let hash = squashed_hash(&line_key(&row.text));
        (0..index.len()).any(|at| index.squashed(at) == hash)
    };
    row.role == Role::Context && is_elision(row) && !is_in_file()
}

/// Whether a row is a line of dots, or a comment that starts with dots.
pub(super) fn is_elision(row: &Row) -> bool {
    let line = line_key(&row.text);
    is_elided_comment(&line) || line == "..." || line == "[...]" || line == "(...)"
}
