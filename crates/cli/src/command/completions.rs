//! `slipstitch completions`: shell completion scripts.

use clap::Args;
use clap_complete::env::Shells;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::error::CommandError;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch completions bash > ~/.local/share/bash-completion/completions/slipstitch
  slipstitch completions zsh > ~/.zfunc/_slipstitch
  slipstitch completions fish > ~/.config/fish/completions/slipstitch.fish

The script asks the program, so it also knows dialects, change ids, proposals, sessions and agents.
Create it again after an update.";

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

impl Completions {
    pub(super) fn run(self) -> CommandResult {
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell).ok_or_else(|| {
            CommandError::usage(
                format!("there are no completions for `{}`", self.shell),
                "Use another shell.",
            )
        })?;
        let mut script = Vec::new();
        let written =
            shell.write_registration("COMPLETE", "slipstitch", "slipstitch", "slipstitch", &mut script);
        written.map_err(|error| Report::custom(Status::Failed, "completions", error.to_string()))?;
        let mut report = Report::custom(Status::Shown, "shown", format!("completions for {}", self.shell));
        report.text = Some(String::from_utf8_lossy(&script).trim_end().into());
        Ok(Box::new(report))
    }
}
