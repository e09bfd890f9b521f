//! Who decides: what is known about them, and the passphrase.

use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::passphrase::PassphraseError;
use slipstitch::{Reviewer, Workspace};

use crate::consent;
use crate::error::CommandError;
use crate::prompt;

/// Whether the process has a controlling terminal.
pub(super) fn has_terminal() -> bool {
    slipstitch_platform::terminal::exists()
}

/// Whoever accepts proposals. Nobody is known to be there unless the process has a terminal, so an agent that can run
/// commands cannot accept its own proposals, unless the settings allow it.
pub(super) fn for_acceptance(workspace: &Workspace, name: Option<String>) -> Result<Reviewer, CommandError> {
    match (has_terminal(), workspace.config().review.unattended) {
        (true, _) => at_terminal(workspace, name),
        (false, true) => {
            identify(workspace, format!("{} (unattended)", name.unwrap_or_else(consent::user_name)))
        }
        (false, false) => Err(needs_terminal("proposals can only be accepted at a terminal")),
    }
}

/// Whoever rejects proposals; that writes nothing, so it needs no terminal.
pub(super) fn for_rejection(workspace: &Workspace, name: Option<String>) -> Result<Reviewer, CommandError> {
    identify(workspace, name.unwrap_or_else(consent::user_name))
}

/// Whoever is at the terminal.
pub(super) fn at_terminal(workspace: &Workspace, name: Option<String>) -> Result<Reviewer, CommandError> {
    identify(workspace, format!("{} (terminal)", name.unwrap_or_else(consent::user_name)))
}

fn identify(workspace: &Workspace, name: String) -> Result<Reviewer, CommandError> {
    let passphrase =
        if workspace.needs_passphrase() { Some(ask_passphrase("Review passphrase")?) } else { None };
    Ok(workspace.reviewer(name, passphrase.as_deref()).map_err(|error| passphrase_report(&error))?)
}

/// Asks at the terminal; refused without one.
pub(super) fn ask_passphrase(question: &str) -> Result<String, CommandError> {
    prompt::ask_secret(question)
        .map_err(|_| needs_terminal("the review passphrase is asked for at a terminal"))
}

/// Refuses what only someone at a terminal may do. It does not say how else it could be done: its reader may be an agent.
pub(super) fn needs_terminal(what: &str) -> CommandError {
    let message = format!("{what}, and this process has none");
    let report = Report::custom(Status::Refused, "needs_terminal", message);
    report.hint("Nothing was written. Leave the decision to the user.").into()
}

pub(super) fn passphrase_report(error: &PassphraseError) -> Report {
    let (status, code) = match error {
        PassphraseError::Needed => (Status::Refused, "needs_passphrase"),
        PassphraseError::Wrong => (Status::Refused, "wrong_passphrase"),
        PassphraseError::TooShort => (Status::Invalid, "bad_passphrase"),
        _ => (Status::Failed, "passphrase_file"),
    };
    Report::custom(status, code, error.to_string()).hint("Nothing was decided.")
}
