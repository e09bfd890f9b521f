//! `slipstitch show`: show one change with its diff.

use anstyle::Style;
use clap::Args;
use clap_complete::ArgValueCandidates;
use slipstitch::core::engine::{pruned_change, unknown_change};
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{
    Entry, ProposalDecision, RejectedHunk, StoredProposal, describe_hunks,
};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;

use super::log;
use super::undo::parse_change_id;
use crate::complete;
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
    #[arg(value_parser = parse_change_id, add = ArgValueCandidates::new(complete::change_ids))]
    id: ChangeId,
}

impl Show {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open()?;
        match workspace.change(self.id).map_err(Report::from)? {
            Some(entry) => {
                let proposal = workspace.accepted_proposal(self.id).map_err(Report::from)?;
                Ok(Box::new(ShownChange { entry, proposal }))
            }
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

/// A change, and the proposal that it was before.
struct ShownChange {
    entry: Entry,
    proposal: Option<StoredProposal>,
}

impl ShownChange {
    /// The proposed hunks that were not applied.
    fn left_out(&self) -> &[RejectedHunk] {
        match self.proposal.as_ref().and_then(|proposal| proposal.decision.as_ref()) {
            Some(ProposalDecision::Accepted { left_out, .. }) => left_out,
            _ => &[],
        }
    }
}

impl CommandOutput for ShownChange {
    fn json(&self) -> serde_json::Result<String> {
        let mut shown = serde_json::json!({"change": self.entry.summary, "diff": self.entry.diff});
        if let Some(proposal) = &self.proposal {
            shown["proposal"] = serde_json::json!(proposal.id);
            shown["left_out"] = serde_json::json!(self.left_out());
        }
        serde_json::to_string(&shown)
    }

    fn write(&self, streams: &mut Streams) {
        let change = &self.entry.summary;
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
        if let Some(proposal) = &self.proposal {
            let left_out = match self.left_out() {
                [] => String::new(),
                hunks => format!(", without {}", describe_hunks(hunks)),
            };
            field("proposal", &escape_controls(&format!("{}{left_out}", proposal.id)));
        }
        if let Some(labels) = &change.labels {
            log::write_labels(labels, &mut field);
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
        diff::write_colored(self.entry.diff.as_bytes(), &mut streams.out);
    }
}
