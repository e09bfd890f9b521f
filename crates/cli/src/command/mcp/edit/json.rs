//! JSON, with or without comments and commas at the end.

use jsonc_parser::ast::{self, Object, ObjectProp};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Number, Value};

use super::{Place, Unsafe, first_in_line, indentation, newline};

/// What the indentation is made of where the file does not show it.
const UNIT: &str = "  ";

/// Reads a document; one without a value is empty.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, Unsafe> {
    match parse(text)? {
        None => Ok(Map::new()),
        Some(value) => match convert(&value)? {
            Value::Object(fields) => Ok(fields),
            _ => Err(Unsafe("the file holds no JSON object".into())),
        },
    }
}

/// `text` with one more property.
pub(super) fn with(text: &str, place: Place<'_>, entry: &Value) -> Result<String, Unsafe> {
    let [key, name] = place;
    let Some(value) = parse(text)? else { return Ok(whole(text, place, entry)) };
    let root = object(&value, "the file")?;
    let (into, name, value) = match root.get(key) {
        Some(servers) => (object(&servers.value, key)?, name, entry.clone()),
        None => (root, key, serde_json::json!({name: entry})),
    };
    Ok(Page::of(text, root).add(into, name, &value))
}

/// `text` without a property.
pub(super) fn without(text: &str, place: Place<'_>) -> Result<String, Unsafe> {
    let value = parse(text)?.ok_or_else(|| Unsafe("the file is empty".into()))?;
    let servers = object(&value, "the file")?.get(place[0]);
    let servers = servers.ok_or_else(|| Unsafe(format!("there is no `{}`", place[0])))?;
    let servers = object(&servers.value, place[0])?;
    let at = servers.properties.iter().position(|property| property.name.as_str() == place[1]);
    at.map(|at| remove(text, servers, at)).ok_or_else(|| Unsafe(format!("there is no `{}`", place[1])))
}

fn parse(text: &str) -> Result<Option<ast::Value<'_>>, Unsafe> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    parsed.map(|parsed| parsed.value).map_err(|error| Unsafe(format!("it is not valid JSON: {error}")))
}

fn object<'a, 'b>(value: &'b ast::Value<'a>, what: &str) -> Result<&'b Object<'a>, Unsafe> {
    value.as_object().ok_or_else(|| Unsafe(format!("`{what}` is not a JSON object")))
}

/// The value as data. A field that is there twice is refused: which of them the host heeds is not known.
fn convert(value: &ast::Value<'_>) -> Result<Value, Unsafe> {
    Ok(match value {
        ast::Value::StringLit(text) => Value::String(text.value.to_string()),
        ast::Value::NumberLit(number) => {
            let read = number.value.parse::<Number>();
            Value::Number(read.map_err(|error| Unsafe(format!("`{}`: {error}", number.value)))?)
        }
        ast::Value::BooleanLit(truth) => Value::Bool(truth.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(list) => Value::Array(list.elements.iter().map(convert).collect::<Result<_, _>>()?),
        ast::Value::Object(object) => {
            let mut fields = Map::new();
            for property in &object.properties {
                let name = property.name.as_str().to_owned();
                if fields.insert(name.clone(), convert(&property.value)?).is_some() {
                    return Err(Unsafe(format!("`{name}` is there twice")));
                }
            }
            Value::Object(fields)
        }
    })
}

/// A file that has no value yet: blanks or comments, or nothing.
fn whole(text: &str, [key, name]: Place<'_>, entry: &Value) -> String {
    let end = newline(text);
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    let value = pretty(&serde_json::json!({key: {name: entry}}), UNIT, "", end);
    format!("{text}{gap}{value}{end}")
}

/// A file and the way in which it is written.
struct Page<'a> {
    text: &'a str,
    newline: &'static str,
    unit: &'a str,
    /// Whether all of it stands in one line.
    one_line: bool,
}

