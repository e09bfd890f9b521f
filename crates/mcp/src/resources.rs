//! The journal as resources: the list of changes, and each change's diff.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;
use slipstitch::Workspace;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::{Filter, JournalError};

/// URI of the list of changes.
pub(crate) const CHANGES_URI: &str = "slipstitch://changes";
/// URI template of one change.
const CHANGE_TEMPLATE: &str = "slipstitch://changes/{id}";

/// How many changes the list contains.
const MAX_CHANGES: usize = 100;

/// What a URI refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceId {
    Changes,
    Change(ChangeId),
}

impl ResourceId {
    /// Parses a URI; each resource has exactly one spelling.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri == CHANGES_URI {
            return Some(Self::Changes);
        }
        let name = uri.strip_prefix(CHANGES_URI)?.strip_prefix('/')?;
        let id = ChangeId::parse(name)?;
        (id.to_string() == name).then_some(Self::Change(id))
    }
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
    vec![change]
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
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

pub(crate) fn unknown_resource(uri: &str) -> ErrorData {
    let message =
        format!("unknown resource `{uri}`; {CHANGES_URI} lists the changes, {CHANGE_TEMPLATE} shows one");
    ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_have_one_spelling() {
        assert_eq!(ResourceId::parse("slipstitch://changes"), Some(ResourceId::Changes));
        assert_eq!(ResourceId::parse("slipstitch://changes/c12"), Some(ResourceId::Change(ChangeId(12))));
        for uri in [
            "slipstitch://changes/",
            "slipstitch://changes/12",
            "slipstitch://changes/c012",
            "slipstitch://changesc1",
            "file:///x",
        ] {
            assert_eq!(ResourceId::parse(uri), None, "{uri}");
        }
    }
}
