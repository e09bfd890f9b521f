//! Lines that a request only names and that have other words in the file: a slip of the pen, a comment told in
//! other words, a neighbour that someone changed. Most lines must agree, every line that goes must be there,
//! and the place must be better than any other by a whole line.

use std::collections::HashMap;

use rapidfuzz::distance::indel;

use super::heading;
use super::merge::is_distinctive;
use super::punctuation::key;
use super::script::{Role, Script};
use super::seats::Seats;
use super::terrain::{Terrain, squashed_hash};
use crate::change::Lines;

/// A line that stands in more places than this says nothing about the place.
const COMMON: usize = 2000;
/// How many votes are counted, and how many places with the most votes are looked at.
const MAX_VOTES: usize = 400_000;
const MAX_WINDOWS: usize = 24;
/// How alike a line must be to the one in the file to count at all, and how much of all lines together.
const LEAST_ALIKE: f64 = 0.45;
const LEAST_SCORE: f64 = 0.7;
/// How many lines the best place must be ahead of the next.
const MARGIN: f64 = 0.95;
/// A line beside which something is put must be at least so much alike.
const LEAST_BESIDE: f64 = 0.85;
/// So many lines that are there as they are carry one that says something else altogether.
const CARRIERS: usize = 5;
/// How many, if it is where the request says.
const MARGIN_WHERE_STATED: f64 = 0.3;
/// Fewer lines leave the place in doubt.
const LEAST_LINES: usize = 3;
/// A longer line is compared at its start only.
const MAX_CHARACTERS: usize = 2000;

/// What was found.
pub(super) enum Drifted {
    /// Nothing that is close enough.
    None,
    /// One place, far ahead of all others.
    One(Seats),
    /// Two or more that come as close.
    Several(Vec<Lines>),
}

/// A place and how well it fits.
struct Window {
    start: usize,
    score: f64,
    /// How alike each line is.
    alike: Vec<f64>,
    /// Which lines name another thing than the request's.
    other_thing: Vec<bool>,
}

/// A filled row, what becomes of it and what it says.
type Wanted = (usize, Role, String);

fn wanted(script: &Script) -> Vec<Wanted> {
    script.filled().map(|(row, text)| (row, text.role, key(&text.text).into_owned())).collect()
}

/// The places that fit best, the best first.
fn windows(wanted: &[Wanted], terrain: &Terrain<'_>) -> Vec<Window> {
    let mut windows: Vec<Window> =
        starts(wanted, terrain).into_iter().map(|start| window(start, wanted, terrain)).collect();
    windows.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.start.cmp(&b.start)));
    windows
}

fn seats(window: &Window, wanted: &[Wanted], script: &Script, terrain: &Terrain<'_>) -> Seats {
    let filled: Vec<(usize, usize)> =
        wanted.iter().enumerate().map(|(n, (row, ..))| (*row, window.start + n)).collect();
    Seats::new(script, &filled, terrain)
}

/// The places that come closest, and how much of the request stands there, from 0 to 1.
pub(super) fn closest(script: &Script, terrain: &Terrain<'_>) -> Vec<(Seats, f64)> {
    let wanted = wanted(script);
    let share = |window: &Window| window.score / wanted.len() as f64;
    windows(&wanted, terrain)
        .iter()
        .map(|window| (seats(window, &wanted, script, terrain), share(window)))
        .collect()
}

/// The place of a request; `line` is where it says that it starts.
pub(super) fn place(script: &Script, line: Option<usize>, terrain: &Terrain<'_>) -> Drifted {
    let wanted = wanted(script);
    if wanted.len() < LEAST_LINES {
        return Drifted::None;
    }
    let windows = windows(&wanted, terrain);
    let Some(best) = windows.first() else { return Drifted::None };
    if best.score < LEAST_SCORE * wanted.len() as f64 || !holds(best, &wanted, script) {
        return Drifted::None;
    }
    let stated = line.is_some_and(|line| seats(best, &wanted, script, terrain).first == line);
    let margin = if stated { MARGIN_WHERE_STATED } else { MARGIN };
    let rivals: Vec<&Window> =
        windows[1..].iter().filter(|other| best.score - other.score < margin).collect();
    if !rivals.is_empty() {
        let lines = |window: &Window| seats(window, &wanted, script, terrain).lines();
        return Drifted::Several(std::iter::once(best).chain(rivals).map(lines).collect());
    }
    Drifted::One(seats(best, &wanted, script, terrain))
}

