//! Tools and prompts, as a client sees them.

use rmcp::model::{CallToolResult, ErrorCode, GetPromptRequestParams};
use rmcp::service::ServiceError;
use serde_json::json;
use slipstitch::core::dialect::{Effect, ListedFields};

use slipstitch_mcp::Options;

use crate::harness::{Client, ERAS, Era, TestProject, TestUser, edit, is_error, reported, text};

#[tokio::test]
async fn lists_the_same_definitions_that_the_program_prints() {
    for era in ERAS {
        let project = TestProject::new();
        let client = project.connect("native", era).await;
        let tools = client.service.list_all_tools().await.unwrap();
        let dialect = slipstitch::dialects::builtin().find("native").unwrap();
        assert_eq!(tools.len(), dialect.default_tools().count());
        for (listed, tool) in tools.iter().zip(dialect.default_tools()) {
            assert_eq!(
                serde_json::to_value(listed).unwrap(),
                slipstitch_mcp::tool_definition(dialect, tool, ListedFields::Common, false),
                "{era:?}"
            );
            let hints = listed.annotations.as_ref().unwrap();
            assert_eq!(hints.open_world_hint, Some(false));
            assert_eq!(hints.read_only_hint, Some(tool.effect == Effect::Reads), "{}", listed.name);
            assert!(listed.output_schema.is_none(), "{}", listed.name);
        }
    }
}

/// Read, edit, refusal of a stale version, recovery, a patch of three files, undo.
#[tokio::test]
async fn a_complete_editing_session() {
    for era in ERAS {
        let project = TestProject::with_files(&[
            ("a.rs", "fn a() {\n    one();\n}\n"),
            ("b.rs", "b\n"),
            ("c.rs", "c\n"),
        ]);
        let client = project.connect("native", era).await;

        let read = client.call("read_file", json!({"path": "a.rs"})).await;
        assert!(text(&read).contains("one();") && !is_error(&read));
        assert!(read.structured_content.is_none(), "file contents are sent once");
        let version = text(&read).rsplit("version: ").next().unwrap().trim().to_owned();

        let done = client.call("edit_file", edit("a.rs", "one();", "two();")).await;
        assert_eq!(
            (reported(&done, "status"), is_error(&done)),
            (&json!("applied"), false),
            "{}",
            text(&done)
        );
        assert!(done.structured_content.is_none(), "models would pay for it twice");
        assert_eq!(reported(&done, "files")[0]["path"], "a.rs");

        let stale = client
            .call(
                "edit_file",
                json!({"path": "a.rs", "old_text": "two", "new_text": "3", "version": version}),
            )
            .await;
        assert_eq!((reported(&stale, "code"), is_error(&stale)), (&json!("stale_file"), true));

        // One space where the file has four.
        let recovered =
            client.call("edit_file", edit("a.rs", "fn a() {\n two();\n}", "fn a() {\n three();\n}")).await;
        assert_eq!(reported(&recovered, "status"), "applied", "{}", text(&recovered));
        assert_eq!(project.read("a.rs"), "fn a() {\n    three();\n}\n");

        let patch = "--- a/a.rs\n+++ b/a.rs\n@@ -2 +2 @@\n-    three();\n+    four();\n\
                     --- a/b.rs\n+++ b/b.rs\n@@ -1 +1 @@\n-b\n+B\n--- a/c.rs\n+++ b/c.rs\n@@ -1 +1 @@\n-c\n+C\n";
        let patched = client.call("patch", json!({"patch": patch})).await;
        assert_eq!(reported(&patched, "files").as_array().unwrap().len(), 3, "{}", text(&patched));
        assert_eq!((project.read("b.rs"), project.read("c.rs")), ("B\n".into(), "C\n".into()));

        let undone = client.call("undo_edit", json!({})).await;
        assert!(!is_error(&undone), "{}", text(&undone));
        assert_eq!(
            (project.read("a.rs").contains("three"), project.read("b.rs")),
            (true, "b\n".into()),
            "{era:?}"
        );
    }
}

