//! Changes and proposals of other roots in the same journal, for people who look for what an agent did in a part of a project.

use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{Filter, JournalError, ProposalId, Summary};

use super::Workspace;

impl Workspace {
    /// The root that a change was made with, if it is not this workspace's first root.
    pub fn other_root_of_change(&self, id: ChangeId) -> Result<Option<String>, JournalError> {
        Ok(self.journal.root_of_change(id)?.filter(|root| root != self.root()))
    }

    /// The root that a proposal was made with, if it is not this workspace's first root.
    pub fn other_root_of_proposal(&self, id: ProposalId) -> Result<Option<String>, JournalError> {
        Ok(self.journal.root_of_proposal(id)?.filter(|root| root != self.root()))
    }

    /// The other roots that contain the first root or are inside it, and have changes or pending proposals.
    pub fn nested_roots(&self) -> Result<Vec<String>, JournalError> {
        self.journal.nested_roots()
    }

    /// How many proposals of another root are pending.
    pub fn pending_count_of_root(&self, root: &str) -> Result<usize, JournalError> {
        self.journal.pending_count_of_root(root)
    }

    /// The changes of another root, newest first. Their paths are relative to it.
    pub fn log_of_root(&self, root: &str, filter: &Filter) -> Result<Vec<Summary>, JournalError> {
        self.journal.list_of_root(root, filter)
    }
}
