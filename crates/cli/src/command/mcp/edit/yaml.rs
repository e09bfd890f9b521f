//! YAML: an entry at the top of a block of servers, or inside its braces.

use std::ops::Range;

use saphyr::{LoadableYamlNode, MarkedYaml, Marker, Scalar, Yaml, YamlData};
use serde_json::{Map, Number, Value};

use super::{Place, Unsafe, newline};

/// What the indentation is made of where the file does not show it.
const UNIT: &str = "  ";

pub(super) fn read(text: &str) -> Result<Map<String, Value>, Unsafe> {
    let documents = Yaml::load_from_str(text).map_err(|error| invalid(&error))?;
    match documents.as_slice() {
        [] => Ok(Map::new()),
        [one] => match convert(one)? {
            Value::Object(fields) => Ok(fields),
            Value::Null => Ok(Map::new()),
            _ => Err(Unsafe("the file holds no YAML mapping".into())),
        },
        _ => Err(Unsafe("the file holds several YAML documents".into())),
    }
}

/// `text` with one more key.
pub(super) fn with(text: &str, [key, name]: Place<'_>, entry: &Value) -> Result<String, Unsafe> {
    let end = newline(text);
    let Some(servers) = servers(text, key)? else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        let block = block(name, entry, UNIT, end);
        return Ok(format!("{text}{gap}{key}:{end}{block}"));
    };
    let (head, tail) = text.split_at(servers.next_line);
    Ok(match servers.shape {
        Shape::Nothing => {
            let gap = if head.ends_with('\n') { "" } else { end };
            format!("{head}{gap}{}{tail}", block(name, entry, UNIT, end))
        }
        Shape::Block { column } => {
            format!("{head}{}{tail}", block(name, entry, &" ".repeat(column), end))
        }
        Shape::Braces { open, empty } => {
            let comma = if empty { "" } else { ", " };
            format!("{}{}: {entry}{comma}{}", &text[..open], Value::from(name), &text[open..])
        }
    })
}

/// `text` without a key of the block of servers.
pub(super) fn without(text: &str, [key, name]: Place<'_>) -> Result<String, Unsafe> {
    let servers = servers(text, key)?.ok_or_else(|| Unsafe(format!("there is no `{key}`")))?;
    let entry = servers.entries.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| Unsafe(format!("there is no `{name}`")))?;
    let column = match servers.shape {
        Shape::Block { column } => column,
        Shape::Braces { .. } => return Ok(without_braced(text, entry)),
        Shape::Nothing => return Err(Unsafe(format!("there is no `{name}`"))),
    };
    let line = entry.line;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let deeper =
        |text: &&&str| text.trim().is_empty() || text.len() - text.trim_start_matches(' ').len() > column;
    let mut end = line + lines[line..].iter().take_while(deeper).count();
    while lines.get(end - 1).is_some_and(|text| text.trim().is_empty()) {
        end -= 1;
    }
    let (mut head, tail) = (lines[..line - 1].concat(), lines[end..].concat());
    if servers.entries.len() == 1 {
        // A key without a value is nothing at all, and hosts expect a mapping there.
        let newline = newline(text);
        head = format!("{} {{}}{newline}", head.trim_end());
    }
    Ok(format!("{head}{tail}"))
}

/// Where the servers are.
struct Servers {
    shape: Shape,
    /// Where the line after their key starts.
    next_line: usize,
    entries: Vec<Entry>,
}

/// One server.
struct Entry {
    name: String,
    /// The line of its name, from 1.
    line: usize,
    /// From its name to the end of its value.
    bytes: Range<usize>,
}

enum Shape {
    /// A key without a value.
    Nothing,
    /// Keys one under the other.
    Block { column: usize },
    /// `{…}`; `open` is the place after the brace.
    Braces { open: usize, empty: bool },
}

fn servers(text: &str, key: &str) -> Result<Option<Servers>, Unsafe> {
    let documents = MarkedYaml::load_from_str(text).map_err(|error| invalid(&error))?;
    let Some(YamlData::Mapping(root)) = documents.first().map(|document| &document.data) else {
        return Ok(None);
    };
    let Some((head, value)) = root.iter().find(|(found, _)| name_of(found) == Some(key)) else {
        return Ok(None);
    };
    let next_line = start_of_line(text, head.span.start.line() + 1);
    let mut found = Vec::new();
    let shape = match &value.data {
        YamlData::Value(Scalar::Null) => Shape::Nothing,
        YamlData::Mapping(entries) => {
            found = entries.iter().filter_map(|(name, value)| entry_of(text, name, value)).collect();
            let first = entries.keys().next().map(|entry| entry.span.start);
            match first {
                Some(first) if first.line() > head.span.start.line() => Shape::Block { column: first.col() },
                _ => braces(text, value, entries.is_empty())?,
            }
        }
        _ => return Err(Unsafe(format!("`{key}` is not a mapping"))),
    };
    Ok(Some(Servers { shape, next_line, entries: found }))
}

fn braces(text: &str, value: &MarkedYaml<'_>, empty: bool) -> Result<Shape, Unsafe> {
    let start = byte_of(text, value.span.start);
    match text[start..].starts_with('{') {
        true => Ok(Shape::Braces { open: start + 1, empty }),
        false => Err(Unsafe("the servers are written in a way that cannot be added to".into())),
    }
}

