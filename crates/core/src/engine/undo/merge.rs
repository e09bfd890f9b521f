//! Reverts one change on the drafts, by a three-way merge of the text before it, the text after it, and the draft's text.
//! If the same place was changed since, that is a conflict: it is reported and nothing is written.

use super::by_diff::revert_by_diff;
use super::conflict::{self, Conflict, damaged, report_conflicts};
use super::draft::{DraftEdit, DraftSet};
use super::overlap::{Overlaps, find_overlaps};
use crate::change::{Base, PathChange};
use crate::engine::history::{EarlierVersion, FileHistory, PlannedRevert};
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::ports::journal::{Entry, FileRecord, RecordedText};
use crate::report::Report;
use slipstitch_text::rebase::{carry_over_splices, find_conflicts, map_span};
use slipstitch_text::{Span, Splices};

/// How many places of one file are shown.
const MAX_CONFLICTS: usize = 20;

impl DraftSet<'_> {
    /// Reverts one change. Its files change at once, so all edits are determined before the first one is made: two files may
    /// have swapped their names.
    pub(super) fn revert(&mut self, entry: &Entry) -> Result<(), Report> {
        // To revert a creation, the file is deleted, which needs no text.
        let needs_text = |record: &&FileRecord| record.inverse.path_change != PathChange::Delete;
        let mut needed = entry.files.iter().filter(needs_text);
        let withheld = needed.find(|record| record.text == RecordedText::Withheld);
        if let Some(record) = withheld {
            return Err(conflict::withheld(entry.summary.id, &record.inverse.path));
        }
        let mut edits = Vec::new();
        for record in entry.files.iter().filter(|record| record.inverse.base != Base::Absent) {
            edits.push(self.revert_file(entry, record)?);
        }
        self.planned.push(PlannedRevert { of: entry.summary.id, records: Vec::new() });
        for (number, edit) in edits {
            self.edit(number, edit);
        }
        for record in entry.files.iter().filter(|record| record.inverse.base == Base::Absent) {
            self.create(record)?;
        }
        Ok(())
    }

    /// How a change of a file that the change did not delete is reverted, and in which draft.
    fn revert_file(&mut self, entry: &Entry, record: &FileRecord) -> Result<(usize, DraftEdit), Report> {
        let (id, inverse) = (entry.summary.id, &record.inverse);
        // The common case: the file is still as the change left it.
        if let Some(number) = self.find(&inverse.path)?
            && Base::Content(self.draft(number).hash) == inverse.base
        {
            let splices = self.recorded_inverse(number, record)?;
            let path_change = self.path_change_after(entry, record, &inverse.path, None)?;
            let restore = inverse.restore.clone();
            let (after, executable) = (inverse.after, inverse.executable);
            return Ok((number, DraftEdit { splices, after, path_change, executable, restore }));
        }
        let mut history = FileHistory::since(self.engine.journal, id, &inverse.path)?;
        history.add_planned(&self.planned);
        let Some(path) = history.path.clone() else {
            return Err(conflict::deleted(id, &inverse.path, history.recorded_changes().last().copied()));
        };
        let Some(number) = self.find(&path)? else {
            return Err(conflict::missing(id, &path));
        };
        if inverse.path_change == PathChange::Delete {
            let created = Span::new(0, inverse.splices.base_len());
            let later = self.overlaps(number, record, &history, vec![created])?;
            return Err(conflict::created_and_changed(id, &path, &later, &self.bytes(number)));
        }
        let splices = self.merge_inverse(number, entry, record, &history)?;
        let path_change = self.path_change_after(entry, record, &path, history.last_move())?;
        let restore = inverse.restore.clone();
        let executable = inverse.executable;
        Ok((number, DraftEdit { splices, after: None, path_change, executable, restore }))
    }

    /// The recorded inverse, for a file that is as the change left it.
    fn recorded_inverse(&self, number: usize, record: &FileRecord) -> Result<Splices, Report> {
        let (inverse, len) = (&record.inverse, self.new_len(number));
        let is_intact = inverse.after.is_none_or(|after| {
            inverse.splices.base_len() == len && self.hash_after(number, &inverse.splices) == after
        });
        match (is_intact, inverse.path_change == PathChange::Delete) {
            (false, _) => Err(damaged(&inverse.path)),
            (true, true) => Ok(Splices::one(len, Span::new(0, len), Vec::new())),
            (true, false) => Ok(inverse.splices.clone()),
        }
    }

    /// The recorded inverse, carried over what was done since.
    fn merge_inverse(
        &self,
        number: usize,
        entry: &Entry,
        record: &FileRecord,
        history: &FileHistory,
    ) -> Result<Splices, Report> {
        let (bytes, inverse) = (self.bytes(number), &record.inverse.splices);
        let last = self.last_text(number)?;
        let earlier = record
            .hash_after()
            .and_then(|after| history.version_before(&bytes, self.draft(number).hash, after, last.as_deref()))
            .filter(|earlier| inverse.base_len() == earlier.bytes.len());
        let Some(earlier) = earlier else {
            return revert_by_diff(entry, record, &self.snapshot(number), history);
        };
        if record.hash_before().is_some_and(|before| inverse.hash_after(&earlier.bytes) != before) {
            return Err(damaged(&record.inverse.path));
        }
        match carry_over_splices(inverse, &earlier.since) {
            Ok(splices) => Ok(splices),
            Err(_) => Err(self.explain_conflicts(number, entry, record, history, &earlier)?),
        }
    }

    /// The refusal for a change whose places were changed again.
    fn explain_conflicts(
        &self,
        number: usize,
        entry: &Entry,
        record: &FileRecord,
        history: &FileHistory,
        earlier: &EarlierVersion,
    ) -> Result<Report, Report> {
        let bytes = self.bytes(number);
        let clashes = find_conflicts(&record.inverse.splices, &earlier.since);
        let of = |places| self.overlaps(number, record, history, places);
        let mut places = Vec::new();
        let mut conflicts = Vec::new();
        for clash in clashes.into_iter().take(MAX_CONFLICTS) {
            let mut place = clash.mine;
            let mut later = of(vec![place])?;
            if later.changes.is_empty() {
                // What touched it was undone again, but a merge joins what is left of that with a change beside it.
                let (mine, theirs) = (clash.mine, clash.theirs);
                place = Span::new(mine.start().min(theirs.start()), mine.end().max(theirs.end()));
                later = of(vec![place])?;
            }
            places.push(place);
            conflicts.push(Conflict {
                later,
                left: (&earlier.bytes, clash.mine),
                now: (&bytes, map_span(&earlier.since, clash.mine)),
            });
        }
        let path = history.path.as_ref().unwrap_or(&record.inverse.path);
        let later = of(places)?;
        Ok(report_conflicts(entry.summary.id, path, &later, conflicts))
    }

    /// The later changes of places of the text that a change left.
    fn overlaps(
        &self,
        number: usize,
        record: &FileRecord,
        history: &FileHistory,
        places: Vec<Span>,
    ) -> Result<Overlaps, Report> {
        let Some(left) = record.hash_after() else { return Ok(Overlaps::default()) };
        let last = self.last_foreign_edit(number)?;
        Ok(find_overlaps(history, places, (left, self.draft(number).hash), last.as_ref()))
    }

    /// What happens to the file's path.
    fn path_change_after(
        &mut self,
        entry: &Entry,
        record: &FileRecord,
        path: &FilePath,
        moved_by: Option<ChangeId>,
    ) -> Result<PathChange, Report> {
        let id = entry.summary.id;
        // A file that the same change put there leaves at the same time.
        let leaves = |path: &FilePath| entry.files.iter().any(|other| other.inverse.vacates(path));
        match &record.inverse.path_change {
            PathChange::Delete => Ok(PathChange::Delete),
            PathChange::Keep => Ok(PathChange::Keep),
            PathChange::Move(from) if from == path => Ok(PathChange::Keep),
            PathChange::Move(_) if *path != record.inverse.path => {
                Err(conflict::moved(id, &record.inverse.path, path, moved_by))
            }
            PathChange::Move(from) if !leaves(from) && self.find(from)?.is_some() => {
                Err(conflict::in_the_way(from))
            }
            PathChange::Move(from) => Ok(PathChange::Move(from.clone())),
        }
    }
}
