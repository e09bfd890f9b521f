//! A person agrees, or nothing is written.
//!
//! The engine puts a change that needs a person into the journal as a proposal. Where the client can show a form, the
//! person decides there and then:
//!
//! | era | how |
//! | --- | --- |
//! | handshake | the server sends `elicitation/create` and the call waits for the answer |
//! | stateless | the call is answered with the form; the client makes it again with the filled form and the sealed state |
//!
//! Where it cannot, or where the person says nothing, the proposal waits, and the answer says how to review it. So no
//! agreement is lost when a client goes away.

pub(crate) mod form;
pub(crate) mod seal;
pub(crate) mod words;

use slipstitch::Workspace;
use slipstitch::core::change::{Base, Fate};
use slipstitch::core::engine::approve::Declined;
use slipstitch::core::outcome::Status;
use slipstitch::core::ports::approver::{ApprovalRequest, Approver, Auto, Decision, ModeRequest};
use slipstitch::core::ports::journal::{Proposal, ProposalId};
use slipstitch::core::report::Report;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use form::Verdict;
use words::{one_line, quoted};

use crate::progress::Step;

/// Who decides while the engine works: the rules, and the client that may have given up.
#[derive(Debug)]
pub(crate) struct Desk {
    cancelled: CancellationToken,
    /// What a person has said to a wish, if one was asked.
    granted: Option<Decision>,
    /// A wish to write that nobody has decided on.
    pub(crate) wish: Option<String>,
    /// Is told how far the call is.
    told: Option<UnboundedSender<Step>>,
    /// The last of it.
    last: Option<Step>,
    /// Whether the call was made before, and a person was asked.
    pub(crate) again: bool,
}

impl Desk {
    pub(crate) fn new(cancelled: CancellationToken, told: Option<UnboundedSender<Step>>) -> Self {
        Self { cancelled, granted: None, wish: None, told, last: None, again: false }
    }

    /// For a wish that a person has decided on.
    pub(crate) fn decided(cancelled: CancellationToken, decision: Decision) -> Self {
        Self { granted: Some(decision), ..Self::undecided(cancelled) }
    }

    /// For a wish that a person was asked about and has left open.
    pub(crate) fn undecided(cancelled: CancellationToken) -> Self {
        Self { again: true, ..Self::new(cancelled, None) }
    }
}

impl Desk {
    /// A call that is tried again goes through the same steps; only what is new is told.
    fn tell(&mut self, step: Step) {
        if let Some(told) = &self.told
            && self.last.is_none_or(|last| step > last)
        {
            self.last = Some(step);
            // Whoever listened may be gone; the change is made all the same.
            let _ = told.send(step);
        }
    }
}

impl Approver for Desk {
    fn on_progress(&mut self, files: usize, of: usize) {
        // One file is not worth telling.
        if of > 1 {
            self.tell(Step::placed(files, of));
        }
    }

    fn decide(&mut self, question: &ApprovalRequest<'_>) -> Decision {
        // The last moment at which nothing is written yet.
        if self.cancelled.is_cancelled() {
            return cancelled();
        }
        let decision = Auto.decide(question);
        if let (Decision::Approve { .. }, Some(last)) = (&decision, self.last) {
            self.tell(last.writing());
        }
        decision
    }

    fn grant(&mut self, wish: &ModeRequest<'_>) -> Decision {
        if let Some(decision) = self.granted.take() {
            // Again the last moment: the call may have been taken back since the person agreed.
            return if self.cancelled.is_cancelled() { cancelled() } else { decision };
        }
        self.wish = Some(wish.reason.unwrap_or_default().to_owned());
        Auto.grant(wish)
    }
}

fn cancelled() -> Decision {
    Decision::Decline { by: "the client".into(), reason: "the call was cancelled".into() }
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Said(Verdict),
    /// The client took the call back meanwhile.
    Cancelled,
}

impl Outcome {
    /// What came of a call that was cancelled. A server that stops cancels its calls too; what they asked about waits.
    pub(crate) fn taken_back(closing: &CancellationToken) -> Self {
        if closing.is_cancelled() { Self::Said(Verdict::Later) } else { Self::Cancelled }
    }

    /// The same, unless it is an agreement to a call that was cancelled meanwhile.
    pub(crate) fn unless_taken_back(
        self,
        cancelled: &CancellationToken,
        closing: &CancellationToken,
    ) -> Self {
        match self {
            Self::Said(Verdict::Yes) if cancelled.is_cancelled() => Self::taken_back(closing),
            other => other,
        }
    }
}

