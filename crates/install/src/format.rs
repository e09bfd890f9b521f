//! Edits of settings files: one value is added or removed, and every other byte is kept.
//!
//! Each file format has a module that finds the place and describes the edit as splices of the original text. The
//! result is parsed again and must mean what the file meant before, plus or minus the value; otherwise the edit is
//! refused. A mistake in a format module is therefore a refusal, never a damaged file.

mod edit;
mod error;
mod json;
mod layout;
mod toml;
mod yaml;

use serde_json::{Map, Value};

pub(crate) use edit::Place;
pub use error::FormatError;

use edit::{ListEnd, apply};

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
    /// The value at `place`, if there is one.
    pub(crate) fn find(self, text: &str, place: &Place) -> Result<Option<Value>, FormatError> {
        place.find(&self.parse(split_bom(text).1)?)
    }

    /// `text` with a value added. There must be none at `place` yet.
    pub(crate) fn insert(self, text: &str, place: &Place, value: &Value) -> Result<String, FormatError> {
        let (bom, before) = split_bom(text);
        let mut expected = self.parse(before)?;
        let splices = match self {
            Self::Json | Self::JsonWithComments => json::insert(before, place, value)?,
            Self::Toml => toml::insert(before, place, value)?,
            Self::Yaml => yaml::insert(before, place, value)?,
        };
        if !splices.iter().all(|splice| splice.at.is_empty()) {
            return Err(FormatError::Layout);
        }
        let end = if self == Self::Yaml { ListEnd::First } else { ListEnd::Last };
        place.insert_into(&mut expected, value, end);
        let after = apply(before, splices).ok_or(FormatError::Layout)?;
        self.verify(&after, &expected)?;
        Ok(format!("{bom}{after}"))
    }

    /// `text` without the value at `place`.
    pub(crate) fn remove(self, text: &str, place: &Place) -> Result<String, FormatError> {
        let (bom, before) = split_bom(text);
        let mut expected = self.parse(before)?;
        let splices = match self {
            Self::Json | Self::JsonWithComments => json::remove(before, place)?,
            Self::Toml => toml::remove(before, place)?,
            Self::Yaml => yaml::remove(before, place)?,
        };
        place.remove_from(&mut expected);
        let after = apply(before, splices).ok_or(FormatError::Layout)?;
        self.verify(&after, &expected)?;
        Ok(format!("{bom}{after}"))
    }

    /// `text` without the mapping or list at `place`, if that is empty.
    pub(crate) fn remove_if_empty(self, text: &str, place: &Place) -> Result<String, FormatError> {
        let is_empty = match self.find(text, place)? {
            Some(Value::Object(fields)) => fields.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            _ => false,
        };
        if is_empty { self.remove(text, place) } else { Ok(text.into()) }
    }

    /// These values as the only content of a file.
    pub(crate) fn render<'a>(
        self,
        values: impl IntoIterator<Item = (&'a Place, &'a Value)>,
    ) -> Result<String, FormatError> {
        values.into_iter().try_fold(String::new(), |text, (place, value)| self.insert(&text, place, value))
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
        let path = &Place::field(&["mcp"], "slipstitch");
        for (format, text) in [
            (Format::Json, "{"),
            (Format::Json, "[]"),
            (Format::Json, "{\"mcp\": []}"),
            (Format::Json, "{\"mcp\": {}, \"mcp\": {}}"),
            (Format::Json, "{\"mcp\" {}}"),
            (Format::Toml, "[mcp"),
            (Format::Toml, "mcp = 3"),
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
            assert!(
                format.remove(text, &Place::field(&["mcp"], "slipstitch")).is_err(),
                "{format:?} {text:?}"
            );
        }
    }

    #[test]
    fn an_item_is_added_to_a_list_that_has_others() {
        let place = Place::item(&["mcp"], "slipstitch");
        let entry = serde_json::json!({"name": "slipstitch"});
        for (format, text) in [
            (Format::Json, "{\"mcp\": [{\"name\": \"a\"}]}"),
            (Format::Yaml, "mcp:\n    - name: a\n      args: [x]\n"),
            (Format::Yaml, "mcp: [{name: a}]\n"),
            (Format::Yaml, "mcp: [  {name: a} ]\n"),
        ] {
            let with = format.insert(text, &place, &entry).unwrap();
            assert_eq!(format.find(&with, &place), Ok(Some(entry.clone())));
            assert_eq!(format.remove(&with, &place).as_deref(), Ok(text));
        }
    }

    #[test]
    fn keeps_the_byte_order_mark() {
        let path = &Place::field(&["mcp"], "slipstitch");
        let entry = serde_json::json!({"command": "x"});
        for (format, text) in [(Format::Json, "{}\n"), (Format::Toml, "a = 1\n"), (Format::Yaml, "a: 1\n")] {
            let text = format!("{BOM}{text}");
            let with = format.insert(&text, path, &entry).unwrap();
            assert!(with.starts_with(BOM) && with.matches(BOM).count() == 1, "{with:?}");
            assert_eq!(format.find(&with, path), Ok(Some(entry.clone())));
        }
    }
}
