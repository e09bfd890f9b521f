//! Large files: read in blocks, and whole only if something needs all of their text.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::{FileContent, Meta};

/// The content of a file, read on demand. The file may change meanwhile; whoever reads it has to notice that.
pub trait ContentSource: fmt::Debug + Send + Sync {
    /// The file's length when it was opened.
    fn content_len(&self) -> usize;

    /// Reads from an offset into a buffer, and returns how many bytes were read: 0 only at the end of the file.
    fn read_at(&self, at: usize, into: &mut [u8]) -> io::Result<usize>;
}

/// A file that is too large to be read whole without need.
#[derive(Debug, Clone)]
pub struct LargeFile {
    /// Its content.
    pub source: Arc<dyn ContentSource>,
    /// Its metadata.
    pub meta: Meta,
}

impl LargeFile {
    /// Reads the whole file.
    pub fn load(self) -> io::Result<FileContent> {
        let len = self.source.content_len();
        // Given back at once: memory that the system hands out zeroed need not be filled with zeros, and `vec!` makes use of that.
        Vec::<u8>::new().try_reserve_exact(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = vec![0; len];
        fill(&*self.source, 0, &mut bytes)?;
        Ok(FileContent { bytes: bytes.into(), meta: self.meta })
    }
}

/// Fills a buffer from an offset of a source; a source that ends before is an error.
pub(super) fn fill(source: &dyn ContentSource, mut at: usize, mut into: &mut [u8]) -> io::Result<()> {
    while !into.is_empty() {
        match source.read_at(at, into) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(got) => {
                at += got;
                into = &mut into[got..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
