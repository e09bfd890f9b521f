//! One protected place, and whether a path leads there.

use std::cell::OnceCell;
use std::io;
use std::path::{Component, Path, PathBuf};

use slipstitch_core::guard::{PlaceKind, is_same_name};
use slipstitch_core::snapshot::FileId;
use slipstitch_platform::info::{self, FileInfo};

use crate::state;

/// A protected place.
///
/// Its symlinks are resolved every time, because a folder on the way may have become one, but only if it matters: a file that
/// exists is not at a place where nothing is, and most places are missing.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    pub(super) kind: PlaceKind,
    found: Found,
    real: OnceCell<PathBuf>,
}

/// What is at a path, after following symlinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Missing,
    /// A file or a folder.
    Present { id: FileId, is_file: bool },
    /// It cannot be looked at.
    Unknown,
}

impl Found {
    pub(super) fn at(path: &Path) -> Self {
        Self::from_metadata(&info::at(path))
    }

    pub(super) fn from_metadata(metadata: &io::Result<FileInfo>) -> Self {
        match metadata {
            Ok(found) => Self::Present {
                id: FileId { device: found.device, inode: found.inode },
                is_file: found.is_file(),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            Err(_) => Self::Unknown,
        }
    }
}

impl Place {
    pub(super) fn new(path: PathBuf, kind: PlaceKind) -> Self {
        let found = Found::at(&path);
        Self::found(path, kind, found)
    }

    /// A place that was just looked at.
    pub(super) fn found(path: PathBuf, kind: PlaceKind, found: Found) -> Self {
        Self { path, kind, found, real: OnceCell::new() }
    }

    /// Whether a path is this place or inside it, in any spelling; `id` identifies the file there. A symlink needs no case of
    /// its own: it resolves to the same path.
    pub(super) fn contains(&self, path: &Path, id: Option<FileId>) -> bool {
        let may_be_here = match (self.found, id) {
            (_, None) | (Found::Unknown, _) => true,
            (Found::Missing, Some(_)) => false,
            // Nothing is inside a file.
            (Found::Present { id: own, is_file }, Some(id)) => own == id || !is_file,
        };
        may_be_here && leads_into(path, self.real.get_or_init(|| state::resolve(&self.path)))
    }

    /// Whether a file is this place, perhaps by a hard link.
    pub(super) fn is_file(&self, id: Option<FileId>) -> bool {
        matches!(self.found, Found::Present { id: own, .. } if Some(own) == id)
    }
}

/// Whether a path is `place` or inside it. Where nothing exists yet, only names can be compared, and the file system may
/// ignore case.
fn leads_into(path: &Path, place: &Path) -> bool {
    let mut names = path.components();
    let is_same = |wanted: Component<'_>| match names.next() {
        Some(Component::Normal(name)) if wanted.as_os_str() != name => {
            is_same_name(&name.to_string_lossy(), &wanted.as_os_str().to_string_lossy())
        }
        found => found == Some(wanted),
    };
    place.components().all(is_same)
}
