//! Where the lines of a change stand once the changes before it are made.

use crate::hunk::Hunk;

/// A stretch of lines that is replaced: how many lines stand before it, how many go, how many come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) before: usize,
    pub(super) old: usize,
    pub(super) new: usize,
}

impl Stretch {
    /// The stretch of a hunk that says where it is.
    pub(super) fn of(hunk: &Hunk) -> Option<Self> {
        let (old, new) = super::body::counts(hunk);
        let line = hunk.line?;
        Some(Self { before: if old == 0 { line } else { line.saturating_sub(1) }, old, new })
    }
}

/// For each stretch, how many lines stand before it afterwards; `None` if two of them overlap.
pub(super) fn shifted(stretches: &[Option<Stretch>]) -> Option<Vec<Option<usize>>> {
    let mut order: Vec<(usize, Stretch)> =
        stretches.iter().enumerate().filter_map(|(index, stretch)| Some((index, (*stretch)?))).collect();
    order.sort_by_key(|(index, stretch)| (stretch.before, stretch.old, *index));
    let mut after = vec![None; stretches.len()];
    let (mut reached, mut gone, mut come) = (0_usize, 0_usize, 0_usize);
    for (index, stretch) in order {
        if stretch.before < reached {
            return None;
        }
        after[index] = Some((stretch.before + come).saturating_sub(gone));
        reached = stretch.before + stretch.old;
        gone += stretch.old;
        come += stretch.new;
    }
    Some(after)
}

/// The number that a header gives for a side: the first line's, or for no lines that of the line
/// before.
pub(super) fn start(before: usize, count: usize) -> usize {
    if count == 0 { before } else { before + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(before: usize, old: usize, new: usize) -> Option<Stretch> {
        Some(Stretch { before, old, new })
    }

    #[test]
    fn earlier_changes_move_later_ones_in_whatever_order_they_come() {
        let stretches = [stretch(50, 1, 1), None, stretch(9, 1, 3), stretch(60, 3, 0), stretch(60, 0, 5)];
        assert_eq!(shifted(&stretches).unwrap(), [Some(52), None, Some(9), Some(67), Some(62)]);
    }

    #[test]
    fn overlaps_have_no_answer() {
        assert_eq!(shifted(&[stretch(5, 3, 3), stretch(7, 1, 1)]), None);
        assert!(shifted(&[stretch(5, 3, 3), stretch(8, 1, 1)]).is_some());
    }
}
