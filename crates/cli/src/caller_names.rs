//! Who made changes lately: what completions offer, and what a misspelt name is compared with.

use std::collections::BTreeSet;

use slipstitch::Workspace;
use slipstitch::core::ports::journal::Filter;

/// How many of the last changes are searched for names.
const NAMES_FROM: usize = 1000;

/// The agents and sessions that made the last changes.
#[derive(Debug, Default)]
pub(crate) struct CallerNames {
    pub(crate) agents: BTreeSet<String>,
    pub(crate) sessions: BTreeSet<String>,
}

impl CallerNames {
    pub(crate) fn of(workspace: &Workspace) -> Self {
        let filter = Filter { limit: Some(NAMES_FROM), ..Filter::default() };
        let mut names = Self::default();
        for change in workspace.log(&filter).unwrap_or_default() {
            names.agents.extend(change.origin.agent);
            names.sessions.insert(change.origin.session);
        }
        names
    }
}
