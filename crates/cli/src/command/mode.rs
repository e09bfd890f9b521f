//! `slipstitch mode`: show or set a session's mode.

use clap::Args;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::settings::Mode;

use crate::global::Global;
use crate::output::{CommandOutput, CommandResult, Effect};
use crate::reviewer;
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  slipstitch mode
  slipstitch mode restricted --session agent
  slipstitch mode unrestricted --session agent

A restricted session can read files but not change them. Setting the mode waits until the session's
calls in flight have finished. It applies to tool calls; commands at a terminal ignore it. Restoring
write access needs a terminal, or review.unattended.";

/// Show or set a session's mode: restricted or unrestricted
#[derive(Debug, Args)]
#[command(name = "mode", after_help = EXAMPLES)]
pub(crate) struct SetMode {
    /// The new mode [possible values: restricted, unrestricted]
    #[arg(value_name = "MODE", value_parser = super::call::parse_mode)]
    mode: Option<Mode>,
}

impl SetMode {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open()?;
        let is_restricted =
            workspace.mode().map_err(|error| Box::new(Report::from(error)))? == Mode::Restricted;
        if is_restricted && self.mode == Some(Mode::Unrestricted) {
            // A session must not give itself what it has to ask for.
            reviewer::for_acceptance(&workspace, None, "write access can only be granted")?;
        }
        let mode = match self.mode {
            Some(mode) => workspace.set_mode(mode).map(|()| mode),
            None => workspace.mode(),
        };
        let mode = mode.map_err(|error| Box::new(Report::from(error)))?;
        let mut report = Report::custom(Status::Shown, "mode", format!("the session is {}", mode.name()));
        report.text = Some(mode.name().into());
        Ok(Box::new(ModeOutput { report, is_set: self.mode.is_some() }))
    }
}

struct ModeOutput {
    report: Report,
    /// Whether the mode was set, not only shown.
    is_set: bool,
}

impl CommandOutput for ModeOutput {
    fn effect(&self) -> Effect {
        if self.is_set { Effect::Other } else { Effect::Nothing }
    }

    fn json(&self) -> serde_json::Result<String> {
        self.report.json()
    }

    fn write(&self, streams: &mut Streams) {
        self.report.write(streams);
    }
}
