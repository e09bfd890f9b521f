//! A reviewer's verdict on a proposal, hunk by hunk.

use std::collections::{BTreeMap, BTreeSet};

use super::refusals::{no_hunk_named, no_such_hunk, rejected_before};
use crate::ports::journal::{RejectedHunk, StoredProposal};
use crate::report::Report;

/// What a reviewer decides about one hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkVerdict {
    /// It is applied as proposed.
    Accept,
    /// It is left out.
    Reject {
        /// Why, for the caller.
        reason: Option<String>,
    },
    /// Its lines are replaced by other text than proposed.
    Edit {
        /// The lines from the first to the last that the hunk changes, as the reviewer wants them.
        text: String,
    },
}

/// What a reviewer decides about a proposal that is not rejected as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decisions on single hunks, by their numbers.
    pub hunks: BTreeMap<usize, HunkVerdict>,
    /// What happens to the other hunks, unless they were rejected before.
    pub others: HunkVerdict,
}

impl Verdict {
    /// Everything is applied that was not rejected before.
    pub fn accept_all() -> Self {
        Self { hunks: BTreeMap::new(), others: HunkVerdict::Accept }
    }

    /// Only these hunks are applied.
    pub fn accept_only(hunks: &[usize]) -> Self {
        let hunks = hunks.iter().map(|&hunk| (hunk, HunkVerdict::Accept)).collect();
        Self { hunks, others: HunkVerdict::Reject { reason: None } }
    }

    /// The decision on each hunk of a proposal, on behalf of `by`.
    pub(super) fn resolve(&self, found: &StoredProposal, by: &str) -> Result<ResolvedVerdict, Report> {
        let count = found.proposal.hunks().len();
        if self.hunks.is_empty() && self.others != HunkVerdict::Accept {
            return Err(no_hunk_named(found.id));
        }
        check_hunk_numbers(found, self.hunks.keys())?;
        let mut resolved = ResolvedVerdict { count, ..ResolvedVerdict::default() };
        for hunk in 1..=count {
            let earlier = found.rejected_hunks.iter().find(|rejected| rejected.hunk == hunk);
            let verdict = match (self.hunks.get(&hunk), earlier) {
                (Some(HunkVerdict::Accept | HunkVerdict::Edit { .. }), Some(rejected)) => {
                    return Err(rejected_before(found.id, rejected));
                }
                (None, Some(rejected)) => {
                    resolved.left_out.push(rejected.clone());
                    continue;
                }
                (given, _) => given.unwrap_or(&self.others),
            };
            match verdict {
                HunkVerdict::Accept => {}
                HunkVerdict::Reject { reason } => {
                    let reason =
                        reason.clone().or_else(|| earlier.and_then(|earlier| earlier.reason.clone()));
                    resolved.left_out.push(RejectedHunk { hunk, by: by.into(), reason });
                }
                HunkVerdict::Edit { text } => drop(resolved.edited.insert(hunk, normalize(text))),
            }
        }
        Ok(resolved)
    }
}

/// The decision on each hunk of a proposal.
#[derive(Debug, Clone, Default)]
pub(super) struct ResolvedVerdict {
    /// The number of hunks that the reviewer saw.
    pub(super) count: usize,
    /// The hunks that are not applied.
    pub(super) left_out: Vec<RejectedHunk>,
    /// The hunks that the reviewer changed, with their text.
    pub(super) edited: BTreeMap<usize, String>,
}

impl ResolvedVerdict {
    /// Whether the proposal is applied as it is.
    pub(super) fn takes_all(&self) -> bool {
        self.left_out.is_empty() && self.edited.is_empty()
    }

    /// Whether no hunk is applied.
    pub(super) fn leaves_nothing(&self) -> bool {
        self.left_out.len() == self.count && self.count > 0
    }

    pub(super) fn is_left_out(&self, hunk: usize) -> bool {
        self.left_out.iter().any(|rejected| rejected.hunk == hunk)
    }

    /// The numbers of the hunks that the reviewer changed.
    pub(super) fn edited_hunks(&self) -> Vec<usize> {
        self.edited.keys().copied().collect()
    }
}

/// Browsers and editors may send other line endings; text is stored with LF.
fn normalize(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Checks that a proposal has these hunks, and that there is at least one.
pub(super) fn check_hunk_numbers<'a>(
    found: &StoredProposal,
    numbers: impl IntoIterator<Item = &'a usize>,
) -> Result<(), Report> {
    let count = found.proposal.hunks().len();
    let numbers: BTreeSet<usize> = numbers.into_iter().copied().collect();
    match numbers.iter().find(|number| !(1..=count).contains(*number)) {
        Some(number) => Err(no_such_hunk(found.id, *number, count)),
        None => Ok(()),
    }
}
