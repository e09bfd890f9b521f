//! The life of a file as the journal knows it: what it was at an earlier time, and what was done to it since.
//!
//! The journal keeps what takes each change back, not whole files. An earlier text is made from the present one by
//! taking changes back one after the other, and every text on the way must have the hash that the journal says. So a
//! change that is not in the journal, made with an editor for example, is always noticed. Of short files the journal
//! keeps the last text, so that such a gap can be crossed; of others the way ends there.

use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::ports::journal::{FileRecord, FileSummary, Filter, Gap, Journal, JournalError, State, Summary};
use slipstitch_text::rebase::drop_noops;
use slipstitch_text::{ContentHash, VersionClaim};
use slipstitch_text::{Splices, diff_splices};

/// How many changes of a file are gone back through.
const MAX_STEPS: usize = 4000;

/// How many bytes of text are made on the way back.
const MAX_BYTES: usize = 1 << 30;

/// An earlier text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// The text.
    pub bytes: Vec<u8>,
    /// What was done to it since.
    pub later: Splices,
}

/// One change of a file.
#[derive(Debug, Clone)]
pub struct Step {
    /// The change that it is part of; none if it is only planned.
    pub by: Option<ChangeId>,
    /// What takes it back.
    pub record: FileRecord,
}

/// What became of a file since some change.
#[derive(Debug, Clone, Default)]
pub struct Life {
    /// What was done to it, oldest first.
    pub steps: Vec<Step>,
    /// Where it is now; nowhere if it was removed.
    pub path: Option<FilePath>,
    /// What was removed, and where, as long as nobody has brought it back.
    gone: Option<(FilePath, ContentHash)>,
}

/// A text made out of the present one, with what leads from it to the present.
struct Way {
    bytes: Vec<u8>,
    hash: ContentHash,
    later: Splices,
    budget: usize,
}

impl Way {
    fn start(bytes: &[u8], hash: ContentHash) -> Self {
        Self { bytes: bytes.to_vec(), hash, later: Splices::none(bytes.len()), budget: MAX_BYTES }
    }

    /// One change further back. Says whether the change is known to have made this text, and out of which.
    fn back(&mut self, record: &FileRecord) -> bool {
        let inverse = &record.inverse.splices;
        let fits = record.hash_after() == Some(self.hash) && inverse.base_len() == self.bytes.len();
        let (true, Some(wanted)) = (fits, record.hash_before()) else { return false };
        let Some(left) = self.budget.checked_sub(inverse.new_len()) else { return false };
        let before = inverse.apply(&self.bytes);
        if ContentHash::of(&before) != wanted {
            return false;
        }
        self.later = inverse.invert(&self.bytes).then(&self.later);
        (self.bytes, self.hash, self.budget) = (before, wanted, left);
        true
    }

    /// Over a gap, to the text with that hash. `gap` is what our change after the gap noted; before all of them, `last`
    /// is the text that the last one left.
    fn cross(&mut self, wanted: ContentHash, gap: Option<&Gap>, last: Option<&[u8]>) -> bool {
        if self.hash == wanted {
            return true;
        }
        let splices = match (gap, last) {
            (Some(gap), _) if gap.left == wanted => gap.splices.clone(),
            (None, Some(last)) if ContentHash::of(last) == wanted => diff_splices(&self.bytes, last),
            _ => return false,
        };
        if splices.base_len() != self.bytes.len() {
            return false;
        }
        let Some(left) = self.budget.checked_sub(splices.new_len()) else { return false };
        let before = splices.apply(&self.bytes);
        if ContentHash::of(&before) != wanted {
            return false;
        }
        self.later = splices.invert(&self.bytes).then(&self.later);
        (self.bytes, self.hash, self.budget) = (before, wanted, left);
        true
    }

    fn end(self) -> Earlier {
        let later = drop_noops(&self.later, &self.bytes);
        Earlier { bytes: self.bytes, later }
    }
}

