//! In-memory ports, for tests and for programs that keep their files elsewhere.
//!
//! Tests can inject faults: [`MemoryWorkspace::fail_next`] makes the next staging or publication fail, and
//! [`MemoryWorkspace::write_after_next_read`] simulates another writer. With [`MemoryWorkspace::with_large_files`], files are read
//! in blocks, as large ones are on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cancel::CancelToken;
use crate::change::{Base, FileChange};
use crate::path::{FilePath, RootName};
use crate::plan::ChangeId;
use crate::ports::journal::{
    Aftereffects, ChangeKind, ChangeState, Entry, FileSummary, Filter, Journal, JournalError, LastText,
    Proposal, ProposalDecision, ProposalId, Record, RejectedHunk, ShownTexts, StoredProposal, Summary,
    UndoFilter,
};
use crate::ports::versions::{KnownVersion, Versions};
use crate::ports::workspace::{
    EntryKind, FolderEntry, OpenResult, ReadResult, Staged, Workspace, WorkspaceError, Written,
};
use crate::snapshot::{ContentSource, FileContent, LargeFile, Meta};
use slipstitch_text::ContentHash;

/// Files in memory.
#[derive(Debug)]
pub struct MemoryWorkspace {
    names: [RootName; 1],
    inner: Arc<Mutex<Files>>,
    /// The size from which files are read in blocks.
    large_from: Option<usize>,
}

impl Default for MemoryWorkspace {
    fn default() -> Self {
        Self { names: [RootName::first("/memory")], inner: Arc::default(), large_from: None }
    }
}

#[derive(Debug, Default)]
struct Files {
    files: BTreeMap<FilePath, Vec<u8>>,
    fault: Option<(Fault, WorkspaceError)>,
    /// Writes of another process, due after the next read.
    queued_writes: Vec<(FilePath, Vec<u8>)>,
    /// A write of another process, due once so many bytes of large files were read.
    late_write: Option<(usize, FilePath, Vec<u8>)>,
    /// How many bytes of large files were read.
    bytes_read: usize,
}

/// The step at which an injected fault occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// While changes are staged.
    Stage,
    /// While they are published.
    Publish,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryWorkspace {
    /// Adds or replaces a file without journaling it.
    pub fn put(&self, path: &FilePath, bytes: impl Into<Vec<u8>>) {
        lock(&self.inner).files.insert(path.clone(), bytes.into());
    }

    /// A file's bytes.
    pub fn get(&self, path: &FilePath) -> Option<Vec<u8>> {
        lock(&self.inner).files.get(path).cloned()
    }

    /// All files.
    pub fn all(&self) -> BTreeMap<FilePath, Vec<u8>> {
        lock(&self.inner).files.clone()
    }

    /// Makes the next staging or publication fail with `error`.
    pub fn fail_next(&self, at: Fault, error: WorkspaceError) {
        lock(&self.inner).fault = Some((at, error));
    }

    /// Leaves files of `from` bytes or more to be read in blocks.
    pub fn with_large_files(self, from: usize) -> Self {
        Self { large_from: Some(from), ..self }
    }

    /// How many bytes were read in blocks.
    pub fn bytes_read(&self) -> usize {
        lock(&self.inner).bytes_read
    }

    /// Simulates another process that overwrites a file once `count` more bytes were read in blocks.
    pub fn write_after_reading(&self, count: usize, path: &FilePath, bytes: impl Into<Vec<u8>>) {
        let mut inner = lock(&self.inner);
        inner.late_write = Some((inner.bytes_read + count, path.clone(), bytes.into()));
    }

    /// Simulates another process that writes a file right after the next read.
    pub fn write_after_next_read(&self, path: &FilePath, bytes: impl Into<Vec<u8>>) {
        lock(&self.inner).queued_writes.push((path.clone(), bytes.into()));
    }
}

/// A file that is read in blocks, as it is at that moment.
#[derive(Debug)]
struct FileInBlocks {
    files: Arc<Mutex<Files>>,
    path: FilePath,
    len: usize,
}

impl ContentSource for FileInBlocks {
    fn content_len(&self) -> usize {
        self.len
    }

