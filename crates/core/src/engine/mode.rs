//! A session's mode: whether it may write.

use super::Engine;
use super::report::cancelled;
use crate::cancel::CancelToken;
use crate::engine::approve::Declined;
use crate::outcome::{Outcome, Refused};
use crate::ports::approver::{Approver, Decision, ModeRequest};
use crate::ports::journal::{
    Journal, JournalError, Origin, Proposal, ProposalDecision, ProposalId, ProposalNotes, ProposalSubject,
    RecordedText, StoredProposal,
};
use crate::report::Report;
use crate::settings::Mode;

/// Key of the mode in a session's memory.
const MODE: &str = "mode";

/// A session's stored mode, if it has one.
pub fn recall_mode(journal: &dyn Journal, session: &str) -> Result<Option<Mode>, JournalError> {
    let memory = journal.recall(session, MODE)?;
    Ok(memory.iter().find(|(name, _)| name == MODE).and_then(|(_, mode)| Mode::from_name(mode)))
}

/// Stores a session's mode.
fn remember_mode(journal: &dyn Journal, session: &str, mode: Mode) -> Result<(), JournalError> {
    journal.remember(session, &[(MODE.into(), mode.name().into())])
}

/// Key of the session's last request for write access, by the id under which it is reviewed.
const REQUEST: &str = "write-access-request";

impl Engine<'_> {
    /// Asks the approver to give the session write access. A request that nobody decides at once waits for review like a
    /// proposed change; sending it again returns the decision.
    pub(super) fn upgrade(
        &self,
        reason: Option<&str>,
        origin: Origin,
        approver: &mut dyn Approver,
    ) -> Report {
        self.try_upgrade(reason, origin, approver).unwrap_or_else(Into::into)
    }

    fn try_upgrade(
        &self,
        reason: Option<&str>,
        origin: Origin,
        approver: &mut dyn Approver,
    ) -> Result<Report, JournalError> {
        let earlier = self.earlier_request()?;
        let decision = earlier.as_ref().and_then(|found| found.decision.clone());
        if self.mode == Mode::Unrestricted {
            let Some(ProposalDecision::Granted { by }) = decision else {
                return Ok(Report::new(Outcome::ModeUnchanged, "the session already has write access"));
            };
            self.remember_request(None)?;
            return Ok(Report::new(Outcome::ModeUpgraded, allowed_by(&by)));
        }
        if let (Some(found), Some(ProposalDecision::Rejected { by, reason })) = (&earlier, decision) {
            // The decision is reported once; after that, the caller can ask again.
            self.remember_request(None)?;
            return Ok(declined(by, reason, Some(found.id)));
        }
        let pending = earlier.filter(|found| found.decision.is_none()).map(|found| found.id);
        match approver.grant(&ModeRequest { session: self.session, reason }) {
            Decision::Approve { by } => {
                remember_mode(self.journal, self.session, Mode::Unrestricted)?;
                self.settle_request(pending, &ProposalDecision::Granted { by: by.clone() })?;
                let mut report = Report::new(Outcome::ModeUpgraded, allowed_by(&by));
                report.proposal = pending;
                Ok(report)
            }
            Decision::Decline { by, reason } => {
                let decision = ProposalDecision::Rejected { by: by.clone(), reason: Some(reason.clone()) };
                self.settle_request(pending, &decision)?;
                Ok(declined(by, Some(reason), pending))
            }
            Decision::Pend { .. } => {
                let id = match pending {
                    Some(id) => id,
                    None => match self.propose_write_access(reason, origin)? {
                        Some(id) => id,
                        None => return Ok(cancelled()),
                    },
                };
                let message = format!("the request for write access is waiting for review as {id}");
                let mut report = Report::new(Refused::PendingReview, message).hint(
                    "Only the user can grant it. Continue with what needs no write access; send the request again later to get the decision.",
                );
                report.proposal = Some(id);
                Ok(report)
            }
        }
    }

    /// The session's last request for write access, if its decision has not been reported yet.
    fn earlier_request(&self) -> Result<Option<StoredProposal>, JournalError> {
        let memory = self.journal.recall(self.session, REQUEST)?;
        let id = memory.iter().find(|(name, _)| name == REQUEST).and_then(|(_, id)| ProposalId::parse(id));
        match id {
            Some(id) => self.journal.proposal(id),
            None => Ok(None),
        }
    }

    fn remember_request(&self, id: Option<ProposalId>) -> Result<(), JournalError> {
        let id = id.map_or(String::new(), |id| id.to_string());
        self.journal.remember(self.session, &[(REQUEST.into(), id)])
    }

    /// Stores a request for write access until it is reviewed; `None` if the call was cancelled.
    fn propose_write_access(
        &self,
        reason: Option<&str>,
        origin: Origin,
    ) -> Result<Option<ProposalId>, JournalError> {
        let proposal = Proposal {
            origin,
            description: reason.map(Into::into),
            reason: "the session asks for write access".into(),
            files: Vec::new(),
            text: RecordedText::Kept,
            diff: String::new(),
            notes: ProposalNotes { subject: ProposalSubject::WriteAccess, ..ProposalNotes::default() },
        };
        let never = CancelToken::default();
        let id = self.journal.propose_unless_cancelled(&proposal, self.cancel.unwrap_or(&never))?;
        if id.is_some() {
            self.remember_request(id)?;
        }
        Ok(id)
    }

    /// Records the decision on a request that was waiting, which the caller learns at once.
    fn settle_request(
        &self,
        pending: Option<ProposalId>,
        decision: &ProposalDecision,
    ) -> Result<(), JournalError> {
        let Some(id) = pending else { return Ok(()) };
        self.journal.record_decision(id, decision)?;
        self.remember_request(None)
    }

    /// Sets the session's mode. Write access settles a request for it that still waits for review.
    pub fn set_mode(&self, mode: Mode, by: &str) -> Result<(), JournalError> {
        remember_mode(self.journal, self.session, mode)?;
        match self.earlier_request()? {
            Some(found) if mode == Mode::Unrestricted && found.decision.is_none() => {
                self.journal.record_decision(found.id, &ProposalDecision::Granted { by: by.into() })
            }
            _ => Ok(()),
        }
    }

    /// Gives write access to the session that asked for it.
    pub(super) fn grant_write_access(
        &self,
        id: ProposalId,
        session: &str,
        by: &str,
    ) -> Result<Report, JournalError> {
        remember_mode(self.journal, session, Mode::Unrestricted)?;
        let decision = ProposalDecision::Granted { by: by.into() };
        self.journal.record_decision(id, &decision)?;
        let message = format!("{id} was {decision}: session `{session}` can now change files");
        let mut report = Report::new(Outcome::ModeUpgraded, message);
        report.proposal = Some(id);
        Ok(report)
    }
}

fn allowed_by(name: &str) -> String {
    format!("{name} allowed write access")
}

fn declined(by: String, reason: Option<String>, id: Option<ProposalId>) -> Report {
    let reason = reason.unwrap_or_else(|| "no reason was given".into());
    let mut report = Report::from(Declined::No { by, reason });
    report.proposal = id;
    report
}
