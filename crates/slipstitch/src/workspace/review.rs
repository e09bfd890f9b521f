//! Proposals: who may decide about them, the decisions, and who is there to make or get one.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use slipstitch_core::cancel::CancelToken;
use slipstitch_core::change::FileChange;
use slipstitch_core::engine::approve::Declined;
use slipstitch_core::engine::{Engine, Verdict};
use slipstitch_core::outcome::{Outcome, Refused};
use slipstitch_core::ports::journal::{
    Journal, JournalError, Origin, ProposalDecision, ProposalId, ProposalSubject, StoredProposal,
};
use slipstitch_core::report::Report;

use super::{Workspace, mode_error};
use crate::config;
use crate::mode_lock::{ModeGuard, ModeLock};
use crate::notice;
use crate::passphrase::{self, PassphraseError};
use crate::presence::{self, Presence};
use crate::state;
use crate::stats::CallRecord;

/// Someone who may decide about proposals. Only [`Workspace::reviewer`] makes one, so no face can forget the passphrase.
#[derive(Debug, Clone)]
pub struct Reviewer {
    name: String,
}

impl Reviewer {
    /// The name that the journal gets.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Workspace {
    /// Someone who decides under this name, which should say what is known about them, such as `ada (terminal)`. If a
    /// passphrase is set, it is needed.
    pub fn reviewer(
        &self,
        name: impl Into<String>,
        passphrase: Option<&str>,
    ) -> Result<Reviewer, PassphraseError> {
        if self.config.review.passphrase && !passphrase::is_set(&self.folder) {
            return Err(PassphraseError::NotSet);
        }
        passphrase::check(&self.folder, passphrase)?;
        Ok(Reviewer { name: name.into() })
    }

    /// Whether deciding needs a passphrase.
    pub fn needs_passphrase(&self) -> bool {
        self.config.review.passphrase || passphrase::is_set(&self.folder)
    }

    /// Whether agent hosts may ask for decisions in forms of their own. Not with a passphrase, because a host reads what is typed
    /// into its forms.
    pub fn may_ask_in_forms(&self) -> bool {
        self.config.review.forms && !self.needs_passphrase()
    }

    /// Whether a passphrase is set.
    pub fn has_passphrase(&self) -> bool {
        passphrase::is_set(&self.folder)
    }

    /// Sets the passphrase for decisions in all roots that share the state folder, or removes it with `new` = `None`.
    /// `old` is the one that is set.
    pub fn set_passphrase(&self, old: Option<&str>, new: Option<&str>) -> Result<(), PassphraseError> {
        passphrase::check(&self.folder, old)?;
        passphrase::replace(&self.folder, new)
    }

    /// Makes a settings file the one that can relax what needs approval. Returns its absolute path.
    pub fn trust_settings(&self, file: &Path, _by: &Reviewer) -> std::io::Result<PathBuf> {
        config::trust(&self.folder, file)
    }

    /// Lets calls know, as long as the result exists, that somebody has the review open and may decide soon.
    pub fn attend_review(&self) -> std::io::Result<Presence> {
        presence::announce(&self.folder, &format!("review {}", self.root()))
    }

    /// Whether somebody has the review open.
    pub fn is_review_attended(&self) -> bool {
        presence::is_present(&self.folder, &format!("review {}", self.root()))
    }

    /// Lets reviewers know, as long as the result exists, that a caller waits for the decision on a proposal.
    pub fn await_decision(&self, id: ProposalId) -> std::io::Result<Presence> {
        presence::announce(&self.folder, &format!("caller of {id} {}", self.root()))
    }

    /// Whether a caller waits for the decision on a proposal.
    pub fn is_decision_awaited(&self, id: ProposalId) -> bool {
        presence::is_present(&self.folder, &format!("caller of {id} {}", self.root()))
    }

    /// The pending proposals, oldest first.
    pub fn proposals(&self) -> Result<Vec<StoredProposal>, JournalError> {
        self.journal.proposals()
    }

