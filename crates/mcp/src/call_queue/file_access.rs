//! Which files a call accesses, identified by their real location.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use slipstitch::core::dialect::Tool;

/// The longest path that operating systems accept. Longer ones are refused later, so they need no ordering.
pub(super) const MAX_PATH_BYTES: usize = 4_096;

/// Which files a call accesses, and how.
#[derive(Debug)]
pub(crate) struct FileAccess {
    pub(super) scope: Scope,
    pub(super) kind: AccessKind,
}

#[derive(Debug)]
pub(super) enum Scope {
    Files(FileSet),
    /// Possibly any file.
    AllFiles,
    NoFiles,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessKind {
    Read,
    Write,
}

/// The files and clipboards of a call.
#[derive(Debug)]
pub(super) struct FileSet {
    /// Absolute paths, as the call names them.
    paths: Vec<PathBuf>,
    /// Their real locations. Resolved only when needed: a call that is alone in the queue does without.
    locations: Option<HashSet<PathBuf>>,
    /// Names of the clipboards that the call reads or writes.
    pub(super) clipboards: HashSet<String>,
}

impl FileAccess {
    /// The access of a call that is not planned yet.
    pub(crate) fn unknown(tool: &Tool) -> Self {
        let kind = if tool.effect.is_read_only() { AccessKind::Read } else { AccessKind::Write };
        Self { scope: Scope::AllFiles, kind }
    }
}

impl Scope {
    /// The files at `paths`, which are relative to `root` unless absolute.
    pub(super) fn from_paths<'a>(paths: impl Iterator<Item = &'a str>, root: &Path) -> Self {
        let paths: Vec<PathBuf> =
            paths.filter(|path| path.len() <= MAX_PATH_BYTES).map(|path| root.join(path)).collect();
        if paths.is_empty() {
            Self::NoFiles
        } else {
            Self::Files(FileSet { paths, locations: None, clipboards: HashSet::new() })
        }
    }
}

impl FileSet {
    pub(super) fn locations(&mut self) -> &HashSet<PathBuf> {
        self.locations.get_or_insert_with(|| self.paths.iter().map(|path| real_path(path)).collect())
    }

    /// Whether the two sets share a file or a clipboard, or one names a folder that contains a file of the other.
    pub(super) fn overlaps(&mut self, other: &mut Self) -> bool {
        if !self.clipboards.is_disjoint(&other.clipboards) {
            return true;
        }
        let (fewer, more) = (self.locations(), other.locations());
        let (fewer, more) = if fewer.len() <= more.len() { (fewer, more) } else { (more, fewer) };
        if fewer.iter().any(|location| more.contains(location)) {
            return true;
        }
        // Only a call with a single path can name a folder.
        let mut fewer = fewer.iter();
        match (fewer.next(), fewer.next()) {
            (Some(one), None) => {
                more.iter().any(|location| location.starts_with(one) || one.starts_with(location))
            }
            _ => false,
        }
    }
}

/// The path with symlinks resolved, as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let ancestors: Vec<&Path> = path.ancestors().collect();
    // Nothing exists below a missing folder, so a binary search finds the deepest one that exists.
    let existing = ancestors.partition_point(|folder| folder.canonicalize().is_err());
    let real = ancestors.get(existing).and_then(|folder| Some((folder.canonicalize().ok()?, folder)));
    match real {
        Some((real, folder)) => real.join(path.strip_prefix(folder).unwrap_or(path)),
        None => path.to_owned(),
    }
}

#[cfg(test)]
impl FileAccess {
    pub(super) fn to_files(paths: &[&str], kind: AccessKind) -> Self {
        Self { scope: Scope::from_paths(paths.iter().copied(), Path::new("/nowhere")), kind }
    }

    pub(super) fn to_all_files(kind: AccessKind) -> Self {
        Self { scope: Scope::AllFiles, kind }
    }

    pub(super) fn to_no_files() -> Self {
        Self { scope: Scope::NoFiles, kind: AccessKind::Read }
    }
}
