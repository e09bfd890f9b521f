//! `slipstitch review passphrase`.

use clap::Args;
use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::error::CommandError;
use crate::output::CommandResult;
use crate::reviewer::{ask_passphrase, passphrase_report};

pub(super) const EXAMPLES: &str = "\
Examples:
  slipstitch review passphrase             set it, or change it
  slipstitch review passphrase --remove

It is asked for at the terminal and stored as an Argon2 hash in the state folder. With it, deciding
in the terminal and on the page needs the passphrase, and agent hosts show no approval forms, because
they could read it.";

#[derive(Debug, Args)]
pub(super) struct Passphrase {
    /// Decide without a passphrase again
    #[arg(long)]
    remove: bool,
}

impl Passphrase {
    pub(super) fn run(self, workspace: &Workspace) -> CommandResult {
        let old = match workspace.has_passphrase() {
            true => Some(ask_passphrase("Current review passphrase")?),
            false => None,
        };
        let new = if self.remove { None } else { Some(ask_new()?) };
        let set = workspace.set_passphrase(old.as_deref(), new.as_deref());
        set.map_err(|error| passphrase_report(&error))?;
        let message = match new {
            Some(_) => "Deciding about proposals now needs the passphrase.",
            None => "Deciding about proposals needs no passphrase.",
        };
        Ok(Box::new(Report::custom(Status::Applied, "passphrase_set", message)))
    }
}

fn ask_new() -> Result<String, CommandError> {
    let new = ask_passphrase("New review passphrase")?;
    if ask_passphrase("Again")? != new {
        return Err(CommandError::usage("the two passphrases differ", "Nothing was changed. Try again."));
    }
    Ok(new)
}
