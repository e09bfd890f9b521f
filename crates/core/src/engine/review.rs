//! Proposals: changes pending review, and their acceptance or rejection.

use super::Engine;
use super::commit::truncate_stored_diff;
use super::land::{GuardMode, Landing};
use crate::change::{Base, ChangeSet};
use crate::guard::Checked;
use crate::hint::HintPhrases;
use crate::outcome::{Failed, Invalid, Outcome, Refused};
use crate::plan::Run;
use crate::ports::approver::Person;
use crate::ports::journal::{
    ChangeKind, Label, Proposal, ProposalDecision, ProposalId, ProposalNotes, ProposalSubject, StoredProposal,
};
use crate::report::Report;
use crate::snapshot::Snapshots;

impl Engine<'_> {
    /// Stores a change until it is reviewed. `notes` has what cannot be derived from `checked`; `how` tells the caller
    /// how to have it reviewed.
    pub(super) fn propose(&self, checked: Checked, label: Label, notes: ProposalNotes, how: &str) -> Report {
        let reason = match checked.approval_reasons() {
            [] => "the approver deferred it for review".into(),
            reasons => reasons.join("; "),
        };
        let warnings = checked.warnings().to_vec();
        let changes = checked.into_changes();
        let proposal = Proposal {
            origin: label.origin,
            description: label.description,
            reason,
            files: changes.files().to_vec(),
            diff: truncate_stored_diff(label.diff),
            notes: ProposalNotes {
                change_notes: changes.notes().to_vec(),
                guard_warnings: warnings.clone(),
                clipboards: changes.clipboards().clone(),
                ..notes
            },
        };
        let id = match self.journal.propose(&proposal) {
            Ok(id) => id,
            Err(error) => return error.into(),
        };
        let message = format!("the change is waiting for review as {id}: {}", proposal.reason);
        let mut report = Report::new(Refused::PendingReview, message).hint(format!(
            "{how} `slipstitch review show {id}` shows it, `slipstitch review accept {id}` applies it."
        ));
        report.proposal = Some(id);
        report.warnings = warnings;
        report.diff(proposal.diff.into_bytes())
    }

    /// Applies a proposed change that `by` has reviewed and accepted.
    pub fn accept(&self, id: ProposalId, by: &str) -> Report {
        self.try_accept(id, by).unwrap_or_else(|report| report)
    }

    fn try_accept(&self, id: ProposalId, by: &str) -> Result<Report, Report> {
        let proposal = self.pending_proposal(id)?.proposal;
        let notes = proposal.notes;
        if notes.subject == ProposalSubject::WriteAccess {
            return Ok(self.grant_write_access(id, &proposal.origin.session, by)?);
        }
        let changes = ChangeSet::new(proposal.files).map_err(|error| damaged(id, &error.to_string()))?;
        let changes = changes.with_clipboards(notes.clipboards, notes.change_notes);
        let snapshots = self.read_unchanged(&changes, id)?;
        let landing = Landing {
            origin: proposal.origin,
            kind: ChangeKind::Edit,
            description: proposal.description,
            message: notes.message,
            request_warnings: Vec::new(),
            context: notes.context,
            run: Run::Real,
        };
        let mut reviewer = Person { name: by.into() };
        let guards = GuardMode::Accepted(notes.guard_warnings);
        let landed = self.land(changes, &snapshots, guards, landing, &HintPhrases::ALL, &mut reviewer);
        let mut report = landed.map_err(|report| match report.outcome {
            // Another process wrote the file after it was read.
            Outcome::Refused(Refused::Conflict) => stale(id, &report.message),
            _ => report,
        })?;
        report = report.with_leading_warnings(&notes.request_warnings);
        report.proposal = Some(id);
        if let Some(change) = report.change {
            let decision = ProposalDecision::Accepted { by: by.into(), change };
            if let Err(error) = self.journal.record_decision(id, &decision) {
                report.warnings.push(format!("the change is written, but {error}"));
            }
        }
        Ok(report)
    }

    /// Rejects a proposed change.
    pub fn reject(&self, id: ProposalId, by: &str, reason: Option<&str>) -> Report {
        let reject = || {
            self.pending_proposal(id)?;
            let decision = ProposalDecision::Rejected { by: by.into(), reason: reason.map(Into::into) };
            self.journal.record_decision(id, &decision)?;
            let mut report = Report::new(Outcome::ProposalRejected, format!("{id} is {decision}"));
            report.proposal = Some(id);
            Ok(report)
        };
        reject().unwrap_or_else(|report| report)
    }

    /// A proposal that is still pending.
    fn pending_proposal(&self, id: ProposalId) -> Result<StoredProposal, Report> {
        let found = self.journal.proposal(id)?.ok_or_else(|| unknown_proposal(id))?;
        match &found.decision {
            None => Ok(found),
            Some(decision) => {
                let message = format!("{id} was already {decision}");
                Err(Report::new(Refused::AlreadyDecided, message).hint(LIST_HINT))
            }
        }
    }

    /// Reads the files, and checks that each still has the content that the proposal was made for.
    fn read_unchanged(&self, changes: &ChangeSet, id: ProposalId) -> Result<Snapshots, Report> {
        let mut snapshots = Snapshots::default();
        for file in changes.files() {
            let found = self.snapshot(&file.path)?;
            let same = match (file.base, &found) {
                (Base::Absent, None) => true,
                (Base::Content(hash), Some(snapshot)) => snapshot.hash() == hash,
                _ => false,
            };
            if !same {
                return Err(stale(id, &format!("`{}` changed since {id} was proposed", file.path)));
            }
            snapshots.insert(file.path.clone(), found);
            let bytes = snapshots.bytes(&file.path);
            let is_intact = file.splices.base_len() == bytes.len()
                && file.after.is_none_or(|after| file.splices.hash_after(bytes) == after);
            if !is_intact {
                return Err(damaged(id, &format!("it does not give the proposed text of `{}`", file.path)));
            }
        }
        Ok(snapshots)
    }
}

const LIST_HINT: &str = "`slipstitch review` lists the proposals that wait for review.";

/// The report for a proposal that is not in the journal.
pub fn unknown_proposal(id: ProposalId) -> Report {
    Report::new(Invalid::UnknownProposal, format!("there is no proposal {id} in this root's journal"))
        .hint(LIST_HINT)
}

fn stale(id: ProposalId, message: &str) -> Report {
    Report::new(Refused::StaleFile, message).hint(format!(
        "Nothing was written. Reject {id} and have the change proposed again for the current file."
    ))
}

fn damaged(id: ProposalId, problem: &str) -> Report {
    let message = format!("the journal's record of {id} is damaged: {problem}");
    Report::new(Failed::Journal, message)
        .hint("Nothing was written. Reject it and have the change proposed again.")
}
