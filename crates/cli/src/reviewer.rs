//! Who decides: what is known about them, and the passphrase.

use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::passphrase::PassphraseError;
use slipstitch::{Reviewer, Workspace};
use slipstitch_platform::process;

use crate::error::CommandError;
use crate::prompt;

/// What to do instead. It does not say how to accept: its reader may be an agent.
pub(crate) const LEAVE_TO_USER: &str = "Nothing was written. A person has to approve this at a terminal.";

/// Whether the process has a controlling terminal.
pub(crate) fn has_terminal() -> bool {
    slipstitch_platform::terminal::exists()
}

/// Whoever accepts a change that needs approval. Nobody is known to be there unless the process has a terminal, so an agent that can
/// run commands cannot accept its own changes, unless the settings allow it.
pub(crate) fn for_acceptance(
    workspace: &Workspace,
    name: Option<String>,
    what: &str,
) -> Result<Reviewer, CommandError> {
    match can_accept(workspace) {
        true => identify(workspace, describe_user(name.as_deref())),
        false => Err(needs_terminal(&format!("{what} at a terminal"))),
    }
}

/// Whether whoever runs this process may accept, apart from the passphrase.
pub(crate) fn can_accept(workspace: &Workspace) -> bool {
    has_terminal() || workspace.config().review.unattended
}

/// Whether commands to this process count as wanted by a person. With a passphrase, the passphrase has to prove it first.
pub(crate) fn is_person(workspace: &Workspace) -> bool {
    can_accept(workspace) && !workspace.needs_passphrase()
}

/// Whoever rejects proposals; that writes nothing, so it needs no terminal.
pub(crate) fn for_rejection(workspace: &Workspace, name: Option<String>) -> Result<Reviewer, CommandError> {
    identify(workspace, describe_user(name.as_deref()))
}

/// What is known about whoever runs this process, for the journal: the account, whether there is a terminal, and the name that they
/// gave, which nobody has checked.
pub(crate) fn describe_user(claimed: Option<&str>) -> String {
    let account = process::user_name().unwrap_or_else(|| format!("user {}", process::user()));
    let place = if has_terminal() { "terminal" } else { "unattended" };
    match claimed.map(str::trim).filter(|name| !name.is_empty() && *name != account) {
        Some(name) => format!("{account} ({place}, as {name})"),
        None => format!("{account} ({place})"),
    }
}

fn identify(workspace: &Workspace, name: String) -> Result<Reviewer, CommandError> {
    let passphrase =
        if workspace.has_passphrase() { Some(ask_passphrase("Review passphrase")?) } else { None };
    Ok(workspace.reviewer(name, passphrase.as_deref()).map_err(|error| passphrase_report(&error))?)
}

/// Asks at the terminal; refused without one.
pub(crate) fn ask_passphrase(question: &str) -> Result<String, CommandError> {
    prompt::ask_secret(question)
        .map_err(|_| needs_terminal("the review passphrase must be typed at a terminal"))
}

/// Refuses what only someone at a terminal may do. It does not say how else it could be done: its reader may be an agent.
pub(crate) fn needs_terminal(what: &str) -> CommandError {
    let message = format!("{what}, and this process has none");
    let report = Report::custom(Status::Refused, "needs_terminal", message);
    report.hint(LEAVE_TO_USER).into()
}

pub(crate) fn passphrase_report(error: &PassphraseError) -> Report {
    let (status, code) = match error {
        PassphraseError::Needed => (Status::Refused, "needs_passphrase"),
        PassphraseError::Wrong => (Status::Refused, "wrong_passphrase"),
        PassphraseError::Locked { .. } => (Status::Refused, "passphrase_locked"),
        PassphraseError::NotSet => (Status::Refused, "no_passphrase"),
        PassphraseError::TooShort => (Status::Invalid, "bad_passphrase"),
        _ => (Status::Failed, "passphrase_file"),
    };
    Report::custom(status, code, error.to_string()).hint("Nothing was decided.")
}
