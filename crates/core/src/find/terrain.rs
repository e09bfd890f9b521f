//! The file's lines as recovery sees them: those that say something, each known by what it says.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use super::punctuation::key;
use crate::change::Lines;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// The lines of a part of a file that are not blank.
pub(super) struct Terrain<'a> {
    pub(super) snapshot: &'a Snapshot,
    lines: Vec<Line>,
    /// Where lines stand, by what they say white space aside; for terrains that are asked often.
    index: Option<HashMap<u64, Vec<u32>>>,
}

/// A line that is not blank.
struct Line {
    /// From 1.
    number: usize,
    /// In the searchable text, without the newline.
    start: usize,
    end: usize,
    /// What it says, white space aside, as a number.
    squashed: u64,
}

/// What a line says, white space aside, as a number.
pub(super) fn squashed_hash(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in key.split_whitespace() {
        hasher.write(word.as_bytes());
    }
    hasher.finish()
}

/// What a line says, white space aside.
pub(super) fn squashed(key: &str) -> String {
    key.split_whitespace().collect()
}

impl<'a> Terrain<'a> {
    /// Reads the whole lines of a part of the file.
    pub(super) fn new(within: Span, snapshot: &'a Snapshot) -> Self {
        let text = snapshot.text();
        let newline = snapshot.needle("\n");
        let mut lines = Vec::new();
        let mut start = within.start();
        let mut number = snapshot.line_of(start);
        while start < within.end() {
            let next = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
            if next > within.end() {
                break;
            }
            let bytes = &text[start..next];
            let body = bytes.strip_suffix(newline.as_bytes()).unwrap_or(bytes);
            let decoded = String::from_utf8_lossy(body);
            let key = key(&decoded);
            if !key.is_empty() {
                lines.push(Line { number, start, end: start + body.len(), squashed: squashed_hash(&key) });
            }
            (start, number) = (next, number + 1);
        }
        Self { snapshot, lines, index: None }
    }

    /// The same with an index of its lines.
    pub(super) fn indexed(within: Span, snapshot: &'a Snapshot) -> Self {
        let mut terrain = Self::new(within, snapshot);
        let mut index: HashMap<u64, Vec<u32>> = HashMap::new();
        for (at, line) in (0..).zip(&terrain.lines) {
            index.entry(line.squashed).or_default().push(at);
        }
        terrain.index = Some(index);
        terrain
    }

    /// Where lines that say this stand, white space aside; `None` without an index.
    pub(super) fn places(&self, squashed: u64) -> Option<&[u32]> {
        self.index.as_ref().map(|index| index.get(&squashed).map_or(&[][..], Vec::as_slice))
    }

    /// How many lines say something.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The number of a line in the file.
    pub(super) fn number(&self, at: usize) -> usize {
        self.lines[at].number
    }

    /// What a line says, white space aside, as a number.
    pub(super) fn squashed(&self, at: usize) -> u64 {
        self.lines[at].squashed
    }

    /// A line without its newline.
    pub(super) fn text(&self, at: usize) -> Cow<'_, str> {
        let line = &self.lines[at];
        String::from_utf8_lossy(&self.snapshot.text()[line.start..line.end])
    }

    /// Whether a line says this.
    pub(super) fn says(&self, at: usize, wanted: &str) -> bool {
        key(&self.text(at)) == wanted
    }

    /// Whether two places are the same text.
    pub(super) fn same_lines(&self, one: Lines, other: Lines) -> bool {
        one.count == other.count
            && (0..one.count)
                .all(|n| self.snapshot.line(one.start + n) == self.snapshot.line(other.start + n))
    }

    /// How many blank lines stand before a line.
    pub(super) fn blanks_before(&self, at: usize) -> usize {
        let previous = at.checked_sub(1).map_or(0, |previous| self.lines[previous].number);
        self.lines[at].number - previous - 1
    }

    /// How many blank lines stand after a line.
    pub(super) fn blanks_after(&self, at: usize) -> usize {
        let next = self.lines.get(at + 1).map_or(self.snapshot.line_count() + 1, |next| next.number);
        next - self.lines[at].number - 1
    }
}
