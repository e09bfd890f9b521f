//! Arguments as models really send them: mended where there is one reading, else refused in words
//! that name the field, what was expected, and an example.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Dialect, Tool};
use crate::plan::{ParseError, ParseProblem};

/// Reads checked arguments into the tool's own type.
pub fn read<T: DeserializeOwned>(fields: Value) -> Result<T, ParseError> {
    serde_path_to_error::deserialize(fields).map_err(|error| {
        let field = error.path().to_string();
        let reason = error.into_inner().to_string();
        ParseError::invalid(ParseProblem::FieldValue { field, reason }, "Correct that field.")
    })
}

/// Brings arguments into the form that the schema asks for, where what was meant is beyond doubt, and
/// says so. Placeholders for optional fields (`null`, `""`, `{}`) are taken away without a word.
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
    // After its own placeholders are gone, an object may hold nothing.
    let nothing = |value: &Value| value.as_object().is_some_and(Map::is_empty);
    fields.retain(|name, value| {
        !(nothing(value) && known.contains_key(name) && !required.contains(&name.as_str()))
    });
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
    let example = format!("Example for `{}`: {}", tool.name, (dialect.example)(tool, call));
    Check { tool, dialect, example }.object(call, schema, "")
}

/// The tool that a call is checked for, and what a wrong one is answered with.
struct Check<'a> {
    tool: &'a Tool,
    dialect: &'a Dialect,
    example: String,
}

impl Check<'_> {
    fn error(&self, problem: ParseProblem) -> ParseError {
        ParseError::invalid(problem, self.example.as_str())
    }

    fn object(&self, value: &Value, schema: &Value, place: &str) -> Result<(), ParseError> {
        let name = self.tool.name;
        let Some(fields) = value.as_object() else {
            let found = kind(value);
            return Err(self.error(match place {
                "" => ParseProblem::Arguments { tool: name.into(), found },
                place => ParseProblem::Field { field: place.into(), found, expected: article("object") },
            }));
        };
        let Some(known) = schema["properties"].as_object() else { return Ok(()) };
        let full = |field: &str| if place.is_empty() { field.to_owned() } else { format!("{place}.{field}") };
        if let Some(field) = fields.keys().find(|field| !known.contains_key(*field)) {
            return Err(moved(field, self.tool, self.dialect).unwrap_or_else(|| {
                let hint = right_field(field, known, self.tool, self.dialect);
                let problem = ParseProblem::UnknownField { tool: name.into(), field: full(field) };
                ParseError::invalid(problem, hint)
            }));
        }
        let missing: Vec<String> =
            required(schema).into_iter().filter(|field| !fields.contains_key(*field)).map(full).collect();
        if !missing.is_empty() {
            return Err(self.error(ParseProblem::MissingFields { tool: name.into(), fields: missing }));
        }
        fields.iter().try_for_each(|(field, value)| self.value(value, &known[field], &full(field)))
    }

    fn value(&self, value: &Value, schema: &Value, place: &str) -> Result<(), ParseError> {
        let wanted = schema["type"].as_str().unwrap_or_default();
        let fits = match wanted {
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => return self.object(value, schema, place),
            _ => true,
        };
        let wrong = |expected: String| {
            let (field, found) = (place.to_owned(), kind(value));
            Err(self.error(ParseProblem::Field { field, found, expected }))
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
            self.value(item, &schema["items"], &format!("{place}[{number}]"))?;
        }
        Ok(())
    }
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

/// Names of the ends of a range of lines.
const RANGE: &[&str] =
    &["start_line", "startLine", "line_start", "from_line", "end_line", "endLine", "line_end", "to_line"];

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
    let in_items = |exact: bool| {
        known.iter().find_map(|(list, schema)| {
            let fields = schema["items"]["properties"].as_object()?;
            match (fields.contains_key(name), same_thing(fields)) {
                (true, _) => Some(format!("It belongs into the items of the list `{list}`.")),
                (false, Some(field)) if !exact => Some(format!(
                    "It belongs into the items of the list `{list}`, where it is called `{field}`."
                )),
                _ => None,
            }
        })
    };
    if let Some(found) = in_items(true) {
        return found;
    }
    // A tool that takes one line is not the one for a range of them.
    let range = RANGE.contains(&name);
    for other in dialect.tools.iter().filter(|other| other.name != tool.name) {
        let schema = (other.schema)();
        let Some(fields) = schema["properties"].as_object() else { continue };
        // What changes files and what does not have names in common that mean other things.
        let akin = other.effect.leaves_files() == tool.effect.leaves_files();
        let there = fields.contains_key(name).then_some(name);
        if let Some(field) =
            there.or_else(|| same_thing(fields).filter(|field| akin && (!range || RANGE.contains(field))))
        {
            return format!("That belongs to the tool `{}` (its field `{field}`).", other.name);
        }
    }
    if let Some(found) = in_items(false) {
        return found;
    }
    let names: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
    format!("Its fields are {}.", names.join(", "))
}
