//! The journal as resources: the list of changes, each change's diff, and what came of each proposal.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;
use slipstitch::Workspace;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{Filter, JournalError, ProposalDecision, ProposalId, StoredProposal};

/// URI of the list of changes.
pub(crate) const CHANGES_URI: &str = "slipstitch://changes";
/// URI template of one change.
const CHANGE_TEMPLATE: &str = "slipstitch://changes/{id}";
/// What the URI of a proposal starts with.
const PROPOSALS_URI: &str = "slipstitch://proposals";
/// URI template of one proposal.
const PROPOSAL_TEMPLATE: &str = "slipstitch://proposals/{id}";

/// How many changes the list contains.
const MAX_CHANGES: usize = 100;

/// What a URI refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceId {
    Changes,
    Change(ChangeId),
    Proposal(ProposalId),
}

impl ResourceId {
    /// Parses a URI; each resource has exactly one spelling.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri == CHANGES_URI {
            return Some(Self::Changes);
        }
        if let Some(name) = uri.strip_prefix(PROPOSALS_URI) {
            let name = name.strip_prefix('/')?;
            let id = ProposalId::parse(name)?;
            return (id.to_string() == name).then_some(Self::Proposal(id));
        }
        let name = uri.strip_prefix(CHANGES_URI)?.strip_prefix('/')?;
        let id = ChangeId::parse(name)?;
        (id.to_string() == name).then_some(Self::Change(id))
    }
}

/// Whether clients are notified when a resource changes: a change when it is undone, a proposal when it is decided.
pub(crate) fn can_be_watched(uri: &str) -> bool {
    ResourceId::parse(uri).is_some()
}

pub(crate) fn proposal_uri(id: ProposalId) -> String {
    format!("{PROPOSALS_URI}/{id}")
}

pub(crate) fn change_uri(id: ChangeId) -> String {
    format!("{CHANGES_URI}/{id}")
}

/// The result of `resources/list`.
pub(crate) fn list_resources() -> Vec<Resource> {
    let changes = Resource::new(CHANGES_URI, "changes")
        .with_title("Changes")
        .with_description(
            "The latest changes in this root, newest first: who made them, when, which files, and whether they were undone.",
        )
        .with_mime_type("application/json");
    vec![changes]
}

/// The result of `resources/templates/list`.
pub(crate) fn list_templates() -> Vec<ResourceTemplate> {
    let change = ResourceTemplate::new(CHANGE_TEMPLATE, "change")
        .with_title("One change")
        .with_description("A change as a unified diff, by its id in the list of changes, such as c12.")
        .with_mime_type("text/x-diff");
    let proposal = ResourceTemplate::new(PROPOSAL_TEMPLATE, "proposal")
        .with_title("What came of a proposal")
        .with_description(
            "Whether a change that waits for the user's review was accepted, partly accepted or rejected, and why, by the id in the \
             answer to the call, such as p3.",
        )
        .with_mime_type("application/json");
    vec![change, proposal]
}

/// Reads a resource from the journal.
pub(crate) fn read_resource(workspace: &Workspace, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let internal = |error: JournalError| ErrorData::internal_error(error.to_string(), None);
    let contents = match ResourceId::parse(uri).ok_or_else(|| unknown_resource(uri))? {
        ResourceId::Changes => {
            let filter = Filter { limit: Some(MAX_CHANGES), ..Filter::default() };
            let changes = workspace.log(&filter).map_err(internal)?;
            ResourceContents::text(json!({"changes": changes}).to_string(), uri)
                .with_mime_type("application/json")
        }
        ResourceId::Change(id) => {
            let entry = workspace.change(id).map_err(internal)?.ok_or_else(|| unknown_resource(uri))?;
            ResourceContents::text(entry.diff, uri).with_mime_type("text/x-diff")
        }
        ResourceId::Proposal(id) => {
            let found = workspace.proposal(id).map_err(internal)?.ok_or_else(|| unknown_resource(uri))?;
            ResourceContents::text(describe_proposal(workspace, &found).to_string(), uri)
                .with_mime_type("application/json")
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// What came of a proposal. Asking changes nothing.
fn describe_proposal(workspace: &Workspace, found: &StoredProposal) -> serde_json::Value {
    let (state, by, left_out) = match &found.decision {
        None => ("pending", None, &found.rejected_hunks[..]),
        Some(ProposalDecision::Accepted { by, left_out, .. }) if left_out.is_empty() => {
            ("accepted", Some(by), &[][..])
        }
        Some(ProposalDecision::Accepted { by, left_out, .. }) => ("partly accepted", Some(by), &left_out[..]),
        Some(ProposalDecision::Granted { by }) => ("accepted", Some(by), &[][..]),
        Some(ProposalDecision::Rejected { by, .. }) => ("rejected", Some(by), &[][..]),
    };
    let message = match (&found.decision, workspace.describe_decision(found)) {
        (_, Some(report)) => report.message,
        (Some(decision), None) => format!("{} was {decision}", found.id),
        (None, None) => format!("{} waits for the user's review. Only the user can decide.", found.id),
    };
    let (change, edited, reason) = match &found.decision {
        Some(ProposalDecision::Accepted { change, edited, .. }) => (Some(change), &edited[..], None),
        Some(ProposalDecision::Rejected { reason, .. }) => (None, &[][..], reason.as_ref()),
        _ => (None, &[][..], None),
    };
    let paths: Vec<_> = found.proposal.files.iter().map(|file| &file.path).collect();
    json!({
        "id": found.id,
        "state": state,
        "message": message,
        "by": by,
        "reason": reason,
        "change": change,
        "left_out": left_out,
        "edited_hunks": edited,
        "files": paths,
    })
}

pub(crate) fn unknown_resource(uri: &str) -> ErrorData {
    let message = format!(
        "unknown resource `{uri}`; {CHANGES_URI} lists the changes, {CHANGE_TEMPLATE} shows one, {PROPOSAL_TEMPLATE} says what came of a proposal"
    );
    ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_have_one_spelling() {
        assert_eq!(ResourceId::parse("slipstitch://changes"), Some(ResourceId::Changes));
        assert_eq!(ResourceId::parse("slipstitch://changes/c12"), Some(ResourceId::Change(ChangeId(12))));
        assert_eq!(ResourceId::parse("slipstitch://proposals/p3"), Some(ResourceId::Proposal(ProposalId(3))));
        for uri in [
            "slipstitch://changes/",
            "slipstitch://changes/12",
            "slipstitch://changes/c012",
            "slipstitch://changesc1",
            "slipstitch://proposals",
            "slipstitch://proposals/c1",
            "slipstitch://proposals/p01",
            "file:///x",
        ] {
            assert_eq!(ResourceId::parse(uri), None, "{uri}");
        }
    }
}