/// Places that lines of the request vote for, the most votes first.
fn starts(wanted: &[Wanted], terrain: &Terrain<'_>) -> Vec<usize> {
    let mut offsets: HashMap<u64, Vec<usize>> = HashMap::new();
    for (offset, (_, _, key)) in wanted.iter().enumerate() {
        offsets.entry(squashed_hash(key)).or_default().push(offset);
    }
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for &hash in offsets.keys() {
        let known = terrain.places(hash).map(|known| known.iter().take(COMMON + 1).map(|&at| at as usize));
        places.extend(known.map(|known| (hash, known.collect())));
    }
    let unknown = if places.is_empty() { terrain.len() } else { 0 };
    for at in 0..unknown {
        if offsets.contains_key(&terrain.squashed(at)) {
            let list = places.entry(terrain.squashed(at)).or_default();
            if list.len() <= COMMON {
                list.push(at);
            }
        }
    }
    let mut rarest: Vec<(&u64, &Vec<usize>)> =
        places.iter().filter(|(_, list)| list.len() <= COMMON).collect();
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
        votes.into_iter().filter(|(start, _)| start + wanted.len() <= terrain.len()).collect();
    ranked.sort_by_key(|&(start, votes)| (std::cmp::Reverse(votes), start));
    ranked.into_iter().take(MAX_WINDOWS).map(|(start, _)| start).collect()
}

/// How well the lines from `start` on fit.
fn window(start: usize, wanted: &[Wanted], terrain: &Terrain<'_>) -> Window {
    let (mut alike, mut other_thing) = (Vec::with_capacity(wanted.len()), Vec::with_capacity(wanted.len()));
    for (at, (_, _, want)) in (start..).zip(wanted) {
        let there = terrain.text(at);
        let there = key(&there);
        alike.push(likeness(want, &there));
        other_thing.push(heading::other_thing(want, &there));
    }
    Window { start, score: alike.iter().sum(), alike, other_thing }
}

/// How alike two lines are, from 0 to 1.
pub(super) fn likeness(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let args = indel::Args::default().score_cutoff(LEAST_ALIKE);
    let (a, b) = (a.chars().take(MAX_CHARACTERS), b.chars().take(MAX_CHARACTERS));
    let (a, b): (Vec<char>, Vec<char>) = (a.collect(), b.collect());
    indel::normalized_similarity_with_args(a.iter().copied(), b.iter().copied(), &args).unwrap_or(0.0)
}

/// Whether a place is one: lines that go are there, most lines are there as they are, every
/// other one is much like the file's or held by its neighbours, and no change hangs between two lines that are
/// in doubt.
fn holds(window: &Window, wanted: &[Wanted], script: &Script) -> bool {
    let exact = |n: usize| window.alike.get(n).is_none_or(|&alike| alike == 1.0);
    let certain = (0..wanted.len()).filter(|&n| exact(n)).count();
    let other_thing = |n: usize| window.other_thing[n];
    let held =
        |n: usize| n > 0 && exact(n - 1) && exact(n + 1) && certain >= CARRIERS * (wanted.len() - certain);
    let agree = wanted.iter().enumerate().all(|(n, (_, role, _))| {
        exact(n) || (*role == Role::Context && !other_thing(n) && (window.alike[n] >= LEAST_ALIKE || held(n)))
    });
    // Braces and the like stand everywhere: at least two of the lines must say something.
    let telling = (0..wanted.len()).filter(|&n| exact(n) && is_distinctive(&wanted[n].2)).count();
    if !agree || telling < 2 || certain < 2 || certain * 2 <= wanted.len() {
        return false;
    }
    let known = |row: &usize| {
        wanted.binary_search_by_key(row, |(at, ..)| *at).is_ok_and(|n| window.alike[n] >= LEAST_BESIDE)
    };
    let filled: Vec<usize> = wanted.iter().map(|(row, ..)| *row).collect();
    script.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Added).all(|(number, _)| {
        let next = filled.partition_point(|&row| row < number);
        next.checked_sub(1).and_then(|before| filled.get(before)).is_some_and(known)
            || filled.get(next).is_some_and(known)
    })
}
