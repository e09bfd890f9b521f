//! Properties that every dialect must have.

mod hints;
mod tokens;

use serde_json::Value;
use slipstitch_core::dialect::ListedFields;
use slipstitch_core::path::RootName;
use slipstitch_core::settings::Settings;

use crate::{BUILTIN, builtin};

/// Calls `visit` with the path and schema of every field, including nested ones.
fn visit_fields(schema: &Value, parent: &str, visit: &mut impl FnMut(&str, &Value)) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{parent}.{name}");
        visit(&path, field);
        visit_fields(field, &path, visit);
        visit_fields(&field["items"], &path, visit);
    }
}

/// A client that checks calls itself would refuse an unknown field before the tool could say what is wrong with it.
// Shows: 004-unknown-fields
#[test]
fn schemas_are_plain_and_describe_every_field() {
    for (dialect, tool) in BUILTIN.iter().flat_map(|d| d.callable_tools().map(move |t| (d, t))) {
        let schema = (tool.schema)();
        let name = format!("{}.{}", dialect.name, tool.name);
        assert_eq!(schema["type"], "object", "{name}");
        visit_fields(schema, &name, &mut |path, field| {
            assert!(
                field["description"].as_str().is_some_and(|text| text.len() > 8),
                "{path} has no description"
            );
            let types = field["type"]
                .as_array()
                .map_or(1, |types| types.iter().filter(|name| *name != "null").count());
            assert_eq!(types, 1, "{path} does not have a single type: {field}");
        });
        let text = schema.to_string();
        for word in ["anyOf", "oneOf", "allOf", "$ref", "$defs", "\"format\"", "additionalProperties"] {
            assert!(!text.contains(word), "{name} contains {word}: {text}");
        }
    }
}

// Shows: 004-unknown-fields
#[test]
fn unknown_fields_are_answered_with_what_is_accepted() {
    for (dialect, tool) in BUILTIN.iter().flat_map(|d| d.callable_tools().map(move |t| (d, t))) {
        let name = format!("{}.{}", dialect.name, tool.name);
        let mut call: Value = serde_json::from_str(tool.example).expect(tool.name);
        call["colour"] = "red".into();
        call["shape"] = "round".into();
        let error = dialect.parse(tool, call, &[RootName::first("/root")], &Settings::default()).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("`colour`") && message.contains("`shape`"), "{name}: {message}");
        for field in (tool.schema)()["properties"].as_object().unwrap().keys() {
            assert!(error.hint.contains(&format!("`{field}`")), "{name}: {}", error.hint);
        }
    }
}

