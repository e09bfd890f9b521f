//! The same lines one after another, but for white space at their ends, blank lines between them and the
//! look of their punctuation.

use super::punctuation::key;
use super::script::{Role, Script};
use super::search::borders;
use super::seats::Seats;
use super::terrain::{Terrain, squashed, squashed_hash};

/// How many places are told apart; more are as ambiguous.
const MAX_PLACES: usize = 1000;
/// A line that stands in no more places than this is looked up, not looked for.
pub(super) const RARE: usize = 1000;

/// Every place where the filled rows stand one after another.
pub(super) fn places(script: &Script, terrain: &Terrain<'_>) -> Vec<Seats> {
    let keys: Vec<(usize, String)> =
        script.filled().map(|(row, text)| (row, key(&text.text).into_owned())).collect();
    let wanted: Vec<&str> = keys.iter().map(|(_, key)| key.as_str()).collect();
    let seat = |start: usize| {
        let filled: Vec<(usize, usize)> =
            keys.iter().enumerate().map(|(n, (row, _))| (*row, start + n)).collect();
        Seats::new(script, &filled, terrain)
    };
    let whole: Vec<Seats> = runs(&wanted, terrain).into_iter().map(seat).collect();
    if !whole.is_empty() || wanted.len() < 2 {
        return whole;
    }
    let role = |n: usize| script.rows[keys[n].0].role;
    let last = wanted.len() - 1;
    let open = (role(0) == Role::Context, role(last) == Role::Context);
    parts_of_lines(&wanted, open, terrain).into_iter().map(seat).collect()
}

/// Places where the first line is the end of the file's, or the last one the start of it.
fn parts_of_lines(wanted: &[&str], open: (bool, bool), terrain: &Terrain<'_>) -> Vec<usize> {
    let last = wanted.len() - 1;
    for (first_open, last_open) in [(true, false), (false, true), (true, true)] {
        let (front, back) = (usize::from(first_open), usize::from(last_open));
        if (first_open && !open.0) || (last_open && !open.1) || front + back > last {
            continue;
        }
        let found: Vec<usize> = runs(&wanted[front..wanted.len() - back], terrain)
            .into_iter()
            .filter_map(|at| at.checked_sub(front))
            .filter(|&start| start + wanted.len() <= terrain.len())
            .filter(|&start| !first_open || ends_with(&key(&terrain.text(start)), wanted[0]))
            .filter(|&start| !last_open || starts_with(&key(&terrain.text(start + last)), wanted[last]))
            .collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn in_word(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a line ends with a part, and the part does not start inside a word.
fn ends_with(line: &str, part: &str) -> bool {
    line.strip_suffix(part)
        .is_some_and(|rest| !(in_word(rest.chars().next_back()) && in_word(part.chars().next())))
}

/// Whether a line starts with a part, and the part does not end inside a word.
fn starts_with(line: &str, part: &str) -> bool {
    line.strip_prefix(part)
        .is_some_and(|rest| !(in_word(rest.chars().next()) && in_word(part.chars().next_back())))
}

/// Every place where the filled rows stand one after another, those that stay with other white space inside.
pub(super) fn spaced_places(script: &Script, terrain: &Terrain<'_>) -> Vec<Seats> {
    let rows: Vec<(usize, Role, String)> =
        script.filled().map(|(row, text)| (row, text.role, key(&text.text).into_owned())).collect();
    let hashes: Vec<u64> = rows.iter().map(|(_, _, key)| squashed_hash(key)).collect();
    let says = |start: usize| {
        (start..).zip(&rows).all(|(at, (_, role, wanted))| match role {
            Role::Removed => terrain.says(at, wanted),
            _ => squashed(&key(&terrain.text(at))) == squashed(wanted),
        })
    };
    let seat = |start: usize| {
        let filled: Vec<(usize, usize)> =
            rows.iter().enumerate().map(|(n, (row, ..))| (*row, start + n)).collect();
        Seats::new(script, &filled, terrain)
    };
    let kept = rows.iter().any(|(_, role, _)| *role == Role::Context);
    let starts = if kept { find(&hashes, terrain, says) } else { Vec::new() };
    starts.into_iter().map(seat).collect()
}

/// Where in the terrain some lines stand one after another.
pub(super) fn runs(wanted: &[&str], terrain: &Terrain<'_>) -> Vec<usize> {
    let hashes: Vec<u64> = wanted.iter().map(|key| squashed_hash(key)).collect();
    find(&hashes, terrain, |start| (start..).zip(wanted).all(|(at, key)| terrain.says(at, key)))
}

/// Where lines stand one after another, by what they say white space aside, if a closer look agrees.
fn find(wanted: &[u64], terrain: &Terrain<'_>, agrees: impl Fn(usize) -> bool) -> Vec<usize> {
    let places = |(offset, &hash): (usize, &u64)| Some((offset, terrain.places(hash)?));
    let rarest = wanted.iter().enumerate().filter_map(places).min_by_key(|(_, places)| places.len());
    match rarest {
        Some((offset, places)) if places.len() <= RARE => places
            .iter()
            .filter_map(|&at| (at as usize).checked_sub(offset))
            .filter(|&start| start + wanted.len() <= terrain.len())
            .filter(|&start| (start..).zip(wanted).all(|(at, &hash)| terrain.squashed(at) == hash))
            .filter(|&start| agrees(start))
            .collect(),
        _ => scan(wanted, terrain, agrees),
    }
}

/// The same by one pass over all lines: Knuth, Morris and Pratt, so that a million equal lines are no worse.
fn scan(wanted: &[u64], terrain: &Terrain<'_>, agrees: impl Fn(usize) -> bool) -> Vec<usize> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let borders = borders(wanted);
    let mut found = Vec::new();
    let mut matched = 0;
    for at in 0..terrain.len() {
        let here = terrain.squashed(at);
        while matched > 0 && wanted[matched] != here {
            matched = borders[matched - 1];
        }
        matched += usize::from(wanted[matched] == here);
        if matched == wanted.len() {
            let start = at + 1 - matched;
            matched = borders[matched - 1];
            if agrees(start) {
                found.push(start);
            }
            if found.len() >= MAX_PLACES {
                break;
            }
        }
    }
    found
}