impl Life {
    /// What was done to the file at `path` since the change `since`, following it to other names.
    pub fn since(journal: &dyn Journal, since: ChangeId, path: &FilePath) -> Result<Self, JournalError> {
        let mut life = Self { path: Some(path.clone()), ..Self::default() };
        let mut known = since;
        'names: while let Some(path) = life.path.clone() {
            let mut changes = changes_of(journal, &path, Some(known), None)?;
            changes.reverse();
            for change in changes {
                let Some(position) = position(&change, &path) else { continue };
                let Some(entry) = journal.entry(change.id)? else { continue };
                let Some(record) = entry.files.into_iter().nth(position) else { continue };
                life.add(Some(change.id), record);
                if life.path.as_ref().is_some_and(|now| *now != path) {
                    known = change.id;
                    continue 'names;
                }
            }
            break;
        }
        Ok(life)
    }

    /// Goes on with steps that are planned.
    pub fn go_on<'a>(&mut self, planned: impl IntoIterator<Item = &'a FileRecord>) {
        for record in planned {
            self.add(None, record.clone());
        }
    }

    /// Adds a step if it is about this file.
    fn add(&mut self, by: Option<ChangeId>, record: FileRecord) {
        let (before, after) = (record.path_before().cloned(), record.path_after().cloned());
        if let Some((path, hash)) = &self.gone {
            // Removed and brought back as it was is not touched at all.
            if before.is_none() && after.as_ref() == Some(path) && record.hash_after() == Some(*hash) {
                self.steps.pop();
                (self.path, self.gone) = (after, None);
            }
            return;
        }
        // A file that is made where this one stands takes its place, so that the way back ends there.
        if self.path.is_none() || (before != self.path && (before.is_some() || after != self.path)) {
            return;
        }
        if after.is_none() {
            self.gone = before.zip(record.hash_before());
        }
        self.path = after;
        self.steps.push(Step { by, record });
    }

    /// The text with the hash `wanted`, before all of the steps, made from the text after them; nothing if something
    /// else changed the file in between and nobody knows how. `last` is the text that the last change of ours left, if
    /// the file has another.
    pub fn text_before(
        &self,
        bytes: &[u8],
        hash: ContentHash,
        wanted: ContentHash,
        last: Option<&[u8]>,
    ) -> Option<Earlier> {
        let mut way = Way::start(bytes, hash);
        let mut gap = None;
        for step in self.steps.iter().rev() {
            let made = step.record.hash_after()?;
            if !way.cross(made, gap, last) || !way.back(&step.record) {
                return None;
            }
            gap = step.record.gap.as_ref();
        }
        way.cross(wanted, gap, last).then(|| way.end())
    }

    /// The changes of the journal among the steps.
    pub fn changes(&self) -> Vec<ChangeId> {
        self.steps.iter().filter_map(|step| step.by).collect()
    }
}

/// The text of that version which the file at `path` once had, made from what it has now; nothing if the journal
/// does not lead there.
pub fn version(
    journal: &dyn Journal,
    path: &FilePath,
    bytes: &[u8],
    hash: ContentHash,
    claim: &VersionClaim,
) -> Result<Option<Earlier>, JournalError> {
    let mut way = Way::start(bytes, hash);
    let last = journal.text_left(path, hash)?;
    let mut gap = None;
    let (mut path, mut before) = (path.clone(), None);
    'names: loop {
        let changes = changes_of(journal, &path, None, before)?;
        if !changes.iter().any(|change| leads_to(change, &path, claim)) {
            return Ok(None);
        }
        for change in changes {
            let made = change.files.iter().position(|file| file.path_after.as_ref() == Some(&path));
            // The last that was done to this name is not what made this file: something else did.
            let Some(position) = made else { return Ok(None) };
            let Some(entry) = journal.entry(change.id)? else { return Ok(None) };
            let Some(record) = entry.files.get(position) else { return Ok(None) };
            let Some(made) = record.hash_after() else { return Ok(None) };
            if !way.cross(made, gap.as_ref(), last.as_deref()) {
                return Ok(None);
            }
            if claim.matches(way.hash, &way.bytes) {
                return Ok(Some(way.end()));
            }
            if !way.back(record) {
                return Ok(None);
            }
            if claim.matches(way.hash, &way.bytes) {
                return Ok(Some(way.end()));
            }
            gap.clone_from(&record.gap);
            if let Some(name) = record.path_before().filter(|name| **name != path) {
                (path, before) = (name.clone(), Some(change.id));
                continue 'names;
            }
        }
        return Ok(None);
    }
}

/// Whether a change may have found the version at a path, or brought the file there from elsewhere. Spares the way back
/// to where nothing is.
fn leads_to(change: &Summary, path: &FilePath, claim: &VersionClaim) -> bool {
    change.files.iter().any(|file| {
        let moved = file.path_after.as_ref() == Some(path) && file.path_before.as_ref() != Some(path);
        let hashes = [file.hash_before, file.hash_after];
        moved || hashes.into_iter().flatten().any(|hash| claim.may_match(hash))
    })
}

