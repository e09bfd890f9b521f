//! Proposals: changes pending review, and their acceptance or rejection.

mod hunks;

use std::collections::{BTreeMap, BTreeSet};

use super::Engine;
use super::land::{GuardMode, Landing};
use super::private::is_private_change;
use crate::change::{Base, ChangeSet, PathChange};
use crate::guard::Checked;
use crate::hint::HintPhrases;
use crate::outcome::{Failed, Invalid, Outcome, Refused};
use crate::plan::Run;
use crate::ports::approver::Person;
use crate::ports::journal::{
    ChangeKind, Label, Proposal, ProposalDecision, ProposalId, ProposalNotes, ProposalSubject, RecordedText,
    RejectedHunk, StoredProposal,
};
use crate::report::{Report, truncate_stored_diff};
use crate::snapshot::Snapshots;
use hunks::without_hunks;
use slipstitch_text::display::join_items;

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
        let warnings = checked.warnings().to_vec();
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

    /// Applies a proposed change that `by` has reviewed and accepted, without the hunks that were rejected before.
    pub fn accept(&self, id: ProposalId, by: &str) -> Report {
        self.try_accept(id, by, None).unwrap_or_else(|report| report)
    }

    /// Applies only these hunks of a proposed change, by their numbers. The others are left out, and the proposal is decided.
    pub fn accept_hunks(&self, id: ProposalId, by: &str, hunks: &[usize]) -> Report {
        self.try_accept(id, by, Some(hunks)).unwrap_or_else(|report| report)
    }

    fn try_accept(&self, id: ProposalId, by: &str, accepted: Option<&[usize]>) -> Result<Report, Report> {
        let stored = self.pending_proposal(id)?;
        let left_out = left_out_hunks(&stored, accepted, by)?;
        let count = stored.proposal.hunks().len();
        let proposal = stored.proposal.clone();
        let notes = proposal.notes;
        if notes.subject == ProposalSubject::WriteAccess {
            return Ok(self.grant_write_access(id, &proposal.origin.session, by)?);
        }
        let changes = ChangeSet::new(proposal.files).map_err(|error| damaged(id, &error.to_string()))?;
        let snapshots = self.read_unchanged(&changes, id)?;
        check_resolved_paths(id, &changes, &snapshots, notes.real_paths.as_ref())?;
        let changes = match left_out.is_empty() {
            true => changes,
            false => without_hunks(changes, &snapshots, notes.context, count, &left_out)
                .ok_or_else(|| cannot_select_hunks(id))?,
        };
        let changes = changes.with_clipboards(notes.clipboards, notes.change_notes);
        let landing = Landing {
            origin: proposal.origin,
            kind: ChangeKind::Edit,
            description: proposal.description,
            message: notes.message,
            request_warnings: Vec::new(),
            context: notes.context,
            labels: notes.labels,
            run: Run::Real,
        };
        let mut reviewer = Person { name: by.into() };
        let guards = GuardMode::Accepted(&stored);
        let landed = self.land(changes, &snapshots, guards, landing, &HintPhrases::ALL, &mut reviewer);
        let mut report = landed.map_err(|report| match report.outcome {
            // Another process wrote the file after it was read.
            Outcome::Refused(Refused::Conflict) => Report::stale_proposal(id, &report.message),
            _ => report,
        })?;
        report = report.with_leading_warnings(&notes.request_warnings);
        report.proposal = Some(id);
        if !left_out.is_empty() {
            report.warnings.push(format!("not applied: {}", join_items(&left_out)));
            report.left_out = left_out.clone();
        }
        if let Some(change) = report.change {
            let decision = ProposalDecision::Accepted { by: by.into(), change, left_out };
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
            check_hunk_numbers(&found, hunks)?;
            let mut rejected: Vec<RejectedHunk> = found.rejected_hunks;
            rejected.retain(|earlier| !hunks.contains(&earlier.hunk));
            let add =
                |hunk: &usize| RejectedHunk { hunk: *hunk, by: by.into(), reason: reason.map(Into::into) };
            rejected.extend(hunks.iter().collect::<BTreeSet<_>>().into_iter().map(add));
            rejected.sort_by_key(|rejected| rejected.hunk);
            if rejected.len() == known.len() {
                return Ok(self.reject(id, by, reason));
            }
            self.journal.record_rejected_hunks(id, &rejected)?;
            let left = known.len() - rejected.len();
            let message = format!(
                "rejected in {id}: {}; {left} of {} hunks still pending",
                join_items(&rejected),
                known.len()
            );
            let mut report = Report::new(Outcome::ProposalRejected, message)
                .hint(format!("`slipstitch review accept {id}` applies the others."));
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
            self.read_into(&mut snapshots, &file.path)?;
            // Guards also check the path that a file moves to.
            if let PathChange::Move(to) = &file.path_change {
                self.read_into(&mut snapshots, to)?;
            }
            let same = match (file.base, snapshots.get(&file.path)) {
                (Base::Absent, None) => true,
                (Base::Absent, Some(_)) => changes.vacates(&file.path),
                (Base::Content(hash), Some(snapshot)) => snapshot.hash() == hash,
                (Base::Content(_), None) => false,
            };
            if !same {
                return Err(Report::stale_proposal(
                    id,
                    &format!("`{}` changed since {id} was proposed", file.path),
                ));
            }
            let bytes = snapshots.bytes_before(file);
            let is_intact = file.splices.base_len() == bytes.len()
                && file.after.is_none_or(|after| file.splices.hash_after(bytes) == after);
            if !is_intact {
                return Err(damaged(id, &format!("it does not give the proposed text of `{}`", file.path)));
            }
        }
        Ok(snapshots)
    }
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

