//! The same call sent again.
//!
//! A caller whose change waits for review learns the decision by sending the call again. It gets the decision once; after
//! that, the same call is a new request.

use crate::engine::Engine;
use crate::engine::approve::Declined;
use crate::outcome::Outcome;
use crate::ports::journal::{JournalError, ProposalDecision, ProposalId, StoredProposal, describe_hunks};
use crate::report::Report;
use slipstitch_text::ContentHash;

/// Prefix of the keys of a session's proposals in its memory, followed by the digest of the call.
const PROPOSED: &str = "proposed-by-call ";

/// The longest diff that is shown to a caller, in bytes.
const MAX_SHOWN_DIFF: usize = 4_000;

impl Engine<'_> {
    /// A digest of the call that is being executed.
    pub(super) fn call_digest(&self) -> Option<String> {
        let call = self.request?;
        let parts = serde_json::json!([call.dialect().name, call.tool().name, call.arguments()]);
        Some(ContentHash::of(parts.to_string().as_bytes()).to_string())
    }

    /// Notes which proposal the call became.
    pub(super) fn remember_proposal(&self, digest: &str, id: ProposalId) -> Result<(), JournalError> {
        self.journal.remember(self.session, &[(format!("{PROPOSED}{digest}"), id.to_string())])
    }

    fn forget_proposal(&self, digest: &str) -> Result<(), JournalError> {
        self.journal.remember(self.session, &[(format!("{PROPOSED}{digest}"), String::new())])
    }

    /// The proposal that this session made by the same call before, unless its decision was reported already.
    pub(super) fn earlier_proposal(&self, digest: &str) -> Result<Option<StoredProposal>, JournalError> {
        let key = format!("{PROPOSED}{digest}");
        let memory = self.journal.recall(self.session, &key)?;
        let id = memory.iter().find(|(name, _)| *name == key).and_then(|(_, id)| ProposalId::parse(id));
        id.map_or(Ok(None), |id| self.journal.proposal(id))
    }

    /// Notes that the caller has got the decision on a proposal.
    pub fn decision_reported(&self, proposal: &StoredProposal) {
        if let Some(digest) = &proposal.proposal.notes.call_digest {
            let session = &proposal.proposal.origin.session;
            // At worst the caller gets the decision twice.
            let _ = self.session(session).forget_proposal(digest);
        }
    }

    /// The decision on what the same call proposed before, for a call that was not applied.
    pub(in crate::engine) fn decision_instead_of(&self, report: Report) -> Report {
        let can_be_repetition = match report.outcome {
            Outcome::Unplaced(_) | Outcome::AlreadyApplied | Outcome::NoChange => true,
            Outcome::Refused(_) => report.proposal.is_none(),
            _ => false,
        };
        if !can_be_repetition {
            return report;
        }
        let Some(digest) = self.call_digest() else { return report };
        match self.earlier_proposal(&digest) {
            Ok(Some(found)) if found.decision.is_some() => self.report_decision(&found).unwrap_or(report),
            _ => report,
        }
    }

    /// The report that a caller gets about a decided proposal, which counts as reported from then on.
    pub fn report_decision(&self, found: &StoredProposal) -> Option<Report> {
        let report = self.describe_decision(found)?;
        self.decision_reported(found);
        Some(report)
    }

    /// The answer to the caller of a decided proposal; `None` if there is no answer: the proposal is pending, was a request
    /// for write access, or was undone since.
    pub fn describe_decision(&self, found: &StoredProposal) -> Option<Report> {
        let id = found.id;
        let mut report = match found.decision.as_ref()? {
            ProposalDecision::Rejected { by, reason } => {
                let reason = reason.clone().unwrap_or_else(|| "no reason was given".into());
                Report::from(Declined::No { by: by.clone(), reason })
            }
            decision @ ProposalDecision::Accepted { change, left_out, edited, .. } => {
                // A change that was undone since can be made again.
                let entry = self.journal.entry(*change).ok()??;
                if entry.summary.undone_by.is_some() {
                    return None;
                }
                let written = match edited.is_empty() {
                    true => String::new(),
                    false => describe_written(&entry.diff),
                };
                let mut report = Report::new(Outcome::Applied, format!("{id} was {decision}{written}"));
                report.change = Some(*change);
                if !left_out.is_empty() {
                    report.warnings.push(format!("not applied: {}", describe_hunks(left_out)));
                }
                report.left_out.clone_from(left_out);
                report.edited_hunks.clone_from(edited);
                report.diff(entry.diff.into_bytes())
            }
            ProposalDecision::Granted { .. } => return None,
        };
        report.proposal = Some(id);
        Some(report)
    }
}

/// What was written, for a caller whose text was changed by the reviewer.
fn describe_written(diff: &str) -> String {
    match diff.len() <= MAX_SHOWN_DIFF {
        true => format!("; this was written:\n{}", diff.trim_end()),
        false => "; read the file to see what was written".into(),
    }
}
