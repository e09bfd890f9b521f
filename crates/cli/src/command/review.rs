//! `slipstitch review`: list and decide proposals.

mod interactive;
mod passphrase;
mod screen;
pub(super) mod web;

use anstyle::{AnsiColor, Style};
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};
use slipstitch::core::change::{Base, FileChange, PathChange};
use slipstitch::core::engine::unknown_proposal;
use slipstitch::core::outcome::Status;
use slipstitch::core::ports::journal::{
    Proposal, ProposalDecision, ProposalHunk, ProposalId, ProposalSubject, RecordedText, RejectedHunk,
    StoredProposal, Summary,
};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::escape_controls;
use slipstitch::{Reviewer, Workspace};
use slipstitch_review::terminal::Limits;

use super::log;
use crate::complete;
use crate::consent;
use crate::diff;
use crate::error::CommandError;
use crate::global::Global;
use crate::ids::{IdRange, parse_ids};
use crate::other_roots::{OtherRoots, follow_ids};
use crate::output::{CommandOutput, CommandResult, Effect};
use crate::render::write_labelled;
use crate::reviewer;
use crate::selection::{Selection, expand_proposal_ids};
use crate::streams::Streams;
use screen::Display;

const EXAMPLES: &str = "\
Examples:
  slipstitch review                    decide in a full-screen view; in a pipe, list
  slipstitch review list               list pending proposals, oldest first
  slipstitch review show p3            show one of them with its diff
  slipstitch review accept p3          apply the change
  slipstitch review accept p3 --hunk 1,3
  slipstitch review reject p3 --reason 'keep the old name'
  slipstitch review --plain            decide one by one
  slipstitch review --web              decide in a browser
  slipstitch review passphrase         set a passphrase that every decision needs

A proposal follows its file: if other lines have changed since, it is applied to the current text;
if its own lines have changed, both versions are shown and nothing is written. The reason of a
rejection is what the agent gets as the answer. Accepting needs a terminal, so that an agent with a
shell cannot accept its own proposals. A restricted session's request for write access is
listed too; accepting it lets the session change files.";

const ACCEPT_EXAMPLES: &str = "\
Examples:
  slipstitch review accept p3
  slipstitch review accept p3 --hunk 1,3      apply two of its hunks, leave out the others
  slipstitch review accept p3 --by ada --json";

const REJECT_EXAMPLES: &str = "\
Examples:
  slipstitch review reject p3
  slipstitch review reject p3 --reason 'keep the old name'
  slipstitch review reject p3 --hunk 2 --reason 'keep the old name'

Rejecting some hunks writes nothing: the others stay pending until you accept or reject them.";

const SHOW_EXAMPLES: &str = "\
Examples:
  slipstitch review show p3
  slipstitch review show p3 p5..p7
  slipstitch review show p3 --json";

/// What is decided about here, for a refusal.
const PROPOSALS: &str = "proposals can only be accepted";

/// List proposed changes, and accept or reject them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Review {
    #[command(subcommand)]
    action: Option<Action>,
    /// Go through the proposals one by one, hunk by hunk
    #[arg(long, conflicts_with = "web")]
    plain: bool,
    /// Serve a page for this machine's browser, and print its address
    #[arg(long)]
    web: bool,
    /// The page's port [default: a free one]
    #[arg(long, value_name = "N", requires = "web", default_value = "0", hide_default_value = true)]
    port: u16,
    #[command(flatten)]
    selection: Selection,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the pending proposals, oldest first
    List {
        #[command(flatten)]
        selection: Selection,
    },
    /// Set, change or remove the passphrase that every decision needs
    #[command(after_help = passphrase::EXAMPLES)]
    Passphrase(passphrase::Passphrase),
    /// Show proposals: their origin, the reason for the review, and their diffs
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The proposals, such as p3 or p3..p5; `slipstitch review` lists them
        #[arg(value_name = "ID", value_parser = parse_ids::<ProposalId>, add = ArgValueCompleter::new(complete::proposal_ids), required = true)]
        ids: Vec<IdRange<ProposalId>>,
    },
    /// Accept a proposal and apply its change
    #[command(after_help = ACCEPT_EXAMPLES)]
    Accept {
        /// The proposals, such as p3 or p3..p5; `slipstitch review` lists them
        #[arg(value_name = "ID", value_parser = parse_ids::<ProposalId>, add = ArgValueCompleter::new(complete::proposal_ids), required = true)]
        ids: Vec<IdRange<ProposalId>>,
        /// Apply only these hunks, and leave out the others; `review show` shows their numbers
        #[arg(long = "hunk", value_name = "N", value_delimiter = ',')]
        hunks: Vec<usize>,
        #[command(flatten)]
        reviewer: ReviewerOptions,
    },
    /// Reject a proposal, or some of its hunks
    #[command(after_help = REJECT_EXAMPLES)]
    Reject {
        /// The proposals, such as p3 or p3..p5; `slipstitch review` lists them
        #[arg(value_name = "ID", value_parser = parse_ids::<ProposalId>, add = ArgValueCompleter::new(complete::proposal_ids), required = true)]
        ids: Vec<IdRange<ProposalId>>,
        /// Reject only these hunks; the others stay pending
        #[arg(long = "hunk", value_name = "N", value_delimiter = ',')]
        hunks: Vec<usize>,
        /// The reason, which the agent can read
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        reason: Option<String>,
        #[command(flatten)]
        reviewer: ReviewerOptions,
    },
}

