//! The lines of a file as the finder compares them: without blank lines, and each with a hash that ignores whitespace.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;
use std::rc::Rc;

use foldhash::fast::RandomState;
use foldhash::quality::FixedState;

use super::limits::{MAX_UNIT, MAX_UNIT_LINES};
use super::punctuation::line_key;
use crate::change::Lines;
use crate::snapshot::Snapshot;
use slipstitch_text::Span;
use slipstitch_text::display::decode_lossy;

/// The non-blank lines of a file. Computed once and shared by all searches in it.
pub(super) struct IndexedLines {
    lines: Vec<Line>,
    /// The positions of each line by its squashed hash; built when a search asks for it.
    lookup: OnceCell<HashMap<u64, Vec<u32>, RandomState>>,
    /// The width of one level of indentation, in spaces.
    unit: OnceCell<Option<usize>>,
    /// Whether so many searches share the index that the lookup table pays off.
    many_searches: bool,
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

impl IndexedLines {
    pub(super) fn new(snapshot: &Snapshot, many_searches: bool) -> Rc<Self> {
        let text = snapshot.text();
        let newline = snapshot.needle("\n");
        let mut lines = Vec::new();
        let mut scratch = Vec::new();
        let (mut start, mut number) = (0, 1);
        while start < text.len() {
            let next = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
            let bytes = &text[start..next];
            let body = bytes.strip_suffix(newline.as_bytes()).unwrap_or(bytes);
            if let Some(squashed) = squashed_line_hash(body, &mut scratch) {
                lines.push(Line { number, start, end: start + body.len(), squashed });
            }
            (start, number) = (next, number + 1);
        }
        Rc::new(Self { lines, lookup: OnceCell::new(), unit: OnceCell::new(), many_searches })
    }

    fn lookup(&self) -> Option<&HashMap<u64, Vec<u32>, RandomState>> {
        self.many_searches.then(|| {
            self.lookup.get_or_init(|| {
                let mut lookup: HashMap<u64, Vec<u32>, RandomState> = HashMap::default();
                for (at, line) in (0..).zip(&self.lines) {
                    lookup.entry(line.squashed).or_default().push(at);
                }
                lookup
            })
        })
    }
}

/// The hash of [`squashed`].
pub(super) fn squashed_hash(key: &str) -> u64 {
    hash_bytes(squashed(key).as_bytes())
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    FixedState::default().hash_one(bytes)
}

/// The [`squashed_hash`] of a line's key; `None` if the line is blank. `scratch` is a buffer.
fn squashed_line_hash(line: &[u8], scratch: &mut Vec<u8>) -> Option<u64> {
    if !line.is_ascii() {
        let decoded = decode_lossy(line);
        let key = line_key(&decoded);
        return (!key.is_empty()).then(|| squashed_hash(&key));
    }
    // Most lines. ASCII has no look-alikes, and these are all its whitespace.
    scratch.clear();
    scratch.extend(line.iter().filter(|byte| !matches!(byte, b' ' | b'\t'..=b'\r')));
    (!scratch.is_empty()).then(|| hash_bytes(scratch))
}

/// A line key with all whitespace removed.
pub(super) fn squashed(key: &str) -> String {
    key.split_whitespace().collect()
}

/// The part of a file that is searched. Positions in it count from 0 and skip blank lines.
#[derive(Clone)]
pub(super) struct SearchIndex<'a> {
    pub(super) snapshot: &'a Snapshot,
    all: Rc<IndexedLines>,
    part: Range<usize>,
}

impl<'a> SearchIndex<'a> {
    /// The whole file.
    pub(super) fn new(snapshot: &'a Snapshot, all: Rc<IndexedLines>) -> Self {
        let part = 0..all.lines.len();
        Self { snapshot, all, part }
    }

    /// The lines that lie completely inside a span of the searchable text.
    pub(super) fn within(&self, span: Span) -> Self {
        let lines = &self.all.lines;
        let from = lines.partition_point(|line| line.start < span.start());
        let to = lines.partition_point(|line| line.end <= span.end());
        Self { part: from..to.max(from), ..self.clone() }
    }

    /// The positions of the lines with this squashed hash, in order; `None` without a lookup table.
    pub(super) fn occurrences(&self, squashed: u64) -> Option<impl ExactSizeIterator<Item = usize>> {
        let found = self.all.lookup()?.get(&squashed).map_or(&[][..], Vec::as_slice);
        let from = found.partition_point(|&at| (at as usize) < self.part.start);
        let to = found.partition_point(|&at| (at as usize) < self.part.end);
        Some(found[from..to].iter().map(|&at| at as usize - self.part.start))
    }

