//! Turns JSON values into types, with errors that name the field: the arguments of tools, and settings.
//!
//! `serde_path_to_error` does the same for every format by wrapping the deserializer and each visitor, which generates most of
//! the code twice for each argument type.

use std::fmt::{self, Display};

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

/// Deserializes a JSON value.
pub fn deserialize<T: DeserializeOwned>(value: Value) -> Result<T, FieldError> {
    T::deserialize(Node(value))
}

/// Why a value does not fit, and where.
#[derive(Debug)]
pub struct FieldError {
    /// For example `edits[1].old_text`; empty if it is the whole value.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

impl FieldError {
    /// The same error for a value that has this one as its field `name`.
    #[must_use]
    pub fn in_field(mut self, name: &str) -> Self {
        let dot = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("{name}{dot}{}", self.field);
        self
    }
}

impl Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for FieldError {}

impl serde::de::Error for FieldError {
    fn custom<T: Display>(reason: T) -> Self {
        Self { field: String::new(), reason: reason.to_string() }
    }
}

struct Node(Value);

impl<'de> Deserializer<'de> for Node {
    type Error = FieldError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => {
                let mut items = Items { next: 0, rest: items.into_iter() };
                let value = visitor.visit_seq(&mut items)?;
                match items.rest.len() {
                    0 => Ok(value),
                    rest => Err(FieldError::invalid_length(items.next + rest, &"fewer elements in array")),
                }
            }
            Value::Object(fields) => visitor.visit_map(Fields::new(fields)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, FieldError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FieldError> {
        match self.0 {
            Value::String(variant) => visitor.visit_enum(StringDeserializer::new(variant)),
            Value::Object(fields) => visitor.visit_enum(MapAccessDeserializer::new(Fields::new(fields))),
            _ => Err(FieldError::custom("expected a string or an object")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct Items {
    next: usize,
    rest: std::vec::IntoIter<Value>,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = FieldError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, FieldError> {
        let Some(item) = self.rest.next() else { return Ok(None) };
        let item =
            seed.deserialize(Node(item)).map_err(|error| error.in_field(&format!("[{}]", self.next)))?;
        self.next += 1;
        Ok(Some(item))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Fields {
    rest: serde_json::map::IntoIter,
    /// The name and the value of the field whose name was returned last.
    current: Option<(String, Value)>,
}

impl Fields {
    fn new(fields: Map<String, Value>) -> Self {
        Self { rest: fields.into_iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Fields {
    type Error = FieldError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, FieldError> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        let key = seed.deserialize(StringDeserializer::new(name.clone()));
        let key = key.map_err(|error: FieldError| error.in_field(&name))?;
        self.current = Some((name, value));
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, FieldError> {
        let Some((name, value)) = self.current.take() else {
            return Err(FieldError::custom("a value was asked for before its key"));
        };
        seed.deserialize(Node(value)).map_err(|error| error.in_field(&name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Call {
        path: String,
        #[serde(default)]
        edits: Vec<Edit>,
        mode: Option<Mode>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Edit {
        line: u8,
        range: Option<(u32, u32)>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        Create,
        Append { times: u8 },
    }

    #[test]
    fn reads_what_serde_json_reads() {
        for value in [
            json!({"path": "a", "edits": [{"line": 1}, {"line": 2, "range": [3, 4]}], "mode": "create"}),
            json!({"path": "a", "mode": {"append": {"times": 3}}, "other": {"ignored": [1.5, -2, null]}}),
            json!({"path": "a", "mode": null}),
        ] {
            let read: Call = deserialize(value.clone()).unwrap();
            assert_eq!(read, serde_json::from_value(value).unwrap());
        }
    }

    #[test]
    fn errors_have_serde_json_s_words_and_name_the_field() {
        for (value, field) in [
            (json!({"path": 1}), "path"),
            (json!({}), ""),
            (json!([]), ""),
            (json!({"path": "a", "edits": [{"line": 1}, {"line": 300}]}), "edits[1].line"),
            (json!({"path": "a", "edits": [{"line": -1}]}), "edits[0].line"),
            (json!({"path": "a", "edits": [{"lines": 1}]}), "edits[0].lines"),
            (json!({"path": "a", "edits": [{"line": 1, "range": [1, "x"]}]}), "edits[0].range[1]"),
            (json!({"path": "a", "edits": {}}), "edits"),
            (json!({"path": "a", "mode": "delete"}), "mode"),
            (json!({"path": "a", "mode": {"append": {"times": "x"}}}), "mode.append.times"),
        ] {
            let error = deserialize::<Call>(value.clone()).unwrap_err();
            assert_eq!(error.field, field, "{value}");
            let expected = serde_json::from_value::<Call>(value).unwrap_err().to_string();
            assert_eq!(error.reason, expected);
        }
    }
}
