//! `incise tools`.

use crate::rig::Rig;
use serde_json::Value;

fn listed(arguments: &[&str]) -> Value {
    let run = Rig::new().run(["tools"].iter().chain(arguments));
    run.assert_done();
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn every_format_has_its_own_fields() {
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
}

#[test]
fn one_tool_can_be_picked() {
    let mcp = listed(&["--dialect", "incise", "edit_file"]);
    assert_eq!(mcp["tools"].as_array().unwrap().len(), 1);
    assert_eq!(mcp["tools"][0]["name"], "edit_file");
}

#[test]
fn unknown_names_are_answered_with_the_known() {
    let rig = Rig::new();
    rig.run(["tools", "nope"]).assert_failed(2, &["`nope`", "`edit_file`"]);
    rig.run(["tools", "--dialect", "nope"]).assert_failed(2, &["`nope`", "`incise`"]);
    rig.run(["tools", "--format", "nope"]).assert_failed(2, &["anthropic"]);
    let (code, report) = rig.json(["tools", "nope"]);
    assert_eq!((code, report["code"].as_str()), (2, Some("unknown_tool")));
}
