//! Splices: replacements of byte ranges that know which text they apply to.

use crate::hash::PieceHasher;
use crate::{ContentHash, ShortBytes};

/// A byte range of one text, `start <= end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// Creates the span `start..end`.
    ///
    /// # Panics
    /// If `end` is before `start`.
    #[inline]
    pub fn new(start: usize, end: usize) -> Self {
        assert!(start <= end, "a span must not end before it starts: {start}..{end}");
        Self { start, end }
    }

    /// Offset of the first byte.
    #[inline]
    pub fn start(self) -> usize {
        self.start
    }

    /// Offset after the last byte.
    #[inline]
    pub fn end(self) -> usize {
        self.end
    }

    /// Length in bytes.
    #[inline]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span is empty, that is, an insertion point.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes of `text` in this span.
    #[inline]
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }

    /// Whether the spans share bytes, or one is an insertion point strictly inside the other.
    pub fn overlaps(self, other: Self) -> bool {
        if self.is_empty() || other.is_empty() {
            let (point, span) = if self.is_empty() { (self, other) } else { (other, self) };
            span.start < point.start && point.start < span.end
        } else {
            self.start < other.end && other.start < self.end
        }
    }
}

/// Replaces a span with other bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The span to replace, in the old text.
    pub at: Span,
    /// The bytes to insert.
    pub insert: ShortBytes,
}

/// Disjoint splices of one text, in order. Insertions at the same point keep the order they were given in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Splices {
    base_len: usize,
    list: Vec<Splice>,
}

/// Two splices that overlap, by their index in the given list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("splices {first} and {second} overlap")]
pub struct Overlap {
    /// The lower index.
    pub first: usize,
    /// The higher index.
    pub second: usize,
}

/// A part of the new text: kept from the old text, or inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A span of the old text.
    Keep(Span),
    /// Inserted bytes.
    Insert(&'a [u8]),
}

impl Splices {
    /// Sorts `list`, the splices of a text of `base_len` bytes.
    ///
    /// # Panics
    /// If a splice reaches past the end of the text.
    pub fn new(base_len: usize, list: Vec<Splice>) -> Result<Self, Overlap> {
        if list.windows(2).all(|pair| pair[0].at.end <= pair[1].at.start) {
            return Ok(Self::in_order(base_len, list));
        }
        let mut numbered: Vec<(usize, Splice)> = list.into_iter().enumerate().collect();
        numbered.sort_by_key(|(_, splice)| (splice.at.start, splice.at.end));
        for pair in numbered.windows(2) {
            if pair[0].1.at.end > pair[1].1.at.start {
                let (a, b) = (pair[0].0, pair[1].0);
                return Err(Overlap { first: a.min(b), second: a.max(b) });
            }
        }
        Ok(Self::in_order(base_len, numbered.into_iter().map(|(_, splice)| splice).collect()))
    }

    fn in_order(base_len: usize, list: Vec<Splice>) -> Self {
        assert!(
            list.last().is_none_or(|splice| splice.at.end <= base_len),
            "a splice must lie inside its text"
        );
        Self { base_len, list }
    }

    /// Leaves a text of `base_len` bytes unchanged.
    pub fn none(base_len: usize) -> Self {
        Self { base_len, list: Vec::new() }
    }

    /// A single splice.
    pub fn one(base_len: usize, at: Span, insert: impl Into<ShortBytes>) -> Self {
        assert!(at.end <= base_len, "a splice must lie inside its text");
        Self { base_len, list: vec![Splice { at, insert: insert.into() }] }
    }

    /// The length of the old text.
    pub fn base_len(&self) -> usize {
        self.base_len
    }

    /// The length of the new text.
    pub fn new_len(&self) -> usize {
        self.list.iter().fold(self.base_len, |len, splice| len - splice.at.len() + splice.insert.len())
    }

