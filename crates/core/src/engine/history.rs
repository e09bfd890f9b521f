//! A file's history as the journal knows it: its earlier texts, and what was done to it since.
//!
//! The journal stores the inverse of each change, not whole files. An earlier text is rebuilt from the current one by
//! reverting changes one after the other, and each intermediate text must have the hash that the journal recorded. So a
//! foreign change (one that is not in the journal, made in an editor for example) is always noticed. For short files
//! the journal also keeps the last text, so that a foreign change can be reverted too; for others, the history ends
//! there.

use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::ports::journal::{
    ChangeKind, ChangeState, Entry, FileRecord, FileSummary, Filter, ForeignEdit, Journal, JournalError,
    JournalErrorKind, RecordedText, Summary,
};
use slipstitch_text::rebase::drop_noops;
use slipstitch_text::{ContentHash, Splices, Step, VersionClaim, compose_restoring, diff_splices};
use std::collections::HashMap;

/// How many changes of a file are read.
const MAX_STEPS: usize = 20_000;

/// How many of them are read at once.
const PAGE: usize = 128;

/// How many bytes of intermediate texts are built.
const MAX_BYTES: usize = 1 << 30;

/// An earlier version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierVersion {
    /// Its text.
    pub bytes: Vec<u8>,
    /// What was done to that text since.
    pub since: Splices,
    /// The splices of each change in turn; empty if only the outcome is known.
    pub steps: Vec<Splices>,
}

/// One change of a file.
#[derive(Debug, Clone)]
pub struct HistoryStep {
    /// The change that it is part of; `None` if it is only planned.
    pub by: Option<ChangeId>,
    /// The file's record in that change.
    pub record: FileRecord,
    /// The changes that it reverts.
    pub reverts: Vec<ChangeId>,
}

/// The reversal of a change that is planned together with others.
#[derive(Debug, Clone)]
pub struct PlannedRevert {
    /// The change to revert.
    pub of: ChangeId,
    /// The records of its files.
    pub records: Vec<FileRecord>,
}

/// What happened to a file after some change.
#[derive(Debug, Clone, Default)]
pub struct FileHistory {
    /// The changes, oldest first.
    pub steps: Vec<HistoryStep>,
    /// The file's path now; `None` if it was deleted.
    pub path: Option<FilePath>,
    /// Path and content of the file when it was deleted, unless it was restored.
    deleted: Option<(FilePath, ContentHash)>,
}

/// Reverts changes one by one, starting from the current text.
struct Rewind {
    bytes: Vec<u8>,
    hash: ContentHash,
    /// From `bytes` to the current text.
    since: Splices,
    /// The changes that were reverted, newest first.
    steps: Vec<Splices>,
    budget: usize,
}

impl Rewind {
    fn new(bytes: &[u8], hash: ContentHash) -> Self {
        Self {
            bytes: bytes.to_vec(),
            hash,
            since: Splices::none(bytes.len()),
            steps: Vec::new(),
            budget: MAX_BYTES,
        }
    }

    /// Reverts a recorded change. Returns false if the change does not match the text.
    fn revert(&mut self, record: &FileRecord) -> bool {
        match record.hash_before() {
            Some(before) if record.hash_after() == Some(self.hash) => {
                self.apply_inverse(&record.inverse.splices, before)
            }
            _ => false,
        }
    }

    /// Reverts a foreign edit, if there was one, to reach the text with the hash `target`, and returns its inverse.
    /// `foreign_edit` is what the recorded change after it stored; if none came after it, `last` is the text that the last
    /// recorded change left.
    fn revert_foreign_edit(
        &mut self,
        target: ContentHash,
        foreign_edit: Option<&ForeignEdit>,
        last: Option<&[u8]>,
    ) -> Option<Splices> {
        if self.hash == target {
            return Some(Splices::none(self.bytes.len()));
        }
        let inverse = match (foreign_edit, last) {
            (Some(edit), _) if edit.hash_before == target => edit.splices.clone(),
            (None, Some(last)) if ContentHash::of(last) == target => diff_splices(&self.bytes, last),
            _ => return None,
        };
        self.apply_inverse(&inverse, target).then_some(inverse)
    }

