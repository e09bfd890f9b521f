//! `slipstitch mode`: what a session may do.

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::settings::Mode;

use crate::args::Global;
use crate::output::Done;

const EXAMPLES: &str = "\
Examples:
  slipstitch mode
  slipstitch mode restricted --session agent
  slipstitch mode unrestricted --session agent

A restricted session may look at files and not change them. A change of mode waits until the
session's calls in flight are done. Commands at a terminal are not bound by it, only `slipstitch call`.";

/// Show what a session may do, or set it: restricted or unrestricted
#[derive(Debug, Args)]
#[command(name = "mode", after_help = EXAMPLES)]
pub(crate) struct SetMode {
    /// The new mode [possible values: restricted, unrestricted]
    #[arg(value_name = "MODE", value_parser = super::call::mode)]
    mode: Option<Mode>,
}

impl SetMode {
    pub(super) fn run(self, global: &Global) -> Done {
        let workspace = global.open()?;
        let mode = match self.mode {
            Some(mode) => workspace.set_mode(mode).map(|()| mode),
            None => workspace.mode(),
        };
        let mode = mode.map_err(|error| Box::new(Report::from(error)))?;
        let mut report = Report::custom(Status::Shown, "mode", format!("the session is {}", mode.name()));
        report.text = Some(mode.name().into());
        Ok(Box::new(report))
    }
}
