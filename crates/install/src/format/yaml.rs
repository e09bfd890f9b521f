//! YAML: an entry is added at the top of the block of servers, or inside its braces.
//!
//! saphyr's parser says where keys and values are. It keeps no comments, so the edits are splices of the text.

use std::ops::Range;

use saphyr::{LoadableYamlNode, MarkedYaml, Marker, Scalar, Yaml, YamlData};
use serde_json::{Map, Number, Value, json};
use slipstitch::core::text::Splice;

use super::edit::{Leaf, Place, deletion, insertion};
use super::error::FormatError;
use super::layout::{DEFAULT_INDENT, dominant_newline, line_start, next_line_start};

const NAME: &str = "YAML";

pub(super) fn parse(text: &str) -> Result<Map<String, Value>, FormatError> {
    let documents = Yaml::load_from_str(text).map_err(|error| syntax(&error))?;
    match documents.as_slice() {
        [] => Ok(Map::new()),
        [document] => match convert(document)? {
            Value::Object(fields) => Ok(fields),
            Value::Null => Ok(Map::new()),
            _ => Err(FormatError::NotAMapping("a YAML mapping")),
        },
        _ => Err(FormatError::SeveralDocuments),
    }
}

/// Adds a key to the mapping of servers or an item to the list of servers, and that to the document if it has none.
pub(super) fn insert(text: &str, place: &Place, entry: &Value) -> Result<Vec<Splice>, FormatError> {
    let [key] = place.parents.as_slice() else { return Err(FormatError::Layout) };
    let newline = dominant_newline(text);
    let gap = |before: &str| if before.is_empty() || before.ends_with('\n') { "" } else { newline };
    let block = |indent: &str| render_block(&place.leaf, entry, indent, newline);
    let Some(servers) = Servers::find(text, place, key)? else {
        let block = block(DEFAULT_INDENT);
        return Ok(vec![insertion(text.len(), format!("{}{key}:{newline}{block}", gap(text)))]);
    };
    let at = servers.next_line;
    Ok(vec![match servers.shape {
        Shape::Empty => insertion(at, format!("{}{}", gap(&text[..at]), block(DEFAULT_INDENT))),
        Shape::Block { column } => insertion(at, block(&" ".repeat(column))),
        Shape::Flow { open } => {
            let comma = if servers.entries.is_empty() { "" } else { ", " };
            insertion(open, format!("{}{comma}", render_flow(&place.leaf, entry)))
        }
    }])
}

/// Removes a key of the mapping of servers, an item of the list of servers, or a key of the document.
pub(super) fn remove(text: &str, place: &Place) -> Result<Vec<Splice>, FormatError> {
    let missing = |what: &str| FormatError::Missing(what.into());
    let name = place.leaf.name();
    let key = match place.parents.as_slice() {
        [] => return remove_line(text, name),
        [key] => key,
        _ => return Err(FormatError::Layout),
    };
    let servers = Servers::find(text, place, key)?.ok_or_else(|| missing(key))?;
    let entry = servers.entries.iter().find(|entry| entry.name == name).ok_or_else(|| missing(name))?;
    match servers.shape {
        Shape::Empty => Err(missing(name)),
        Shape::Flow { .. } => {
            let range = flow_range(text, entry).ok_or(FormatError::Layout)?;
            Ok(vec![deletion(range)])
        }
        Shape::Block { column } => {
            let mut splices = vec![deletion(block_range(text, entry, column))];
            if servers.entries.len() == 1 {
                // A key without a value is null, and hosts expect a mapping or a list.
                let empty = if place.is_field() { " {}" } else { " []" };
                splices.insert(0, insertion(servers.key_end, empty));
            }
            Ok(splices)
        }
    }
}

/// Removes the line of a key of the document whose value is empty.
fn remove_line(text: &str, key: &str) -> Result<Vec<Splice>, FormatError> {
    let documents = MarkedYaml::load_from_str(text).map_err(|error| syntax(&error))?;
    let Some(YamlData::Mapping(root)) = documents.first().map(|document| &document.data) else {
        return Err(FormatError::Missing(key.into()));
    };
    let found = root.keys().find(|node| string_of(node) == Some(key));
    let at = byte_offset(text, found.ok_or_else(|| FormatError::Missing(key.into()))?.span.start);
    Ok(vec![deletion(line_start(text, at)..next_line_start(text, at))])
}

/// The mapping or list of servers.
struct Servers {
    shape: Shape,
    /// The byte after the colon of its key.
    key_end: usize,
    /// Where the line after its key starts.
    next_line: usize,
    entries: Vec<Entry>,
}