    /// The splices in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Splice> {
        self.list.iter()
    }

    /// Whether there are no splices.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The new text in pieces, so that a writer need not copy what is kept.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let ends = self.list.iter().map(|splice| splice.at.end);
        let starts = std::iter::once(0).chain(ends);
        let stops = self.list.iter().map(|splice| splice.at.start).chain([self.base_len]);
        let inserts = self.list.iter().map(|splice| Some(&*splice.insert)).chain([None]);
        starts
            .zip(stops)
            .zip(inserts)
            .flat_map(|((start, stop), insert)| {
                [Some(Piece::Keep(Span::new(start, stop))), insert.map(Piece::Insert)]
            })
            .flatten()
            .filter(|piece| match piece {
                Piece::Keep(span) => !span.is_empty(),
                Piece::Insert(bytes) => !bytes.is_empty(),
            })
    }

    /// Applies the splices to the old text.
    pub fn apply(&self, before: &[u8]) -> Vec<u8> {
        assert_eq!(before.len(), self.base_len, "splices apply only to the text they were made for");
        let mut after = Vec::with_capacity(self.new_len());
        for piece in self.pieces() {
            after.extend_from_slice(match piece {
                Piece::Keep(span) => span.of(before),
                Piece::Insert(bytes) => bytes,
            });
        }
        after
    }

    /// Hashes the new text without building it.
    pub fn hash_after(&self, before: &[u8]) -> ContentHash {
        let mut hasher = PieceHasher::new(self.new_len());
        for piece in self.pieces() {
            hasher.update(match piece {
                Piece::Keep(span) => span.of(before),
                Piece::Insert(bytes) => bytes,
            });
        }
        hasher.finish()
    }

    /// The splices that turn the new text back into `before`.
    pub fn invert(&self, before: &[u8]) -> Self {
        assert_eq!(before.len(), self.base_len, "splices apply only to the text they were made for");
        self.invert_with(|span| span.of(before).into())
    }

    /// Like [`Splices::invert`]; `before` returns spans of the old text.
    pub fn invert_with(&self, mut before: impl FnMut(Span) -> ShortBytes) -> Self {
        let mut shift = 0isize;
        let mut list = Vec::with_capacity(self.list.len());
        for splice in &self.list {
            let start = splice.at.start.strict_add_signed(shift);
            list.push(Splice {
                at: Span::new(start, start + splice.insert.len()),
                insert: before(splice.at),
            });
            shift += splice.insert.len() as isize - splice.at.len() as isize;
        }
        Self { base_len: self.new_len(), list }
    }

    /// Composes `self` and `next` into one set of splices.
    pub fn then(&self, next: &Self) -> Self {
        assert_eq!(self.new_len(), next.base_len, "the second step must apply to the result of the first");
        let mut pieces = self.pieces().peekable();
        let mut used = 0; // bytes of the current piece already consumed
        let mut out = SplicesBuilder::new(self.base_len);
        let mut at = 0; // position in the text between the two steps
        for splice in &next.list {
            advance(&mut pieces, &mut used, splice.at.start - at, |piece| out.push(piece));
            advance(&mut pieces, &mut used, splice.at.len(), |_| {});
            out.push(Piece::Insert(&splice.insert));
            at = splice.at.end;
        }
        advance(&mut pieces, &mut used, next.base_len - at, |piece| out.push(piece));
        out.finish()
    }
}

/// Consumes the next `count` bytes of a sequence of pieces and passes them to `sink`.
pub(crate) fn advance<'a>(
    pieces: &mut std::iter::Peekable<impl Iterator<Item = Piece<'a>>>,
    used: &mut usize,
    mut count: usize,
    mut sink: impl FnMut(Piece<'a>),
) {
    while count > 0 {
        let Some(piece) = pieces.peek() else { return };
        let len = match piece {
            Piece::Keep(span) => span.len(),
            Piece::Insert(bytes) => bytes.len(),
        };
        let take = count.min(len - *used);
        sink(match *piece {
            Piece::Keep(span) => Piece::Keep(Span::new(span.start + *used, span.start + *used + take)),
            Piece::Insert(bytes) => Piece::Insert(&bytes[*used..*used + take]),
        });
        count -= take;
        *used += take;
        if *used == len {
            pieces.next();
            *used = 0;
        }
    }
}

