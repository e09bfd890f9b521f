//! How similar two lines are.

use rapidfuzz::distance::indel;

/// Lines that are less similar than this are unrelated.
pub(super) const MIN_LINE_SIMILARITY: f64 = 0.45;
/// Only this much of a longer line is compared.
const MAX_LINE_CHARS: usize = 2000;

/// The similarity of two lines, from 0 to 1; 0 below [`MIN_LINE_SIMILARITY`].
pub(super) fn line_similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let args = indel::Args::default().score_cutoff(MIN_LINE_SIMILARITY);
    let (a, b) = (a.chars().take(MAX_LINE_CHARS), b.chars().take(MAX_LINE_CHARS));
    let (a, b): (Vec<char>, Vec<char>) = (a.collect(), b.collect());
    indel::normalized_similarity_with_args(a.iter().copied(), b.iter().copied(), &args).unwrap_or(0.0)
}