#[derive(Debug, Args)]
struct ReviewerOptions {
    /// Name to record with the decision, next to the account's
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

impl Review {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let workspace = global.open_to_select()?;
        if self.web {
            let selection = self.selection.for_page(&workspace, global)?;
            return web::serve(workspace, self.port, selection);
        }
        let is_list = matches!(self.action, Some(Action::List { .. }));
        match self.action {
            None | Some(Action::List { .. }) => {
                let selection = match self.action {
                    Some(Action::List { selection }) => selection.or(self.selection),
                    _ => self.selection,
                };
                let files = selection.path_filter(&workspace, global)?;
                let is_selected = |found: &StoredProposal| {
                    let Proposal { origin, files: changed, .. } = &found.proposal;
                    let paths = changed.iter().map(|file| &file.path);
                    selection.includes(found.at, origin, paths, files.as_ref(), global)
                };
                let display = if self.plain { Display::Lines } else { screen::choose_display(global) };
                if !is_list && display == Display::Screen {
                    let reviewer = reviewer::for_acceptance(&workspace, None, PROPOSALS)?;
                    let has_change = |change: &Summary| {
                        let paths = change.files.iter();
                        let paths = paths.flat_map(|file| [&file.path_before, &file.path_after]).flatten();
                        selection.includes(change.at, &change.origin, paths, files.as_ref(), global)
                    };
                    let limits = Limits {
                        has_proposal: &is_selected,
                        has_change: &has_change,
                        calls: &selection.calls(files.as_ref(), global),
                        is_limited: selection.is_given(global) || global.session.is_some(),
                    };
                    return screen::run(&workspace, reviewer, global, limits);
                }
                let mut pending = workspace.proposals().map_err(Report::from)?;
                pending.retain(is_selected);
                if display == Display::Lines && !is_list {
                    let reviewer = reviewer::for_acceptance(&workspace, None, PROPOSALS)?;
                    let elsewhere = OtherRoots::of(&workspace).describe_pending();
                    return interactive::run(&workspace, &pending, &reviewer, elsewhere);
                }
                let is_selected = selection.is_given(global) || global.session.is_some();
                let elsewhere = OtherRoots::of(&workspace).describe_pending();
                Ok(Box::new(PendingProposals { pending, is_selected, elsewhere }))
            }
            Some(Action::Passphrase(command)) => command.run(&workspace),
            Some(Action::Show { ids }) => {
                let workspace = follow_ids(workspace, &ids, global)?;
                let ids = expand_proposal_ids(&ids, &workspace)?;
                let mut shown =
                    ids.into_iter().map(|id| show(&workspace, id)).collect::<Result<Vec<_>, _>>()?;
                match shown.len() {
                    1 => Ok(Box::new(shown.remove(0))),
                    _ => Ok(Box::new(ShownProposals(shown))),
                }
            }
            Some(Action::Accept { ids, hunks, reviewer }) => {
                let workspace = follow_ids(workspace, &ids, global)?;
                let ids = expand_proposal_ids(&ids, &workspace)?;
                let reviewer = reviewer::for_acceptance(&workspace, reviewer.by, PROPOSALS)?;
                accept(&workspace, &ids, &hunks, &reviewer)
            }
            Some(Action::Reject { ids, hunks, reason, reviewer }) => {
                let workspace = follow_ids(workspace, &ids, global)?;
                let ids = expand_proposal_ids(&ids, &workspace)?;
                check_hunks_of_one(&ids, &hunks)?;
                let (by, reason) = (reviewer::for_rejection(&workspace, reviewer.by)?, reason.as_deref());
                let reject = |&id: &ProposalId| match &hunks[..] {
                    [] => workspace.reject(id, &by, reason),
                    some => workspace.reject_hunks(id, &by, some, reason),
                };
                combine(ids.iter().map(reject).collect())
            }
        }
    }
}