    fn read_at(&self, at: usize, into: &mut [u8]) -> std::io::Result<usize> {
        let mut files = lock(&self.files);
        let bytes = files.files.get(&self.path).map_or(&[][..], |bytes| bytes.get(at..).unwrap_or_default());
        let count = into.len().min(bytes.len());
        into[..count].copy_from_slice(&bytes[..count]);
        files.bytes_read += count;
        let read = files.bytes_read;
        if let Some((_, path, bytes)) = files.late_write.take_if(|(due, ..)| *due <= read) {
            files.files.insert(path, bytes);
        }
        Ok(count)
    }
}

impl Files {
    fn is_folder(&self, path: &FilePath) -> bool {
        let inside = |file: &FilePath| {
            file.as_str().strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        self.files.keys().any(inside)
    }

    fn inject_fault(&mut self, at: Fault) -> Result<(), WorkspaceError> {
        match self.fault.take_if(|(when, _)| *when == at) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

impl Workspace for MemoryWorkspace {
    fn root_names(&self) -> &[RootName] {
        &self.names
    }

    fn read(&self, path: &FilePath) -> Result<ReadResult, WorkspaceError> {
        let mut inner = lock(&self.inner);
        let found = match inner.files.get(path) {
            Some(bytes) => ReadResult::File(FileContent {
                bytes: bytes.clone().into(),
                meta: Meta { writable: true, ..Meta::default() },
            }),
            None if inner.is_folder(path) => return Err(WorkspaceError::Folder(path.clone())),
            None => ReadResult::Missing { real: None },
        };
        for (path, bytes) in std::mem::take(&mut inner.queued_writes) {
            inner.files.insert(path, bytes);
        }
        Ok(found)
    }

    fn open(&self, path: &FilePath) -> Result<OpenResult, WorkspaceError> {
        Ok(match self.read(path)? {
            ReadResult::File(FileContent { bytes, meta })
                if self.large_from.is_some_and(|from| bytes.len() >= from) =>
            {
                let files = Arc::clone(&self.inner);
                let source = Arc::new(FileInBlocks { files, path: path.clone(), len: bytes.len() });
                OpenResult::Large(LargeFile { source, meta })
            }
            ReadResult::File(content) => OpenResult::File(content),
            ReadResult::Missing { real } => OpenResult::Missing { real },
        })
    }

    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
        let inner = lock(&self.inner);
        let prefix = match folder {
            None => String::new(),
            Some(path) if inner.is_folder(path) => format!("{path}/"),
            Some(path) if inner.files.contains_key(path) => {
                return Err(WorkspaceError::NotAFolder(path.clone()));
            }
            Some(path) => return Err(WorkspaceError::NoFolder(path.clone())),
        };
        let mut entries = BTreeMap::new();
        for (path, bytes) in &inner.files {
            let Some(rest) = path.as_str().strip_prefix(&prefix) else { continue };
            let (name, kind, size) = match rest.split_once('/') {
                Some((name, _)) => (name, EntryKind::Folder, 0),
                None => (rest, EntryKind::File, bytes.len() as u64),
            };
            entries.insert(name, FolderEntry { name: name.into(), kind, size, modified: None });
        }
        Ok(entries.into_values().collect())
    }

    fn check(&self, changes: &[FileChange]) -> Result<Vec<String>, WorkspaceError> {
        self.stage(changes).map(|_| Vec::new())
    }

    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        let mut inner = lock(&self.inner);
        inner.inject_fault(Fault::Stage)?;
        let mut next = inner.files.clone();
        let mut written = Vec::new();
        // First all files leave their paths: others may take them.
        for change in changes.iter().filter(|change| change.base != Base::Absent) {
            next.remove(&change.path);
        }
        for change in changes {
            let is_vacated =
                change.base == Base::Absent && changes.iter().any(|one| one.vacates(&change.path));
            let before = inner.files.get(&change.path).filter(|_| !is_vacated);
            let found = before.map(|bytes| ContentHash::of(bytes));
            let expected = match change.base {
                Base::Absent => None,
                Base::Content(hash) => Some(hash),
            };
            if found != expected {
                return Err(WorkspaceError::Conflict { path: change.path.clone(), found });
            }
            let after = change.splices.apply(before.map_or(&[], Vec::as_slice));
            if let Some(path) = change.path_after() {
                if next.contains_key(path) {
                    return Err(WorkspaceError::Conflict { path: path.clone(), found: None });
                }
                next.insert(path.clone(), after);
            }
            let path = change.path_after().unwrap_or(&change.path).clone();
            written.push(Written { path, write_mode: "memory" });
        }
        Ok(Box::new(StagedInMemory { inner, next, written }))
    }
}

/// Staged changes; keeps the workspace locked, as the disk workspace does.
struct StagedInMemory<'a> {
    inner: MutexGuard<'a, Files>,
    next: BTreeMap<FilePath, Vec<u8>>,
    written: Vec<Written>,
}

