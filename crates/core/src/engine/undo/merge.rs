//! One change taken back in the files as they will be: a three-way merge of what the change found, what it left, and
//! what there is now. Text that was changed since in the same place is a conflict; it is shown, and nothing is done.

use super::by_diff::reversed_by_diff;
use super::conflict::{self, Conflict, damaged};
use super::draft::{Drafts, Stroke};
use crate::change::{Base, PathChange};
use crate::engine::history::Life;
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::ports::journal::{Entry, FileRecord};
use crate::report::Report;
use slipstitch_text::ContentHash;
use slipstitch_text::rebase::{carry_over_splices, map_span};
use slipstitch_text::{Span, Splices};

impl Drafts<'_> {
    /// Takes one change back.
    pub(super) fn take_back(&mut self, entry: &Entry) -> Result<(), Report> {
        for record in &entry.files {
            match record.inverse.base {
                Base::Absent => self.make(record)?,
                Base::Content(_) => self.restore(entry, record)?,
            }
        }
        Ok(())
    }

    /// Takes back what a change did to a file that it left behind.
    fn restore(&mut self, entry: &Entry, record: &FileRecord) -> Result<(), Report> {
        let (id, inverse) = (entry.summary.id, &record.inverse);
        // The common case needs no look at what was done since.
        if let Some(number) = self.at(&inverse.path)?
            && Base::Content(self.draft(number).hash) == inverse.base
        {
            let splices = self.recorded(number, record)?;
            let path_change = self.path_change(id, record, &inverse.path)?;
            self.change(number, Stroke { splices, path_change, executable: inverse.executable });
            return Ok(());
        }
        let mut life = Life::since(self.engine.journal, id, &inverse.path)?;
        life.go_on(&self.planned);
        let Some(path) = life.path.clone() else {
            return Err(conflict::removed(id, &inverse.path, life.changes().last().copied()));
        };
        let Some(number) = self.at(&path)? else {
            return Err(conflict::missing(id, &path));
        };
        if inverse.path_change == PathChange::Delete {
            return Err(conflict::made_and_changed(id, &path, &life.changes()));
        }
        let splices = self.merged(number, entry, record, &life)?;
        let path_change = self.path_change(id, record, &path)?;
        self.change(number, Stroke { splices, path_change, executable: inverse.executable });
        Ok(())
    }

    /// The record's own splices, for a file that is as the change left it.
    fn recorded(&self, number: usize, record: &FileRecord) -> Result<Splices, Report> {
        let (inverse, bytes) = (&record.inverse, &*self.bytes(number));
        let restored = (inverse.after.is_none() || inverse.splices.base_len() == bytes.len())
            && inverse.after.is_none_or(|after| inverse.splices.hash_after(bytes) == after);
        match (restored, inverse.path_change == PathChange::Delete) {
            (false, _) => Err(damaged(&inverse.path)),
            (true, true) => Ok(Splices::one(bytes.len(), Span::new(0, bytes.len()), Vec::new())),
            (true, false) => Ok(inverse.splices.clone()),
        }
    }

    /// The record's splices, carried over what was done since.
    fn merged(
        &self,
        number: usize,
        entry: &Entry,
        record: &FileRecord,
        life: &Life,
    ) -> Result<Splices, Report> {
        let (bytes, mine) = (self.bytes(number), &record.inverse.splices);
        let last = self.last_text(number)?;
        // The way back must end at what the change left.
        let known = record
            .hash_after()
            .and_then(|left| life.text_before(&bytes, self.draft(number).hash, left, last.as_deref()))
            .filter(|earlier| mine.base_len() == earlier.bytes.len());
        let Some(earlier) = known else {
            return reversed_by_diff(entry, record, &self.snapshot(number), life);
        };
        if record.hash_before().is_some_and(|before| mine.hash_after(&earlier.bytes) != before) {
            return Err(damaged(&record.inverse.path));
        }
        carry_over_splices(mine, &earlier.later).map_err(|conflict| {
            let now = map_span(&earlier.later, conflict.mine);
            let conflict = Conflict {
                id: entry.summary.id,
                path: life.path.as_ref().unwrap_or(&record.inverse.path),
                by: culprits(mine, &earlier.bytes, life, &bytes),
                left: (&earlier.bytes, conflict.mine),
                now: (&bytes, now),
            };
            conflict.report()
        })
    }

    /// What becomes of the file's name.
    fn path_change(
        &mut self,
        id: ChangeId,
        record: &FileRecord,
        path: &FilePath,
    ) -> Result<PathChange, Report> {
        match &record.inverse.path_change {
            PathChange::Delete => Ok(PathChange::Delete),
            PathChange::Keep => Ok(PathChange::Keep),
            PathChange::Move(from) if from == path => Ok(PathChange::Keep),
            PathChange::Move(_) if *path != record.inverse.path => {
                Err(conflict::moved(id, &record.inverse.path, path))
            }
            PathChange::Move(from) if self.at(from)?.is_some() => Err(conflict::in_the_way(from)),
            PathChange::Move(from) => Ok(PathChange::Move(from.clone())),
        }
    }
}

/// The changes of the journal that are in the way: the first that `mine` cannot be carried over, or all of them where
/// only several together are; none where something else may be.
fn culprits(mine: &Splices, left: &[u8], life: &Life, bytes: &[u8]) -> Vec<ChangeId> {
    let mut texts = vec![bytes.to_vec()];
    for step in life.steps.iter().rev() {
        let after = &texts[texts.len() - 1];
        if step.record.hash_after() != Some(ContentHash::of(after)) {
            // Something else was there in between, and may well be what is in the way.
            return Vec::new();
        }
        texts.push(step.record.inverse.splices.apply(after));
    }
    if texts.last().is_none_or(|first| first != left) {
        return Vec::new();
    }
    let mut carried = mine.clone();
    for (step, after) in life.steps.iter().zip(texts.iter().rev().skip(1)) {
        match carry_over_splices(&carried, &step.record.inverse.splices.invert(after)) {
            Ok(next) => carried = next,
            Err(_) => return step.by.map_or_else(|| life.changes(), |by| vec![by]),
        }
    }
    life.changes()
}
