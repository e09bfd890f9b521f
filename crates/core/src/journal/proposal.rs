//! Changes that wait for a person.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{ChangeId, Origin};
use crate::change::FileChange;

/// A proposal's name in the journal, written `p` and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProposalId(pub u64);

impl ProposalId {
    /// Reads `p3` or `3`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        text.strip_prefix(['p', 'P']).unwrap_or(text).parse().ok().map(Self)
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

impl Serialize for ProposalId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A change that nobody has agreed to yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Where it came from.
    pub origin: Origin,
    /// What it is for.
    pub description: Option<String>,
    /// Why it waits.
    pub why: String,
    /// What would be done to the files, and the content that each must have for it.
    pub files: Vec<FileChange>,
    /// The change as a unified diff, for people.
    pub diff: String,
}

/// A proposal in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// Its name.
    pub id: ProposalId,
    /// When it was made, in milliseconds since 1970.
    pub at: i64,
    /// What is proposed.
    pub proposal: Proposal,
    /// What became of it; nothing while it waits.
    pub settled: Option<Settled>,
}

/// What a person decided about a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Settled {
    /// It is in the files.
    Accepted {
        /// Who agreed.
        by: String,
        /// The change that it became.
        change: ChangeId,
    },
    /// It will not be made.
    Rejected {
        /// Who declined.
        by: String,
        /// Why, if they said so.
        reason: Option<String>,
    },
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted { by, change } => write!(f, "accepted by {by} as {change}"),
            Self::Rejected { by, reason: Some(reason) } => write!(f, "rejected by {by}: {reason}"),
            Self::Rejected { by, reason: None } => write!(f, "rejected by {by}"),
        }
    }
}
