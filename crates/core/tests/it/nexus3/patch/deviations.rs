//! Where a fuzzy `patch` deliberately differs from its document, because text could be lost (decision 41).
//!
//! The document takes the most similar place, whatever differs there. The engine differs in two cases:
//!
//! 1. A line that the hunk removes must be in the file, apart from whitespace. Removing `timeout = 5000` because the hunk has
//!    `timeout = 3000` would lose text that the caller has not seen, however similar the rest is.
//! 2. Another place must not be about as similar: it must differ at least twice as much, and its ratio be lower by 0.02.

use super::model::{Hunk, Mode, Place, similar_places, squeezed};

/// Where the engine applies a hunk that the document applies at `document`.
pub(super) fn place(hunk: &Hunk, file: &[&str], mode: Mode, document: Place) -> Place {
    let (Place::Similar(..), Mode::Fuzzy(threshold)) = (document, mode) else { return document };
    let has_removed_lines =
        hunk.windows(file, |prefix, line, found| prefix == ' ' || squeezed(line) == squeezed(found));
    let mut similar = Vec::new();
    for (at, ratio) in similar_places(hunk, file, threshold, has_removed_lines) {
        let Some(ratio) = ratio else { return Place::Open };
        similar.push((at, ratio));
    }
    let best = similar.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
    let doubtful = (1.0 - 2.0 * (1.0 - best)).min(best - 0.02);
    let places: Vec<usize> =
        similar.iter().filter(|(_, ratio)| *ratio >= doubtful).map(|(at, _)| *at).collect();
    let lines = |at: usize| &file[at..at + hunk.old_lines().len()];
    match places[..] {
        [] => Place::Nowhere,
        [one] => Place::Similar(one, best),
        // Of identical places, the line number may choose one.
        [first, ..] if places.iter().all(|at| lines(*at) == lines(first)) => Place::Open,
        _ => Place::Nowhere,
    }
}

#[test]
fn deviations_are_recognized() {
    let hunk = |lines: &[(char, &str)]| Hunk {
        start: 1,
        lines: lines.iter().map(|(prefix, line)| (*prefix, (*line).to_owned())).collect(),
        markers: super::model::Markers::default(),
    };
    let fuzzy = Mode::Fuzzy(0.5);
    let removed = hunk(&[(' ', "def mein():"), ('-', "timeout = 3000")]);
    let at = |file: &[&str]| place(&removed, file, fuzzy, Place::Similar(0, 0.9));
    assert_eq!(at(&["def main():", "timeout = 5000"]), Place::Nowhere);
    assert!(matches!(at(&["def main():", "timeout  = 3000"]), Place::Similar(0, _)));
    let twins = ["def main():", "timeout = 3000", "def mean():", "timeout = 3000"];
    assert_eq!(at(&twins), Place::Nowhere);
    // What the document does not decide by similarity stays as it is.
    assert_eq!(place(&removed, &twins, fuzzy, Place::Exact(2)), Place::Exact(2));
}
