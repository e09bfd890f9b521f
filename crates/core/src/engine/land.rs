//! Landing: the stages from a change set to a report, shared by edits, undo and accepted proposals: guard, diff, approve
//! or propose, commit.

use super::Engine;
use super::approve::{Declined, approve};
use super::commit::{clipboard_memory, commit};
use super::confirm::ShownChange;
use super::private::{diff_to_keep, is_private, remember};
use crate::change::ChangeSet;
use crate::guard::{AcceptError, Accepted, Caller, Checked, Judge, ProposalKind, Refusal};
use crate::hint::HintPhrases;
use crate::plan::{ChangeId, ChangeLabels, Confirmation, EditPlan, EditRules, Run};
use crate::ports::approver::Approver;
use crate::ports::journal::{ChangeKind, Label, Origin, ProposalNotes, StoredProposal};
use crate::report::{LogEntry, Report, unified_diff};
use crate::snapshot::Snapshots;

/// Which guards check a change.
pub(super) enum GuardMode<'a> {
    /// All of them, for an edit made from this plan.
    Edit(&'a EditPlan),
    /// Only those for protected paths and other sessions' changes, for an undo or redo. The content passed the other guards
    /// before, but consent to change a protected path is not consent to change it back.
    Restore {
        /// The reverted changes of other sessions.
        others: Vec<(ChangeId, String)>,
    },
    /// All of them again, for an accepted proposal: its paths may lead elsewhere by now.
    Accepted(&'a StoredProposal),
}

/// What distinguishes an edit, an undo and an accepted proposal once their change set is known.
pub(super) struct Landing {
    pub(super) origin: Origin,
    pub(super) kind: ChangeKind,
    /// What the change is for, in the caller's words.
    pub(super) description: Option<String>,
    /// The report's message, instead of the usual summary of what changed.
    pub(super) message: Option<String>,
    /// What comes before the summary in the report of a dry run.
    pub(super) dry_run_message: Option<String>,
    /// What was repaired in the request; a proposal stores it for the report of its acceptance.
    pub(super) request_warnings: Vec<String>,
    /// Context lines of the diff.
    pub(super) context: usize,
    /// How the dialect classifies the change.
    pub(super) labels: Option<ChangeLabels>,
    pub(super) run: Run,
}

impl Engine<'_> {
    /// Takes a change set that the caller made itself through the remaining stages: all guards, approval, commit.
    pub fn land_changes(
        &self,
        changes: ChangeSet,
        snapshots: &Snapshots,
        rules: EditRules,
        origin: Origin,
        description: Option<String>,
        approver: &mut dyn Approver,
    ) -> Report {
        let plan = EditPlan { description, ..EditPlan::new(Vec::new(), rules) };
        let landing = Landing {
            origin,
            kind: ChangeKind::Edit,
            description: plan.description.clone(),
            message: None,
            dry_run_message: None,
            request_warnings: Vec::new(),
            context: rules.context,
            labels: None,
            run: Run::Real,
        };
        self.land(changes, snapshots, GuardMode::Edit(&plan), landing, &HintPhrases::ALL, approver)
            .unwrap_or_else(|report| report)
    }

    /// Takes a change set through the remaining stages.
    pub(super) fn land(
        &self,
        changes: ChangeSet,
        snapshots: &Snapshots,
        guards: GuardMode<'_>,
        landing: Landing,
        phrases: &HintPhrases,
        approver: &mut dyn Approver,
    ) -> Result<Report, Report> {
        self.check_cancelled()?;
        let mut diff = LandedDiff::new(unified_diff(&changes, snapshots, landing.context));
        self.check_cancelled()?;
        let kind = match guards {
            GuardMode::Restore { .. } => ProposalKind::Restore,
            GuardMode::Edit(_) | GuardMode::Accepted(_) => ProposalKind::Edit,
        };
        let confirmation = match guards {
            GuardMode::Edit(plan) => plan.rules.confirmation,
            GuardMode::Restore { .. } | GuardMode::Accepted(_) => Confirmation::Unused,
        };
        let shown = ShownChange::new(confirmation, &changes, snapshots, diff.bytes(), self.journal);
        let confirmed = match guards {
            GuardMode::Edit(plan) if self.is_confirmed(&shown, landing.run)? => Some(plan.confirmed()),
            _ => None,
        };
        // A confirmation of what was not shown does not count yet.
        let early = match &guards {
            GuardMode::Edit(plan) if confirmation == Confirmation::Sent && confirmed.is_none() => {
                Some((changes.clone(), plan.confirmed()))
            }
            _ => None,
        };
        let guards = confirmed.as_ref().map_or(guards, GuardMode::Edit);
        let checked = match self.check(changes, snapshots, guards, &landing, phrases) {
            // The caller can confirm the change, and should see it before, unless it would be refused even then.
            Err(report) if is_confirmable(&report, confirmation) => {
                if let Some((changes, plan)) = early {
                    self.check(changes, snapshots, GuardMode::Edit(&plan), &landing, phrases).map(drop)?;
                }
                self.note_shown_change(&shown)?;
                return Err(report.diff(diff.into_bytes()));
            }
            checked => checked?,
        };
        self.check_unchanged(snapshots)?;
        if landing.run == Run::Dry {
            let warnings = self.files.check(checked.changes().files())?;
            self.note_shown_change(&shown)?;
            let mut report = Report::would_apply(&checked, snapshots).diff(diff.into_bytes());
            report.warnings.extend(warnings);
            if let Some(message) = landing.dry_run_message {
                report.message = format!("{message}: {}", report.message.replacen("Would", "would", 1));
            }
            return Ok(report);
        }
        let label = Label {
            origin: landing.origin,
            kind: landing.kind,
            description: landing.description,
            labels: landing.labels,
            diff: diff.take_text(),
        };
        let approved = match approve(checked, &label, approver) {
            Err(Declined::Pending { how, checked }) => {
                let notes = ProposalNotes {
                    request_warnings: landing.request_warnings,
                    context: landing.context,
                    message: landing.message.clone(),
                    kind,
                    real_paths: Some(snapshots.resolved_paths(checked.changes())),
                    labels: label.labels.clone(),
                    ..ProposalNotes::default()
                };
                // An accepted undo is recorded as an edit, so its description has to say what it reverts.
                let description = label.description.or(landing.message);
                let label = Label { description, ..label };
                return Err(self.propose(*checked, snapshots, label, notes, &how));
            }
            decided => decided?,
        };
        let log =
            label.labels.clone().map(|labels| LogEntry { labels, description: label.description.clone() });
        let changes = approved.checked().changes();
        let kept = diff_to_keep(self.journal, changes, snapshots, landing.context, &label.diff);
        diff.give_back(label.diff);
        let label = Label { diff: kept, ..label };
        let receipt = commit(approved, snapshots, label, self.files, self.journal, self.cancel)?;
        self.note_results(&receipt.changes, snapshots);
        let mut report = Report::applied(&receipt, snapshots).diff(diff.into_bytes());
        report.log = log.map(Box::new);
        if let Some(message) = landing.message {
            report.message = message;
        }
        Ok(report)
    }

    fn check(
        &self,
        changes: ChangeSet,
        snapshots: &Snapshots,
        guards: GuardMode<'_>,
        landing: &Landing,
        phrases: &HintPhrases,
    ) -> Result<Checked, Report> {
        let (memory, notes) = (clipboard_memory(&changes), changes.notes().to_vec());
        let is_private =
            || snapshots.paths().any(|path| is_private(self.journal, path, snapshots.real_path(path)));
        let Origin { dialect, agent, .. } = &landing.origin;
        let caller = Some(Caller { dialect, agent: agent.as_deref() });
        let judge = Judge { caller, ..self.judge() };
        let checked = match guards {
            GuardMode::Edit(plan) => judge.check(changes, plan, snapshots),
            GuardMode::Restore { others } => judge.check_restored(changes, &others, snapshots),
            GuardMode::Accepted(StoredProposal { id, proposal, .. }) => {
                let accepted = Accepted {
                    kind: proposal.notes.kind,
                    reason: &proposal.reason,
                    warnings: &proposal.notes.guard_warnings,
                };
                match judge.check_accepted(changes, &accepted, snapshots) {
                    Ok(checked) => Ok(checked),
                    Err(AcceptError::Refused(refusal)) => Err(refusal),
                    Err(AcceptError::NewReasons(reasons)) => {
                        let reasons = reasons.join("; ");
                        let message = format!(
                            "{id} now needs approval for reasons that were not shown to the reviewer: {reasons}"
                        );
                        return Err(Report::stale_proposal(*id, &message));
                    }
                }
            }
        };
        self.check_cancelled()?;
        checked.or_else(|refusal| {
            // Copying to a clipboard changes no file, but the session must still remember the text.
            if refusal == Refusal::NoChange && !memory.is_empty() && landing.run == Run::Real {
                remember(self.journal, &landing.origin.session, &memory, is_private())?;
                return Err(Report::refused(refusal, phrases).with_leading_warnings(&notes));
            }
            Err(Report::refused(refusal, phrases))
        })
    }
}

/// The diff of a change: bytes for the report, and text for whoever approves the change and for the journal. A diff can be larger
/// than the file, so where both are the same, only one exists at a time.
enum LandedDiff {
    /// In the report, and a copy decoded for the label if it is not UTF-8.
    Bytes(Vec<u8>),
    Text(String),
}

impl LandedDiff {
    fn new(diff: Vec<u8>) -> Self {
        String::from_utf8(diff).map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Text)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }

    /// The text, which is given back with [`Self::give_back`].
    fn take_text(&mut self) -> String {
        match self {
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Self::Text(text) => std::mem::take(text),
        }
    }

    fn give_back(&mut self, taken: String) {
        if let Self::Text(text) = self {
            *text = taken;
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.into_bytes(),
        }
    }
}

/// Whether the caller can confirm the refused change, so that the refusal shows its diff.
fn is_confirmable(report: &Report, confirmation: Confirmation) -> bool {
    match report.refusal {
        Some(Refusal::Unconfirmed { .. }) => true,
        Some(Refusal::Shrinks { .. }) => confirmation != Confirmation::Unused,
        _ => false,
    }
}
