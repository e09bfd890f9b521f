//! The snapshots of all files of one request.

use std::collections::BTreeMap;

use super::Snapshot;
use crate::path::FilePath;

/// The snapshots of a plan's files, including paths where no file exists.
#[derive(Debug, Default)]
pub struct Snapshots {
    files: BTreeMap<FilePath, Option<Snapshot>>,
    /// The real paths of files that do not exist.
    missing: BTreeMap<FilePath, FilePath>,
}

impl Snapshots {
    /// Adds what was read at a path; `None` if there is no file.
    pub fn insert(&mut self, path: FilePath, found: Option<Snapshot>) {
        self.files.insert(path, found);
    }

    /// Records that there is no file at a path, and its real path if that differs.
    pub fn insert_missing(&mut self, path: FilePath, real: Option<FilePath>) {
        if let Some(real) = real {
            self.missing.insert(path.clone(), real);
        }
        self.files.insert(path, None);
    }

    /// The path with symlinks followed, whether the file exists or not.
    pub fn real_path<'a>(&'a self, path: &'a FilePath) -> &'a FilePath {
        let file = self.get(path).and_then(|snapshot| snapshot.meta().real.as_ref());
        file.or_else(|| self.missing.get(path)).unwrap_or(path)
    }

    /// The file at a path, if it exists.
    pub fn get(&self, path: &FilePath) -> Option<&Snapshot> {
        self.files.get(path)?.as_ref()
    }

    /// The paths that were read, whether there is a file or not.
    pub fn paths(&self) -> impl Iterator<Item = &FilePath> {
        self.files.keys()
    }

    /// The bytes of the file at a path; empty if it does not exist.
    pub fn bytes(&self, path: &FilePath) -> &[u8] {
        self.get(path).map_or(&[], Snapshot::bytes)
    }
}
