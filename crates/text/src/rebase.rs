//! Rebases a change onto someone else's change to the same text.
//!
//! Both sides are splices of one text. If they do not touch, either can be carried over the other, and the order
//! does not matter. If they touch or overlap, no result is right for both, so that is a conflict: two insertions at
//! the same point have no order, and inserted text may belong to the text next to it.

use crate::{Span, Splice, Splices};

/// Splices of both sides that touch or overlap, as spans of the text that both were made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("bytes {}-{} were changed on both sides", mine.start(), mine.end())]
pub struct Conflict {
    /// The splice to carry over.
    pub mine: Span,
    /// The other side's splice.
    pub theirs: Span,
}

/// Converts `mine` to splices of the text that `theirs` produces. Splices that both sides have are left out.
///
/// ```
/// use slipstitch_text::rebase::carry_over_splices;
/// use slipstitch_text::{Span, Splices};
///
/// let text = b"one two three";
/// let mine = Splices::one(13, Span::new(8, 13), b"3".to_vec());
/// let theirs = Splices::one(13, Span::new(0, 3), b"first".to_vec());
/// let carried = carry_over_splices(&mine, &theirs)?;
/// assert_eq!(carried.apply(&theirs.apply(text)), b"first two 3");
/// # Ok::<(), slipstitch_text::rebase::Conflict>(())
/// ```
///
/// # Panics
/// If the two were made for texts of different lengths.
pub fn carry_over_splices(mine: &Splices, theirs: &Splices) -> Result<Splices, Conflict> {
    carry_over(mine, theirs, |_, _| false).map_err(|conflicts| conflicts[0])
}

/// Every conflict that [`carry_over_splices`] meets, one for each splice of `mine` that has one.
///
/// # Panics
/// If the two were made for texts of different lengths.
pub fn find_conflicts(mine: &Splices, theirs: &Splices) -> Vec<Conflict> {
    carry_over(mine, theirs, |_, _| false).err().unwrap_or_default()
}

/// Like [`carry_over_splices`], but splices that meet at a point do not conflict if both replace something there: their order is
/// that of what they replace. For changes of whole lines, where the next line is another place.
pub fn carry_over_neighbours(mine: &Splices, theirs: &Splices) -> Result<Splices, Conflict> {
    carry_over(mine, theirs, |one, other| !one.at.is_empty() && !other.at.is_empty())
        .map_err(|conflicts| conflicts[0])
}

/// `may_meet` says whether two splices may meet at a point. The conflicts are never empty.
fn carry_over(
    mine: &Splices,
    theirs: &Splices,
    may_meet: impl Fn(&Splice, &Splice) -> bool,
) -> Result<Splices, Vec<Conflict>> {
    assert_eq!(mine.base_len(), theirs.base_len(), "both sides must apply to the same text");
    let mut remaining = theirs.iter().peekable();
    let mut shift = 0isize;
    let mut list = Vec::new();
    let mut conflicts = Vec::new();
    for splice in mine.iter() {
        let is_before = |one: &Splice, other: &Splice| {
            one.at.end() < other.at.start() || (one.at.end() == other.at.start() && may_meet(one, other))
        };
        while let Some(before) = remaining.next_if(|other| is_before(other, splice)) {
            shift += growth(before);
        }
        // These stay in `remaining`: the next of `mine` may touch them too.
        let touching = remaining.clone().take_while(|other| !is_before(splice, other));
        let touching: Vec<&Splice> = touching.collect();
        match touching.first() {
            None => list.push(shift_splice(splice, shift)),
            Some(_) if touching.contains(&splice) => {}
            Some(other) => conflicts.push(Conflict { mine: splice.at, theirs: other.at }),
        }
    }
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    // Never fails: splices that did not touch before the shift do not touch after it.
    Splices::new(theirs.new_len(), list)
        .map_err(|_| vec![Conflict { mine: Span::new(0, 0), theirs: Span::new(0, 0) }])
}

fn growth(splice: &Splice) -> isize {
    splice.insert.len() as isize - splice.at.len() as isize
}

