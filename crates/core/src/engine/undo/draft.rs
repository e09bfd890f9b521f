//! Files as they will be: several changes are taken back one after the other, and written at once.
//!
//! A draft is the file as it was read and what is to be done to it. Its text is made only where a merge needs it, so that
//! a large file costs no copy.

use std::borrow::Cow;

use super::conflict::{damaged, in_the_way};
use crate::change::{Base, ChangeSet, DuplicatePath, FileChange, PathChange};
use crate::engine::Engine;
use crate::outcome::Refused;
use crate::path::FilePath;
use crate::ports::journal::FileRecord;
use crate::report::Report;
use crate::snapshot::Snapshot;
use crate::snapshot::Snapshots;
use slipstitch_text::ContentHash;
use slipstitch_text::diff_lines;
use slipstitch_text::rebase::drop_noops;
use slipstitch_text::{Span, Splices};

/// One file on its way to what it will be.
pub(super) struct Draft {
    /// Where the file is now, and what it has; nothing for a file that is not there yet.
    origin: Option<(FilePath, ContentHash)>,
    /// Where it will be; nowhere if it goes.
    path: Option<FilePath>,
    /// The hash of what it will have.
    pub(super) hash: ContentHash,
    /// What leads there from what it has now.
    splices: Splices,
    /// The permission bits of a file that is made anew.
    mode: Option<u32>,
    executable: Option<bool>,
}

/// What is to be done to a draft.
pub(super) struct Stroke {
    pub(super) splices: Splices,
    pub(super) path_change: PathChange,
    pub(super) executable: Option<bool>,
}

/// The files as they will be.
pub(super) struct Drafts<'a> {
    pub(super) engine: &'a Engine<'a>,
    files: Vec<Draft>,
    seen: Snapshots,
    /// What was done so far, as what takes it back; kept if there is more to come.
    pub(super) planned: Vec<FileRecord>,
    work: Work,
}

/// How many changes are taken back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    One,
    Several,
}

impl<'a> Drafts<'a> {
    pub(super) fn new(engine: &'a Engine<'a>, work: Work) -> Self {
        Self { engine, files: Vec::new(), seen: Snapshots::default(), planned: Vec::new(), work }
    }

    /// The file that will be at a path, as far as things are planned.
    pub(super) fn at(&mut self, path: &FilePath) -> Result<Option<usize>, Report> {
        let here = |draft: &Draft| draft.path.as_ref() == Some(path);
        if let Some(found) = self.files.iter().position(here) {
            return Ok(Some(found));
        }
        if self.files.iter().any(|draft| draft.origin.as_ref().is_some_and(|(origin, _)| origin == path)) {
            return Ok(None);
        }
        self.engine.read_into(&mut self.seen, path)?;
        let draft = self.seen.get(path).map(|snapshot| Draft::of(path, snapshot));
        self.files.extend(draft);
        Ok(self.files.iter().position(here))
    }

    pub(super) fn draft(&self, number: usize) -> &Draft {
        &self.files[number]
    }

    /// What the file has now.
    fn base(&self, draft: &Draft) -> &[u8] {
        draft.origin.as_ref().map_or(&[], |(path, _)| self.seen.bytes(path))
    }

