//! The files of one request.

use std::collections::BTreeMap;

use super::Snapshot;
use crate::path::FilePath;

/// The files of a plan as they were read; `None` where there is no file.
#[derive(Debug, Default)]
pub struct Snapshots {
    files: BTreeMap<FilePath, Option<Snapshot>>,
    /// Where paths without a file really lead.
    missing: BTreeMap<FilePath, FilePath>,
}

impl Snapshots {
    /// Adds what was found at a path.
    pub fn insert(&mut self, path: FilePath, found: Option<Snapshot>) {
        self.files.insert(path, found);
    }

    /// Adds that there is no file at a path, which really is `real`.
    pub fn insert_missing(&mut self, path: FilePath, real: Option<FilePath>) {
        if let Some(real) = real {
            self.missing.insert(path.clone(), real);
        }
        self.files.insert(path, None);
    }

    /// Where a path really leads: symlinks followed, whether there is a file or not.
    pub fn real<'a>(&'a self, path: &'a FilePath) -> &'a FilePath {
        let file = self.get(path).and_then(|snapshot| snapshot.meta().real.as_ref());
        file.or_else(|| self.missing.get(path)).unwrap_or(path)
    }

    /// The file at a path, if there is one.
    pub fn get(&self, path: &FilePath) -> Option<&Snapshot> {
        self.files.get(path)?.as_ref()
    }

    /// The bytes of the file at a path; none where there is no file.
    pub fn bytes(&self, path: &FilePath) -> &[u8] {
        self.get(path).map_or(&[], Snapshot::bytes)
    }
}
