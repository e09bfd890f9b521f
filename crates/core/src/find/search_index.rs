//! The lines of a file as recovery compares them: without blank lines, and each with a hash that ignores whitespace.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use super::punctuation::line_key;
use crate::change::Lines;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;

/// The non-blank lines of part of a file. Positions in it count from 0 and skip blank lines.
pub(super) struct SearchIndex<'a> {
    pub(super) snapshot: &'a Snapshot,
    lines: Vec<Line>,
    /// The positions of each line by its squashed hash; only built for indexes that many hunks share.
    lookup: Option<HashMap<u64, Vec<u32>>>,
}

/// A non-blank line.
struct Line {
    /// Line number, from 1.
    number: usize,
    /// Span in the searchable text, without the newline.
    start: usize,
    end: usize,
    /// See [`squashed_hash`].
    squashed: u64,
}

/// The hash of [`squashed`].
pub(super) fn squashed_hash(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in key.split_whitespace() {
        hasher.write(word.as_bytes());
    }
    hasher.finish()
}

/// A line key with all whitespace removed.
pub(super) fn squashed(key: &str) -> String {
    key.split_whitespace().collect()
}

impl<'a> SearchIndex<'a> {
    /// Indexes the lines that lie completely inside `within`.
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
            let key = line_key(&decoded);
            if !key.is_empty() {
                lines.push(Line { number, start, end: start + body.len(), squashed: squashed_hash(&key) });
            }
            (start, number) = (next, number + 1);
        }
        Self { snapshot, lines, lookup: None }
    }

    /// Like [`Self::new`], with a table for [`Self::occurrences`].
    pub(super) fn with_lookup(within: Span, snapshot: &'a Snapshot) -> Self {
        let mut indexed = Self::new(within, snapshot);
        let mut lookup: HashMap<u64, Vec<u32>> = HashMap::new();
        for (at, line) in (0..).zip(&indexed.lines) {
            lookup.entry(line.squashed).or_default().push(at);
        }
        indexed.lookup = Some(lookup);
        indexed
    }

    /// The positions of the lines with this squashed hash; `None` without a table.
    pub(super) fn occurrences(&self, squashed: u64) -> Option<&[u32]> {
        self.lookup.as_ref().map(|lookup| lookup.get(&squashed).map_or(&[][..], Vec::as_slice))
    }

    /// The number of non-blank lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line number in the file.
    pub(super) fn line_number(&self, at: usize) -> usize {
        self.lines[at].number
    }

    /// The squashed hash of a line.
    pub(super) fn squashed(&self, at: usize) -> u64 {
        self.lines[at].squashed
    }

    /// A line without its newline.
    pub(super) fn text(&self, at: usize) -> Cow<'_, str> {
        let line = &self.lines[at];
        String::from_utf8_lossy(&self.snapshot.text()[line.start..line.end])
    }

    /// Whether a line has this [`line_key`].
    pub(super) fn has_key(&self, at: usize, wanted: &str) -> bool {
        line_key(&self.text(at)) == wanted
    }

    /// Whether two places have identical text.
    pub(super) fn same_lines(&self, one: Lines, other: Lines) -> bool {
        one.count == other.count
            && (0..one.count)
                .all(|n| self.snapshot.line(one.start + n) == self.snapshot.line(other.start + n))
    }

    /// The number of blank lines directly before a line.
    pub(super) fn blank_lines_before(&self, at: usize) -> usize {
        let previous = at.checked_sub(1).map_or(0, |previous| self.lines[previous].number);
        self.lines[at].number - previous - 1
    }

    /// The number of blank lines directly after a line.
    pub(super) fn blank_lines_after(&self, at: usize) -> usize {
        let next = self.lines.get(at + 1).map_or(self.snapshot.line_count() + 1, |next| next.number);
        next - self.lines[at].number - 1
    }
}
