//! The snapshots of all files of one request.

use std::collections::BTreeMap;

use super::Snapshot;
use crate::change::{Base, ChangeSet, FileChange};
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

    /// Where each path of a change leads, with symlinks followed.
    pub fn resolved_paths(&self, changes: &ChangeSet) -> BTreeMap<String, String> {
        let paths =
            changes.files().iter().flat_map(|file| std::iter::once(&file.path).chain(file.path_after()));
        paths.map(|path| (path.to_string(), self.real_path(path).to_string())).collect()
    }

    /// The file at a path, if it exists.
    pub fn get(&self, path: &FilePath) -> Option<&Snapshot> {
        self.files.get(path)?.as_ref()
    }

    /// The paths that were read, whether there is a file or not.
    pub fn paths(&self) -> impl Iterator<Item = &FilePath> {
        self.files.keys()
    }

    /// The file that a change starts from; `None` if it creates one.
    pub fn before(&self, change: &FileChange) -> Option<&Snapshot> {
        match change.base {
            Base::Absent => None,
            Base::Content(_) => self.get(&change.path),
        }
    }

    /// A large file that was found to have changed since it was read.
    pub fn changed_file(&self) -> Option<&FilePath> {
        let has_changed = |found: &Option<Snapshot>| found.as_ref().is_some_and(Snapshot::has_changed);
        self.files.iter().find(|(_, found)| has_changed(found)).map(|(path, _)| path)
    }

    /// The bytes that a change starts from; empty if it creates a file.
    pub fn bytes_before(&self, change: &FileChange) -> &[u8] {
        self.before(change).map_or(&[], Snapshot::bytes)
    }

    /// The bytes of the file at a path; empty if it does not exist.
    pub fn bytes(&self, path: &FilePath) -> &[u8] {
        self.get(path).map_or(&[], Snapshot::bytes)
    }
}
