//! Edits of settings files: one entry is added or removed, and every other byte is kept.
//!
//! Each file format has a module that finds the place and describes the edit as splices of the original text. The
//! result is parsed again and must mean what the file meant before, plus or minus the entry; otherwise the edit is
//! refused. A mistake in a format module is therefore a refusal, never a damaged file.

mod edit;
mod error;
mod json;
mod layout;
mod toml;
mod yaml;

use serde_json::{Map, Value};

pub(crate) use edit::EntryPath;
pub use error::FormatError;

use edit::apply;

/// The syntax of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Plain JSON. Comments and trailing commas are preserved, but the host may reject them.
    Json,
    /// JSON with comments and trailing commas.
    JsonWithComments,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

const BOM: &str = "\u{feff}";

impl Format {
    /// The entry at `path`, if there is one.
    pub(crate) fn find(self, text: &str, path: EntryPath<'_>) -> Result<Option<Value>, FormatError> {
        let [key, name] = path;
        match self.parse(split_bom(text).1)?.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(servers)) => Ok(servers.get(name).cloned()),
            Some(_) => Err(FormatError::NotServers(key.into())),
        }
    }

    /// `text` with an entry added. There must be none at `path` yet.
    pub(crate) fn insert(
        self,
        text: &str,
        path: EntryPath<'_>,
        entry: &Value,
    ) -> Result<String, FormatError> {
        let [key, name] = path;
        let (bom, before) = split_bom(text);
        let mut expected = self.parse(before)?;
        let splices = match self {
            Self::Json | Self::JsonWithComments => json::insert(before, path, entry)?,
            Self::Toml => toml::insert(before, path, entry)?,
            Self::Yaml => yaml::insert(before, path, entry)?,
        };
        if !splices.iter().all(|splice| splice.at.is_empty()) {
            return Err(FormatError::Layout);
        }
        let servers = expected.entry(key).or_insert(Value::Null);
        if servers.is_null() {
            *servers = Value::Object(Map::new());
        }
        if let Value::Object(servers) = servers {
            servers.insert(name.into(), entry.clone());
        }
        let after = apply(before, splices).ok_or(FormatError::Layout)?;
        self.verify(&after, &expected)?;
        Ok(format!("{bom}{after}"))
    }

    /// `text` without the entry at `path`.
    pub(crate) fn remove(self, text: &str, path: EntryPath<'_>) -> Result<String, FormatError> {
        let [key, name] = path;
        let (bom, before) = split_bom(text);
        let mut expected = self.parse(before)?;
        let splices = match self {
            Self::Json | Self::JsonWithComments => json::remove(before, path)?,
            Self::Toml => toml::remove(before, path)?,
            Self::Yaml => yaml::remove(before, path)?,
        };
        if let Some(Value::Object(servers)) = expected.get_mut(key) {
            servers.remove(name);
        }
        let after = apply(before, splices).ok_or(FormatError::Layout)?;
        self.verify(&after, &expected)?;
        Ok(format!("{bom}{after}"))
    }

    /// The entry as the only content of a file.
    pub(crate) fn render(self, path: EntryPath<'_>, entry: &Value) -> Result<String, FormatError> {
        self.insert("", path, entry)
    }

    /// Whether `text` uses an extension of the format that the host may not read.
    pub(crate) fn uses_extensions(self, text: &str) -> bool {
        let (_, text) = split_bom(text);
        self == Self::Json && !text.trim().is_empty() && serde_json::from_str::<Value>(text).is_err()
    }

    fn parse(self, text: &str) -> Result<Map<String, Value>, FormatError> {
        match self {
            Self::Json | Self::JsonWithComments => json::parse(text),
            Self::Toml => toml::parse(text),
            Self::Yaml => yaml::parse(text),
        }
    }

    /// Checks that `after` means `expected`. An empty mapping counts as absent: in TOML, a table disappears together
    /// with the last table in it.
    fn verify(self, after: &str, expected: &Map<String, Value>) -> Result<(), FormatError> {
        let non_empty = |document: &Map<String, Value>| -> Map<String, Value> {
            let kept = document.iter().filter(|(_, value)| !value.as_object().is_some_and(Map::is_empty));
            kept.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        match self.parse(after) {
            Ok(found) if non_empty(&found) == non_empty(expected) => Ok(()),
            _ => Err(FormatError::Layout),
        }
    }
}

/// Splits off a byte order mark.
fn split_bom(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len() } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_files_that_cannot_be_edited() {
        let path = ["mcp", "slipstitch"];
        for (format, text) in [
            (Format::Json, "{"),
            (Format::Json, "[]"),
            (Format::Json, "{\"mcp\": []}"),
            (Format::Json, "{\"mcp\": {}, \"mcp\": {}}"),
            (Format::Json, "{\"mcp\" {}}"),
            (Format::Toml, "[mcp"),
            (Format::Toml, "mcp = 3"),
            (Format::Toml, "mcp = { a = { command = \"x\" } }"),
            (Format::Yaml, "mcp: [1"),
            (Format::Yaml, "- a\n"),
            (Format::Yaml, "mcp: [1]\n"),
            (Format::Yaml, "a: 1\n---\nb: 2\n"),
            (Format::Yaml, "mcp: &servers {}\ncopy: *servers\n"),
        ] {
            let entry = serde_json::json!({"command": "x"});
            let edited = format.find(text, path).and_then(|_| format.insert(text, path, &entry));
            assert!(edited.is_err(), "{format:?} {text:?}: {edited:?}");
        }
    }

    #[test]
    fn removing_a_missing_entry_is_an_error() {
        for (format, text) in [
            (Format::Json, ""),
            (Format::Json, "{}"),
            (Format::Json, "{\"mcp\": {}}"),
            (Format::Toml, ""),
            (Format::Toml, "[mcp.a]\n"),
            (Format::Yaml, ""),
            (Format::Yaml, "mcp:\n  a: {}\n"),
        ] {
            assert!(format.remove(text, ["mcp", "slipstitch"]).is_err(), "{format:?} {text:?}");
        }
    }

    #[test]
    fn keeps_the_byte_order_mark() {
        let path = ["mcp", "slipstitch"];
        let entry = serde_json::json!({"command": "x"});
        for (format, text) in [(Format::Json, "{}\n"), (Format::Toml, "a = 1\n"), (Format::Yaml, "a: 1\n")] {
            let text = format!("{BOM}{text}");
            let with = format.insert(&text, path, &entry).unwrap();
            assert!(with.starts_with(BOM) && with.matches(BOM).count() == 1, "{with:?}");
            assert_eq!(format.find(&with, path), Ok(Some(entry.clone())));
        }
    }
}