/// The changes of a file that reached it, newest first.
fn changes_of(
    journal: &dyn Journal,
    path: &FilePath,
    after: Option<ChangeId>,
    before: Option<ChangeId>,
) -> Result<Vec<Summary>, JournalError> {
    let filter =
        Filter { path: Some(path.clone()), after, before, limit: Some(MAX_STEPS), ..Filter::default() };
    let mut found = journal.list(&filter)?;
    found.retain(|change| change.state == State::Done);
    Ok(found)
}

/// Which of a change's files stood at `path` before it, or else was made there.
fn position(change: &Summary, path: &FilePath) -> Option<usize> {
    let at = |named: fn(&FileSummary) -> &Option<FilePath>| {
        change.files.iter().position(|file| named(file).as_ref() == Some(path))
    };
    at(|file| &file.path_before).or_else(|| at(|file| &file.path_after))
}

/// A file that something else than the journal's changes has changed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Foreign {
    /// The file.
    pub path: FilePath,
    /// The last change of ours before.
    pub after: ChangeId,
    /// The first change of ours since; none if there is none yet.
    pub before: Option<ChangeId>,
}

/// What a change left at a path: the content, or no file.
fn left(change: &Summary, path: &FilePath) -> Option<ContentHash> {
    let made = change.files.iter().find(|file| file.path_after.as_ref() == Some(path));
    made.and_then(|file| file.hash_after)
}

/// Where something else has changed the files of `listed` in between. `now` tells what a file has now, or nothing if
/// that is not known.
pub fn foreign(
    journal: &dyn Journal,
    listed: &[Summary],
    mut now: impl FnMut(&FilePath) -> Option<Option<ContentHash>>,
) -> Result<Vec<Foreign>, JournalError> {
    let mut found = Vec::new();
    for change in listed {
        for file in &change.files {
            if let Some(path) = file.path_before.as_ref().or(file.path_after.as_ref())
                && let Some(after) = unlike(journal, path, Some(change.id), file.hash_before)?
            {
                found.push(Foreign { path: path.clone(), after, before: Some(change.id) });
            }
            if let Some(path) = file.path_after.as_ref().or(file.path_before.as_ref())
                && is_last(journal, change, path)?
                && let Some(current) = now(path)
                && let Some(after) = unlike(journal, path, None, current)?
            {
                found.push(Foreign { path: path.clone(), after, before: None });
            }
        }
    }
    Ok(found)
}

/// Whether a change is the last of ours at a path.
fn is_last(journal: &dyn Journal, change: &Summary, path: &FilePath) -> Result<bool, JournalError> {
    let after =
        Filter { path: Some(path.clone()), after: Some(change.id), limit: Some(1), ..Filter::default() };
    Ok(journal.list(&after)?.is_empty())
}

/// The last change of a path before another one, if what it left is not what was found.
fn unlike(
    journal: &dyn Journal,
    path: &FilePath,
    before: Option<ChangeId>,
    found: Option<ContentHash>,
) -> Result<Option<ChangeId>, JournalError> {
    // A change that is pending may have reached the file or not: either is as it should be.
    const FEW: usize = 3;
    let filter = Filter { path: Some(path.clone()), before, limit: Some(FEW), ..Filter::default() };
    for change in journal.list(&filter)? {
        if left(&change, path) == found {
            return Ok(None);
        }
        if change.state == State::Done {
            // A change of ours that was forgotten may have been in between: then nobody knows.
            let known = !any_forgotten(journal, change.id, before)?;
            return Ok(known.then_some(change.id));
        }
    }
    Ok(None)
}

/// Whether one of the changes right after `after` was forgotten: the oldest go first, so that is where gaps begin.
fn any_forgotten(
    journal: &dyn Journal,
    after: ChangeId,
    before: Option<ChangeId>,
) -> Result<bool, JournalError> {
    const FEW: u64 = 64;
    let end = before.map_or(u64::MAX, |before| before.0).min(after.0.saturating_add(FEW));
    for id in after.0 + 1..end {
        if journal.forgotten(ChangeId(id))? {
            return Ok(true);
        }
    }
    Ok(false)
}
