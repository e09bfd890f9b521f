//! JSON Schemas from types, in the plain form that every provider accepts.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The schemas generated so far. There is one per tool, and every call needs one.
static CACHE: RwLock<BTreeMap<TypeId, &'static Value>> = RwLock::new(BTreeMap::new());

/// The schema of `T`, without references, `null` types and number formats.
///
/// It does not forbid other fields with `additionalProperties: false`: a client that checks calls itself would refuse an
/// unknown field before our answer can name the right one, and some clients cannot convert such a schema. Unknown fields
/// are refused when a call is parsed.
pub fn of<T: JsonSchema + 'static>() -> &'static Value {
    let id = TypeId::of::<T>();
    if let Some(schema) = CACHE.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
        return schema;
    }
    let mut cache = CACHE.write().unwrap_or_else(PoisonError::into_inner);
    cache.entry(id).or_insert_with(|| Box::leak(Box::new(generate::<T>())))
}

fn generate<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    // Without it, nothing says that a tool has no fields, and some providers reject the schema.
    if let Value::Object(map) = &mut schema {
        map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

fn simplify(schema: &mut Value) {
    if let Value::Object(map) = schema {
        for key in ["$schema", "title", "format"] {
            map.remove(key);
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
