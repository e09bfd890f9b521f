//! JSON Schemas from types, in the plain form that every provider accepts.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// The schemas generated so far. There is one per tool, and every call needs one.
static CACHE: RwLock<BTreeMap<TypeId, &'static Value>> = RwLock::new(BTreeMap::new());

/// The schema of `T`, without references and number formats.
///
/// Every optional field also accepts `null`: some providers make models send all fields, and a model that cannot say
/// "none" sends a placeholder. Choices are the exception, because some converters cannot represent `null` among them; a
/// field with choices always has a default that a model can name.
///
/// It does not forbid other fields with `additionalProperties: false`: a client that checks calls itself would refuse an
/// unknown field before our answer can name the right one, and some clients cannot convert such a schema. Unknown fields
/// are refused when a call is parsed.
pub fn of<T: JsonSchema + 'static>() -> &'static Value {
    cached(TypeId::of::<T>(), SchemaGenerator::into_root_schema_for::<T>)
}

/// Not generic, so that it is compiled once and not for every tool.
fn cached(id: TypeId, root_schema: fn(SchemaGenerator) -> Schema) -> &'static Value {
    if let Some(schema) = CACHE.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
        return schema;
    }
    let mut cache = CACHE.write().unwrap_or_else(PoisonError::into_inner);
    cache.entry(id).or_insert_with(|| Box::leak(Box::new(generate(root_schema))))
}

fn generate(root_schema: fn(SchemaGenerator) -> Schema) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = root_schema(settings.into_generator()).to_value();
    simplify(&mut schema);
    allow_null(&mut schema);
    if let Value::Object(map) = &mut schema {
        // The comment on the type is for its readers; the tool has a description for models.
        map.remove("description");
        // Without it, nothing says that a tool has no fields, and some providers reject the schema.
        map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// The keyword with which a type marks a field that is accepted, but listed only on request.
pub const UNLISTED: &str = "x-unlisted";

/// Which fields of a tool are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListedFields {
    /// Those that models use often. A list is sent with every request to a model, so each field has a price.
    #[default]
    Common,
    /// All of them.
    All,
}

/// A schema as models get it: without the lower limits of numbers, which the descriptions and our errors state better, and
/// without rarely used fields unless all are wanted. A range with both ends stays: it defines what the number means.
pub(super) fn listed(schema: &Value, fields: ListedFields) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let mut listed = map.clone();
    listed.remove(UNLISTED);
    if !listed.contains_key("maximum") {
        listed.remove("minimum");
    }
    if let Some(Value::Object(known)) = listed.get_mut("properties") {
        known.retain(|_, field| fields == ListedFields::All || field.get(UNLISTED).is_none());
        known.values_mut().for_each(|field| *field = self::listed(field, fields));
    }
    if let Some(items) = listed.get_mut("items") {
        *items = self::listed(items, fields);
    }
    Value::Object(listed)
}

/// Adds `null` to the type of every optional field.
fn allow_null(schema: &mut Value) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let Some(Value::Object(fields)) = schema.get_mut("properties") else { return };
    for (name, field) in fields {
        allow_null(field);
        if let Some(items) = field.get_mut("items") {
            allow_null(items);
        }
        let is_required = required.iter().any(|other| other == name.as_str());
        if !is_required && field.get("enum").is_none() && field["type"].is_string() {
            field["type"] = Value::Array(vec![field["type"].take(), "null".into()]);
        }
    }
}

/// The type of a field, apart from `null`; empty if it has none.
pub(super) fn type_of(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(name) => name,
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default()
        }
        _ => "",
    }
}

/// Joins the wrapped lines of a doc comment. Line breaks before list items and paragraphs stay.
fn unwrap(comment: &str) -> String {
    let mut lines = comment.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let is_wrapped = !(line.is_empty() || line.starts_with("- ") || out.ends_with('\n'));
        out.push(if is_wrapped { ' ' } else { '\n' });
        out.push_str(line);
    }
    out
}

fn simplify(schema: &mut Value) {
    if let Value::Object(map) = schema {
        for key in ["$schema", "title", "format"] {
            map.remove(key);
        }
        if let Some(Value::String(description)) = map.get_mut("description") {
            *description = unwrap(description);
        }
        if map.get("default").is_some_and(Value::is_null) {
            map.remove("default");
        }
        if let Some(Value::Array(types)) = map.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                map.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(choices)) = map.get_mut("enum") {
            choices.retain(|choice| !choice.is_null());
        }
        if let Some(Value::Object(fields)) = map.get_mut("properties") {
            fields.values_mut().for_each(simplify);
        }
        if let Some(items) = map.get_mut("items") {
            simplify(items);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_comments_are_joined() {
        assert_eq!(unwrap("one\ntwo three\nfour"), "one two three four");
        assert_eq!(unwrap("modes:\n- a\n- b, which\nwraps"), "modes:\n- a\n- b, which wraps");
        assert_eq!(unwrap("first\n\nsecond\nline"), "first\n\nsecond line");
        assert_eq!(unwrap(""), "");
    }
}
