//! What the journal knows about an installation, so that a removal takes out what was put in and nothing else.

use serde::{Deserialize, Serialize};

use crate::format::Place;

/// What an installation did to one file. It is stored in the change's description, after [`Record::SEPARATOR`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The program that the server's entry starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// How many directories it created.
    #[serde(default)]
    pub(crate) folders: usize,
    /// The values it added.
    #[serde(default)]
    pub(crate) added: Vec<Place>,
    /// The mappings and lists it created around them.
    #[serde(default)]
    pub(crate) created: Vec<Place>,
}

impl Record {
    const SEPARATOR: &str = "; ";

    /// The description of an installation for the journal.
    pub(crate) fn describe(&self, label: &str) -> String {
        let record = serde_json::to_string(self).unwrap_or_default();
        format!("mcp install: {label}{}{record}", Self::SEPARATOR)
    }

    /// Reads a description; `None` if it is not of an installation with this label.
    pub(crate) fn parse(description: &str, label: &str) -> Option<Self> {
        let rest = description.strip_prefix("mcp install: ")?.strip_prefix(label)?;
        serde_json::from_str(rest.strip_prefix(Self::SEPARATOR)?).ok()
    }
}

/// The description of a removal. Installations before it no longer count.
pub(crate) fn describe_removal(label: &str) -> String {
    format!("mcp uninstall: {label}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_the_journal() {
        let record = Record {
            program: Some("/x; y".into()),
            folders: 2,
            added: vec![Place::item(&["permissions", "deny"], "Edit"), Place::field(&["mcp"], "s")],
            created: vec![Place::field(&["permissions"], "deny")],
        };
        let description = record.describe("user settings of x, server s");
        assert_eq!(Record::parse(&description, "user settings of x, server s"), Some(record));
        assert_eq!(Record::parse(&description, "user settings of x, server"), None);
        assert_eq!(Record::parse(&describe_removal("x"), "x"), None);
    }
}
