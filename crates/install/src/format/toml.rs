//! TOML: an entry is added as a table at the end of the file, or as a field if the servers are an inline table.
//!
//! toml_edit's parser says where tables and values are, and its encoder writes values. The edits are splices of the
//! text, because a `DocumentMut` does not keep CRLF line endings.

use std::ops::Range;

use serde::Serialize;
use serde_json::{Map, Value};
use slipstitch::core::text::Splice;
use toml_edit::{Document, InlineTable, Item, Key, Table};

use super::edit::{Leaf, Place, deletion, insertion};
use super::error::FormatError;
use super::layout::{dominant_newline, line_start, next_line_start};

const NAME: &str = "TOML";

pub(super) fn parse(text: &str) -> Result<Map<String, Value>, FormatError> {
    toml_edit::de::from_str(text).map_err(|error| syntax(text, error.message(), error.span()))
}

/// Adds a table at the end, or a field to an inline table. If the servers have another form, the result is not valid TOML, and
/// the caller's verification refuses it.
pub(super) fn insert(text: &str, place: &Place, entry: &Value) -> Result<Vec<Splice>, FormatError> {
    let (key, name) = table_path(place)?;
    let document = Document::parse(text).map_err(|error| syntax(text, error.message(), error.span()))?;
    if let Some(servers) = document.as_table().get(key).and_then(Item::as_inline_table) {
        return insert_inline(text, servers, &format!("{} = {}", Key::new(name), encode(entry)?));
    }
    let newline = dominant_newline(text);
    let gap = match text {
        "" => String::new(),
        text if text.ends_with("\n\n") || text.ends_with("\n\r\n") => String::new(),
        text if text.ends_with('\n') => newline.into(),
        _ => newline.repeat(2),
    };
    let mut table = format!("{gap}[{}.{}]{newline}", Key::new(key), Key::new(name));
    for (field, value) in entry.as_object().into_iter().flatten() {
        table.push_str(&format!("{} = {}{newline}", Key::new(field), encode(value)?));
    }
    Ok(vec![insertion(text.len(), table)])
}

/// Removes the entry's table and the tables in it, or its keys in the table of servers.
pub(super) fn remove(text: &str, place: &Place) -> Result<Vec<Splice>, FormatError> {
    let (key, name) = table_path(place)?;
    let document = Document::parse(text).map_err(|error| syntax(text, error.message(), error.span()))?;
    let servers = document.as_table().get(key).ok_or_else(|| FormatError::Missing(key.into()))?;
    if let Some(servers) = servers.as_inline_table() {
        return remove_inline(text, servers, name);
    }
    let servers = servers.as_table().ok_or(FormatError::Layout)?;
    let (name, entry) = servers.get_key_value(name).ok_or_else(|| FormatError::Missing(name.into()))?;
    let mut blocks = Vec::new();
    collect_blocks(text, name, entry, &mut blocks);
    blocks.sort_by_key(|block| block.start);
    Ok(blocks.into_iter().map(|block| deletion(with_blank_line_before(text, block))).collect())
}

/// Adds a field at the end of an inline table.
fn insert_inline(text: &str, table: &InlineTable, field: &str) -> Result<Vec<Splice>, FormatError> {
    let inside = inside_of(table)?;
    let content = text.get(inside.clone()).ok_or(FormatError::Layout)?;
    let at = inside.start + content.trim_end().len();
    let added = match content.trim() {
        "" if content.is_empty() => format!(" {field} "),
        "" => format!(" {field}"),
        _ => format!(", {field}"),
    };
    Ok(vec![insertion(at, added)])
}

/// Removes a field of an inline table with the comma before it, or after it if it is the first.
fn remove_inline(text: &str, table: &InlineTable, name: &str) -> Result<Vec<Splice>, FormatError> {
    let inside = inside_of(table)?;
    let (key, value) = table.get_key_value(name).ok_or_else(|| FormatError::Missing(name.into()))?;
    let (Some(key), Some(value)) = (key.span(), value.span()) else { return Err(FormatError::Layout) };
    let between = |range: Range<usize>| text.get(range).ok_or(FormatError::Layout);
    let before = between(inside.start..key.start)?.trim_end();
    let after = between(value.end..inside.end)?;
    let trimmed = after.trim_start();
    let (start, end) = match (before.strip_suffix(','), trimmed.strip_prefix(',')) {
        (Some(kept), _) => (inside.start + kept.len(), value.end),
        (None, Some(rest)) => (key.start, inside.end - rest.trim_start().len()),
        (None, None) => (inside.start, inside.end),
    };
    Ok(vec![deletion(start..end)])
}

/// What is between the braces of an inline table.
fn inside_of(table: &InlineTable) -> Result<Range<usize>, FormatError> {
    let span = table.span().filter(|span| span.len() >= 2).ok_or(FormatError::Layout)?;
    Ok(span.start + 1..span.end - 1)
}