    /// Applies the inverse of a change if it fits the text and leads to the text with the hash `target`.
    fn apply_inverse(&mut self, inverse: &Splices, target: ContentHash) -> bool {
        if inverse.base_len() != self.bytes.len() {
            return false;
        }
        let Some(budget) = self.budget.checked_sub(inverse.new_len()) else { return false };
        let before = inverse.apply(&self.bytes);
        if ContentHash::of(&before) != target {
            return false;
        }
        let step = inverse.invert(&self.bytes);
        self.since = step.then(&self.since);
        self.steps.push(step);
        (self.bytes, self.hash, self.budget) = (before, target, budget);
        true
    }

    fn finish(mut self) -> EarlierVersion {
        let since = drop_noops(&self.since, &self.bytes);
        self.steps.reverse();
        EarlierVersion { bytes: self.bytes, since, steps: self.steps }
    }
}

impl FileHistory {
    /// What happened to the file at `path` after the change `since`, following renames.
    pub fn since(journal: &dyn Journal, since: ChangeId, path: &FilePath) -> Result<Self, JournalError> {
        let mut history = Self { path: Some(path.clone()), ..Self::default() };
        let mut last = since;
        'names: while let Some(path) = history.path.clone() {
            let mut changes = changes_of(journal, &path, Some(last), None, MAX_STEPS)?;
            changes.reverse();
            for change in changes {
                let Some(position) = position(&change, &path) else { continue };
                let Some(entry) = usable_entry(journal, change.id)? else { continue };
                let Some(record) = entry.files.into_iter().nth(position) else { continue };
                let reverts = match &change.kind {
                    ChangeKind::Edit => Vec::new(),
                    ChangeKind::Undo(undone) => undone.ids().to_vec(),
                    ChangeKind::Redo(undo) => vec![*undo],
                };
                history.add(HistoryStep { by: Some(change.id), record, reverts });
                if history.path.as_ref().is_some_and(|now| *now != path) {
                    last = change.id;
                    continue 'names;
                }
            }
            break;
        }
        Ok(history)
    }

    /// Appends planned changes. The files of one change move at once, so at most one of its records concerns a file that
    /// exists.
    pub fn add_planned<'a>(&mut self, planned: impl IntoIterator<Item = &'a PlannedRevert>) {
        for change in planned {
            let is_at_path = |record: &&FileRecord| {
                record.path_before().is_some_and(|before| Some(before) == self.path.as_ref())
            };
            let here = change.records.iter().find(is_at_path);
            let records = here.map_or(&change.records[..], std::slice::from_ref);
            for record in records {
                self.add(HistoryStep { by: None, record: record.clone(), reverts: vec![change.of] });
            }
        }
    }

    /// Adds a change if it concerns this file.
    fn add(&mut self, step: HistoryStep) {
        let record = &step.record;
        let (before, after) = (record.path_before().cloned(), record.path_after().cloned());
        if let Some((path, hash)) = &self.deleted {
            // A file that was deleted and restored with the same content counts as untouched.
            if before.is_none() && after.as_ref() == Some(path) && record.hash_after() == Some(*hash) {
                self.steps.pop();
                (self.path, self.deleted) = (after, None);
            }
            return;
        }
        // A file created at this path replaces this one, so the history ends there.
        if self.path.is_none() || (before != self.path && (before.is_some() || after != self.path)) {
            return;
        }
        if after.is_none() {
            self.deleted = before.zip(record.hash_before());
        }
        self.path = after;
        self.steps.push(step);
    }

    /// The version with the hash `target`, before all of these changes, rebuilt from the text after them. `None` if
    /// there was a foreign change that cannot be reverted. `last` is the text that the last recorded change left, if the
    /// file has a different one now.
    pub fn version_before(
        &self,
        bytes: &[u8],
        hash: ContentHash,
        target: ContentHash,
        last: Option<&[u8]>,
    ) -> Option<EarlierVersion> {
        let mut rewind = Rewind::new(bytes, hash);
        let mut foreign_edit = None;
        // The recorded change behind each step of the rewind.
        let mut recorded: Vec<Option<&HistoryStep>> = Vec::new();
        for step in self.steps.iter().rev() {
            let after = step.record.hash_after()?;
            rewind.revert_foreign_edit(after, foreign_edit, last)?;
            recorded.resize(rewind.steps.len(), None);
            if !rewind.revert(&step.record) {
                return None;
            }
            recorded.push(Some(step));
            foreign_edit = step.record.foreign_edit.as_ref();
        }
        rewind.revert_foreign_edit(target, foreign_edit, last)?;
        recorded.resize(rewind.steps.len(), None);
        recorded.reverse();
        let mut earlier = rewind.finish();
        if self.steps.iter().any(|step| !step.reverts.is_empty()) {
            earlier.since = drop_noops(&since_with_restored(&earlier, &recorded), &earlier.bytes);
        }
        Some(earlier)
    }

    /// The change that moved the file last.
    pub fn last_move(&self) -> Option<ChangeId> {
        let moves = |step: &&HistoryStep| step.record.path_before() != step.record.path_after();
        self.steps.iter().rev().find(moves)?.by
    }

    /// The recorded changes, oldest first.
    pub fn recorded_changes(&self) -> Vec<ChangeId> {
        self.steps.iter().filter_map(|step| step.by).collect()
    }
}

