//! Drafts: the files as they will be, so that several changes can be reverted one after the other and written at once.
//!
//! A draft is the file as it was read plus the splices to apply. Its text is built only when a merge needs it, so a large
//! file is not copied.

use std::borrow::Cow;

use super::conflict::{damaged, in_the_way};
use super::overlap::LastForeignEdit;
use crate::change::{Base, ChangeSet, DuplicatePath, FileChange, PathChange, Restore};
use crate::engine::Engine;
use crate::engine::history::PlannedRevert;
use crate::outcome::Refused;
use crate::path::FilePath;
use crate::ports::journal::FileRecord;
use crate::report::Report;
use crate::snapshot::{FileContent, Snapshot, Snapshots};
use slipstitch_text::rebase::keep_splices;
use slipstitch_text::{ContentHash, Span, Splice, Splices, diff_lines};

/// One file as it will be.
pub(super) struct Draft {
    /// The file's path and content now; `None` for a file that does not exist yet.
    origin: Option<(FilePath, ContentHash)>,
    /// The file's new path; `None` if it will be deleted.
    path: Option<FilePath>,
    /// The hash of the new text.
    pub(super) hash: ContentHash,
    /// From the current text to the new one.
    splices: Splices,
    /// The permission bits of a file that is created.
    mode: Option<u32>,
    executable: Option<bool>,
    restore: Restore,
}

/// A change of a draft.
pub(super) struct DraftEdit {
    pub(super) splices: Splices,
    /// The hash of the text with the splices applied, if it is known.
    pub(super) after: Option<ContentHash>,
    pub(super) path_change: PathChange,
    pub(super) executable: Option<bool>,
    /// What it restores besides the content.
    pub(super) restore: Restore,
}

/// The drafts of all files that an undo concerns.
pub(super) struct DraftSet<'a> {
    pub(super) engine: &'a Engine<'a>,
    files: Vec<Draft>,
    snapshots: Snapshots,
    /// The changes planned so far. Their records are only kept if further changes will be reverted.
    pub(super) planned: Vec<PlannedRevert>,
    count: ChangeCount,
}

/// How many changes are reverted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeCount {
    One,
    Several,
}

impl<'a> DraftSet<'a> {
    pub(super) fn new(engine: &'a Engine<'a>, count: ChangeCount) -> Self {
        Self { engine, files: Vec::new(), snapshots: Snapshots::default(), planned: Vec::new(), count }
    }

    /// The number of the draft that will be at a path; reads the file if there is no draft yet.
    pub(super) fn find(&mut self, path: &FilePath) -> Result<Option<usize>, Report> {
        let is_at_path = |draft: &Draft| draft.path.as_ref() == Some(path);
        if let Some(found) = self.files.iter().position(is_at_path) {
            return Ok(Some(found));
        }
        if self.files.iter().any(|draft| draft.origin.as_ref().is_some_and(|(origin, _)| origin == path)) {
            return Ok(None);
        }
        self.engine.read_into(&mut self.snapshots, path)?;
        let draft = self.snapshots.get(path).map(|snapshot| Draft::of(path, snapshot));
        self.files.extend(draft);
        Ok(self.files.iter().position(is_at_path))
    }

    pub(super) fn draft(&self, number: usize) -> &Draft {
        &self.files[number]
    }

    /// The current text.
    fn base(&self, draft: &Draft) -> &[u8] {
        draft.origin.as_ref().map_or(&[], |(path, _)| self.snapshots.bytes(path))
    }

    /// Fails if a large file has changed since it was read.
    pub(super) fn check_unchanged(&self) -> Result<(), Report> {
        self.engine.check_unchanged(&self.snapshots)
    }

    /// The current file, if the draft does not change it yet.
    pub(super) fn unchanged(&self, number: usize) -> Option<&Snapshot> {
        let draft = &self.files[number];
        let (path, _) = draft.origin.as_ref().filter(|_| draft.splices.is_empty())?;
        self.snapshots.get(path)
    }

    /// The length of the new text.
    pub(super) fn new_len(&self, number: usize) -> usize {
        self.files[number].splices.new_len()
    }

    /// The hash of the new text with `splices` applied.
    pub(super) fn hash_after(&self, number: usize, splices: &Splices) -> ContentHash {
        match self.unchanged(number) {
            Some(snapshot) => snapshot.hash_after(splices),
            None => splices.hash_after(&self.bytes(number)),
        }
    }

