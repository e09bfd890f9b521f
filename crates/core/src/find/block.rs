//! Finds consecutive lines, ignoring whitespace at either end, blank lines between them, and look-alike punctuation.

use super::alignment::Alignment;
use super::limits::{MAX_LISTED_MATCHES, MAX_RARE};
use super::punctuation::{is_distinctive, line_key};
use super::script::{Role, Script};
use super::search::borders;
use super::search_index::{SearchIndex, squashed, squashed_hash};
use super::spacing::{code_key, spacing_key};

/// Every place where the anchors occur consecutively. If there is none, the first and last line may be incomplete.
pub(super) fn find_places(script: &Script, index: &SearchIndex<'_>) -> Vec<Alignment> {
    let keys: Vec<(usize, String)> =
        script.anchors().map(|(row, text)| (row, line_key(&text.text).into_owned())).collect();
    let wanted: Vec<&str> = keys.iter().map(|(_, key)| key.as_str()).collect();
    let align = |start: usize| {
        let pairs: Vec<(usize, usize)> =
            keys.iter().enumerate().map(|(n, (row, _))| (*row, start + n)).collect();
        Alignment::new(script, &pairs, index)
    };
    let whole: Vec<Alignment> = find_runs(&wanted, index).into_iter().map(align).collect();
    if !whole.is_empty() || wanted.len() < 2 {
        return whole;
    }
    let role = |n: usize| script.rows[keys[n].0].role;
    // A lone bracket ends many lines, and text that starts with whitespace starts at the start of its line.
    let starts_inside = is_distinctive(wanted[0]) && !script.rows[keys[0].0].text.starts_with([' ', '\t']);
    let last = wanted.len() - 1;
    let may_be_partial = (role(0) == Role::Context && starts_inside, role(last) == Role::Context);
    let found = find_partial_lines(&wanted, may_be_partial, index).into_iter();
    // It starts many lines as well. At the end of a quotation it is at least at its depth.
    let sent = &script.rows[keys[last].0].text;
    let ends_well = |start: &usize| {
        is_distinctive(wanted[last])
            || index.has_key(start + last, wanted[last])
            || index.text(start + last).starts_with(sent.as_str())
    };
    found.filter(ends_well).map(align).collect()
}

