//! Line numbers without a table of all lines.

use crate::Span;

/// Size of the blocks whose newlines are counted.
const BLOCK: usize = 4096;

/// The number of `\n` before each block of a text, to convert between offsets and line numbers.
#[derive(Debug)]
pub struct LineIndex {
    before: Vec<usize>,
    newlines: usize,
}

impl LineIndex {
    /// Indexes `text`. The other methods must be given the same text.
    pub fn new(text: &[u8]) -> Self {
        let mut newlines = 0;
        let before = text
            .chunks(BLOCK)
            .map(|block| {
                let here = newlines;
                newlines += memchr::memchr_iter(b'\n', block).count();
                here
            })
            .collect();
        Self { before, newlines }
    }

    /// The number of lines; a last line without a newline counts.
    pub fn count(&self, text: &[u8]) -> usize {
        self.newlines + usize::from(text.last().is_some_and(|&byte| byte != b'\n'))
    }

    /// The number, from 1, of the line that contains the byte at `at`.
    pub fn line_of(&self, text: &[u8], at: usize) -> usize {
        let block = at / BLOCK;
        match self.before.get(block) {
            Some(before) => before + memchr::memchr_iter(b'\n', &text[block * BLOCK..at]).count() + 1,
            None => self.newlines + 1,
        }
    }

    /// Where line `line` starts, or the end of the text if there is no such line.
    pub fn start_of(&self, text: &[u8], line: usize) -> usize {
        let Some(wanted) = line.checked_sub(2) else { return 0 };
        if wanted >= self.newlines {
            return text.len();
        }
        let block = self.before.partition_point(|&before| before <= wanted) - 1;
        let from = block * BLOCK;
        let newline = memchr::memchr_iter(b'\n', &text[from..]).nth(wanted - self.before[block]);
        newline.map_or(text.len(), |at| from + at + 1)
    }

    /// The span of line `line`, including its newline.
    pub fn span_of(&self, text: &[u8], line: usize) -> Span {
        let start = self.start_of(text, line);
        let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
        Span::new(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_counting(lines in proptest::collection::vec("[ab]{0,300}", 0..200), end in any::<bool>()) {
            let mut text = lines.join("\n");
            if end { text.push('\n'); }
            let text = text.as_bytes();
            let index = LineIndex::new(text);
            let spans: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
            prop_assert_eq!(index.count(text), spans.len());
            let mut start = 0;
            for (n, line) in spans.iter().enumerate() {
                prop_assert_eq!(index.span_of(text, n + 1), Span::new(start, start + line.len()));
                prop_assert_eq!(index.line_of(text, start), n + 1);
                prop_assert_eq!(index.line_of(text, start + line.len() - 1), n + 1);
                start += line.len();
            }
            prop_assert_eq!(index.start_of(text, spans.len() + 5), text.len());
        }
    }
}
