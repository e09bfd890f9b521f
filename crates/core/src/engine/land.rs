//! The shared way from a change set to a report: guard, diff, approve or propose, commit.

use super::Engine;
use super::approve::{Declined, approve};
use super::commit::{clipboard_memory, commit};
use crate::change::ChangeSet;
use crate::guard::{self, Checked, Refusal};
use crate::hint::HintPhrases;
use crate::plan::{EditPlan, EditRules, Run};
use crate::ports::approver::Approver;
use crate::ports::journal::{Kind, Label, Origin, Remarks};
use crate::report::{Report, unified};
use crate::snapshot::Snapshots;

/// Which guards judge a change.
pub(super) enum Judge<'a> {
    /// All of them, with the plan that the change comes from.
    Edit(&'a EditPlan),
    /// Those for a change that reverts or restores another: its content passed before, but consent to change a
    /// protected path is not consent to change it back.
    Restore,
    /// None: it passed them when it was proposed, with these warnings, and someone accepted it.
    Accepted(Vec<String>),
}

/// What distinguishes an edit, an undo and an accepted proposal once their change set is known.
pub(super) struct Landing {
    pub(super) origin: Origin,
    pub(super) kind: Kind,
    /// What the change is for, in the caller's words.
    pub(super) description: Option<String>,
    /// What the report says instead of listing what changed.
    pub(super) message: Option<String>,
    /// What was repaired in the request; a proposal keeps it for the answer that follows its acceptance.
    pub(super) request_warnings: Vec<String>,
    /// Context lines of the diff.
    pub(super) context: usize,
    pub(super) run: Run,
}

impl Engine<'_> {
    /// Takes a change set that the caller made itself through the remaining stages: all guards, approval, commit.
    pub fn land_changes(
        &self,
        changes: ChangeSet,
        seen: &Snapshots,
        rules: EditRules,
        origin: Origin,
        description: Option<String>,
        approver: &mut dyn Approver,
    ) -> Report {
        let plan = EditPlan { description, ..EditPlan::new(Vec::new(), rules) };
        let landing = Landing {
            origin,
            kind: Kind::Edit,
            description: plan.description.clone(),
            message: None,
            request_warnings: Vec::new(),
            context: rules.context,
            run: Run::Real,
        };
        self.land(changes, seen, Judge::Edit(&plan), landing, &HintPhrases::ALL, approver)
            .unwrap_or_else(|report| report)
    }

    /// Takes a change set through the remaining stages.
    pub(super) fn land(
        &self,
        changes: ChangeSet,
        seen: &Snapshots,
        judge: Judge<'_>,
        landing: Landing,
        phrases: &HintPhrases,
        approver: &mut dyn Approver,
    ) -> Result<Report, Report> {
        let diff = unified(&changes, seen, landing.context);
        let checked = self.check(changes, seen, judge, &landing, phrases)?;
        if landing.run == Run::Dry {
            self.files.check(checked.changes().files())?;
            return Ok(Report::would_apply(&checked, seen).diff(diff));
        }
        let label = Label {
            origin: landing.origin,
            kind: landing.kind,
            description: landing.description,
            diff: String::from_utf8_lossy(&diff).into_owned(),
        };
        let approved = match approve(checked, &label, approver) {
            Err(Declined::Pending { how, checked }) => {
                let remarks = Remarks {
                    request: landing.request_warnings,
                    context: landing.context,
                    message: landing.message.clone(),
                    ..Remarks::default()
                };
                // Once accepted it is an edit like any other: its description says what it reverts.
                let description = label.description.or(landing.message);
                return Err(self.propose(*checked, Label { description, ..label }, remarks, &how));
            }
            decided => decided?,
        };
        let receipt = commit(approved, seen, label, self.files, self.journal)?;
        let mut report = Report::applied(&receipt, seen).diff(diff);
        if let Some(message) = landing.message {
            report.message = message;
        }
        Ok(report)
    }

    fn check(
        &self,
        changes: ChangeSet,
        seen: &Snapshots,
        judge: Judge<'_>,
        landing: &Landing,
        phrases: &HintPhrases,
    ) -> Result<Checked, Report> {
        let (memory, notes) = (clipboard_memory(&changes), changes.notes().to_vec());
        let judged = match judge {
            Judge::Edit(plan) => guard::check(self.guards, changes, plan, seen, self.policy),
            Judge::Restore => guard::check_restored(changes, seen, self.policy),
            Judge::Accepted(warnings) => Ok(guard::check_accepted(changes, warnings)),
        };
        judged.or_else(|refusal| {
            // Copying into a clipboard changes no file, but the session remembers the text all the same.
            if refusal == Refusal::NoChange && !memory.is_empty() && landing.run == Run::Real {
                self.journal.remember(&landing.origin.session, &memory)?;
                return Err(Report::refused(refusal, phrases).warn_first(&notes));
            }
            Err(Report::refused(refusal, phrases))
        })
    }
}
