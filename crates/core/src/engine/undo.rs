//! Taking changes back: the same stages, with the journal in the place of the request.
//!
//! A change that was followed by others is taken back as a three-way merge (`undo/merge.rs`): what it left, what is
//! there now, what it found. Several changes are taken back one after the other on drafts (`undo/draft.rs`), and what
//! comes of that is one change.

mod by_diff;
mod conflict;
mod draft;
mod merge;

use super::Engine;
use super::edit::retry_on_conflict;
use super::land::{Judge, Landing};
use crate::change::PathChange;
use crate::hint::HintPhrases;
use crate::outcome::{Invalid, Outcome, Refused};
use crate::plan::{ChangeId, Direction, EditRules, Target, UndoPlan};
use crate::ports::approver::Approver;
use crate::ports::journal::{Entry, Filter, Kind, Origin, Pick, State, Taken};
use crate::report::Report;
use draft::{Drafts, Work};

/// What is to be taken back.
struct Task {
    /// The entries to invert, newest first.
    entries: Vec<Entry>,
    /// What inverting them is.
    kind: Kind,
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
        let Task { entries, kind } = self.task(plan)?;
        let work = if entries.len() > 1 { Work::Several } else { Work::One };
        let mut drafts = Drafts::new(self, work);
        for entry in &entries {
            drafts.take_back(entry)?;
        }
        let (changes, mut seen) = drafts.finish()?;
        let what = named(&entries, &kind);
        if changes.is_empty() {
            let message =
                format!("nothing is left of {what}: the files are as they were before in those places");
            return Err(Report::new(Outcome::NoChange, message));
        }
        for file in changes.files() {
            match &file.path_change {
                // Guards also judge the path that a file moves to.
                PathChange::Move(to) if seen.get(to).is_none() => self.read_into(&mut seen, to)?,
                PathChange::Move(_) | PathChange::Keep | PathChange::Delete => {}
            }
        }
        let verb = match kind {
            Kind::Redo(_) => "Brought back what was taken back by",
            Kind::Undo(_) | Kind::Edit => "Took back",
        };
        let landing = Landing {
            origin,
            kind,
            description: None,
            message: Some(format!("{verb} {what}")),
            request_warnings: Vec::new(),
            context: EditRules::STRICT.context,
            run: plan.run,
        };
        self.land(changes, &seen, Judge::Restore, landing, phrases, approver)
    }

    /// The journal's entries to invert, and what inverting them is.
    fn task(&self, plan: &UndoPlan) -> Result<Task, Report> {
        match &plan.target {
            Target::Change(id) => self.step(*id, plan.direction),
            Target::Last { path } => {
                let filter = Filter { path: path.clone(), limit: Some(1), ..self.pick(plan.direction) };
                match self.journal.list(&filter)?.first() {
                    Some(last) => self.step(last.id, plan.direction),
                    None => Err(self.nothing(filter, plan.direction)?),
                }
            }
            Target::Session if plan.direction == Direction::Undo => {
                let filter = self.pick(plan.direction);
                let standing: Vec<ChangeId> =
                    self.journal.list(&filter)?.iter().map(|change| change.id).collect();
                let entries =
                    standing.iter().map(|&id| self.entry(id)).collect::<Result<Vec<_>, Report>>()?;
                match Taken::several(standing) {
                    Some(taken) => Ok(Task { entries, kind: Kind::Undo(taken) }),
                    None => Err(self.nothing(filter, plan.direction)?),
                }
            }
            // All that a session has taken back at once is one undo, the last one.
            Target::Session => self.task(&UndoPlan { target: Target::Last { path: None }, ..plan.clone() }),
        }
    }

    /// The entry to invert for one change, which may have been taken back or brought back before.
    fn step(&self, named: ChangeId, direction: Direction) -> Result<Task, Report> {
        let entry = self.entry(named)?;
        let alone = |entry, kind| Ok(Task { entries: vec![entry], kind });
        match (entry.summary.kind.clone(), direction, entry.summary.undone_by) {
            // Taking back a redo is taking back the edits that it brought back.
            (Kind::Redo(undo), ..) => match self.entry(undo)?.summary.kind {
                Kind::Undo(edits) => match edits.ids() {
                    [edit] => self.step(*edit, direction),
                    _ if direction == Direction::Redo => Err(stands(named)),
                    ids => match self.taken_back(ids)? {
                        Some(by) => Err(already(named, by)),
                        None => alone(entry, Kind::Undo(edits)),
                    },
                },
                Kind::Edit | Kind::Redo(_) => Err(already(named, undo)),
            },
            (Kind::Edit, Direction::Redo, Some(undo)) => self.step(undo, direction),
            (Kind::Edit, Direction::Redo, None) => Err(stands(named)),
            (_, _, Some(by)) => Err(already(named, by)),
            (Kind::Edit, Direction::Undo, None) => alone(entry, Kind::Undo(named.into())),
            (Kind::Undo(_), _, None) => alone(entry, Kind::Redo(named)),
        }
    }

    /// The change that took back the first of these that does not stand any more.
    fn taken_back(&self, ids: &[ChangeId]) -> Result<Option<ChangeId>, Report> {
        for &id in ids {
            if let Some(by) = self.journal.entry(id)?.and_then(|entry| entry.summary.undone_by) {
                return Ok(Some(by));
            }
        }
        Ok(None)
    }

    fn entry(&self, id: ChangeId) -> Result<Entry, Report> {
        match self.journal.entry(id)? {
            Some(entry) if entry.summary.state == State::Done => Ok(entry),
            Some(entry) => Err(not_made(id, entry.summary.state)),
            None if self.journal.forgotten(id)? => Err(forgotten_change(id)),
            None => Err(unknown_change(id)),
        }
    }

    /// What the session can take back or bring back.
    fn pick(&self, direction: Direction) -> Filter {
        let pick = match direction {
            Direction::Undo => Pick::Undoable,
            Direction::Redo => Pick::Redoable,
        };
        Filter { session: Some(self.session.into()), pick: Some(pick), ..Filter::default() }
    }

    /// What is said where the session has nothing to take back or bring back.
    fn nothing(&self, filter: Filter, direction: Direction) -> Result<Report, Report> {
        let (reason, word) = match direction {
            Direction::Undo => (Refused::NothingToUndo, "undo"),
            Direction::Redo => (Refused::NothingToRedo, "redo"),
        };
        let file = filter.path.as_ref().map_or(String::new(), |path| format!(" of `{path}`"));
        let elsewhere = self.journal.list(&Filter { session: None, limit: Some(1), ..filter })?;
        let hint = match elsewhere.first() {
            Some(other) => format!(
                "The last one of another session is {} (session `{}`); name it to {word} it.",
                other.id, other.origin.session
            ),
            None => "The journal has no such change in this root.".into(),
        };
        let message = format!("there is nothing to {word}{file} in the session `{}`", self.session);
        Ok(Report::new(reason, message).hint(hint))
    }
}

