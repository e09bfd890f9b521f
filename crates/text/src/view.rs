//! The canonical view: the text that matching sees, with a mapping back to the file's bytes.
//!
//! A view copies the file only when it has to. A UTF-8 file without `\r` is its own view, and one
//! with `\r\n` throughout is searched as it is, with the needle converted to match. Every other
//! file is decoded into a separate LF-only text with checkpoints that map offsets back.

use std::borrow::Cow;

use crate::Span;
use crate::encoding::Encoding;
use crate::newline::{Newline, NewlineCounts, convert_newlines};

/// Distance between checkpoints in bytes of the view. Mapping an offset decodes from the checkpoint before it.
const CHECKPOINT_INTERVAL: usize = 1024;

/// The text of a file to search: LF-only, or CRLF throughout, without the byte order mark.
#[derive(Debug)]
pub enum View {
    /// The file's own bytes.
    Raw {
        /// Where the text starts: after the byte order mark.
        from: usize,
    },
    /// The file's own bytes, in which every line ends in `\r\n`.
    Crlf {
        /// Where the text starts: after the byte order mark.
        from: usize,
    },
    /// A decoded copy.
    Decoded(DecodedView),
}

/// A decoded, LF-only copy of a file's text.
#[derive(Debug)]
pub struct DecodedView {
    text: Vec<u8>,
    checkpoints: Vec<Position>,
    encoding: Encoding,
    raw_len: usize,
}

/// The same position in the view and in the file.
#[derive(Debug, Clone, Copy)]
struct Position {
    view: usize,
    raw: usize,
}

impl View {
    /// Creates the view of a file whose byte order mark is `bom` bytes long.
    pub fn new(bytes: &[u8], encoding: Encoding, bom: usize) -> (Self, NewlineCounts) {
        if encoding == Encoding::Utf8 {
            let counts = NewlineCounts::of(bytes);
            if counts.crlf + counts.cr == 0 {
                return (Self::Raw { from: bom }, counts);
            }
            if counts.lf + counts.cr == 0 {
                return (Self::Crlf { from: bom }, counts);
            }
        }
        let (decoded, counts) = DecodedView::new(bytes, encoding, bom);
        (Self::Decoded(decoded), counts)
    }

    /// The text to search.
    pub fn text<'a>(&'a self, bytes: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Raw { from } | Self::Crlf { from } => &bytes[*from..],
            Self::Decoded(decoded) => &decoded.text,
        }
    }

    /// Converts canonical text to the line endings of the text to search.
    pub fn needle<'a>(&self, canonical: &'a str) -> Cow<'a, str> {
        convert_newlines(canonical, self.newline())
    }

    /// The line ending of the text to search.
    pub fn newline(&self) -> Newline {
        match self {
            Self::Crlf { .. } => Newline::CrLf,
            Self::Raw { .. } | Self::Decoded(_) => Newline::Lf,
        }
    }

    /// How much larger an offset of the file is than that of the view, if that is the same everywhere.
    pub fn fixed_shift(&self) -> Option<usize> {
        match self {
            Self::Raw { from } | Self::Crlf { from } => Some(*from),
            Self::Decoded(_) => None,
        }
    }

    /// Maps an offset of the view to an offset of the file. `None` if the offset is inside what the
    /// file's encoding writes as one character.
    pub fn to_raw(&self, bytes: &[u8], view: usize) -> Option<usize> {
        match self {
            Self::Raw { from } | Self::Crlf { from } => Some(view + from),
            Self::Decoded(decoded) => decoded.to_raw(bytes, view),
        }
    }

    /// Maps an offset of the file to an offset of the view.
    pub fn to_view(&self, bytes: &[u8], raw: usize) -> usize {
        match self {
            Self::Raw { from } | Self::Crlf { from } => raw.saturating_sub(*from),
            Self::Decoded(decoded) => decoded.to_view(bytes, raw),
        }
    }
}

impl DecodedView {
    /// The decoded text.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    fn new(bytes: &[u8], encoding: Encoding, bom: usize) -> (Self, NewlineCounts) {
        let mut decoder = Decoder::new(encoding, Position { view: 0, raw: bom });
        let mut text = Vec::with_capacity(bytes.len() - bom);
        let mut checkpoints = vec![decoder.at];
        let mut counts = NewlineCounts::default();
        while decoder.at.raw < bytes.len() {
            match decoder.step(bytes, &mut text) {
                Some(Newline::Lf) => counts.lf += 1,
                Some(Newline::CrLf) => counts.crlf += 1,
                Some(Newline::Cr) => counts.cr += 1,
                None => {}
            }
            if decoder.at.view >= checkpoints[checkpoints.len() - 1].view + CHECKPOINT_INTERVAL {
                checkpoints.push(decoder.at);
            }
        }
        (Self { text, checkpoints, encoding, raw_len: bytes.len() }, counts)
    }

    fn to_raw(&self, bytes: &[u8], view: usize) -> Option<usize> {
        let checkpoint =
            self.checkpoints[self.checkpoints.partition_point(|position| position.view <= view) - 1];
        let mut decoder = Decoder::new(self.encoding, checkpoint);
        let mut text = Vec::new();
        while decoder.at.view < view && decoder.at.raw < bytes.len() {
            decoder.step(bytes, &mut text);
        }
        (decoder.at.view == view).then_some(decoder.at.raw)
    }

    fn to_view(&self, bytes: &[u8], raw: usize) -> usize {
        let raw = raw.clamp(self.checkpoints[0].raw, self.raw_len);
        let checkpoint =
            self.checkpoints[self.checkpoints.partition_point(|position| position.raw <= raw) - 1];
        let mut decoder = Decoder::new(self.encoding, checkpoint);
        let mut text = Vec::new();
        while decoder.at.raw < raw {
            decoder.step(bytes, &mut text);
        }
        decoder.at.view
    }
}

