//! A change carried over what was done to the same text meanwhile.
//!
//! Both sides are splices of one text. Where they keep clear of each other, either can be carried over the
//! other, and the order makes no difference. Where they touch or overlap there is no answer that is right for
//! both, so there is none: two insertions at one point have no order, and text beside other text may belong to it.

use crate::{Span, Splice, Splices};

/// Splices of both sides that touch or overlap, as places of the text that both were made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("bytes {}-{} were changed on both sides", mine.start(), mine.end())]
pub struct Clash {
    /// What is to be carried over.
    pub mine: Span,
    /// What was done meanwhile.
    pub later: Span,
}

/// `mine` as splices of the text that `later` makes. What both do in the same way is done already, and left out.
///
/// ```
/// use slipstitch_core::change::{Span, Splices};
/// use slipstitch_core::rebase::carry;
///
/// let text = b"one two three";
/// let mine = Splices::one(13, Span::new(8, 13), b"3".to_vec());
/// let later = Splices::one(13, Span::new(0, 3), b"first".to_vec());
/// let carried = carry(&mine, &later)?;
/// assert_eq!(carried.apply(&later.apply(text)), b"first two 3");
/// # Ok::<(), slipstitch_core::rebase::Clash>(())
/// ```
///
/// # Panics
/// If the two were not made for texts of one length.
pub fn carry(mine: &Splices, later: &Splices) -> Result<Splices, Clash> {
    assert_eq!(mine.base_len(), later.base_len(), "both sides were made for one text");
    let mut passed = later.iter().peekable();
    let mut shift = 0isize;
    let mut list = Vec::new();
    for splice in mine.iter() {
        while let Some(before) = passed.next_if(|other| other.at.end() < splice.at.start()) {
            shift += growth(before);
        }
        // Those that stay in line may meet the next of mine too.
        let meeting = passed.clone().take_while(|other| other.at.start() <= splice.at.end());
        let met: Vec<&Splice> = meeting.collect();
        match met.first() {
            None => list.push(shifted(splice, shift)),
            Some(_) if met.contains(&splice) => {}
            Some(other) => return Err(Clash { mine: splice.at, later: other.at }),
        }
    }
    // Splices that kept their distance still do.
    Splices::new(later.new_len(), list).map_err(|_| Clash { mine: Span::new(0, 0), later: Span::new(0, 0) })
}

fn growth(splice: &Splice) -> isize {
    splice.insert.len() as isize - splice.at.len() as isize
}

fn shifted(splice: &Splice, shift: isize) -> Splice {
    let start = splice.at.start().strict_add_signed(shift);
    Splice { at: Span::new(start, start + splice.at.len()), insert: splice.insert.clone() }
}

/// Without the splices that put in what they take out. Steps that cancel each other out leave such splices behind.
pub fn without_idle(splices: &Splices, base: &[u8]) -> Splices {
    let busy = splices.iter().filter(|splice| splice.at.of(base) != splice.insert).cloned().collect();
    // Some of several disjoint splices are disjoint.
    Splices::new(splices.base_len(), busy).unwrap_or_else(|_| splices.clone())
}

