//! Shell completion of arguments that depend on the journal: ids, sessions, agents, models and tools.
//!
//! A completion must neither fail nor write: without a journal there is simply nothing to offer.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use clap_complete::CompletionCandidate;
use slipstitch::Workspace;
use slipstitch::core::ports::journal::{Filter, Proposal, Summary};
use slipstitch::core::text::display::escape_controls;
use slipstitch::dialects::builtin;
use slipstitch::stats::CallFilter;

use crate::caller_names::CallerNames;
use crate::ids::RangeId;
use crate::project::find_root;

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

/// The ids of the last changes, with their files; after `c3..`, the ranges that begin there.
pub(crate) fn change_ids(typed: &OsStr) -> Vec<CompletionCandidate> {
    let describe = |change: &Summary| {
        let paths =
            change.files.iter().filter_map(|file| file.path_after.as_ref().or(file.path_before.as_ref()));
        let paths = paths.map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match &change.origin.agent {
            Some(agent) => format!("{agent}: {paths}"),
            None => paths,
        }
    };
    id_candidates(typed, changes(MAX_CHANGES).iter().map(|change| (change.id, describe(change))))
}

/// The candidates among these ids, in their order, for an id or the end of a range.
fn id_candidates<I: RangeId>(
    typed: &OsStr,
    ids: impl Iterator<Item = (I, String)>,
) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let (start, end) = typed.rsplit_once("..").map_or((None, &*typed), |(start, end)| (Some(start), end));
    let first = match start.map(I::parse) {
        // There is no range without a first id.
        Some(None) => return Vec::new(),
        first => first.flatten(),
    };
    ids.enumerate()
        .filter(|(_, (id, _))| first.is_none_or(|first| first < *id) && id.to_string().starts_with(end))
        .map(|(order, (id, about))| {
            CompletionCandidate::new(start.map_or(id.to_string(), |start| format!("{start}..{id}")))
                .help(Some(escape_controls(&about).into()))
                .display_order(Some(order))
        })
        .collect()
}

/// What a proposal is for, or why it needs a review.
fn describe_proposal(proposal: &Proposal) -> String {
    proposal.description.clone().unwrap_or_else(|| proposal.reason.clone())
}

/// The ids of pending proposals, with their descriptions; after `p3..`, the ranges that begin there.
pub(crate) fn proposal_ids(typed: &OsStr) -> Vec<CompletionCandidate> {
    let pending = workspace().and_then(|workspace| workspace.proposals().ok()).unwrap_or_default();
    id_candidates(typed, pending.iter().map(|found| (found.id, describe_proposal(&found.proposal))))
}

/// The ids of changes and proposals.
pub(crate) fn recorded_ids(typed: &OsStr) -> Vec<CompletionCandidate> {
    change_ids(typed).into_iter().chain(proposal_ids(typed)).collect()
}

/// The sessions of the last changes and of pending proposals.
pub(crate) fn sessions() -> Vec<CompletionCandidate> {
    names().sessions.into_iter().map(CompletionCandidate::new).collect()
}

/// The agents of the last changes and of pending proposals.
pub(crate) fn agents() -> Vec<CompletionCandidate> {
    names().agents.into_iter().map(CompletionCandidate::new).collect()
}

fn names() -> CallerNames {
    let Some(workspace) = workspace() else { return CallerNames::default() };
    let mut names = CallerNames::of(&workspace);
    for found in workspace.proposals().unwrap_or_default() {
        names.agents.extend(found.proposal.origin.agent);
        names.sessions.insert(found.proposal.origin.session);
    }
    names
}

/// The tools of the dialect named on the command line, or of the default dialect.
pub(crate) fn tools() -> Vec<CompletionCandidate> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let named = words.windows(2).rev().find_map(|pair| match pair {
        [option, name] if option == "--dialect" => Some(name.as_str()),
        [_, last] => last.strip_prefix("--dialect="),
        _ => None,
    });
    let dialect = named.and_then(|name| builtin().find(name)).or_else(|| builtin().find("native"));
    let tools = dialect.into_iter().flat_map(|dialect| dialect.tools);
    tools.map(|tool| CompletionCandidate::new(tool.name)).collect()
}

/// The models of recorded calls.
pub(crate) fn models() -> Vec<CompletionCandidate> {
    let calls = workspace().and_then(|workspace| workspace.stats(&CallFilter::default()).ok());
    let models: BTreeSet<String> = calls.into_iter().flatten().filter_map(|group| group.model).collect();
    models.into_iter().map(CompletionCandidate::new).collect()
}
