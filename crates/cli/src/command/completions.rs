//! `slipstitch completions`: shell completion scripts.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::command::Cli;
use crate::output::CommandResult;

const EXAMPLES: &str = "\
Examples:
  slipstitch completions bash > ~/.local/share/bash-completion/completions/slipstitch
  slipstitch completions zsh > ~/.zfunc/_slipstitch
  slipstitch completions fish > ~/.config/fish/completions/slipstitch.fish";

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "slipstitch", &mut script);
        let mut report = Report::custom(Status::Shown, "shown", format!("completions for {}", self.shell));
        report.text = Some(String::from_utf8_lossy(&script).trim_end().into());
        Ok(Box::new(report))
    }
}
