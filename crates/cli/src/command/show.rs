//! `slipstitch show`: one change and its diff.

use anstyle::Style;
use clap::Args;
use slipstitch::core::engine::{forgotten_change, unknown_change};
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::Entry;
use slipstitch::core::report::Report;

use super::log;
use super::undo::change_id;
use crate::args::Global;
use crate::diff;
use crate::output::{Done, Outcome};
use crate::page::Page;

const EXAMPLES: &str = "\
Examples:
  slipstitch show c7
  slipstitch show c7 --json";

/// Show one change: where it came from, what it is for, and its diff
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The change, such as c7; `slipstitch log` shows them
    #[arg(value_parser = change_id)]
    id: ChangeId,
}

impl Show {
    pub(super) fn run(self, global: &Global) -> Done {
        let workspace = global.open()?;
        match workspace.change(self.id).map_err(Report::from)? {
            Some(entry) => Ok(Box::new(entry)),
            None if workspace.forgotten(self.id).map_err(Report::from)? => {
                Err(forgotten_change(self.id).into())
            }
            None => {
                let report = unknown_change(self.id);
                Err(report.hint("`slipstitch log --all` shows the changes there are.").into())
            }
        }
    }
}

impl Outcome for Entry {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&serde_json::json!({"change": self.summary, "diff": self.diff}))
    }

    fn write(&self, page: &mut Page) {
        let change = &self.summary;
        page.out.styled(Style::new().bold(), format!("change {}\n", change.id));
        let mut field =
            |name: &str, value: &str| page.out.line(format!("{name}: {}", value.replace('\n', "\n  ")));
        field("time", &log::local_time(change.at));
        field("session", &log::one_line(&change.origin.session));
        if let Some(agent) = &change.origin.agent {
            field("agent", &log::one_line(agent));
        }
        field("tool", &log::one_line(&format!("{} ({})", change.origin.tool, change.origin.dialect)));
        if let Some(step) = log::step(change) {
            field("kind", &step);
        }
        field("approval", &log::one_line(&change.approval));
        if let Some(description) = &change.description {
            field("description", description);
        }
        if let Some(state) = log::state(change) {
            field("state", &state);
        }
        for file in &change.files {
            field("file", &log::one_line(&log::deed(file)));
        }
        page.out.line("");
        diff::write(self.diff.as_bytes(), &mut page.out);
    }
}
