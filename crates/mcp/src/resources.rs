//! The journal as resources: the list of changes, and each change's diff.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;
use slipstitch::Workspace;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::Filter;

/// The list of changes.
pub(crate) const CHANGES: &str = "slipstitch://changes";
/// One change; its name takes the place of the braces.
const CHANGE: &str = "slipstitch://changes/{id}";

/// How many changes the list shows.
const MAX_CHANGES: usize = 100;

/// What an address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Address {
    List,
    One(ChangeId),
}

impl Address {
    /// Reads an address; only one way to write each is taken.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri == CHANGES {
            return Some(Self::List);
        }
        let name = uri.strip_prefix(CHANGES)?.strip_prefix('/')?;
        let id = ChangeId::parse(name)?;
        (id.to_string() == name).then_some(Self::One(id))
    }
}

/// The address of a change.
pub(crate) fn address(id: ChangeId) -> String {
    format!("{CHANGES}/{id}")
}

/// What `resources/list` shows.
pub(crate) fn listed() -> Vec<Resource> {
    let changes = Resource::new(CHANGES, "changes")
        .with_title("Changes")
        .with_description(
            "The latest changes in this root, newest first: who, when, which files, taken back or not.",
        )
        .with_mime_type("application/json");
    vec![changes]
}

/// What `resources/templates/list` shows.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let change = ResourceTemplate::new(CHANGE, "change")
        .with_title("One change")
        .with_description("A change as a unified diff, by its name in the list of changes, such as c12.")
        .with_mime_type("text/x-diff");
    vec![change]
}

/// Reads a resource from the journal.
pub(crate) fn read(workspace: &Workspace, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let failed = |error: slipstitch::core::ports::journal::JournalError| {
        ErrorData::internal_error(error.to_string(), None)
    };
    let contents = match Address::parse(uri).ok_or_else(|| unknown(uri))? {
        Address::List => {
            let filter = Filter { limit: Some(MAX_CHANGES), ..Filter::default() };
            let changes = workspace.log(&filter).map_err(failed)?;
            ResourceContents::text(json!({"changes": changes}).to_string(), uri)
                .with_mime_type("application/json")
        }
        Address::One(id) => {
            let entry = workspace.change(id).map_err(failed)?.ok_or_else(|| unknown(uri))?;
            ResourceContents::text(entry.diff, uri).with_mime_type("text/x-diff")
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// What is said of an address that leads nowhere.
pub(crate) fn unknown(uri: &str) -> ErrorData {
    let message = format!("there is no resource `{uri}`; {CHANGES} lists the changes, {CHANGE} shows one");
    ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_strictly() {
        assert_eq!(Address::parse("slipstitch://changes"), Some(Address::List));
        assert_eq!(Address::parse("slipstitch://changes/c12"), Some(Address::One(ChangeId(12))));
        for uri in [
            "slipstitch://changes/",
            "slipstitch://changes/12",
            "slipstitch://changes/c012",
            "slipstitch://changesc1",
            "file:///x",
        ] {
            assert_eq!(Address::parse(uri), None, "{uri}");
        }
    }
}
