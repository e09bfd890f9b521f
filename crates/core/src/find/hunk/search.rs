//! What every step of the search for a hunk takes and returns.

use super::scope::Block;
use super::{HunkMatch, PendingHunk};
use crate::find::error::Reason;

/// How many places of an ambiguous hunk are listed.
pub(super) const MAX_LISTED_MATCHES: usize = 1000;

/// A hunk and where to look for it.
#[derive(Clone, Copy)]
pub(super) struct HunkSearch<'s> {
    pub(super) pending: &'s PendingHunk<'s>,
    /// The position that the hunk states, from 0.
    pub(super) stated: Option<usize>,
    /// The blocks that its scopes name; the whole file if it has none.
    pub(super) blocks: &'s [Block],
}

/// The place of the variants that match, which must be the same for all of them.
pub(super) fn require_same_place(found: Vec<HunkMatch>) -> Result<Option<HunkMatch>, Reason> {
    match found[..] {
        [] => Ok(None),
        [first, ref rest @ ..] if rest.iter().all(|other| other.start == first.start) => Ok(Some(first)),
        _ => Err(ambiguous(found.iter().map(|matched| matched.start), found.len())),
    }
}

pub(super) fn ambiguous(starts: impl Iterator<Item = usize>, count: usize) -> Reason {
    let mut lines: Vec<usize> = starts.take(MAX_LISTED_MATCHES).map(|start| start + 1).collect();
    lines.sort_unstable();
    Reason::Ambiguous { lines, count, non_overlapping: count, overlapping: false, candidates: Vec::new() }
}
