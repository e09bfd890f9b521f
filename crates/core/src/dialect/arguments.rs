//! Arguments as models really send them: repaired if only one interpretation is possible, otherwise refused with a message
//! that names the field, what was expected, and an example.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::schema::type_of;
use super::{Dialect, OtherName, Tool};
use crate::fields::{self, FieldError};
use crate::plan::{ParseError, ParseProblem};
use slipstitch_text::display::{join_items, quote_names};

/// Deserializes checked arguments into the tool's own type.
pub fn read<T: DeserializeOwned>(fields: Value) -> Result<T, ParseError> {
    fields::deserialize(fields).map_err(|FieldError { field, reason }| {
        ParseError::invalid(ParseProblem::FieldValue { field, reason }, "Correct that field.")
    })
}

/// Converts arguments to the types in the schema where the meaning is clear, with a warning. Placeholders for optional
/// fields are removed without one.
pub(super) fn repair_arguments(
    call: Value,
    schema: &Value,
    empty_is_value: &[&str],
    warnings: &mut Vec<String>,
) -> Value {
    let Value::Object(mut fields) = call else { return call };
    let Some(known) = schema["properties"].as_object() else { return Value::Object(fields) };
    rename_singular_fields(&mut fields, known, warnings);
    let required = required(schema);
    fields.retain(|name, value| {
        let Some(field) = known.get(name) else { return true };
        let is_empty_value = value == "" && empty_is_value.contains(&name.as_str());
        is_empty_value || !is_placeholder(value, field) || required.contains(&name.as_str())
    });
    for (name, value) in &mut fields {
        let Some(field) = known.get(name) else { continue };
        repair_value(name, value, field, warnings);
        match value {
            Value::Array(items) => {
                for item in items {
                    *item = repair_arguments(item.take(), &field["items"], empty_is_value, warnings);
                }
            }
            Value::Object(_) => *value = repair_arguments(value.take(), field, empty_is_value, warnings),
            _ => {}
        }
    }
    // An object whose placeholders were removed may be empty now.
    let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
    fields.retain(|name, value| {
        !(is_empty(value) && known.contains_key(name) && !required.contains(&name.as_str()))
    });
    Value::Object(fields)
}

/// Whether a value stands for an optional field that is not used: `null`, `""`, a list or 0 where they cannot be values,
/// an object that has nothing but such values. Providers that make models send every field get them.
fn is_placeholder(value: &Value, schema: &Value) -> bool {
    match (value, type_of(schema)) {
        (Value::Null, _) => true,
        (Value::String(text), _) => text.is_empty(),
        (Value::Array(items), expected) => items.is_empty() && expected != "array",
        (Value::Number(number), expected) => {
            let is_too_small = schema["minimum"].as_f64().is_some_and(|min| min > 0.0);
            number.as_f64() == Some(0.0) && (is_too_small || expected == "boolean")
        }
        (Value::Object(fields), "object") => fields.values().all(is_blank),
        _ => false,
    }
}

/// Whether a value says nothing, whatever its type.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(fields) => fields.values().all(is_blank),
    }
}

/// Turns a call that is only a string into an object. The string is either the arguments as JSON, or the only required
/// field of a tool that takes patches.
pub(super) fn wrap_bare_text(call: Value, tool: &Tool, warnings: &mut Vec<String>) -> Value {
    let (Value::String(text), Some(field)) = (&call, tool.text_field()) else { return call };
    if let Ok(object @ Value::Object(_)) = serde_json::from_str(text) {
        warnings.push("the arguments were sent as a string, which was parsed as JSON".into());
        return object;
    }
    serde_json::json!({ field: text })
}