/// The digest of what a proposal would do: whoever agreed to one may not be taken for agreeing to another.
pub(crate) fn digest(proposal: &Proposal) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in &proposal.files {
        let base = match file.base {
            Base::Absent => "absent".to_owned(),
            Base::Content(hash) => hash.to_string(),
        };
        let fate = match &file.fate {
            Fate::Keep => "stays".to_owned(),
            Fate::Move(to) => format!("moves to {to}"),
            Fate::Delete => "goes".to_owned(),
        };
        let after = file.after.map_or("nothing".to_owned(), |hash| hash.to_string());
        for part in [file.path.as_str(), &base, &fate, &after] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// What a form calls the one who asks.
fn named(agent: Option<&str>) -> String {
    agent.map_or_else(|| "The agent".to_owned(), quoted)
}

/// What a person is asked about a change.
pub(crate) fn change_message(id: ProposalId, proposal: &Proposal, agent: Option<&str>) -> String {
    let agent = named(agent);
    let count = proposal.files.len();
    let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let mut message = format!(
        "{agent} wants to change {files} ({id}).\nWhy you are asked: {}\n",
        one_line(&proposal.reason)
    );
    if let Some(description) = &proposal.description {
        message.push_str(&format!("What for: {}\n", quoted(description)));
    }
    message.push('\n');
    message.push_str(&form::shortened(
        &proposal.diff,
        &format!("`slipstitch review show {id}` shows all of it."),
    ));
    message
}

/// What a person is asked about a session's mode.
pub(crate) fn mode_message(reason: &str, agent: Option<&str>) -> String {
    let agent = named(agent);
    let what_for = if one_line(reason).is_empty() {
        "It does not say what for.".to_owned()
    } else {
        format!("What for: {}", quoted(reason))
    };
    format!(
        "{agent} asks for leave to change files; so far it may only look at them.\n{what_for}\n\n\
         If you approve, it may write until the session ends. Every change can be taken back with `slipstitch undo`."
    )
}

/// Carries out what a person said about a proposal.
pub(crate) fn settle(
    workspace: &Workspace,
    id: ProposalId,
    outcome: &Outcome,
    person: &str,
) -> Option<Report> {
    match outcome {
        Outcome::Said(Verdict::Later) => None,
        Outcome::Said(Verdict::Yes) => Some(accept(workspace, id, person)),
        Outcome::Said(Verdict::No { reason }) => {
            let report = workspace.reject(id, person, reason.as_deref());
            if report.outcome != slipstitch::core::outcome::Outcome::ProposalRejected {
                return Some(report);
            }
            let reason = reason.clone().unwrap_or_else(|| "no reason was given".into());
            Some(Declined::No { by: person.into(), reason }.into())
        }
        Outcome::Cancelled => {
            let _ = workspace.reject(id, "the client", Some("the call was cancelled"));
            Some(Declined::No { by: "the client".into(), reason: "the call was cancelled".into() }.into())
        }
    }
}

fn accept(workspace: &Workspace, id: ProposalId, person: &str) -> Report {
    let report = workspace.accept(id, person);
    if report.outcome
        != slipstitch::core::outcome::Outcome::Refused(slipstitch::core::outcome::Refused::StaleFile)
    {
        return report;
    }
    // The model will send the edit again; a proposal that can never be made would only be in the way.
    let _ = workspace.reject(id, "slipstitch", Some("a file changed before it was agreed to"));
    report.hint("Nothing was written. Read the file again and send the edit for what it holds now.")
}

/// What a caller is told whose change goes on waiting.
pub(crate) fn waits(id: ProposalId, proposal: &Proposal) -> Report {
    let message = format!("the change is waiting for review as {id}: {}", proposal.reason);
    let mut report = Report::custom(Status::Refused, "pending_review", message).hint(format!(
        "Nothing was written yet; the user decides. `slipstitch review show {id}` shows it, `slipstitch review accept {id}` applies it."
    ));
    report.proposal = Some(id);
    report
}

/// The decision that the engine is given for a person's verdict on a wish.
pub(crate) fn decision(outcome: Outcome, person: &str) -> Option<Decision> {
    match outcome {
        Outcome::Said(Verdict::Yes) => Some(Decision::Approve { by: person.into() }),
        Outcome::Said(Verdict::No { reason }) => {
            let reason = reason.unwrap_or_else(|| "no reason was given".into());
            Some(Decision::Decline { by: person.into(), reason })
        }
        Outcome::Said(Verdict::Later) => None,
        Outcome::Cancelled => Some(cancelled()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_that_is_cancelled_before_it_is_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.txt"), "one\n").unwrap();
        let workspace = Workspace::builder(&root).state_dir(folder.path().join("state")).open().unwrap();
        let edit = json!({"path": "a.txt", "old_text": "one", "new_text": "two"});
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let mut desk = Desk::new(cancelled, None);
        let answer = workspace.call_with("native", "edit_file", edit.clone(), &mut desk);
        assert_eq!(answer.report.code(), "declined");
        assert_eq!(std::fs::read_to_string(root.join("a.txt")).unwrap(), "one\n");
        let mut desk = Desk::new(CancellationToken::new(), None);
        assert_eq!(workspace.call_with("native", "edit_file", edit, &mut desk).report.code(), "applied");
    }
}