/// What was done since an earlier version, where text that an undo put back counts as kept. `recorded` has the change behind
/// each of the version's steps.
fn since_with_restored(earlier: &EarlierVersion, recorded: &[Option<&HistoryStep>]) -> Splices {
    let mut steps = Vec::with_capacity(recorded.len());
    let mut positions = HashMap::new();
    for (position, (splices, step)) in earlier.steps.iter().zip(recorded).enumerate() {
        let reverts = step.map_or(&[][..], |step| &step.reverts);
        let reverts = reverts.iter().filter_map(|id| positions.get(id).copied()).collect();
        steps.push(Step { splices, reverts });
        positions.extend(step.and_then(|step| step.by).map(|by| (by, position)));
    }
    compose_restoring(&earlier.bytes, &steps)
}

/// The version of the file at `path` that `claim` names, rebuilt from the current text; `None` if the journal does not
/// lead to it.
pub fn find_version(
    journal: &dyn Journal,
    path: &FilePath,
    bytes: &[u8],
    hash: ContentHash,
    claim: &VersionClaim,
) -> Result<Option<EarlierVersion>, JournalError> {
    let mut walk = HistoryWalk::new(journal, path, bytes, hash, WalkLimits::ALL)?.toward(claim);
    while walk.step()?.is_some() {
        if claim.matches(walk.hash(), walk.bytes()) {
            return Ok(Some(walk.finish()));
        }
    }
    Ok(None)
}

/// How far a [`HistoryWalk`] goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WalkLimits {
    /// How many changes are reverted.
    pub(crate) changes: usize,
    /// How many bytes of texts are built.
    pub(crate) bytes: usize,
}

impl WalkLimits {
    /// As far as any walk goes.
    const ALL: Self = Self { changes: MAX_STEPS, bytes: MAX_BYTES };
}

/// One step of a walk.
#[derive(Debug)]
pub(crate) struct Reverted {
    /// What was reverted.
    pub(crate) change: RevertedChange,
    /// From the text before the step to the earlier one.
    pub(crate) inverse: Splices,
    /// The hash of the earlier text.
    hash: ContentHash,
}

/// What a step of a walk reverted.
#[derive(Debug)]
pub(crate) enum RevertedChange {
    /// A recorded change.
    Recorded(Box<Summary>),
    /// A foreign change of the text that this recorded change left.
    Foreign {
        /// The recorded change.
        after: ChangeId,
    },
}

impl RevertedChange {
    /// The recorded change that the text reached by the step comes right before or right after.
    pub(crate) fn nearest(&self) -> ChangeId {
        match self {
            Self::Recorded(change) => change.id,
            Self::Foreign { after } => *after,
        }
    }
}

