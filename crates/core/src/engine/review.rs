//! Proposals: changes that wait for a review, and their acceptance or rejection.

use super::Engine;
use super::commit::shortened;
use super::land::{Judge, Landing};
use crate::change::{Base, ChangeSet};
use crate::guard::Checked;
use crate::hint::HintPhrases;
use crate::outcome::{Failed, Invalid, Outcome, Refused};
use crate::plan::Run;
use crate::ports::approver::Person;
use crate::ports::journal::{Kind, Label, Proposal, ProposalId, Proposed, Remarks, Settled};
use crate::report::Report;
use crate::snapshot::Snapshots;

impl Engine<'_> {
    /// Keeps a change for a person to decide on, and says so. `remarks` has what only the caller knows.
    pub(super) fn propose(&self, checked: Checked, label: Label, remarks: Remarks, how: &str) -> Report {
        let why = match checked.asks() {
            [] => "whoever approves wants a person to look at it".into(),
            asks => asks.join("; "),
        };
        let warnings = checked.warnings().to_vec();
        let changes = checked.into_changes();
        let proposal = Proposal {
            origin: label.origin,
            description: label.description,
            why,
            files: changes.files().to_vec(),
            diff: shortened(label.diff),
            remarks: Remarks {
                notes: changes.notes().to_vec(),
                warnings: warnings.clone(),
                clipboards: changes.clipboards().clone(),
                ..remarks
            },
        };
        let id = match self.journal.propose(&proposal) {
            Ok(id) => id,
            Err(error) => return error.into(),
        };
        let message = format!("the change waits for a review as {id}: {}", proposal.why);
        let mut report = Report::new(Refused::PendingReview, message).hint(format!(
            "{how} `slipstitch review show {id}` shows it, `slipstitch review accept {id}` makes it."
        ));
        report.proposal = Some(id);
        report.warnings = warnings;
        report.diff(proposal.diff.into_bytes())
    }

    /// Makes a proposed change: `by` has looked at it and agrees.
    pub fn accept(&self, id: ProposalId, by: &str) -> Report {
        self.try_accept(id, by).unwrap_or_else(|report| report)
    }

    fn try_accept(&self, id: ProposalId, by: &str) -> Result<Report, Report> {
        let proposal = self.waiting(id)?.proposal;
        let remarks = proposal.remarks;
        let changes = ChangeSet::new(proposal.files).map_err(|twice| damaged(id, &twice.to_string()))?;
        let changes = changes.with_clipboards(remarks.clipboards, remarks.notes);
        let seen = self.unchanged_for(&changes, id)?;
        let landing = Landing {
            origin: proposal.origin,
            kind: Kind::Edit,
            description: proposal.description,
            message: remarks.message,
            request_warnings: Vec::new(),
            context: remarks.context,
            run: Run::Real,
        };
        let mut person = Person { name: by.into() };
        let judge = Judge::Accepted(remarks.warnings);
        let landed = self.land(changes, &seen, judge, landing, &HintPhrases::ALL, &mut person);
        let mut report = landed.map_err(|report| match report.outcome {
            // Another process wrote the file since it was read a moment ago.
            Outcome::Refused(Refused::Conflict) => stale(id, &report.message),
            _ => report,
        })?;
        report = report.warn_first(&remarks.request);
        report.proposal = Some(id);
        if let Some(change) = report.change {
            let settled = Settled::Accepted { by: by.into(), change };
            if let Err(error) = self.journal.settle_proposal(id, &settled) {
                report.warnings.push(format!("the change is written, but {error}"));
            }
        }
        Ok(report)
    }

    /// Notes that a proposed change will not be made.
    pub fn reject(&self, id: ProposalId, by: &str, reason: Option<&str>) -> Report {
        let reject = || {
            self.waiting(id)?;
            let settled = Settled::Rejected { by: by.into(), reason: reason.map(Into::into) };
            self.journal.settle_proposal(id, &settled)?;
            let mut report = Report::new(Outcome::ProposalRejected, format!("{id} is {settled}"));
            report.proposal = Some(id);
            Ok(report)
        };
        reject().unwrap_or_else(|report| report)
    }

    /// A proposal that nobody has decided on.
    fn waiting(&self, id: ProposalId) -> Result<Proposed, Report> {
        let found = self.journal.proposal(id)?.ok_or_else(|| unknown_proposal(id))?;
        match &found.settled {
            None => Ok(found),
            Some(settled) => Err(Report::new(Refused::AlreadySettled, format!("{id} was already {settled}"))
                .hint("`slipstitch review` lists the proposals that wait.")),
        }
    }

    /// Reads the files and makes sure that each is what the proposal was made for.
    fn unchanged_for(&self, changes: &ChangeSet, id: ProposalId) -> Result<Snapshots, Report> {
        let mut seen = Snapshots::default();
        for file in changes.files() {
            let found = self.snapshot(&file.path)?;
            let same = match (file.base, &found) {
                (Base::Absent, None) => true,
                (Base::Content(hash), Some(snapshot)) => snapshot.hash() == hash,
                _ => false,
            };
            if !same {
                return Err(stale(id, &format!("`{}` is not what it was when {id} was made", file.path)));
            }
            seen.insert(file.path.clone(), found);
            let bytes = seen.bytes(&file.path);
            let whole = file.splices.base_len() == bytes.len()
                && file.after.is_none_or(|after| file.splices.hash_after(bytes) == after);
            if !whole {
                return Err(damaged(id, &format!("it would not make what was proposed of `{}`", file.path)));
            }
        }
        Ok(seen)
    }
}

/// What is said of a proposal that is not in the journal.
pub fn unknown_proposal(id: ProposalId) -> Report {
    Report::new(Invalid::UnknownProposal, format!("there is no proposal {id} in this root's journal"))
        .hint("`slipstitch review` lists the proposals that wait.")
}

fn stale(id: ProposalId, message: &str) -> Report {
    Report::new(Refused::StaleFile, message).hint(format!(
        "Nothing was written. Reject {id} and have the change proposed again for what the file holds now."
    ))
}

fn damaged(id: ProposalId, what: &str) -> Report {
    let message = format!("the journal's record of {id} is damaged: {what}");
    Report::new(Failed::Journal, message)
        .hint("Nothing was written. Reject it and have the change proposed again.")
}
