//! A file as it was read: bytes, and the canonical view that matching sees.
//!
//! Two kinds of places occur. *Raw* places count the file's bytes; splices are made of those.
//! *View* places count the bytes of the searchable text, in which every line ends the same way;
//! matching and line numbers are about those. [`Snapshot::raw_span`] leads from one to the other.

mod content;
mod set;

use std::borrow::Cow;
use std::sync::OnceLock;

pub use content::{Content, FileContent, FileId, Meta};
pub use set::Snapshots;

use slipstitch_text::{
    ContentHash, Encoding, EncodingRule, LineIndex, Newline, NewlineCounts, Span, Unencodable, View,
    converted, detect, raw_span,
};

/// A file as it was read.
#[derive(Debug)]
pub struct Snapshot {
    bytes: Content,
    meta: Meta,
    hash: ContentHash,
    encoding: Encoding,
    bom: usize,
    binary: bool,
    newlines: NewlineCounts,
    view: View,
    index: OnceLock<LineIndex>,
    damaged: OnceLock<bool>,
}

impl Snapshot {
    /// Looks a file over.
    pub fn new(content: FileContent, rule: EncodingRule) -> Self {
        let FileContent { bytes, meta } = content;
        let hash = ContentHash::of(&bytes);
        let found = detect(&bytes, rule);
        let (view, newlines) = View::new(&bytes, found.encoding, found.bom);
        Self {
            hash,
            meta,
            encoding: found.encoding,
            bom: found.bom,
            binary: found.binary,
            newlines,
            view,
            index: OnceLock::new(),
            damaged: OnceLock::new(),
            bytes,
        }
    }