/// Goes through the recorded changes of a file, from the current text back as far as the journal leads, and through its
/// renames. It follows the recorded hashes and builds no texts, so a step costs the same for any size of file.
pub(crate) struct RecordWalk<'a> {
    journal: &'a dyn Journal,
    /// The file's path at this point.
    path: FilePath,
    /// The changes at that path that were listed and not visited yet, newest first.
    changes: std::vec::IntoIter<Summary>,
    /// Where the next page begins; `None` after the last page.
    next_page: Option<PageStart>,
    /// Stops where no change leads to this version.
    goal: Option<&'a VersionClaim>,
    /// The current text.
    now: &'a [u8],
    /// The hash of the text that was reached.
    hash: ContentHash,
    /// The text that the last recorded change left, if the file has a different one now.
    last: Option<Vec<u8>>,
    /// What the change that was reverted last says about a foreign change before it.
    foreign_edit: Option<ForeignEdit>,
    /// A change whose result was reached by reverting a foreign change, to be reverted next.
    next: Option<(Summary, FileRecord)>,
    changes_left: usize,
}

/// Where a page of changes begins.
#[derive(Clone, Copy)]
struct PageStart {
    before: Option<ChangeId>,
}

impl<'a> RecordWalk<'a> {
    pub(crate) fn new(
        journal: &'a dyn Journal,
        path: &FilePath,
        now: &'a [u8],
        hash: ContentHash,
    ) -> Result<Self, JournalError> {
        Ok(Self {
            journal,
            path: path.clone(),
            changes: Vec::new().into_iter(),
            next_page: Some(PageStart { before: None }),
            goal: None,
            now,
            hash,
            last: journal.last_text(path, hash)?,
            foreign_edit: None,
            next: None,
            changes_left: MAX_STEPS,
        })
    }

    /// The hash of the text that was reached.
    pub(crate) fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Reverts the newest change that is not reverted yet, recorded or foreign. `None` if the journal leads no further.
    pub(crate) fn step(&mut self) -> Result<Option<Reverted>, JournalError> {
        let (change, record) = match self.next.take() {
            Some(next) => next,
            None => match self.next_change()? {
                Some(next) => next,
                None => return Ok(None),
            },
        };
        let Some(after) = record.hash_after() else { return Ok(None) };
        if self.hash != after {
            let Some(inverse) = self.foreign_inverse(after) else { return Ok(None) };
            let foreign = RevertedChange::Foreign { after: change.id };
            self.next = Some((change, record));
            self.hash = after;
            return Ok(Some(Reverted { change: foreign, inverse, hash: after }));
        }
        let Some(before) = record.hash_before().filter(|_| record.text != RecordedText::Withheld) else {
            return Ok(None);
        };
        if let Some(name) = record.path_before().filter(|name| **name != self.path) {
            self.path = name.clone();
            self.changes = Vec::new().into_iter();
            self.next_page = Some(PageStart { before: Some(change.id) });
        }
        (self.hash, self.foreign_edit) = (before, record.foreign_edit);
        let change = RevertedChange::Recorded(Box::new(change));
        Ok(Some(Reverted { change, inverse: record.inverse.splices, hash: before }))
    }

    /// The inverse of a foreign change that followed the text with the hash `target`, if it is known: the recorded change
    /// after it stored it, or else the text that the last recorded change left is kept.
    fn foreign_inverse(&self, target: ContentHash) -> Option<Splices> {
        match (&self.foreign_edit, &self.last) {
            (Some(edit), _) if edit.hash_before == target => Some(edit.splices.clone()),
            (None, Some(last)) if ContentHash::of(last) == target => Some(diff_splices(self.now, last)),
            _ => None,
        }
    }

    /// The next older change of the file, with the file's record.
    fn next_change(&mut self) -> Result<Option<(Summary, FileRecord)>, JournalError> {
        let change = loop {
            if let Some(change) = self.changes.next() {
                break change;
            }
            let Some(start) = self.next_page.take() else { return Ok(None) };
            if !self.list_page(start)? {
                return Ok(None);
            }
        };
        let Some(left) = self.changes_left.checked_sub(1) else { return Ok(None) };
        self.changes_left = left;
        // If the last change at this path left no file here, a foreign change created the current one.
        let created = change.files.iter().position(|file| file.path_after.as_ref() == Some(&self.path));
        let Some(position) = created else { return Ok(None) };
        let Some(entry) = usable_entry(self.journal, change.id)? else { return Ok(None) };
        Ok(entry.files.into_iter().nth(position).map(|record| (change, record)))
    }

