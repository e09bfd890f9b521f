//! Schemas from types, in the plain form that every provider takes.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Schemas that were made already. There are as many as there are tools, and every call needs one.
static MADE: RwLock<BTreeMap<TypeId, &'static Value>> = RwLock::new(BTreeMap::new());

/// The schema of `T`: nothing by reference, no `null` beside a type, no number formats, no fields
/// but its own.
pub fn of<T: JsonSchema + 'static>() -> &'static Value {
    let kind = TypeId::of::<T>();
    if let Some(made) = MADE.read().unwrap_or_else(PoisonError::into_inner).get(&kind) {
        return made;
    }
    let mut all = MADE.write().unwrap_or_else(PoisonError::into_inner);
    all.entry(kind).or_insert_with(|| Box::leak(Box::new(made_of::<T>())))
}

fn made_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    schema
}

fn plain(schema: &mut Value) {
    if let Value::Object(map) = schema {
        for key in ["$schema", "title", "format"] {
            map.remove(key);
        }
        if map.get("default").is_some_and(Value::is_null) {
            map.remove("default");
        }
        if let Some(Value::Array(kinds)) = map.get_mut("type") {
            kinds.retain(|kind| kind != "null");
            if let [only] = kinds.as_slice() {
                let only = only.clone();
                map.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(choices)) = map.get_mut("enum") {
            choices.retain(|choice| !choice.is_null());
        }
        if let Some(Value::Object(fields)) = map.get_mut("properties") {
            fields.values_mut().for_each(plain);
            map.insert("additionalProperties".into(), false.into());
        }
        if let Some(items) = map.get_mut("items") {
            plain(items);
        }
    }
}
