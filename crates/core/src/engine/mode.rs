//! A session's mode: whether it may write.

use super::Engine;
use crate::engine::approve::Declined;
use crate::outcome::{Outcome, Refused};
use crate::ports::approver::{Approver, Decision, ModeRequest};
use crate::ports::journal::{Journal, JournalError};
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
pub fn remember_mode(journal: &dyn Journal, session: &str, mode: Mode) -> Result<(), JournalError> {
    journal.remember(session, &[(MODE.into(), mode.name().into())])
}

impl Engine<'_> {
    /// Asks the approver to give the session write access.
    pub(super) fn upgrade(&self, reason: Option<&str>, approver: &mut dyn Approver) -> Report {
        if self.mode == Mode::Unrestricted {
            return Report::new(Outcome::ModeUnchanged, "the session already has write access");
        }
        match approver.grant(&ModeRequest { session: self.session, reason }) {
            Decision::Approve { by } => match remember_mode(self.journal, self.session, Mode::Unrestricted) {
                Ok(()) => Report::new(Outcome::ModeUpgraded, format!("{by} allowed write access")),
                Err(error) => error.into(),
            },
            Decision::Decline { by, reason } => Declined::No { by, reason }.into(),
            Decision::Pend { how } => {
                Report::new(Refused::PendingReview, "the request for write access is waiting for the user")
                    .hint(how)
            }
        }
    }
}
