//! The same call sent again.
//!
//! A caller whose change waits for review learns the decision by sending the call again. It gets the same decision as long as the
//! proposal's files have the text that the decision left: asking twice must not change the answer, and a rejected change must not come
//! back to the reviewer again and again. Once a file has another text, the call means something else there and is a new
//! request, but not before its caller has got the decision once. A call with other arguments, such as another description, is a
//! new request at any time.
//!
//! If a call was accepted unchanged and can be applied again, it adds something, such as a line at the end of a file. Its caller gets
//! the decision once; the next such call asks for another line. What the reviewer left out or changed is not asked about again.

use std::collections::BTreeSet;

use crate::engine::Engine;
use crate::engine::approve::Declined;
use crate::outcome::Outcome;
use crate::path::FilePath;
use crate::ports::journal::{JournalError, ProposalDecision, ProposalId, RecordedText, StoredProposal};
use crate::report::Report;
use crate::snapshot::Snapshots;
use slipstitch_text::ContentHash;

/// Prefix of the keys of a session's proposals in its memory, followed by the digest of the call.
const PROPOSED: &str = "proposed-by-call ";

/// The longest diff that is shown to a caller, in bytes.
const MAX_SHOWN_DIFF: usize = 4_000;

/// What a session remembers about the proposal that a call became, as `p3`, `p3 DIGEST` or `p3 DIGEST told`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CallNote {
    /// A digest of the text that the decision left in the proposal's files; empty if it is not known.
    left: String,
    /// Whether the decision was reported to the caller.
    is_reported: bool,
}

/// Stands for a digest that is not known.
const UNKNOWN: &str = "-";

impl CallNote {
    fn parse(text: &str) -> Option<(ProposalId, Self)> {
        let mut parts = text.split(' ');
        let id = ProposalId::parse(parts.next()?)?;
        let left = parts.next().filter(|left| *left != UNKNOWN).unwrap_or_default().to_owned();
        Some((id, Self { left, is_reported: parts.next().is_some() }))
    }

    fn text(&self, id: ProposalId) -> String {
        let left = if self.left.is_empty() { UNKNOWN } else { &self.left };
        format!("{id} {left}{}", if self.is_reported { " told" } else { "" })
    }
}

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

    /// The proposal that this session made by the same call before, and what is noted about it.
    pub(super) fn earlier_proposal(
        &self,
        digest: &str,
    ) -> Result<Option<(StoredProposal, CallNote)>, JournalError> {
        let key = format!("{PROPOSED}{digest}");
        let memory = self.journal.recall(self.session, &key)?;
        let noted = memory.iter().find(|(name, _)| *name == key).and_then(|(_, text)| CallNote::parse(text));
        let Some((id, note)) = noted else { return Ok(None) };
        Ok(self.journal.proposal(id)?.map(|found| (found, note)))
    }

    /// Changes the note about the call that became a proposal, unless another proposal has taken its place.
    fn update_note(&self, found: &StoredProposal, update: impl FnOnce(&mut CallNote)) {
        let Some(digest) = &found.proposal.notes.call_digest else { return };
        let caller = self.session(&found.proposal.origin.session);
        if let Ok(Some((known, mut note))) = caller.earlier_proposal(digest)
            && known.id == found.id
        {
            update(&mut note);
            let value = (format!("{PROPOSED}{digest}"), note.text(found.id));
            // At worst the caller gets the decision once too often, or the call becomes a new proposal.
            let _ = self.journal.remember(caller.session, &[value]);
        }
    }

    /// Makes the call that became a proposal a new request.
    pub(super) fn forget_proposal(&self, found: &StoredProposal) {
        if let Some(digest) = &found.proposal.notes.call_digest {
            let value = (format!("{PROPOSED}{digest}"), String::new());
            let _ = self.journal.remember(&found.proposal.origin.session, &[value]);
        }
    }

    /// Notes the text that a decision left.
    pub(super) fn note_decided(&self, found: &StoredProposal) {
        let left = self.digest_files(found).unwrap_or_default();
        self.update_note(found, |note| note.left = left);
    }

    /// Notes that the caller has got the decision on a proposal.
    pub fn decision_reported(&self, found: &StoredProposal) {
        self.update_note(found, |note| note.is_reported = true);
    }

    /// A digest of the present text of a proposal's files. Nothing is derived from private text.
    fn digest_files(&self, found: &StoredProposal) -> Option<String> {
        if found.proposal.text != RecordedText::Kept {
            return None;
        }
        let files = found.proposal.files.iter();
        let paths: BTreeSet<&FilePath> =
            files.flat_map(|file| [Some(&file.path), file.path_after()]).flatten().collect();
        let mut snapshots = Snapshots::default();
        let mut text = String::new();
        for path in paths {
            self.read_into(&mut snapshots, path).ok()?;
            let hash = snapshots.get(path).map_or("none".to_owned(), |snapshot| snapshot.hash().to_string());
            text.push_str(&format!("{path}\0{hash}\0"));
        }
        Some(ContentHash::of(text.as_bytes()).to_string())
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
            Ok(Some((found, note))) if found.decision.is_some() => {
                self.repeat_decision(&found, &note, false).unwrap_or(report)
            }
            _ => report,
        }
    }

    /// The decision about the same call, if it is still the answer. `would_change` says whether the call would write something.
    pub(super) fn repeat_decision(
        &self,
        found: &StoredProposal,
        note: &CallNote,
        would_change: bool,
    ) -> Option<Report> {
        let is_as_left = || self.digest_files(found).is_some_and(|now| now == note.left);
        let is_another = would_change && was_accepted_as_it_was(found);
        if note.is_reported && (is_another || !is_as_left()) {
            self.forget_proposal(found);
            return None;
        }
        self.report_decision(found)
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
                let message = format!("{id} was rejected by {by}: {reason}");
                let mut report = Report::from(Declined::No { by: by.clone(), reason });
                report.message = message;
                report
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
                let outcome = if left_out.is_empty() { Outcome::Applied } else { Outcome::PartlyAccepted };
                let decision = decision.describe(&found.proposal);
                let mut report = Report::new(outcome, format!("{id} was {decision}{written}"));
                report.change = Some(*change);
                if !left_out.is_empty() {
                    let left_out = found.proposal.describe_hunks(left_out);
                    report.warnings.push(format!("not applied: {left_out}"));
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

fn was_accepted_as_it_was(found: &StoredProposal) -> bool {
    matches!(&found.decision, Some(ProposalDecision::Accepted { left_out, edited, .. })
        if left_out.is_empty() && edited.is_empty())
}

/// What was written, for a caller whose text was changed by the reviewer.
fn describe_written(diff: &str) -> String {
    match diff.len() <= MAX_SHOWN_DIFF {
        true => format!("; this was written:\n{}", diff.trim_end()),
        false => "; read the file to see what was written".into(),
    }
}
