//! Parts of a snapshot. These methods read no more of a large file than they need.

use std::borrow::Cow;

use super::{Bytes, Snapshot};
use slipstitch_text::{ContentHash, Span, Splices};

impl Snapshot {
    /// The number of bytes of the file.
    pub fn byte_len(&self) -> usize {
        match &self.bytes {
            Bytes::Whole(bytes) => bytes.len(),
            Bytes::Blocks(blocks) => blocks.len(),
        }
    }

    /// The number of bytes of the searchable text.
    pub fn text_len(&self) -> usize {
        match self.blocks() {
            None => self.text().len(),
            Some((blocks, shift)) => blocks.len() - shift,
        }
    }

    /// A span of the file's bytes.
    pub fn bytes_in(&self, raw: Span) -> Cow<'_, [u8]> {
        match self.blocks() {
            None => Cow::Borrowed(raw.of(self.bytes())),
            Some((blocks, _)) => {
                let mut out = Vec::with_capacity(raw.len());
                blocks.append(raw, &mut out);
                Cow::Owned(out)
            }
        }
    }

    /// A span of the searchable text.
    pub fn text_in(&self, view: Span) -> Cow<'_, [u8]> {
        match self.blocks() {
            None => Cow::Borrowed(view.of(self.text())),
            Some((_, shift)) => self.bytes_in(Span::new(view.start() + shift, view.end() + shift)),
        }
    }

    /// The byte of the searchable text before an offset.
    pub fn byte_before(&self, view: usize) -> Option<u8> {
        let last = |bytes: Cow<'_, [u8]>| bytes.last().copied();
        view.checked_sub(1).and_then(|start| last(self.text_in(Span::new(start, view))))
    }

    /// Where a text occurs in the searchable text, including overlapping matches, if that is already known.
    pub fn known_matches(&self, needle: &str) -> Option<&[usize]> {
        self.blocks()?.0.matches(needle)
    }

    /// The hash of the file with `splices` applied.
    pub fn hash_after(&self, splices: &Splices) -> ContentHash {
        match self.blocks() {
            None => splices.hash_after(self.bytes()),
            Some((blocks, _)) => blocks.hash_after(splices),
        }
    }

    /// The splices that turn the file with `splices` applied back into this one.
    pub fn invert(&self, splices: &Splices) -> Splices {
        splices.invert_with(|span| self.bytes_in(span).into())
    }

    /// A span of the file's bytes, widened to whole lines and by up to `count` lines on each side.
    pub fn lines_around(&self, raw: Span, count: usize) -> Span {
        let (mut start, mut end) = (self.line_start(raw.start()), self.line_end(raw.end()));
        for _ in 0..count {
            start = self.line_start(start.saturating_sub(1));
            end = self.line_end(end);
        }
        Span::new(start, end)
    }

    /// Where the line of a raw offset starts. Lines end at `\n`.
    fn line_start(&self, raw: usize) -> usize {
        match self.blocks() {
            None => memchr::memrchr(b'\n', &self.bytes()[..raw]).map_or(0, |at| at + 1),
            Some((blocks, _)) => blocks.start_of_line_at(raw),
        }
    }

    /// Where the line of a raw offset ends. Lines end at `\n`.
    fn line_end(&self, raw: usize) -> usize {
        match self.blocks() {
            None => memchr::memchr(b'\n', &self.bytes()[raw..]).map_or(self.byte_len(), |at| raw + at + 1),
            Some((blocks, _)) => blocks.end_of_line_at(raw),
        }
    }
}
