//! How similar two lines are.

use rapidfuzz::distance::indel;

use super::limits::{MAX_LINE_CHARS, MIN_LINE_SIMILARITY};

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