/// Hunk numbers only make sense for one proposal.
fn check_hunks_of_one(ids: &[ProposalId], hunks: &[usize]) -> Result<(), CommandError> {
    match ids.len() > 1 && !hunks.is_empty() {
        true => Err(CommandError::usage("`--hunk` is for one proposal", "Name one proposal at a time.")),
        false => Ok(()),
    }
}

/// Accepts proposals one after the other; each is applied completely or not at all.
fn accept(workspace: &Workspace, ids: &[ProposalId], hunks: &[usize], by: &Reviewer) -> CommandResult {
    check_hunks_of_one(ids, hunks)?;
    let accept = |&id: &ProposalId| {
        let mut report = match hunks {
            [] => workspace.accept(id, by),
            some => workspace.accept_hunks(id, by, some),
        };
        consent::add_private_warning(workspace, &mut report);
        if report.change.is_some() {
            report.message = format!("Accepted {id}: {}", report.message);
        }
        report
    };
    combine(ids.iter().map(accept).collect())
}

/// The output for the decisions on several proposals.
fn combine(mut reports: Vec<Report>) -> CommandResult {
    match reports.len() {
        1 => Ok(Box::new(reports.remove(0))),
        _ => Ok(Box::new(Decisions(reports))),
    }
}

/// The decisions on several proposals.
struct Decisions(Vec<Report>);

impl CommandOutput for Decisions {
    fn status(&self) -> Status {
        let failed = self.0.iter().map(Report::status).find(|status| status.is_error());
        failed.unwrap_or(Status::Applied)
    }

    fn effect(&self) -> Effect {
        let has_effect = self.0.iter().any(|report| report.effect() != Effect::Nothing);
        if has_effect { Effect::Other } else { Effect::Nothing }
    }

    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&json!({"decisions": self.0}))
    }

    fn write(&self, streams: &mut Streams) {
        self.0.iter().for_each(|report| report.write(streams));
    }
}

struct PendingProposals {
    pending: Vec<StoredProposal>,
    /// Whether options limit the selection.
    is_selected: bool,
    /// Names other roots of the project with pending proposals.
    elsewhere: Option<String>,
}

impl CommandOutput for PendingProposals {
    fn json(&self) -> serde_json::Result<String> {
        let listed: Vec<Value> = self.pending.iter().map(to_json).collect();
        serde_json::to_string(&json!({"proposals": listed}))
    }

    fn write(&self, streams: &mut Streams) {
        for found in &self.pending {
            let proposal = &found.proposal;
            streams.out.styled(Style::new().bold(), found.id.to_string());
            let session = escape_controls(&proposal.origin.session);
            let from = match &proposal.origin.agent {
                Some(agent) => format!("{session} ({})", escape_controls(agent)),
                None => session,
            };
            let files = escape_controls(&describe_request(proposal));
            streams.out.text(format!("  {}  {from}  {files}", log::local_time(found.at)));
            if let Some(description) = &proposal.description {
                streams.out.text(format!("  {}", escape_controls(description)));
            }
            streams.out.line(format!("  [{}]", escape_controls(&reason(proposal))));
        }
        if self.pending.is_empty() {
            streams.err.line(match self.is_selected {
                true => "No pending proposals match these options.",
                false => "Nothing to review.",
            });
        }
        if let Some(roots) = &self.elsewhere {
            write_labelled(AnsiColor::Cyan, "note", &format!("proposals {roots}"), &mut streams.err);
        }
    }
}

fn show(workspace: &Workspace, id: ProposalId) -> Result<ShownProposal, CommandError> {
    let found = workspace.proposal(id).map_err(Report::from)?.ok_or_else(|| unknown_proposal(id))?;
    let notes = match found.decision {
        None => slipstitch_review::notes_about(workspace, &found),
        Some(_) => Vec::new(),
    };
    Ok(ShownProposal { found, notes })
}

/// Several proposals, oldest first.
struct ShownProposals(Vec<ShownProposal>);

impl CommandOutput for ShownProposals {
    fn json(&self) -> serde_json::Result<String> {
        let shown: Vec<Value> = self.0.iter().map(ShownProposal::to_json).collect();
        serde_json::to_string(&json!({"proposals": shown}))
    }

    fn write(&self, streams: &mut Streams) {
        for (at, proposal) in self.0.iter().enumerate() {
            if at > 0 {
                streams.out.line("");
            }
            proposal.write(streams);
        }
    }
}

/// A proposal with what to know before it is decided.
struct ShownProposal {
    found: StoredProposal,
    notes: Vec<String>,
}