/// The two keys of a table's header. No host needs another place in a TOML file.
fn table_path(place: &Place) -> Result<(&str, &str), FormatError> {
    match (place.parents.as_slice(), &place.leaf) {
        ([key], Leaf::Field(name)) => Ok((key, name)),
        _ => Err(FormatError::Layout),
    }
}

/// Collects the lines of an item and of everything in it.
fn collect_blocks(text: &str, key: &Key, item: &Item, blocks: &mut Vec<Range<usize>>) {
    match item {
        Item::None => {}
        Item::Value(value) => {
            if let (Some(key), Some(value)) = (key.span(), value.span()) {
                blocks.push(line_start(text, key.start)..next_line_start(text, value.end));
            }
        }
        Item::Table(table) => collect_table_blocks(text, table, blocks),
        Item::ArrayOfTables(tables) => {
            tables.iter().for_each(|table| collect_table_blocks(text, table, blocks));
        }
    }
}

/// A table with a header is one block, from the header to the last value. Comments after that belong to the next table.
fn collect_table_blocks(text: &str, table: &Table, blocks: &mut Vec<Range<usize>>) {
    let mut values = Vec::new();
    for (key, item) in table.iter().filter_map(|(name, item)| Some((table.key(name)?, item))) {
        let is_below_header = item.is_value() || item.as_table().is_some_and(Table::is_dotted);
        collect_blocks(text, key, item, if is_below_header { &mut values } else { blocks });
    }
    let has_header = !table.is_implicit() && !table.is_dotted();
    match table.span().filter(|_| has_header) {
        Some(header) => {
            let end = values.iter().map(|value| value.end).max();
            let end = end.unwrap_or_else(|| next_line_start(text, header.end));
            blocks.push(line_start(text, header.start)..end);
        }
        None => blocks.append(&mut values),
    }
}

/// Extends a block by the blank line before it, unless that line has to separate what remains.
fn with_blank_line_before(text: &str, block: Range<usize>) -> Range<usize> {
    let is_blank = |start: usize| text[start..next_line_start(text, start)].trim().is_empty();
    let previous = (block.start > 0).then(|| line_start(text, block.start - 1));
    match previous {
        Some(previous) if is_blank(previous) && is_blank(block.end) => previous..block.end,
        _ => block,
    }
}

fn encode(value: &Value) -> Result<toml_edit::Value, FormatError> {
    let encoded = value.serialize(toml_edit::ser::ValueSerializer::new());
    encoded.map_err(|error| FormatError::Inexpressible { format: NAME, reason: error.to_string() })
}