impl<'a> Page<'a> {
    fn of(text: &'a str, root: &Object<'_>) -> Self {
        let first = root.properties.first().map(|property| property.range.start);
        let unit = first.filter(|at| first_in_line(text, *at)).map(|at| indentation(text, at));
        Self {
            text,
            newline: newline(text),
            unit: unit.filter(|unit| !unit.is_empty()).unwrap_or(UNIT),
            one_line: first.is_some() && !root.text(text).contains('\n'),
        }
    }

    fn add(&self, into: &Object<'_>, name: &str, value: &Value) -> String {
        match into.properties.last() {
            Some(last) => self.add_after(into, last, name, value),
            None => self.add_first(into, name, value),
        }
    }

    fn add_after(&self, into: &Object<'_>, last: &ObjectProp<'_>, name: &str, value: &Value) -> String {
        let (text, end) = (self.text, last.range.end);
        let first = into.properties[0].range.start;
        let lines = text[into.range.start..first].contains('\n');
        let indent =
            indentation(text, if first_in_line(text, last.range.start) { last.range.start } else { first });
        let new = if lines {
            format!("{}{indent}{}", self.newline, self.property(name, value, indent))
        } else {
            format!(" {}", self.in_line(name, value))
        };
        let comma = after_comments(text, end);
        if text[comma..].starts_with(',') {
            let at = end_of_remark(text, comma + 1);
            return format!("{}{new},{}", &text[..at], &text[at..]);
        }
        let at = end_of_remark(text, end);
        format!("{},{}{new}{}", &text[..end], &text[end..at], &text[at..])
    }

    fn add_first(&self, into: &Object<'_>, name: &str, value: &Value) -> String {
        let text = self.text;
        let (start, end) = (into.range.start + 1, into.range.end - 1);
        let at = start + text[start..end].trim_end().len();
        if self.one_line {
            return format!("{}{}{}", &text[..at], self.in_line(name, value), &text[at..]);
        }
        let outer = indentation(text, into.range.start);
        let indent = format!("{outer}{}", self.unit);
        let property = self.property(name, value, &indent);
        let closing =
            if text[at..end].contains('\n') { String::new() } else { format!("{}{outer}", self.newline) };
        format!("{}{}{indent}{property}{closing}{}", &text[..at], self.newline, &text[at..])
    }

    fn property(&self, name: &str, value: &Value, indent: &str) -> String {
        format!("{}: {}", Value::from(name), pretty(value, self.unit, indent, self.newline))
    }

    fn in_line(&self, name: &str, value: &Value) -> String {
        format!("{}: {value}", Value::from(name))
    }
}

fn remove(text: &str, from: &Object<'_>, at: usize) -> String {
    let property = &from.properties[at];
    let start = text[..property.range.start].trim_end().len();
    let comma = after_comments(text, property.range.end);
    let has_comma = text[comma..].starts_with(',');
    if from.properties.len() == 1 {
        let end = if has_comma { comma + 1 } else { property.range.end };
        let left = format!("{}{}", &text[from.range.start + 1..start], &text[end..from.range.end - 1]);
        // Nothing but blanks is left: the braces close.
        let left = if left.trim().is_empty() { String::new() } else { left };
        return format!("{}{{{left}{}", &text[..from.range.start], &text[from.range.end - 1..]);
    }
    if has_comma {
        return format!("{}{}", &text[..start], &text[comma + 1..]);
    }
    // The last one without a comma: the comma before it goes too.
    let before = after_comments(text, from.properties[at - 1].range.end);
    format!("{}{}{}", &text[..before], &text[before + 1..start.max(before + 1)], &text[property.range.end..])
}

/// The place after blanks, line ends and comments.
fn after_comments(text: &str, mut at: usize) -> usize {
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            return at;
        };
        at += skipped;
    }
}

/// The end of a comment that ends the line of `at`; `at` if something else stands there.
fn end_of_remark(text: &str, at: usize) -> usize {
    let line = &text[at..at + text[at..].find('\n').unwrap_or(text.len() - at)];
    let shown = line.trim_end();
    if after_comments(shown, 0) == shown.len() { at + shown.len() } else { at }
}

