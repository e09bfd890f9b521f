//! An edit: the value it concerns, and the byte ranges it replaces. Everything outside them is copied unchanged.

use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value, json};
use slipstitch::core::text::{ShortBytes, Span, Splice, Splices};

use super::error::FormatError;

/// Where a value is in a document.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Place {
    /// The keys of the mappings and the list around it, outermost first.
    pub(crate) parents: Vec<String>,
    pub(crate) leaf: Leaf,
}

/// The place of a value in the innermost mapping or list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Leaf {
    /// The value of this key of a mapping.
    Field(String),
    /// The item of a list that is this string, or is a mapping with this `name`.
    Item(String),
}

/// Where a format adds items to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListEnd {
    First,
    Last,
}

impl Place {
    /// A field of the mapping below `parents`.
    pub(crate) fn field(parents: &[&str], key: &str) -> Self {
        Self { parents: owned(parents), leaf: Leaf::Field(key.into()) }
    }

    /// An item of the list below `parents`.
    pub(crate) fn item(parents: &[&str], name: &str) -> Self {
        Self { parents: owned(parents), leaf: Leaf::Item(name.into()) }
    }

    /// The place of the mapping or list that contains this one; `None` if that is the document.
    pub(crate) fn container(&self) -> Option<Self> {
        let (last, parents) = self.parents.split_last()?;
        Some(Self { parents: parents.to_vec(), leaf: Leaf::Field(last.clone()) })
    }

    /// The value here, if there is one.
    pub(super) fn find(&self, document: &Map<String, Value>) -> Result<Option<Value>, FormatError> {
        let mut fields = document;
        let mut parents = self.parents.iter().peekable();
        while let Some(key) = parents.next() {
            match fields.get(key) {
                None | Some(Value::Null) => return Ok(None),
                Some(Value::Object(inner)) if parents.peek().is_some() || self.is_field() => fields = inner,
                Some(Value::Array(items)) if parents.peek().is_none() && !self.is_field() => {
                    return Ok(items.iter().find(|item| self.leaf.matches(item)).cloned());
                }
                Some(_) => return Err(self.wrong_container(key)),
            }
        }
        match &self.leaf {
            Leaf::Field(key) => Ok(fields.get(key).cloned()),
            Leaf::Item(_) => Err(FormatError::Layout),
        }
    }

    /// Adds a value to data, with the mappings and the list around it.
    pub(super) fn insert_into(&self, document: &mut Map<String, Value>, value: &Value, end: ListEnd) {
        let Some((first, rest)) = self.parents.split_first() else {
            if let Leaf::Field(key) = &self.leaf {
                document.insert(key.clone(), value.clone());
            }
            return;
        };
        let inner = document.entry(first.as_str()).or_insert(Value::Null);
        if inner.is_null() {
            *inner = if rest.is_empty() && !self.is_field() { json!([]) } else { json!({}) };
        }
        match inner {
            Value::Object(fields) => {
                Self { parents: rest.to_vec(), leaf: self.leaf.clone() }.insert_into(fields, value, end);
            }
            Value::Array(items) => match end {
                ListEnd::First => items.insert(0, value.clone()),
                ListEnd::Last => items.push(value.clone()),
            },
            _ => {}
        }
    }

    /// Removes the value from data, but not what is around it.
    pub(super) fn remove_from(&self, document: &mut Map<String, Value>) {
        let mut fields = document;
        for key in &self.parents {
            match fields.get_mut(key) {
                Some(Value::Object(inner)) => fields = inner,
                Some(Value::Array(items)) => {
                    if let Some(at) = items.iter().position(|item| self.leaf.matches(item)) {
                        items.remove(at);
                    }
                    return;
                }
                _ => return,
            }
        }
        if let Leaf::Field(key) = &self.leaf {
            fields.shift_remove(key);
        }
    }

    /// The value, wrapped in those of its parents that come after the first `existing` ones.
    pub(super) fn wrap(&self, existing: usize, value: &Value) -> Value {
        let innermost = match &self.leaf {
            Leaf::Field(key) => json!({key: value}),
            Leaf::Item(_) => json!([value]),
        };
        self.parents[existing..].iter().rev().fold(innermost, |inner, key| json!({key: inner}))
    }

