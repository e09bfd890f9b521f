//! New content out of old: small files in one pass, large ones by the kernel.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use rustix::io::Errno;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::text::ContentHash;
use slipstitch_core::text::{Piece, Span, Splices};

use super::error::refusal;

/// Large enough for BLAKE3 to use the whole width of the processor.
const BLOCK: usize = 256 * 1024;
/// Enough for most files; it grows with those that are longer.
const FIRST_BLOCK: usize = 16 * 1024;

/// From this size on the kernel copies what stays: it does not pass through this process, and on a file
/// system that shares blocks it is not copied at all.
const BY_KERNEL: usize = 1 << 20;
/// With more splices than this, what stays is in too small pieces for that.
const MAX_PIECES: usize = 1000;

/// Whether the kernel should copy what `splices` leave as it is.
pub(super) fn by_kernel(splices: &Splices) -> bool {
    splices.base_len() >= BY_KERNEL && splices.iter().len() <= MAX_PIECES
}

/// The hash and the length of what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) hash: ContentHash,
    pub(super) len: usize,
}

/// Writes what `splices` make of a large file, whose hash is known: what stays is copied by the kernel.
pub(super) fn splice(
    path: &FilePath,
    from: &File,
    splices: &Splices,
    to: &mut File,
) -> Result<(), WorkspaceError> {
    for piece in splices.pieces() {
        let copied = match piece {
            Piece::Insert(bytes) => to.write_all(bytes),
            Piece::Keep(span) => copy_span(from, span, to),
        };
        copied.map_err(|error| refusal(path, "write", error))?;
    }
    Ok(())
}

fn copy_span(mut from: &File, span: Span, to: &mut File) -> io::Result<()> {
    let mut at = span.start() as u64;
    let end = span.end() as u64;
    while at < end {
        let want = usize::try_from(end - at).unwrap_or(usize::MAX).min(1 << 30);
        match rustix::fs::copy_file_range(from, Some(&mut at), &*to, None, want) {
            // The file became shorter meanwhile; whoever checks the result sees it.
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => {
                from.seek(SeekFrom::Start(at))?;
                io::copy(&mut from.take(end - at), to)?;
                return Ok(());
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Reads `from` to its end once and writes what `splices` make of it.
///
/// The result tells what was read. If that is not what the splices were made for, the output is
/// worth nothing and the caller throws it away.
pub(super) fn rewrite(
    path: &FilePath,
    from: impl Read,
    splices: &Splices,
    to: impl Write,
) -> Result<Source, WorkspaceError> {
    let mut reader = Hashing::new(path, from);
    let mut writer = BufWriter::new(to);
    let failed = |error| refusal(path, "write", error);
    for piece in splices.pieces() {
        match piece {
            Piece::Insert(bytes) => writer.write_all(bytes).map_err(failed)?,
            Piece::Keep(span) => {
                reader.upto(span.start(), |_| Ok(()))?;
                reader.upto(span.end(), |block| writer.write_all(block).map_err(failed))?;
            }
        }
    }
    writer.flush().map_err(failed)?;
    reader.finish()
}

/// Reads `from` to its end.
pub(super) fn hash(path: &FilePath, from: impl Read) -> Result<Source, WorkspaceError> {
    Hashing::new(path, from).finish()
}

struct Hashing<'a, R> {
    path: &'a FilePath,
    from: R,
    hasher: blake3::Hasher,
    block: Vec<u8>,
    at: usize,
}

impl<'a, R: Read> Hashing<'a, R> {
    fn new(path: &'a FilePath, from: R) -> Self {
        Self { path, from, hasher: blake3::Hasher::new(), block: vec![0; FIRST_BLOCK], at: 0 }
    }

    /// Reads on to `end`, or to the end of the file if that comes first.
    fn upto(
        &mut self,
        end: usize,
        mut pass_on: impl FnMut(&[u8]) -> Result<(), WorkspaceError>,
    ) -> Result<(), WorkspaceError> {
        while self.at < end {
            let want = (end - self.at).min(self.block.len());
            let got = match self.from.read(&mut self.block[..want]) {
                Ok(0) => return Ok(()),
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(refusal(self.path, "read", error)),
            };
            self.hasher.update(&self.block[..got]);
            pass_on(&self.block[..got])?;
            self.at += got;
            if got == self.block.len() && got < BLOCK {
                self.block.resize(got * 4, 0);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Source, WorkspaceError> {
        self.upto(usize::MAX, |_| Ok(()))?;
        Ok(Source { hash: ContentHash::finish(&self.hasher), len: self.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slipstitch_core::text::{Span, Splice};

    proptest! {
        #[test]
        fn blocks_make_what_the_whole_makes(
            unit in proptest::collection::vec(any::<u8>(), 1..50),
            times in 1usize..20_000,
            cuts in proptest::collection::vec((any::<u32>(), proptest::collection::vec(any::<u8>(), 0..4)), 0..6),
        ) {
            let text = unit.repeat(times);
            let mut cuts: Vec<_> = cuts.into_iter().map(|(at, ins)| (at as usize % (text.len() + 1), ins)).collect();
            cuts.sort();
            let list = cuts.chunks_exact(2)
                .map(|pair| Splice { at: Span::new(pair[0].0, pair[1].0), insert: pair[0].1.clone() })
                .collect();
            let splices = Splices::new(text.len(), list).unwrap();
            let path = FilePath::from_record("x").unwrap();
            let mut out = Vec::new();
            let read = rewrite(&path, text.as_slice(), &splices, &mut out).unwrap();
            prop_assert_eq!(read, Source { hash: ContentHash::of(&text), len: text.len() });
            prop_assert_eq!(out, splices.apply(&text));

            let (mut source, mut made) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
            source.write_all(&text).unwrap();
            splice(&path, &source, &splices, &mut made).unwrap();
            made.rewind().unwrap();
            let mut out = Vec::new();
            made.read_to_end(&mut out).unwrap();
            prop_assert_eq!(out, splices.apply(&text));
        }
    }

    #[test]
    fn a_source_that_is_too_short_is_read_to_its_end_and_told() {
        let path = FilePath::from_record("x").unwrap();
        let splices = Splices::one(10, Span::new(9, 10), b"!".to_vec());
        let read = rewrite(&path, &b"short"[..], &splices, io::sink()).unwrap();
        assert_eq!(read, Source { hash: ContentHash::of(b"short"), len: 5 });
    }
}