fn pretty(value: &Value, unit: &str, indent: &str, newline: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    let written = serde::Serialize::serialize(value, &mut writer);
    debug_assert!(written.is_ok(), "data is written to memory");
    String::from_utf8_lossy(&bytes).replace('\n', &format!("{newline}{indent}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACE: Place<'static> = ["mcp", "slipstitch"];

    fn put(text: &str) -> String {
        with(text, PLACE, &json!({"on": true})).unwrap()
    }

    #[test]
    fn the_entry_is_written_as_the_file_is() {
        for (before, after) in [
            ("", "{\n  \"mcp\": {\n    \"slipstitch\": {\n      \"on\": true\n    }\n  }\n}\n"),
            ("{}", "{\n  \"mcp\": {\n    \"slipstitch\": {\n      \"on\": true\n    }\n  }\n}"),
            ("{\"mcp\":{}}", "{\"mcp\":{\"slipstitch\": {\"on\":true}}}"),
            ("{\"mcp\":{\"a\":1}}\n", "{\"mcp\":{\"a\":1, \"slipstitch\": {\"on\":true}}}\n"),
            (
                "{\n\t\"mcp\": {\n\t\t\"a\": 1\n\t}\n}\n",
                "{\n\t\"mcp\": {\n\t\t\"a\": 1,\n\t\t\"slipstitch\": {\n\t\t\t\"on\": true\n\t\t}\n\t}\n}\n",
            ),
            (
                "{\r\n  \"mcp\": {\r\n    \"a\": 1\r\n  }\r\n}",
                "{\r\n  \"mcp\": {\r\n    \"a\": 1,\r\n    \"slipstitch\": {\r\n      \"on\": true\r\n    }\r\n  }\r\n}",
            ),
            (
                "{\n  \"mcp\": {\n    \"a\": 1, // one, \"two\"\n  },\n}\n",
                "{\n  \"mcp\": {\n    \"a\": 1, // one, \"two\"\n    \"slipstitch\": {\n      \"on\": true\n    },\n  },\n}\n",
            ),
            (
                "{\n  \"mcp\": {\n    \"a\": 1 /* one */ // two\n    // three\n  }\n}\n",
                "{\n  \"mcp\": {\n    \"a\": 1, /* one */ // two\n    \"slipstitch\": {\n      \"on\": true\n    }\n    // three\n  }\n}\n",
            ),
            (
                "// none yet\n{\n  \"mcp\": {\n    // none\n  }\n}\n",
                "// none yet\n{\n  \"mcp\": {\n    // none\n    \"slipstitch\": {\n      \"on\": true\n    }\n  }\n}\n",
            ),
        ] {
            assert_eq!(put(before), after, "{before:?}");
        }
    }

    #[test]
    fn taking_it_out_is_the_way_back() {
        for before in [
            "{\n  \"mcp\": {}\n}\n",
            "{\"mcp\":{\"a\":1}}\n",
            "{\n\t\"mcp\": {\n\t\t\"a\": 1\n\t}\n}\n",
            "{\n  \"mcp\": {\n    \"a\": 1, // one\n  },\n}\n",
            "{\n  \"mcp\": {\n    \"a\": 1 /* one */ // two\n    // three\n  }\n}\n",
            "{\n  \"mcp\": {\n    // none\n  }\n}\n",
        ] {
            assert_eq!(without(&put(before), PLACE).unwrap(), before);
        }
    }

    #[test]
    fn an_entry_among_others_goes_alone() {
        for (before, after) in [
            ("{\"mcp\": {\"slipstitch\": 1, \"b\": 2}}", "{\"mcp\": { \"b\": 2}}"),
            ("{\"mcp\": {\"a\": 1, \"slipstitch\": 1, \"b\": 2}}", "{\"mcp\": {\"a\": 1, \"b\": 2}}"),
            (
                "{\n \"mcp\": {\n  \"a\": 1,\n  // ours\n  \"slipstitch\": 1\n }\n}",
                "{\n \"mcp\": {\n  \"a\": 1\n  // ours\n }\n}",
            ),
        ] {
            assert_eq!(without(before, PLACE).unwrap(), after);
        }
    }
}