    /// Whether exactly one line has this squashed hash.
    pub(super) fn occurs_once(&self, squashed: u64) -> bool {
        match self.occurrences(squashed) {
            Some(known) => known.len() == 1,
            None => (0..self.len()).filter(|&at| self.squashed(at) == squashed).take(2).count() == 1,
        }
    }

    /// Whether exactly one line of the whole file has this squashed hash.
    pub(super) fn occurs_once_in_file(&self, squashed: u64) -> bool {
        Self { part: 0..self.all.lines.len(), ..self.clone() }.occurs_once(squashed)
    }

    /// Whether fewer than `count` lines have this squashed hash.
    pub(super) fn occurs_less_often(&self, squashed: u64, count: usize) -> bool {
        match self.occurrences(squashed) {
            Some(known) => known.len() < count,
            None => (0..self.len()).filter(|&at| self.squashed(at) == squashed).take(count).count() < count,
        }
    }

    /// Whether a line with this squashed hash is at a position of some kind.
    pub(super) fn occurs_where(&self, squashed: u64, is_at: impl FnMut(usize) -> bool) -> bool {
        match self.occurrences(squashed) {
            Some(mut known) => known.any(is_at),
            None => (0..self.len()).filter(|&at| self.squashed(at) == squashed).any(is_at),
        }
    }

    /// The width of one level of indentation: the most common step to a deeper line. `None` if the file is indented with
    /// tabs, or hardly at all.
    pub(super) fn indent_unit(&self) -> Option<usize> {
        *self.all.unit.get_or_init(|| {
            let text = self.snapshot.text();
            let width = |line: &Line| {
                let body = &text[line.start..line.end];
                let blanks = body.iter().take_while(|&&byte| byte == b' ').count();
                (body.get(blanks) != Some(&b'\t')).then_some(blanks)
            };
            let mut steps = [0usize; MAX_UNIT + 1];
            for two in self.all.lines[..self.all.lines.len().min(MAX_UNIT_LINES)].windows(2) {
                if let (Some(before), Some(after)) = (width(&two[0]), width(&two[1]))
                    && let Some(step) = after.checked_sub(before).filter(|step| (2..=MAX_UNIT).contains(step))
                {
                    steps[step] += 1;
                }
            }
            let (unit, count) = steps.iter().copied().enumerate().max_by_key(|&(_, count)| count)?;
            (count >= 2 && count * 2 > steps.iter().sum()).then_some(unit)
        })
    }

    /// The number of non-blank lines.
    pub(super) fn len(&self) -> usize {
        self.part.len()
    }

    fn line(&self, at: usize) -> &Line {
        &self.all.lines[self.part.start + at]
    }

    /// The line number in the file.
    pub(super) fn line_number(&self, at: usize) -> usize {
        self.line(at).number
    }

    /// The position of a line of the file; `None` if it is blank or outside the searched part.
    pub(super) fn position_of_line(&self, number: usize) -> Option<usize> {
        self.all.lines[self.part.clone()].binary_search_by_key(&number, |line| line.number).ok()
    }

    /// The squashed hash of a line.
    pub(super) fn squashed(&self, at: usize) -> u64 {
        self.line(at).squashed
    }

    /// A line without its newline.
    pub(super) fn text(&self, at: usize) -> Cow<'a, str> {
        let Line { start, end, .. } = *self.line(at);
        decode_lossy(&self.snapshot.text()[start..end])
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
        let here = self.part.start + at;
        let previous = here.checked_sub(1).map_or(0, |previous| self.all.lines[previous].number);
        self.all.lines[here].number - previous - 1
    }

    /// The number of blank lines directly after a line.
    pub(super) fn blank_lines_after(&self, at: usize) -> usize {
        let here = self.part.start + at;
        let next = self.all.lines.get(here + 1).map_or(self.snapshot.line_count() + 1, |next| next.number);
        next - self.all.lines[here].number - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_to_hash_a_line_agree(line in "[ab \t\u{b}\u{c}\r\u{1c}\u{85}\u{a0}“”…é]{0,12}") {
            let key = line_key(&line);
            let expected = (!key.is_empty()).then(|| squashed_hash(&key));
            prop_assert_eq!(squashed_line_hash(line.as_bytes(), &mut Vec::new()), expected);
        }

        #[test]
        fn ascii_lines_hash_like_their_keys(line in "[ -~\t\u{b}\u{c}\r\u{1c}]{0,12}") {
            let key = line_key(&line);
            let expected = (!key.is_empty()).then(|| squashed_hash(&key));
            prop_assert_eq!(squashed_line_hash(line.as_bytes(), &mut vec![1]), expected);
        }
    }
}