#[test]
fn fields_of_another_tool_are_answered_with_its_name() {
    let calls = [
        ("native", "edit_file", r#"{"path": "a", "patch": "x"}"#, "`patch`"),
        (
            "native",
            "edit_file",
            r#"{"path": "a", "edits": [{"oldText": "x", "new_text": "y"}]}"#,
            "`old_text`",
        ),
        ("agent-q", "edit_file", r#"{"path": "a", "line_number": 1}"#, "`insert_at_line`"),
        ("nexus3", "edit_file", r#"{"path": "a", "diff": "x"}"#, "`patch`"),
    ];
    for (dialect, tool, call, part) in calls {
        let dialect = builtin().find(dialect).unwrap();
        let call: Value = serde_json::from_str(call).unwrap();
        let tool = dialect.tool(tool).unwrap();
        let error = dialect.parse(tool, call.clone(), &[], &Settings::default()).unwrap_err();
        assert!(
            error.hint.contains(part) && error.hint.contains(" accepts "),
            "{call}: {error}: {}",
            error.hint
        );
    }
}

#[test]
fn optional_fields_accept_null_and_the_schemas_say_so() {
    for (dialect, tool) in BUILTIN.iter().flat_map(|d| d.callable_tools().map(move |t| (d, t))) {
        let schema = (tool.schema)();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut call: Value = serde_json::from_str(tool.example).expect(tool.name);
        for (name, field) in schema["properties"].as_object().unwrap() {
            if required.iter().any(|other| other == name.as_str()) {
                continue;
            }
            let allows_null = field["type"].as_array().is_some_and(|types| types.contains(&"null".into()));
            assert!(allows_null || field.get("enum").is_some(), "{}.{name}: {field}", tool.name);
            if call[name].is_null() {
                call[name] = Value::Null;
            }
        }
        let parsed = dialect.parse(tool, call.clone(), &[RootName::first("/root")], &Settings::default());
        assert!(parsed.is_ok(), "{}.{}: {call}: {:?}", dialect.name, tool.name, parsed.err());
    }
}

// Shows: 004-patch-threshold-range
#[test]
fn zero_stands_for_an_absent_number() {
    let calls = [
        ("native", "read_file", r#"{"path": "a", "start_line": 0, "end_line": 0}"#),
        (
            "native",
            "edit_file",
            r#"{"path": "a", "old_text": "x", "new_text": "y", "start_line": 0, "end_line": 0, "candidate": 0}"#,
        ),
        (
            "native",
            "edit_file",
            r#"{"path": "a", "edits": [{"old_text": "x", "new_text": "y", "start_line": 0, "end_line": 0}]}"#,
        ),
        (
            "forge",
            "Edit",
            r#"{"path": "a", "old_snippet": "x", "new_snippet": "y", "match_hint": {"start_line": 0, "end_line": 0}}"#,
        ),
        ("claude", "Read", r#"{"file_path": "a", "offset": 0, "limit": 0}"#),
        ("nexus3", "patch", r#"{"target": "a", "diff": "@@ -1 +1 @@\n-a\n+b\n", "fuzzy_threshold": 0}"#),
    ];
    for (dialect, tool, call) in calls {
        let dialect = builtin().find(dialect).unwrap();
        let tool = dialect.tool(tool).unwrap();
        let parsed = dialect.parse(tool, serde_json::from_str(call).unwrap(), &[], &Settings::default());
        assert!(parsed.is_ok(), "{call}: {:?}", parsed.err());
    }
    // Where 0 is a line, it stays one.
    let insert = r#"{"command": "insert", "path": "a", "insert_line": 0, "insert_text": "x"}"#;
    let claude = builtin().find("claude").unwrap();
    let tool = claude.tool("str_replace_based_edit_tool").unwrap();
    claude.parse(tool, serde_json::from_str(insert).unwrap(), &[], &Settings::default()).unwrap();
}

#[test]
fn optional_tools_exist() {
    for dialect in BUILTIN {
        for name in dialect.optional {
            assert!(dialect.tools.iter().any(|tool| tool.name == *name), "{}: {name}", dialect.name);
        }
        assert!(dialect.default_tools().next().is_some(), "{}", dialect.name);
    }
}

#[test]
fn every_example_parses() {
    for (dialect, tool) in BUILTIN.iter().flat_map(|d| d.callable_tools().map(move |t| (d, t))) {
        let call = serde_json::from_str(tool.example).expect(tool.name);
        if let Err(error) = dialect.parse(tool, call, &[RootName::first("/root")], &Settings::default()) {
            panic!("{}.{}: {error}", dialect.name, tool.name);
        }
    }
}

#[test]
fn invalid_calls_get_an_example_of_the_same_kind() {
    let calls = [
        ("forge", "Edit", r#"{"path": "a", "start_line": "x", "end_line": 1}"#, "new_content"),
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
fn every_guide_names_a_tool_of_its_dialect() {
    // A document's own guidelines are kept as they are.
    for dialect in BUILTIN.iter().filter(|dialect| dialect.guidelines.is_none()) {
        let names_a_tool = dialect.tools.iter().any(|tool| dialect.guide.contains(tool.name));
        assert!(names_a_tool, "{}: {}", dialect.name, dialect.guide);
    }
}

#[test]
fn tools_of_every_dialect() {
    for dialect in BUILTIN {
        let tools: Vec<Value> = dialect
            .tools
            .iter()
            .map(|tool| serde_json::json!({"name": tool.name, "title": tool.title, "description": tool.about, "schema": tool.input_schema(ListedFields::All)}))
            .collect();
        let text = serde_json::to_string_pretty(&tools).unwrap();
        insta::assert_snapshot!(format!("tools_of_{}", dialect.name), text);
    }
}