/// Turns a sequence of pieces back into splices.
pub(crate) struct SplicesBuilder {
    out: Splices,
    at: usize,
    insert: Vec<u8>,
}

impl SplicesBuilder {
    pub(crate) fn new(base_len: usize) -> Self {
        Self { out: Splices::none(base_len), at: 0, insert: Vec::new() }
    }

    pub(crate) fn push(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Insert(bytes) => self.insert.extend_from_slice(bytes),
            Piece::Keep(span) => {
                self.flush(span.start);
                self.at = span.end;
            }
        }
    }

    fn flush(&mut self, upto: usize) {
        if upto > self.at || !self.insert.is_empty() {
            let insert = std::mem::take(&mut self.insert).into();
            self.out.list.push(Splice { at: Span::new(self.at, upto), insert });
        }
    }

    pub(crate) fn finish(mut self) -> Splices {
        self.flush(self.out.base_len);
        self.out
    }
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
    fn applies_splices_given_in_any_order() {
        let s = splices(6, &[(4, 6, "YZ!"), (0, 1, "A"), (2, 2, "-")]);
        assert_eq!(s.apply(b"abcdef"), b"Ab-cdYZ!");
        assert_eq!(s.new_len(), 8);
    }

    #[test]
    fn keeps_the_order_of_insertions_at_one_point() {
        assert_eq!(splices(1, &[(1, 1, "x"), (1, 1, "y"), (0, 1, "b")]).apply(b"a"), b"bxy");
    }

    #[test]
    fn reports_overlapping_splices() {
        let list = vec![
            Splice { at: Span::new(3, 5), insert: [].into() },
            Splice { at: Span::new(0, 2), insert: [].into() },
            Splice { at: Span::new(4, 6), insert: [].into() },
        ];
        assert_eq!(Splices::new(9, list), Err(Overlap { first: 0, second: 2 }));
        let inside = vec![
            Splice { at: Span::new(2, 2), insert: [1].into() },
            Splice { at: Span::new(1, 4), insert: [].into() },
        ];
        assert_eq!(Splices::new(9, inside), Err(Overlap { first: 0, second: 1 }));
    }

    fn text_and_splices() -> impl Strategy<Value = (Vec<u8>, Splices)> {
        proptest::collection::vec(any::<u8>(), 0..60).prop_flat_map(|text| {
            let len = text.len();
            let cuts =
                proptest::collection::vec((0..=len, proptest::collection::vec(any::<u8>(), 0..5)), 0..8);
            (Just(text), cuts).prop_map(move |(text, mut cuts)| {
                cuts.sort();
                let list = cuts
                    .chunks(2)
                    .filter(|pair| pair.len() == 2)
                    .map(|pair| Splice {
                        at: Span::new(pair[0].0, pair[1].0),
                        insert: pair[0].1.as_slice().into(),
                    })
                    .collect();
                (text, Splices::new(len, list).unwrap())
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn inverting_restores_every_byte((text, s) in text_and_splices()) {
            let after = s.apply(&text);
            prop_assert_eq!(after.len(), s.new_len());
            prop_assert_eq!(s.hash_after(&text), ContentHash::of(&after));
            prop_assert_eq!(s.invert(&text).apply(&after), text);
        }

        #[test]
        fn composing_equals_applying_both((text, a) in text_and_splices(), seed in any::<u64>(), extra in proptest::collection::vec(any::<u8>(), 0..4)) {
            let middle = a.apply(&text);
            let cut = |n: u64| (seed.wrapping_mul(n) % (middle.len() as u64 + 1)) as usize;
            let mut cuts = [cut(3), cut(5), cut(7), cut(11)];
            cuts.sort();
            let b = Splices::new(middle.len(), vec![
                Splice { at: Span::new(cuts[0], cuts[1]), insert: extra.as_slice().into() },
                Splice { at: Span::new(cuts[2], cuts[3]), insert: [].into() },
            ]).unwrap();
            prop_assert_eq!(a.then(&b).apply(&text), b.apply(&middle));
        }
    }
}
