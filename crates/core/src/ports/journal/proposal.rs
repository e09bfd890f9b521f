//! Changes that wait for a person.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::{ChangeId, Origin};
use crate::change::FileChange;
use crate::plan::EditRules;

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
    /// What the answer says once it is made, besides what was done to the files.
    pub remarks: Remarks,
}

/// What is said of a change, and kept of it, that is in none of its files. Whoever waits for a person gets the
/// same answer in the end as someone who did not have to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remarks {
    /// The sentence that says what was done, where it is not the usual one.
    pub message: Option<String>,
    /// What the caller should know of how the request was read.
    pub request: Vec<String>,
    /// What the caller should know of the change as a whole.
    pub notes: Vec<String>,
    /// What the guards remarked.
    pub warnings: Vec<String>,
    /// What the session is to remember, by name.
    pub clipboards: BTreeMap<String, String>,
    /// How many lines around a change its diff shows.
    pub context: usize,
}

impl Default for Remarks {
    fn default() -> Self {
        Self {
            message: None,
            request: Vec::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
            clipboards: BTreeMap::new(),
            context: EditRules::STRICT.context,
        }
    }
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
