//! Undo and redo: the journal's changes instead of a request, then the same stages.
//!
//! A change that was followed by others is reverted by a three-way merge (`undo/merge.rs`) of the text before it, the text
//! after it, and the current text. Several changes are reverted one after the other on drafts (`undo/draft.rs`) and
//! written as one change.

mod by_diff;
mod conflict;
mod draft;
mod merge;
mod overlap;

use super::Engine;
use super::edit::retry_on_conflict;
use super::land::{GuardMode, Landing};
use crate::change::PathChange;
use crate::hint::HintPhrases;
use crate::outcome::{Invalid, Outcome, Refused};
use crate::plan::{ChangeId, Direction, EditRules, OtherSessionsConsent, Target, UndoPlan};
use crate::ports::approver::Approver;
use crate::ports::journal::{
    ChangeKind, ChangeState, Entry, Filter, Origin, Summary, UndoFilter, UndoneChanges,
};
use crate::report::Report;
use draft::{ChangeCount, DraftSet};

/// What to revert.
struct Task {
    /// The changes to revert, newest first.
    entries: Vec<Entry>,
    /// What the journal records for that.
    kind: ChangeKind,
}

impl Engine<'_> {
    pub(super) fn undo(
        &self,
        plan: &UndoPlan,
        origin: Origin,
        phrases: HintPhrases,
        approver: &mut dyn Approver,
    ) -> Report {
        retry_on_conflict(|| self.try_undo(plan, origin.clone(), &phrases, approver))
    }

    fn try_undo(
        &self,
        plan: &UndoPlan,
        origin: Origin,
        phrases: &HintPhrases,
        approver: &mut dyn Approver,
    ) -> Result<Report, Report> {
        let Task { entries, kind } = self.task(plan, phrases)?;
        let count = if entries.len() > 1 { ChangeCount::Several } else { ChangeCount::One };
        let mut drafts = DraftSet::new(self, count);
        for entry in &entries {
            self.check_cancelled()?;
            if let Err(report) = drafts.revert(entry) {
                // A text that changed while it was read cannot be why the change has no inverse.
                drafts.check_unchanged()?;
                return Err(report);
            }
        }
        let (changes, mut snapshots) = drafts.finish()?;
        let ids = describe_ids(&entries, &kind);
        if changes.is_empty() {
            let message = format!("nothing to revert in {ids}: those places already have their earlier text");
            return Err(Report::new(Outcome::NoChange, message));
        }
        for file in changes.files() {
            match &file.path_change {
                // Guards also check the path that a file moves to.
                PathChange::Move(to) if snapshots.get(to).is_none() => self.read_into(&mut snapshots, to)?,
                PathChange::Move(_) | PathChange::Keep | PathChange::Delete => {}
            }
        }
        let (verb, past) = match kind {
            ChangeKind::Redo(_) => ("redo", "Redid"),
            ChangeKind::Undo(_) | ChangeKind::Edit => ("undo", "Undid"),
        };
        // A redo redoes the changes that the undo had reverted, not the undo itself.
        let ids = match (&kind, &entries[..]) {
            (
                ChangeKind::Redo(_),
                [Entry { summary: Summary { kind: ChangeKind::Undo(undone), .. }, .. }],
            ) => undone.to_string(),
            _ => ids,
        };
        let landing = Landing {
            origin,
            kind,
            description: None,
            message: Some(format!("{past} {ids}")),
            dry_run_message: Some(format!("Would {verb} {ids}")),
            request_warnings: Vec::new(),
            context: EditRules::STRICT.context,
            labels: None,
            run: plan.run,
        };
        let others = self.changes_of_other_sessions(&entries, plan.others);
        self.land(changes, &snapshots, GuardMode::Restore { others }, landing, phrases, approver)
    }

    /// The reverted changes of other sessions, if the caller needs consent to revert them.
    fn changes_of_other_sessions(
        &self,
        entries: &[Entry],
        consent: OtherSessionsConsent,
    ) -> Vec<(ChangeId, String)> {
        if consent == OtherSessionsConsent::Given {
            return Vec::new();
        }
        let summaries = entries.iter().map(|entry| &entry.summary);
        let others = summaries.filter(|change| change.origin.session != self.session);
        others.map(|change| (change.id, change.origin.session.clone())).collect()
    }

    /// The changes that a plan reverts.
    fn task(&self, plan: &UndoPlan, phrases: &HintPhrases) -> Result<Task, Report> {
        match &plan.target {
            Target::Change(id) => self.task_for(*id, plan.direction, phrases),
            Target::Changes(ids) => self.task_for_all(ids, plan.direction, phrases),
            Target::Last { path } => {
                let filter =
                    Filter { path: path.clone(), limit: Some(1), ..self.undo_filter(plan.direction) };
                match self.journal.list(&filter)?.first() {
                    Some(last) => self.task_for(last.id, plan.direction, phrases),
                    None => Err(self.report_nothing_to_undo(filter, plan.direction, phrases)?),
                }
            }
            Target::Session if plan.direction == Direction::Undo => {
                let filter = self.undo_filter(plan.direction);
                let ids: Vec<ChangeId> = self.journal.list(&filter)?.iter().map(|change| change.id).collect();
                let entries =
                    ids.iter().map(|&id| self.entry(id, phrases)).collect::<Result<Vec<_>, Report>>()?;
                match UndoneChanges::new(ids) {
                    Some(undone) => Ok(Task { entries, kind: ChangeKind::Undo(undone) }),
                    None => Err(self.report_nothing_to_undo(filter, plan.direction, phrases)?),
                }
            }
            // Undoing a whole session is one recorded undo, so redoing that one is enough.
            Target::Session => {
                self.task(&UndoPlan { target: Target::Last { path: None }, ..plan.clone() }, phrases)
            }
        }
    }

    /// What undoing or redoing one change means, given what was undone and redone before.
    fn task_for(&self, id: ChangeId, direction: Direction, phrases: &HintPhrases) -> Result<Task, Report> {
        let entry = self.entry(id, phrases)?;
        let revert = |entry, kind| Ok(Task { entries: vec![entry], kind });
        match (entry.summary.kind.clone(), direction, entry.summary.undone_by) {
            // Undoing a redo means undoing the edits that it restored.
            (ChangeKind::Redo(undo), ..) => match self.entry(undo, phrases)?.summary.kind {
                ChangeKind::Undo(edits) => match edits.ids() {
                    [edit] => self.task_for(*edit, direction, phrases),
                    _ if direction == Direction::Redo => Err(not_undone(id)),
                    ids => match self.first_undo_of(ids)? {
                        Some(by) => Err(already_undone(id, by)),
                        None => revert(entry, ChangeKind::Undo(edits)),
                    },
                },
                ChangeKind::Edit | ChangeKind::Redo(_) => Err(already_undone(id, undo)),
            },
            (ChangeKind::Edit, Direction::Redo, Some(undo)) => self.task_for(undo, direction, phrases),
            (ChangeKind::Edit, Direction::Redo, None) => Err(not_undone(id)),
            (_, _, Some(by)) => Err(already_undone(id, by)),
            (ChangeKind::Edit, Direction::Undo, None) => revert(entry, ChangeKind::Undo(id.into())),
            (ChangeKind::Undo(_), _, None) => revert(entry, ChangeKind::Redo(id)),
        }
    }

    /// What undoing several changes means. An undo or a redo among them stands for the edits that it reverted or restored.
    fn task_for_all(
        &self,
        ids: &[ChangeId],
        direction: Direction,
        phrases: &HintPhrases,
    ) -> Result<Task, Report> {
        let mut ids = ids.to_vec();
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.dedup();
        if let [one] = ids[..] {
            return self.task_for(one, direction, phrases);
        }
        let (mut entries, mut undone) = (Vec::new(), Vec::new());
        for id in ids {
            let task = self.task_for(id, direction, phrases)?;
            let ChangeKind::Undo(of) = task.kind else { return Err(not_combinable(id)) };
            undone.extend_from_slice(of.ids());
            entries.extend(task.entries);
        }
        undone.sort_unstable_by(|one, other| other.cmp(one));
        undone.dedup();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.summary.id));
        match UndoneChanges::new(undone) {
            Some(undone) => Ok(Task { entries, kind: ChangeKind::Undo(undone) }),
            None => Err(Report::new(Invalid::BadRequest, "no change is named").hint(phrases.changes)),
        }
    }

    /// The change that undid the first of these that is undone.
    fn first_undo_of(&self, ids: &[ChangeId]) -> Result<Option<ChangeId>, Report> {
        for &id in ids {
            if let Some(by) = self.journal.entry(id)?.and_then(|entry| entry.summary.undone_by) {
                return Ok(Some(by));
            }
        }
        Ok(None)
    }

    fn entry(&self, id: ChangeId, phrases: &HintPhrases) -> Result<Entry, Report> {
        match self.journal.entry(id)? {
            Some(entry) if entry.summary.state == ChangeState::Done => Ok(entry),
            Some(entry) => Err(not_applied(id, entry.summary.state)),
            None if self.journal.was_pruned(id)? => Err(pruned_change(id)),
            None => Err(unknown_change(id, phrases)),
        }
    }

    /// The session's changes that can be undone or redone.
    fn undo_filter(&self, direction: Direction) -> Filter {
        let undo = match direction {
            Direction::Undo => UndoFilter::Undoable,
            Direction::Redo => UndoFilter::Redoable,
        };
        Filter { session: Some(self.session.into()), undo: Some(undo), ..Filter::default() }
    }

    /// The report for a session that has nothing to undo or redo.
    fn report_nothing_to_undo(
        &self,
        filter: Filter,
        direction: Direction,
        phrases: &HintPhrases,
    ) -> Result<Report, Report> {
        let (reason, verb) = match direction {
            Direction::Undo => (Refused::NothingToUndo, "undo"),
            Direction::Redo => (Refused::NothingToRedo, "redo"),
        };
        let file = filter.path.as_ref().map_or(String::new(), |path| format!(" in `{path}`"));
        let elsewhere = self.journal.list(&Filter { session: None, limit: Some(1), ..filter })?;
        let hint = match elsewhere.first() {
            Some(other) => format!(
                "The last change of another session is {} (session `{}`); pass its id to {verb} it.",
                other.id, other.origin.session
            ),
            None => format!("No session has a change to {verb} in this root. {}", phrases.changes),
        };
        let message = format!("nothing to {verb}{file} in session `{}`", self.session);
        Ok(Report::new(reason, message).hint(hint))
    }
}

