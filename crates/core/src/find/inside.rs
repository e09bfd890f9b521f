//! Finds text inside a line, ignoring look-alike punctuation.

use super::punctuation::{fold_punctuation, fold_with_offsets};
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// How many places are collected; more would be just as ambiguous.
const MAX_PLACES: usize = 100;

/// The places of a single-line text in the searchable text.
pub(super) fn find_places(old: &str, within: Span, snapshot: &Snapshot) -> Vec<Span> {
    if old.contains('\n') || old.trim() != old {
        return Vec::new();
    }
    let wanted = fold_punctuation(old);
    let text = snapshot.text();
    let mut found = Vec::new();
    let mut start = within.start();
    while start < within.end() && found.len() < MAX_PLACES {
        let end = memchr::memchr(b'\n', &text[start..within.end()]).map_or(within.end(), |at| start + at + 1);
        // Exact search has already covered lines that are plain ASCII on both sides.
        if !old.is_ascii() || !text[start..end].is_ascii() {
            let line = std::str::from_utf8(&text[start..end]).unwrap_or_default();
            found.extend(
                find_in_line(line, &wanted).into_iter().map(|(from, to)| Span::new(start + from, start + to)),
            );
        }
        start = end;
    }
    found
}

/// Where folded text occurs in a line, not cut inside a word.
fn find_in_line(line: &str, wanted: &str) -> Vec<(usize, usize)> {
    let (plain, offsets) = fold_with_offsets(line);
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    plain
        .match_indices(wanted)
        .filter(|(at, hit)| {
            let before = plain[..*at].chars().next_back();
            let after = plain[at + hit.len()..].chars().next();
            let cuts_before = word(before) && word(hit.chars().next());
            let cuts_after = word(after) && word(hit.chars().next_back());
            !cuts_before && !cuts_after
        })
        .map(|(at, hit)| (offsets[at], offsets[at + hit.len()]))
        .collect()
}
