//! Arguments as models really send them: mended where there is one reading, else refused in words
//! that name the field, what was expected, and an example.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Dialect, Tool};
use crate::path::{FilePath, PathError};
use crate::report::{Report, Status};
use crate::snapshot::BadVersion;

/// Why a call could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// What is wrong, naming the field.
    pub message: String,
    /// What to send instead.
    pub hint: String,
    /// The code by which programs know it.
    pub code: &'static str,
    /// Invalid, or refused where the call makes sense but is not allowed.
    pub status: Status,
    /// The file that the call is about, where the caller should be told its current version.
    pub path: Option<FilePath>,
}

impl ParseError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
            code: "bad_request",
            status: Status::Invalid,
            path: None,
        }
    }

    /// A call that makes sense and that the settings do not allow.
    pub(super) fn refused(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, status: Status::Refused, ..Self::new(message, hint) }
    }

    /// The same, about a file.
    pub(super) fn about(self, path: &FilePath) -> Self {
        Self { path: Some(path.clone()), ..self }
    }
}

impl From<ParseError> for Report {
    fn from(error: ParseError) -> Self {
        Self::new(error.status, error.code, error.message).hint(error.hint)
    }
}

impl From<PathError> for ParseError {
    fn from(error: PathError) -> Self {
        let code = match error {
            PathError::Outside { .. } => "outside_root",
            PathError::Folder(_) => "is_a_folder",
            _ => "bad_path",
        };
        Self { code, ..Self::new(error.to_string(), error.hint()) }
    }
}

impl From<BadVersion> for ParseError {
    fn from(error: BadVersion) -> Self {
        Self::new(
            error.to_string(),
            "Send the version as the answer to a read or an edit gave it, or leave it out.",
        )
    }
}

/// Reads checked arguments into the tool's own type.
pub(super) fn read<T: DeserializeOwned>(fields: Value) -> Result<T, ParseError> {
    serde_path_to_error::deserialize(fields).map_err(|error| {
        let place = error.path().to_string();
        ParseError::new(format!("`{place}`: {}", error.into_inner()), "Correct that field.")
    })
}

/// Brings arguments into the form that the schema asks for, where what was meant is beyond doubt, and
/// says so. Placeholders for optional fields (`null`, `""`) are taken away without a word.
pub(super) fn mend(call: Value, schema: &Value, keeps_empty: &[&str], warnings: &mut Vec<String>) -> Value {
    let Value::Object(mut fields) = call else { return call };
    let Some(known) = schema["properties"].as_object() else { return Value::Object(fields) };
    plural_keys(&mut fields, known, warnings);
    let required = required(schema);
    fields.retain(|name, value| {
        let placeholder = value.is_null() || (value == "" && !keeps_empty.contains(&name.as_str()));
        !(placeholder && known.contains_key(name) && !required.contains(&name.as_str()))
    });
    for (name, value) in &mut fields {
        let Some(field) = known.get(name) else { continue };
        mend_value(name, value, field, warnings);
        match value {
            Value::Array(items) => {
                for item in items {
                    *item = mend(item.take(), &field["items"], keeps_empty, warnings);
                }
            }
            Value::Object(_) => *value = mend(value.take(), field, keeps_empty, warnings),
            _ => {}
        }
    }
    Value::Object(fields)
}

/// A call that is nothing but a text: the text of the one field that a tool for patches needs, or the
/// arguments as JSON in a text.
pub(super) fn lone_text(call: Value, tool: &Tool, warnings: &mut Vec<String>) -> Value {
    let (Value::String(text), Some(field)) = (&call, tool.text_field()) else { return call };
    if let Ok(object @ Value::Object(_)) = serde_json::from_str(text) {
        warnings.push("the arguments were sent as a text; it was read as JSON".into());
        return object;
    }
    serde_json::json!({ field: text })
}

/// `edit` for `edits`.
fn plural_keys(fields: &mut Map<String, Value>, known: &Map<String, Value>, warnings: &mut Vec<String>) {
    let singular: Vec<String> = fields.keys().filter(|name| !known.contains_key(*name)).cloned().collect();
    for name in singular {
        let plural = format!("{name}s");
        let takes_list = known.get(&plural).is_some_and(|field| field["type"] == "array");
        if takes_list
            && !fields.contains_key(&plural)
            && let Some(value) = fields.remove(&name)
        {
            warnings.push(format!("`{name}` was read as `{plural}`"));
            fields.insert(plural, value);
        }
    }
}

