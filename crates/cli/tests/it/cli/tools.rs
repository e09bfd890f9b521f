//! `slipstitch tools`.

use super::rig::Rig;
use serde_json::Value;

fn listed(arguments: &[&str]) -> Value {
    let run = Rig::new().run(["tools"].iter().chain(arguments));
    run.assert_done();
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn prints_every_format_with_its_fields() {
    let mcp = listed(&[]);
    let tools = mcp["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"edit_file") && names.contains(&"read_file"), "{names:?}");
    for tool in tools {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(tool["title"].is_string() && tool["description"].is_string());
        assert_eq!(tool["annotations"]["openWorldHint"], false);
        assert_eq!(
            tool["annotations"]["readOnlyHint"],
            tool["name"] == "read_file" || tool["name"] == "get_file_info"
        );
    }
    let anthropic = listed(&["--format", "anthropic"]);
    assert_eq!(anthropic.as_array().unwrap().len(), tools.len());
    assert_eq!(anthropic[0]["input_schema"], tools[0]["inputSchema"]);
    let openai = listed(&["--format", "openai"]);
    assert_eq!(openai[0]["type"], "function");
    assert_eq!(openai[0]["function"]["parameters"], tools[0]["inputSchema"]);
    let responses = listed(&["--format", "openai-responses"]);
    assert_eq!((&responses[0]["type"], &responses[0]["name"]), (&"function".into(), &tools[0]["name"]));
    assert_eq!(
        (&responses[0]["parameters"], &responses[0]["strict"]),
        (&tools[0]["inputSchema"], &false.into())
    );
    let gemini = listed(&["--format", "gemini"]);
    let edit = &gemini[0]["functionDeclarations"][1];
    assert_eq!(edit["name"], "edit_file");
    assert_eq!(edit["parameters"]["required"], serde_json::json!(["path"]));
    let edits = &edit["parameters"]["properties"]["edits"];
    assert_eq!((&edits["type"], &edits["nullable"]), (&"array".into(), &true.into()), "{edits}");
    assert_eq!(edits["items"]["properties"]["replace_all"]["nullable"], true, "{edits}");
}

#[test]
fn prints_the_tools_that_were_asked_for() {
    let names = |arguments: &[&str]| {
        let tools = listed(arguments)["tools"].take();
        let names = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["read_file", "edit_file", "write_file", "patch"]);
    assert_eq!(names(&["--tools", "read_file,undo_edit"]), ["read_file", "undo_edit"]);
    assert_eq!(names(&["--tools", "default", "--tools", "undo_edit"]).len(), 5);
    assert_eq!(names(&["--tools", "all"]).len(), 7);
    // Tools of other versions are listed if they are named.
    assert_eq!(names(&["--dialect", "goose", "--tools", "text_editor"]), ["text_editor"]);
    assert_eq!(
        names(&["--dialect", "copilot", "--tools", "insert_edit_into_file"]),
        ["insert_edit_into_file"]
    );
    Rig::new().run(["tools", "--tools", "nope"]).assert_failed(2, &["`nope`", "`get_file_info`", "`all`"]);
}

#[test]
fn prints_a_single_tool() {
    let mcp = listed(&["--dialect", "native", "edit_file"]);
    assert_eq!(mcp["tools"].as_array().unwrap().len(), 1);
    assert_eq!(mcp["tools"][0]["name"], "edit_file");
}

#[test]
fn lists_the_known_names_for_an_unknown_one() {
    let rig = Rig::new();
    rig.run(["tools", "nope"]).assert_failed(2, &["`nope`", "`edit_file`"]);
    rig.run(["tools", "--dialect", "nope"]).assert_failed(2, &["`nope`", "`native`"]);
    rig.run(["tools", "--format", "nope"]).assert_failed(2, &["anthropic"]);
    let (code, report) = rig.json(["tools", "nope"]);
    assert_eq!((code, report["code"].as_str()), (2, Some("unknown_tool")));
}

// Shows: 003-schema, 003-modes
#[test]
fn xzatoma_definition_matches_the_specification() {
    let tool = &listed(&["--dialect", "xzatoma", "--format", "anthropic"])[0];
    assert_eq!(tool["name"], "edit_file");
    let schema = &tool["input_schema"];
    assert_eq!(schema["required"], serde_json::json!(["path", "mode", "content"]));
    let modes = serde_json::json!(["edit", "create", "overwrite", "append"]);
    assert_eq!(schema["properties"]["mode"]["enum"], modes);
    // Word for word; only line breaks differ in the document's source.
    for (field, words) in [
        ("path", "Relative path to the file (no absolute paths or traversal)"),
        (
            "mode",
            "Operation mode:\n- 'edit': Targeted replacement (REQUIRES old_text)\n\
             - 'create': New file only (fails if exists)\n- 'append': Add to end of file (safe for adding content)\n\
             - 'overwrite': Replace entire file (DANGEROUS - use sparingly)",
        ),
        ("content", "New content to write, replace with, or append"),
        (
            "old_text",
            "REQUIRED for edit mode: Unique text snippet to find and replace. Must match exactly once in the file. \
             Include enough context to be unique.",
        ),
    ] {
        assert_eq!(schema["properties"][field]["description"], words, "{field}");
    }
    let about = "Create, edit, append to, or overwrite files with safety checks and diff preview. IMPORTANT: Use 'edit' mode \
                 with old_text for modifications, 'append' for adding content to end of file, 'create' for new files only. \
                 NEVER use 'overwrite' unless explicitly replacing entire file.";
    assert_eq!(tool["description"], about);
}

// Shows: 001-structured-schema, REQ-PATCH-006-call, REQ-PATCH-006-patch
#[test]
fn phoenix_definition_matches_the_specification() {
    let tools = listed(&["--dialect", "phoenix", "--format", "anthropic"]);
    let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "patch").unwrap();
    let schema = &tool["input_schema"];
    assert_eq!(schema["required"], serde_json::json!(["path", "patches"]));
    let names = |object: &serde_json::Value| -> Vec<String> {
        object["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let mut top = names(schema);
    top.sort_unstable();
    assert_eq!(top, ["candidate", "patches", "path"]);
    assert_eq!(
        (&schema["properties"]["path"]["type"], &schema["properties"]["patches"]["type"]),
        (&"string".into(), &"array".into())
    );
    let patch = &schema["properties"]["patches"]["items"];
    let mut prefixes = names(&patch["properties"]["reindent"]);
    prefixes.sort_unstable();
    assert_eq!(prefixes, ["add", "strip"]);
    assert_eq!(patch["required"], serde_json::json!(["operation"]), "clipboards and reindent are optional");
    let operations = serde_json::json!(["replace", "append_eof", "prepend_bof", "overwrite"]);
    assert_eq!(patch["properties"]["operation"]["enum"], operations);
    let mut fields: Vec<(&str, &str)> = patch["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, field)| (name.as_str(), field["type"].as_str().or(field["type"][0].as_str()).unwrap()))
        .collect();
    for (field, part) in [
        ("oldText", "Required for replace"),
        ("newText", "The new text"),
        ("toClipboard", "clipboard with this name"),
        ("fromClipboard", "as the new text"),
        ("reindent", "indentation of the inserted text"),
    ] {
        let about = patch["properties"][field]["description"].as_str().unwrap();
        assert!(about.contains(part), "{field}: {about}");
    }
    let path = schema["properties"]["path"]["description"].as_str().unwrap();
    assert!(path.contains("relative to the working directory"), "{path}");
    fields.sort_unstable();
    let expected = [
        ("fromClipboard", "string"),
        ("newText", "string"),
        ("oldText", "string"),
        ("operation", "string"),
        ("reindent", "object"),
        ("toClipboard", "string"),
    ];
    assert_eq!(fields, expected);
}

// Shows: FR-SFE-01, FR-SFE-02
#[test]
fn forge_definition_allows_both_modes() {
    let tools = listed(&["--dialect", "forge", "--format", "anthropic"]);
    let [tool] = &tools.as_array().unwrap()[..] else { panic!("one tool: {tools}") };
    assert_eq!(tool["name"], "Edit");
    let schema = &tool["input_schema"];
    // These fields both modes require. A plain schema cannot express the rest, so the call itself is checked.
    assert_eq!(schema["required"], serde_json::json!(["path"]));
    let kinds = |schema: &Value| -> Vec<String> {
        let fields = schema["properties"].as_object().unwrap();
        let kind = |field: &Value| field["type"].as_str().or(field["type"][0].as_str()).unwrap().to_owned();
        let mut kinds: Vec<String> =
            fields.iter().map(|(name, field)| format!("{name}: {}", kind(field))).collect();
        kinds.sort();
        kinds
    };
    let expected = [
        "end_line: integer",
        "file_hash: string",
        "match_hint: object",
        "new_content: string",
        "new_snippet: string",
        "old_snippet: string",
        "path: string",
        "region_id: string",
        "start_line: integer",
    ];
    assert_eq!(kinds(schema), expected);
    assert_eq!(kinds(&schema["properties"]["match_hint"]), ["end_line: integer", "start_line: integer"]);
}

// Shows: 003-guidelines
#[test]
fn prints_guidelines() {
    let rig = Rig::new();
    let run = rig.run(["tools", "--dialect", "xzatoma", "--guidelines"]);
    run.assert_done();
    let dialect = slipstitch::dialects::builtin().find("xzatoma").unwrap();
    assert_eq!(run.out.trim_end(), dialect.guidelines.unwrap().trim_end());
    let (code, object) = rig.json(["tools", "--dialect", "xzatoma", "--guidelines"]);
    assert_eq!((code, object["dialect"].as_str()), (0, Some("xzatoma")));
    assert_eq!(object["guidelines"].as_str(), dialect.guidelines);
    // The hash of the document's `EDIT_FILE_USAGE_GUIDELINES`.
    let hash = slipstitch::core::text::ContentHash::of(dialect.guidelines.unwrap().as_bytes());
    let document = "b3:4ca166ebabecfdc9658bad80e6044e50e00a480402c5a0e8e61949740e84c82d";
    assert_eq!(hash.to_string(), document, "word for word");
    rig.run(["tools", "--guidelines"]).assert_failed(2, &["`native` has no guidelines", "`xzatoma`"]);
}

// Shows: 000-config-enabled
#[test]
fn a_tool_that_is_switched_off_is_not_listed() {
    let rig = Rig::new();
    let listed = |words: &[&str]| rig.json(["tools", "--dialect", "forge"].iter().chain(words)).1;
    assert_eq!(listed(&[])["tools"][0]["name"], "Edit", "choosing the dialect switches it on");
    let config = rig.outside().join("config.toml");
    std::fs::write(&config, "[tools.edit]\nenabled = false\n").unwrap();
    let with_config = listed(&["--config", config.to_str().unwrap()]);
    assert_eq!(with_config["tools"].as_array().map(Vec::len), Some(0), "{with_config}");
    rig.put("slipstitch.toml", "[tools.edit]\nenabled = false\n");
    assert_eq!(listed(&[])["tools"].as_array().map(Vec::len), Some(0));
}

// Shows: 003-zero-wipeouts
#[test]
fn guideline_examples_do_what_the_guidelines_say() {
    let guidelines = Rig::new().run(["tools", "--dialect", "xzatoma", "--guidelines"]).out;
    let calls: Vec<&str> = guidelines
        .split("\n{\n")
        .skip(1)
        .map(|rest| rest.split_once("\n}").expect("a complete object").0)
        .collect();
    assert_eq!(calls.len(), 3);
    let makefile = ".PHONY: all build run\nall: build\n";
    for call in calls {
        let rig = Rig::new();
        rig.put("Makefile", makefile);
        let run = rig.run(["call", "--dialect", "xzatoma", "edit_file", &format!("{{{call}}}")]);
        match call.contains("overwrite") {
            // The wrong one: it would wipe the file, so it only shows the diff.
            true => {
                assert!(run.out.contains("-all: build") && run.out.contains("confirm_overwrite"), "{run:?}");
                assert_eq!(rig.get("Makefile"), makefile);
            }
            false => run.assert_done(),
        }
    }
}

// Shows: 003-documentation
#[test]
fn the_guide_explains_modes_safety_and_errors() {
    let reference = include_str!("../../../../../docs/reference.md");
    let (_, rest) = reference.split_once("### `xzatoma`").unwrap();
    for part in [
        "`create`",
        "`edit`",
        "`append`",
        "`overwrite`",
        "a third",
        "preview_only",
        "confirm_overwrite",
        "requires old_text parameter",
        "not found in the file",
        "matches N locations",
        "Safety check failed",
    ] {
        assert!(rest.contains(part), "{part}");
    }
}