/// Decodes a file one character or line ending at a time.
struct Decoder {
    encoding: Encoding,
    at: Position,
}

impl Decoder {
    fn new(encoding: Encoding, at: Position) -> Self {
        Self { encoding, at }
    }

    /// Appends the next character to `text`, and returns its kind if it is a line ending, which becomes `\n`.
    fn step(&mut self, bytes: &[u8], text: &mut Vec<u8>) -> Option<Newline> {
        let start = text.len();
        self.at.raw += self.encoding.decode_unit(&bytes[self.at.raw..], text);
        let newline = match text[start..] {
            [b'\n'] => Some(Newline::Lf),
            [b'\r'] => {
                text[start] = b'\n';
                Some(self.skip_lf(bytes, text))
            }
            _ => None,
        };
        self.at.view += text.len() - start;
        newline
    }

    /// Skips the `\n` after a `\r`, if there is one.
    fn skip_lf(&mut self, bytes: &[u8], text: &mut Vec<u8>) -> Newline {
        if self.at.raw == bytes.len() {
            return Newline::Cr;
        }
        let length = text.len();
        let width = self.encoding.decode_unit(&bytes[self.at.raw..], text);
        let is_lf = text[length..] == [b'\n'];
        text.truncate(length);
        if !is_lf {
            return Newline::Cr;
        }
        self.at.raw += width;
        Newline::CrLf
    }
}

/// Maps a span of the view to the file's bytes, as [`View::to_raw`] does for both ends.
pub fn raw_span(view: &View, bytes: &[u8], span: Span) -> Option<Span> {
    Some(Span::new(view.to_raw(bytes, span.start())?, view.to_raw(bytes, span.end())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn view_of(bytes: &[u8], encoding: Encoding) -> View {
        View::new(bytes, encoding, 0).0
    }

    #[test]
    fn copies_the_text_only_when_needed() {
        assert!(matches!(view_of(b"a\nb", Encoding::Utf8), View::Raw { .. }));
        assert!(matches!(view_of(b"a\r\nb\r\n", Encoding::Utf8), View::Crlf { .. }));
        assert!(matches!(view_of(b"a\r\nb\n", Encoding::Utf8), View::Decoded(_)));
        assert!(matches!(view_of(b"a\rb", Encoding::Utf8), View::Decoded(_)));
    }

    #[test]
    fn converts_every_kind_of_newline() {
        let bytes = b"a\r\nb\rc\n\r\r\nd\xFF\r";
        let (view, counts) = View::new(bytes, Encoding::Utf8, 0);
        assert_eq!(view.text(bytes), b"a\nb\nc\n\n\nd\xFF\n");
        assert_eq!(counts, NewlineCounts { lf: 1, crlf: 2, cr: 3 });
    }

    fn some_encoding() -> impl Strategy<Value = Encoding> {
        prop_oneof![
            Just(Encoding::Utf8),
            Just(Encoding::Utf16Le),
            Just(Encoding::Utf16Be),
            Just(Encoding::Legacy(encoding_rs::WINDOWS_1252)),
            Just(Encoding::Legacy(encoding_rs::SHIFT_JIS)),
            Just(Encoding::Legacy(encoding_rs::GB18030)),
            Just(Encoding::Legacy(encoding_rs::BIG5)),
            Just(Encoding::Legacy(encoding_rs::EUC_KR)),
        ]
    }

    fn some_bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\r\0\n\0".to_vec()),
            "[a-c ]{0,40}".prop_map(String::into_bytes),
            "[a-z]{900,1300}".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..12),
        ];
        proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn offsets_map_to_the_file_and_back(bytes in some_bytes(), encoding in some_encoding()) {
            let (view, counts) = View::new(&bytes, encoding, 0);
            let text = view.text(&bytes).to_vec();
            let lines = memchr::memchr_iter(b'\n', &text).count();
            prop_assert_eq!(lines, counts.lf + counts.crlf + counts.cr);
            let mut last = 0;
            for at in 0..=text.len() {
                if let Some(raw) = view.to_raw(&bytes, at) {
                    prop_assert!(raw >= last, "offsets must keep their order");
                    prop_assert_eq!(view.to_view(&bytes, raw), at);
                    last = raw;
                }
            }
            prop_assert_eq!(view.to_raw(&bytes, text.len()), Some(bytes.len()));
        }
    }
}