/// How a mapping or list is written.
enum Shape {
    /// A key without a value.
    Empty,
    /// One key or item per line.
    Block { column: usize },
    /// `{…}` or `[…]`; `open` is the byte after the bracket.
    Flow { open: usize },
}

/// One server.
struct Entry {
    name: String,
    /// From its name to the end of its value.
    bytes: Range<usize>,
}

impl Servers {
    fn find(text: &str, place: &Place, key: &str) -> Result<Option<Self>, FormatError> {
        let documents = MarkedYaml::load_from_str(text).map_err(|error| syntax(&error))?;
        let Some(YamlData::Mapping(root)) = documents.first().map(|document| &document.data) else {
            return Ok(None);
        };
        let Some((node, value)) = root.iter().find(|(node, _)| string_of(node) == Some(key)) else {
            return Ok(None);
        };
        let name_end = byte_offset(text, node.span.end);
        let key_end = text[name_end..].find(':').map_or(name_end, |colon| name_end + colon + 1);
        let next_line = next_line_start(text, byte_offset(text, node.span.start));
        let (shape, entries) = match (&value.data, &place.leaf) {
            (YamlData::Value(Scalar::Null), _) => (Shape::Empty, Vec::new()),
            (YamlData::Mapping(servers), Leaf::Field(_)) => {
                let first = servers.keys().next().map(|first| first.span.start);
                let shape = match first {
                    Some(first) if first.line() > node.span.start.line() => {
                        Shape::Block { column: first.col() }
                    }
                    _ => flow_shape(text, value)?,
                };
                (shape, servers.iter().filter_map(|(name, value)| Entry::new(text, name, value)).collect())
            }
            (YamlData::Sequence(servers), Leaf::Item(_)) => {
                let first = servers.first().map(|first| first.span.start);
                let shape = match first {
                    Some(first) if first.line() > node.span.start.line() => {
                        Shape::Block { column: dash_column(text, byte_offset(text, first))? }
                    }
                    _ => flow_shape(text, value)?,
                };
                (shape, servers.iter().filter_map(|value| Entry::item(text, value)).collect())
            }
            _ => return Err(place.wrong_container(key)),
        };
        Ok(Some(Self { shape, key_end, next_line, entries }))
    }
}

impl Entry {
    fn new(text: &str, name: &MarkedYaml<'_>, value: &MarkedYaml<'_>) -> Option<Self> {
        let bytes = byte_offset(text, name.span.start)..end_of(text, value);
        Some(Self { name: string_of(name)?.to_owned(), bytes })
    }

    /// An item that is a string, or a mapping with a `name`.
    fn item(text: &str, value: &MarkedYaml<'_>) -> Option<Self> {
        let name = match &value.data {
            YamlData::Mapping(fields) => {
                let (_, name) = fields.iter().find(|(key, _)| string_of(key) == Some("name"))?;
                string_of(name)
            }
            _ => string_of(value),
        };
        Some(Self { name: name?.to_owned(), bytes: byte_offset(text, value.span.start)..end_of(text, value) })
    }
}

fn end_of(text: &str, value: &MarkedYaml<'_>) -> usize {
    let (start, end) = (byte_offset(text, value.span.start), byte_offset(text, value.span.end));
    // The parser's span of a flow collection ends before the closing bracket.
    end + usize::from(text[start..].starts_with(['{', '[']))
}

/// The column of the dash on the line of an item.
fn dash_column(text: &str, item: usize) -> Result<usize, FormatError> {
    let line = &text[line_start(text, item)..item];
    let column = line.len() - line.trim_start_matches(' ').len();
    // A dash on a line of its own would be left behind.
    if line[column..].trim_end() == "-" { Ok(column) } else { Err(FormatError::Layout) }
}

fn flow_shape(text: &str, value: &MarkedYaml<'_>) -> Result<Shape, FormatError> {
    let start = byte_offset(text, value.span.start);
    if text[start..].starts_with(['{', '[']) {
        Ok(Shape::Flow { open: start + 1 })
    } else {
        Err(FormatError::Layout)
    }
}

/// The lines of an entry in a block: the line of its name, and the lines below that are indented deeper.
fn block_range(text: &str, entry: &Entry, column: usize) -> Range<usize> {
    let start = line_start(text, entry.bytes.start);
    let mut end = next_line_start(text, entry.bytes.start);
    let mut next = end;
    for line in text[end..].split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        if !is_blank && line.len() - line.trim_start_matches(' ').len() <= column {
            break;
        }
        next += line.len();
        // Blank lines count only between lines of the entry.
        if !is_blank {
            end = next;
        }
    }
    start..end
}

