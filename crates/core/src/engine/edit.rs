//! Turns an edit plan into a change set.

use super::commit::CLIPBOARD;
use super::land::{GuardMode, Landing};
use super::{Engine, MAX_ATTEMPTS};
use crate::find::{ResolveError, resolve_with_evidence};
use crate::hint::HintPhrases;
use crate::outcome::{Outcome, Refused};
use crate::plan::{EditPlan, Operation};
use crate::ports::approver::Approver;
use crate::ports::journal::{ChangeKind, JournalError, Origin};
use crate::ports::workspace::WorkspaceError;
use crate::report::Report;
use crate::snapshot::Snapshots;

impl Engine<'_> {
    /// Edits files as they are now. If another process writes one meanwhile, the edit is resolved again on the new text:
    /// its old text still proves the place.
    pub(super) fn edit(
        &self,
        plan: &EditPlan,
        origin: Origin,
        phrases: HintPhrases,
        approver: &mut dyn Approver,
    ) -> Report {
        let chosen = match self.apply_choice(plan) {
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
        self.decision_instead_of(report).with_leading_warnings(&plan.warnings)
    }

    fn try_edit(
        &self,
        plan: &EditPlan,
        origin: Origin,
        phrases: HintPhrases,
        approver: &mut dyn Approver,
    ) -> Result<Report, Report> {
        self.check_cancelled()?;
        let snapshots = self.read_files(plan)?;
        load_searched_files(plan, &snapshots)?;
        self.check_cancelled()?;
        self.edit_snapshots(plan, &snapshots, origin, phrases, approver).map_err(|report| {
            // A text that changed while it was read cannot be why the edit has no place.
            if let Err(conflict) = self.check_unchanged(&snapshots) {
                return conflict;
            }
            self.note_refused(&report, plan, &snapshots);
            report.with_files(plan, &snapshots)
        })
    }

    /// Keeps the texts that a refusal is about: it names their versions, and shows parts of them.
    fn note_refused(&self, report: &Report, plan: &EditPlan, snapshots: &Snapshots) {
        // After a conflict, the edit is tried again on other texts.
        if report.outcome == Outcome::Refused(Refused::Conflict) {
            return;
        }
        for file in &plan.files {
            if let Some(snapshot) = snapshots.get(&file.path) {
                self.note_shown(&file.path, snapshot);
            }
        }
    }

    fn edit_snapshots(
        &self,
        plan: &EditPlan,
        snapshots: &Snapshots,
        origin: Origin,
        phrases: HintPhrases,
        approver: &mut dyn Approver,
    ) -> Result<Report, Report> {
        self.check_abbreviations(plan, snapshots)?;
        let anchored = self.apply_anchors(plan, snapshots)?;
        let plan = anchored.as_ref().unwrap_or(plan);
        let rebased = self.rebase_stale_plan(plan, snapshots)?;
        if let (None, Some(report)) =
            (&rebased, anchored.as_ref().and_then(|plan| self.report_changed_anchors(plan, snapshots)))
        {
            return Err(report);
        }
        let (plan, changes) = match rebased {
            Some(ref rebased) => (&rebased.plan, rebased.changes.clone()),
            None => {
                self.judge()
                    .check_plan(plan, snapshots)
                    .map_err(|refusal| Report::refused(refusal, &phrases))?;
                let files = plan.files.len();
                let resolved =
                    resolve_with_evidence(plan, snapshots, self, self.cancel_token(), &mut |done| {
                        approver.on_progress(done, files)
                    });
                // A search that was cut short finds nothing, which must not be reported as the result.
                self.check_cancelled()?;
                if resolved.is_err() {
                    self.check_may_take_long()?;
                }
                (plan, resolved.map_err(|error| self.report_unresolved(error, plan, snapshots, phrases))?)
            }
        };
        let landing = Landing {
            origin,
            kind: ChangeKind::Edit,
            description: plan.description.clone(),
            message: None,
            dry_run_message: None,
            request_warnings: plan.warnings.clone(),
            context: plan.rules.context,
            labels: plan.labels.as_deref().cloned(),
            run: plan.run,
        };
        self.land(changes, snapshots, GuardMode::Edit(plan), landing, &phrases, approver)
    }

    /// The report for edits that have no place.
    fn report_unresolved(
        &self,
        mut error: ResolveError,
        plan: &EditPlan,
        snapshots: &Snapshots,
        phrases: HintPhrases,
    ) -> Report {
        self.attribute(&mut error, snapshots);
        self.search_other_files(&mut error, plan, snapshots);
        let mut report = match self.remember_candidates(&error, plan, snapshots) {
            // Candidates that could not be stored cannot be chosen; otherwise the refusal is the same.
            Ok(false) | Err(_) => Report::unresolved(&error, &HintPhrases { choose: None, ..phrases }),
            Ok(true) => Report::unresolved(&error, &phrases),
        };
        let operations: Vec<&Operation> = plan.files.iter().flat_map(|file| &file.operations).collect();
        for failure in &mut report.failures {
            let operation = failure.edit.and_then(|edit| operations.get(edit - 1));
            failure.sent = operation.and_then(|operation| operation.first_old_line()).map(str::to_owned);
        }
        report
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

/// Reads large files whole whose edits have no exact match, so that too little memory is reported as an error.
fn load_searched_files(plan: &EditPlan, snapshots: &Snapshots) -> Result<(), Report> {
    for file in &plan.files {
        let snapshot = snapshots.get(&file.path).filter(|snapshot| snapshot.is_in_blocks());
        let Some(snapshot) = snapshot else { continue };
        let is_found = |operation: &Operation| match operation {
            Operation::Replace { old, .. } => {
                snapshot.known_matches(&snapshot.needle(old)).is_some_and(|starts| !starts.is_empty())
            }
            _ => true,
        };
        if !file.operations.iter().all(is_found) && !snapshot.try_load() {
            let reason = "there is too little memory for the whole file".into();
            return Err(WorkspaceError::Io { path: file.path.clone(), action: "read", reason }.into());
        }
    }
    Ok(())
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
