//! Proposals: changes pending review, and their acceptance or rejection.

mod base;
mod hunks;
mod refusals;
mod repeat;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use super::Engine;
use super::land::{GuardMode, Landing};
use super::private::is_private_change;
use super::report::cancelled;
use crate::cancel::CancelToken;
use crate::change::ChangeSet;
use crate::guard::Checked;
use crate::hint::HintPhrases;
use crate::outcome::{Outcome, Refused};
use crate::plan::Run;
use crate::ports::approver::{Person, pending_hint};
use crate::ports::journal::{
    ChangeKind, Label, Proposal, ProposalDecision, ProposalId, ProposalNotes, ProposalSubject, RecordedText,
    RejectedHunk, StoredProposal,
};
use crate::report::{LogEntry, Report, truncate_proposed_diff};
use crate::snapshot::Snapshots;
use hunks::select_hunks;
pub use refusals::unknown_proposal;
use refusals::{already_decided, damaged, no_hunk_named};
use slipstitch_text::display::join_items;
pub use verdict::{HunkVerdict, Verdict};
use verdict::{ResolvedVerdict, check_hunk_numbers};

impl Engine<'_> {
    /// Stores a change until it is reviewed. `notes` has what cannot be derived from `checked`; `how` tells the caller
    /// how to have it reviewed.
    pub(super) fn propose(
        &self,
        checked: Checked,
        snapshots: &Snapshots,
        label: Label,
        notes: ProposalNotes,
        how: &str,
    ) -> Report {
        let reason = match checked.approval_reasons() {
            [] => "the approver deferred it for review".into(),
            reasons => reasons.join("; "),
        };
        let digest = self.call_digest();
        if let Some((earlier, note)) =
            digest.as_deref().and_then(|digest| self.earlier_proposal(digest).ok().flatten())
        {
            match earlier.decision {
                // The reviewer must have seen the same change for the same reasons.
                None if earlier.proposal.files == checked.changes().files()
                    && earlier.proposal.reason == reason =>
                {
                    return waiting(earlier.id, &earlier.proposal.reason, how)
                        .diff(earlier.proposal.diff.into_bytes());
                }
                None => {}
                Some(_) => {
                    if self.cancel.is_some_and(|cancel| !cancel.begin_writing()) {
                        return cancelled();
                    }
                    if let Some(report) = self.repeat_decision(&earlier, &note, true) {
                        return report;
                    }
                }
            }
        }
        let warnings = checked.warnings().to_vec();
        let log =
            notes.labels.clone().map(|labels| LogEntry { labels, description: label.description.clone() });
        let changes = checked.into_changes();
        let is_private = |file| is_private_change(self.journal, file, snapshots);
        let text = match changes.files().iter().any(is_private) {
            true => RecordedText::Private,
            false => RecordedText::Kept,
        };
        let proposal = Proposal {
            origin: label.origin,
            description: label.description,
            reason,
            files: changes.files().to_vec(),
            text,
            diff: truncate_proposed_diff(label.diff),
            notes: ProposalNotes {
                change_notes: changes.notes().to_vec(),
                guard_warnings: warnings.clone(),
                clipboards: changes.clipboards().clone(),
                call_digest: digest.clone(),
                ..notes
            },
        };
        let never = CancelToken::default();
        let stored = self.journal.propose_unless_cancelled(&proposal, self.cancel.unwrap_or(&never));
        let id = match stored {
            Ok(Some(id)) => id,
            Ok(None) => return cancelled(),
            Err(error) => return error.into(),
        };
        if let Some(digest) = digest {
            // Without it, the same call sent again becomes another proposal.
            let _ = self.remember_proposal(&digest, id);
        }
        let mut report = waiting(id, &proposal.reason, how);
        report.log = log.map(Box::new);
        report.warnings = warnings;
        report.diff(proposal.diff.into_bytes())
    }

    /// Applies a proposed change that `by` has reviewed and accepted, without the hunks that were rejected before.
    pub fn accept(&self, id: ProposalId, by: &str) -> Report {
        self.decide(id, by, &Verdict::accept_all())
    }

    /// Applies only these hunks of a proposed change, by their numbers. The others are left out, and the proposal is decided.
    pub fn accept_hunks(&self, id: ProposalId, by: &str, hunks: &[usize]) -> Report {
        self.decide(id, by, &Verdict::accept_only(hunks))
    }

    /// Decides a proposal hunk by hunk: applies what `by` accepted or edited, and leaves out what they rejected. If nothing is
    /// left, the proposal is rejected.
    pub fn decide(&self, id: ProposalId, by: &str, verdict: &Verdict) -> Report {
        self.try_decide(id, by, verdict, Run::Real).unwrap_or_else(|report| report)
    }

    /// What a decision would write to the files as they are now.
    pub fn preview(&self, id: ProposalId, verdict: &Verdict) -> Report {
        self.try_decide(id, "", verdict, Run::Dry).unwrap_or_else(|report| report)
    }

    fn try_decide(&self, id: ProposalId, by: &str, verdict: &Verdict, run: Run) -> Result<Report, Report> {
        let stored = self.pending_proposal(id)?;
        let verdict = verdict.resolve(&stored, by)?;
        if verdict.leaves_nothing() && run == Run::Real {
            return Ok(self.reject(id, by, Some(&joined_reasons(&verdict.left_out))));
        }
        let proposal = stored.proposal.clone();
        let notes = proposal.notes;
        if notes.subject == ProposalSubject::WriteAccess && run == Run::Dry {
            return Ok(Report::new(Outcome::NoChange, "the session would get write access"));
        }
        if notes.subject == ProposalSubject::WriteAccess {
            return Ok(self.grant_write_access(id, &proposal.origin.session, by)?);
        }
        let changes = ChangeSet::new(proposal.files).map_err(|error| damaged(id, &error.to_string()))?;
        let base = self.read_base(&changes, &stored)?;
        check_resolved_paths(id, &changes, &base.now, notes.real_paths.as_ref())?;
        let changes = match verdict.takes_all() {
            true => changes,
            false => select_hunks(id, changes, base.then(), notes.context, &verdict)?,
        };
        let changes = self.carry_over(changes, &base, &stored)?;
        let changes = changes.with_clipboards(notes.clipboards, notes.change_notes);
        let landing = Landing {
            origin: proposal.origin,
            kind: ChangeKind::Edit,
            description: proposal.description,
            message: notes.message,
            dry_run_message: None,
            request_warnings: Vec::new(),
            context: notes.context,
            labels: notes.labels,
            run,
        };
        let mut reviewer = Person { name: by.into() };
        let guards = GuardMode::Accepted(&stored);
        let landed = self.land(changes, &base.now, guards, landing, &HintPhrases::ALL, &mut reviewer);
        let report = landed.map_err(|report| match report.outcome {
            // Another process wrote the file after it was read.
            Outcome::Refused(Refused::Conflict) => Report::stale_proposal(id, &report.message),
            _ => report,
        })?;
        let report = report.with_leading_warnings(&notes.request_warnings);
        Ok(self.report_accepted(report, &stored, by, verdict))
    }

    /// Records the decision on a proposal that was applied, and adds it to the report.
    fn report_accepted(
        &self,
        mut report: Report,
        stored: &StoredProposal,
        by: &str,
        verdict: ResolvedVerdict,
    ) -> Report {
        let id = stored.id;
        report.proposal = Some(id);
        let edited = verdict.edited_hunks();
        if !verdict.left_out.is_empty() {
            report.outcome =
                if report.outcome == Outcome::Applied { Outcome::PartlyAccepted } else { report.outcome };
            report
                .warnings
                .push(format!("not applied: {}", stored.proposal.describe_hunks(&verdict.left_out)));
        }
        if !edited.is_empty() {
            let hunks = if edited.len() == 1 { "hunk" } else { "hunks" };
            report.warnings.push(format!(
                "{hunks} {} changed by {by}; the diff shows what was written",
                join_items(&edited)
            ));
        }
        report.left_out.clone_from(&verdict.left_out);
        report.edited_hunks.clone_from(&edited);
        if let Some(change) = report.change {
            let decision =
                ProposalDecision::Accepted { by: by.into(), change, left_out: verdict.left_out, edited };
            if let Err(error) = self.journal.record_decision(id, &decision) {
                report.warnings.push(format!("the change is written, but {error}"));
            }
            self.note_decided(stored);
        }
        report
    }

    /// Rejects a proposed change for its caller, who does not want it any more. The same call is a new request then.
    pub fn withdraw(&self, id: ProposalId, by: &str, reason: Option<&str>) -> Report {
        let report = self.reject(id, by, reason);
        if let (Outcome::ProposalRejected, Ok(Some(found))) = (report.outcome, self.journal.proposal(id)) {
            self.forget_proposal(&found);
        }
        report
    }

    /// Rejects a proposed change.
    pub fn reject(&self, id: ProposalId, by: &str, reason: Option<&str>) -> Report {
        let reject = || {
            let found = self.pending_proposal(id)?;
            let reason = reason.filter(|reason| !reason.trim().is_empty());
            let decision = ProposalDecision::Rejected { by: by.into(), reason: reason.map(Into::into) };
            self.journal.record_decision(id, &decision)?;
            self.note_decided(&found);
            let mut report = Report::new(Outcome::ProposalRejected, format!("{id} was {decision}"));
            report.proposal = Some(id);
            Ok(report)
        };
        reject().unwrap_or_else(|report| report)
    }

    /// Rejects these hunks of a proposed change, by their numbers. The others stay pending; if none is left, the proposal is
    /// rejected.
    pub fn reject_hunks(&self, id: ProposalId, by: &str, hunks: &[usize], reason: Option<&str>) -> Report {
        let reject = || {
            let found = self.pending_proposal(id)?;
            let known = found.proposal.hunks();
            if hunks.is_empty() {
                return Err(no_hunk_named(id));
            }
            check_hunk_numbers(&found, hunks)?;
            let mut rejected: Vec<RejectedHunk> = found.rejected_hunks.clone();
            rejected.retain(|earlier| !hunks.contains(&earlier.hunk));
            let add =
                |hunk: &usize| RejectedHunk { hunk: *hunk, by: by.into(), reason: reason.map(Into::into) };
            rejected.extend(hunks.iter().collect::<BTreeSet<_>>().into_iter().map(add));
            rejected.sort_by_key(|rejected| rejected.hunk);
            let proposal = &found.proposal;
            if rejected.len() == known.len() {
                return Ok(self.reject(id, by, reason));
            }
            self.journal.record_rejected_hunks(id, &rejected)?;
            let left = known.len() - rejected.len();
            let message = format!(
                "rejected in {id}: {}; {left} of {} hunks still pending",
                proposal.describe_hunks(&rejected),
                known.len()
            );
            let mut report = Report::new(Outcome::ProposalRejected, message)
                .hint("The others wait until you accept or reject them.");
            report.proposal = Some(id);
            report.left_out = rejected;
            Ok(report)
        };
        reject().unwrap_or_else(|report| report)
    }

    /// A proposal that is still pending.
    fn pending_proposal(&self, id: ProposalId) -> Result<StoredProposal, Report> {
        let found = self.journal.proposal(id)?.ok_or_else(|| unknown_proposal(id))?;
        match &found.decision {
            None => Ok(found),
            Some(decision) => Err(already_decided(id, decision)),
        }
    }
}

/// The report for a change that waits for review.
fn waiting(id: ProposalId, reason: &str, how: &str) -> Report {
    let message = format!("the change is waiting for review as {id}: {reason}");
    let mut report = Report::new(Refused::PendingReview, message).hint(pending_hint(how, id));
    report.proposal = Some(id);
    report
}

/// Refuses a proposal if one of its paths leads to another file than when it was proposed.
fn check_resolved_paths(
    id: ProposalId,
    changes: &ChangeSet,
    snapshots: &Snapshots,
    proposed: Option<&BTreeMap<String, String>>,
) -> Result<(), Report> {
    let Some(proposed) = proposed else { return Ok(()) };
    for (path, real) in snapshots.resolved_paths(changes) {
        if proposed.get(&path).is_none_or(|before| *before != real) {
            return Err(Report::stale_proposal(
                id,
                &format!("`{path}` now resolves to `{real}`, but did not when {id} was proposed"),
            ));
        }
    }
    Ok(())
}

/// The reasons that were given for hunks, without repetitions.
fn joined_reasons(hunks: &[RejectedHunk]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in hunks.iter().filter_map(|hunk| hunk.reason.as_deref()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons.join("; ")
}
