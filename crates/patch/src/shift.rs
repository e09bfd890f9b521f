//! Line positions after a patch is applied: each change shifts the ones below it.

use crate::hunk::Hunk;

/// A range of lines that is replaced.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplacedRange {
    /// The number of lines above it.
    pub(super) before: usize,
    /// The number of lines removed.
    pub(super) old: usize,
    /// The number of lines added.
    pub(super) new: usize,
}

impl ReplacedRange {
    /// The range of a hunk that has line numbers.
    pub(super) fn of(hunk: &Hunk) -> Option<Self> {
        let (old, new) = super::body::counts(hunk);
        let line = hunk.line?;
        Some(Self { before: if old == 0 { line } else { line.saturating_sub(1) }, old, new })
    }
}

/// For each range, the number of lines above it after all are replaced. `None` if two ranges overlap.
pub(super) fn positions_after(ranges: &[Option<ReplacedRange>]) -> Option<Vec<Option<usize>>> {
    let mut order: Vec<(usize, ReplacedRange)> =
        ranges.iter().enumerate().filter_map(|(index, range)| Some((index, (*range)?))).collect();
    order.sort_by_key(|(index, range)| (range.before, range.old, *index));
    let mut after = vec![None; ranges.len()];
    let (mut end, mut removed, mut added) = (0_usize, 0_usize, 0_usize);
    for (index, range) in order {
        if range.before < end {
            return None;
        }
        after[index] = Some((range.before + added).saturating_sub(removed));
        end = range.before + range.old;
        removed += range.old;
        added += range.new;
    }
    Some(after)
}

/// The start that a hunk header states for a side: its first line, or the line before it if the side
/// has no lines.
pub(super) fn header_start(before: usize, count: usize) -> usize {
    if count == 0 { before } else { before + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(before: usize, old: usize, new: usize) -> Option<ReplacedRange> {
        Some(ReplacedRange { before, old, new })
    }

    #[test]
    fn changes_shift_the_ones_below_in_any_order() {
        let ranges = [range(50, 1, 1), None, range(9, 1, 3), range(60, 3, 0), range(60, 0, 5)];
        assert_eq!(positions_after(&ranges).unwrap(), [Some(52), None, Some(9), Some(67), Some(62)]);
    }

    #[test]
    fn overlapping_ranges_have_no_positions() {
        assert_eq!(positions_after(&[range(5, 3, 3), range(7, 1, 1)]), None);
        assert!(positions_after(&[range(5, 3, 3), range(8, 1, 1)]).is_some());
    }
}