/// An entry in braces, with one of the commas next to it.
fn flow_range(text: &str, entry: &Entry) -> Option<Range<usize>> {
    let Range { start, end } = entry.bytes;
    let (head, tail) = (text.get(..start)?, text.get(end..)?);
    if let Some(rest) = tail.trim_start().strip_prefix(',') {
        // One space, as `insert` adds it. More of them were there before.
        return Some(start..text.len() - rest.strip_prefix(' ').unwrap_or(rest).len());
    }
    Some(head.trim_end().strip_suffix(',').unwrap_or(head).len()..end)
}

/// The byte offset of a marker; the parser counts characters.
fn byte_offset(text: &str, marker: Marker) -> usize {
    text.char_indices().nth(marker.index()).map_or(text.len(), |(offset, _)| offset)
}

fn string_of<'a>(node: &'a MarkedYaml<'_>) -> Option<&'a str> {
    match &node.data {
        YamlData::Value(Scalar::String(text)) => Some(text),
        _ => None,
    }
}

fn convert(node: &Yaml<'_>) -> Result<Value, FormatError> {
    Ok(match node {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(boolean)) => Value::Bool(*boolean),
        Yaml::Value(Scalar::Integer(number)) => (*number).into(),
        Yaml::Value(Scalar::FloatingPoint(number)) => {
            Number::from_f64(number.into_inner()).map_or(Value::String(number.to_string()), Value::Number)
        }
        Yaml::Value(Scalar::String(text)) => Value::String(text.to_string()),
        Yaml::Sequence(items) => Value::Array(items.iter().map(convert).collect::<Result<_, _>>()?),
        Yaml::Mapping(fields) => {
            let mut map = Map::new();
            for (name, value) in fields {
                let name = match convert(name)? {
                    Value::String(name) => name,
                    other => format!("!{other}"),
                };
                map.insert(name, convert(value)?);
            }
            Value::Object(map)
        }
        Yaml::Tagged(tag, node) => json!({format!("!{tag}"): convert(node)?}),
        _ => return Err(FormatError::Incomparable("an invalid YAML value".into())),
    })
}

/// An entry in block style, one field per line.
fn render_block(leaf: &Leaf, entry: &Value, indent: &str, newline: &str) -> String {
    let inner = format!("{indent}{DEFAULT_INDENT}");
    let (mut text, mut start) = match leaf {
        Leaf::Field(name) => (format!("{indent}{name}:{newline}"), inner.clone()),
        Leaf::Item(_) => (String::new(), format!("{indent}- ")),
    };
    let Value::Object(fields) = entry else {
        return format!("{start}{}{newline}", render_scalar(entry));
    };
    for (field, value) in fields {
        let field = render_scalar(&Value::from(field.as_str()));
        match value {
            Value::Array(items) if !items.is_empty() => {
                text.push_str(&format!("{start}{field}:{newline}"));
                for item in items {
                    text.push_str(&format!("{inner}{DEFAULT_INDENT}- {}{newline}", render_scalar(item)));
                }
            }
            value => text.push_str(&format!("{start}{field}: {}{newline}", render_scalar(value))),
        }
        start.clone_from(&inner);
    }
    text
}

/// An entry inside brackets.
fn render_flow(leaf: &Leaf, entry: &Value) -> String {
    match leaf {
        Leaf::Field(name) => format!("{}: {entry}", Value::from(name.as_str())),
        Leaf::Item(_) => entry.to_string(),
    }
}

/// A value on one line: simple words without quotes, everything else as JSON, which is also YAML.
fn render_scalar(value: &Value) -> String {
    let is_simple = |text: &str| {
        let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
        text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "/_.- ,".contains(c))
            && !text.ends_with(' ')
            && !reserved.contains(&text.to_ascii_lowercase().as_str())
    };
    match value {
        Value::String(text) if is_simple(text) => text.clone(),
        other => other.to_string(),
    }
}