fn entry_of(text: &str, name: &MarkedYaml<'_>, value: &MarkedYaml<'_>) -> Option<Entry> {
    let (start, end) = (byte_of(text, value.span.start), byte_of(text, value.span.end));
    // The parser's end of what is in brackets is the place before the closing one.
    let closing = usize::from(text[start..].starts_with(['{', '[']));
    Some(Entry {
        name: name_of(name)?.to_owned(),
        line: name.span.start.line(),
        bytes: byte_of(text, name.span.start)..end + closing,
    })
}

/// `text` without an entry inside braces, and without one of the commas beside it.
fn without_braced(text: &str, entry: &Entry) -> String {
    let (head, tail) = (&text[..entry.bytes.start], &text[entry.bytes.end..]);
    if let Some(tail) = tail.trim_start().strip_prefix(',') {
        return format!("{head}{}", tail.trim_start_matches(' '));
    }
    format!("{}{tail}", head.trim_end().strip_suffix(',').unwrap_or(head))
}

/// The parser counts in characters.
fn byte_of(text: &str, marker: Marker) -> usize {
    text.char_indices().nth(marker.index()).map_or(text.len(), |(at, _)| at)
}

fn name_of<'a>(node: &'a MarkedYaml<'_>) -> Option<&'a str> {
    match &node.data {
        YamlData::Value(Scalar::String(text)) => Some(text),
        _ => None,
    }
}

/// Where the line of that number, from 1, starts.
fn start_of_line(text: &str, number: usize) -> usize {
    text.split_inclusive('\n').take(number - 1).map(str::len).sum()
}

fn convert(node: &Yaml<'_>) -> Result<Value, Unsafe> {
    let strange = || Unsafe("it holds YAML that cannot be compared".into());
    Ok(match node {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(truth)) => Value::Bool(*truth),
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
        Yaml::Tagged(tag, node) => serde_json::json!({format!("!{tag}"): convert(node)?}),
        _ => return Err(strange()),
    })
}

/// A key and its fields, each in a line of its own.
fn block(name: &str, entry: &Value, indent: &str, newline: &str) -> String {
    let mut text = format!("{indent}{name}:{newline}");
    for (field, value) in entry.as_object().into_iter().flatten() {
        let field = plain(&Value::from(field.as_str()));
        match value {
            Value::Array(items) if !items.is_empty() => {
                text.push_str(&format!("{indent}{UNIT}{field}:{newline}"));
                for item in items {
                    text.push_str(&format!("{indent}{UNIT}{UNIT}- {}{newline}", plain(item)));
                }
            }
            value => text.push_str(&format!("{indent}{UNIT}{field}: {}{newline}", plain(value))),
        }
    }
    text
}

/// A value in one line: words without quotes, everything else as in JSON, which is YAML too.
fn plain(value: &Value) -> String {
    let word = |text: &str| {
        let other = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
        text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "/_.- ,".contains(c))
            && !text.ends_with(' ')
            && !other.contains(&text.to_ascii_lowercase().as_str())
    };
    match value {
        Value::String(text) if word(text) => text.clone(),
        other => other.to_string(),
    }
}

fn invalid(error: &saphyr::ScanError) -> Unsafe {
    Unsafe(format!("it is not valid YAML: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACE: Place<'static> = ["extensions", "slipstitch"];

    fn entry() -> Value {
        json!({"enabled": true, "cmd": "slipstitch", "args": ["mcp", "--root", "/a"], "envs": {}})
    }

    fn put(text: &str) -> String {
        let after = with(text, PLACE, &entry()).unwrap();
        assert_eq!(read(&after).unwrap()["extensions"]["slipstitch"], entry(), "{after}");
        after
    }

    #[test]
    fn the_entry_goes_to_the_top_of_its_block() {
        let block = "  slipstitch:\n    enabled: true\n    cmd: slipstitch\n    args:\n      - mcp\n      - \"--root\"\n      - /a\n    envs: {}\n";
        assert_eq!(put(""), format!("extensions:\n{block}"));
        assert_eq!(put("A: é"), format!("A: é\nextensions:\n{block}"));
        assert_eq!(put("extensions:\nA: 1\n"), format!("extensions:\n{block}A: 1\n"));
        let text = "# é\nA: 1\nextensions: # these\n  # one\n  a:\n    cmd: |\n      x\n\n  b: {}\nB: 2\n";
        let at = text.find("  # one").unwrap();
        assert_eq!(put(text), format!("{}{block}{}", &text[..at], &text[at..]));
        let text = "extensions:\r\n    a:\r\n        cmd: x\r\n";
        assert!(put(text).starts_with("extensions:\r\n    slipstitch:\r\n      enabled: true\r\n"));
        assert!(put("é: 1\nextensions: {}\n").starts_with("é: 1\nextensions: {\"slipstitch\": {"));
        assert!(put("extensions: {a: {cmd: x}}\n").ends_with(", a: {cmd: x}}\n"));
    }

    #[test]
    fn taking_it_out_is_the_way_back() {
        for before in [
            "extensions:\n  a:\n    cmd: x\nB: 2\n",
            "A: 1\nextensions: # these\n  # one\n  a:\n    cmd: |\n      x\n\n  b: {}\n",
            "extensions:\r\n  a:\r\n    cmd: x\r\n",
            "é: 1\nextensions: {}\n",
            "extensions: {a: {cmd: x}}\nB: 1",
        ] {
            assert_eq!(without(&put(before), PLACE).unwrap(), before);
        }
    }

    #[test]
    fn the_last_one_leaves_an_empty_mapping() {
        assert_eq!(without(&put("B: 1\nextensions:\n"), PLACE).unwrap(), "B: 1\nextensions: {}\n");
    }
}
