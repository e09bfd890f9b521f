//! The mode of a session: whether it may write.

use super::Engine;
use crate::engine::approve::Declined;
use crate::outcome::{Outcome, Refused};
use crate::ports::approver::{Approver, Decision, Wish};
use crate::ports::journal::{Journal, JournalError};
use crate::report::Report;
use crate::settings::Mode;

/// The name under which a session remembers its mode.
const MODE: &str = "mode";

/// The mode that a session was last given.
pub fn recall_mode(journal: &dyn Journal, session: &str) -> Result<Option<Mode>, JournalError> {
    let memory = journal.recall(session, MODE)?;
    Ok(memory.iter().find(|(name, _)| name == MODE).and_then(|(_, mode)| Mode::from_name(mode)))
}

/// Gives a session a mode.
pub fn remember_mode(journal: &dyn Journal, session: &str, mode: Mode) -> Result<(), JournalError> {
    journal.remember(session, &[(MODE.into(), mode.name().into())])
}

impl Engine<'_> {
    pub(super) fn upgrade(&self, reason: Option<&str>, who: &mut dyn Approver) -> Report {
        if self.mode == Mode::Unrestricted {
            return Report::new(Outcome::ModeUnchanged, "write access is there already");
        }
        match who.grant(&Wish { session: self.session, reason }) {
            Decision::Approve { by } => match remember_mode(self.journal, self.session, Mode::Unrestricted) {
                Ok(()) => Report::new(Outcome::ModeUpgraded, format!("{by} allowed write access")),
                Err(error) => error.into(),
            },
            Decision::Decline { by, reason } => Declined::No { by, reason }.into(),
            Decision::Pend { how } => {
                Report::new(Refused::PendingReview, "the request for write access waits for a person")
                    .hint(how)
            }
        }
    }
}
