//! `slipstitch mode`.

use super::rig::Rig;

const CALL: [&str; 3] = ["call", "edit_file", r#"{"path": "a.txt", "old_text": "one", "new_text": "1"}"#];

#[test]
fn a_restricted_session_can_read_but_not_write() {
    let rig = Rig::with("one\n");
    assert_eq!(rig.run(["mode"]).out, "unrestricted\n");
    rig.run(["mode", "restricted"]).assert_done();
    assert_eq!(rig.run(["mode"]).out, "restricted\n");
    rig.run(CALL).assert_refused(1, &["Restricted mode"]);
    rig.run(["call", "read_file", r#"{"path": "a.txt"}"#]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
    rig.run(["--session", "other"].into_iter().chain(CALL)).assert_done();
    rig.run(["mode", "unrestricted"]).assert_failed(1, &["write access can only be granted at a terminal"]);
    assert_eq!(rig.run(["mode"]).out, "restricted\n");
    rig.allow_unattended_review();
    rig.run(["mode", "unrestricted"]).assert_done();
    rig.run(["mode", "nonsense"]).assert_failed(2, &["restricted"]);
}

// Shows: REQ-PATCH-009-review
#[test]
fn a_request_for_write_access_is_decided_in_the_review_list() {
    let rig = Rig::with("one\n");
    rig.allow_unattended_review();
    let agent = |words: &[&str]| rig.run(["--session", "agent"].iter().chain(words));
    let request =
        || agent(&["call", "--dialect", "phoenix", "request_mode_upgrade", r#"{"reason": "fix a.txt"}"#]);
    agent(&["mode", "restricted"]).assert_done();
    rig.run(["review"]).assert_done();
    for _ in 0..2 {
        let waiting = request();
        assert!(waiting.code == 0 && waiting.out.contains("waiting for review as p1"), "{waiting:?}");
        assert!(!waiting.out.contains("Error"), "{waiting:?}");
    }
    let listed = rig.run(["review"]);
    listed.assert_done();
    for part in ["p1", "agent", "write access", "fix a.txt"] {
        assert!(listed.out.contains(part), "{part}: {listed:?}");
    }
    assert_eq!(rig.json(["review"]).1["proposals"][0]["subject"], "write_access");
    let shown = rig.run(["review", "show", "p1"]);
    assert!(shown.out.contains("asks for: write access") && shown.out.contains("fix a.txt"), "{shown:?}");

    rig.run(["review", "reject", "p1", "--by", "ada", "--reason", "not today"]).assert_done();
    request().assert_refused(1, &["ada", "not today"]);
    assert_eq!(agent(&["mode"]).out, "restricted\n");

    assert!(request().out.contains("waiting for review as p2"));
    rig.run(["review", "accept", "p2", "--by", "ada"]).assert_done();
    assert_eq!(agent(&["mode"]).out, "unrestricted\n");
    let granted = request();
    assert!(
        granted.code == 0 && granted.out.contains(&format!("{} allowed write access", Rig::ada())),
        "{granted:?}"
    );
    agent(&CALL).assert_done();
    assert_eq!(rig.get("a.txt"), "1\n");
    rig.run(["review", "accept", "p2"]).assert_failed(1, &[&format!("already granted by {}", Rig::ada())]);
    assert_eq!(rig.run(["review"]).err, "Nothing to review.\n");
}