impl Staged for StagedInMemory<'_> {
    fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError> {
        self.inner.inject_fault(Fault::Publish)?;
        self.inner.files = std::mem::take(&mut self.next);
        Ok(std::mem::take(&mut self.written))
    }
}

/// Earlier versions in memory.
#[derive(Debug, Default)]
pub struct MemoryVersions {
    versions: Mutex<BTreeMap<FilePath, Vec<KnownVersion>>>,
}

impl MemoryVersions {
    /// Adds a version of a file, less likely seen than those added before.
    pub fn add(&self, path: &FilePath, version: KnownVersion) {
        lock(&self.versions).entry(path.clone()).or_default().push(version);
    }
}

impl Versions for MemoryVersions {
    fn versions(&self, path: &FilePath, _: &[u8]) -> Vec<KnownVersion> {
        lock(&self.versions).get(path).cloned().unwrap_or_default()
    }
}

/// Texts that a session saw, with their hashes.
type ShownList = Vec<(ContentHash, Vec<u8>)>;

/// A journal in memory. Its timestamps are the numbers of its changes.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    entries: Mutex<Vec<Entry>>,
    pruned: Mutex<BTreeSet<ChangeId>>,
    memory: Mutex<BTreeMap<(String, String), String>>,
    texts: Mutex<BTreeMap<FilePath, (ChangeId, Vec<u8>)>>,
    proposals: Mutex<Vec<StoredProposal>>,
    /// By session and path, oldest first.
    shown: Mutex<BTreeMap<(String, FilePath), ShownList>>,
}

impl MemoryJournal {
    /// Removes a change, as a journal does to save space.
    pub fn prune(&self, id: ChangeId) {
        lock(&self.entries).retain(|entry| entry.summary.id != id);
        lock(&self.pruned).insert(id);
    }

    fn update_entry(
        &self,
        id: ChangeId,
        action: &'static str,
        update: impl FnOnce(&mut Entry),
    ) -> Result<(), JournalError> {
        match lock(&self.entries).iter_mut().find(|entry| entry.summary.id == id) {
            Some(entry) => {
                update(entry);
                Ok(())
            }
            None => Err(JournalError::new(action, format!("there is no change {id}"))),
        }
    }
}

impl MemoryJournal {
    fn update_pending_proposal(
        &self,
        id: ProposalId,
        update: impl FnOnce(&mut StoredProposal),
    ) -> Result<(), JournalError> {
        let mut proposals = lock(&self.proposals);
        match proposals.iter_mut().find(|found| found.id == id && found.decision.is_none()) {
            Some(found) => {
                update(found);
                Ok(())
            }
            None => {
                let reason = format!("{id} is not waiting for review");
                Err(JournalError::new("record a decision", reason))
            }
        }
    }
}

impl Journal for MemoryJournal {
    fn begin_unless_cancelled(
        &self,
        record: &Record,
        cancel: &CancelToken,
    ) -> Result<Option<ChangeId>, JournalError> {
        if !cancel.begin_writing() {
            return Ok(None);
        }
        let mut entries = lock(&self.entries);
        let number = (entries.len() + lock(&self.pruned).len()) as u64 + 1;
        let files = record.files.iter().map(|file| FileSummary {
            path_before: file.path_before().cloned(),
            path_after: file.path_after().cloned(),
            hash_before: file.hash_before(),
            hash_after: file.hash_after(),
            rung: file.rung,
        });
        let summary = Summary {
            id: ChangeId(number),
            at: number as i64,
            origin: record.origin.clone(),
            kind: record.kind.clone(),
            description: record.description.clone(),
            labels: record.labels.clone(),
            approval: record.approval.clone(),
            state: ChangeState::Pending,
            undone_by: None,
            files: files.collect(),
            damage: None,
        };
        entries.push(Entry { summary, files: record.files.clone(), diff: record.diff.clone() });
        Ok(Some(ChangeId(number)))
    }

