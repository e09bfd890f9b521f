//! `slipstitch show`: show changes with their diffs.

use anstyle::Style;
use clap::Args;
use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{
    Entry, Filter, ProposalDecision, RejectedHunk, StoredProposal, describe_hunks,
};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;

use super::log::{self, find_change};
use crate::complete;
use crate::diff;
use crate::error::CommandError;
use crate::global::Global;
use crate::ids::{IdRange, parse_ids};
use crate::other_roots::{follow_ids, root_note};
use crate::output::{CommandOutput, CommandResult};
use crate::selection::expand_ids;
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  slipstitch show                      the last change
  slipstitch show c7
  slipstitch show c3 c5..c7
  slipstitch show c7 --json";

/// Show changes: their origin, description and diff
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The changes, such as c7 or c3..c7; `slipstitch log` lists them [default: the last one]
    #[arg(value_name = "ID", value_parser = parse_ids::<ChangeId>, add = ArgValueCompleter::new(complete::change_ids))]
    ids: Vec<IdRange>,
}

impl Show {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = follow_ids(global.open_to_select()?, &self.ids, global)?;
        let root = root_note(&workspace, global);
        let show = |id| -> Result<ShownChange, CommandError> {
            let entry = find_change(&workspace, id)?;
            let proposal = workspace.accepted_proposal(id).map_err(Report::from)?;
            Ok(ShownChange { entry, proposal, root: root.clone() })
        };
        let ids = match self.ids[..] {
            [] => {
                let last = workspace.log(&Filter { limit: Some(1), ..Filter::default() });
                last.map_err(Report::from)?.iter().map(|change| change.id).collect()
            }
            _ => expand_ids(&self.ids, &Filter::default(), &workspace)?,
        };
        match &ids[..] {
            [] => {
                Err(Report::custom(Status::Refused, "nothing_selected", "no changes are recorded here")
                    .into())
            }
            [one] => Ok(Box::new(show(*one)?)),
            several => {
                Ok(Box::new(ShownChanges(several.iter().map(|&id| show(id)).collect::<Result<_, _>>()?)))
            }
        }
    }
}

/// Several changes, oldest first.
struct ShownChanges(Vec<ShownChange>);

impl CommandOutput for ShownChanges {
    fn json(&self) -> serde_json::Result<String> {
        let changes: Vec<Value> = self.0.iter().map(ShownChange::to_json).collect();
        serde_json::to_string(&json!({"changes": changes}))
    }

    fn write(&self, streams: &mut Streams) {
        for (at, change) in self.0.iter().enumerate() {
            if at > 0 {
                streams.out.line("");
            }
            change.write(streams);
        }
    }
}

/// A change, and the proposal that it was before.
struct ShownChange {
    entry: Entry,
    proposal: Option<StoredProposal>,
    /// Which root its paths are relative to, if that has to be said.
    root: Option<String>,
}

impl ShownChange {
    /// The proposed hunks that were not applied.
    fn left_out(&self) -> &[RejectedHunk] {
        match self.proposal.as_ref().and_then(|proposal| proposal.decision.as_ref()) {
            Some(ProposalDecision::Accepted { left_out, .. }) => left_out,
            _ => &[],
        }
    }

    fn to_json(&self) -> Value {
        let mut shown = json!({"change": self.entry.summary, "diff": self.entry.diff});
        if let Some(proposal) = &self.proposal {
            shown["proposal"] = json!(proposal.id);
            shown["left_out"] = json!(self.left_out());
        }
        shown
    }
}

impl CommandOutput for ShownChange {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.to_json())
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
        if let Some(root) = &self.root {
            field("note", root);
        }
        for file in &change.files {
            field("file", &escape_controls(&log::describe_file(file)));
        }
        streams.out.line("");
        diff::write_colored(self.entry.diff.as_bytes(), &mut streams.out);
    }
}