#[tokio::test]
async fn model_mistakes_are_results_and_client_mistakes_are_errors() {
    for era in ERAS {
        let project = TestProject::with_files(&[("a.txt", "x\n")]);
        let client = project.connect("native", era).await;
        for (tool, arguments, code) in [
            ("edit_file", edit("a.txt", "not there at all", "y"), "no_match"),
            ("edit_file", edit("../a.txt", "x", "y"), "outside_root"),
            ("edit_file", edit("/etc/hostname", "x", "y"), "outside_root"),
            ("edit_file", json!({"path": "a.txt", "colour": "red"}), "bad_request"),
            ("edit_file", json!({}), "bad_request"),
        ] {
            let result = client.call(tool, arguments.clone()).await;
            assert_eq!((is_error(&result), reported(&result, "code")), (true, &json!(code)), "{arguments}");
        }
        let error = client.try_call("nope", json!({})).await.unwrap_err();
        let ServiceError::McpError(error) = error else { panic!("{error}") };
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
        assert!(
            error.message.contains("`nope`") && error.message.contains("`edit_file`"),
            "{}",
            error.message
        );
        assert_eq!(project.read("a.txt"), "x\n");
    }
}

#[tokio::test]
async fn two_dialects_can_be_served_together() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let mut options = project.options("codex");
    options.dialects.push("phoenix".into());
    let client = Client::connect(options, TestUser::default(), Era::Handshake).await;
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n";
    assert!(!is_error(&client.call("apply_patch", json!({"input": patch})).await));
    let patches = json!([{"operation": "replace", "oldText": "two", "newText": "three"}]);
    let done = client.call("patch", json!({"path": "a.txt", "patches": patches})).await;
    assert!(text(&done).starts_with("Applied 1 patch to a.txt"), "{}", text(&done));
    assert_eq!(project.read("a.txt"), "three\n");
}

#[tokio::test]
async fn structured_content_is_sent_on_request_and_never_with_errors() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let options = Options { structured: true, ..project.options("forge") };
    let client = Client::connect(options, TestUser::default(), Era::Handshake).await;
    assert!(client.service.list_all_tools().await.unwrap()[0].output_schema.is_some());
    let call = json!({"path": "a.txt", "old_snippet": "one", "new_snippet": "two"});
    // By an alias of the tool.
    let done = client.call("edit", call).await;
    let payload: serde_json::Value = serde_json::from_str(text(&done)).unwrap();
    let content = done.structured_content.as_ref().unwrap();
    // Programs get the whole hash, models its first digits.
    let mut abbreviated = content["payload"].clone();
    let hash = abbreviated["current_file_hash"].as_str().unwrap().to_owned();
    assert_eq!(hash.len(), "b3:".len() + 64);
    abbreviated["current_file_hash"] = hash[.."b3:".len() + 12].into();
    assert_eq!((&abbreviated, &content["answer"]), (&payload, &json!(text(&done))));
    assert!(done.meta.as_ref().unwrap().0.contains_key("slipstitch/diff"));
    let call = json!({"path": "a.txt", "old_snippet": "nothing like it", "new_snippet": "two"});
    let refused = client.call("Edit", call).await;
    assert!(is_error(&refused) && refused.structured_content.is_none());
}

// Shows: 002-categories, edit-file-is-moderate, 002-propose-dangerous
#[tokio::test]
async fn safety_level_and_categories_are_structured_content() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let options = Options { structured: true, ..project.options("agent-q") };
    let client = Client::connect(options, TestUser::default(), Era::Handshake).await;
    let structured =
        |result: &CallToolResult, field: &str| result.structured_content.as_ref().unwrap()[field].clone();
    let call = json!({"path": "a.txt", "old_str": "one", "new_str": "two", "description": "why"});
    let done = client.call("edit_file", call).await;
    let log = json!({
        "log_level": "cautious", "safety_level": "moderate", "categories": ["filesystem", "editing"], "description": "why",
    });
    assert_eq!(structured(&done, "log"), log);
    let call = json!({"path": "a.txt", "new_content": "three\n"});
    client.answer_next_form(json!({"action": "cancel"}));
    let pending = client.call("propose_file_edit", call).await;
    assert_ne!(pending.is_error, Some(true), "a proposal is not an error");
    assert_eq!(reported(&pending, "status"), "pending");
    assert_eq!(reported(&pending, "log")["safety_level"], "dangerous");
}

