//! `--json` output against the schemas that `slipstitch schema` prints.

use serde_json::{Value, json};

use super::rig::Rig;

/// Where a value does not fit a schema. Knows the keywords that the schemas use, and rejects all others.
fn mismatches(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Some(keywords) = schema.as_object() else { return vec![format!("{at}: the schema is no object")] };
    for (keyword, rule) in keywords {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let name = rule.as_str().and_then(|name| name.strip_prefix("#/$defs/")).unwrap();
                found.extend(mismatches(value, &root["$defs"][name], root, at));
            }
            "type" => {
                let types: Vec<&Value> = rule.as_array().map_or(vec![rule], |types| types.iter().collect());
                if !types.iter().any(|name| has_type(value, name.as_str().unwrap())) {
                    found.push(format!("{at}: {value} is not of type {rule}"));
                }
            }
            "enum" if !rule.as_array().unwrap().contains(value) => {
                found.push(format!("{at}: {value} is none of {rule}"));
            }
            "enum" => {}
            "pattern" => {
                let prefix = rule.as_str().unwrap().trim_start_matches('^').split('[').next().unwrap();
                if value.as_str().is_none_or(|text| !text.starts_with(prefix) || text.len() == prefix.len()) {
                    found.push(format!("{at}: {value} does not match {rule}"));
                }
            }
            "properties" => {
                for (name, inner) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        found.extend(mismatches(value, inner, root, &format!("{at}.{name}")));
                    }
                }
            }
            "required" => {
                let missing = rule.as_array().unwrap().iter().filter_map(Value::as_str);
                let is_missing = |name: &&str| value.is_object() && value.get(name).is_none();
                found.extend(missing.filter(is_missing).map(|name| format!("{at}: `{name}` is missing")));
            }
            "additionalProperties" => {
                let known = |name: &String| schema["properties"].get(name).is_some();
                let extra = value.as_object().into_iter().flatten().filter(|(name, _)| !known(name));
                found.extend(extra.map(|(name, _)| format!("{at}: `{name}` is not in the schema")));
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(mismatches(item, rule, root, &format!("{at}[{index}]")));
                }
            }
            "anyOf" => {
                let any = rule.as_array().unwrap().iter().map(|inner| mismatches(value, inner, root, at));
                if any.clone().all(|found| !found.is_empty()) {
                    found.extend(any.flatten());
                }
            }
            other => found.push(format!("{at}: unknown keyword `{other}`")),
        }
    }
    found
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

#[test]
fn the_checker_finds_what_does_not_fit() {
    let schema = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"enum": [1]}},
                        "required": ["a"], "additionalProperties": false});
    let check = |value: Value| mismatches(&value, &schema, &schema, "").len();
    assert_eq!(check(json!({"a": null, "b": 1})), 0);
    for wrong in [json!([]), json!({}), json!({"a": 1}), json!({"a": "", "b": 2}), json!({"a": "", "c": 1})] {
        assert!(check(wrong.clone()) > 0, "{wrong}");
    }
}

