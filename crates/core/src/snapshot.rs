//! Snapshots: a file's bytes, and the canonical view that matching sees.
//!
//! There are two kinds of offsets. *Raw* offsets count the file's bytes; splices use them. *View*
//! offsets count the bytes of the searchable text, in which all lines end the same way; matching and
//! line numbers use them. [`Snapshot::raw_span`] and [`Snapshot::view_span`] convert between them.

mod blocks;
mod content;
mod scan;
mod set;
mod source;
mod spans;

use std::borrow::Cow;
use std::sync::OnceLock;

use blocks::Blocks;
pub use content::{Content, FileContent, FileId, Meta, WeakContent};
pub use set::Snapshots;
use slipstitch_text::display::decode_lossy;
pub use source::{ContentSource, LargeFile};

use slipstitch_text::{
    ContentHash, Encoding, EncodingRule, LineIndex, Newline, NewlineCounts, Span, Unencodable, View,
    convert_newlines, detect, raw_span,
};

/// The endings of the lines that a replacement touches.
struct TouchedEndings {
    /// Those inside the replaced span, from its start.
    first: Vec<Newline>,
    /// That of the last line.
    last: Newline,
}

/// Where a snapshot's bytes are.
#[derive(Debug)]
enum Bytes {
    /// In memory.
    Whole(Content),
    /// In the file, unless something needs all of them.
    Blocks(Box<Blocks>),
}

/// A file's content at the time it was read.
///
/// The content of a large file can stay in the file. [`Snapshot::bytes`] and [`Snapshot::text`] then read all of it into memory;
/// methods that take a span read only what they need.
#[derive(Debug)]
pub struct Snapshot {
    bytes: Bytes,
    meta: Meta,
    hash: ContentHash,
    encoding: Encoding,
    bom: usize,
    binary: bool,
    newlines: NewlineCounts,
    /// The line ending of new lines if the text has none: the one the file had before a batch removed them all.
    without_newlines: Newline,
    view: View,
    index: OnceLock<LineIndex>,
    invalid_bytes: OnceLock<bool>,
}

impl Snapshot {
    /// Analyzes a file's content.
    pub fn new(content: FileContent, rule: EncodingRule) -> Self {
        let FileContent { bytes, meta } = content;
        let hash = bytes.hash();
        let found = detect(&bytes, rule);
        let (view, newlines) = View::new(&bytes, found.encoding, found.bom);
        Self {
            hash,
            meta,
            encoding: found.encoding,
            bom: found.bom,
            binary: found.binary,
            newlines,
            without_newlines: Newline::Lf,
            view,
            index: OnceLock::new(),
            invalid_bytes: if found.is_valid_utf8 { OnceLock::from(false) } else { OnceLock::new() },
            bytes: Bytes::Whole(bytes),
        }
    }

    /// Scans a large file. Its content stays in the file if it is UTF-8 text that needs no decoding; otherwise it is read whole.
    /// The same pass searches for `needles`, none of which may be empty ([`Snapshot::known_matches`]).
    pub fn open(file: LargeFile, rule: EncodingRule, needles: &[String]) -> std::io::Result<Self> {
        let may_be_utf8 = !matches!(rule, EncodingRule::Force(encoding) if encoding != Encoding::Utf8);
        let scan = if may_be_utf8 { scan::scan(&*file.source, needles)? } else { None };
        let view = scan.as_ref().and_then(|scan| {
            let (from, newlines) = (scan.bom, scan.newlines);
            match newlines {
                NewlineCounts { crlf: 0, cr: 0, .. } => Some(View::Raw { from }),
                NewlineCounts { lf: 0, cr: 0, .. } => Some(View::Crlf { from }),
                _ => None,
            }
        });
        let (Some(scan), Some(view)) = (scan, view) else { return Ok(Self::new(file.load()?, rule)) };
        let (bom, newlines) = (scan.bom, scan.newlines);
        let blocks = Blocks::new(file.source, scan);
        Ok(Self {
            hash: blocks.hash(),
            meta: file.meta,
            encoding: Encoding::Utf8,
            bom,
            binary: false,
            newlines,
            without_newlines: Newline::Lf,
            view,
            index: OnceLock::new(),
            invalid_bytes: OnceLock::from(false),
            bytes: Bytes::Blocks(Box::new(blocks)),
        })
    }

