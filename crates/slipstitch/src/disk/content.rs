//! Reads files: small ones at once, large ones in blocks.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Access, AtFlags};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::snapshot::{ContentSource, FileContent, FileId, LargeFile, Meta};

use super::error::io_error;
use super::lookup::FoundFile;
use super::roots::Roots;

/// Reads a whole file.
pub(super) fn read(
    roots: &Roots,
    path: &FilePath,
    mut found: FoundFile,
) -> Result<FileContent, WorkspaceError> {
    let failed = |error| io_error(path, "read", error);
    let mut bytes = Vec::new();
    let len = usize::try_from(found.metadata.len()).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(len).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
    // `take` avoids the second stat with which `File::read_to_end` would size the buffer.
    found.file.by_ref().take(u64::MAX).read_to_end(&mut bytes).map_err(failed)?;
    Ok(FileContent { bytes: bytes.into(), meta: meta_of(roots, path, &found) })
}

/// Opens a large file, to be read in blocks.
pub(super) fn open_large(roots: &Roots, path: &FilePath, found: FoundFile) -> LargeFile {
    let meta = meta_of(roots, path, &found);
    let len = usize::try_from(found.metadata.len()).unwrap_or(usize::MAX);
    LargeFile { source: Arc::new(OpenFile { file: found.file, len }), meta }
}

fn meta_of(roots: &Roots, path: &FilePath, found: &FoundFile) -> Meta {
    let FoundFile { location, file, metadata, .. } = found;
    let writable =
        rustix::fs::accessat(&*location.dir, &location.name, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    Meta {
        real: roots.path_of(file, Path::new("")).filter(|real| real != path),
        id: Some(FileId { device: metadata.dev(), inode: metadata.ino() }),
        mode: Some(metadata.mode() & 0o7777),
        writable,
        modified: Some(metadata.mtime() * 1000 + metadata.mtime_nsec() / 1_000_000),
    }
}

/// An open file. It is not mapped into memory: if another program truncated it, reading the mapping would end the process.
#[derive(Debug)]
struct OpenFile {
    file: File,
    len: usize,
}

impl ContentSource for OpenFile {
    fn content_len(&self) -> usize {
        self.len
    }

    fn read_at(&self, at: usize, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(into, at as u64)
    }
}
