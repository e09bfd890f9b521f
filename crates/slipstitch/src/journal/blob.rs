//! Splices as bytes.
//!
//! ```text
//! version        one byte, 1
//! base length    number
//! count          number
//! count times:
//!   gap          number: bytes kept since the end of the splice before
//!   removed      number: bytes that go
//!   inserted     number: bytes that come, followed by them
//! ```
//! A number is unsigned LEB128: seven bits to a byte, the lowest first, the top bit set on every
//! byte but the last. Nothing follows the last splice.

use slipstitch_core::text::{Span, Splice, Splices};

const VERSION: u8 = 1;

/// Why bytes are not splices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BlobError {
    #[error("its splices have version {0}, and this program knows {VERSION}")]
    Version(u8),
    #[error("its splices end too early")]
    Short,
    #[error("its splices hold a number that is too large")]
    Number,
    #[error("one of its splices lies outside its text")]
    Outside,
    #[error("{0} bytes follow its splices")]
    Rest(usize),
    #[error("two of its splices overlap")]
    Overlap,
}

/// The bytes of `splices`.
pub(super) fn encode(splices: &Splices) -> Vec<u8> {
    let inserted: usize = splices.iter().map(|splice| splice.insert.len() + 8).sum();
    let mut out = Vec::with_capacity(inserted + 16);
    out.push(VERSION);
    number(splices.base_len(), &mut out);
    number(splices.iter().len(), &mut out);
    let mut end = 0;
    for splice in splices.iter() {
        number(splice.at.start() - end, &mut out);
        number(splice.at.len(), &mut out);
        number(splice.insert.len(), &mut out);
        out.extend_from_slice(&splice.insert);
        end = splice.at.end();
    }
    out
}

/// The splices in `bytes`, which may be damaged in any way.
pub(super) fn decode(bytes: &[u8]) -> Result<Splices, BlobError> {
    let mut rest = Rest(bytes);
    match rest.take(1)?[0] {
        VERSION => {}
        other => return Err(BlobError::Version(other)),
    }
    let base_len = rest.number()?;
    let count = rest.number()?;
    let mut list = Vec::with_capacity(count.min(bytes.len() / 3));
    let mut end = 0usize;
    for _ in 0..count {
        let start = end.checked_add(rest.number()?).ok_or(BlobError::Outside)?;
        end = start.checked_add(rest.number()?).ok_or(BlobError::Outside)?;
        if end > base_len {
            return Err(BlobError::Outside);
        }
        let len = rest.number()?;
        list.push(Splice { at: Span::new(start, end), insert: rest.take(len)?.to_vec() });
    }
    if !rest.0.is_empty() {
        return Err(BlobError::Rest(rest.0.len()));
    }
    Splices::new(base_len, list).map_err(|_| BlobError::Overlap)
}

fn number(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], BlobError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(BlobError::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<usize, BlobError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(BlobError::Number);
            }
            value |= bits << shift;
            if byte < 0x80 {
                return usize::try_from(value).map_err(|_| BlobError::Number);
            }
        }
        Err(BlobError::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn splices() -> impl Strategy<Value = Splices> {
        let piece = (0usize..400, 0usize..400, proptest::collection::vec(any::<u8>(), 0..300));
        (proptest::collection::vec(piece, 0..6), 0usize..100_000).prop_map(|(pieces, tail)| {
            let mut end = 0;
            let list: Vec<_> = pieces
                .into_iter()
                .map(|(gap, removed, insert)| {
                    let start = end + gap;
                    end = start + removed;
                    Splice { at: Span::new(start, end), insert }
                })
                .collect();
            Splices::new(end + tail, list).unwrap()
        })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(splices in splices()) {
            prop_assert_eq!(decode(&encode(&splices)), Ok(splices));
        }

        #[test]
        fn every_shorter_text_is_refused(splices in splices(), cut in any::<prop::sample::Index>()) {
            let bytes = encode(&splices);
            prop_assert!(decode(&bytes[..cut.index(bytes.len())]).is_err());
        }

        #[test]
        fn damage_is_an_answer_and_not_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode(&bytes);
            let _ = decode(&[&[VERSION][..], &bytes].concat());
        }
    }

    #[test]
    fn each_kind_of_damage_has_its_name() {
        assert_eq!(decode(&[]), Err(BlobError::Short));
        assert_eq!(decode(&[2, 0, 0]), Err(BlobError::Version(2)));
        assert_eq!(decode(&[1, 0, 0, 9]), Err(BlobError::Rest(1)));
        assert_eq!(decode(&[1, 3, 1, 2, 2, 0]), Err(BlobError::Outside));
        assert_eq!(decode(&[1, 3, 1, 2, 1, 5, 0]), Err(BlobError::Short));
        assert_eq!(decode(&[[1].as_slice(), &[0xff; 10], &[0]].concat()), Err(BlobError::Number));
    }

    #[test]
    fn the_form_does_not_change() {
        let splices = Splices::one(300, Span::new(1, 3), b"ab".to_vec());
        assert_eq!(encode(&splices), [1, 0xac, 2, 1, 1, 2, 2, b'a', b'b']);
    }
}
