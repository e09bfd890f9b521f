//! Proposals: changes pending review.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::{ChangeId, Origin};
use crate::change::FileChange;
use crate::plan::EditRules;

/// A proposal's id in the journal, written `p` and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProposalId(pub u64);

impl ProposalId {
    /// Parses `p3` or `3`.
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

/// A change that has not been approved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Where it came from.
    pub origin: Origin,
    /// What it is for, in the caller's words.
    pub description: Option<String>,
    /// Why it needs a review.
    pub reason: String,
    /// The change of each file, and the content that each file must have for it.
    pub files: Vec<FileChange>,
    /// The change as a unified diff, for the reviewer.
    pub diff: String,
    /// What the report of the accepted proposal says in addition to what happened to the files.
    pub notes: ProposalNotes,
}

/// What a proposal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalSubject {
    /// A change of files.
    #[default]
    Change,
    /// Write access for a restricted session; there are no files.
    WriteAccess,
}

/// The parts of a report that cannot be derived from the files. They are stored, so that an accepted proposal is reported
/// exactly as if the change had been applied at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProposalNotes {
    /// What the proposal asks for.
    pub subject: ProposalSubject,
    /// The report's message, if it is not the usual one.
    pub message: Option<String>,
    /// Warnings about how the request was interpreted.
    #[serde(rename = "request")]
    pub request_warnings: Vec<String>,
    /// Notes about the change as a whole.
    #[serde(rename = "notes")]
    pub change_notes: Vec<String>,
    /// Warnings from guards.
    #[serde(rename = "warnings")]
    pub guard_warnings: Vec<String>,
    /// The clipboards that the session will have, by name.
    pub clipboards: BTreeMap<String, String>,
    /// Context lines of the diff.
    pub context: usize,
}

impl Default for ProposalNotes {
    fn default() -> Self {
        Self {
            subject: ProposalSubject::Change,
            message: None,
            request_warnings: Vec::new(),
            change_notes: Vec::new(),
            guard_warnings: Vec::new(),
            clipboards: BTreeMap::new(),
            context: EditRules::STRICT.context,
        }
    }
}

/// A proposal in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredProposal {
    /// Its id.
    pub id: ProposalId,
    /// When it was proposed, in milliseconds since 1970.
    pub at: i64,
    /// The proposed change.
    pub proposal: Proposal,
    /// The reviewer's decision; `None` while it is pending.
    pub decision: Option<ProposalDecision>,
}

/// What a reviewer decided about a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum ProposalDecision {
    /// It was applied.
    Accepted {
        /// Who accepted it.
        by: String,
        /// The change that it became.
        change: ChangeId,
    },
    /// The session got the write access that it asked for.
    Granted {
        /// Who granted it.
        by: String,
    },
    /// It will not be applied.
    Rejected {
        /// Who rejected it.
        by: String,
        /// Why, if they gave a reason.
        reason: Option<String>,
    },
}

impl fmt::Display for ProposalDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted { by, change } => write!(f, "accepted by {by} as {change}"),
            Self::Granted { by } => write!(f, "granted by {by}"),
            Self::Rejected { by, reason: Some(reason) } => write!(f, "rejected by {by}: {reason}"),
            Self::Rejected { by, reason: None } => write!(f, "rejected by {by}"),
        }
    }
}