    fn pending(&self) -> Result<Vec<(ChangeId, Option<String>)>, JournalError> {
        let entries = lock(&self.entries);
        let pending = entries.iter().filter(|entry| entry.summary.state == ChangeState::Pending);
        Ok(pending.map(|entry| (entry.summary.id, None)).collect())
    }

    fn remember(&self, session: &str, memory: &[(String, String)]) -> Result<(), JournalError> {
        let values = memory.iter().map(|(name, text)| ((session.to_owned(), name.clone()), text.clone()));
        lock(&self.memory).extend(values);
        Ok(())
    }

    fn recall(&self, session: &str, prefix: &str) -> Result<Vec<(String, String)>, JournalError> {
        let memory = lock(&self.memory);
        let found = memory.iter().filter(|((owner, name), _)| owner == session && name.starts_with(prefix));
        Ok(found.map(|((_, name), text)| (name.clone(), text.clone())).collect())
    }

    fn note_shown(
        &self,
        session: &str,
        path: &FilePath,
        hash: ContentHash,
        text: &[u8],
    ) -> Result<(), JournalError> {
        if text.len() > ShownTexts::MAX_BYTES {
            return Ok(());
        }
        let mut shown = lock(&self.shown);
        let kept = shown.entry((session.to_owned(), path.clone())).or_default();
        kept.retain(|(known, _)| *known != hash);
        kept.push((hash, text.to_vec()));
        if kept.len() > ShownTexts::MAX_PER_PATH {
            kept.remove(0);
        }
        Ok(())
    }

    fn shown(&self, session: &str, path: &FilePath) -> Result<Vec<(ContentHash, Vec<u8>)>, JournalError> {
        let shown = lock(&self.shown);
        let kept = shown.get(&(session.to_owned(), path.clone()));
        Ok(kept.map_or_else(Vec::new, |kept| kept.iter().rev().cloned().collect()))
    }

    fn seal(&self, id: ChangeId, aftereffects: &Aftereffects) -> Result<(), JournalError> {
        const ACTION: &str = "mark a change as done";
        let mut kind = ChangeKind::Edit;
        let mut session = String::new();
        self.update_entry(id, ACTION, |entry| {
            entry.summary.state = ChangeState::Done;
            kind = entry.summary.kind.clone();
            session = entry.summary.origin.session.clone();
        })?;
        self.remember(&session, &aftereffects.memory)?;
        let mut texts = lock(&self.texts);
        for (path, text) in &aftereffects.texts {
            match text {
                LastText::Short { text, .. } => texts.insert(path.clone(), (id, text.clone())),
                LastText::Unknown => texts.remove(path),
            };
        }
        drop(texts);
        let set_undone_by = |ids: &[ChangeId], by: Option<ChangeId>| {
            ids.iter().try_for_each(|&of| self.update_entry(of, ACTION, |entry| entry.summary.undone_by = by))
        };
        match kind {
            ChangeKind::Edit => Ok(()),
            ChangeKind::Undo(edits) => set_undone_by(edits.ids(), Some(id)),
            ChangeKind::Redo(undo) => {
                let mut undo_kind = ChangeKind::Edit;
                self.update_entry(undo, ACTION, |entry| {
                    entry.summary.undone_by = Some(id);
                    undo_kind = entry.summary.kind.clone();
                })?;
                match undo_kind {
                    ChangeKind::Undo(edits) => set_undone_by(edits.ids(), None),
                    ChangeKind::Edit | ChangeKind::Redo(_) => Ok(()),
                }
            }
        }
    }

