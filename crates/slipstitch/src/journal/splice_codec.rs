//! The binary encoding of splices.
//!
//! ```text
//! version        one byte, 1
//! base length    number
//! count          number
//! count times:
//!   gap          number: unchanged bytes since the end of the previous splice
//!   removed      number: removed bytes
//!   inserted     number: inserted bytes, followed by the bytes
//! ```
//! A number is unsigned LEB128: seven bits per byte, lowest first, with the top bit set on every byte but the
//! last. Nothing follows the last splice.

use slipstitch_core::text::{Span, Splice, Splices};

const VERSION: u8 = 1;

/// What is stored instead of splices whose text is withheld. No encoding starts like this.
pub(super) const WITHHELD: &[u8] = &[0];

/// Why bytes cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum DecodeError {
    #[error("its splices have version {0}, but this program needs version {VERSION}")]
    Version(u8),
    #[error("its splices are truncated")]
    Truncated,
    #[error("its splices contain a number that is too large")]
    Overflow,
    #[error("one of its splices is outside the text")]
    OutOfBounds,
    #[error("its splices are followed by {0} extra bytes")]
    TrailingBytes(usize),
    #[error("two of its splices overlap")]
    Overlap,
}

pub(super) fn encode(splices: &Splices) -> Vec<u8> {
    let inserted: usize = splices.iter().map(|splice| splice.insert.len() + 8).sum();
    let mut out = Vec::with_capacity(inserted + 16);
    out.push(VERSION);
    encode_number(splices.base_len(), &mut out);
    encode_number(splices.iter().len(), &mut out);
    let mut end = 0;
    for splice in splices.iter() {
        encode_number(splice.at.start() - end, &mut out);
        encode_number(splice.at.len(), &mut out);
        encode_number(splice.insert.len(), &mut out);
        out.extend_from_slice(&splice.insert);
        end = splice.at.end();
    }
    out
}

/// Decodes `bytes`, which may be damaged in any way.
pub(super) fn decode(bytes: &[u8]) -> Result<Splices, DecodeError> {
    let mut reader = Reader(bytes);
    match reader.take(1)?[0] {
        VERSION => {}
        other => return Err(DecodeError::Version(other)),
    }
    let base_len = reader.number()?;
    let count = reader.number()?;
    let mut list = Vec::with_capacity(count.min(bytes.len() / 3));
    let mut end = 0usize;
    for _ in 0..count {
        let start = end.checked_add(reader.number()?).ok_or(DecodeError::OutOfBounds)?;
        end = start.checked_add(reader.number()?).ok_or(DecodeError::OutOfBounds)?;
        if end > base_len {
            return Err(DecodeError::OutOfBounds);
        }
        let len = reader.number()?;
        list.push(Splice { at: Span::new(start, end), insert: reader.take(len)?.into() });
    }
    if !reader.0.is_empty() {
        return Err(DecodeError::TrailingBytes(reader.0.len()));
    }
    Splices::new(base_len, list).map_err(|_| DecodeError::Overlap)
}

fn encode_number(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<usize, DecodeError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(DecodeError::Overflow);
            }
            value |= bits << shift;
            if byte < 0x80 {
                return usize::try_from(value).map_err(|_| DecodeError::Overflow);
            }
        }
        Err(DecodeError::Overflow)
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
                    Splice { at: Span::new(start, end), insert: insert.into() }
                })
                .collect();
            Splices::new(end + tail, list).unwrap()
        })
    }

    proptest! {
        #[test]
        fn decoding_inverts_encoding(splices in splices()) {
            prop_assert_eq!(decode(&encode(&splices)), Ok(splices));
        }

        #[test]
        fn rejects_every_truncation(splices in splices(), cut in any::<prop::sample::Index>()) {
            let bytes = encode(&splices);
            prop_assert!(decode(&bytes[..cut.index(bytes.len())]).is_err());
        }

        #[test]
        fn never_panics_on_damaged_input(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode(&bytes);
            let _ = decode(&[&[VERSION][..], &bytes].concat());
        }
    }

    #[test]
    fn names_the_kind_of_damage() {
        assert_eq!(decode(&[]), Err(DecodeError::Truncated));
        assert_eq!(decode(&[2, 0, 0]), Err(DecodeError::Version(2)));
        assert_eq!(decode(&[1, 0, 0, 9]), Err(DecodeError::TrailingBytes(1)));
        assert_eq!(decode(&[1, 3, 1, 2, 2, 0]), Err(DecodeError::OutOfBounds));
        assert_eq!(decode(&[1, 3, 1, 2, 1, 5, 0]), Err(DecodeError::Truncated));
        assert_eq!(decode(&[[1].as_slice(), &[0xff; 10], &[0]].concat()), Err(DecodeError::Overflow));
    }

    #[test]
    fn the_encoding_is_stable() {
        let splices = Splices::one(300, Span::new(1, 3), b"ab".to_vec());
        assert_eq!(encode(&splices), [1, 0xac, 2, 1, 1, 2, 2, b'a', b'b']);
    }
}
