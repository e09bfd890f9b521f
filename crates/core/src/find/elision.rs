//! A line of dots that stands for lines of the file, in old and new text alike: the lines before and after it
//! are found, each in one place, and what lies between stays.

use super::block::runs;
use super::heading::opens;
use super::punctuation::key;
use super::script::{Role, Row, Script};
use super::seats::{Seat, Seats, indent};
use super::terrain::Terrain;

/// What stands in front of the dots.
const COMMENTS: &[&str] = &["//", "#", "--", ";", "/*", "<!--", "%", "*", "{/*", "\"\"\""];

/// More lines are not what someone left out to save words.
const MAX_LINES: usize = 2000;

/// The places of a request that leaves lines out; none if it does not.
pub(super) fn places(script: &Script, terrain: &Terrain<'_>) -> Vec<Seats> {
    let Some(pieces) = pieces(script) else { return Vec::new() };
    let keys = |piece: &[usize]| -> Vec<String> {
        piece.iter().map(|&row| key(&script.rows[row].text).into_owned()).collect()
    };
    let found: Vec<Vec<usize>> = pieces
        .rows
        .iter()
        .map(|piece| {
            let keys = keys(piece);
            runs(&keys.iter().map(String::as_str).collect::<Vec<_>>(), terrain)
        })
        .collect();
    let mut ways: Vec<Vec<usize>> =
        found.first().map_or_else(Vec::new, |starts| starts.iter().map(|&s| vec![s]).collect());
    for (number, starts) in found.iter().enumerate().skip(1) {
        let before = pieces.rows[number - 1].len();
        let mut longer = Vec::new();
        for way in &ways {
            let end = way[number - 1] + before;
            let near = starts.iter().filter(|&&start| start >= end && start - end <= MAX_LINES);
            longer.extend(near.map(|&start| way.iter().copied().chain([start]).collect::<Vec<_>>()));
            // Two ways are as ambiguous as a thousand.
            if longer.len() > 16 {
                break;
            }
        }
        ways = longer;
    }
    ways.retain(|way| {
        (1..way.len()).all(|n| stays_inside(way[n - 1] + pieces.rows[n - 1].len(), way[n], terrain))
    });
    ways.iter().map(|way| seat(script, &pieces, way, terrain)).collect()
}

/// Whether lines that are left out do not leave the block that the line before them opens, if the line after them
/// is in it.
fn stays_inside(from: usize, to: usize, terrain: &Terrain<'_>) -> bool {
    let depth = |at: usize| indent(&terrain.text(at)).len();
    let Some(before) = from.checked_sub(1).filter(|&before| opens(&terrain.text(before))) else {
        return true;
    };
    let head = depth(before);
    depth(to) <= head || (from..to).all(|at| depth(at) > head)
}

/// The parts of a request between the lines of dots.
struct Pieces {
    /// The filled rows of each part.
    rows: Vec<Vec<usize>>,
    /// The rows of dots between them.
    dots: Vec<usize>,
}

/// Cuts a request at its lines of dots; `None` if there are none, or they have nothing to hold on to.
fn pieces(script: &Script) -> Option<Pieces> {
    let mut rows = vec![Vec::new()];
    let mut dots = Vec::new();
    for (number, row) in script.filled() {
        if row.role == Role::Context && stands_for_lines(row) {
            dots.push(number);
            rows.push(Vec::new());
        } else if let Some(piece) = rows.last_mut() {
            piece.push(number);
        }
    }
    // Dots at an end say that the file goes on there: they hide nothing.
    if rows.first().is_some_and(Vec::is_empty) && !dots.is_empty() {
        rows.remove(0);
        dots.remove(0);
    }
    if rows.last().is_some_and(Vec::is_empty) && !dots.is_empty() {
        rows.pop();
        dots.pop();
    }
    let anchored = !rows.is_empty() && rows.iter().all(|piece| !piece.is_empty());
    let shown = rows.iter().map(Vec::len).sum::<usize>() < script.filled().count();
    (anchored && shown).then_some(Pieces { rows, dots })
}

fn seat(script: &Script, pieces: &Pieces, way: &[usize], terrain: &Terrain<'_>) -> Seats {
    let filled: Vec<(usize, usize)> = pieces
        .rows
        .iter()
        .zip(way)
        .flat_map(|(piece, &start)| piece.iter().enumerate().map(move |(n, &row)| (row, start + n)))
        .collect();
    let mut seats = Seats::new(script, &filled, terrain);
    for (number, &dots) in pieces.dots.iter().enumerate() {
        let before = terrain.number(way[number] + pieces.rows[number].len() - 1);
        let after = terrain.number(way[number + 1]);
        seats.seats[dots] = Seat::Lines(before + 1, after - 1);
    }
    seats
}

/// Whether a line is dots, or a comment that starts with dots.
fn stands_for_lines(row: &Row) -> bool {
    let line = key(&row.text);
    let comment = COMMENTS.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim_start);
    match comment {
        Some(body) => body.starts_with("...") && body.len() <= 80,
        None => line == "..." || line == "[...]" || line == "(...)",
    }
}
