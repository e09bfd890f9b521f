//! Where a fuzzy `patch` deliberately differs from its document, because text could be lost (decision 41).
//!
//! The document accepts a similar place no matter what differs there. The engine accepts only places where every line that the hunk
//! removes is in the file, apart from whitespace. Removing `timeout = 5000` because the hunk has `timeout = 3000` would lose text that the
//! caller has not seen, however similar the rest is. Nor does it take a blank line for a line of context that has text: with one line
//! less to compare, a place one line off may be more similar than the right one, and lines would be added on the wrong side of another.

use super::model::{Hunk, Mode, Place, Sameness, compare_whitespace, similar_places};

/// Where the engine applies a hunk that the document applies at `document`.
pub(super) fn place(hunk: &Hunk, file: &[&str], mode: Mode, document: Place) -> Place {
    let (Place::Similar(..) | Place::Best(..), Mode::Fuzzy(threshold)) = (document, mode) else {
        return document;
    };
    let sameness = |least: Sameness| {
        hunk.windows(file, move |prefix, line, found| match prefix {
            ' ' => line.trim().is_empty() || !found.trim().is_empty(),
            _ => compare_whitespace(line, found) >= least,
        })
    };
    let kept = sameness(Sameness::Whitespace);
    // The document does not ask whether the whitespace that differs in a removed line separates tokens.
    if sameness(Sameness::Tokens).len() > kept.len() {
        return Place::Open;
    }
    match (Place::most_similar(&similar_places(hunk, file, threshold, kept)), document) {
        (Place::Similar(at, ratio), Place::Best(..)) if hunk.has_blank_lines() => Place::Best(at, ratio),
        (place, _) => place,
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
    let twins = ["def main():", "timeout = 3000", "def maxx():", "timeout = 3000"];
    assert!(
        matches!(at(&twins), Place::Best(0, _)),
        "or it is refused: the document has no rule for several places"
    );
    // The place one line above is more similar, but has a blank line for the first line of the hunk.
    let added = hunk(&[(' ', "one(1)"), ('+', "new()"), (' ', "two(2)"), (' ', "qqqq")]);
    let file = ["", "one(1)", "two(2)", "pass"];
    assert!(matches!(place(&added, &file, fuzzy, Place::Best(0, 0.9)), Place::Similar(1, _)));
    // What the document does not decide by similarity stays as it is.
    assert_eq!(place(&removed, &twins, fuzzy, Place::Exact(2)), Place::Exact(2));
}
