//! What the shell offers for arguments that depend on the journal: ids, sessions, agents and topics.
//!
//! A completion must neither fail nor write: without a journal there is simply nothing to offer.

use std::collections::BTreeSet;
use std::path::Path;

use clap_complete::CompletionCandidate;
use slipstitch::Workspace;
use slipstitch::core::ports::journal::{Filter, Proposal, Summary};

use crate::project::find_root;
use crate::topics::topic_names;

/// How many changes are offered.
const MAX_CHANGES: usize = 50;

fn workspace() -> Option<Workspace> {
    let root = find_root(&std::env::current_dir().ok()?);
    Workspace::builder(Path::new(&root)).session("cli").open().ok()
}

fn changes(limit: usize) -> Vec<Summary> {
    let filter = Filter { limit: Some(limit), ..Filter::default() };
    workspace().and_then(|workspace| workspace.log(&filter).ok()).unwrap_or_default()
}

/// The ids of the last changes, with their files.
pub(crate) fn change_ids() -> Vec<CompletionCandidate> {
    let describe = |change: &Summary| {
        let paths =
            change.files.iter().filter_map(|file| file.path_after.as_ref().or(file.path_before.as_ref()));
        paths.map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let candidate = |(order, change): (usize, &Summary)| {
        CompletionCandidate::new(change.id.to_string())
            .help(Some(describe(change).into()))
            .display_order(Some(order))
    };
    changes(MAX_CHANGES).iter().enumerate().map(candidate).collect()
}

/// What a proposal is for, or why it needs a review.
fn describe_proposal(proposal: &Proposal) -> String {
    proposal.description.clone().unwrap_or_else(|| proposal.reason.clone())
}

/// The ids of pending proposals, with their descriptions.
pub(crate) fn proposal_ids() -> Vec<CompletionCandidate> {
    let pending = workspace().and_then(|workspace| workspace.proposals().ok()).unwrap_or_default();
    let candidate = |id: String, why: String| CompletionCandidate::new(id).help(Some(why.into()));
    pending
        .into_iter()
        .map(|proposal| candidate(proposal.id.to_string(), describe_proposal(&proposal.proposal)))
        .collect()
}

/// The sessions of the last changes.
pub(crate) fn sessions() -> Vec<CompletionCandidate> {
    let names: BTreeSet<String> = changes(1000).into_iter().map(|change| change.origin.session).collect();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// The agents of the last changes.
pub(crate) fn agents() -> Vec<CompletionCandidate> {
    let names: BTreeSet<String> =
        changes(1000).into_iter().filter_map(|change| change.origin.agent).collect();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// The topics of `slipstitch help`.
pub(crate) fn topics() -> Vec<CompletionCandidate> {
    topic_names().map(CompletionCandidate::new).collect()
}
