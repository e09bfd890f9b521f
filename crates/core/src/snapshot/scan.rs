//! One pass over a large file: hashes it, counts its lines, checks its encoding and searches it, block by block, while each
//! block is in the processor's cache.

use std::io;

use memchr::memmem::Finder;
use slipstitch_text::{BlockHasher, BlockHashes, NewlineCounts};

use super::source::{ContentSource, fill};

/// A text that occurs more often is searched for in memory instead.
const MAX_MATCHES: usize = 1000;

/// What a pass over a file found.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) hashes: BlockHashes,
    pub(super) newlines: NewlineCounts,
    /// The number of `\n` before each block.
    pub(super) newlines_before: Vec<usize>,
    pub(super) last_byte: Option<u8>,
    /// The length of the byte order mark.
    pub(super) bom: usize,
    /// Every occurrence of each text that was searched for, including overlapping ones, by its offset after the byte order mark;
    /// `None` if there are too many.
    pub(super) matches: Vec<(String, Option<Vec<usize>>)>,
}

/// Scans a file; `None` if it is not UTF-8 text without NUL bytes.
pub(super) fn scan(source: &dyn ContentSource, needles: &[String]) -> io::Result<Option<Scan>> {
    let len = source.content_len();
    let mut state = State::new(len, needles);
    let longest = needles.iter().map(String::len).max().unwrap_or(0);
    // What a match or a character that the next block continues may start with.
    let carry = longest.max(4) - 1;
    let mut buffer = vec![0; carry + BlockHashes::BLOCK.min(len)];
    let mut carried = 0;
    let mut at = 0;
    while at < len {
        let size = BlockHashes::BLOCK.min(len - at);
        let start = carry - carried;
        fill(source, at, &mut buffer[carry..carry + size])?;
        if !state.add(&buffer[start..carry + size], carried, at) {
            return Ok(None);
        }
        at += size;
        let next = carry.min(carried + size);
        buffer.copy_within(carry + size - next..carry + size, carry - next);
        carried = next;
    }
    Ok(state.finish())
}

struct State<'n> {
    hasher: BlockHasher,
    newlines: NewlineCounts,
    newlines_before: Vec<usize>,
    lines: usize,
    last_byte: Option<u8>,
    bom: usize,
    /// How many bytes of an incomplete character the last block ended with.
    incomplete: usize,
    finders: Vec<(&'n String, Finder<'n>, Option<Vec<usize>>)>,
}

impl<'n> State<'n> {
    fn new(len: usize, needles: &'n [String]) -> Self {
        Self {
            hasher: BlockHasher::new(len),
            newlines: NewlineCounts::default(),
            newlines_before: Vec::with_capacity(len.div_ceil(BlockHashes::BLOCK)),
            lines: 0,
            last_byte: None,
            bom: 0,
            incomplete: 0,
            finders: needles.iter().map(|text| (text, Finder::new(text), Some(Vec::new()))).collect(),
        }
    }

    /// Adds the block at `at`, of which `window` also has the `carried` bytes before it. Returns whether the file may be text.
    fn add(&mut self, window: &[u8], carried: usize, at: usize) -> bool {
        let block = &window[carried..];
        self.hasher.push(block);
        if at == 0 && block.starts_with(b"\xEF\xBB\xBF") {
            self.bom = 3;
        }
        self.newlines_before.push(self.lines);
        let is_text = self.add_newlines(block) && self.add_characters(&window[carried - self.incomplete..]);
        self.last_byte = block.last().copied();
        for (_, finder, starts) in &mut self.finders {
            if let Some(found) = starts
                && !find_all(finder, window, carried, at, found)
            {
                *starts = None;
            }
        }
        is_text
    }

    /// Counts line endings. Returns whether there is no NUL byte.
    fn add_newlines(&mut self, block: &[u8]) -> bool {
        let counts = match memchr::memchr2(0, b'\r', block) {
            None => NewlineCounts { lf: memchr::memchr_iter(b'\n', block).count(), ..Default::default() },
            Some(at) if block[at] == 0 || memchr::memchr(0, block).is_some() => return false,
            Some(_) => NewlineCounts::of(block),
        };
        self.lines += counts.lf + counts.crlf;
        self.newlines.lf += counts.lf;
        self.newlines.crlf += counts.crlf;
        self.newlines.cr += counts.cr;
        if self.last_byte == Some(b'\r') && block.starts_with(b"\n") {
            self.newlines.cr -= 1;
            self.newlines.lf -= 1;
            self.newlines.crlf += 1;
        }
        true
    }

    /// Checks that bytes are UTF-8, apart from a character at their end that the next block may complete.
    fn add_characters(&mut self, bytes: &[u8]) -> bool {
        self.incomplete = match std::str::from_utf8(bytes) {
            Ok(_) => 0,
            Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
            Err(_) => return false,
        };
        true
    }

    fn finish(self) -> Option<Scan> {
        (self.incomplete == 0).then(|| Scan {
            hashes: self.hasher.finish(),
            newlines: self.newlines,
            newlines_before: self.newlines_before,
            last_byte: self.last_byte,
            bom: self.bom,
            matches: self
                .finders
                .into_iter()
                .map(|(text, _, starts)| (text.clone(), starts.map(|starts| without_bom(starts, self.bom))))
                .collect(),
        })
    }
}

/// Offsets after the byte order mark, which is not part of the text.
fn without_bom(starts: Vec<usize>, bom: usize) -> Vec<usize> {
    starts.into_iter().filter_map(|start| start.checked_sub(bom)).collect()
}

/// Adds the matches that end in the block at `at`. Returns whether they are few enough to keep.
fn find_all(finder: &Finder<'_>, window: &[u8], carried: usize, at: usize, found: &mut Vec<usize>) -> bool {
    let mut from = carried - carried.min(finder.needle().len() - 1);
    while let Some(next) = finder.find(&window[from..]) {
        if found.len() == MAX_MATCHES {
            return false;
        }
        found.push(at + from + next - carried);
        from += next + 1;
    }
    true
}