/// Renames `edit` to `edits`, if the tool has only the latter and it is a list.
fn rename_singular_fields(
    fields: &mut Map<String, Value>,
    known: &Map<String, Value>,
    warnings: &mut Vec<String>,
) {
    let singular: Vec<String> = fields.keys().filter(|name| !known.contains_key(*name)).cloned().collect();
    for name in singular {
        let plural = format!("{name}s");
        let is_list = known.get(&plural).is_some_and(|field| type_of(field) == "array");
        if is_list
            && !fields.contains_key(&plural)
            && let Some(value) = fields.remove(&name)
        {
            warnings.push(format!("`{name}` was read as `{plural}`"));
            fields.insert(plural, value);
        }
    }
}

fn repair_value(name: &str, value: &mut Value, schema: &Value, warnings: &mut Vec<String>) {
    let expected = type_of(schema);
    let repaired = match (expected, &*value) {
        ("array", Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_array),
        ("array", Value::Object(_)) => Some(Value::Array(vec![value.clone()])),
        ("object", Value::String(text)) => serde_json::from_str(text).ok().filter(Value::is_object),
        ("integer", Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        ("integer", Value::Number(number)) => {
            let whole = number.as_f64().filter(|n| number.is_f64() && n.fract() == 0.0 && n.abs() < 1e15);
            whole.map(|n| Value::from(n as i64))
        }
        ("number", Value::String(text)) => {
            text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from)
        }
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    };
    if let Some(repaired) = repaired {
        let (sent, expected) = (describe_value(value), describe_type(expected));
        warnings.push(format!("`{name}` was sent as {sent}; it was read as {expected}"));
        *value = repaired;
    }
}

fn required(schema: &Value) -> Vec<&str> {
    schema["required"].as_array().map_or(Vec::new(), |names| names.iter().filter_map(Value::as_str).collect())
}

/// Checks arguments against the tool's schema.
pub(super) fn check(call: &Value, schema: &Value, tool: &Tool, dialect: &Dialect) -> Result<(), ParseError> {
    let example = format!("Example for `{}`: {}", tool.name, (dialect.example)(tool, call));
    Checker { tool, dialect, example }.object(call, schema, "")
}

/// Checks the arguments of a call of one tool.
struct Checker<'a> {
    tool: &'a Tool,
    dialect: &'a Dialect,
    example: String,
}

impl Checker<'_> {
    fn error(&self, message: String) -> ParseError {
        ParseError::new(message, self.example.as_str())
    }

    fn object(&self, value: &Value, schema: &Value, place: &str) -> Result<(), ParseError> {
        let name = self.tool.name;
        let Some(fields) = value.as_object() else {
            let subject = match place {
                "" => format!("the arguments of `{name}` are"),
                place => format!("`{place}` is"),
            };
            return Err(self.error(format!("{subject} {}; expected an object", describe_value(value))));
        };
        let Some(known) = schema["properties"].as_object() else { return Ok(()) };
        let full_name =
            |field: &str| if place.is_empty() { field.to_owned() } else { format!("{place}.{field}") };
        let unknown: Vec<&String> = fields.keys().filter(|field| !known.contains_key(*field)).collect();
        if !unknown.is_empty() {
            let moved = unknown.iter().find_map(|field| moved_field_error(field, self.tool, self.dialect));
            return Err(moved.unwrap_or_else(|| self.unknown_fields(&unknown, known, place)));
        }
        let missing: Vec<String> = required(schema)
            .into_iter()
            .filter(|field| !fields.contains_key(*field))
            .map(|field| format!("`{}`", full_name(field)))
            .collect();
        if !missing.is_empty() {
            return Err(self.error(format!("`{name}` needs {}", missing.join(" and "))));
        }
        fields.iter().try_for_each(|(field, value)| self.value(value, &known[field], &full_name(field)))
    }

    /// The error for fields that the tool does not have: their names, what was probably meant, and what is accepted.
    fn unknown_fields(&self, unknown: &[&String], known: &Map<String, Value>, place: &str) -> ParseError {
        let prefix = if place.is_empty() { String::new() } else { format!("{place}.") };
        let names = quote_names(unknown.iter().map(|field| format!("{prefix}{field}")));
        let word = if unknown.len() == 1 { "field" } else { "fields" };
        let mut hint = String::new();
        for field in unknown {
            if let Some(suggestion) = suggest_field(field, known, place, self.tool, self.dialect) {
                let subject = if unknown.len() == 1 { String::new() } else { format!("`{field}`: ") };
                hint.push_str(&format!("{subject}{suggestion} "));
            }
        }
        let accepted = quote_names(known.keys());
        hint.push_str(&match (hint.is_empty(), place) {
            (true, "") => format!("Its fields are {accepted}."),
            (_, "") => format!("`{}` accepts {accepted}.", self.tool.name),
            (_, place) => format!("`{place}` accepts {accepted}."),
        });
        ParseError::new(format!("`{}` has no {word} {names}", self.tool.name), hint)
    }

    fn value(&self, value: &Value, schema: &Value, place: &str) -> Result<(), ParseError> {
        let expected = type_of(schema);
        let has_type = match expected {
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => return self.object(value, schema, place),
            _ => true,
        };
        let mismatch = |expected: String| {
            Err(self.error(format!("`{place}` is {}; expected {expected}", describe_value(value))))
        };
        if !has_type {
            return mismatch(describe_type(expected));
        }
        if let Some(choices) = schema["enum"].as_array()
            && !choices.contains(value)
        {
            return mismatch(format!("one of {}", join_items(choices)));
        }
        if let (Some(min), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
            && number < min
        {
            return mismatch(format!("a number of at least {min}"));
        }
        if let (Some(max), Some(number)) = (schema["maximum"].as_f64(), value.as_f64())
            && number > max
        {
            return mismatch(format!("a number of at most {max}"));
        }
        for (number, item) in value.as_array().into_iter().flatten().enumerate() {
            self.value(item, &schema["items"], &format!("{place}[{number}]"))?;
        }
        Ok(())
    }
}