fn syntax(text: &str, message: &str, at: Option<Range<usize>>) -> FormatError {
    let line = at.and_then(|at| text.get(..at.start)).map(|before| before.matches('\n').count() + 1);
    let line = line.map_or(String::new(), |line| format!(" on line {line}"));
    FormatError::Syntax { format: NAME, reason: format!("{}{line}", message.replace('\n', ", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::edit::apply;
    use serde_json::json;

    fn place() -> Place {
        Place::field(&["mcp_servers"], "slipstitch")
    }

    const TABLE: &str =
        "[mcp_servers.slipstitch]\ncommand = \"slipstitch\"\nargs = [\"mcp\", \"--root\", '/a\"b']\n";

    fn add(text: &str) -> String {
        let entry = json!({"command": "slipstitch", "args": ["mcp", "--root", "/a\"b"]});
        apply(text, insert(text, &place(), &entry).unwrap()).unwrap()
    }

    fn take_out(text: &str) -> String {
        apply(text, remove(text, &place()).unwrap()).unwrap()
    }

    #[test]
    fn adds_a_table_at_the_end() {
        assert_eq!(add(""), TABLE);
        assert_eq!(add("a = 1"), format!("a = 1\n\n{TABLE}"));
        assert_eq!(add("a = 1 # x\n"), format!("a = 1 # x\n\n{TABLE}"));
        assert_eq!(add("a = 1\r\n"), format!("a = 1\r\n\r\n{}", TABLE.replace('\n', "\r\n")));
        assert_eq!(parse(TABLE).unwrap()["mcp_servers"]["slipstitch"]["args"][2], "/a\"b");
    }

    #[test]
    fn adds_to_and_removes_from_an_inline_table() {
        let entry = "slipstitch = { command = \"slipstitch\", args = [\"mcp\", \"--root\", '/a\"b'] }";
        for (before, after) in [
            ("mcp_servers = {}\n", format!("mcp_servers = {{ {entry} }}\n")),
            ("mcp_servers = { }\n", format!("mcp_servers = {{ {entry} }}\n")),
            (
                "mcp_servers = { o = { command = \"y\" } } # c\na = 1\n",
                format!("mcp_servers = {{ o = {{ command = \"y\" }}, {entry} }} # c\na = 1\n"),
            ),
            (
                "mcp_servers = {o = {command = \"y\"}}",
                format!("mcp_servers = {{o = {{command = \"y\"}}, {entry}}}"),
            ),
        ] {
            assert_eq!(add(before), after);
            let servers = |text: &str| parse(text).unwrap()["mcp_servers"].clone();
            assert_eq!(servers(&take_out(&after)), servers(before));
        }
        let first = format!("mcp_servers = {{ {entry}, o = {{ command = \"y\" }} }}\n");
        assert_eq!(take_out(&first), "mcp_servers = { o = { command = \"y\" } }\n");
        let between = format!("mcp_servers = {{ a = {{}}, {entry}, o = {{}} }}\n");
        assert_eq!(take_out(&between), "mcp_servers = { a = {}, o = {} }\n");
    }

    #[test]
    fn nested_tables_are_written_inline() {
        let entry = json!({"a b": 1, "": {}, "headers": {"X-Key": "x", "é": [{"k": true}]}});
        let text = apply("", insert("", &place(), &entry).unwrap()).unwrap();
        assert_eq!(parse(&text).unwrap()["mcp_servers"]["slipstitch"], entry, "{text}");
        assert!(text.contains("headers = { X-Key = \"x\", \"é\" = [{ k = true }] }\n"), "{text}");
    }

    #[test]
    fn every_string_is_encoded_exactly() {
        let strings = [
            "",
            "a\nb",
            "a\r\nb\n",
            "'\"\\",
            "'''\"\"\"\n",
            "\t\u{7f}\u{0}",
            "é\u{2028}",
            "2020-01-01",
            "true",
        ];
        for before in ["a = 1\n", "a = 1\r\n"] {
            for value in strings {
                let entry = json!({"command": value, "args": [value]});
                let after = apply(before, insert(before, &place(), &entry).unwrap()).unwrap();
                assert_eq!(parse(&after).unwrap()["mcp_servers"]["slipstitch"], entry, "{after:?}");
            }
        }
    }

    #[test]
    fn null_cannot_be_written() {
        let refused = insert("", &place(), &json!({"a": null}));
        assert!(matches!(refused, Err(FormatError::Inexpressible { .. })), "{refused:?}");
    }

    #[test]
    fn removing_an_added_entry_restores_the_file() {
        for before in [
            "",
            "a = 1\n",
            "a = 1\r\n",
            "a = 1\r\n[b]\n",
            "[mcp_servers.a]\ncommand = \"x\"\n# end\n",
            "[mcp_servers]\n# none\n",
        ] {
            assert_eq!(take_out(&add(before)), before);
        }
    }

    #[test]
    fn removes_nested_tables_and_nothing_else() {
        let text = "[mcp_servers.a]\nx = 1\n\n[mcp_servers.\"slipstitch\"] # ours\ncommand = \"slipstitch\"\n\n\
                    [mcp_servers.slipstitch.env]\nA = \"1\"\n\n# about b\n[mcp_servers.b]\n\
                    args = [\"[mcp_servers.slipstitch]\"]\n";
        let left =
            "[mcp_servers.a]\nx = 1\n\n# about b\n[mcp_servers.b]\nargs = [\"[mcp_servers.slipstitch]\"]\n";
        assert_eq!(take_out(text), left);
    }

    #[test]
    fn removes_entries_in_every_notation() {
        for (text, left) in [
            (
                "[mcp_servers]\na.x = 1\nslipstitch = { command = \"x\" } # ours\nb = {}\n",
                "[mcp_servers]\na.x = 1\nb = {}\n",
            ),
            (
                "[mcp_servers]\nslipstitch.command = \"x\"\n# kept\nslipstitch.env.A = \"1\"\na.x = 1\n",
                "[mcp_servers]\n# kept\na.x = 1\n",
            ),
            (
                "[mcp_servers.slipstitch]\nenv.A = \"1\"\nargs = [\n  \"mcp\",\n]\n\
                 [[mcp_servers.slipstitch.more]]\n[[mcp_servers.slipstitch.more]]\nx = 1\n[z]\n",
                "[z]\n",
            ),
            ("[mcp_servers.slipstitch.env]\nA = \"1\"\n\n[z]\n", "\n[z]\n"),
            ("mcp_servers.slipstitch.command = \"x\"\nmcp_servers.a.x = 1\n", "mcp_servers.a.x = 1\n"),
            ("mcp_servers = { slipstitch = {}, a = {} }", "mcp_servers = { a = {} }"),
        ] {
            assert_eq!(take_out(text), left);
        }
    }
}