/// What is taken back, in words.
fn named(entries: &[Entry], kind: &Kind) -> String {
    const MOST: usize = 10;
    match (entries, kind) {
        ([entry], _) => entry.summary.id.to_string(),
        (_, Kind::Undo(taken)) if taken.ids().len() > MOST => {
            let (newest, oldest) = (taken.ids().first(), taken.ids().last());
            let ends =
                newest.zip(oldest).map_or(String::new(), |(newest, oldest)| format!("{newest} to {oldest}"));
            format!("{} changes, {ends}", taken.ids().len())
        }
        (_, Kind::Undo(taken)) => taken.to_string(),
        (_, Kind::Edit | Kind::Redo(_)) => "the changes".into(),
    }
}

/// Taking back what is not in the files would undo someone else's work.
fn not_made(id: ChangeId, state: State) -> Report {
    let what = match state {
        State::Pending => "is not settled: its process is still at it, or was cut short",
        State::Abandoned | State::Done => "never reached the files",
    };
    Report::new(Refused::NotMade, format!("{id} {what}, so it cannot be taken back"))
        .hint("Nothing was written. `slipstitch doctor` tells about changes that were cut short.")
}

/// What is said of a change that is not in the journal.
pub fn unknown_change(id: ChangeId) -> Report {
    let message = format!("there is no change {id} in this root's journal");
    Report::new(Invalid::UnknownChange, message).hint("The log shows the changes there are.")
}

/// What is said of a change that was removed from the journal to save space.
pub fn forgotten_change(id: ChangeId) -> Report {
    let message = format!(
        "{id} is no longer in the journal: it was removed to keep within the limits, and with it what takes it back"
    );
    Report::new(Refused::ForgottenChange, message)
        .hint("Restore the files by other means. The limits are `max_bytes` and `max_age_days` in `[journal]` of the configuration.")
}

fn stands(id: ChangeId) -> Report {
    let message = format!("{id} was not taken back, so it cannot be brought back");
    Report::new(Refused::NothingToRedo, message)
        .hint("`undo` takes it back; the log shows which changes were taken back.")
}

fn already(id: ChangeId, by: ChangeId) -> Report {
    Report::new(Refused::AlreadyUndone, format!("{id} was taken back already, by {by}"))
        .hint(format!("To bring it back, undo {by}."))
}