    pub(super) fn is_field(&self) -> bool {
        matches!(self.leaf, Leaf::Field(_))
    }

    /// The error for a parent that has a value of another kind.
    pub(super) fn wrong_container(&self, key: &str) -> FormatError {
        match self.leaf {
            Leaf::Item(_) if self.parents.last().is_some_and(|last| last == key) => {
                FormatError::NotAList(key.into())
            }
            _ => FormatError::NotServers(key.into()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys: Vec<&str> = self.parents.iter().map(String::as_str).collect();
        keys.push(self.leaf.name());
        formatter.write_str(&keys.join("."))
    }
}

impl Leaf {
    pub(super) fn matches(&self, item: &Value) -> bool {
        match self {
            Self::Field(_) => false,
            Self::Item(name) => {
                let found = item.as_str().or_else(|| item.get("name")?.as_str());
                found == Some(name.as_str())
            }
        }
    }

    /// The key or name, for messages.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Field(name) | Self::Item(name) => name,
        }
    }
}

fn owned(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|&key| key.to_owned()).collect()
}

pub(super) fn insertion(at: usize, text: impl Into<String>) -> Splice {
    Splice { at: Span::new(at, at), insert: text.into().into() }
}

pub(super) fn deletion(range: Range<usize>) -> Splice {
    Splice { at: Span::new(range.start, range.end), insert: ShortBytes::default() }
}

/// Applies splices; `None` if they overlap, or do not fit the text.
pub(super) fn apply(text: &str, splices: Vec<Splice>) -> Option<String> {
    if splices.iter().any(|splice| splice.at.end() > text.len()) {
        return None;
    }
    let splices = Splices::new(text.len(), splices).ok()?;
    String::from_utf8(splices.apply(text.as_bytes())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_everything_outside_the_ranges() {
        let splices = vec![insertion(1, "XY"), deletion(2..4), insertion(5, "Z")];
        assert_eq!(apply("abcde", splices).as_deref(), Some("aXYbeZ"));
        assert_eq!(apply("abc", Vec::new()).as_deref(), Some("abc"));
    }

    #[test]
    fn rejects_splices_that_overlap_or_do_not_fit() {
        assert_eq!(apply("abcde", vec![deletion(0..3), insertion(2, "x")]), None);
        assert_eq!(apply("abcde", vec![deletion(4..6)]), None);
        assert_eq!(apply("é", vec![insertion(1, "x")]), None);
    }

    #[test]
    fn a_value_is_added_found_and_removed_at_its_place() {
        let places = [
            Place::field(&[], "a"),
            Place::field(&["x", "y"], "a"),
            Place::item(&["list"], "a"),
            Place::item(&["x", "list"], "a"),
        ];
        for place in places {
            let value = if place.is_field() { json!(1) } else { json!({"name": "a"}) };
            let before = json!({"x": {"list": ["b"], "y": {"b": 1}}, "list": ["b"]});
            let mut document = before.as_object().unwrap().clone();
            assert_eq!(place.find(&document), Ok(None));
            place.insert_into(&mut document, &value, ListEnd::Last);
            assert_eq!(place.find(&document), Ok(Some(value.clone())), "{place:?}");
            place.remove_from(&mut document);
            assert_eq!(Value::Object(document), before);
            let mut empty = Map::new();
            place.insert_into(&mut empty, &value, ListEnd::First);
            assert_eq!(Value::Object(empty), place.wrap(0, &value));
        }
    }

    #[test]
    fn a_parent_of_another_kind_is_an_error() {
        for (document, place) in [
            (json!({"x": []}), Place::field(&["x"], "a")),
            (json!({"x": 3}), Place::field(&["x"], "a")),
            (json!({"x": {}}), Place::item(&["x"], "a")),
            (json!({"x": []}), Place::item(&["x", "y"], "a")),
        ] {
            assert!(place.find(document.as_object().unwrap()).is_err(), "{document}");
        }
    }
}
