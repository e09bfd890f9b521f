//! A large text that stays in its file. Blocks are read when they are needed, and each is compared with the hash that the first
//! pass over the file recorded for it: what is read later is what was read then, or the snapshot says that the file has changed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use slipstitch_text::{BlockHashes, ContentHash, Span, Splices};

use super::scan::Scan;
use super::source::{ContentSource, fill};

/// How many blocks are kept.
const MAX_CACHED: usize = 4;

/// A text in blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    source: Arc<dyn ContentSource>,
    hashes: BlockHashes,
    newlines_before: Vec<usize>,
    newlines: usize,
    last_byte: Option<u8>,
    matches: Vec<(String, Option<Vec<usize>>)>,
    cache: Mutex<VecDeque<(usize, Arc<Vec<u8>>)>>,
    whole: OnceLock<Vec<u8>>,
    changed: AtomicBool,
}

impl Blocks {
    pub(super) fn new(source: Arc<dyn ContentSource>, scan: Scan) -> Self {
        Self {
            source,
            hashes: scan.hashes,
            newlines_before: scan.newlines_before,
            newlines: scan.newlines.lf + scan.newlines.crlf,
            last_byte: scan.last_byte,
            matches: scan.matches,
            cache: Mutex::default(),
            whole: OnceLock::new(),
            changed: AtomicBool::new(false),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.text_len()
    }

    pub(super) fn hash(&self) -> ContentHash {
        self.hashes.root()
    }

    pub(super) fn last_byte(&self) -> Option<u8> {
        self.last_byte
    }

    /// Whether the file was found to have changed since the first pass.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Where a text occurs, if the first pass searched for it and kept all matches.
    pub(super) fn matches(&self, text: &str) -> Option<&[usize]> {
        self.matches.iter().find(|(known, _)| known == text)?.1.as_deref()
    }

    /// Whether the whole text is in memory.
    pub(super) fn is_loaded(&self) -> bool {
        self.whole.get().is_some()
    }

    /// Reads the whole text into memory, unless there is too little of it.
    pub(super) fn try_load(&self) -> bool {
        if !self.is_loaded() {
            // Given back at once: what matters is that the system has it.
            let mut room: Vec<u8> = Vec::new();
            if room.try_reserve_exact(self.len()).is_err() {
                return false;
            }
        }
        self.whole();
        true
    }

    /// The whole text, in memory from now on. If the file has changed, the changed blocks are NUL bytes.
    pub(super) fn whole(&self) -> &[u8] {
        self.whole.get_or_init(|| {
            let mut all = vec![0; self.len()];
            for (number, block) in all.chunks_mut(BlockHashes::BLOCK).enumerate() {
                self.read_block(number, block);
            }
            all
        })
    }

    /// Reads a block, or fills it with NUL bytes if the file has changed.
    fn read_block(&self, number: usize, into: &mut [u8]) {
        let is_read = fill(&*self.source, self.hashes.block(number).start(), into).is_ok();
        if !is_read || !self.hashes.verify(number, into) {
            self.changed.store(true, Ordering::Relaxed);
            into.fill(0);
        }
    }

    fn block(&self, number: usize) -> Arc<Vec<u8>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = cache.iter().find(|(cached, _)| *cached == number) {
            return Arc::clone(block);
        }
        let mut block = vec![0; self.hashes.block(number).len()];
        self.read_block(number, &mut block);
        let block = Arc::new(block);
        if cache.len() == MAX_CACHED {
            cache.pop_front();
        }
        cache.push_back((number, Arc::clone(&block)));
        block
    }

    /// Appends the bytes of a span to a buffer.
    pub(super) fn append(&self, span: Span, to: &mut Vec<u8>) {
        let mut at = span.start();
        while at < span.end() {
            let (number, within) = (at / BlockHashes::BLOCK, at % BlockHashes::BLOCK);
            let block = self.block(number);
            let part = &block[within..block.len().min(within + span.end() - at)];
            to.extend_from_slice(part);
            at += part.len();
        }
    }

    /// The hash of the text with `splices` applied.
    pub(super) fn hash_after(&self, splices: &Splices) -> ContentHash {
        let read = |span, to: &mut Vec<u8>| {
            self.append(span, to);
            Ok::<(), std::convert::Infallible>(())
        };
        match self.hashes.hash_after(splices, read) {
            Ok(hash) => hash,
            Err(never) => match never {},
        }
    }

    pub(super) fn line_count(&self) -> usize {
        self.newlines + usize::from(self.last_byte.is_some_and(|byte| byte != b'\n'))
    }

    /// The number, from 1, of the line that contains an offset.
    pub(super) fn line_of(&self, at: usize) -> usize {
        let number = at / BlockHashes::BLOCK;
        match self.newlines_before.get(number) {
            Some(before) => {
                let block = self.block(number);
                before + memchr::memchr_iter(b'\n', &block[..at - number * BlockHashes::BLOCK]).count() + 1
            }
            None => self.newlines + 1,
        }
    }

    /// Where a line starts, or the end of the text if there is no such line.
    pub(super) fn start_of_line(&self, line: usize) -> usize {
        let Some(wanted) = line.checked_sub(2) else { return 0 };
        if wanted >= self.newlines {
            return self.len();
        }
        let number = self.newlines_before.partition_point(|&before| before <= wanted) - 1;
        let newline =
            memchr::memchr_iter(b'\n', &self.block(number)).nth(wanted - self.newlines_before[number]);
        newline.map_or(self.len(), |at| number * BlockHashes::BLOCK + at + 1)
    }

    /// The end of the line that contains an offset, including its newline.
    pub(super) fn end_of_line_at(&self, at: usize) -> usize {
        let mut from = at;
        while from < self.len() {
            let number = from / BlockHashes::BLOCK;
            let block = self.block(number);
            let start = number * BlockHashes::BLOCK;
            if let Some(newline) = memchr::memchr(b'\n', &block[from - start..]) {
                return from + newline + 1;
            }
            from = start + block.len();
        }
        self.len()
    }

    /// The start of the line that contains an offset.
    pub(super) fn start_of_line_at(&self, at: usize) -> usize {
        let mut to = at;
        while to > 0 {
            let number = (to - 1) / BlockHashes::BLOCK;
            let start = number * BlockHashes::BLOCK;
            if let Some(newline) = memchr::memrchr(b'\n', &self.block(number)[..to - start]) {
                return start + newline + 1;
            }
            to = start;
        }
        0
    }
}