fn mend_value(name: &str, value: &mut Value, schema: &Value, warnings: &mut Vec<String>) {
    let wanted = schema["type"].as_str().unwrap_or_default();
    let read = match (wanted, &*value) {
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
    if let Some(read) = read {
        warnings.push(format!("`{name}` was sent as {}; it was read as {}", kind(value), article(wanted)));
        *value = read;
    }
}

fn required(schema: &Value) -> Vec<&str> {
    schema["required"].as_array().map_or(Vec::new(), |names| names.iter().filter_map(Value::as_str).collect())
}

/// Checks arguments against the tool's schema.
pub(super) fn check(call: &Value, schema: &Value, tool: &Tool, dialect: &Dialect) -> Result<(), ParseError> {
    check_object(call, schema, "", tool, dialect)
}

fn check_object(
    value: &Value,
    schema: &Value,
    place: &str,
    tool: &Tool,
    dialect: &Dialect,
) -> Result<(), ParseError> {
    let example = || format!("Example for `{}`: {}", tool.name, tool.example);
    let Some(fields) = value.as_object() else {
        let what = if place.is_empty() {
            format!("the arguments of `{}` are", tool.name)
        } else {
            format!("`{place}` is")
        };
        return Err(ParseError::new(format!("{what} {}; expected an object", kind(value)), example()));
    };
    let Some(known) = schema["properties"].as_object() else { return Ok(()) };
    let full = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    if let Some(name) = fields.keys().find(|name| !known.contains_key(*name)) {
        return Err(moved(name, tool, dialect).unwrap_or_else(|| {
            ParseError::new(
                format!("`{}` has no field `{}`", tool.name, full(name)),
                right_field(name, known, tool, dialect),
            )
        }));
    }
    let missing: Vec<String> = required(schema)
        .into_iter()
        .filter(|name| !fields.contains_key(*name))
        .map(|name| format!("`{}`", full(name)))
        .collect();
    if !missing.is_empty() {
        return Err(ParseError::new(format!("`{}` needs {}", tool.name, missing.join(" and ")), example()));
    }
    for (name, value) in fields {
        check_value(value, &known[name], &full(name), tool, dialect)?;
    }
    Ok(())
}

fn check_value(
    value: &Value,
    schema: &Value,
    place: &str,
    tool: &Tool,
    dialect: &Dialect,
) -> Result<(), ParseError> {
    let wanted = schema["type"].as_str().unwrap_or_default();
    let fits = match wanted {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => return check_object(value, schema, place, tool, dialect),
        _ => true,
    };
    let wrong = |expected: String| {
        let example = format!("Example for `{}`: {}", tool.name, tool.example);
        Err(ParseError::new(format!("`{place}` is {}; expected {expected}", kind(value)), example))
    };
    if !fits {
        return wrong(article(wanted));
    }
    if let Some(choices) = schema["enum"].as_array()
        && !choices.contains(value)
    {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        return wrong(format!("one of {}", choices.join(", ")));
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        return wrong(format!("a number not below {least}"));
    }
    if let (Some(most), Some(number)) = (schema["maximum"].as_f64(), value.as_f64())
        && number > most
    {
        return wrong(format!("a number not above {most}"));
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        check_value(item, &schema["items"], &format!("{place}[{number}]"), tool, dialect)?;
    }
    Ok(())
}

/// What a value is, in words.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() <= 30 => {
            format!("the text {}", Value::from(text.as_str()))
        }
        Value::String(_) => "a text".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn article(kind: &str) -> String {
    match kind {
        "string" => "a text".into(),
        "integer" => "a whole number".into(),
        "number" => "a number".into(),
        "boolean" => "true or false".into(),
        "array" => "a list".into(),
        "object" => "an object".into(),
        other => other.into(),
    }
}

/// Names that one thing has in different tool families. A name in two groups is looked up in both.
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

/// What the dialect itself says of a field that belongs to another of its tools.
fn moved(name: &str, tool: &Tool, dialect: &Dialect) -> Option<ParseError> {
    let moved = dialect.moved.iter().find(|moved| moved.from == tool.name && moved.fields.contains(&name))?;
    let example = dialect.tool(moved.to).map_or("", |to| to.example);
    Some(ParseError::new(moved.message, format!("Example for `{}`: {example}", moved.to)))
}

/// Which field, or which tool, the caller had in mind.
fn right_field(name: &str, known: &Map<String, Value>, tool: &Tool, dialect: &Dialect) -> String {
    let groups = SYNONYMS.iter().filter(|group| group.contains(&name));
    let synonyms: Vec<&str> = groups.copied().flatten().copied().collect();
    let same_thing =
        |fields: &Map<String, Value>| synonyms.iter().find(|other| fields.contains_key(**other)).copied();
    if let Some(right) = same_thing(known) {
        return format!("Here it is called `{right}`.");
    }
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    if let Some(right) = known.keys().find(|other| plain(other) == plain(name)) {
        return format!("Here it is called `{right}`.");
    }
    for other in dialect.tools.iter().filter(|other| other.name != tool.name) {
        let schema = (other.schema)();
        let Some(fields) = schema["properties"].as_object() else { continue };
        if fields.contains_key(name) || same_thing(fields).is_some() {
            let field = if fields.contains_key(name) { name } else { same_thing(fields).unwrap_or(name) };
            return format!("That belongs to the tool `{}` (its field `{field}`).", other.name);
        }
    }
    let holds = |schema: &Value| schema["items"]["properties"].get(name).is_some();
    if let Some((list, _)) = known.iter().find(|(_, schema)| holds(schema)) {
        return format!("It belongs into the items of the list `{list}`.");
    }
    let names: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
    format!("Its fields are {}.", names.join(", "))
}
