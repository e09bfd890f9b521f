//! Edits: from a plan to a change set, on what the files contain now.

use super::commit::CLIPBOARD;
use super::land::{Judge, Landing};
use super::{Engine, MAX_ATTEMPTS};
use crate::find::{ResolveError, resolve_with_progress};
use crate::guard;
use crate::hint::HintPhrases;
use crate::outcome::{Outcome, Refused};
use crate::plan::EditPlan;
use crate::ports::approver::Approver;
use crate::ports::journal::{JournalError, Kind, Origin};
use crate::report::Report;
use crate::snapshot::Snapshots;

impl Engine<'_> {
    /// An edit whose text proves its place is made on what the file contains now, even if another process wrote it a
    /// moment ago.
    pub(super) fn edit(
        &self,
        plan: &EditPlan,
        origin: Origin,
        phrases: HintPhrases,
        approver: &mut dyn Approver,
    ) -> Report {
        let chosen = match self.chosen(plan) {
            Ok(chosen) => chosen,
            Err(report) => return *report,
        };
        let plan = chosen.as_ref().unwrap_or(plan);
        self.forget_candidates(plan);
        let with_clipboards = match self.recall_clipboards(plan) {
            Ok(recalled) => recalled,
            Err(error) => return error.into(),
        };
        let plan = with_clipboards.as_ref().unwrap_or(plan);
        let report = retry_on_conflict(|| self.try_edit(plan, origin.clone(), phrases, approver));
        report.warn_first(&plan.warnings)
    }

    fn try_edit(
        &self,
        plan: &EditPlan,
        origin: Origin,
        phrases: HintPhrases,
        approver: &mut dyn Approver,
    ) -> Result<Report, Report> {
        let seen = self.read_files(plan)?;
        self.edit_seen(plan, &seen, origin, phrases, approver)
            .map_err(|report| report.with_files(plan, &seen))
    }

    fn edit_seen(
        &self,
        plan: &EditPlan,
        seen: &Snapshots,
        origin: Origin,
        phrases: HintPhrases,
        approver: &mut dyn Approver,
    ) -> Result<Report, Report> {
        let carried = self.carried(plan, seen)?;
        let (plan, changes) = match carried {
            Some(ref carried) => (&carried.plan, carried.changes.clone()),
            None => {
                guard::admit(self.guards, plan, seen, self.policy)
                    .map_err(|refusal| Report::refused(refusal, &phrases))?;
                let files = plan.files.len();
                let found = resolve_with_progress(plan, seen, &mut |done| approver.placed(done, files));
                (plan, found.map_err(|error| self.unresolved(error, plan, seen, phrases))?)
            }
        };
        let landing = Landing {
            origin,
            kind: Kind::Edit,
            description: plan.description.clone(),
            message: None,
            request_warnings: plan.warnings.clone(),
            context: plan.rules.context,
            run: plan.run,
        };
        self.land(changes, seen, Judge::Edit(plan), landing, &phrases, approver)
    }

    /// The answer to a plan whose edits have no place.
    fn unresolved(
        &self,
        mut error: ResolveError,
        plan: &EditPlan,
        seen: &Snapshots,
        phrases: HintPhrases,
    ) -> Report {
        self.look_elsewhere(&mut error, plan, seen);
        match self.offer_candidates(&error, plan, seen) {
            // Candidates that could not be stored cannot be chosen; the refusal is the same.
            Ok(false) | Err(_) => Report::unresolved(&error, &HintPhrases { choose: None, ..phrases }),
            Ok(true) => Report::unresolved(&error, &phrases),
        }
    }

    /// The plan with the session's clipboards, if it uses any.
    fn recall_clipboards(&self, plan: &EditPlan) -> Result<Option<EditPlan>, JournalError> {
        if plan.clipboards.uses.is_empty() {
            return Ok(None);
        }
        let mut plan = plan.clone();
        for (name, text) in self.journal.recall(self.session, CLIPBOARD)? {
            plan.clipboards.known.insert(name[CLIPBOARD.len()..].to_owned(), text);
        }
        Ok(Some(plan))
    }
}

/// Repeats an operation as long as another writer interferes, up to a limit.
pub(super) fn retry_on_conflict(mut attempt: impl FnMut() -> Result<Report, Report>) -> Report {
    let mut attempts = 1;
    loop {
        let report = attempt().unwrap_or_else(|report| report);
        if report.outcome != Outcome::Refused(Refused::Conflict) || attempts == MAX_ATTEMPTS {
            return report;
        }
        attempts += 1;
    }
}
