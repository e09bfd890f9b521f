//! The `phoenix` dialect: requests too large for a fixture, sessions and modes.

use serde_json::json;

use super::rig::{Rig, Run};

fn patch(rig: &Rig, session: &str, mode: &str, patches: &serde_json::Value) -> Run {
    let call = json!({"path": "a.txt", "patches": patches}).to_string();
    rig.run_fed(
        ["--session", session, "call", "--dialect", "phoenix", "--mode", mode, "patch", "-"],
        call.as_bytes(),
    )
}

fn assert_refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, 1, "{run:?}");
    assert!(parts.iter().all(|part| run.out.contains(part)), "{run:?}");
}

/// " the" is one token.
fn tokens(count: usize) -> String {
    " the".repeat(count)
}

// Shows: REQ-PATCH-008-tokens, 001-large-patches
#[test]
fn refuses_more_than_60k_tokens() {
    let rig = Rig::with("one\n");
    let patches = json!([{"operation": "append_eof", "newText": tokens(60_001)}]);
    let run = patch(&rig, "s", "unrestricted", &patches);
    assert_refused(&run, &["more than 60000 tokens", "smaller patches"]);
    assert_eq!(rig.get("a.txt"), "one\n");
}

// Shows: REQ-PATCH-008-tokens
#[test]
fn counts_the_tokens_of_all_patches_together() {
    let rig = Rig::with("one\n");
    let append = |count| json!({"operation": "append_eof", "newText": tokens(count)});
    let run = patch(&rig, "s", "unrestricted", &json!([append(30_000), append(30_001)]));
    assert_refused(&run, &["more than 60000 tokens"]);
    patch(&rig, "s", "unrestricted", &json!([append(30_000), append(30_000)])).assert_done();
    assert_eq!(rig.get("a.txt"), format!("one\n{}", tokens(60_000)));
}

// Shows: REQ-PATCH-003-missing
#[test]
fn clipboards_belong_to_their_session() {
    let rig = Rig::with("one\ntwo\n");
    let cut = json!([{"operation": "replace", "oldText": "one\n", "toClipboard": "c"}]);
    let paste = json!([{"operation": "append_eof", "fromClipboard": "c"}]);
    patch(&rig, "first", "unrestricted", &cut).assert_done();
    assert_refused(&patch(&rig, "second", "unrestricted", &paste), &["no clipboard `c`"]);
    patch(&rig, "first", "unrestricted", &paste).assert_done();
    assert_eq!(rig.get("a.txt"), "two\none\n");
}

// Shows: REQ-PATCH-009-disabled-at-once, REQ-PATCH-009-unrestricted
#[test]
fn refuses_calls_after_a_switch_to_restricted() {
    let rig = Rig::with("one\n");
    let append = json!([{"operation": "append_eof", "newText": "x\n"}]);
    patch(&rig, "s", "unrestricted", &append).assert_done();
    let after = patch(&rig, "s", "restricted", &append);
    assert_refused(&after, &["Patch tool is disabled in Restricted mode."]);
    patch(&rig, "s", "unrestricted", &append).assert_done();
    assert_eq!(rig.get("a.txt"), "one\nx\nx\n");
}
