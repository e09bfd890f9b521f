//! What must hold for every dialect.

mod hints;

use serde_json::Value;
use slipstitch_core::path::RootName;
use slipstitch_core::settings::Settings;

use crate::{BUILTIN, builtin};

/// Calls `look` with the name and schema of every field, nested ones too.
fn fields(schema: &Value, place: &str, look: &mut impl FnMut(&str, &Value)) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        look(&place, field);
        fields(field, &place, look);
        fields(&field["items"], &place, look);
    }
}

#[test]
fn schemas_are_plain_and_every_field_is_described() {
    for (dialect, tool) in BUILTIN.iter().flat_map(|d| d.tools.iter().map(move |t| (d, t))) {
        let schema = (tool.schema)();
        let name = format!("{}.{}", dialect.name, tool.name);
        assert_eq!(schema["type"], "object", "{name}");
        fields(schema, &name, &mut |place, field| {
            assert!(
                field["description"].as_str().is_some_and(|text| text.len() > 10),
                "{place} is described"
            );
            assert!(field["type"].is_string(), "{place} has one type: {field}");
        });
        let text = schema.to_string();
        for word in ["anyOf", "oneOf", "allOf", "$ref", "$defs", "\"format\"", "\"null\""] {
            assert!(!text.contains(word), "{name} has {word}: {text}");
        }
    }
}

#[test]
fn every_example_is_a_call_that_parses() {
    for (dialect, tool) in BUILTIN.iter().flat_map(|d| d.tools.iter().map(move |t| (d, t))) {
        let call = serde_json::from_str(tool.example).expect(tool.name);
        if let Err(error) = dialect.parse(tool, call, &[RootName::first("/root")], &Settings::default()) {
            panic!("{}.{}: {error}", dialect.name, tool.name);
        }
    }
}

#[test]
fn a_wrong_call_is_answered_with_an_example_of_its_kind() {
    let calls = [
        ("forge", "Edit", r#"{"path": "a", "start_line": 0, "end_line": 1}"#, "new_content"),
        ("forge", "Edit", r#"{"path": "a", "old_snippet": 1, "start_line": 1}"#, "new_snippet"),
        ("forge", "Edit", r#"{"path": "a", "colour": 1, "new_content": "", "end_line": "x"}"#, "Its fields"),
        ("claude", "str_replace_based_edit_tool", r#"{"command": "view", "path": 1}"#, "view_range"),
        ("claude", "str_replace_based_edit_tool", r#"{"command": "nope", "path": "a"}"#, "old_str"),
    ];
    for (dialect, tool, call, part) in calls {
        let dialect = builtin().find(dialect).unwrap();
        let tool = dialect.tool(tool).unwrap();
        let call: Value = serde_json::from_str(call).unwrap();
        let error = dialect.parse(tool, call.clone(), &[], &Settings::default()).unwrap_err();
        assert!(error.hint.contains(part), "{call}: {}", error.hint);
        let example = serde_json::from_str((dialect.example)(tool, &call)).unwrap();
        dialect.parse(tool, example, &[], &Settings::default()).unwrap();
    }
}

#[test]
fn tools_of_every_dialect() {
    for dialect in BUILTIN {
        let tools: Vec<Value> = dialect
            .tools
            .iter()
            .map(|tool| serde_json::json!({"name": tool.name, "title": tool.title, "description": tool.description(), "schema": (tool.schema)()}))
            .collect();
        let text = serde_json::to_string_pretty(&tools).unwrap();
        insta::assert_snapshot!(format!("tools_of_{}", dialect.name), text);
    }
}