    /// The new text.
    pub(super) fn bytes(&self, number: usize) -> Cow<'_, [u8]> {
        let draft = &self.files[number];
        match draft.splices.is_empty() {
            true => Cow::Borrowed(self.base(draft)),
            false => Cow::Owned(draft.splices.apply(self.base(draft))),
        }
    }

    /// The text that the last recorded change left in a draft's file, if the file has a different one now.
    pub(super) fn last_text(&self, number: usize) -> Result<Option<Vec<u8>>, Report> {
        let Some((path, hash)) = &self.files[number].origin else { return Ok(None) };
        Ok(self.engine.journal.last_text(path, *hash)?)
    }

    /// What was done to a draft's file without a record since its last recorded change, if that is known.
    pub(super) fn last_foreign_edit(&self, number: usize) -> Result<Option<LastForeignEdit>, Report> {
        let Some((_, hash)) = self.files[number].origin else { return Ok(None) };
        let last = self.last_text(number)?;
        Ok(last.map(|last| LastForeignEdit::between(&last, self.base(&self.files[number]), hash)))
    }

    /// The draft as if it had been read from a file.
    pub(super) fn snapshot(&self, number: usize) -> Snapshot {
        let draft = &self.files[number];
        let origin = draft.origin.as_ref().and_then(|(path, _)| self.snapshots.get(path));
        let meta = origin.map(|snapshot| snapshot.meta().clone()).unwrap_or_default();
        let bytes = self.bytes(number).into_owned().into();
        Snapshot::new(FileContent { bytes, meta }, self.engine.encoding)
    }

    /// Restores a deleted file.
    pub(super) fn create(&mut self, record: &FileRecord) -> Result<(), Report> {
        let inverse = &record.inverse;
        if self.find(&inverse.path)?.is_some() {
            return Err(in_the_way(&inverse.path));
        }
        let is_intact = inverse.splices.base_len() == 0;
        let bytes = if is_intact { inverse.splices.apply(&[]) } else { Vec::new() };
        let hash = ContentHash::of(&bytes);
        if !is_intact || inverse.after != Some(hash) {
            return Err(damaged(&inverse.path));
        }
        if self.count == ChangeCount::Several {
            self.plan_record(FileRecord::new(inverse.invert(&[])));
        }
        self.files.push(Draft {
            origin: None,
            path: Some(inverse.path.clone()),
            splices: Splices::one(0, Span::new(0, 0), bytes),
            hash,
            mode: inverse.mode,
            executable: None,
            restore: inverse.restore.clone(),
        });
        Ok(())
    }

    /// Adds a record to the change that is being planned.
    fn plan_record(&mut self, record: FileRecord) {
        if let Some(change) = self.planned.last_mut() {
            change.records.push(record);
        }
    }

    /// Changes a draft.
    pub(super) fn edit(&mut self, number: usize, edit: DraftEdit) {
        let draft = &self.files[number];
        let Some(path) = draft.path.clone() else { return };
        let splices = match draft.splices.is_empty() {
            true => edit.splices.clone(),
            false => draft.splices.then(&edit.splices),
        };
        let hash = edit.after.unwrap_or_else(|| self.hash_after(number, &edit.splices));
        let is_deleted = edit.path_change == PathChange::Delete;
        let change = FileChange {
            path,
            base: Base::Content(draft.hash),
            path_change: edit.path_change,
            splices: edit.splices,
            after: (!is_deleted).then_some(hash),
            mode: draft.mode,
            executable: edit.executable,
            restore: Restore::default(),
            edits: Vec::new(),
            notes: Vec::new(),
            totals: None,
        };
        if self.count == ChangeCount::Several {
            let inverse = change.invert(&self.bytes(number));
            self.plan_record(FileRecord::new(inverse));
        }
        let draft = &mut self.files[number];
        draft.path = change.path_after().cloned();
        // Setting the bit and clearing it again cancel out.
        draft.executable = match (draft.executable, edit.executable) {
            (Some(before), Some(now)) if before != now => None,
            (before, now) => now.or(before),
        };
        (draft.splices, draft.hash) = (splices, hash);
        draft.restore.folders.extend(edit.restore.folders);
        draft.restore.parents.extend(edit.restore.parents);
    }

    /// The change from the current files to the drafts.
    pub(super) fn finish(mut self) -> Result<(ChangeSet, Snapshots), Report> {
        self.join_recreated_files();
        for draft in &mut self.files {
            if let Some(before) = draft.origin.as_ref().and_then(|(path, _)| self.snapshots.get(path)) {
                draft.splices =
                    keep_splices(&draft.splices, |splice| *before.bytes_in(splice.at) != *splice.insert);
            }
        }
        let changes: Vec<FileChange> = self
            .files
            .into_iter()
            .filter_map(Draft::into_change)
            .filter(|change| !change.is_empty())
            .collect();
        let changes = ChangeSet::new(changes).map_err(|DuplicatePath(path)| {
            // Only moves can cause this: a deleted and a created file at one path were joined into one.
            let message = format!(
                "the changes cannot be undone together: `{path}` was a different file before them than it is now"
            );
            Report::new(Refused::ChangedSince, message)
                .hint("Nothing was written. Undo them one by one, newest first.")
        })?;
        Ok((changes, self.snapshots))
    }

    /// Turns a file that is deleted and created again at the same path into one that changes.
    fn join_recreated_files(&mut self) {
        let mut number = 0;
        while number < self.files.len() {
            let created = &self.files[number];
            let deleted = created.path.as_ref().filter(|_| created.origin.is_none()).and_then(|path| {
                self.files.iter().position(|draft| {
                    draft.path.is_none() && draft.origin.as_ref().is_some_and(|(origin, _)| origin == path)
                })
            });
            match deleted {
                None => number += 1,
                Some(deleted) => {
                    let splices = line_splices(self.base(&self.files[deleted]), &self.bytes(number));
                    let created = self.files.remove(number);
                    let deleted = if deleted > number { deleted - 1 } else { deleted };
                    let draft = &mut self.files[deleted];
                    (draft.path, draft.splices, draft.hash) = (created.path, splices, created.hash);
                }
            }
        }
    }
}