    fn abandon(&self, id: ChangeId) -> Result<(), JournalError> {
        self.update_entry(id, "mark a change as abandoned", |entry| {
            entry.summary.state = ChangeState::Abandoned
        })
    }

    fn entry(&self, id: ChangeId) -> Result<Option<Entry>, JournalError> {
        Ok(lock(&self.entries).iter().find(|entry| entry.summary.id == id).cloned())
    }

    fn last_text(&self, path: &FilePath, other_than: ContentHash) -> Result<Option<Vec<u8>>, JournalError> {
        let entries = lock(&self.entries);
        let done = entries.iter().rev().filter(|entry| entry.summary.state == ChangeState::Done);
        let mut at_path = done
            .flat_map(|entry| entry.files.iter().map(|file| (entry.summary.id, file)))
            .filter(|(_, file)| file.inverse.path == *path);
        let Some((last, file)) = at_path.next() else { return Ok(None) };
        let texts = lock(&self.texts);
        let kept =
            texts.get(path).filter(|(change, _)| *change == last && file.hash_after() != Some(other_than));
        Ok(kept.map(|(_, text)| text.clone()))
    }

    fn was_pruned(&self, id: ChangeId) -> Result<bool, JournalError> {
        Ok(lock(&self.pruned).contains(&id))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, JournalError> {
        let entries = lock(&self.entries);
        let listed = entries
            .iter()
            .rev()
            .map(|entry| &entry.summary)
            .filter(|summary| matches_filter(summary, filter));
        Ok(listed.take(filter.limit.unwrap_or(usize::MAX)).cloned().collect())
    }

    fn propose_unless_cancelled(
        &self,
        proposal: &Proposal,
        cancel: &CancelToken,
    ) -> Result<Option<ProposalId>, JournalError> {
        if !cancel.begin_writing() {
            return Ok(None);
        }
        let mut proposals = lock(&self.proposals);
        let number = proposals.len() as u64 + 1;
        let id = ProposalId(number);
        proposals.push(StoredProposal {
            id,
            at: number as i64,
            proposal: proposal.clone(),
            decision: None,
            rejected_hunks: Vec::new(),
        });
        Ok(Some(id))
    }

    fn proposals(&self) -> Result<Vec<StoredProposal>, JournalError> {
        Ok(lock(&self.proposals).iter().filter(|found| found.decision.is_none()).cloned().collect())
    }

    fn proposal(&self, id: ProposalId) -> Result<Option<StoredProposal>, JournalError> {
        Ok(lock(&self.proposals).iter().find(|found| found.id == id).cloned())
    }

    fn record_rejected_hunks(&self, id: ProposalId, hunks: &[RejectedHunk]) -> Result<(), JournalError> {
        self.update_pending_proposal(id, |found| found.rejected_hunks = hunks.to_vec())
    }

    fn record_decision(&self, id: ProposalId, decision: &ProposalDecision) -> Result<(), JournalError> {
        self.update_pending_proposal(id, |found| found.decision = Some(decision.clone()))
    }
}

fn matches_filter(summary: &Summary, filter: &Filter) -> bool {
    let touches = |path: &FilePath| {
        summary
            .files
            .iter()
            .any(|file| [&file.path_before, &file.path_after].into_iter().flatten().any(|p| p == path))
    };
    let undo = match filter.undo {
        None => true,
        Some(UndoFilter::Undoable) => {
            summary.kind == ChangeKind::Edit
                && summary.undone_by.is_none()
                && summary.state == ChangeState::Done
        }
        Some(UndoFilter::Redoable) => {
            matches!(summary.kind, ChangeKind::Undo(_)) && summary.undone_by.is_none()
        }
    };
    summary.state != ChangeState::Abandoned
        && undo
        && filter.path.as_ref().is_none_or(touches)
        && filter.session.as_ref().is_none_or(|session| *session == summary.origin.session)
        && filter.agent.as_ref().is_none_or(|agent| Some(agent) == summary.origin.agent.as_ref())
        && filter.since.is_none_or(|since| summary.at >= since)
        && filter.until.is_none_or(|until| summary.at < until)
        && filter.after.is_none_or(|after| summary.id > after)
        && filter.before.is_none_or(|before| summary.id < before)
}