    /// A snapshot of this file with other content, in the same encoding: the intermediate result of a batch. If it has no line
    /// endings, new lines use those of this snapshot.
    pub fn successor(&self, bytes: Vec<u8>) -> Self {
        let content = FileContent { bytes: bytes.into(), meta: self.meta.clone() };
        let without_newlines = self.dominant_newline();
        Self { without_newlines, ..Self::new(content, EncodingRule::Force(self.encoding)) }
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Whole(bytes) => bytes,
            Bytes::Blocks(blocks) => blocks.whole(),
        }
    }

    /// The text in blocks, with how much larger its offsets are than those of the searchable text.
    fn blocks(&self) -> Option<(&Blocks, usize)> {
        match &self.bytes {
            Bytes::Blocks(blocks) if !blocks.is_loaded() => Some((blocks, self.bom)),
            Bytes::Blocks(_) | Bytes::Whole(_) => None,
        }
    }

    /// Whether a large file was found to have changed since the snapshot. What the snapshot returned for the changed parts is
    /// not their text, so nothing that was derived from it may be used.
    pub fn has_changed(&self) -> bool {
        matches!(&self.bytes, Bytes::Blocks(blocks) if blocks.has_changed())
    }

    /// Reads a large file whole. Returns false if there is too little memory for it.
    pub(crate) fn try_load(&self) -> bool {
        self.blocks().is_none_or(|(blocks, _)| blocks.try_load())
    }

    /// Whether the content has stayed in the file so far.
    pub fn is_in_blocks(&self) -> bool {
        self.blocks().is_some()
    }

    /// The file's metadata.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The hash of the bytes.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The file's encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Whether the file starts with a byte order mark.
    pub fn has_bom(&self) -> bool {
        self.bom > 0
    }

    /// The raw offset of the text: after the byte order mark.
    pub fn text_start(&self) -> usize {
        self.bom
    }

    /// Whether the file is binary: it contains NUL bytes that are not part of UTF-16.
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// The counts of its line endings.
    pub fn newlines(&self) -> NewlineCounts {
        self.newlines
    }

    /// The searchable text. Its lines end in what [`Snapshot::needle`] converts `\n` to.
    pub fn text(&self) -> &[u8] {
        self.view.text(self.bytes())
    }

    /// Converts canonical text to the line endings of [`Snapshot::text`].
    pub fn needle<'a>(&self, canonical: &'a str) -> Cow<'a, str> {
        self.view.needle(canonical)
    }

    /// Converts a span of the searchable text to raw offsets. `None` if an end is inside what the file's
    /// encoding writes as one character.
    pub fn raw_span(&self, view: Span) -> Option<Span> {
        match self.view.fixed_shift() {
            Some(shift) => Some(Span::new(view.start() + shift, view.end() + shift)),
            None => raw_span(&self.view, self.bytes(), view),
        }
    }

    /// Converts a raw span to a span of the searchable text.
    pub fn view_span(&self, raw: Span) -> Span {
        let to_view = |raw: usize| match self.view.fixed_shift() {
            Some(shift) => raw.saturating_sub(shift),
            None => self.view.to_view(self.bytes(), raw),
        };
        let start = to_view(raw.start());
        Span::new(start, to_view(raw.end()).max(start))
    }

    /// The line ending for new lines that have no line ending nearby.
    pub fn dominant_newline(&self) -> Newline {
        if self.newlines == NewlineCounts::default() {
            self.without_newlines
        } else {
            self.newlines.dominant()
        }
    }

    /// Encodes canonical text for this file, with its dominant line ending.
    pub fn encode<'t>(&self, canonical: &'t str) -> Result<Cow<'t, [u8]>, Unencodable> {
        self.encoding.encode_cow(convert_newlines(canonical, self.dominant_newline()))
    }

    /// Encodes canonical text that replaces a span of the searchable text, with the line endings of the lines there.
    ///
    /// In a file with mixed line endings, the first new line takes the ending of the first replaced line, the second
    /// that of the second, and so on; further lines take that of the last one. If the text ends a line that the span
    /// ends too, that line break stays as it is. A pure insertion takes the ending of the line before it, at the top
    /// that of the line after it.
    pub fn encode_at<'t>(&self, canonical: &'t str, view: Span) -> Result<Cow<'t, [u8]>, Unencodable> {
        if !self.newlines.is_mixed() || !canonical.contains('\n') {
            return self.encode(canonical);
        }
        let replaced = self.endings_at(view, canonical.matches('\n').count());
        let ends_same_line = view.of(self.text()).ends_with(b"\n") && canonical.ends_with('\n');
        let mut out = String::with_capacity(canonical.len());
        let mut lines = canonical.split_inclusive('\n').enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let Some(body) = line.strip_suffix('\n') else {
                out.push_str(line);
                continue;
            };
            let ending = match lines.peek() {
                None if ends_same_line => replaced.last,
                _ => replaced.first.get(number).copied().unwrap_or(replaced.last),
            };
            // A blank line that ends in `\n` after one that ends in `\r` would be read as one line ending.
            let joins = ending == Newline::Lf && body.is_empty() && out.ends_with('\r');
            out.push_str(body);
            out.push_str(if joins { Newline::CrLf.as_str() } else { ending.as_str() });
        }
        self.encoding.encode_cow(Cow::Owned(out))
    }

    /// The endings of the lines that a span touches: up to `limit` from the start, and the last one.
    fn endings_at(&self, view: Span, limit: usize) -> TouchedEndings {
        let text = self.text();
        let ending = |at: usize| self.ending_at(at);
        let before = || memchr::memrchr(b'\n', &text[..view.start()]).and_then(ending);
        let after = || memchr::memchr(b'\n', &text[view.end()..]).and_then(|at| ending(view.end() + at));
        let at_line_start = view.end() == 0 || text[view.end() - 1] == b'\n';
        let first = memchr::memchr_iter(b'\n', view.of(text))
            .take(limit)
            .filter_map(|at| ending(view.start() + at))
            .collect();
        let last_inside = || memchr::memrchr(b'\n', view.of(text)).and_then(|at| ending(view.start() + at));
        let last = match at_line_start {
            true if view.is_empty() => before().or_else(after),
            true => last_inside(),
            false => after().or_else(last_inside).or_else(before),
        };
        let last = last.unwrap_or_else(|| self.dominant_newline());
        TouchedEndings { first, last }
    }

    /// The line ending at an offset of the searchable text.
    fn ending_at(&self, view: usize) -> Option<Newline> {
        let raw = self.raw_span(Span::new(view, view + 1))?.of(self.bytes());
        let is = |kind: &Newline| self.encoding.encode(kind.as_str()).is_ok_and(|bytes| bytes == raw);
        [Newline::CrLf, Newline::Lf, Newline::Cr].into_iter().find(is)
    }

    /// Decodes bytes in this file's encoding to canonical text. Invalid bytes become `0xFF`.
    pub fn decode(&self, bytes: &[u8]) -> Vec<u8> {
        match View::new(bytes, self.encoding, 0).0 {
            View::Decoded(decoded) => decoded.into_text(),
            View::Raw { .. } => bytes.to_vec(),
            View::Crlf { .. } => decode_lossy(bytes).replace("\r\n", "\n").into_bytes(),
        }
    }

    /// Whether the file contains bytes that are invalid in its encoding.
    pub fn has_invalid_bytes(&self) -> bool {
        *self.invalid_bytes.get_or_init(|| match self.encoding {
            Encoding::Utf8 => std::str::from_utf8(self.bytes()).is_err(),
            Encoding::Utf16Le | Encoding::Utf16Be | Encoding::Legacy(_) => {
                memchr::memchr(0xFF, self.text()).is_some()
            }
        })
    }

    /// Whether `insert` in place of a span decodes to the intended text and leaves the text around it
    /// unchanged. Invalid bytes next to the span could combine with it.
    pub fn fits_between(&self, at: Span, insert: &[u8]) -> bool {
        if !self.has_invalid_bytes() {
            return true;
        }
        let bytes = self.bytes();
        let left = &bytes[self.unit_before(at.start())..at.start()];
        let right = &bytes[at.end()..bytes.len().min(at.end() + 8)];
        match insert.is_empty() {
            true => self.encoding.decodes_independently(left, right),
            false => {
                self.encoding.decodes_independently(left, insert)
                    && self.encoding.decodes_independently(insert, right)
            }
        }
    }

    /// The start of the character, or of an incomplete one, that ends at a raw offset.
    fn unit_before(&self, raw: usize) -> usize {
        let bytes = self.bytes();
        let lead =
            |back: &usize| raw.checked_sub(*back).is_some_and(|at| at >= self.bom && bytes[at] >= 0xC0);
        let found = match self.encoding {
            Encoding::Utf8 => (1..=3).find(lead).map(|back| raw - back),
            _ => {
                let view = self.view_span(Span::new(raw, raw)).start();
                (1..=4).find_map(|back| self.view.to_raw(bytes, view.checked_sub(back)?))
            }
        };
        found.unwrap_or(raw).min(raw)
    }

    /// The number of lines; a last line without a newline counts.
    pub fn line_count(&self) -> usize {
        match self.blocks() {
            None => self.index().count(self.text()),
            Some((blocks, _)) => blocks.line_count(),
        }
    }

    /// The number, from 1, of the line that contains an offset of the searchable text.
    pub fn line_of(&self, view: usize) -> usize {
        match self.blocks() {
            None => self.index().line_of(self.text(), view),
            Some((blocks, shift)) => blocks.line_of(view + shift),
        }
    }

    /// The span of a line in the searchable text, including its newline; an empty span at the end if there
    /// is no such line.
    pub fn line_span(&self, line: usize) -> Span {
        match self.blocks() {
            None => self.index().span_of(self.text(), line),
            Some((blocks, shift)) => {
                let start = blocks.start_of_line(line).max(shift);
                Span::new(start - shift, blocks.end_of_line_at(start) - shift)
            }
        }
    }

    /// A line as display text, without its newline.
    pub fn line(&self, line: usize) -> Cow<'_, str> {
        let newline = self.view.newline().as_str();
        let without_newline =
            |bytes: &[u8]| bytes.len() - if bytes.ends_with(newline.as_bytes()) { newline.len() } else { 0 };
        match self.text_in(self.line_span(line)) {
            Cow::Borrowed(bytes) => decode_lossy(&bytes[..without_newline(bytes)]),
            Cow::Owned(bytes) => decode_lossy(&bytes[..without_newline(&bytes)]).into_owned().into(),
        }
    }

    /// Whether the text is empty or ends in a newline.
    pub fn ends_with_newline(&self) -> bool {
        match self.blocks() {
            None => self.text().last().is_none_or(|&byte| byte == b'\n'),
            Some((blocks, shift)) => blocks.len() == shift || blocks.last_byte() == Some(b'\n'),
        }
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
    fn the_byte_order_mark_is_not_part_of_the_text() {
        let s = snapshot(b"\xEF\xBB\xBFa\r\nb\r\n");
        assert_eq!(s.text(), b"a\r\nb\r\n");
        assert_eq!(s.needle("a\nb"), "a\r\nb");
        assert_eq!(s.raw_span(Span::new(0, 1)), Some(Span::new(3, 4)));
        assert_eq!(s.line(2), "b");
        assert_eq!(s.line_count(), 2);
    }

    #[test]
    fn reads_and_writes_utf16() {
        let bytes: Vec<u8> =
            [0xFF, 0xFE].into_iter().chain("a\r\nü\r\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let s = snapshot(&bytes);
        assert_eq!(s.text(), "a\nü\n".as_bytes());
        assert_eq!(s.raw_span(Span::new(2, 4)), Some(Span::new(8, 10)));
        assert_eq!(*s.encode("x\n").unwrap(), *b"x\0\r\0\n\0");
    }

    #[test]
    fn an_empty_file_has_no_lines() {
        let s = snapshot(b"");
        assert_eq!(s.line_count(), 0);
        assert!(s.ends_with_newline());
        assert_eq!(s.line_span(1), Span::new(0, 0));
    }
}