fn schema(rig: &Rig, name: &str) -> Value {
    let run = rig.run(["schema", name]);
    run.assert_done();
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn json_output_fits_the_documented_schemas() {
    let rig = Rig::new();
    rig.allow_unattended_review();
    rig.put("a.txt", "one\ntwo\nthree\none\n");
    std::fs::create_dir(rig.root().join(".git")).unwrap();
    rig.put("slipstitch.toml", "[[rules]]\npaths = \"docs/**\"\nverdict = \"ask\"\nmore_lines_than = 5\n");
    rig.put("fix.diff", "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-zwei\n+2\n three\n");
    let protected = r#"{"path": ".git/x", "content": "x", "mode": "create"}"#;
    let cases: &[(&str, &[&str])] = &[
        ("edit", &["edit", "a.txt", "--old", "two", "--new", "2", "--description", "why"]),
        ("edit", &["edit", "a.txt", "--old", "two", "--new", "2"]),
        ("edit", &["edit", "a.txt", "--old", "one", "--new", "1"]),
        ("edit", &["edit", "a.txt", "--old", " three ", "--new", "3", "--recover"]),
        ("edit", &["edit", "b.txt", "--old", "x", "--new", "y"]),
        ("edit", &["edit"]),
        ("lines", &["lines", "a.txt", "1", "--new", "uno", "--expect", "eins"]),
        ("lines", &["lines", "a.txt", "1", "--new", "uno"]),
        ("write", &["write", "new/b.txt", "--content", "x\n"]),
        ("append", &["append", "new/b.txt", "--content", "y", "--dry-run"]),
        ("move", &["move", "new/b.txt", "c.txt"]),
        ("delete", &["delete", "c.txt"]),
        ("patch", &["patch", "fix.diff"]),
        ("patch", &["patch", "--reject", "fix.diff"]),
        ("read", &["read", "a.txt"]),
        ("info", &["info", "a.txt"]),
        ("call", &["call", "edit_file", r#"{"path": "a.txt", "old_text": "nowhere", "new_text": "x"}"#]),
        ("call", &["call", "write_file", protected, "--session", "bot"]),
        ("undo", &["undo"]),
        ("undo", &["undo", "c77"]),
        ("redo", &["redo"]),
        ("log", &["log"]),
        ("log", &["log", "--agent", "nobody"]),
        ("show", &["show", "c1"]),
        ("sessions", &["sessions"]),
        ("show", &["show"]),
        ("show", &["show", "c1", "c2"]),
        ("log", &["log", "c1"]),
        ("stats", &["stats"]),
        ("stats", &["stats", "--file", "a.txt", "--by", "model"]),
        ("review", &["review"]),
        ("review show", &["review", "show", "p1"]),
        ("review show", &["review", "show", "p1..p9"]),
        ("review list", &["review", "list"]),
        ("review accept", &["review", "accept", "p1"]),
        ("review reject", &["review", "reject", "p1", "p2"]),
        ("report", &["review", "accept", "p1"]),
        ("review show", &["review", "show", "p1"]),
        ("mode", &["mode"]),
        ("mode", &["mode", "restricted", "--session", "bot"]),
        ("tools", &["tools"]),
        ("tools", &["tools", "--dialect", "agent-q", "--tools", "all"]),
        ("tools", &["tools", "--dialect", "xzatoma", "--guidelines"]),
        ("mcp install", &["mcp", "install", "--client", "gemini", "--print"]),
        ("mcp install", &["mcp", "install", "--client", "gemini", "--client", "qwen"]),
        ("mcp install", &["mcp", "install", "--client", "gemini"]),
        ("mcp uninstall", &["mcp", "uninstall", "--client", "gemini"]),
        ("mcp uninstall", &["mcp", "uninstall", "--client", "gemini"]),
        ("config show", &["config", "show"]),
        ("config path", &["config", "path"]),
        ("config check", &["config", "check"]),
        ("config check", &["config", "check", "read_file", r#"{"path": "a.txt"}"#]),
        ("config protected", &["config", "protected"]),
        ("config protected", &["config", "protected", "a.txt", ".git/config"]),
        ("doctor", &["doctor"]),
        ("gc", &["gc", "--dry-run"]),
        ("gc", &["gc"]),
        ("forget", &["forget", "c1", "--yes"]),
        ("uninstall", &["uninstall", "--purge", "--dry-run"]),
        ("uninstall", &["uninstall", "--purge", "--yes"]),
    ];
    let names = rig.run(["schema"]).out;
    for name in names.lines() {
        assert!(cases.iter().any(|(case, _)| *case == name), "no case for the schema of `{name}`");
    }
    // Every command has one, except those that print no results: a server, schemas, scripts for a shell, pages to read.
    let others = ["mcp", "config", "schema", "completions", "man", "help"];
    let help = rig.run(["--help"]).out;
    let listed = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let commands: Vec<&str> =
        listed.map(|(name, _)| name).filter(|name| name.chars().all(|c| c.is_ascii_lowercase())).collect();
    assert!(["edit", "log", "uninstall"].iter().all(|name| commands.contains(name)), "{help}");
    for command in commands.iter().filter(|command| !command.is_empty() && !others.contains(command)) {
        let has_schema = names.lines().any(|name| name == *command);
        assert!(has_schema, "`{command}` has no schema");
    }
    let report = schema(&rig, "report");
    for (name, words) in cases {
        let (code, value) = rig.json(*words);
        let schema = if code == 2 { report.clone() } else { schema(&rig, name) };
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        let found = mismatches(&value, &schema, &schema, "");
        assert!(found.is_empty(), "{words:?}: {found:#?}");
    }
    assert!(!rig.outside().join("state").exists(), "nothing of the state is left");
}
