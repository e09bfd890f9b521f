//! What a client sees of the tools.

use rmcp::model::{ErrorCode, GetPromptRequestParams};
use rmcp::service::ServiceError;
use serde_json::json;

use crate::rig::{Client, ERAS, Era, Person, Rig, edit, failed, field, text};

#[tokio::test]
async fn tools_are_listed_as_the_program_prints_them() {
    for era in ERAS {
        let rig = Rig::new();
        let client = rig.connect("native", era).await;
        let tools = client.service.list_all_tools().await.unwrap();
        let dialect = slipstitch::dialects::builtin().find("native").unwrap();
        assert_eq!(tools.len(), dialect.tools.len());
        for (listed, tool) in tools.iter().zip(dialect.tools) {
            assert_eq!(serde_json::to_value(listed).unwrap(), slipstitch_mcp::listing(tool), "{era:?}");
            let hints = listed.annotations.as_ref().unwrap();
            assert_eq!(hints.open_world_hint, Some(false));
            assert_eq!(hints.read_only_hint, Some(listed.output_schema.is_none()), "{}", listed.name);
        }
    }
}

/// Read, edit, refusal of an old version, recovery, a patch over three files, undo.
#[tokio::test]
async fn a_whole_session_of_edits() {
    for era in ERAS {
        let rig = Rig::with(&[("a.rs", "fn a() {\n    one();\n}\n"), ("b.rs", "b\n"), ("c.rs", "c\n")]);
        let client = rig.connect("native", era).await;

        let read = client.call("read_file", json!({"path": "a.rs"})).await;
        assert!(text(&read).contains("one();") && !failed(&read));
        assert!(read.structured_content.is_none(), "text of files is sent once");
        let version = text(&read).rsplit("version: ").next().unwrap().trim().to_owned();

        let done = client.call("edit_file", edit("a.rs", "one();", "two();")).await;
        assert_eq!((field(&done, "status"), failed(&done)), (&json!("applied"), false), "{}", text(&done));
        assert_eq!(field(&done, "answer"), text(&done), "what the model must see is in both");
        assert_eq!(field(&done, "files")[0]["path"], "a.rs");

        let stale = client
            .call(
                "edit_file",
                json!({"path": "a.rs", "old_text": "two", "new_text": "3", "version": version}),
            )
            .await;
        assert_eq!((field(&stale, "code"), failed(&stale)), (&json!("stale_file"), true));

        // One blank where the file has four.
        let recovered =
            client.call("edit_file", edit("a.rs", "fn a() {\n two();\n}", "fn a() {\n three();\n}")).await;
        assert_eq!(field(&recovered, "status"), "applied", "{}", text(&recovered));
        assert_eq!(rig.text("a.rs"), "fn a() {\n    three();\n}\n");

        let patch = "--- a/a.rs\n+++ b/a.rs\n@@ -2 +2 @@\n-    three();\n+    four();\n\
                     --- a/b.rs\n+++ b/b.rs\n@@ -1 +1 @@\n-b\n+B\n--- a/c.rs\n+++ b/c.rs\n@@ -1 +1 @@\n-c\n+C\n";
        let patched = client.call("patch", json!({"patch": patch})).await;
        assert_eq!(field(&patched, "files").as_array().unwrap().len(), 3, "{}", text(&patched));
        assert_eq!((rig.text("b.rs"), rig.text("c.rs")), ("B\n".into(), "C\n".into()));

        let undone = client.call("undo_edit", json!({})).await;
        assert!(!failed(&undone), "{}", text(&undone));
        assert_eq!((rig.text("a.rs").contains("three"), rig.text("b.rs")), (true, "b\n".into()), "{era:?}");
    }
}

#[tokio::test]
async fn what_a_model_does_wrong_is_a_result_and_what_a_client_does_wrong_is_an_error() {
    for era in ERAS {
        let rig = Rig::with(&[("a.txt", "x\n")]);
        let client = rig.connect("native", era).await;
        for (tool, arguments, code) in [
            ("edit_file", edit("a.txt", "not there at all", "y"), "no_match"),
            ("edit_file", edit("../a.txt", "x", "y"), "outside_root"),
            ("edit_file", edit("/etc/hostname", "x", "y"), "outside_root"),
            ("edit_file", json!({"path": "a.txt", "colour": "red"}), "bad_request"),
            ("edit_file", json!({}), "bad_request"),
        ] {
            let result = client.call(tool, arguments.clone()).await;
            assert_eq!((failed(&result), field(&result, "code")), (true, &json!(code)), "{arguments}");
        }
        let error = client.try_call("nope", json!({})).await.unwrap_err();
        let ServiceError::McpError(error) = error else { panic!("{error}") };
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
        assert!(
            error.message.contains("`nope`") && error.message.contains("`edit_file`"),
            "{}",
            error.message
        );
        assert_eq!(rig.text("a.txt"), "x\n");
    }
}

#[tokio::test]
async fn two_dialects_are_served_side_by_side() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let mut options = rig.options("codex");
    options.dialects.push("phoenix".into());
    let client = Client::connect(options, Person::default(), Era::Handshake).await;
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n";
    assert!(!failed(&client.call("apply_patch", json!({"input": patch})).await));
    let patches = json!([{"operation": "replace", "oldText": "two", "newText": "three"}]);
    let done = client.call("patch", json!({"path": "a.txt", "patches": patches})).await;
    assert!(text(&done).starts_with("Applied 1 patch to a.txt"), "{}", text(&done));
    assert_eq!(rig.text("a.txt"), "three\n");
}

#[tokio::test]
async fn the_payload_of_a_dialect_is_there_as_data() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    let client = rig.connect("forge", Era::Handshake).await;
    let call = json!({"path": "a.txt", "old_snippet": "one", "new_snippet": "two"});
    // By another name of the tool.
    let done = client.call("edit", call).await;
    let payload: serde_json::Value = serde_json::from_str(text(&done)).unwrap();
    assert_eq!(field(&done, "payload"), &payload);
}

#[tokio::test]
async fn guidelines_are_instructions_and_a_prompt() {
    for era in ERAS {
        let rig = Rig::new();
        let client = rig.connect("xzatoma", era).await;
        let guidelines = slipstitch::dialects::builtin().find("xzatoma").unwrap().guidelines.unwrap();
        let info = client.service.peer_info().unwrap();
        assert!(info.instructions.as_ref().unwrap().contains(guidelines.trim_end()));
        let prompts = client.service.list_all_prompts().await.unwrap();
        let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(names, ["xzatoma-guide", "recap"]);
        let prompt = client.service.get_prompt(GetPromptRequestParams::new("xzatoma-guide")).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text().unwrap().text, guidelines);
        let error = client.service.get_prompt(GetPromptRequestParams::new("nope")).await.unwrap_err();
        assert!(error.to_string().contains("`xzatoma-guide`"), "{error}");
    }
}

#[tokio::test]
async fn a_recap_shows_what_the_session_changed() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    rig.workspace("someone-else").call(
        "native",
        "write_file",
        json!({"path": "b.txt", "content": "b\n", "mode": "create"}),
    );
    let client = rig.connect("native", Era::Handshake).await;
    client.call("edit_file", edit("a.txt", "one", "two")).await;
    let prompt = client.service.get_prompt(GetPromptRequestParams::new("recap")).await.unwrap();
    let shown = &prompt.messages[0].content.as_text().unwrap().text;
    assert!(shown.contains("-one\n+two") && !shown.contains("b.txt"), "{shown}");
}
