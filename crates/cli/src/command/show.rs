//! `slipstitch show`: show one change with its diff.

use anstyle::Style;
use clap::Args;
use slipstitch::core::engine::{pruned_change, unknown_change};
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::Entry;
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;

use super::log;
use super::undo::parse_change_id;
use crate::consent::PHRASES;
use crate::diff;
use crate::global::Global;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  slipstitch show c7
  slipstitch show c7 --json";

/// Show a change: its origin, description and diff
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The change, such as c7; `slipstitch log` lists them
    #[arg(value_parser = parse_change_id)]
    id: ChangeId,
}

impl Show {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open()?;
        match workspace.change(self.id).map_err(Report::from)? {
            Some(entry) => Ok(Box::new(entry)),
            None if workspace.was_pruned(self.id).map_err(Report::from)? => {
                Err(pruned_change(self.id).into())
            }
            None => {
                let report = unknown_change(self.id, &PHRASES);
                Err(report.hint("Run `slipstitch log --all` to list all changes.").into())
            }
        }
    }
}

impl CommandOutput for Entry {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&serde_json::json!({"change": self.summary, "diff": self.diff}))
    }

    fn write(&self, streams: &mut Streams) {
        let change = &self.summary;
        streams.out.styled(Style::new().bold(), format!("change {}\n", change.id));
        let mut field =
            |name: &str, value: &str| streams.out.line(format!("{name}: {}", value.replace('\n', "\n  ")));
        field("time", &log::local_time(change.at));
        field("session", &escape_controls(&change.origin.session));
        if let Some(agent) = &change.origin.agent {
            field("agent", &escape_controls(agent));
        }
        field("tool", &escape_controls(&format!("{} ({})", change.origin.tool, change.origin.dialect)));
        if let Some(kind) = log::describe_kind(change) {
            field("kind", &kind);
        }
        field("approval", &escape_controls(&change.approval));
        if let Some(labels) = &change.labels {
            field("log level", &labels.log_level);
            field("safety level", &labels.safety_level);
            field("categories", &labels.categories.join(", "));
        }
        if let Some(description) = &change.description {
            field("description", description);
        }
        if let Some(state) = log::describe_state(change) {
            field("state", &state);
        }
        for file in &change.files {
            field("file", &escape_controls(&log::describe_file(file)));
        }
        streams.out.line("");
        diff::write_colored(self.diff.as_bytes(), &mut streams.out);
    }
}