    /// One proposal, pending or decided.
    pub fn proposal(&self, id: ProposalId) -> Result<Option<StoredProposal>, JournalError> {
        self.journal.proposal(id)
    }

    /// The answer to the caller of a proposal; `None` while it is pending.
    pub fn report_decision(&self, id: ProposalId) -> Result<Option<Report>, JournalError> {
        let Some(found) = self.journal.proposal(id)? else { return Ok(None) };
        match &found.decision {
            None => Ok(None),
            Some(decision @ ProposalDecision::Granted { .. }) => {
                let mut report = Report::new(Outcome::ModeUpgraded, format!("{id} was {decision}"));
                report.proposal = Some(id);
                Ok(Some(report))
            }
            Some(_) => Ok(self.engine().report_decision(&found)),
        }
    }

    /// The answer to the caller of a decided proposal, word for word; `None` if there is none.
    pub fn describe_decision(&self, found: &StoredProposal) -> Option<Report> {
        self.engine().describe_decision(found)
    }

    /// The text of one of a proposal's files as the proposal was made for it, if it is still known and not too long to show.
    pub fn text_before(&self, found: &StoredProposal, file: &FileChange) -> Option<String> {
        self.engine().text_before(found, file)
    }

    /// Notes that the caller has got the decision on a proposal.
    pub fn decision_reported(&self, found: &StoredProposal) {
        self.engine().decision_reported(found);
    }

    /// Applies a proposed change, or grants the write access that a session asks for.
    pub fn accept(&self, id: ProposalId, by: &Reviewer) -> Report {
        self.decide(id, by, &Verdict::accept_all())
    }

    /// Applies only these hunks of a proposed change, by their numbers; the others are left out.
    /// [`Proposal::hunks`](slipstitch_core::ports::journal::Proposal::hunks) lists them.
    pub fn accept_hunks(&self, id: ProposalId, by: &Reviewer, hunks: &[usize]) -> Report {
        self.decide(id, by, &Verdict::accept_only(hunks))
    }

    /// What a decision on a proposed change would write to the files as they are now.
    pub fn preview_decision(&self, id: ProposalId, verdict: &Verdict) -> Report {
        self.engine().preview(id, verdict)
    }

    /// A short text that is different after every change, proposal and decision in this root, and when calls begin or stop
    /// to wait for a decision.
    pub fn activity(&self) -> Result<String, JournalError> {
        Ok(format!("{}.{}", self.journal.activity()?, presence::count(&self.folder)))
    }

    /// How many proposals are pending.
    pub fn pending_count(&self) -> Result<usize, JournalError> {
        self.journal.pending_count()
    }

    /// The last decided proposals, newest first.
    pub fn decided_proposals(&self, limit: usize) -> Result<Vec<StoredProposal>, JournalError> {
        self.journal.decided_proposals(limit)
    }

    /// Like [`Workspace::accept`], for a call that may be cancelled until it starts to write.
    pub fn accept_unless_cancelled(&self, id: ProposalId, by: &Reviewer, cancel: &CancelToken) -> Report {
        self.decide_with(self.engine().cancel(cancel), id, by, &Verdict::accept_all())
    }

    /// Decides a proposed change hunk by hunk: what is accepted or edited is applied, the rest is left out.
    pub fn decide(&self, id: ProposalId, by: &Reviewer, verdict: &Verdict) -> Report {
        self.decide_with(self.engine(), id, by, verdict)
    }

    fn decide_with(&self, engine: Engine<'_>, id: ProposalId, by: &Reviewer, verdict: &Verdict) -> Report {
        let _guard = match self.lock_requesting_session(id) {
            Ok(guard) => guard,
            Err(error) => return error.into(),
        };
        let report = engine.decide(id, &by.name, verdict);
        match report.outcome {
            Outcome::ProposalRejected => self.record_rejected_call(id, &by.name, None, &report),
            _ => self.record_accepted_call(id, &report),
        }
        report
    }

