//! The contents that files had when they were last read or written.
//!
//! A file that is read again usually has the same content. Comparing takes a fraction of the time of hashing, and unlike a
//! time stamp it proves that nothing has changed. An edit reads a file three times: for the snapshot, under the
//! lock, and when the old file was displaced.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use slipstitch_core::path::FilePath;
use slipstitch_core::snapshot::{Content, WeakContent};
use slipstitch_core::text::ContentHash;

/// How many bytes are kept in memory when nothing else needs them.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// How many contents are kept in memory when nothing else needs them.
const MAX_KEPT: usize = 16;

/// How many paths must be known before those whose content is no longer in memory are dropped.
const MIN_SWEEP: usize = 256;

/// Large enough for few system calls, and small enough for the processor's cache.
const BLOCK: usize = 128 * 1024;

/// The last content of each path, as far as it is in memory.
#[derive(Debug, Default)]
pub(super) struct RecentContents(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    by_path: BTreeMap<FilePath, WeakContent>,
    /// Keeps the newest contents in memory.
    kept: VecDeque<Content>,
    kept_bytes: usize,
    /// How many paths may be known before the next sweep.
    sweep_at: usize,
}

impl RecentContents {
    /// The longest content that is worth keeping.
    pub(super) const MAX_LEN: usize = MAX_KEPT_BYTES / 2;

    /// The content with this hash, if the file at the path had it when it was last read or written.
    pub(super) fn get(&self, path: &FilePath, hash: ContentHash) -> Option<Content> {
        self.last(path).filter(|content| content.known_hash() == Some(hash))
    }

    fn last(&self, path: &FilePath) -> Option<Content> {
        self.lock().by_path.get(path)?.upgrade()
    }

    /// Reads a file of about `len` bytes to its end.
    pub(super) fn read(&self, path: &FilePath, file: impl Read, len: usize) -> io::Result<Content> {
        let last = self.last(path).filter(|last| last.len() == len);
        let content = match last {
            Some(last) => read_expecting(file, last)?,
            None => Content::from(read_rest(file, Vec::new(), len)?),
        };
        self.insert(path, &content);
        Ok(content)
    }

    /// Remembers the content that a path has or will soon have.
    pub(super) fn insert(&self, path: &FilePath, content: &Content) {
        let mut recent = self.lock();
        recent.by_path.insert(path.clone(), content.downgrade());
        recent.keep(content);
        if recent.by_path.len() > recent.sweep_at.max(MIN_SWEEP) {
            recent.by_path.retain(|_, content| content.upgrade().is_some());
            recent.sweep_at = 2 * recent.by_path.len();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recent {
    fn keep(&mut self, content: &Content) {
        let is_kept = |kept: &Content| std::ptr::eq(kept.as_ptr(), content.as_ptr());
        if content.len() > RecentContents::MAX_LEN || self.kept.iter().any(is_kept) {
            return;
        }
        self.kept_bytes += content.len();
        self.kept.push_back(content.clone());
        while (self.kept_bytes > MAX_KEPT_BYTES || self.kept.len() > MAX_KEPT)
            && let Some(oldest) = self.kept.pop_front()
        {
            self.kept_bytes -= oldest.len();
        }
    }
}

/// Reads a file to its end: `expected` itself if it has that content.
fn read_expecting(mut file: impl Read, expected: Content) -> io::Result<Content> {
    let mut block = vec![0; BLOCK.min(expected.len() + 1)];
    let mut len = 0;
    loop {
        let got = match file.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let is_same = expected.get(len..len + got) == Some(&block[..got]);
        if is_same && got < block.len() && len + got == expected.len() {
            return Ok(expected);
        }
        if got == 0 || !is_same {
            let start = [&expected[..len], &block[..got]].concat();
            return Ok(Content::from(read_rest(file, start, expected.len())?));
        }
        len += got;
    }
}

/// Reads the rest of a file of about `len` bytes.
fn read_rest(mut file: impl Read, mut bytes: Vec<u8>, len: usize) -> io::Result<Vec<u8>> {
    if bytes.is_empty() && len < BLOCK {
        // One byte more than expected shows whether that was all, without another read.
        bytes.resize(len + 1, 0);
        let got = match file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            read => read?,
        };
        bytes.truncate(got);
        if got == len {
            return Ok(bytes);
        }
    }
    bytes.try_reserve_exact(len.saturating_sub(bytes.len())).map_err(|_| io::ErrorKind::OutOfMemory)?;
    // `take` avoids the second stat with which `File::read_to_end` would size the buffer.
    file.by_ref().take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> FilePath {
        FilePath::from_record(name).unwrap()
    }

    #[test]
    fn a_file_that_has_not_changed_shares_its_content_and_any_other_is_read() {
        let recent = RecentContents::default();
        let text = b"0123456789abcdef\n".repeat(20_000);
        let first = recent.read(&path("a"), text.as_slice(), text.len()).unwrap();
        assert_eq!(
            recent.get(&path("a"), ContentHash::of(&text)).map(|found| found.len()),
            None,
            "not hashed yet"
        );
        let hash = first.hash();
        let again = recent.read(&path("a"), text.as_slice(), text.len()).unwrap();
        assert_eq!(again.as_ptr(), first.as_ptr());
        assert!(recent.get(&path("a"), hash).is_some() && recent.get(&path("b"), hash).is_none());
        for at in [0, 1000, BLOCK - 1, BLOCK, text.len() - 1] {
            let mut other = text.clone();
            other[at] = b'x';
            for changed in [&other[..], &text[..at], &[&text[..], b"more"].concat()] {
                // The length comes from an earlier `stat`, so it may be outdated.
                for len in [text.len(), changed.len()] {
                    recent.insert(&path("a"), &first);
                    assert_eq!(*recent.read(&path("a"), changed, len).unwrap(), *changed, "{at}");
                }
            }
        }
        assert!(recent.get(&path("a"), hash).is_none(), "only the last content counts");
    }

    #[test]
    fn memory_is_bounded() {
        let recent = RecentContents::default();
        for number in 0..2000 {
            let content = Content::from(vec![0; number * 1000]);
            recent.insert(&path(&number.to_string()), &content);
        }
        let held = recent.lock();
        let alive = held.by_path.values().filter_map(WeakContent::upgrade).count();
        assert!(
            alive <= MAX_KEPT && held.by_path.len() <= 2 * MIN_SWEEP,
            "{alive} of {}",
            held.by_path.len()
        );
        assert_eq!(held.kept_bytes, held.kept.iter().map(|content| content.len()).sum::<usize>());
        assert!(held.kept_bytes <= MAX_KEPT_BYTES);
    }
}