/// Places where the first line is the end of a line of the file, or the last one the start of one.
fn find_partial_lines(wanted: &[&str], may_be_partial: (bool, bool), index: &SearchIndex<'_>) -> Vec<usize> {
    let last = wanted.len() - 1;
    for (first_partial, last_partial) in [(true, false), (false, true), (true, true)] {
        let (front, back) = (usize::from(first_partial), usize::from(last_partial));
        if (first_partial && !may_be_partial.0) || (last_partial && !may_be_partial.1) || front + back > last
        {
            continue;
        }
        let found: Vec<usize> = find_runs(&wanted[front..wanted.len() - back], index)
            .into_iter()
            .filter_map(|at| at.checked_sub(front))
            .filter(|&start| start + wanted.len() <= index.len())
            .filter(|&start| !first_partial || ends_with_words(&line_key(&index.text(start)), wanted[0]))
            .filter(|&start| {
                !last_partial || starts_with_words(&line_key(&index.text(start + last)), wanted[last])
            })
            .collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn is_word_char(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a line ends with `part`, not cut inside a word.
fn ends_with_words(line: &str, part: &str) -> bool {
    line.strip_suffix(part)
        .is_some_and(|rest| !(is_word_char(rest.chars().next_back()) && is_word_char(part.chars().next())))
}

/// Whether a line starts with `part`, not cut inside a word.
fn starts_with_words(line: &str, part: &str) -> bool {
    line.strip_prefix(part)
        .is_some_and(|rest| !(is_word_char(rest.chars().next()) && is_word_char(part.chars().next_back())))
}

/// Every place where the anchors occur consecutively, ignoring whitespace inside context lines.
pub(super) fn find_places_ignoring_spacing(script: &Script, index: &SearchIndex<'_>) -> Vec<Alignment> {
    let rows: Vec<(usize, Role, String)> =
        script.anchors().map(|(row, text)| (row, text.role, line_key(&text.text).into_owned())).collect();
    let hashes: Vec<u64> = rows.iter().map(|(_, _, key)| squashed_hash(key)).collect();
    let is_match = |start: usize| {
        (start..).zip(&rows).all(|(at, (_, role, wanted))| match role {
            Role::Removed => index.has_key(at, wanted),
            _ => squashed(&line_key(&index.text(at))) == squashed(wanted),
        })
    };
    let align = |start: usize| {
        let pairs: Vec<(usize, usize)> =
            rows.iter().enumerate().map(|(n, (row, ..))| (*row, start + n)).collect();
        Alignment::new(script, &pairs, index)
    };
    let kept = rows.iter().any(|(_, role, _)| *role == Role::Context);
    let starts = if kept { find_by_hash(&hashes, index, is_match) } else { Vec::new() };
    starts.into_iter().map(align).collect()
}

/// Every place where the anchors occur consecutively, ignoring whitespace that does not separate tokens. In removed lines,
/// whitespace in quotes counts.
pub(super) fn find_places_by_spacing(script: &Script, index: &SearchIndex<'_>) -> Vec<Alignment> {
    let key_for = |role: Role| if role == Role::Removed { code_key } else { spacing_key };
    let rows: Vec<(usize, Role, String)> =
        script.anchors().map(|(row, text)| (row, text.role, key_for(text.role)(&text.text))).collect();
    let hashes: Vec<u64> = script.anchors().map(|(_, text)| squashed_hash(&line_key(&text.text))).collect();
    let is_match = |start: usize| {
        (start..).zip(&rows).all(|(at, (_, role, wanted))| key_for(*role)(&index.text(at)) == *wanted)
    };
    let align = |start: usize| {
        let pairs: Vec<(usize, usize)> =
            rows.iter().enumerate().map(|(n, (row, ..))| (*row, start + n)).collect();
        Alignment::new(script, &pairs, index)
    };
    find_by_hash(&hashes, index, is_match).into_iter().map(align).collect()
}

/// The positions in the index where these line keys occur consecutively.
pub(super) fn find_runs(wanted: &[&str], index: &SearchIndex<'_>) -> Vec<usize> {
    let hashes: Vec<u64> = wanted.iter().map(|key| squashed_hash(key)).collect();
    find_by_hash(&hashes, index, |start| (start..).zip(wanted).all(|(at, key)| index.has_key(at, key)))
}

/// The positions where these squashed hashes occur consecutively and `is_match` agrees.
fn find_by_hash(wanted: &[u64], index: &SearchIndex<'_>, is_match: impl Fn(usize) -> bool) -> Vec<usize> {
    let places = |(offset, &hash): (usize, &u64)| Some((offset, index.occurrences(hash)?));
    let rarest = wanted.iter().enumerate().filter_map(places).min_by_key(|(_, places)| places.len());
    match rarest {
        Some((offset, places)) if places.len() <= MAX_RARE => places
            .filter_map(|at| at.checked_sub(offset))
            .filter(|&start| start + wanted.len() <= index.len())
            .filter(|&start| (start..).zip(wanted).all(|(at, &hash)| index.squashed(at) == hash))
            .filter(|&start| is_match(start))
            .collect(),
        _ => scan(wanted, index, is_match),
    }
}

/// One pass over all lines (Knuth-Morris-Pratt), so that a million equal lines cost no more than others.
fn scan(wanted: &[u64], index: &SearchIndex<'_>, is_match: impl Fn(usize) -> bool) -> Vec<usize> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let borders = borders(wanted);
    let mut found = Vec::new();
    let mut matched = 0;
    for at in 0..index.len() {
        let here = index.squashed(at);
        while matched > 0 && wanted[matched] != here {
            matched = borders[matched - 1];
        }
        matched += usize::from(wanted[matched] == here);
        if matched == wanted.len() {
            let start = at + 1 - matched;
            matched = borders[matched - 1];
            if is_match(start) {
                found.push(start);
            }
            if found.len() >= MAX_LISTED_MATCHES {
                break;
            }
        }
    }
    found
}
