//! The canonical view: what matching sees, and the way back to the file's bytes.
//!
//! A view is a copy only where it must be. A UTF-8 file without `\r` is its own view; one with
//! `\r\n` throughout is searched as it is, with a needle converted to match. All other files get a
//! text of their own, decoded and with `\n` alone, and marks that lead back.

use std::borrow::Cow;

use crate::Span;
use crate::encoding::Encoding;
use crate::newline::{Newline, NewlineCounts, converted};

/// Marks stand this far apart; finding a byte means walking from the mark before it.
const MARK_EVERY: usize = 1024;

#[derive(Debug)]
pub enum View {
    /// The file's bytes from here on are the view.
    Raw { from: usize },
    /// The same, with `\r\n` at every end of line.
    Crlf { from: usize },
    /// A text of its own.
    Built(Built),
}

#[derive(Debug)]
pub struct Built {
    text: Vec<u8>,
    marks: Vec<Mark>,
    encoding: Encoding,
    raw_len: usize,
}

/// A place in both texts.
#[derive(Debug, Clone, Copy)]
struct Mark {
    view: usize,
    raw: usize,
}

impl View {
    /// Makes the view of a file whose byte order mark is `bom` bytes long.
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
        let (built, counts) = Built::new(bytes, encoding, bom);
        (Self::Built(built), counts)
    }

    /// The text to search.
    pub fn text<'a>(&'a self, bytes: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Raw { from } | Self::Crlf { from } => &bytes[*from..],
            Self::Built(built) => &built.text,
        }
    }

    /// Canonical text in the form that the text to search has.
    pub fn needle<'a>(&self, canonical: &'a str) -> Cow<'a, str> {
        converted(canonical, self.newline())
    }

    /// What ends a line in the text to search.
    pub fn newline(&self) -> Newline {
        match self {
            Self::Crlf { .. } => Newline::CrLf,
            Self::Raw { .. } | Self::Built(_) => Newline::Lf,
        }
    }

    /// The file's byte for a place in the view; `None` inside a character that the file's encoding
    /// writes as one.
    pub fn to_raw(&self, bytes: &[u8], view: usize) -> Option<usize> {
        match self {
            Self::Raw { from } | Self::Crlf { from } => Some(view + from),
            Self::Built(built) => built.to_raw(bytes, view),
        }
    }

    /// The place in the view for one of the file's bytes.
    pub fn to_view(&self, bytes: &[u8], raw: usize) -> usize {
        match self {
            Self::Raw { from } | Self::Crlf { from } => raw.saturating_sub(*from),
            Self::Built(built) => built.to_view(bytes, raw),
        }
    }
}

impl Built {
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    fn new(bytes: &[u8], encoding: Encoding, bom: usize) -> (Self, NewlineCounts) {
        let mut walk = Walk::new(encoding, Mark { view: 0, raw: bom });
        let mut text = Vec::with_capacity(bytes.len() - bom);
        let mut marks = vec![walk.at];
        let mut counts = NewlineCounts::default();
        while walk.at.raw < bytes.len() {
            match walk.step(bytes, &mut text) {
                Some(Newline::Lf) => counts.lf += 1,
                Some(Newline::CrLf) => counts.crlf += 1,
                Some(Newline::Cr) => counts.cr += 1,
                None => {}
            }
            if walk.at.view >= marks[marks.len() - 1].view + MARK_EVERY {
                marks.push(walk.at);
            }
        }
        (Self { text, marks, encoding, raw_len: bytes.len() }, counts)
    }

    fn to_raw(&self, bytes: &[u8], view: usize) -> Option<usize> {
        let mark = self.marks[self.marks.partition_point(|mark| mark.view <= view) - 1];
        let mut walk = Walk::new(self.encoding, mark);
        let mut text = Vec::new();
        while walk.at.view < view && walk.at.raw < bytes.len() {
            walk.step(bytes, &mut text);
        }
        (walk.at.view == view).then_some(walk.at.raw)
    }

    fn to_view(&self, bytes: &[u8], raw: usize) -> usize {
        let raw = raw.clamp(self.marks[0].raw, self.raw_len);
        let mark = self.marks[self.marks.partition_point(|mark| mark.raw <= raw) - 1];
        let mut walk = Walk::new(self.encoding, mark);
        let mut text = Vec::new();
        while walk.at.raw < raw {
            walk.step(bytes, &mut text);
        }
        walk.at.view
    }
}

/// A walk through a file, one character or one end of line at a time.
struct Walk {
    encoding: Encoding,
    at: Mark,
}

impl Walk {
    fn new(encoding: Encoding, at: Mark) -> Self {
        Self { encoding, at }
    }

    /// Appends the next character to `text`, an end of line as `\n`, and says which one it was.
    fn step(&mut self, bytes: &[u8], text: &mut Vec<u8>) -> Option<Newline> {
        let start = text.len();
        self.at.raw += self.encoding.decode_unit(&bytes[self.at.raw..], text);
        let newline = match text[start..] {
            [b'\n'] => Some(Newline::Lf),
            [b'\r'] => {
                text[start] = b'\n';
                Some(self.take_lf(bytes, text))
            }
            _ => None,
        };
        self.at.view += text.len() - start;
        newline
    }

    /// After a `\r`: takes the `\n` that belongs to it, if there is one.
    fn take_lf(&mut self, bytes: &[u8], text: &mut Vec<u8>) -> Newline {
        if self.at.raw == bytes.len() {
            return Newline::Cr;
        }
        let length = text.len();
        let taken = self.encoding.decode_unit(&bytes[self.at.raw..], text);
        let pair = text[length..] == [b'\n'];
        text.truncate(length);
        if !pair {
            return Newline::Cr;
        }
        self.at.raw += taken;
        Newline::CrLf
    }
}

/// Both ends of a span of the view, as bytes of the file.
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
    fn a_view_is_a_copy_only_where_it_must_be() {
        assert!(matches!(view_of(b"a\nb", Encoding::Utf8), View::Raw { .. }));
        assert!(matches!(view_of(b"a\r\nb\r\n", Encoding::Utf8), View::Crlf { .. }));
        assert!(matches!(view_of(b"a\r\nb\n", Encoding::Utf8), View::Built(_)));
        assert!(matches!(view_of(b"a\rb", Encoding::Utf8), View::Built(_)));
    }

    #[test]
    fn every_kind_of_newline_becomes_one() {
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
        fn every_place_maps_there_and_back(bytes in some_bytes(), encoding in some_encoding()) {
            let (view, counts) = View::new(&bytes, encoding, 0);
            let text = view.text(&bytes).to_vec();
            let lines = memchr::memchr_iter(b'\n', &text).count();
            prop_assert_eq!(lines, counts.lf + counts.crlf + counts.cr);
            let mut last = 0;
            for at in 0..=text.len() {
                if let Some(raw) = view.to_raw(&bytes, at) {
                    prop_assert!(raw >= last, "places keep their order");
                    prop_assert_eq!(view.to_view(&bytes, raw), at);
                    last = raw;
                }
            }
            prop_assert_eq!(view.to_raw(&bytes, text.len()), Some(bytes.len()));
        }
    }
}