    /// Lists more changes. Returns false if none of them leads to the goal.
    fn list_page(&mut self, start: PageStart) -> Result<bool, JournalError> {
        // With a goal, all are listed, to find out whether one leads to it.
        let limit = self.goal.map_or(PAGE, |_| self.changes_left);
        let filter = Filter {
            path: Some(self.path.clone()),
            before: start.before,
            limit: Some(limit),
            ..Filter::default()
        };
        let mut found = self.journal.list(&filter)?;
        if found.len() == limit && self.goal.is_none() {
            self.next_page = found.last().map(|last| PageStart { before: Some(last.id) });
        }
        found.retain(|change| change.state == ChangeState::Done);
        let leads = |goal| found.iter().any(|change| may_lead_to(change, &self.path, goal));
        let goes_on = self.goal.is_none_or(leads);
        self.changes = found.into_iter();
        Ok(goes_on)
    }
}

/// Goes through the texts of a file, from the current one back as far as the journal leads, and through its renames.
pub(crate) struct HistoryWalk<'a> {
    records: RecordWalk<'a>,
    rewind: Rewind,
}

impl<'a> HistoryWalk<'a> {
    pub(crate) fn new(
        journal: &'a dyn Journal,
        path: &FilePath,
        bytes: &'a [u8],
        hash: ContentHash,
        limits: WalkLimits,
    ) -> Result<Self, JournalError> {
        let records = RecordWalk::new(journal, path, bytes, hash)?;
        Ok(Self {
            records: RecordWalk { changes_left: limits.changes, ..records },
            rewind: Rewind { budget: limits.bytes, ..Rewind::new(bytes, hash) },
        })
    }

    /// Gives up as soon as it is clear that the journal does not lead to a version.
    fn toward(mut self, claim: &'a VersionClaim) -> Self {
        self.records.goal = Some(claim);
        self
    }

    /// The file's path at this point.
    pub(crate) fn path(&self) -> &FilePath {
        &self.records.path
    }

    /// The text that was reached.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.rewind.bytes
    }

    /// Its hash.
    pub(crate) fn hash(&self) -> ContentHash {
        self.rewind.hash
    }

    fn finish(self) -> EarlierVersion {
        self.rewind.finish()
    }

    /// Reverts the newest change that is not reverted yet, recorded or foreign. `None` if the journal leads no further.
    pub(crate) fn step(&mut self) -> Result<Option<Reverted>, JournalError> {
        let Some(step) = self.records.step()? else { return Ok(None) };
        Ok(self.rewind.apply_inverse(&step.inverse, step.hash).then_some(step))
    }
}

/// A change with its inverse; `None` if it is not in the journal any more or its record is damaged. Then the history ends
/// there, as at a change that was never recorded.
fn usable_entry(journal: &dyn Journal, id: ChangeId) -> Result<Option<Entry>, JournalError> {
    match journal.entry(id) {
        Err(error) if error.kind == JournalErrorKind::Damaged => Ok(None),
        found => found,
    }
}

/// Whether a change may have had the claimed version at a path, or moved the file there. A cheap check that avoids
/// rebuilding texts in vain.
fn may_lead_to(change: &Summary, path: &FilePath, claim: &VersionClaim) -> bool {
    change.files.iter().any(|file| {
        let moved = file.path_after.as_ref() == Some(path) && file.path_before.as_ref() != Some(path);
        let hashes = [file.hash_before, file.hash_after];
        moved || hashes.into_iter().flatten().any(|hash| claim.may_match(hash))
    })
}

/// The changes of a path that were applied, newest first.
fn changes_of(
    journal: &dyn Journal,
    path: &FilePath,
    after: Option<ChangeId>,
    before: Option<ChangeId>,
    limit: usize,
) -> Result<Vec<Summary>, JournalError> {
    let filter = Filter { path: Some(path.clone()), after, before, limit: Some(limit), ..Filter::default() };
    let mut found = journal.list(&filter)?;
    found.retain(|change| change.state == ChangeState::Done);
    Ok(found)
}

