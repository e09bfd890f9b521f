//! `incise mcp`: Incise in agent hosts.

mod client;
mod edit;
mod entry;
mod install;
mod target;
mod uninstall;

use clap::{Args, Subcommand};

use crate::args::Global;
use crate::output::Done;

const EXAMPLES: &str = "\
Examples:
  incise mcp install --client claude-code
  incise mcp install --client vscode --project
  incise mcp install --client codex --print
  incise mcp uninstall --client claude-code";

/// Put Incise into agent hosts as an MCP server, and take it out again
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    step: Step,
}

#[derive(Debug, Subcommand)]
enum Step {
    Install(install::Install),
    Uninstall(uninstall::Uninstall),
}

impl Mcp {
    pub(super) fn run(self, global: &Global) -> Done {
        match self.step {
            Step::Install(command) => command.run(global),
            Step::Uninstall(command) => command.run(global),
        }
    }
}