impl ShownProposal {
    fn to_json(&self) -> Value {
        let Self { found, notes } = self;
        let hunks: Vec<Value> = found.proposal.hunks().iter().map(|hunk| hunk_json(found, hunk)).collect();
        json!({
            "proposal": to_json(found),
            "notes": notes,
            "diff": found.proposal.diff,
            "hunks": hunks,
        })
    }
}

impl CommandOutput for ShownProposal {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.to_json())
    }

    fn write(&self, streams: &mut Streams) {
        let Self { found, notes } = self;
        let proposal = &found.proposal;
        streams.out.styled(Style::new().bold(), format!("proposal {}\n", found.id));
        let mut field =
            |name: &str, value: &str| streams.out.line(format!("{name}: {}", value.replace('\n', "\n  ")));
        field("time", &log::local_time(found.at));
        field("session", &escape_controls(&proposal.origin.session));
        if let Some(agent) = &proposal.origin.agent {
            field("agent", &escape_controls(agent));
        }
        field("tool", &escape_controls(&format!("{} ({})", proposal.origin.tool, proposal.origin.dialect)));
        if let Some(description) = &proposal.description {
            field("description", description);
        }
        if let Some(labels) = &proposal.notes.labels {
            log::write_labels(labels, &mut field);
        }
        field("why", &escape_controls(&reason(proposal)));
        field("state", &found.decision.as_ref().map_or("pending".into(), ToString::to_string));
        if !notes.is_empty() {
            field("note", &notes.join("\n"));
        }
        if proposal.notes.subject == ProposalSubject::WriteAccess {
            field("asks for", &escape_controls(&describe_request(proposal)));
        }
        for file in &proposal.files {
            field("file", &escape_controls(&describe_change(file)));
        }
        for hunk in proposal.hunks() {
            let verdict = rejection(found, hunk.number).map_or(String::new(), |rejected| {
                let reason = rejected.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
                format!(", not applied ({}{reason})", rejected.by)
            });
            let title = format!("\nhunk {}{}\n", hunk.number, escape_controls(&verdict));
            streams.out.styled(Style::new().bold(), title);
            diff::write_colored(proposal.hunk_diff(&hunk).as_bytes(), &mut streams.out);
        }
    }
}

/// Why a proposal needs a decision, and what to know before it is accepted.
fn reason(proposal: &Proposal) -> String {
    match proposal.text {
        RecordedText::Kept => proposal.reason.clone(),
        RecordedText::Private | RecordedText::Withheld => {
            format!("{}; can't be undone once accepted, because a file is private", proposal.reason)
        }
    }
}

/// Who rejected a hunk and why, if it is not applied.
fn rejection(found: &StoredProposal, number: usize) -> Option<&RejectedHunk> {
    let left_out = match &found.decision {
        Some(ProposalDecision::Accepted { left_out, .. }) => left_out,
        _ => &found.rejected_hunks,
    };
    left_out.iter().find(|rejected| rejected.hunk == number)
}

fn hunk_json(found: &StoredProposal, hunk: &ProposalHunk) -> Value {
    let rejected = rejection(found, hunk.number);
    json!({
        "hunk": hunk.number,
        "path": hunk.path,
        "diff": found.proposal.hunk_diff(hunk),
        "rejected": rejected.map(|rejected| json!({"by": rejected.by, "reason": rejected.reason})),
    })
}

fn to_json(found: &StoredProposal) -> Value {
    let proposal = &found.proposal;
    let files: Vec<Value> = proposal
        .files
        .iter()
        .map(|file| json!({"path": file.path, "path_after": file.path_after(), "version_after": file.after}))
        .collect();
    json!({
        "id": found.id,
        "subject": proposal.notes.subject,
        "at": found.at,
        "session": proposal.origin.session,
        "agent": proposal.origin.agent,
        "dialect": proposal.origin.dialect,
        "tool": proposal.origin.tool,
        "description": proposal.description,
        "labels": proposal.notes.labels,
        "why": proposal.reason,
        "files": files,
        "settled": found.decision,
    })
}

/// What a proposal asks for, in one line.
fn describe_request(proposal: &Proposal) -> String {
    match proposal.notes.subject {
        ProposalSubject::WriteAccess => "write access for the session".into(),
        ProposalSubject::Change => {
            let files: Vec<String> = proposal.files.iter().map(describe_change).collect();
            files.join(", ")
        }
    }
}

fn describe_change(file: &FileChange) -> String {
    match (file.base, &file.path_change) {
        (Base::Absent, _) => format!("create {}", file.path),
        (_, PathChange::Delete) => format!("delete {}", file.path),
        (_, PathChange::Move(to)) => format!("move {} to {to}", file.path),
        (_, PathChange::Keep) => format!("change {}", file.path),
    }
}
