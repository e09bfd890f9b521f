//! The ports in memory, for tests, trials and hosts that keep files elsewhere.
//!
//! Faults can be put in: [`MemoryWorkspace::fail_next`] makes the next stage or publication fail,
//! [`MemoryWorkspace::write_behind`] lets another writer come in between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::change::{Base, FileChange};
use crate::path::{FilePath, RootName};
use crate::plan::ChangeId;
use crate::ports::journal::{
    Entry, FileSummary, Filter, Journal, JournalError, Kind, LastText, Left, Pick, Proposal, ProposalId,
    Proposed, Record, Settled, State, Summary,
};
use crate::ports::workspace::{EntryKind, FolderEntry, Seen, Staged, Workspace, WorkspaceError, Written};
use crate::snapshot::{FileContent, Meta};
use slipstitch_text::ContentHash;

/// Files in memory.
#[derive(Debug)]
pub struct MemoryWorkspace {
    names: [RootName; 1],
    inner: Mutex<Files>,
}

impl Default for MemoryWorkspace {
    fn default() -> Self {
        Self { names: [RootName::first("/memory")], inner: Mutex::default() }
    }
}

#[derive(Debug, Default)]
struct Files {
    files: BTreeMap<FilePath, Vec<u8>>,
    fault: Option<(Fault, WorkspaceError)>,
    behind: Vec<(FilePath, Vec<u8>)>,
}

/// Where a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// While changes are prepared.
    Stage,
    /// While they are made visible.
    Publish,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryWorkspace {
    /// Puts a file in, as if it had always been there.
    pub fn put(&self, path: &FilePath, bytes: impl Into<Vec<u8>>) {
        locked(&self.inner).files.insert(path.clone(), bytes.into());
    }

    /// A file's bytes.
    pub fn get(&self, path: &FilePath) -> Option<Vec<u8>> {
        locked(&self.inner).files.get(path).cloned()
    }

    /// All files.
    pub fn all(&self) -> BTreeMap<FilePath, Vec<u8>> {
        locked(&self.inner).files.clone()
    }

    /// Makes the next step of that kind fail.
    pub fn fail_next(&self, at: Fault, error: WorkspaceError) {
        locked(&self.inner).fault = Some((at, error));
    }

    /// Lets another writer change the file after the next look at it.
    pub fn write_behind(&self, path: &FilePath, bytes: impl Into<Vec<u8>>) {
        locked(&self.inner).behind.push((path.clone(), bytes.into()));
    }
}

impl Files {
    fn is_folder(&self, path: &FilePath) -> bool {
        let inside = |file: &FilePath| {
            file.as_str().strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        self.files.keys().any(inside)
    }

    fn fault(&mut self, at: Fault) -> Result<(), WorkspaceError> {
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

    fn read(&self, path: &FilePath) -> Result<Seen, WorkspaceError> {
        let mut inner = locked(&self.inner);
        let found = match inner.files.get(path) {
            Some(bytes) => Seen::File(FileContent {
                bytes: bytes.clone().into(),
                meta: Meta { writable: true, ..Meta::default() },
            }),
            None if inner.is_folder(path) => return Err(WorkspaceError::Folder(path.clone())),
            None => Seen::Missing { real: None },
        };
        for (path, bytes) in std::mem::take(&mut inner.behind) {
            inner.files.insert(path, bytes);
        }
        Ok(found)
    }

    fn list(&self, folder: Option<&FilePath>) -> Result<Vec<FolderEntry>, WorkspaceError> {
        let inner = locked(&self.inner);
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
            entries.insert(name, FolderEntry { name: name.into(), kind, size });
        }
        Ok(entries.into_values().collect())
    }

    fn check(&self, changes: &[FileChange]) -> Result<(), WorkspaceError> {
        self.stage(changes).map(|_| ())
    }

    fn stage<'a>(&'a self, changes: &[FileChange]) -> Result<Box<dyn Staged + 'a>, WorkspaceError> {
        let mut inner = locked(&self.inner);
        inner.fault(Fault::Stage)?;
        let mut next = inner.files.clone();
        let mut written = Vec::new();
        for change in changes {
            let before = inner.files.get(&change.path);
            let found = before.map(|bytes| ContentHash::of(bytes));
            let expected = match change.base {
                Base::Absent => None,
                Base::Content(hash) => Some(hash),
            };
            if found != expected {
                return Err(WorkspaceError::Conflict { path: change.path.clone(), found });
            }
            let after = change.splices.apply(before.map_or(&[], Vec::as_slice));
            next.remove(&change.path);
            if let Some(path) = change.path_after() {
                next.insert(path.clone(), after);
            }
            let path = change.path_after().unwrap_or(&change.path).clone();
            written.push(Written { path, write_mode: "memory" });
        }
        Ok(Box::new(StagedInMemory { inner, next, written }))
    }
}

