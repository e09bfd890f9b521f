//! Puts one entry into a host's file, or takes it out, and leaves every other byte as it is.
//!
//! Each form has a file that finds the place. Whatever it makes is read again by a real parser and compared:
//! the file must say what it said before, and the one entry besides. What does not is not written.

mod json;
mod toml;
mod yaml;

use serde_json::{Map, Value};

/// How a host writes its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON; comments are left alone, but the host may not read them.
    Json,
    /// JSON with comments and commas at the end.
    JsonWithComments,
    Toml,
    Yaml,
}

/// Why a file is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unsafe(pub(super) String);

/// An entry's place: the key of the servers, and its name.
pub(super) type Place<'a> = [&'a str; 2];

const BOM: &str = "\u{feff}";

impl Format {
    /// The entry at `place`, if there is one.
    pub(super) fn find(self, text: &str, place: Place<'_>) -> Result<Option<Value>, Unsafe> {
        let document = self.read(body(text))?;
        match document.get(place[0]) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(servers)) => Ok(servers.get(place[1]).cloned()),
            Some(_) => Err(Unsafe(format!("`{}` is not a table of servers", place[0]))),
        }
    }

    /// `text` with an entry that is not there yet.
    pub(super) fn with(self, text: &str, place: Place<'_>, entry: &Value) -> Result<String, Unsafe> {
        let before = body(text);
        let after = match self {
            Self::Json | Self::JsonWithComments => json::with(before, place, entry)?,
            Self::Toml => toml::with(before, place, entry),
            Self::Yaml => yaml::with(before, place, entry)?,
        };
        let mut wanted = self.read(before)?;
        let servers = wanted.entry(place[0]).or_insert(Value::Null);
        if servers.is_null() {
            *servers = Value::Object(Map::new());
        }
        if let Value::Object(servers) = servers {
            servers.insert(place[1].into(), entry.clone());
        }
        self.compare(&after, &wanted)?;
        Ok(format!("{}{after}", mark(text)))
    }

    /// `text` without the entry at `place`.
    pub(super) fn without(self, text: &str, place: Place<'_>) -> Result<String, Unsafe> {
        let before = body(text);
        let after = match self {
            Self::Json | Self::JsonWithComments => json::without(before, place)?,
            Self::Toml => toml::without(before, place),
            Self::Yaml => yaml::without(before, place)?,
        };
        let mut wanted = self.read(before)?;
        if let Some(Value::Object(servers)) = wanted.get_mut(place[0]) {
            servers.remove(place[1]);
        }
        self.compare(&after, &wanted)?;
        Ok(format!("{}{after}", mark(text)))
    }

    /// The entry as it would stand in a file of its own.
    pub(super) fn alone(self, place: Place<'_>, entry: &Value) -> Result<String, Unsafe> {
        self.with("", place, entry)
    }

    /// Whether the host can be expected to read `text`; a warning if not.
    pub(super) fn doubt(self, text: &str) -> Option<&'static str> {
        let plain = self != Self::Json || body(text).trim().is_empty();
        (!plain && serde_json::from_str::<Value>(body(text)).is_err()).then_some(
            "the file has comments or commas that plain JSON does not have; the host may not read them",
        )
    }

    fn read(self, text: &str) -> Result<Map<String, Value>, Unsafe> {
        match self {
            Self::Json | Self::JsonWithComments => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        }
    }

    /// A table of servers that became empty may be gone altogether.
    fn compare(self, after: &str, wanted: &Map<String, Value>) -> Result<(), Unsafe> {
        let full = |document: &Map<String, Value>| -> Map<String, Value> {
            let kept = document.iter().filter(|(_, value)| !value.as_object().is_some_and(Map::is_empty));
            kept.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        match self.read(after) {
            Ok(found) if full(&found) == full(wanted) => Ok(()),
            _ => Err(Unsafe("the file is written in a way that cannot be added to safely".into())),
        }
    }
}

/// The text after a byte order mark.
fn body(text: &str) -> &str {
    text.strip_prefix(BOM).unwrap_or(text)
}

fn mark(text: &str) -> &str {
    if text.starts_with(BOM) { BOM } else { "" }
}

/// The line end that most lines have.
fn newline(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    let with_return = text.matches("\r\n").count();
    if with_return > 0 && with_return * 2 >= all { "\r\n" } else { "\n" }
}

/// The blanks that the line of `at` starts with.
fn indentation(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only blanks stand before `at` in its line.
fn first_in_line(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..at].chars().all(|character| character == ' ' || character == '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_end_of_most_lines_is_taken() {
        assert_eq!(newline(""), "\n");
        assert_eq!(newline("a\nb\r\n"), "\r\n");
        assert_eq!(newline("a\nb\nc\r\n"), "\n");
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        let place = ["mcp", "slipstitch"];
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
        ] {
            let refused = format.find(text, place).and_then(|_| format.with(text, place, &Value::Bool(true)));
            assert!(refused.is_err(), "{format:?} {text:?}: {refused:?}");
        }
    }

    #[test]
    fn a_mark_at_the_start_stays_there() {
        let place = ["mcp", "slipstitch"];
        let entry = serde_json::json!({"command": "x"});
        for (format, text) in [(Format::Json, "{}\n"), (Format::Toml, "a = 1\n"), (Format::Yaml, "a: 1\n")] {
            let text = format!("{BOM}{text}");
            let with = format.with(&text, place, &entry).unwrap();
            assert!(with.starts_with(BOM) && with.matches(BOM).count() == 1, "{with:?}");
            assert_eq!(format.find(&with, place), Ok(Some(entry.clone())));
        }
    }
}