    /// What the file will have.
    pub(super) fn bytes(&self, number: usize) -> Cow<'_, [u8]> {
        let draft = &self.files[number];
        match draft.splices.is_empty() {
            true => Cow::Borrowed(self.base(draft)),
            false => Cow::Owned(draft.splices.apply(self.base(draft))),
        }
    }

    /// The text that the last change of ours left in a draft's file, if the file has another now.
    pub(super) fn last_text(&self, number: usize) -> Result<Option<Vec<u8>>, Report> {
        let Some((path, hash)) = &self.files[number].origin else { return Ok(None) };
        Ok(self.engine.journal.text_left(path, *hash)?)
    }

    /// The draft as a file that was read.
    pub(super) fn snapshot(&self, number: usize) -> Snapshot {
        let draft = &self.files[number];
        let origin = draft.origin.as_ref().and_then(|(path, _)| self.seen.get(path));
        let meta = origin.map(|snapshot| snapshot.meta().clone()).unwrap_or_default();
        let bytes = self.bytes(number).into_owned().into();
        Snapshot::new(crate::snapshot::FileContent { bytes, meta }, self.engine.encoding)
    }

    /// Makes a file anew, as a record says.
    pub(super) fn make(&mut self, record: &FileRecord) -> Result<(), Report> {
        let inverse = &record.inverse;
        if self.at(&inverse.path)?.is_some() {
            return Err(in_the_way(&inverse.path));
        }
        let whole = inverse.splices.base_len() == 0;
        let bytes = if whole { inverse.splices.apply(&[]) } else { Vec::new() };
        let hash = ContentHash::of(&bytes);
        if !whole || inverse.after != Some(hash) {
            return Err(damaged(&inverse.path));
        }
        if self.work == Work::Several {
            self.planned.push(FileRecord::plain(inverse.invert(&[])));
        }
        self.files.push(Draft {
            origin: None,
            path: Some(inverse.path.clone()),
            splices: Splices::one(0, Span::new(0, 0), bytes),
            hash,
            mode: inverse.mode,
            executable: None,
        });
        Ok(())
    }

    /// Changes a draft.
    pub(super) fn change(&mut self, number: usize, stroke: Stroke) {
        let draft = &self.files[number];
        let Some(path) = draft.path.clone() else { return };
        let splices = match draft.splices.is_empty() {
            true => stroke.splices.clone(),
            false => draft.splices.then(&stroke.splices),
        };
        let hash = splices.hash_after(self.base(draft));
        let gone = stroke.path_change == PathChange::Delete;
        let change = FileChange {
            path,
            base: Base::Content(draft.hash),
            path_change: stroke.path_change,
            splices: stroke.splices,
            after: (!gone).then_some(hash),
            mode: draft.mode,
            executable: stroke.executable,
            edits: Vec::new(),
            notes: Vec::new(),
            totals: None,
        };
        if self.work == Work::Several {
            let inverse = change.invert(&self.bytes(number));
            self.planned.push(FileRecord::plain(inverse));
        }
        let draft = &mut self.files[number];
        draft.path = change.path_after().cloned();
        // Set and set back is not set at all.
        draft.executable = match (draft.executable, stroke.executable) {
            (Some(before), Some(now)) if before != now => None,
            (before, now) => now.or(before),
        };
        (draft.splices, draft.hash) = (splices, hash);
    }

    /// What leads from the files as they are to the drafts.
    pub(super) fn finish(mut self) -> Result<(ChangeSet, Snapshots), Report> {
        self.join_made_anew();
        for draft in &mut self.files {
            if let Some((path, _)) = &draft.origin {
                draft.splices = drop_noops(&draft.splices, self.seen.bytes(path));
            }
        }
        let changes: Vec<FileChange> = self
            .files
            .into_iter()
            .filter_map(Draft::into_change)
            .filter(|change| !change.is_empty())
            .collect();
        let changes = ChangeSet::new(changes).map_err(|DuplicatePath(path)| {
            // A move is among them: without one, a file that goes and one that is made are joined.
            let message = format!(
                "the changes cannot be taken back at once: `{path}` was one file before them and is another one now"
            );
            Report::new(Refused::ChangedSince, message)
                .hint("Nothing was written. Take them back one by one, the newest first.")
        })?;
        Ok((changes, self.seen))
    }

    /// A file that goes and is made anew under the same name is one file that changes.
    fn join_made_anew(&mut self) {
        let mut number = 0;
        while number < self.files.len() {
            let made = &self.files[number];
            let gone = made.path.as_ref().filter(|_| made.origin.is_none()).and_then(|path| {
                self.files.iter().position(|draft| {
                    draft.path.is_none() && draft.origin.as_ref().is_some_and(|(origin, _)| origin == path)
                })
            });
            match gone {
                None => number += 1,
                Some(gone) => {
                    let splices = difference(self.base(&self.files[gone]), &self.bytes(number));
                    let made = self.files.remove(number);
                    let gone = if gone > number { gone - 1 } else { gone };
                    let draft = &mut self.files[gone];
                    (draft.path, draft.splices, draft.hash) = (made.path, splices, made.hash);
                }
            }
        }
    }
}

/// Splices that make one text of another, line by line.
fn difference(old: &[u8], new: &[u8]) -> Splices {
    let swaps = diff_lines(old, new).into_iter().map(|swap| slipstitch_text::Splice {
        at: Span::new(swap.old.start, swap.old.end),
        insert: new[swap.new].to_vec(),
    });
    Splices::new(old.len(), swaps.collect())
        .unwrap_or_else(|_| Splices::one(old.len(), Span::new(0, old.len()), new.to_vec()))
}

impl Draft {
    fn of(path: &FilePath, snapshot: &Snapshot) -> Self {
        Self {
            origin: Some((path.clone(), snapshot.hash())),
            path: Some(path.clone()),
            hash: snapshot.hash(),
            splices: Splices::none(snapshot.bytes().len()),
            mode: snapshot.meta().mode,
            executable: None,
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
        let gone = path_change == PathChange::Delete;
        let notes = match base {
            Base::Absent => vec![format!(
                "`{path}` is made anew, with the bytes and the plain mode that it had; an owner, access list or \
                 attributes of its own are not brought back"
            )],
            Base::Content(_) => Vec::new(),
        };
        // What was done to a text that goes is no matter.
        let splices = match gone {
            true => Splices::one(self.splices.base_len(), Span::new(0, self.splices.base_len()), Vec::new()),
            false => self.splices,
        };
        Some(FileChange {
            path,
            base,
            path_change,
            splices,
            after: (!gone).then_some(self.hash),
            mode: self.mode,
            executable: self.executable.filter(|_| !gone),
            edits: Vec::new(),
            notes,
            totals: None,
        })
    }
}
