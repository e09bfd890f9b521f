//! Own storage: documents in a map.
//!
//! A change is written in two steps. [`Workspace::stage`] checks that every document still has the content that the
//! change was made for and prepares the new content; [`Staged::publish`] makes it visible. The engine records the change
//! in the journal in between.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use slipstitch_core::change::{Base, FileChange};
use slipstitch_core::path::{FilePath, RootName};
use slipstitch_core::ports::workspace::{
    EntryKind, FolderEntry, ReadResult, Staged, Workspace, WorkspaceError, Written,
};
use slipstitch_core::snapshot::{FileContent, Meta};
use slipstitch_core::text::ContentHash;

type Map = BTreeMap<String, Vec<u8>>;

/// Documents by name.
#[derive(Debug, Default)]
pub(crate) struct Documents(Mutex<Map>);

impl Documents {
    pub(crate) fn put(&self, name: &str, text: &str) {
        self.lock().insert(name.into(), text.into());
    }

    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.lock().get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn lock(&self) -> MutexGuard<'_, Map> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workspace for Documents {
    /// Documents have no absolute paths.
    fn root_names(&self) -> &[RootName] {
        &[]
    }

    fn read(&self, path: &FilePath) -> Result<ReadResult, WorkspaceError> {
        Ok(match self.lock().get(path.as_str()) {
            Some(bytes) => ReadResult::File(FileContent {
                bytes: bytes.clone().into(),
                meta: Meta { writable: true, ..Meta::default() },
            }),
            None => ReadResult::Missing { real: None },
        })
    }

    /// Lists the documents. There are no folders.
    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
        if let Some(folder) = folder {
            return Err(WorkspaceError::NoFolder(folder.clone()));
        }
        let entry = |(name, bytes): (&String, &Vec<u8>)| FolderEntry {
            name: name.clone(),
            kind: EntryKind::File,
            size: bytes.len() as u64,
            modified: None,
        };
        Ok(self.lock().iter().map(entry).collect())
    }

    fn check(&self, changes: &[FileChange]) -> Result<Vec<String>, WorkspaceError> {
        self.stage(changes).map(|_| Vec::new())
    }

    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        let documents = self.lock();
        let mut next = documents.clone();
        let mut written = Vec::new();
        for change in changes {
            let before = documents.get(change.path.as_str());
            let found = before.map(|bytes| ContentHash::of(bytes));
            if change.base != found.map_or(Base::Absent, Base::Content) {
                return Err(WorkspaceError::Conflict { path: change.path.clone(), found });
            }
            next.remove(change.path.as_str());
            if let Some(path) = change.path_after() {
                next.insert(path.to_string(), change.splices.apply(before.map_or(&[], Vec::as_slice)));
            }
            let path = change.path_after().unwrap_or(&change.path).clone();
            written.push(Written { path, write_mode: "map" });
        }
        Ok(Box::new(StagedDocuments { documents, next, written }))
    }
}

/// A prepared change. It holds the lock, so nothing can change before it is published or dropped.
struct StagedDocuments<'a> {
    documents: MutexGuard<'a, Map>,
    next: Map,
    written: Vec<Written>,
}

impl Staged for StagedDocuments<'_> {
    fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError> {
        *self.documents = std::mem::take(&mut self.next);
        Ok(std::mem::take(&mut self.written))
    }
}
