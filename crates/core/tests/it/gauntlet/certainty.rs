//! Whether the right place is beyond doubt. The gauntlet judges this on its own: it shares no code with the engine,
//! and compares lines by their letter pairs.

use std::collections::HashMap;

use super::draft::{Draft, Role, Row};

/// A line without whitespace and with plain punctuation.
pub(crate) fn fold(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars().filter(|c| !c.is_whitespace() && *c != '\u{200b}') {
        match c {
            '‘' | '’' => out.push('\''),
            '“' | '”' => out.push('"'),
            '–' | '—' => out.push('-'),
            '…' => out.push_str("..."),
            c => out.push(c),
        }
    }
    out
}

pub(crate) fn folded_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    lines.into_iter().map(fold).filter(|line| !line.is_empty()).collect()
}

/// Where these lines occur consecutively.
pub(crate) fn occurrences(lines: &[String], part: &[String]) -> Vec<usize> {
    match part.first() {
        Some(_) => (0..lines.len()).filter(|&at| lines[at..].starts_with(part)).collect(),
        None => Vec::new(),
    }
}

/// The similarity of two lines, from 0 to 1, by the letter pairs they share.
pub(crate) fn similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let pairs = |text: &str| -> Vec<(char, char)> {
        let mut pairs: Vec<_> = text.chars().zip(text.chars().skip(1)).collect();
        pairs.sort_unstable();
        pairs
    };
    let (a, b) = (pairs(a), pairs(b));
    let (mut i, mut j, mut same) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        same += usize::from(x == y);
        (i, j) = (i + usize::from(x <= y), j + usize::from(y <= x));
    }
    2.0 * same as f64 / (a.len() + b.len()).max(1) as f64
}

/// The score of every place where at least one line matches, best first.
pub(crate) fn scores(lines: &[String], part: &[String]) -> Vec<(f64, usize)> {
    let mut starts: HashMap<usize, ()> = HashMap::new();
    for (offset, wanted) in part.iter().enumerate() {
        let here = (0..lines.len()).filter(|&at| lines[at] == *wanted);
        starts.extend(here.filter_map(|at| at.checked_sub(offset)).map(|start| (start, ())));
    }
    let score = |start: usize| -> f64 {
        let there = lines[start..].iter().map(String::as_str).chain(std::iter::repeat(""));
        part.iter().zip(there).map(|(wanted, there)| similarity(wanted, there)).sum()
    };
    let mut scores: Vec<(f64, usize)> = starts.into_keys().map(|start| (score(start), start)).collect();
    scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scores
}

fn file_lines(draft: &Draft) -> Vec<String> {
    folded_lines(draft.lines([Role::Context, Role::Removed]))
}

/// Whether the hunk's lines occur exactly once in the file.
pub(crate) fn by_content(draft: &Draft) -> bool {
    let hunk = draft.rows.iter().filter(|row| row.role != Role::Added).filter_map(|row| row.file.as_deref());
    let old = folded_lines(hunk);
    let letters: usize = old.iter().map(String::len).sum();
    old.len() >= 2 && letters >= 12 && occurrences(&file_lines(draft), &old).len() == 1
}

/// Whether the request matches its place better than any other by a whole line, and mostly.
pub(crate) fn by_margin(draft: &Draft) -> bool {
    let old = folded_lines(draft.rows.iter().filter_map(Row::old_content));
    let start = folded_lines(draft.head.iter().map(String::as_str)).len();
    let scores = scores(&file_lines(draft), &old);
    match scores[..] {
        [(best, at), ref rest @ ..] => {
            old.len() >= 3
                && at == start
                && best >= 0.7 * old.len() as f64
                && rest.iter().all(|(other, _)| best - other >= 1.1)
        }
        [] => false,
    }
}

/// Whether the pieces on both sides of an elision occur exactly once.
pub(crate) fn by_pieces(draft: &Draft) -> bool {
    let mut pieces = vec![Vec::new()];
    for row in draft.rows.iter().filter(|row| row.role != Role::Added) {
        match (&row.old, &row.file) {
            (Some(text), Some(_)) => {
                pieces.last_mut().into_iter().for_each(|piece| piece.push(text.as_str()))
            }
            _ => pieces.push(Vec::new()),
        }
    }
    let lines = file_lines(draft);
    let pieces: Vec<Vec<String>> =
        pieces.into_iter().map(folded_lines).filter(|piece| !piece.is_empty()).collect();
    let long = |piece: &Vec<String>| piece.iter().map(String::len).sum::<usize>() >= 12;
    pieces.len() == 2 && pieces.iter().all(|piece| long(piece) && occurrences(&lines, piece).len() == 1)
}

/// Whether the request resembles nothing in the file.
pub(crate) fn is_unrelated(old: &[String], lines: &[String]) -> bool {
    let near = scores(lines, old).first().is_some_and(|(best, _)| *best > 0.5 * old.len() as f64);
    old.len() >= 3
        && !near
        && old.iter().filter(|line| line.len() >= 12 && !lines.contains(line)).count() >= 2
}