/// The splices from one text to another, line by line.
fn line_splices(old: &[u8], new: &[u8]) -> Splices {
    let splices = diff_lines(old, new).into_iter().map(|change| Splice {
        at: Span::new(change.old.start, change.old.end),
        insert: new[change.new].into(),
    });
    Splices::new(old.len(), splices.collect())
        .unwrap_or_else(|_| Splices::one(old.len(), Span::new(0, old.len()), new.to_vec()))
}

impl Draft {
    fn of(path: &FilePath, snapshot: &Snapshot) -> Self {
        Self {
            origin: Some((path.clone(), snapshot.hash())),
            path: Some(path.clone()),
            hash: snapshot.hash(),
            splices: Splices::none(snapshot.byte_len()),
            mode: snapshot.meta().mode,
            executable: None,
            restore: Restore::default(),
        }
    }

    fn into_change(self) -> Option<FileChange> {
        let (path, base, path_change) = match (self.origin, self.path) {
            (None, None) => return None,
            (None, Some(path)) => (path, Base::Absent, PathChange::Keep),
            (Some((path, hash)), None) => (path, Base::Content(hash), PathChange::Delete),
            (Some((path, hash)), Some(to)) if path == to => (path, Base::Content(hash), PathChange::Keep),
            (Some((path, hash)), Some(to)) => (path, Base::Content(hash), PathChange::Move(to)),
        };
        let is_deleted = path_change == PathChange::Delete;
        let notes = match base {
            Base::Absent if self.restore.attributes.is_none() => vec![format!(
                "`{path}` is created again with its old bytes and permission bits; its owner, access list and extended \
                 attributes are not restored"
            )],
            Base::Absent | Base::Content(_) => Vec::new(),
        };
        let restore = match (base, &path_change) {
            (Base::Absent, _) => Restore { folders: Vec::new(), ..self.restore },
            (Base::Content(_), PathChange::Keep) => Restore::default(),
            (Base::Content(_), PathChange::Delete) => {
                Restore { folders: self.restore.folders, ..Restore::default() }
            }
            (Base::Content(_), PathChange::Move(_)) => Restore { attributes: None, ..self.restore },
        };
        // Earlier edits of a text that is deleted do not matter.
        let splices = match is_deleted {
            true => Splices::one(self.splices.base_len(), Span::new(0, self.splices.base_len()), Vec::new()),
            false => self.splices,
        };
        Some(FileChange {
            path,
            base,
            path_change,
            splices,
            after: (!is_deleted).then_some(self.hash),
            mode: self.mode,
            executable: self.executable.filter(|_| !is_deleted),
            restore,
            edits: Vec::new(),
            notes,
            totals: None,
        })
    }
}