    /// Rejects these hunks of a proposed change. The others stay pending until they are accepted or rejected.
    pub fn reject_hunks(
        &self,
        id: ProposalId,
        by: &Reviewer,
        hunks: &[usize],
        reason: Option<&str>,
    ) -> Report {
        let report = self.engine().reject_hunks(id, &by.name, hunks, reason);
        if matches!(self.journal.proposal(id), Ok(Some(StoredProposal { decision: Some(_), .. }))) {
            self.record_rejected_call(id, &by.name, reason, &report);
        }
        report
    }

    /// Rejects a proposed change.
    pub fn reject(&self, id: ProposalId, by: &Reviewer, reason: Option<&str>) -> Report {
        let report = self.engine().reject(id, &by.name, reason);
        self.record_rejected_call(id, &by.name, reason, &report);
        report
    }

    /// Rejects a proposed change on behalf of its caller, who does not want it any more. Nobody has reviewed it, so the same
    /// call is a new request.
    pub fn withdraw(&self, id: ProposalId, by: &str, reason: Option<&str>) -> Report {
        let report = self.engine().withdraw(id, by, reason);
        self.record_rejected_call(id, by, reason, &report);
        report
    }

    /// What is wrong with the command that is run when something waits for review.
    pub fn notice_problems(&self) -> Vec<String> {
        notice::problems(&self.config.review, &self.folder)
    }

    /// Tells people elsewhere about a proposal that a call has just made.
    pub(super) fn announce_proposal(&self, id: ProposalId, call_began: Duration) {
        let settings = &self.config.review;
        if settings.on_pending.is_empty() && !settings.notify {
            return;
        }
        // A call that is sent again while its proposal waits is no news.
        let is_new =
            |found: &StoredProposal| u128::try_from(found.at).is_ok_and(|at| at >= call_began.as_millis());
        if let Ok(Some(found)) = self.journal.proposal(id)
            && found.decision.is_none()
            && is_new(&found)
        {
            notice::send(settings, &self.folder, self.root(), &found);
        }
    }

    /// Waits for the calls in flight of a session that asks for write access, and keeps new ones waiting.
    fn lock_requesting_session(&self, id: ProposalId) -> Result<Option<ModeGuard>, JournalError> {
        let Some(StoredProposal { proposal, decision: None, .. }) = self.journal.proposal(id)? else {
            return Ok(None);
        };
        if proposal.notes.subject != ProposalSubject::WriteAccess {
            return Ok(None);
        }
        let (locks, interrupt) = (state::locks(&self.folder), self.mode_lock.interrupt.clone());
        let lock = ModeLock::new(&locks, self.root(), &proposal.origin.session, interrupt);
        lock.lock_for_change().map(Some).map_err(|error| mode_error("change the mode", &error))
    }

    fn record_accepted_call(&self, id: ProposalId, report: &Report) {
        // A change that could not be written stays pending; one whose file changed can never be applied.
        let is_final = matches!(
            report.outcome,
            Outcome::Applied
                | Outcome::PartlyAccepted
                | Outcome::ModeUpgraded
                | Outcome::Refused(Refused::StaleFile)
        );
        if is_final {
            self.record_decided_call(id, report);
        }
    }

    fn record_rejected_call(&self, id: ProposalId, by: &str, reason: Option<&str>, report: &Report) {
        if report.outcome == Outcome::ProposalRejected {
            let reason = reason.unwrap_or("no reason was given").to_owned();
            self.record_decided_call(id, &Declined::No { by: by.into(), reason }.into());
        }
    }

    /// Records the final outcome of the call that led to a proposal.
    fn record_decided_call(&self, id: ProposalId, report: &Report) {
        let Ok(Some(StoredProposal { proposal, .. })) = self.journal.proposal(id) else { return };
        let Origin { session, agent, dialect, tool } = &proposal.origin;
        let call = CallRecord::new(session, agent.as_deref(), dialect, tool, report);
        let _ = self.journal.update_call(&CallRecord { proposal: Some(id), ..call });
    }
}

/// The time since 1970.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