// Shows: 003-guidelines, 003-system-prompt
#[tokio::test]
async fn the_guide_is_in_the_instructions_and_a_prompt() {
    for era in ERAS {
        let project = TestProject::new();
        let client = project.connect("xzatoma", era).await;
        let dialect = slipstitch::dialects::builtin().find("xzatoma").unwrap();
        let guide = dialect.guide;
        assert!(guide.contains(dialect.guidelines.unwrap().trim()), "the document's constant, word for word");
        let info = client.service.peer_info().unwrap();
        assert!(info.instructions.as_ref().unwrap().contains(guide.trim_end()));
        let prompts = client.service.list_all_prompts().await.unwrap();
        let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(names, ["xzatoma-guide", "recap"]);
        let prompt = client.service.get_prompt(GetPromptRequestParams::new("xzatoma-guide")).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text().unwrap().text, guide);
        let error = client.service.get_prompt(GetPromptRequestParams::new("nope")).await.unwrap_err();
        assert!(error.to_string().contains("`xzatoma-guide`"), "{error}");
    }
}

#[tokio::test]
async fn the_recap_shows_only_the_sessions_changes() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    project.workspace("another-session").call(
        "native",
        "write_file",
        json!({"path": "b.txt", "content": "b\n", "mode": "create"}),
    );
    let client = project.connect("native", Era::Handshake).await;
    client.call("edit_file", edit("a.txt", "one", "two")).await;
    let prompt = client.service.get_prompt(GetPromptRequestParams::new("recap")).await.unwrap();
    let shown = &prompt.messages[0].content.as_text().unwrap().text;
    assert!(shown.contains("-one\n+two") && !shown.contains("b.txt"), "{shown}");
}

// Shows: 000-config-enabled
#[tokio::test]
async fn a_tool_that_is_switched_off_is_not_listed() {
    for era in ERAS {
        let project = TestProject::new();
        let client = project.connect("forge", era).await;
        assert_eq!(client.service.list_all_tools().await.unwrap().len(), 1);
        let project = TestProject::with_files(&[("slipstitch.toml", "[tools.edit]\nenabled = false\n")]);
        let client = project.connect("forge", era).await;
        assert!(client.service.list_all_tools().await.unwrap().is_empty(), "{era:?}");
    }
}

// Shows: 000-approval
#[tokio::test]
async fn forge_edits_ask_or_are_denied_if_the_settings_say_so() {
    let call = json!({"path": "a.txt", "old_snippet": "one", "new_snippet": "1"});
    for (approval, code) in [("ask", "pending_review"), ("deny", "declined")] {
        let settings = format!("[tools.edit]\napproval = \"{approval}\"\n");
        let project = TestProject::with_files(&[("slipstitch.toml", &settings), ("a.txt", "one\n")]);
        let options = project.options("forge");
        let client = Client::connect(options, TestUser::without_forms(), Era::Handshake).await;
        let answer = client.call("Edit", call.clone()).await;
        assert_eq!(reported(&answer, "code"), code, "{}", text(&answer));
        assert_eq!(project.read("a.txt"), "one\n");
    }
}

// Shows: REQ-PATCH-007-diff
#[tokio::test]
async fn a_written_change_has_its_diff_for_the_client() {
    let project = TestProject::with_files(&[("a.txt", "one\n")]);
    let client = project.connect("phoenix", Era::Handshake).await;
    let patches = json!([{"operation": "replace", "oldText": "one", "newText": "1"}]);
    let answer = client.call("patch", json!({"path": "a.txt", "patches": patches})).await;
    let answer = serde_json::to_value(answer).unwrap();
    let diff = answer["_meta"]["slipstitch/diff"].as_str().unwrap();
    assert!(diff.contains("-one\n+1\n"), "{diff}");
    assert!(!answer["content"].to_string().contains("-one"), "the model gets the confirmation only");
}
