//! The dialect `phoenix` with requests too large for a fixture, over sessions and modes.

use serde_json::json;

use crate::rig::{Rig, Run};

fn patch(rig: &Rig, session: &str, mode: &str, patches: &serde_json::Value) -> Run {
    let call = json!({"path": "a.txt", "patches": patches}).to_string();
    rig.run_fed(
        ["--session", session, "call", "--dialect", "phoenix", "--mode", mode, "patch", "-"],
        call.as_bytes(),
    )
}

fn refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, 1, "{run:?}");
    assert!(parts.iter().all(|part| run.err.contains(part)), "{run:?}");
}

/// " the" is one token.
fn tokens(count: usize) -> String {
    " the".repeat(count)
}

// Shows: REQ-PATCH-008-tokens
#[test]
fn more_than_60k_tokens_are_refused() {
    let rig = Rig::with("one\n");
    let patches = json!([{"operation": "append_eof", "newText": tokens(60_001)}]);
    let run = patch(&rig, "s", "unrestricted", &patches);
    refused(&run, &["more than 60000 tokens", "smaller patches"]);
    assert_eq!(rig.get("a.txt"), "one\n");
}

// Shows: REQ-PATCH-008-tokens
#[test]
fn the_tokens_of_all_patches_count_together() {
    let rig = Rig::with("one\n");
    let append = |count| json!({"operation": "append_eof", "newText": tokens(count)});
    let run = patch(&rig, "s", "unrestricted", &json!([append(30_000), append(30_001)]));
    refused(&run, &["more than 60000 tokens"]);
    patch(&rig, "s", "unrestricted", &json!([append(30_000), append(30_000)])).assert_done();
    assert_eq!(rig.get("a.txt"), format!("one\n{}", tokens(60_000)));
}

// Shows: REQ-PATCH-003-missing
#[test]
fn clipboards_are_of_the_session_alone() {
    let rig = Rig::with("one\ntwo\n");
    let cut = json!([{"operation": "replace", "oldText": "one\n", "toClipboard": "c"}]);
    let paste = json!([{"operation": "append_eof", "fromClipboard": "c"}]);
    patch(&rig, "first", "unrestricted", &cut).assert_done();
    refused(&patch(&rig, "second", "unrestricted", &paste), &["no clipboard `c`"]);
    patch(&rig, "first", "unrestricted", &paste).assert_done();
    assert_eq!(rig.get("a.txt"), "two\none\n");
}

// Shows: REQ-PATCH-009-disabled-at-once, REQ-PATCH-009-unrestricted
#[test]
fn the_call_after_a_change_to_restricted_is_refused() {
    let rig = Rig::with("one\n");
    let append = json!([{"operation": "append_eof", "newText": "x\n"}]);
    patch(&rig, "s", "unrestricted", &append).assert_done();
    let after = patch(&rig, "s", "restricted", &append);
    refused(&after, &["Patch tool is disabled in Restricted mode."]);
    patch(&rig, "s", "unrestricted", &append).assert_done();
    assert_eq!(rig.get("a.txt"), "one\nx\nx\n");
}
