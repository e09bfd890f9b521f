//! `slipstitch call`.

use serde_json::Value;

use super::rig::{Rig, Run};

const EDIT: &str = r#"{"path": "a.txt", "old_text": "one", "new_text": "1"}"#;

#[test]
fn prints_the_answer_to_stdout() {
    let rig = Rig::with("one\ntwo\n");
    let run = rig.run(["call", "edit_file", EDIT]);
    run.assert_done();
    assert!(run.out.starts_with("Changed `a.txt` at line 1\nchange c1, version b3:"), "{run:?}");
    assert_eq!(run.err, "");
    assert_eq!(rig.get("a.txt"), "1\ntwo\n");
}

#[test]
fn reads_arguments_from_stdin_or_defaults_to_none() {
    let rig = Rig::with("one\n");
    rig.run_fed(["call", "--dialect", "native", "edit_file", "-"], EDIT).assert_done();
    assert_eq!(rig.get("a.txt"), "1\n");
    rig.run(["call", "undo_edit"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
}

/// A program that makes a call reads the answer from stdout, whatever it says.
// Shows: 000-answer-on-stdout
#[test]
fn prints_every_answer_to_stdout() {
    let rig = Rig::with("two\n");
    rig.run(["call", "edit_file", EDIT]).assert_refused(1, &["was not found in the file", "hint:"]);
    let calls = [
        (
            "forge",
            "Edit",
            r#"{"path": "a.txt", "old_snippet": "one", "new_snippet": "1"}"#,
            "\"status\":\"no_match\"",
        ),
        (
            "phoenix",
            "patch",
            r#"{"path": "a.txt", "patches": [{"operation": "replace", "oldText": "one", "newText": "1"}]}"#,
            "old text not found",
        ),
        ("agent-q", "edit_file", r#"{"path": "a.txt", "old_str": "one", "new_str": "1"}"#, "Error"),
        (
            "xzatoma",
            "edit_file",
            r#"{"path": "a.txt", "mode": "edit", "old_text": "one", "content": "1"}"#,
            "was not found in the file",
        ),
        ("nexus3", "edit_file", r#"{"path": "a.txt", "old_string": "one", "new_string": "1"}"#, "not found"),
        ("claude", "Edit", r#"{"file_path": "a.txt", "old_string": "one", "new_string": "1"}"#, "not found"),
        (
            "codex",
            "apply_patch",
            r#"{"input": "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch\n"}"#,
            "was not found",
        ),
    ];
    for (dialect, tool, call, part) in calls {
        rig.run(["call", "--dialect", dialect, tool, call]).assert_refused(1, &[part]);
    }
    assert_eq!(rig.get("a.txt"), "two\n");
    // Every tool of every dialect, with a field that it does not have.
    for dialect in slipstitch::dialects::builtin().iter() {
        for tool in dialect.callable_tools() {
            let mut call: Value = serde_json::from_str(tool.example).unwrap();
            call["colour"] = "red".into();
            let run = rig.run(["call", "--dialect", dialect.name, tool.name, &call.to_string()]);
            run.assert_refused(2, &["`colour`"]);
        }
    }
}

#[test]
fn json_prints_one_object() {
    let rig = Rig::with("one\n");
    let (code, report) = rig.json(["call", "edit_file", EDIT]);
    assert_eq!(
        (code, report["status"].as_str(), report["change"].as_str()),
        (0, Some("applied"), Some("c1"))
    );
    let (code, report) = rig.json(["call", "edit_file", EDIT]);
    assert_eq!((code, report["status"].as_str()), (0, Some("already_applied")));
    rig.put("a.txt", "other\n");
    let (code, report) = rig.json(["call", "edit_file", EDIT]);
    assert_eq!((code, report["code"].as_str()), (1, Some("no_match")));
}

#[test]
fn reports_invalid_json_with_position_and_example() {
    let rig = Rig::with("one\n");
    rig.run(["call", "edit_file", r#"{"path": }"#])
        .assert_refused(2, &["line 1 column 10", r#"{"path": "src/main.rs", "old_text""#]);
    rig.run_fed(["call", "edit_file", "-"], "{\n").assert_refused(2, &["line 2"]);
    rig.run(["call", "no_such_tool", "-x"]).assert_refused(2, &["line 1 column", "such as"]);
    rig.run(["call", "read_file", &"[".repeat(10_000)]).assert_refused(2, &["recursion limit"]);
    let (code, report) = rig.json(["call", "edit_file", "{"]);
    assert_eq!((code, report["code"].as_str()), (2, Some("invalid_json")));
    assert!(report["answer"].as_str().unwrap().contains("not valid JSON"), "{report}");
}

/// A call that does not even reach its tool is answered as the tool would.
// Shows: 000-answer-on-stdout
#[test]
fn calls_that_do_not_reach_the_tool_are_answered_on_stdout() {
    let rig = Rig::with("one\n");
    for dialect in slipstitch::dialects::builtin().iter() {
        let tool = dialect.callable_tools().next().unwrap();
        let run = rig.run(["call", "--dialect", dialect.name, tool.name, "{bad"]);
        run.assert_refused(2, &["not valid JSON"]);
    }
    let payload = |run: &Run| serde_json::from_str::<Value>(&run.out).unwrap_or_else(|_| panic!("{run:?}"));
    let bad = payload(&rig.run(["call", "--dialect", "forge", "Edit", "{bad"]));
    assert_eq!((&bad["action"], &bad["status"]), (&"apply_snippet_edit".into(), &"error".into()));
    assert!(bad["message"].as_str().unwrap().contains("not valid JSON"), "{bad}");
    // The state folder is not usable.
    let state = rig.outside().join("not-a-folder");
    std::fs::write(&state, "").unwrap();
    let call = r#"{"path": "a.txt", "old_snippet": "one", "new_snippet": "1"}"#;
    let run = rig.run(["--state-dir", state.to_str().unwrap(), "call", "--dialect", "forge", "Edit", call]);
    assert_eq!((run.code, payload(&run)["status"].as_str()), (3, Some("error")), "{run:?}");
}

#[test]
fn malformed_calls_are_bad_input() {
    let rig = Rig::with("one\n");
    for (arguments, parts) in [
        (&["no_such_tool", "{}"][..], &["`no_such_tool`", "`edit_file`"][..]),
        (&["--dialect", "klingon", "edit_file", "{}"], &["`klingon`", "`native`"]),
        (&["edit_file", r#"{"path": "a.txt", "colour": 1}"#], &["`colour`"]),
        (&["edit_file", r#"{"path": "a.txt"}"#], &["`old_text`"]),
        (&["edit_file", "{}"], &["`path`"]),
        (&["edit_file"], &["`path`"]),
        (&["read_file", r#"{"path": 7}"#], &["`path`"]),
        (&["read_file", r#"{"path": "a.txt", "start_line": "x"}"#], &["`start_line`"]),
        (&["read_file", "[]"], &["object"]),
        (&["read_file", "7"], &["object"]),
    ] {
        rig.run(["call"].iter().chain(arguments)).assert_refused(2, parts);
        let (code, report) = rig.json(["call"].iter().chain(arguments));
        assert_eq!((code, report["status"].as_str()), (2, Some("invalid")), "{report}");
    }
    assert_eq!(rig.get("a.txt"), "one\n");
}