/// The text that the file at `path` had when its last recorded change deleted it, or moved it to the file that has the content
/// `moved` now.
pub(crate) fn text_before_removal(
    journal: &dyn Journal,
    path: &FilePath,
    moved: &[u8],
) -> Result<Option<Vec<u8>>, JournalError> {
    let last = changes_of(journal, path, None, None, 1)?.pop();
    let removed = last.and_then(|change| {
        let is_removed = |file: &FileSummary| {
            file.path_before.as_ref() == Some(path) && file.path_after.as_ref() != Some(path)
        };
        Some((change.id, change.files.iter().position(is_removed)?))
    });
    let Some((id, position)) = removed else { return Ok(None) };
    let Some(entry) = usable_entry(journal, id)? else { return Ok(None) };
    let Some(record) = entry.files.into_iter().nth(position) else { return Ok(None) };
    let (inverse, after) = (&record.inverse.splices, if record.path_after().is_some() { moved } else { b"" });
    if record.text == RecordedText::Withheld || inverse.base_len() != after.len() {
        return Ok(None);
    }
    let before = inverse.apply(after);
    Ok(Some(before).filter(|before| record.hash_before() == Some(ContentHash::of(before))))
}

/// The position of the file in a change that was at `path` before it, or else is there after it.
fn position(change: &Summary, path: &FilePath) -> Option<usize> {
    let find = |path_of: fn(&FileSummary) -> &Option<FilePath>| {
        change.files.iter().position(|file| path_of(file).as_ref() == Some(path))
    };
    find(|file| &file.path_before).or_else(|| find(|file| &file.path_after))
}

/// A point in a file's history at which something outside the journal changed it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ForeignChange {
    /// The file.
    pub path: FilePath,
    /// The last recorded change before it.
    pub after: ChangeId,
    /// The first recorded change since, if there is one.
    pub before: Option<ChangeId>,
}

/// Finds foreign changes to the files of `changes`, before or after each of these. `current_hash` reads the content of
/// a file: `Some(None)` if there is no file, `None` if that cannot be determined.
pub fn find_foreign_changes(
    journal: &dyn Journal,
    changes: &[Summary],
    mut current_hash: impl FnMut(&FilePath) -> Option<Option<ContentHash>>,
) -> Result<Vec<ForeignChange>, JournalError> {
    let mut found = Vec::new();
    for change in changes {
        for file in &change.files {
            // A file that takes the path of one that moves away tells nothing about the file before.
            let takes_place = file.path_before.is_none()
                && change
                    .files
                    .iter()
                    .any(|other| other.path_before.is_some() && other.path_before == file.path_after);
            if let Some(path) = file.path_before.as_ref().or(file.path_after.as_ref())
                && !takes_place
                && let Some(after) = differs_from_last(journal, path, Some(change.id), file.hash_before)?
            {
                found.push(ForeignChange { path: path.clone(), after, before: Some(change.id) });
            }
            if let Some(path) = file.path_after.as_ref().or(file.path_before.as_ref())
                && is_last(journal, change, path)?
                && let Some(current) = current_hash(path)
                && let Some(after) = differs_from_last(journal, path, None, current)?
            {
                found.push(ForeignChange { path: path.clone(), after, before: None });
            }
        }
    }
    Ok(found)
}

/// Whether a change is the last recorded one at a path.
fn is_last(journal: &dyn Journal, change: &Summary, path: &FilePath) -> Result<bool, JournalError> {
    Ok(journal.states_of(path, None, 1)?.first().is_none_or(|last| last.change <= change.id))
}

/// The last change of a path before the change `before`, if it left other content than was found.
fn differs_from_last(
    journal: &dyn Journal,
    path: &FilePath,
    before: Option<ChangeId>,
    found: Option<ContentHash>,
) -> Result<Option<ChangeId>, JournalError> {
    // A pending change may or may not have reached the file, so the change before it is considered too.
    const MAX_PENDING: usize = 3;
    for last in journal.states_of(path, before, MAX_PENDING)? {
        if last.hash == found {
            return Ok(None);
        }
        if last.state == ChangeState::Done {
            // A recorded change that was pruned may have been in between, so nothing is certain. The oldest changes are
            // pruned first, so a gap begins right there.
            const MAX_CHECKED: u64 = 64;
            let end =
                before.map_or(u64::MAX, |before| before.0).min(last.change.0.saturating_add(MAX_CHECKED));
            let is_certain = !journal.any_pruned_between(last.change, ChangeId(end))?;
            return Ok(is_certain.then_some(last.change));
        }
    }
    Ok(None)
}
