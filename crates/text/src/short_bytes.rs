//! Bytes that are usually short.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The most bytes that are stored in place. With them, a value is as large as a `Vec`.
const MAX_INLINE: usize = 22;

/// A `Vec` of this many bytes is kept; shorter ones are copied, which leaves one allocation instead of two.
const MIN_KEPT: usize = 4096;

/// Bytes that need no allocation if they are short. Clones of long ones share them.
///
/// A change can replace a word in a million places, and its inverse puts it back in as many.
#[derive(Clone)]
pub struct ShortBytes(Repr);

#[derive(Clone)]
enum Repr {
    Inline { len: u8, bytes: [u8; MAX_INLINE] },
    Shared(Arc<[u8]>),
    Kept(Arc<Vec<u8>>),
}

impl Deref for ShortBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Shared(bytes) => bytes,
            Repr::Kept(bytes) => bytes,
        }
    }
}

impl Default for ShortBytes {
    fn default() -> Self {
        Self(Repr::Inline { len: 0, bytes: [0; MAX_INLINE] })
    }
}

impl From<Vec<u8>> for ShortBytes {
    fn from(bytes: Vec<u8>) -> Self {
        if bytes.len() < MIN_KEPT { bytes[..].into() } else { Self(Repr::Kept(Arc::new(bytes))) }
    }
}

impl From<&[u8]> for ShortBytes {
    fn from(bytes: &[u8]) -> Self {
        let mut inline = [0; MAX_INLINE];
        match (inline.get_mut(..bytes.len()), u8::try_from(bytes.len())) {
            (Some(into), Ok(len)) => {
                into.copy_from_slice(bytes);
                Self(Repr::Inline { len, bytes: inline })
            }
            _ => Self(Repr::Shared(bytes.into())),
        }
    }
}

impl From<Cow<'_, [u8]>> for ShortBytes {
    fn from(bytes: Cow<'_, [u8]>) -> Self {
        match bytes {
            Cow::Borrowed(bytes) => bytes.into(),
            Cow::Owned(bytes) => bytes.into(),
        }
    }
}

impl From<&str> for ShortBytes {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<String> for ShortBytes {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl<const N: usize> From<[u8; N]> for ShortBytes {
    fn from(bytes: [u8; N]) -> Self {
        bytes[..].into()
    }
}

impl PartialEq for ShortBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for ShortBytes {}

impl fmt::Debug for ShortBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_the_same_bytes_whatever_their_length() {
        let text = (0..=255).collect::<Vec<u8>>().repeat(MIN_KEPT / 128);
        for len in (0..100).chain(MIN_KEPT - 1..MIN_KEPT + 2) {
            let bytes = &text[..len];
            let short = ShortBytes::from(bytes);
            assert_eq!(*short, *bytes);
            assert_eq!(short, ShortBytes::from(bytes.to_vec()));
            assert_ne!(short, ShortBytes::from(&text[..=len]));
            assert_eq!(matches!(short.0, Repr::Inline { .. }), len <= MAX_INLINE);
        }
        assert_eq!(ShortBytes::default(), ShortBytes::from([]));
    }

    #[test]
    fn takes_no_more_room_than_a_vec() {
        assert_eq!(size_of::<ShortBytes>(), size_of::<Vec<u8>>());
    }

    #[test]
    fn clones_of_long_bytes_share_them() {
        let long = ShortBytes::from(vec![7; MAX_INLINE + 1]);
        assert_eq!(long.as_ptr(), long.clone().as_ptr());
    }
}
