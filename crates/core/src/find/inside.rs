//! A text inside a line, but for the look of its punctuation.

use super::punctuation::{folded, folded_with_places};
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// How many places are told apart.
const MAX_PLACES: usize = 100;

/// Where a text of one line stands, in the searchable text.
pub(super) fn places(old: &str, within: Span, snapshot: &Snapshot) -> Vec<Span> {
    if old.contains('\n') || old.trim() != old {
        return Vec::new();
    }
    let wanted = folded(old);
    let text = snapshot.text();
    let mut found = Vec::new();
    let mut start = within.start();
    while start < within.end() && found.len() < MAX_PLACES {
        let end = memchr::memchr(b'\n', &text[start..within.end()]).map_or(within.end(), |at| start + at + 1);
        // What is plain on both sides would have been found as it is.
        if !old.is_ascii() || !text[start..end].is_ascii() {
            let line = std::str::from_utf8(&text[start..end]).unwrap_or_default();
            found.extend(
                in_line(line, &wanted).into_iter().map(|(from, to)| Span::new(start + from, start + to)),
            );
        }
        start = end;
    }
    found
}

/// Where a plain text stands in a line, not inside a word.
fn in_line(line: &str, wanted: &str) -> Vec<(usize, usize)> {
    let (plain, places) = folded_with_places(line);
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
        .map(|(at, hit)| (places[at], places[at + hit.len()]))
        .collect()
}
