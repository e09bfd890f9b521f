//! Writes new content from old in one pass, or lets the kernel copy where a file system shares blocks.
//!
//! When a file is read again, it is usually known what it should contain. Then the bytes are compared with that instead of
//! being hashed, which is several times faster and at least as strict.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::snapshot::Content;
use slipstitch_core::text::ContentHash;
use slipstitch_core::text::{Piece, Span, Splices};
use slipstitch_platform::files;

use super::error::io_error;

/// Large enough for BLAKE3 to use the widest SIMD instructions.
const MAX_BLOCK: usize = 256 * 1024;
/// Enough for most files; the block grows for longer ones.
const INITIAL_BLOCK: usize = 16 * 1024;

/// From this size on, the kernel copies unchanged spans where that takes no copying: on a file system on which files can
/// share blocks. Elsewhere, one pass that checks the content and copies it is faster than one for each.
const MIN_KERNEL_COPY: usize = 1 << 20;
/// With more splices than this, the unchanged spans are too short for a system call each.
const MAX_KERNEL_SPLICES: usize = 1000;

/// Whether the kernel should copy what `splices` leave unchanged of `from`.
pub(super) fn is_kernel_copy_worthwhile(from: &File, splices: &Splices) -> bool {
    splices.base_len() >= MIN_KERNEL_COPY
        && splices.iter().len() <= MAX_KERNEL_SPLICES
        && files::can_share_ranges(from)
}

/// The hash and length of the content that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digest {
    pub(super) hash: ContentHash,
    pub(super) len: usize,
}

/// What is known about a file before it is read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Expected<'a> {
    /// How long it was when it was opened.
    pub(super) len: u64,
    /// What it probably contains.
    pub(super) content: Option<&'a Content>,
}

/// Applies `splices` to a large file; the kernel copies the unchanged spans.
///
/// The content does not pass through this process, so the caller must check that it is the right one.
pub(super) fn splice_in_kernel(
    path: &FilePath,
    from: &File,
    splices: &Splices,
    mut to: &File,
) -> Result<(), WorkspaceError> {
    for piece in splices.pieces() {
        let copied = match piece {
            Piece::Insert(bytes) => to.write_all(bytes),
            Piece::Keep(span) => copy_span(from, span, to),
        };
        copied.map_err(|error| io_error(path, "write", error))?;
    }
    Ok(())
}