fn shift_splice(splice: &Splice, shift: isize) -> Splice {
    let start = splice.at.start().strict_add_signed(shift);
    Splice { at: Span::new(start, start + splice.at.len()), insert: splice.insert.clone() }
}

/// Drops the splices that insert what they remove. Composing steps that cancel out leaves such splices behind.
pub fn drop_noops(splices: &Splices, base: &[u8]) -> Splices {
    keep_splices(splices, |splice| *splice.at.of(base) != *splice.insert)
}

/// Omits splices that `is_effective` does not accept.
pub fn keep_splices(splices: &Splices, mut is_effective: impl FnMut(&Splice) -> bool) -> Splices {
    let effective = splices.iter().filter(|splice| is_effective(splice)).cloned().collect();
    // Never fails: a subset of disjoint splices is disjoint.
    Splices::new(splices.base_len(), effective).unwrap_or_else(|_| splices.clone())
}

/// Maps a span of the old text to the new text, widened to include changes inside it or touching its ends.
pub fn map_span(splices: &Splices, span: Span) -> Span {
    let (mut before, mut within) = (0isize, 0isize);
    let (mut start, mut end) = (span.start(), span.end());
    for splice in splices.iter() {
        if splice.at.end() < start {
            before += growth(splice);
        } else if splice.at.start() <= end {
            start = start.min(splice.at.start());
            end = end.max(splice.at.end());
            within += growth(splice);
        }
    }
    let first = start.strict_add_signed(before);
    Span::new(first, (end - start).strict_add_signed(within) + first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn splices(len: usize, list: &[(usize, usize, &str)]) -> Splices {
        let list = list
            .iter()
            .map(|&(start, end, text)| Splice { at: Span::new(start, end), insert: text.into() })
            .collect();
        Splices::new(len, list).unwrap()
    }

    #[test]
    fn touching_splices_conflict() {
        for theirs in [(2, 3, "x"), (3, 3, "x"), (5, 5, "x"), (5, 6, ""), (0, 8, "x"), (4, 4, "x")] {
            let result = carry_over_splices(&splices(8, &[(3, 5, "new")]), &splices(8, &[theirs]));
            let conflict = Conflict { mine: Span::new(3, 5), theirs: Span::new(theirs.0, theirs.1) };
            assert_eq!(result, Err(conflict), "{theirs:?}");
        }
        assert!(carry_over_splices(&splices(8, &[(3, 3, "a")]), &splices(8, &[(3, 3, "b")])).is_err());
        for clear in [(0, 2, "x"), (2, 2, "x"), (6, 6, "x"), (6, 8, "")] {
            assert!(
                carry_over_splices(&splices(8, &[(3, 5, "new")]), &splices(8, &[clear])).is_ok(),
                "{clear:?}"
            );
        }
    }

    #[test]
    fn neighbours_are_carried_over_unless_one_only_inserts() {
        let text = b"abcdefgh";
        for (mine, theirs, expected) in [
            ((3, 5, "new"), (2, 3, "x"), "abxnewfgh"),
            ((3, 5, "new"), (5, 6, ""), "abcnewgh"),
            ((3, 5, ""), (5, 8, "yz"), "abcyz"),
        ] {
            let (mine, theirs) = (splices(8, &[mine]), splices(8, &[theirs]));
            for (one, other) in [(&mine, &theirs), (&theirs, &mine)] {
                let carried = carry_over_neighbours(one, other).unwrap();
                assert_eq!(carried.apply(&other.apply(text)), expected.as_bytes());
            }
        }
        for theirs in [(3, 3, "x"), (5, 5, "x"), (4, 5, "x"), (0, 8, "x")] {
            assert!(carry_over_neighbours(&splices(8, &[(3, 5, "new")]), &splices(8, &[theirs])).is_err());
        }
    }

    #[test]
    fn one_of_their_splices_can_touch_two_of_mine() {
        let mine = splices(9, &[(1, 2, "a"), (4, 5, "b")]);
        let conflict = carry_over_splices(&mine, &splices(9, &[(4, 5, "c")])).unwrap_err();
        assert_eq!(conflict.mine, Span::new(4, 5));
        assert!(carry_over_splices(&mine, &splices(9, &[(2, 4, "c")])).is_err());
    }

    #[test]
    fn leaves_out_splices_that_both_sides_have() {
        let both = splices(6, &[(1, 2, "same"), (4, 4, "in")]);
        let carried = carry_over_splices(&both, &both).unwrap();
        assert!(carried.is_empty());
        assert_eq!(carried.base_len(), both.new_len());
    }

    #[test]
    fn drops_steps_that_cancel_out() {
        let there = splices(6, &[(1, 3, "longer")]);
        let back = there.invert(b"abcdef");
        assert!(drop_noops(&there.then(&back), b"abcdef").is_empty());
        assert_eq!(drop_noops(&there, b"abcdef"), there);
    }

    #[test]
    fn maps_a_span_including_changes_inside_it() {
        let change = splices(10, &[(1, 1, "xx"), (4, 6, "y"), (9, 10, "")]);
        assert_eq!(map_span(&change, Span::new(3, 5)), Span::new(5, 7));
        assert_eq!(map_span(&change, Span::new(7, 8)), Span::new(8, 9));
    }

    fn sides() -> impl Strategy<Value = (Vec<u8>, Splices, Splices)> {
        let cut = || (any::<u8>(), 0usize..4, proptest::collection::vec(b'A'..=b'D', 0..4));
        let side = || proptest::collection::vec(cut(), 0..4);
        (proptest::collection::vec(b'a'..=b'd', 0..60), side(), side()).prop_map(|(text, mine, theirs)| {
            let of = |cuts: Vec<(u8, usize, Vec<u8>)>| {
                let mut list: Vec<Splice> = Vec::new();
                let mut cuts: Vec<_> = cuts
                    .into_iter()
                    .map(|(at, len, insert)| (at as usize * (text.len() + 1) / 256, len, insert))
                    .collect();
                cuts.sort();
                for (start, len, insert) in cuts {
                    let end = (start + len).min(text.len());
                    if list.last().is_none_or(|last| last.at.end() < start) {
                        list.push(Splice { at: Span::new(start, end), insert: insert.into() });
                    }
                }
                Splices::new(text.len(), list).unwrap()
            };
            let sides = (of(mine), of(theirs));
            (text, sides.0, sides.1)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_order_does_not_matter((text, mine, theirs) in sides()) {
            let one = carry_over_splices(&mine, &theirs);
            let other = carry_over_splices(&theirs, &mine);
            prop_assert_eq!(one.is_ok(), other.is_ok(), "either both sides conflict or neither does");
            if let (Ok(mine_after), Ok(theirs_after)) = (one, other) {
                prop_assert_eq!(
                    mine_after.apply(&theirs.apply(&text)),
                    theirs_after.apply(&mine.apply(&text))
                );
            }
        }

        /// Compares byte by byte with an oracle that tracks which bytes each side removes.
        #[test]
        fn the_merge_contains_the_changes_of_both_sides((text, mine, theirs) in sides()) {
            let Ok(carried) = carry_over_splices(&mine, &theirs) else { return Ok(()) };
            let merged = carried.apply(&theirs.apply(&text));
            let mut expected = Vec::new();
            for at in 0..=text.len() {
                let starts = |side: &Splices| {
                    side.iter().find(|splice| splice.at.start() == at).map(|splice| splice.insert.clone())
                };
                // If both start at the same offset they are equal; otherwise they would conflict.
                expected.extend_from_slice(&starts(&mine).or_else(|| starts(&theirs)).unwrap_or_default());
                let removes = |side: &Splices| {
                    side.iter().any(|splice| splice.at.start() <= at && at < splice.at.end())
                };
                if at < text.len() && !removes(&mine) && !removes(&theirs) {
                    expected.push(text[at]);
                }
            }
            prop_assert_eq!(merged, expected);
        }
    }
}