    /// The text that a batch has made of this file so far, read the same way as the file.
    pub fn successor(&self, bytes: Vec<u8>) -> Self {
        Self::new(
            FileContent { bytes: bytes.into(), meta: self.meta.clone() },
            EncodingRule::Force(self.encoding),
        )
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What is known of the file beside its bytes.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The hash of its bytes.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Its encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Whether it starts with a byte order mark.
    pub fn has_bom(&self) -> bool {
        self.bom > 0
    }

    /// Where its text starts: after the byte order mark.
    pub fn text_start(&self) -> usize {
        self.bom
    }

    /// Whether it holds NUL bytes where text has none.
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// Its ends of lines.
    pub fn newlines(&self) -> NewlineCounts {
        self.newlines
    }

    /// The searchable text. Its lines end in what [`Snapshot::needle`] writes for `\n`.
    pub fn text(&self) -> &[u8] {
        self.view.text(&self.bytes)
    }

    /// Canonical text in the form that [`Snapshot::text`] has.
    pub fn needle<'a>(&self, canonical: &'a str) -> Cow<'a, str> {
        self.view.needle(canonical)
    }

    /// The bytes of the file that a span of the searchable text stands for; `None` if an end of it
    /// lies inside what the file's encoding writes as one character.
    pub fn raw_span(&self, view: Span) -> Option<Span> {
        raw_span(&self.view, &self.bytes, view)
    }

    /// The part of the searchable text that stands for some of the file's bytes.
    pub fn view_span(&self, raw: Span) -> Span {
        let start = self.view.to_view(&self.bytes, raw.start());
        Span::new(start, self.view.to_view(&self.bytes, raw.end()).max(start))
    }

    /// Canonical text as bytes for this file: its dominant newline, its encoding.
    pub fn encode(&self, canonical: &str) -> Result<Vec<u8>, Unencodable> {
        self.encoding.encode(&converted(canonical, self.newlines.dominant()))
    }

    /// Canonical text as bytes for this file with a chosen newline.
    pub fn encode_with(&self, canonical: &str, newline: Newline) -> Result<Vec<u8>, Unencodable> {
        self.encoding.encode(&converted(canonical, newline))
    }

    /// How the first line that ends inside a part of the searchable text ends; if none does, the line before
    /// it; else the line after it.
    pub fn newline_near(&self, view: Span) -> Newline {
        if !self.newlines.mixed() {
            return self.newlines.dominant();
        }
        let text = self.text();
        let inside = || memchr::memchr(b'\n', view.of(text)).map(|at| view.start() + at);
        let before = || memchr::memrchr(b'\n', &text[..view.start()]);
        let after = || memchr::memchr(b'\n', &text[view.end()..]).map(|at| view.end() + at);
        let kind = inside().or_else(before).or_else(after).and_then(|at| {
            let raw = self.raw_span(Span::new(at, at + 1))?.of(&self.bytes);
            let is = |kind: &Newline| self.encoding.encode(kind.as_str()).is_ok_and(|bytes| bytes == raw);
            [Newline::CrLf, Newline::Lf, Newline::Cr].into_iter().find(is)
        });
        kind.unwrap_or_else(|| self.newlines.dominant())
    }

    /// Bytes of this file's encoding as canonical text; what means nothing becomes `0xFF`.
    pub fn decode(&self, bytes: &[u8]) -> Vec<u8> {
        match View::new(bytes, self.encoding, 0).0 {
            View::Built(built) => built.into_text(),
            View::Raw { .. } => bytes.to_vec(),
            View::Crlf { .. } => String::from_utf8_lossy(bytes).replace("\r\n", "\n").into_bytes(),
        }
    }

    /// Whether it holds bytes that mean nothing in its encoding.
    pub fn is_damaged(&self) -> bool {
        *self.damaged.get_or_init(|| match self.encoding {
            Encoding::Utf8 => std::str::from_utf8(&self.bytes).is_err(),
            Encoding::Utf16Le | Encoding::Utf16Be | Encoding::Legacy(_) => {
                memchr::memchr(0xFF, self.text()).is_some()
            }
        })
    }

    /// Whether `insert` keeps its meaning, and leaves its neighbours theirs, between the bytes before
    /// and after a span.
    pub fn fits_between(&self, at: Span, insert: &[u8]) -> bool {
        if !self.is_damaged() {
            return true;
        }
        let left = &self.bytes[self.unit_before(at.start())..at.start()];
        let right = &self.bytes[at.end()..self.bytes.len().min(at.end() + 8)];
        match insert.is_empty() {
            true => self.encoding.reads_apart(left, right),
            false => self.encoding.reads_apart(left, insert) && self.encoding.reads_apart(insert, right),
        }
    }

    /// Where the character that ends at a place starts, or the bytes that may be the start of one.
    fn unit_before(&self, raw: usize) -> usize {
        let lead =
            |back: &usize| raw.checked_sub(*back).is_some_and(|at| at >= self.bom && self.bytes[at] >= 0xC0);
        let found = match self.encoding {
            Encoding::Utf8 => (1..=3).find(lead).map(|back| raw - back),
            _ => {
                let view = self.view_span(Span::new(raw, raw)).start();
                (1..=4).find_map(|back| self.view.to_raw(&self.bytes, view.checked_sub(back)?))
            }
        };
        found.unwrap_or(raw).min(raw)
    }

    /// How many lines it has; a last line needs no newline to count.
    pub fn line_count(&self) -> usize {
        self.index().count(self.text())
    }

    /// The number, from 1, of the line that a place of the searchable text is in.
    pub fn line_of(&self, view: usize) -> usize {
        self.index().line_of(self.text(), view)
    }

    /// Where a line lies in the searchable text, its newline included. A line that is not there
    /// is the empty span at the end.
    pub fn line_span(&self, line: usize) -> Span {
        self.index().span_of(self.text(), line)
    }

    /// A line as people read it, without its newline.
    pub fn line(&self, line: usize) -> Cow<'_, str> {
        let bytes = self.line_span(line).of(self.text());
        let bytes = bytes.strip_suffix(self.view.newline().as_str().as_bytes()).unwrap_or(bytes);
        String::from_utf8_lossy(bytes)
    }

    /// Whether the text is empty or its last line has a newline.
    pub fn ends_with_newline(&self) -> bool {
        self.text().last().is_none_or(|&byte| byte == b'\n')
    }

    fn index(&self) -> &LineIndex {
        self.index.get_or_init(|| LineIndex::new(self.text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(bytes: &[u8]) -> Snapshot {
        Snapshot::new(
            FileContent { bytes: bytes.to_vec().into(), meta: Meta::default() },
            EncodingRule::Detect,
        )
    }

    #[test]
    fn the_mark_is_not_part_of_the_text() {
        let s = snapshot(b"\xEF\xBB\xBFa\r\nb\r\n");
        assert_eq!(s.text(), b"a\r\nb\r\n");
        assert_eq!(s.needle("a\nb"), "a\r\nb");
        assert_eq!(s.raw_span(Span::new(0, 1)), Some(Span::new(3, 4)));
        assert_eq!(s.line(2), "b");
        assert_eq!(s.line_count(), 2);
    }

    #[test]
    fn utf16_is_read_and_written_as_it_is() {
        let bytes: Vec<u8> =
            [0xFF, 0xFE].into_iter().chain("a\r\nü\r\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let s = snapshot(&bytes);
        assert_eq!(s.text(), "a\nü\n".as_bytes());
        assert_eq!(s.raw_span(Span::new(2, 4)), Some(Span::new(8, 10)));
        assert_eq!(s.encode("x\n").unwrap(), b"x\0\r\0\n\0");
    }

    #[test]
    fn lines_of_an_empty_file() {
        let s = snapshot(b"");
        assert_eq!(s.line_count(), 0);
        assert!(s.ends_with_newline());
        assert_eq!(s.line_span(1), Span::new(0, 0));
    }
}
