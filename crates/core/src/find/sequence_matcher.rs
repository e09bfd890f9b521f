//! The similarity of two texts as Python's `difflib.SequenceMatcher(None, a, b).ratio()` computes it.
//!
//! The specification of the fuzzy mode names that class, so a threshold must mean the same here, to the last digit. That
//! includes its speed-up for long texts: in a `b` of at least 200 characters, a character that makes up more than 1 % of
//! it does not start a match. `sequence_matcher/matches.json` has results that Python computed.

use std::collections::HashMap;

use super::limits::Budget;

/// From this length on, frequent characters of the second text do not start a match.
const MIN_POPULAR_LENGTH: usize = 200;

/// A text to which others are compared.
pub(super) struct SequenceMatcher {
    a: Vec<char>,
    counts: HashMap<char, usize>,
}

impl SequenceMatcher {
    pub(super) fn new(a: &str) -> Self {
        let a: Vec<char> = a.chars().collect();
        let mut counts = HashMap::new();
        for &c in &a {
            *counts.entry(c).or_default() += 1;
        }
        Self { a, counts }
    }

    /// An upper bound of [`Self::ratio`] that is cheap to compute: order is ignored.
    pub(super) fn upper_bound(&self, b: &str) -> f64 {
        let mut left = self.counts.clone();
        let (mut matches, mut length) = (0, 0);
        for c in b.chars() {
            length += 1;
            if let Some(count) = left.get_mut(&c).filter(|count| **count > 0) {
                *count -= 1;
                matches += 1;
            }
        }
        ratio_of(matches, self.a.len() + length)
    }

    /// The similarity to `b`, from 0 to 1; `None` if the budget is spent.
    pub(super) fn ratio(&self, b: &str, budget: &Budget) -> Option<f64> {
        let b: Vec<char> = b.chars().collect();
        let positions = starting_positions(&b);
        let blocks = Blocks { a: &self.a, b: &b, positions: &positions, budget };
        Some(ratio_of(blocks.count_matches()?, self.a.len() + b.len()))
    }
}

fn ratio_of(matches: usize, length: usize) -> f64 {
    if length == 0 { 1.0 } else { 2.0 * matches as f64 / length as f64 }
}

/// Where each character of a text occurs, without those that are too frequent to start a match.
fn starting_positions(b: &[char]) -> HashMap<char, Vec<usize>> {
    let mut positions: HashMap<char, Vec<usize>> = HashMap::new();
    for (at, &c) in b.iter().enumerate() {
        positions.entry(c).or_default().push(at);
    }
    if b.len() >= MIN_POPULAR_LENGTH {
        let most = b.len() / 100 + 1;
        positions.retain(|_, at| at.len() <= most);
    }
    positions
}

/// A run of characters that both texts have.
struct Block {
    a: usize,
    b: usize,
    len: usize,
}

/// The search for the longest common runs: the longest one, then the longest ones on either side of it.
struct Blocks<'t> {
    a: &'t [char],
    b: &'t [char],
    positions: &'t HashMap<char, Vec<usize>>,
    budget: &'t Budget,
}

impl Blocks<'_> {
    /// The length of all common runs; `None` if the budget is spent.
    fn count_matches(&self) -> Option<usize> {
        let mut total = 0;
        let mut pending = vec![(0..self.a.len(), 0..self.b.len())];
        while let Some((a, b)) = pending.pop() {
            let longest = self.longest(a.clone(), b.clone())?;
            if longest.len == 0 {
                continue;
            }
            total += longest.len;
            pending.push((a.start..longest.a, b.start..longest.b));
            pending.push((longest.a + longest.len..a.end, longest.b + longest.len..b.end));
        }
        Some(total)
    }

    /// The longest common run in two ranges, the first one in `a` and then in `b` if there are several.
    fn longest(&self, a: std::ops::Range<usize>, b: std::ops::Range<usize>) -> Option<Block> {
        let mut best = Block { a: a.start, b: b.start, len: 0 };
        // The length of the run that ends at each position of `b`, for the previous character of `a`.
        let mut runs: HashMap<usize, usize> = HashMap::new();
        for at in a.clone() {
            let known = self.positions.get(&self.a[at]).map_or(&[][..], Vec::as_slice);
            let from = known.partition_point(|&position| position < b.start);
            let to = known.partition_point(|&position| position < b.end);
            self.budget.spend(1 + to - from);
            if self.budget.is_spent() {
                return None;
            }
            let mut longer = HashMap::with_capacity(to - from);
            for &position in &known[from..to] {
                let before = position.checked_sub(1).and_then(|before| runs.get(&before));
                let len = before.copied().unwrap_or(0) + 1;
                longer.insert(position, len);
                if len > best.len {
                    best = Block { a: at + 1 - len, b: position + 1 - len, len };
                }
            }
            runs = longer;
        }
        // Frequent characters do not start a run, but they extend one.
        while best.a > a.start && best.b > b.start && self.a[best.a - 1] == self.b[best.b - 1] {
            best = Block { a: best.a - 1, b: best.b - 1, len: best.len + 1 };
        }
        while best.a + best.len < a.end
            && best.b + best.len < b.end
            && self.a[best.a + best.len] == self.b[best.b + best.len]
        {
            best.len += 1;
        }
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::CancelToken;
    use crate::find::limits::MAX_COST;

    #[derive(serde::Deserialize)]
    struct Case {
        a: String,
        b: String,
        matches: usize,
    }

    // Shows: 004-patch-sequence-matcher
    #[test]
    fn agrees_with_python() {
        let cases: Vec<Case> = serde_json::from_str(include_str!("sequence_matcher/matches.json")).unwrap();
        assert!(cases.len() > 400);
        let mut popular = 0;
        for Case { a, b, matches } in cases {
            let matcher = SequenceMatcher::new(&a);
            let found = matcher.ratio(&b, &Budget::new(&CancelToken::default())).unwrap();
            let expected = ratio_of(matches, a.chars().count() + b.chars().count());
            assert_eq!(found, expected, "{a:?} {b:?}");
            assert!(matcher.upper_bound(&b) >= found, "{a:?} {b:?}");
            popular += usize::from(b.chars().count() >= MIN_POPULAR_LENGTH);
        }
        assert!(popular > 100, "frequent characters matter in {popular} cases only");
    }

    #[test]
    fn stops_when_the_budget_is_spent() {
        let long = "ab".repeat(50);
        let matcher = SequenceMatcher::new(&long);
        assert_eq!(matcher.ratio(&long, &Budget::new(&CancelToken::default())), Some(1.0));
        let nearly_spent = Budget::new(&CancelToken::default());
        nearly_spent.spend(MAX_COST - 10);
        assert_eq!(matcher.ratio(&long, &nearly_spent), None);
    }
}