/// The hunks that are not applied: those that were rejected before and, if only some are accepted, all others.
fn left_out_hunks(
    found: &StoredProposal,
    accepted: Option<&[usize]>,
    by: &str,
) -> Result<Vec<RejectedHunk>, Report> {
    let Some(accepted) = accepted else { return Ok(found.rejected_hunks.clone()) };
    check_hunk_numbers(found, accepted)?;
    if let Some(rejected) = found.rejected_hunks.iter().find(|rejected| accepted.contains(&rejected.hunk)) {
        let RejectedHunk { hunk, by, reason } = rejected;
        let reason = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let message = format!("hunk {hunk} of {} was rejected by {by}{reason}", found.id);
        return Err(Report::new(Invalid::BadRequest, message).hint(
            "Nothing was written. Leave this hunk out, or reject the proposal and have the change proposed again.",
        ));
    }
    let earlier = |number| found.rejected_hunks.iter().find(|rejected| rejected.hunk == number).cloned();
    let others = found.proposal.hunks().into_iter().filter(|hunk| !accepted.contains(&hunk.number));
    Ok(others
        .map(|hunk| {
            earlier(hunk.number).unwrap_or(RejectedHunk { hunk: hunk.number, by: by.into(), reason: None })
        })
        .collect())
}

fn check_hunk_numbers(found: &StoredProposal, numbers: &[usize]) -> Result<(), Report> {
    let count = found.proposal.hunks().len();
    let (id, hunks) = (found.id, if count == 1 { "1 hunk".into() } else { format!("{count} hunks") });
    let hint = format!("`slipstitch review show {id}` lists the hunks with their numbers.");
    let unknown = numbers.iter().find(|number| !(1..=count).contains(*number));
    match (numbers, unknown) {
        ([], _) => Err(Report::new(Invalid::BadRequest, "no hunk is named").hint(hint)),
        (_, Some(number)) => {
            let message = format!("{id} has {hunks}, so there is no hunk {number}");
            Err(Report::new(Invalid::BadRequest, message).hint(hint))
        }
        (_, None) => Ok(()),
    }
}

fn cannot_select_hunks(id: ProposalId) -> Report {
    let message = format!("{id} cannot be applied in part: its diff is too long, or no hunk would be left");
    Report::new(Invalid::BadRequest, message)
        .hint(format!("Nothing was written. Accept or reject {id} as a whole."))
}

const LIST_HINT: &str = "`slipstitch review` lists the proposals that wait for review.";

/// The report for a proposal that is not in the journal.
pub fn unknown_proposal(id: ProposalId) -> Report {
    Report::new(Invalid::UnknownProposal, format!("there is no proposal {id} in this root's journal"))
        .hint(LIST_HINT)
}

fn damaged(id: ProposalId, problem: &str) -> Report {
    let message = format!("the journal's record of {id} is damaged: {problem}");
    Report::new(Failed::Journal, message)
        .hint("Nothing was written. Reject it and have the change proposed again.")
}
