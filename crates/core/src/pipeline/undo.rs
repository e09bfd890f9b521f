//! Taking changes back: the same stages, with the journal in the place of the request.

use super::Engine;
use crate::approve::{Approver, Declined, approve};
use crate::change::{Base, ChangeSet, Fate};
use crate::commit::{Label, commit};
use crate::guard;
use crate::journal::{ChangeId, Entry, Filter, Kind, Origin, Pick};
use crate::means::Means;
use crate::plan::{Direction, Manner, Run, UndoPlan};
use crate::report::{Report, Status, unified};
use crate::resolve::Snapshots;

impl Engine<'_> {
    pub(super) fn undo(&self, plan: &UndoPlan, origin: Origin, who: &mut dyn Approver) -> Report {
        self.try_undo(plan, origin, who).unwrap_or_else(|report| report)
    }

    fn try_undo(&self, plan: &UndoPlan, origin: Origin, who: &mut dyn Approver) -> Result<Report, Report> {
        let (entry, kind) = self.step(plan)?;
        let files = entry.files.iter().map(|file| file.inverse.clone()).collect();
        let changes = ChangeSet::new(files)
            .map_err(|twice| Report::new(Status::Failed, "journal_error", twice.to_string()))?;
        let seen = self.unchanged_since(&changes, entry.summary.id)?;
        let diff = unified(&changes, &seen, Manner::STRICT.context);
        let what = match kind {
            Kind::Redo(_) => "Brought back what was taken back by",
            Kind::Undo(_) | Kind::Edit => "Took back",
        };
        let means = Means::of(&origin);
        let checked = guard::check_restored(changes, &seen, self.policy)
            .map_err(|refusal| Report::refused(refusal, &means))?;
        if plan.run == Run::Dry {
            self.files.check(checked.changes().files())?;
            return Ok(Report::would_apply(&checked, &seen).diff(diff));
        }
        let mut label =
            Label { origin, kind, description: None, diff: String::from_utf8_lossy(&diff).into_owned() };
        let approved = match approve(checked, &label, who) {
            Err(Declined::Pending { how, checked }) => {
                // Once accepted it is an edit like any other; what it takes back is said in words.
                label.description = Some(format!("{what} {}", entry.summary.id));
                return Err(self.propose(*checked, label, &how));
            }
            decided => decided?,
        };
        let receipt = commit(approved, &seen, label, self.files, self.journal)?;
        let mut report = Report::applied(&receipt, &seen).diff(diff);
        report.message = format!("{what} {}", entry.summary.id);
        Ok(report)
    }

    /// The journal's entry to invert, and what inverting it is.
    fn step(&self, plan: &UndoPlan) -> Result<(Entry, Kind), Report> {
        let named = match plan.change {
            Some(id) => id,
            None => self.last(plan)?,
        };
        let entry = self.entry(named)?;
        match (entry.summary.kind, plan.direction, entry.summary.undone_by) {
            // Taking back a redo is taking back the edit that it brought back.
            (Kind::Redo(undo), ..) => match self.entry(undo)?.summary.kind {
                Kind::Undo(edit) => self.step(&UndoPlan { change: Some(edit), ..plan.clone() }),
                Kind::Edit | Kind::Redo(_) => Err(already(named, undo)),
            },
            (Kind::Edit, Direction::Redo, Some(undo)) => {
                self.step(&UndoPlan { change: Some(undo), ..plan.clone() })
            }
            (Kind::Edit, Direction::Redo, None) => Err(Report::new(
                Status::Refused,
                "nothing_to_redo",
                format!("{named} was not taken back, so it cannot be brought back"),
            )
            .hint("`undo` takes it back; the log shows which changes were taken back.")),
            (_, _, Some(by)) => Err(already(named, by)),
            (Kind::Edit, Direction::Undo, None) => Ok((entry, Kind::Undo(named))),
            (Kind::Undo(_), _, None) => Ok((entry, Kind::Redo(named))),
        }
    }

    fn entry(&self, id: ChangeId) -> Result<Entry, Report> {
        self.journal.entry(id)?.ok_or_else(|| {
            Report::new(
                Status::Invalid,
                "unknown_change",
                format!("there is no change {id} in this root's journal"),
            )
            .hint("The log shows the changes there are.")
        })
    }

    /// The session's last change that can be taken back or brought back.
    fn last(&self, plan: &UndoPlan) -> Result<ChangeId, Report> {
        let (pick, word) = match plan.direction {
            Direction::Undo => (Pick::Undoable, "undo"),
            Direction::Redo => (Pick::Redoable, "redo"),
        };
        let filter = Filter {
            session: Some(self.session.into()),
            path: plan.path.clone(),
            pick: Some(pick),
            limit: Some(1),
            ..Filter::default()
        };
        if let Some(last) = self.journal.list(&filter)?.first() {
            return Ok(last.id);
        }
        let elsewhere = self.journal.list(&Filter { session: None, ..filter })?;
        let hint = match elsewhere.first() {
            Some(other) => format!(
                "The last one of another session is {} (session `{}`); name it to {word} it.",
                other.id, other.origin.session
            ),
            None => "The journal has no such change in this root.".into(),
        };
        let (code, message) = match plan.direction {
            Direction::Undo => ("nothing_to_undo", "to undo"),
            Direction::Redo => ("nothing_to_redo", "to redo"),
        };
        let file = plan.path.as_ref().map_or(String::new(), |path| format!(" of `{path}`"));
        let message = format!("there is nothing {message}{file} in the session `{}`", self.session);
        Err(Report::new(Status::Refused, code, message).hint(hint))
    }

    /// Reads the files and makes sure that each is as the change left it.
    fn unchanged_since(&self, changes: &ChangeSet, id: ChangeId) -> Result<Snapshots, Report> {
        let mut seen = Snapshots::default();
        for file in changes.files() {
            self.look_into(&mut seen, &file.path)?;
            if let Fate::Moves(to) = &file.fate {
                self.look_into(&mut seen, to)?;
            }
            let as_left = match (file.base, seen.get(&file.path)) {
                (Base::Absent, None) => true,
                (Base::Content(hash), Some(snapshot)) => snapshot.hash() == hash,
                _ => false,
            };
            if !as_left {
                let message =
                    format!("`{}` was changed after {id}, so {id} cannot be taken back as it is", file.path);
                return Err(Report::new(Status::Refused, "changed_since", message).hint(
                    "Nothing was written. Take back the later changes first (see the log), or edit the file.",
                ));
            }
            let restored = (file.after.is_none() || file.splices.base_len() == seen.bytes(&file.path).len())
                && file.after.is_none_or(|after| file.splices.hash_after(seen.bytes(&file.path)) == after);
            if !restored {
                let message =
                    format!("the journal's record of {id} is damaged: it would not restore `{}`", file.path);
                return Err(Report::new(Status::Failed, "journal_error", message)
                    .hint("Nothing was written. Restore the file by other means."));
            }
        }
        Ok(seen)
    }
}

fn already(id: ChangeId, by: ChangeId) -> Report {
    Report::new(Status::Refused, "already_undone", format!("{id} was taken back already, by {by}"))
        .hint(format!("To bring it back, undo {by}."))
}