/// A value, for a message.
fn describe_value(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() <= 30 => {
            format!("the string {}", Value::from(text.as_str()))
        }
        Value::String(_) => "a string".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// A type of JSON Schema, for a message.
fn describe_type(name: &str) -> String {
    match name {
        "string" => "a string".into(),
        "integer" => "an integer".into(),
        "number" => "a number".into(),
        "boolean" => "true or false".into(),
        "array" => "a list".into(),
        "object" => "an object".into(),
        other => other.into(),
    }
}

/// Names of the same field in different tool families. A name may be in two groups.
const SYNONYMS: &[&[&str]] = &[
    &[
        "path",
        "file_path",
        "filepath",
        "file",
        "filename",
        "file_name",
        "target",
        "target_file",
        "relative_path",
    ],
    &[
        "old_text",
        "old_string",
        "old_str",
        "oldText",
        "oldString",
        "old_snippet",
        "old",
        "search",
        "find",
        "original",
    ],
    &[
        "new_text",
        "new_string",
        "new_str",
        "newText",
        "newString",
        "new_snippet",
        "new",
        "replace",
        "replacement",
        "updated",
    ],
    &[
        "content",
        "contents",
        "new_content",
        "newContent",
        "file_text",
        "text",
        "insert_text",
        "body",
        "new_text",
        "new_string",
        "new_str",
        "new_snippet",
    ],
    &[
        "start_line",
        "startLine",
        "line_start",
        "from_line",
        "first_line",
        "line",
        "line_number",
        "insert_line",
        "offset",
    ],
    &["end_line", "endLine", "line_end", "to_line", "last_line"],
    &["replace_all", "replaceAll", "expected_replacements", "all"],
    &["version", "file_hash", "hash", "expected_hash", "sha256", "etag"],
    &["edits", "changes", "replacements", "operations", "patches"],
    &["patch", "diff", "input"],
    &["mode", "command", "operation", "action"],
    &["description", "explanation", "instructions", "reason", "summary"],
    &["dry_run", "dryRun", "preview", "preview_only", "check"],
    &["match_hint", "hint", "line_hint", "line_range", "range", "lines"],
    &["confirm_overwrite", "confirm", "confirmed", "force", "overwrite"],
];

/// Names of the start and end of a line range.
const RANGE: &[&str] =
    &["start_line", "startLine", "line_start", "from_line", "end_line", "endLine", "line_end", "to_line"];

/// Gives the fields that a dialect knows by another name their own name. A field that is sent under both names must have
/// the same value.
pub(super) fn rename_fields(call: &mut Value, tool: &Tool, dialect: &Dialect) -> Result<(), ParseError> {
    let Value::Object(fields) = call else { return Ok(()) };
    for OtherName { tool: _, other, field } in
        dialect.other_names.iter().filter(|name| name.tool == tool.name)
    {
        let Some(value) = fields.remove(*other) else { continue };
        let is_placeholder = |value: &Value| value.is_null() || value == "";
        match fields.get(*field).filter(|own| !is_placeholder(own)) {
            None => {
                fields.insert((*field).to_owned(), value);
            }
            Some(own) if *own == value || is_placeholder(&value) => {}
            Some(_) => {
                return Err(ParseError::new(
                    format!("`{field}` and `{other}` are the same field, with different values"),
                    format!("Send only `{field}`."),
                ));
            }
        }
    }
    Ok(())
}

/// The dialect's own error for a field that belongs to another of its tools.
fn moved_field_error(name: &str, tool: &Tool, dialect: &Dialect) -> Option<ParseError> {
    let moved =
        dialect.moved_fields.iter().find(|moved| moved.from == tool.name && moved.fields.contains(&name))?;
    let example = dialect.tool(moved.to).map_or("", |to| to.example);
    Some(ParseError::new(moved.message, format!("Example for `{}`: {example}", moved.to)))
}

/// A hint that names the field or the tool that the caller probably meant, if there is one.
fn suggest_field(
    name: &str,
    known: &Map<String, Value>,
    place: &str,
    tool: &Tool,
    dialect: &Dialect,
) -> Option<String> {
    let groups = SYNONYMS.iter().filter(|group| group.contains(&name));
    let synonyms: Vec<&str> = groups.copied().flatten().copied().collect();
    let find_synonym =
        |fields: &Map<String, Value>| synonyms.iter().find(|other| fields.contains_key(**other)).copied();
    if let Some(field) = find_synonym(known) {
        return Some(format!("Use `{field}` instead."));
    }
    let normalize = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    if let Some(field) = known.keys().find(|other| normalize(other) == normalize(name)) {
        return Some(format!("Use `{field}` instead."));
    }
    if !place.is_empty() && !(tool.schema)()["properties"][name].is_null() {
        return Some(format!("Send `{name}` beside the list, not in its items."));
    }
    let find_in_items = |exact: bool| {
        known.iter().find_map(|(list, schema)| {
            let fields = schema["items"]["properties"].as_object()?;
            match (fields.contains_key(name), find_synonym(fields)) {
                (true, _) => Some(format!("It belongs in the items of the list `{list}`.")),
                (false, Some(field)) if !exact => Some(format!(
                    "It belongs in the items of the list `{list}`, where it is called `{field}`."
                )),
                _ => None,
            }
        })
    };
    if let Some(found) = find_in_items(true) {
        return Some(found);
    }
    // A tool that takes a single line is no help for a line range.
    let is_range = RANGE.contains(&name);
    for other in dialect.tools.iter().filter(|other| other.name != tool.name) {
        let schema = (other.schema)();
        let Some(fields) = schema["properties"].as_object() else { continue };
        // Tools that change files and tools that read them use the same names with different meanings.
        let is_similar = other.effect.is_read_only() == tool.effect.is_read_only();
        let exact = fields.contains_key(name).then_some(name);
        let synonym =
            || find_synonym(fields).filter(|field| is_similar && (!is_range || RANGE.contains(field)));
        if let Some(field) = exact.or_else(synonym) {
            return Some(format!("Use the tool `{}` with `{field}`.", other.name));
        }
    }
    find_in_items(false)
}