fn copy_span(mut from: &File, span: Span, mut to: &File) -> io::Result<()> {
    let mut at = span.start() as u64;
    let end = span.end() as u64;
    while at < end {
        let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(1 << 30);
        match files::copy_range(from, &mut at, to, want)? {
            // The file has become shorter; the caller's check of the result notices it.
            Some(0) => return Ok(()),
            Some(_) => {}
            None => {
                from.seek(SeekFrom::Start(at))?;
                io::copy(&mut from.take(end - at), &mut to)?;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Applies `splices` while reading `from` once, to its end.
///
/// Returns the digest of what was read. If that is not the content that the splices were made for, the
/// output is garbage and the caller must discard it.
pub(super) fn splice_while_hashing(
    path: &FilePath,
    from: impl Read,
    expected: Expected<'_>,
    splices: &Splices,
    to: impl Write,
) -> Result<Digest, WorkspaceError> {
    let mut reader = HashingReader::new(path, from, expected);
    let mut writer = BufWriter::with_capacity(splices.new_len().clamp(1, MAX_BLOCK), to);
    let failed = |error| io_error(path, "write", error);
    for piece in splices.pieces() {
        match piece {
            Piece::Insert(bytes) => writer.write_all(bytes).map_err(failed)?,
            Piece::Keep(span) => {
                reader.read_until(span.start(), |_| Ok(()))?;
                reader.read_until(span.end(), |block| writer.write_all(block).map_err(failed))?;
            }
        }
    }
    writer.flush().map_err(failed)?;
    reader.finish()
}

/// Hashes `from` to its end.
pub(super) fn digest(
    path: &FilePath,
    from: impl Read,
    expected: Expected<'_>,
) -> Result<Digest, WorkspaceError> {
    HashingReader::new(path, from, expected).finish()
}

/// What is known about the hash of what was read.
enum Progress<'a> {
    /// So far it is the beginning of this content.
    Same(&'a Content),
    Hashed(Box<blake3::Hasher>),
}

/// Reads whole blocks, however short the requested spans are, and hashes or compares each block once.
struct HashingReader<'a, R> {
    path: &'a FilePath,
    from: R,
    progress: Progress<'a>,
    /// How many bytes were read.
    len: usize,
    expected_len: u64,
    is_at_end: bool,
    block: Vec<u8>,
    /// The part of the block that was read and not yet handed out.
    rest: Range<usize>,
    /// The offset of what is handed out next.
    at: usize,
}

impl<'a, R: Read> HashingReader<'a, R> {
    fn new(path: &'a FilePath, from: R, expected: Expected<'a>) -> Self {
        let progress = expected.content.map_or_else(|| Progress::Hashed(Box::default()), Progress::Same);
        Self {
            path,
            from,
            progress,
            len: 0,
            expected_len: expected.len,
            is_at_end: false,
            block: vec![0; INITIAL_BLOCK],
            rest: 0..0,
            at: 0,
        }
    }

    /// Reads up to offset `end` or the end of the file, and hands each block to `consume`.
    fn read_until(
        &mut self,
        end: usize,
        mut consume: impl FnMut(&[u8]) -> Result<(), WorkspaceError>,
    ) -> Result<(), WorkspaceError> {
        while self.at < end {
            if self.rest.is_empty() && !self.read_block()? {
                return Ok(());
            }
            let part = self.rest.start..self.rest.end.min(self.rest.start + (end - self.at));
            self.at += part.len();
            self.rest.start = part.end;
            consume(&self.block[part])?;
        }
        Ok(())
    }

    /// Reads and hashes the next block. Returns whether there was one.
    fn read_block(&mut self) -> Result<bool, WorkspaceError> {
        if self.is_at_end {
            return Ok(false);
        }
        if self.rest.end == self.block.len() && self.block.len() < MAX_BLOCK {
            self.block.resize(self.block.len() * 4, 0);
        }
        loop {
            match self.from.read(&mut self.block) {
                Ok(got) => {
                    self.note(got);
                    self.rest = 0..got;
                    return Ok(got > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error(self.path, "read", error)),
            }
        }
    }

    /// Compares or hashes the first `got` bytes of the block, which were just read.
    fn note(&mut self, got: usize) {
        let (start, end) = (self.len, self.len + got);
        self.len = end;
        // A short read that reaches the expected end has seen the end, so another read is unnecessary.
        self.is_at_end = got < self.block.len() && end as u64 == self.expected_len;
        let read = &self.block[..got];
        match &mut self.progress {
            Progress::Same(expected) if expected.get(start..end) == Some(read) => {}
            Progress::Same(expected) => {
                let mut hasher = blake3::Hasher::new();
                hasher.update(&expected[..start]).update(read);
                self.progress = Progress::Hashed(Box::new(hasher));
            }
            Progress::Hashed(hasher) => {
                hasher.update(read);
            }
        }
    }

    fn finish(mut self) -> Result<Digest, WorkspaceError> {
        self.read_until(usize::MAX, |_| Ok(()))?;
        let hash = match &self.progress {
            Progress::Same(expected) if expected.len() == self.len => expected.hash(),
            Progress::Same(expected) => ContentHash::of(&expected[..self.len]),
            Progress::Hashed(hasher) => ContentHash::finish(hasher),
        };
        Ok(Digest { hash, len: self.len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slipstitch_core::text::{Span, Splice};

    proptest! {
        #[test]
        fn both_copies_equal_splicing_in_memory(
            unit in proptest::collection::vec(any::<u8>(), 1..50),
            times in 1usize..20_000,
            cuts in proptest::collection::vec((any::<u32>(), proptest::collection::vec(any::<u8>(), 0..4)), 0..6),
        ) {
            let text = unit.repeat(times);
            let mut cuts: Vec<_> = cuts.into_iter().map(|(at, ins)| (at as usize % (text.len() + 1), ins)).collect();
            cuts.sort();
            let list = cuts.chunks_exact(2)
                .map(|pair| Splice { at: Span::new(pair[0].0, pair[1].0), insert: pair[0].1.as_slice().into() })
                .collect();
            let splices = Splices::new(text.len(), list).unwrap();
            let path = FilePath::from_record("x").unwrap();
            let mut out = Vec::new();
            let read = splice_while_hashing(&path, text.as_slice(), Expected::default(), &splices, &mut out).unwrap();
            prop_assert_eq!(read, Digest { hash: ContentHash::of(&text), len: text.len() });
            prop_assert_eq!(out, splices.apply(&text));

            let (mut source, mut copy) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
            source.write_all(&text).unwrap();
            splice_in_kernel(&path, &source, &splices, &copy).unwrap();
            copy.rewind().unwrap();
            let mut out = Vec::new();
            copy.read_to_end(&mut out).unwrap();
            prop_assert_eq!(out, splices.apply(&text));
        }
    }

    /// Counts the calls that would be system calls.
    #[derive(Default)]
    struct Counting<T> {
        inner: T,
        calls: usize,
    }

    impl<T: Read> Read for &mut Counting<T> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.calls += 1;
            self.inner.read(to)
        }
    }

    impl<T: Write> Write for &mut Counting<T> {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            self.calls += 1;
            self.inner.write(from)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.inner.flush()
        }
    }

    #[test]
    fn many_splices_are_copied_in_few_large_blocks() {
        let text = b"0123456789abcdef\n".repeat(200_000);
        let list = (0..200_000)
            .map(|line| Splice { at: Span::new(line * 17 + 4, line * 17 + 6), insert: "--".into() })
            .collect();
        let splices = Splices::new(text.len(), list).unwrap();
        let path = FilePath::from_record("x").unwrap();
        let mut from = Counting { inner: text.as_slice(), calls: 0 };
        let mut to = Counting::<Vec<u8>>::default();
        splice_while_hashing(&path, &mut from, Expected::default(), &splices, &mut to).unwrap();
        assert_eq!(to.inner, splices.apply(&text));
        let blocks = text.len() / MAX_BLOCK;
        assert!(from.calls <= blocks + 5, "{} reads", from.calls);
        assert!(to.calls <= blocks + 5, "{} writes", to.calls);
    }

    #[test]
    fn reports_the_digest_of_a_source_that_is_too_short() {
        let path = FilePath::from_record("x").unwrap();
        let splices = Splices::one(10, Span::new(9, 10), b"!".to_vec());
        let read =
            splice_while_hashing(&path, &b"short"[..], Expected::default(), &splices, io::sink()).unwrap();
        assert_eq!(read, Digest { hash: ContentHash::of(b"short"), len: 5 });
    }

    #[test]
    fn a_file_of_the_expected_length_is_read_once() {
        let path = FilePath::from_record("x").unwrap();
        for (read, len, calls) in [(10, 10, 1), (10, 9, 2), (10, 11, 2), (10, 0, 2), (0, 0, 1)] {
            let text = vec![b'x'; read];
            let mut from = Counting { inner: text.as_slice(), calls: 0 };
            let found = digest(&path, &mut from, Expected { len, content: None }).unwrap();
            assert_eq!((found.len, from.calls), (read, calls), "{len}");
        }
    }

    #[test]
    fn what_was_read_is_recognised_whatever_was_expected() {
        let path = FilePath::from_record("x").unwrap();
        let text = b"0123456789abcdef\n".repeat(40_000);
        let with = |at: usize, byte: u8| {
            let mut other = text.clone();
            other[at] = byte;
            other
        };
        let longer = [text.as_slice(), b"more"].concat();
        let expectations = [
            text.clone(),
            with(0, b'x'),
            with(300_000, b'x'),
            text[..text.len() - 1].to_vec(),
            longer,
            Vec::new(),
        ];
        for expected in expectations.map(Content::from) {
            for read in [text.clone(), Vec::new(), text[..100].to_vec(), with(text.len() - 1, b'x')] {
                for len in [0, read.len(), expected.len()].map(|len| len as u64) {
                    let expected = Expected { len, content: Some(&expected) };
                    let found = digest(&path, read.as_slice(), expected).unwrap();
                    assert_eq!(found, Digest { hash: ContentHash::of(&read), len: read.len() });
                }
            }
        }
    }
}
