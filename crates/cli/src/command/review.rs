//! `slipstitch review`: changes that wait for a person.

use anstyle::Style;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use slipstitch::core::change::{Base, Fate, FileChange};
use slipstitch::core::engine::unknown_proposal;
use slipstitch::core::ports::journal::{ProposalId, Proposed};
use slipstitch::core::report::Report;

use super::log::{self, one_line};
use crate::args::Global;
use crate::consent;
use crate::diff;
use crate::output::{Done, Outcome};
use crate::page::Page;

const EXAMPLES: &str = "\
Examples:
  slipstitch review                    the proposals that wait, oldest first
  slipstitch review show p3            one of them, with its diff
  slipstitch review accept p3          make the change
  slipstitch review reject p3 --reason 'keep the old name'

A proposal is made for the files as they were. If one of them has changed since, it cannot be
accepted; reject it and let it be proposed again.";

const ACCEPT_EXAMPLES: &str = "\
Examples:
  slipstitch review accept p3
  slipstitch review accept p3 --by ada --json";

const REJECT_EXAMPLES: &str = "\
Examples:
  slipstitch review reject p3
  slipstitch review reject p3 --reason 'keep the old name'";

const SHOW_EXAMPLES: &str = "\
Examples:
  slipstitch review show p3
  slipstitch review show p3 --json";

/// List the changes that wait for a person, and decide on them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Review {
    #[command(subcommand)]
    step: Option<Step>,
}

#[derive(Debug, Subcommand)]
enum Step {
    /// Show one proposal: where it came from, why it waits, and its diff
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The proposal, such as p3; `slipstitch review` lists them
        #[arg(value_parser = proposal_id)]
        id: ProposalId,
    },
    /// Make the change
    #[command(after_help = ACCEPT_EXAMPLES)]
    Accept {
        /// The proposal, such as p3; `slipstitch review` lists them
        #[arg(value_parser = proposal_id)]
        id: ProposalId,
        #[command(flatten)]
        person: PersonOptions,
    },
    /// Do not make the change
    #[command(after_help = REJECT_EXAMPLES)]
    Reject {
        /// The proposal, such as p3; `slipstitch review` lists them
        #[arg(value_parser = proposal_id)]
        id: ProposalId,
        /// Why not
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        reason: Option<String>,
        #[command(flatten)]
        person: PersonOptions,
    },
}

#[derive(Debug, Args)]
struct PersonOptions {
    /// Who decides, for the journal [default: the user's name]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

impl PersonOptions {
    fn name(self) -> String {
        self.by.unwrap_or_else(consent::user)
    }
}

impl Review {
    pub(super) fn run(self, global: &Global) -> Done {
        let workspace = global.open()?;
        match self.step {
            None => {
                let mut waiting = workspace.proposals().map_err(Report::from)?;
                waiting.retain(|found| {
                    let origin = &found.proposal.origin;
                    global.session.as_ref().is_none_or(|session| *session == origin.session)
                        && global.agent.as_ref().is_none_or(|agent| Some(agent) == origin.agent.as_ref())
                });
                Ok(Box::new(Waiting(waiting)))
            }
            Some(Step::Show { id }) => match workspace.proposal(id).map_err(Report::from)? {
                Some(found) => Ok(Box::new(found)),
                None => Err(unknown_proposal(id).into()),
            },
            Some(Step::Accept { id, person }) => {
                let mut report = workspace.accept(id, &person.name());
                if report.change.is_some() {
                    report.message = format!("Accepted {id}: {}", report.message);
                }
                Ok(Box::new(report))
            }
            Some(Step::Reject { id, reason, person }) => {
                Ok(Box::new(workspace.reject(id, &person.name(), reason.as_deref())))
            }
        }
    }
}

fn proposal_id(text: &str) -> Result<ProposalId, String> {
    ProposalId::parse(text).ok_or_else(|| {
        format!("`{text}` names no proposal; their names are such as p3, and `slipstitch review` lists them")
    })
}

/// The proposals that wait.
struct Waiting(Vec<Proposed>);

impl Outcome for Waiting {
    fn json(&self) -> serde_json::Result<String> {
        let listed: Vec<Value> = self.0.iter().map(object).collect();
        serde_json::to_string(&json!({"proposals": listed}))
    }

    fn write(&self, page: &mut Page) {
        for found in &self.0 {
            let proposal = &found.proposal;
            page.out.styled(Style::new().bold(), found.id.to_string());
            let files: Vec<String> = proposal.files.iter().map(deed).collect();
            let from = one_line(&proposal.origin.session);
            let files = one_line(&files.join(", "));
            page.out.text(format!("  {}  {from}  {files}", log::local_time(found.at)));
            if let Some(description) = &proposal.description {
                page.out.text(format!("  {}", one_line(description)));
            }
            page.out.line(format!("  [{}]", one_line(&proposal.why)));
        }
        if self.0.is_empty() {
            page.notes.line("No proposal waits.");
        }
    }
}

impl Outcome for Proposed {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&json!({"proposal": object(self), "diff": self.proposal.diff}))
    }

    fn write(&self, page: &mut Page) {
        let proposal = &self.proposal;
        page.out.styled(Style::new().bold(), format!("proposal {}\n", self.id));
        let mut field =
            |name: &str, value: &str| page.out.line(format!("{name}: {}", value.replace('\n', "\n  ")));
        field("time", &log::local_time(self.at));
        field("session", &one_line(&proposal.origin.session));
        if let Some(agent) = &proposal.origin.agent {
            field("agent", &one_line(agent));
        }
        field("tool", &one_line(&format!("{} ({})", proposal.origin.tool, proposal.origin.dialect)));
        if let Some(description) = &proposal.description {
            field("description", description);
        }
        field("why", &one_line(&proposal.why));
        field("state", &self.settled.as_ref().map_or("waiting".into(), ToString::to_string));
        for file in &proposal.files {
            field("file", &one_line(&deed(file)));
        }
        page.out.line("");
        diff::write(proposal.diff.as_bytes(), &mut page.out);
    }
}

fn object(found: &Proposed) -> Value {
    let proposal = &found.proposal;
    let files: Vec<Value> = proposal
        .files
        .iter()
        .map(|file| json!({"path": file.path, "path_after": file.path_after(), "hash_after": file.after}))
        .collect();
    json!({
        "id": found.id,
        "at": found.at,
        "session": proposal.origin.session,
        "agent": proposal.origin.agent,
        "dialect": proposal.origin.dialect,
        "tool": proposal.origin.tool,
        "description": proposal.description,
        "why": proposal.why,
        "files": files,
        "settled": found.settled,
    })
}

/// What would be done to a file.
fn deed(file: &FileChange) -> String {
    match (file.base, &file.fate) {
        (Base::Absent, _) => format!("create {}", file.path),
        (_, Fate::Delete) => format!("delete {}", file.path),
        (_, Fate::Move(to)) => format!("move {} to {to}", file.path),
        (_, Fate::Keep) => format!("change {}", file.path),
    }
}