/// Where a stretch of the text before is in the text after. What was done inside or at its ends is taken in.
pub fn stretch_after(later: &Splices, span: Span) -> Span {
    let (mut before, mut within) = (0isize, 0isize);
    let (mut start, mut end) = (span.start(), span.end());
    for splice in later.iter() {
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
    fn what_touches_clashes() {
        for later in [(2, 3, "x"), (3, 3, "x"), (5, 5, "x"), (5, 6, ""), (0, 8, "x"), (4, 4, "x")] {
            let clash = carry(&splices(8, &[(3, 5, "new")]), &splices(8, &[later]));
            let wanted = Clash { mine: Span::new(3, 5), later: Span::new(later.0, later.1) };
            assert_eq!(clash, Err(wanted), "{later:?}");
        }
        assert!(carry(&splices(8, &[(3, 3, "a")]), &splices(8, &[(3, 3, "b")])).is_err());
        for clear in [(0, 2, "x"), (2, 2, "x"), (6, 6, "x"), (6, 8, "")] {
            assert!(carry(&splices(8, &[(3, 5, "new")]), &splices(8, &[clear])).is_ok(), "{clear:?}");
        }
    }

    #[test]
    fn one_of_later_can_meet_two_of_mine() {
        let mine = splices(9, &[(1, 2, "a"), (4, 5, "b")]);
        let clash = carry(&mine, &splices(9, &[(4, 5, "c")])).unwrap_err();
        assert_eq!(clash.mine, Span::new(4, 5));
        assert!(carry(&mine, &splices(9, &[(2, 4, "c")])).is_err());
    }

    #[test]
    fn what_both_did_is_not_done_twice() {
        let both = splices(6, &[(1, 2, "same"), (4, 4, "in")]);
        let carried = carry(&both, &both).unwrap();
        assert!(carried.is_empty());
        assert_eq!(carried.base_len(), both.new_len());
    }

    #[test]
    fn steps_that_cancel_out_are_nothing() {
        let there = splices(6, &[(1, 3, "longer")]);
        let back = there.invert(b"abcdef");
        assert!(without_idle(&there.then(&back), b"abcdef").is_empty());
        assert_eq!(without_idle(&there, b"abcdef"), there);
    }

    #[test]
    fn a_stretch_takes_in_what_was_done_in_it() {
        let later = splices(10, &[(1, 1, "xx"), (4, 6, "y"), (9, 10, "")]);
        assert_eq!(stretch_after(&later, Span::new(3, 5)), Span::new(5, 7));
        assert_eq!(stretch_after(&later, Span::new(7, 8)), Span::new(8, 9));
    }

    fn sides() -> impl Strategy<Value = (Vec<u8>, Splices, Splices)> {
        let cut = || (any::<u8>(), 0usize..4, proptest::collection::vec(b'A'..=b'D', 0..4));
        let side = || proptest::collection::vec(cut(), 0..4);
        (proptest::collection::vec(b'a'..=b'd', 0..60), side(), side()).prop_map(|(text, mine, later)| {
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
                        list.push(Splice { at: Span::new(start, end), insert });
                    }
                }
                Splices::new(text.len(), list).unwrap()
            };
            let sides = (of(mine), of(later));
            (text, sides.0, sides.1)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_order_makes_no_difference((text, mine, later) in sides()) {
            let one = carry(&mine, &later);
            let other = carry(&later, &mine);
            prop_assert_eq!(one.is_ok(), other.is_ok(), "both sides clash or none does");
            if let (Ok(mine_after), Ok(later_after)) = (one, other) {
                prop_assert_eq!(
                    mine_after.apply(&later.apply(&text)),
                    later_after.apply(&mine.apply(&text))
                );
            }
        }

        /// Byte by byte, against an oracle that marks which bytes each side keeps.
        #[test]
        fn every_byte_of_both_sides_is_there((text, mine, later) in sides()) {
            let Ok(carried) = carry(&mine, &later) else { return Ok(()) };
            let merged = carried.apply(&later.apply(&text));
            let mut wanted = Vec::new();
            for at in 0..=text.len() {
                let starts = |side: &Splices| {
                    side.iter().find(|splice| splice.at.start() == at).map(|splice| splice.insert.clone())
                };
                // Where both start in one place they do the same, or they would have clashed.
                wanted.extend(starts(&mine).or_else(|| starts(&later)).unwrap_or_default());
                let goes = |side: &Splices| {
                    side.iter().any(|splice| splice.at.start() <= at && at < splice.at.end())
                };
                if at < text.len() && !goes(&mine) && !goes(&later) {
                    wanted.push(text[at]);
                }
            }
            prop_assert_eq!(merged, wanted);
        }
    }
}
