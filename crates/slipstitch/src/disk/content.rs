//! Reads files: small ones at once, large ones in blocks.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::WorkspaceError;
use slipstitch_core::snapshot::{ContentSource, FileContent, LargeFile, Meta};
use slipstitch_platform::files;

use super::error::io_error;
use super::lookup::{FoundFile, file_id};
use super::recent::RecentContents;
use super::roots::Roots;

/// Reads a whole file.
pub(super) fn read(
    roots: &Roots,
    recent: &RecentContents,
    path: &FilePath,
    found: FoundFile,
) -> Result<FileContent, WorkspaceError> {
    let len = usize::try_from(found.metadata.len).unwrap_or(usize::MAX);
    let bytes = recent.read(path, &found.file, len).map_err(|error| io_error(path, "read", error))?;
    Ok(FileContent { bytes, meta: meta_of(roots, path, &found) })
}

/// Opens a large file, to be read in blocks.
pub(super) fn open_large(roots: &Roots, path: &FilePath, found: FoundFile) -> LargeFile {
    let meta = meta_of(roots, path, &found);
    let len = usize::try_from(found.metadata.len).unwrap_or(usize::MAX);
    LargeFile { source: Arc::new(OpenFile { file: found.file, len }), meta }
}

fn meta_of(roots: &Roots, path: &FilePath, found: &FoundFile) -> Meta {
    let FoundFile { location, file, metadata, .. } = found;
    let writable = files::is_writable(&location.dir, &location.name);
    Meta {
        real: roots.path_of(file, Path::new("")).filter(|real| real != path),
        id: Some(file_id(metadata)),
        mode: Some(metadata.mode),
        links: Some(metadata.links),
        writable,
        modified: Some(metadata.modified_millis()),
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
        files::read_at(&self.file, into, at as u64)
    }
}