/// Prepared changes; holds the lock, as the disk does.
struct StagedInMemory<'a> {
    inner: MutexGuard<'a, Files>,
    next: BTreeMap<FilePath, Vec<u8>>,
    written: Vec<Written>,
}

impl Staged for StagedInMemory<'_> {
    fn publish(&mut self) -> Result<Vec<Written>, WorkspaceError> {
        self.inner.fault(Fault::Publish)?;
        self.inner.files = std::mem::take(&mut self.next);
        Ok(std::mem::take(&mut self.written))
    }
}

/// A journal in memory. Its clock counts changes.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    entries: Mutex<Vec<Entry>>,
    forgotten: Mutex<BTreeSet<ChangeId>>,
    memory: Mutex<BTreeMap<(String, String), String>>,
    texts: Mutex<BTreeMap<FilePath, (ChangeId, Vec<u8>)>>,
    proposals: Mutex<Vec<Proposed>>,
}

impl MemoryJournal {
    /// Forgets a change, as a journal does that runs out of space.
    pub fn forget(&self, id: ChangeId) {
        locked(&self.entries).retain(|entry| entry.summary.id != id);
        locked(&self.forgotten).insert(id);
    }

    fn change(
        &self,
        id: ChangeId,
        action: &'static str,
        what: impl FnOnce(&mut Entry),
    ) -> Result<(), JournalError> {
        match locked(&self.entries).iter_mut().find(|entry| entry.summary.id == id) {
            Some(entry) => {
                what(entry);
                Ok(())
            }
            None => Err(JournalError { action, reason: format!("there is no change {id}") }),
        }
    }
}

