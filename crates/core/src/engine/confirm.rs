//! Confirmations that count only for what was shown.
//!
//! A caller that sends its confirmation with the first call has not seen what it confirms. So the session remembers which change of
//! a file it was shown last, and another change, or the same one of a file that has changed since, is shown first.

use super::Engine;
use super::private::{is_private_change, remember};
use crate::change::ChangeSet;
use crate::plan::{Confirmation, EditPlan, EditRules, OverwriteConsent, Run, Shrink};
use crate::ports::journal::{Journal, JournalError};
use crate::snapshot::Snapshots;
use slipstitch_text::ContentHash;

/// Prefix of the keys in a session's memory, followed by the path.
const SHOWN: &str = "shown-change:";

/// A change that a caller can confirm, as the session remembers it.
pub(super) struct ShownChange {
    confirmation: Confirmation,
    key: String,
    digest: String,
    /// Whether the change is about private text, of which the journal must not have even a digest.
    is_private: bool,
}

impl ShownChange {
    pub(super) fn new(
        confirmation: Confirmation,
        changes: &ChangeSet,
        snapshots: &Snapshots,
        diff: &[u8],
        journal: &dyn Journal,
    ) -> Self {
        if confirmation == Confirmation::Unused {
            return Self { confirmation, key: String::new(), digest: String::new(), is_private: false };
        }
        let mut parts = diff.to_vec();
        for snapshot in changes.files().iter().filter_map(|file| snapshots.get(&file.path)) {
            parts.extend_from_slice(snapshot.hash().to_string().as_bytes());
        }
        let path = changes.files().first().map_or(String::new(), |file| file.path.to_string());
        let is_private = changes.files().iter().any(|file| is_private_change(journal, file, snapshots));
        let digest = ContentHash::of(&parts).to_string();
        Self { confirmation, key: format!("{SHOWN}{path}"), digest, is_private }
    }
}

impl Engine<'_> {
    /// Whether the call confirms the change, and the session was shown it before. A dry run writes nothing, so it need not have
    /// been.
    pub(super) fn is_confirmed(&self, shown: &ShownChange, run: Run) -> Result<bool, JournalError> {
        if shown.confirmation != Confirmation::Sent {
            return Ok(false);
        }
        let is_same = |(key, digest): &(String, String)| *key == shown.key && *digest == shown.digest;
        Ok(run == Run::Dry || self.journal.recall(self.session, &shown.key)?.iter().any(is_same))
    }

    /// Notes that the answer shows a change that can be confirmed.
    pub(super) fn note_shown_change(&self, shown: &ShownChange) -> Result<(), JournalError> {
        match shown.confirmation {
            Confirmation::Unused => Ok(()),
            // A brief attempt may be repeated, and what it records here would then count as shown.
            Confirmation::Awaited | Confirmation::Sent if self.check_may_take_long().is_err() => Ok(()),
            Confirmation::Awaited | Confirmation::Sent => {
                let memory = [(shown.key.clone(), shown.digest.clone())];
                remember(self.journal, self.session, &memory, shown.is_private)
            }
        }
    }
}

impl EditPlan {
    /// The plan with every confirmation that its rules ask for.
    pub(super) fn confirmed(&self) -> Self {
        let rules = EditRules { shrink: Shrink::Allowed, overwrite: OverwriteConsent::Given, ..self.rules };
        Self { rules, ..self.clone() }
    }
}