/// The reverted changes, for a message.
fn describe_ids(entries: &[Entry], kind: &ChangeKind) -> String {
    const MAX_LISTED: usize = 10;
    match (entries, kind) {
        ([entry], _) => entry.summary.id.to_string(),
        (_, ChangeKind::Undo(undone)) => match undone.ids() {
            [newest, .., oldest] if undone.ids().len() > MAX_LISTED => {
                format!("{} changes, {newest} to {oldest}", undone.ids().len())
            }
            _ => undone.to_string(),
        },
        (_, ChangeKind::Edit | ChangeKind::Redo(_)) => "the changes".into(),
    }
}

/// The report for a change that is not in the files: reverting it would undo someone else's work.
fn not_applied(id: ChangeId, state: ChangeState) -> Report {
    let problem = match state {
        ChangeState::Pending => "is still pending: its process is running or was interrupted",
        ChangeState::Abandoned | ChangeState::Done => "never reached the files",
    };
    Report::new(Refused::NotApplied, format!("{id} {problem}, so it cannot be undone"))
        .hint("Nothing was written. `slipstitch doctor` reports interrupted changes.")
}

/// The report for a change that is not in the journal.
pub fn unknown_change(id: ChangeId, phrases: &HintPhrases) -> Report {
    let message = format!("there is no change {id} in this root's journal");
    Report::new(Invalid::UnknownChange, message).hint(phrases.changes)
}

/// The report for a change that was removed from the journal, to save space or on request.
pub fn pruned_change(id: ChangeId) -> Report {
    let message = format!(
        "{id} is no longer in the journal: it was erased with `slipstitch forget`, or dropped to keep the journal within its limits"
    );
    Report::new(Refused::PrunedChange, message)
        .hint("Restore the files by other means. The limits are `max_bytes` and `max_age_days` in `[journal]` of the configuration.")
}

fn not_combinable(id: ChangeId) -> Report {
    Report::new(
        Invalid::BadRequest,
        format!("{id} is an undo, which cannot be reverted together with other changes"),
    )
    .hint("Nothing was written. Revert it alone, or leave it out.")
}

fn not_undone(id: ChangeId) -> Report {
    let message = format!("{id} is not undone, so it cannot be redone");
    Report::new(Refused::NothingToRedo, message)
        .hint("`undo` reverts it; the log shows which changes are undone.")
}

fn already_undone(id: ChangeId, by: ChangeId) -> Report {
    Report::new(Refused::AlreadyUndone, format!("{id} was already undone by {by}"))
        .hint(format!("To redo it, undo {by}."))
}
