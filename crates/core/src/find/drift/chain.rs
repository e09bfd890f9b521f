//! The possible places of a request that leaves lines out: those of its pieces, in the order of the request.
//!
//! What a line of dots represents says nothing about the place, however long it is. If those lines counted as lines that only the
//! file has, a neighbour that lacks them would seem closer than the place itself.

use std::ops::Range;

use super::window::{Anchor, Window, best_windows, overlaps};
use crate::find::elision::is_elision_of_file;
use crate::find::limits::{MAX_CLOSE_PIECES, MAX_ELIDED_LINES};
use crate::find::script::Script;
use crate::find::search_index::SearchIndex;

/// The possible places, best first; `None` if the request leaves nothing out.
pub(super) fn best_chains(
    anchors: &[Anchor],
    script: &Script,
    index: &SearchIndex<'_>,
) -> Option<Vec<Window>> {
    let is_dots = |anchor: &Anchor| is_elision_of_file(&script.rows[anchor.row], index);
    let dots: Vec<usize> = (0..anchors.len()).filter(|&n| is_dots(&anchors[n])).collect();
    let starts = std::iter::once(0).chain(dots.iter().map(|&n| n + 1));
    let ends = dots.iter().copied().chain([anchors.len()]);
    let pieces: Vec<Range<usize>> =
        starts.zip(ends).map(|(start, end)| start..end).filter(|piece| !piece.is_empty()).collect();
    if dots.is_empty() || pieces.len() > MAX_CLOSE_PIECES {
        return None;
    }
    let links = link_places(&pieces, anchors, index);
    let mut ends: Vec<usize> = (0..links.len()).collect();
    ends.sort_by(|&a, &b| links[b].total.total_cmp(&links[a].total));
    let mut chains: Vec<Window> = Vec::new();
    for end in ends {
        let chain = joined(end, &links, &pieces, anchors.len(), dots.len());
        if !chains.iter().any(|better| overlaps(better, &chain)) {
            chains.push(chain);
        }
    }
    Some(chains)
}

/// A place of a piece, after the best places of pieces before it.
struct Link {
    piece: usize,
    window: Window,
    before: Option<usize>,
    /// The score of all places up to this one.
    total: f64,
}

/// The places of all pieces, each linked to the places before it that score best together.
fn link_places(pieces: &[Range<usize>], anchors: &[Anchor], index: &SearchIndex<'_>) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for (piece, range) in pieces.iter().enumerate() {
        let earlier = links.len();
        for window in best_windows(&anchors[range.clone()], index) {
            let follows = |link: &Link| match (link.window.last(), window.first()) {
                (Some(last), Some(first)) => first > last && first - last <= MAX_ELIDED_LINES,
                _ => false,
            };
            let before = (0..earlier)
                .filter(|&at| follows(&links[at]) && links[at].total > 0.0)
                .max_by(|&a, &b| links[a].total.total_cmp(&links[b].total).then(a.cmp(&b)));
            let total = window.score + before.map_or(0.0, |at| links[at].total);
            links.push(Link { piece, window, before, total });
        }
    }
    links
}

/// The place that ends with a link. Every line of dots counts as one that matches.
fn joined(end: usize, links: &[Link], pieces: &[Range<usize>], anchors: usize, dots: usize) -> Window {
    let mut whole = Window {
        pairs: vec![None; anchors],
        similarities: vec![0.0; anchors],
        extra: 0,
        score: links[end].total + dots as f64,
    };
    let mut next = Some(end);
    while let Some(Link { piece, window, before, .. }) = next.map(|at| &links[at]) {
        let range = pieces[*piece].clone();
        whole.pairs[range.clone()].clone_from_slice(&window.pairs);
        whole.similarities[range].clone_from_slice(&window.similarities);
        whole.extra += window.extra;
        next = *before;
    }
    whole
}
