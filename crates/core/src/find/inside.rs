//! Finds text that need not be complete lines: repaired text byte by byte, and text inside a line with look-alike
//! punctuation.

use super::alignment::Difference;
use super::limits::{MAX_LISTED_MATCHES, MAX_PLACES};
use super::merge::restore_punctuation;
use super::punctuation::{fold_punctuation, fold_with_offsets};
use super::recovery::{RecoveredPlace, Recovery, Replacement, lines_of_span};
use super::request::{Reading, SearchRequest};
use super::search::{Needle, search};
use crate::change::DifferenceKind;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// Finds the repaired old text exactly. The request as sent is known to have no exact match.
pub(super) fn find_verbatim(reading: &Reading, within: Option<Span>, snapshot: &Snapshot) -> Recovery {
    let Some((_, new)) = reading.snippet.as_ref().filter(|_| !reading.classes.is_empty()) else {
        return Recovery::NotFound;
    };
    let places = verbatim_places(reading, within, snapshot);
    match places[..] {
        [] => Recovery::NotFound,
        [at] => found_verbatim(at, reading, new, snapshot),
        ref several => Recovery::Ambiguous(several.iter().map(|&at| lines_of_span(at, snapshot)).collect()),
    }
}

/// The only exact occurrence of the old text.
pub(super) fn find_only_verbatim(reading: &Reading, snapshot: &Snapshot) -> Option<Span> {
    match verbatim_places(reading, None, snapshot)[..] {
        [at] => Some(at),
        _ => None,
    }
}

/// The request as sent, at the only place inside the lines that the caller chose.
pub(super) fn find_only_verbatim_within(request: &SearchRequest, snapshot: &Snapshot) -> Option<Recovery> {
    let reading = &request.readings[0];
    let (_, new) = reading.snippet.as_ref()?;
    match verbatim_places(reading, request.place.within, snapshot)[..] {
        [at] => Some(found_verbatim(at, reading, new, snapshot)),
        _ => None,
    }
}

fn found_verbatim(at: Span, reading: &Reading, new: &str, snapshot: &Snapshot) -> Recovery {
    Recovery::Found(RecoveredPlace {
        classes: reading.classes.clone(),
        at,
        lines: lines_of_span(at, snapshot),
        replacement: Replacement::Text(new.to_owned()),
        differences: Vec::new(),
        percent: None,
        has_unclear_indent: false,
    })
}

fn verbatim_places(reading: &Reading, within: Option<Span>, snapshot: &Snapshot) -> Vec<Span> {
    let Some((old, _)) = &reading.snippet else { return Vec::new() };
    let needle = snapshot.needle(old);
    let within = within.unwrap_or(Span::new(0, snapshot.text().len()));
    let hits =
        search(snapshot.text(), &[Needle { text: needle.as_bytes(), within, keep: MAX_LISTED_MATCHES }]);
    let spans = hits.into_iter().flat_map(|hits| hits.starts);
    let spans = spans.map(|start| Span::new(start, start + needle.len()));
    spans.filter(|&at| respects_boundaries(at, &reading.classes, snapshot)).collect()
}

/// Whether a match is not cut out of a larger text: escapes and entities only need word boundaries, but text that
/// was on complete lines (fenced, numbered, with diff markers) must match complete lines.
fn respects_boundaries(at: Span, repaired: &[DifferenceKind], snapshot: &Snapshot) -> bool {
    let text = snapshot.text();
    let (before, after) = (&text[..at.start()], &text[at.end()..]);
    let checks_words =
        repaired.iter().all(|class| matches!(class, DifferenceKind::Escapes | DifferenceKind::Entities));
    if checks_words {
        let word =
            |byte: Option<&u8>| byte.is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80);
        let body = at.of(text);
        return !(word(before.last()) && word(body.first()) || word(after.first()) && word(body.last()));
    }
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let line_end = memchr::memchr(b'\n', after).unwrap_or(after.len());
    let ends = at.of(text).ends_with(b"\n") || after[..line_end].trim_ascii().is_empty();
    before[line_start..].trim_ascii().is_empty() && ends
}

/// Finds text inside a line, with different look-alike punctuation.
pub(super) fn find_look_alikes(reading: &Reading, within: Option<Span>, snapshot: &Snapshot) -> Recovery {
    let Some((old, new)) = &reading.snippet else { return Recovery::NotFound };
    let within = within.unwrap_or(Span::new(0, snapshot.text().len()));
    match find_places(old, within, snapshot)[..] {
        [] => Recovery::NotFound,
        [at] => {
            let file = String::from_utf8_lossy(at.of(snapshot.text()));
            let restored = restore_punctuation(old, new, &file);
            Recovery::Found(RecoveredPlace {
                classes: [&reading.classes[..], &[DifferenceKind::Punctuation]].concat(),
                at,
                lines: lines_of_span(at, snapshot),
                replacement: Replacement::Text(restored.unwrap_or_else(|| new.clone())),
                differences: vec![Difference {
                    class: DifferenceKind::Punctuation,
                    line: snapshot.line_of(at.start()),
                    request: old.clone(),
                    file: file.into_owned(),
                }],
                percent: None,
                has_unclear_indent: false,
            })
        }
        ref several => Recovery::Ambiguous(several.iter().map(|&at| lines_of_span(at, snapshot)).collect()),
    }
}

/// The places of a single-line text in the searchable text.
fn find_places(old: &str, within: Span, snapshot: &Snapshot) -> Vec<Span> {
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