fn syntax(error: &saphyr::ScanError) -> FormatError {
    FormatError::Syntax { format: NAME, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::edit::apply;

    fn place() -> Place {
        Place::field(&["extensions"], "slipstitch")
    }

    fn entry() -> Value {
        json!({"enabled": true, "cmd": "slipstitch", "args": ["mcp", "--root", "/a"], "envs": {}})
    }

    fn add(text: &str) -> String {
        let after = apply(text, insert(text, &place(), &entry()).unwrap()).unwrap();
        assert_eq!(parse(&after).unwrap()["extensions"]["slipstitch"], entry(), "{after}");
        after
    }

    fn take_out(text: &str) -> String {
        apply(text, remove(text, &place()).unwrap()).unwrap()
    }

    #[test]
    fn adds_the_entry_at_the_top_of_the_block() {
        let block = "  slipstitch:\n    enabled: true\n    cmd: slipstitch\n    args:\n      - mcp\n      - \"--root\"\n      - /a\n    envs: {}\n";
        assert_eq!(add(""), format!("extensions:\n{block}"));
        assert_eq!(add("A: é"), format!("A: é\nextensions:\n{block}"));
        assert_eq!(add("extensions:\nA: 1\n"), format!("extensions:\n{block}A: 1\n"));
        let text = "# é\nA: 1\nextensions: # these\n  # one\n  a:\n    cmd: |\n      x\n\n  b: {}\nB: 2\n";
        let at = text.find("  # one").unwrap();
        assert_eq!(add(text), format!("{}{block}{}", &text[..at], &text[at..]));
        let text = "extensions:\r\n    a:\r\n        cmd: x\r\n";
        assert!(add(text).starts_with("extensions:\r\n    slipstitch:\r\n      enabled: true\r\n"));
        assert!(add("é: 1\nextensions: {}\n").starts_with("é: 1\nextensions: {\"slipstitch\": {"));
        assert!(add("extensions: {a: {cmd: x}}\n").ends_with(", a: {cmd: x}}\n"));
    }

    #[test]
    fn removing_an_added_entry_restores_the_file() {
        for before in [
            "extensions:\n  a:\n    cmd: x\nB: 2\n",
            "A: 1\nextensions: # these\n  # one\n  a:\n    cmd: |\n      x\n\n  b: {}\n",
            "extensions:\r\n  a:\r\n    cmd: x\r\n",
            "é: 1\nextensions: {}\n",
            "extensions: {a: {cmd: x}}\nB: 1",
        ] {
            assert_eq!(take_out(&add(before)), before);
        }
    }

    #[test]
    fn removing_the_only_entry_leaves_an_empty_mapping() {
        assert_eq!(take_out(&add("B: 1\nextensions:\n")), "B: 1\nextensions: {}\n");
        assert_eq!(take_out(&add("extensions: # mine\nB: 1\n")), "extensions: {} # mine\nB: 1\n");
    }

    #[test]
    fn removing_an_entry_keeps_its_neighbours() {
        for (before, after) in [
            (
                "extensions:\n  a: {}\n\n  slipstitch:\n    cmd: x\n\n    args: []\n\n  # about b\n  b: {}\n",
                "extensions:\n  a: {}\n\n\n  # about b\n  b: {}\n",
            ),
            ("extensions: {a: {}, slipstitch: {cmd: x}}\n", "extensions: {a: {}}\n"),
            ("extensions: {a: {}, slipstitch: {cmd: x}, b: 1}\n", "extensions: {a: {}, b: 1}\n"),
            ("extensions: {slipstitch: [é], \"b\": 1}\n", "extensions: {\"b\": 1}\n"),
        ] {
            assert_eq!(take_out(before), after);
        }
    }

    #[test]
    fn an_item_is_added_to_a_list_and_removed_again() {
        let place = Place::item(&["mcpServers"], "slipstitch");
        let entry = json!({"name": "slipstitch", "command": "slipstitch", "args": ["mcp"]});
        let block = |indent: &str| {
            format!(
                "{indent}- name: slipstitch\n{indent}  command: slipstitch\n{indent}  args:\n{indent}    - mcp\n"
            )
        };
        for (before, after) in [
            ("name: x\n", format!("name: x\nmcpServers:\n{}", block("  "))),
            (
                "mcpServers: # these\n  - name: a\n    command: b\n\nmodels: []\n",
                format!("mcpServers: # these\n{}  - name: a\n    command: b\n\nmodels: []\n", block("  ")),
            ),
            ("mcpServers:\n- name: a\n", format!("mcpServers:\n{}- name: a\n", block(""))),
            ("mcpServers: []\n", format!("mcpServers: [{entry}]\n")),
        ] {
            let added = apply(before, insert(before, &place, &entry).unwrap()).unwrap();
            assert_eq!(added, after);
            assert_eq!(place.find(&parse(&added).unwrap()), Ok(Some(entry.clone())));
            let removed = apply(&added, remove(&added, &place).unwrap()).unwrap();
            match before {
                "name: x\n" => assert_eq!(removed, "name: x\nmcpServers: []\n"),
                _ => assert_eq!(removed, before),
            }
        }
        assert_eq!(insert("mcpServers:\n  -\n    name: a\n", &place, &entry), Err(FormatError::Layout));
        let container = place.container().unwrap();
        let text = "name: x\nmcpServers: []\nz: 1\n";
        assert_eq!(apply(text, remove(text, &container).unwrap()).unwrap(), "name: x\nz: 1\n");
    }
}