impl Journal for MemoryJournal {
    fn begin(&self, record: &Record) -> Result<ChangeId, JournalError> {
        let mut entries = locked(&self.entries);
        let number = (entries.len() + locked(&self.forgotten).len()) as u64 + 1;
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
            approval: record.approval.clone(),
            state: State::Pending,
            undone_by: None,
            files: files.collect(),
        };
        entries.push(Entry { summary, files: record.files.clone(), diff: record.diff.clone() });
        Ok(ChangeId(number))
    }

    fn pending(&self) -> Result<Vec<(ChangeId, Option<String>)>, JournalError> {
        let entries = locked(&self.entries);
        let pending = entries.iter().filter(|entry| entry.summary.state == State::Pending);
        Ok(pending.map(|entry| (entry.summary.id, None)).collect())
    }

    fn remember(&self, session: &str, memory: &[(String, String)]) -> Result<(), JournalError> {
        let named = memory.iter().map(|(name, text)| ((session.to_owned(), name.clone()), text.clone()));
        locked(&self.memory).extend(named);
        Ok(())
    }

    fn recall(&self, session: &str, prefix: &str) -> Result<Vec<(String, String)>, JournalError> {
        let memory = locked(&self.memory);
        let mine = memory.iter().filter(|((whose, name), _)| whose == session && name.starts_with(prefix));
        Ok(mine.map(|((_, name), text)| (name.clone(), text.clone())).collect())
    }

    fn seal(&self, id: ChangeId, left: &Left) -> Result<(), JournalError> {
        const ACTION: &str = "note that a change was made";
        let mut kind = Kind::Edit;
        let mut session = String::new();
        self.change(id, ACTION, |entry| {
            entry.summary.state = State::Done;
            kind = entry.summary.kind.clone();
            session = entry.summary.origin.session.clone();
        })?;
        self.remember(&session, &left.memory)?;
        let mut texts = locked(&self.texts);
        for (path, text) in &left.texts {
            match text {
                LastText::Short { text, .. } => texts.insert(path.clone(), (id, text.clone())),
                LastText::Unknown => texts.remove(path),
            };
        }
        drop(texts);
        let mark = |ids: &[ChangeId], by: Option<ChangeId>| {
            ids.iter().try_for_each(|&of| self.change(of, ACTION, |entry| entry.summary.undone_by = by))
        };
        match kind {
            Kind::Edit => Ok(()),
            Kind::Undo(edits) => mark(edits.ids(), Some(id)),
            Kind::Redo(undo) => {
                let mut taken_back = Kind::Edit;
                self.change(undo, ACTION, |entry| {
                    entry.summary.undone_by = Some(id);
                    taken_back = entry.summary.kind.clone();
                })?;
                match taken_back {
                    Kind::Undo(edits) => mark(edits.ids(), None),
                    Kind::Edit | Kind::Redo(_) => Ok(()),
                }
            }
        }
    }

    fn abandon(&self, id: ChangeId) -> Result<(), JournalError> {
        self.change(id, "note that a change was not made", |entry| entry.summary.state = State::Abandoned)
    }

    fn entry(&self, id: ChangeId) -> Result<Option<Entry>, JournalError> {
        Ok(locked(&self.entries).iter().find(|entry| entry.summary.id == id).cloned())
    }

    fn text_left(&self, path: &FilePath, but: ContentHash) -> Result<Option<Vec<u8>>, JournalError> {
        let entries = locked(&self.entries);
        let done = entries.iter().rev().filter(|entry| entry.summary.state == State::Done);
        let mut here = done
            .flat_map(|entry| entry.files.iter().map(|file| (entry.summary.id, file)))
            .filter(|(_, file)| file.inverse.path == *path);
        let Some((last, file)) = here.next() else { return Ok(None) };
        let texts = locked(&self.texts);
        let kept = texts.get(path).filter(|(change, _)| *change == last && file.hash_after() != Some(but));
        Ok(kept.map(|(_, text)| text.clone()))
    }

    fn forgotten(&self, id: ChangeId) -> Result<bool, JournalError> {
        Ok(locked(&self.forgotten).contains(&id))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, JournalError> {
        let entries = locked(&self.entries);
        let listed = entries.iter().rev().map(|entry| &entry.summary).filter(|summary| fits(summary, filter));
        Ok(listed.take(filter.limit.unwrap_or(usize::MAX)).cloned().collect())
    }

    fn propose(&self, proposal: &Proposal) -> Result<ProposalId, JournalError> {
        let mut proposals = locked(&self.proposals);
        let number = proposals.len() as u64 + 1;
        let id = ProposalId(number);
        proposals.push(Proposed { id, at: number as i64, proposal: proposal.clone(), settled: None });
        Ok(id)
    }

    fn proposals(&self) -> Result<Vec<Proposed>, JournalError> {
        Ok(locked(&self.proposals).iter().filter(|found| found.settled.is_none()).cloned().collect())
    }

    fn proposal(&self, id: ProposalId) -> Result<Option<Proposed>, JournalError> {
        Ok(locked(&self.proposals).iter().find(|found| found.id == id).cloned())
    }

    fn settle_proposal(&self, id: ProposalId, settled: &Settled) -> Result<(), JournalError> {
        let mut proposals = locked(&self.proposals);
        match proposals.iter_mut().find(|found| found.id == id && found.settled.is_none()) {
            Some(found) => {
                found.settled = Some(settled.clone());
                Ok(())
            }
            None => {
                let reason = format!("no proposal {id} waits");
                Err(JournalError { action: "settle a proposal", reason })
            }
        }
    }
}

fn fits(summary: &Summary, filter: &Filter) -> bool {
    let touches = |path: &FilePath| {
        summary
            .files
            .iter()
            .any(|file| [&file.path_before, &file.path_after].into_iter().flatten().any(|p| p == path))
    };
    let pick = match filter.pick {
        None => true,
        Some(Pick::Undoable) => {
            summary.kind == Kind::Edit && summary.undone_by.is_none() && summary.state == State::Done
        }
        Some(Pick::Redoable) => matches!(summary.kind, Kind::Undo(_)) && summary.undone_by.is_none(),
    };
    summary.state != State::Abandoned
        && pick
        && filter.path.as_ref().is_none_or(touches)
        && filter.session.as_ref().is_none_or(|session| *session == summary.origin.session)
        && filter.agent.as_ref().is_none_or(|agent| Some(agent) == summary.origin.agent.as_ref())
        && filter.since.is_none_or(|since| summary.at >= since)
        && filter.until.is_none_or(|until| summary.at < until)
        && filter.after.is_none_or(|after| summary.id > after)
        && filter.before.is_none_or(|before| summary.id < before)
}
