//! Changes that wait for a person.

use crate::rig::Rig;

const PROPOSE: &str = r#"{"path": "a.txt", "new_content": "1\ntwo\n", "description": "count by numbers"}"#;

fn proposed() -> Rig {
    let rig = Rig::with("one\ntwo\n");
    let run = rig.run(["--session", "agent", "call", "--dialect", "agent-q", "propose_file_edit", PROPOSE]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("p1") && run.err.contains("slipstitch review accept p1"), "{run:?}");
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
    rig
}

#[test]
fn proposals_are_listed_and_shown() {
    let rig = proposed();
    let run = rig.run(["review"]);
    run.assert_done();
    for part in ["p1  ", "agent", "change a.txt", "count by numbers", "propose_file_edit"] {
        assert!(run.out.contains(part), "{part}: {run:?}");
    }
    let run = rig.run(["review", "show", "p1"]);
    run.assert_done();
    for part in ["proposal p1\n", "description: count by numbers", "state: waiting", "-one\n+1\n"] {
        assert!(run.out.contains(part), "{part}: {run:?}");
    }
    let (code, shown) = rig.json(["review", "show", "1"]);
    assert_eq!((code, shown["proposal"]["id"].as_str()), (0, Some("p1")));
    assert_eq!(rig.json(["review"]).1["proposals"][0]["session"], "agent");
    let run = rig.run(["review", "--session", "other"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", "No proposal waits.\n"));
}

// Shows: 002-review-accept
#[test]
fn an_accepted_proposal_is_a_change_of_its_session() {
    let rig = proposed();
    let (code, report) = rig.json(["review", "accept", "p1", "--by", "ada"]);
    assert_eq!(
        (code, report["status"].as_str(), report["change"].as_str()),
        (0, Some("applied"), Some("c1"))
    );
    assert_eq!(rig.get("a.txt"), "1\ntwo\n");
    let change = rig.json(["show", "c1"]).1["change"].take();
    assert_eq!((change["session"].as_str(), change["approval"].as_str()), (Some("agent"), Some("ada")));
    assert_eq!(change["description"], "count by numbers");
    assert!(rig.json(["review"]).1["proposals"].as_array().unwrap().is_empty());
    rig.run(["review", "accept", "p1"]).assert_failed(1, &["accepted by ada as c1"]);
    rig.run(["review", "reject", "p1"]).assert_failed(1, &["accepted by ada as c1"]);
    rig.run(["undo", "--session", "agent"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
}

// Shows: 002-review-reject
#[test]
fn a_rejected_proposal_keeps_its_reason_and_is_never_made() {
    let rig = proposed();
    rig.run(["review", "reject", "p1", "--reason", "not now", "--by", "ada"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
    let settled = rig.json(["review", "show", "p1"]).1["proposal"]["settled"].take();
    assert_eq!(
        (settled["verdict"].as_str(), settled["reason"].as_str()),
        (Some("rejected"), Some("not now"))
    );
    rig.run(["review", "accept", "p1"]).assert_failed(1, &["rejected by ada: not now"]);
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
}

// Shows: 002-review-stale
#[test]
fn a_proposal_for_another_version_of_the_file_is_refused() {
    let rig = proposed();
    rig.put("a.txt", "one\ntwo\nthree\n");
    rig.run(["review", "accept", "p1"]).assert_failed(1, &["`a.txt`", "p1", "hint:"]);
    assert_eq!(rig.json(["review", "accept", "p1"]).1["code"], "stale_file");
    assert_eq!(rig.get("a.txt"), "one\ntwo\nthree\n");
    rig.put("a.txt", "one\ntwo\n");
    rig.run(["review", "accept", "p1"]).assert_done();
}

#[test]
fn what_is_not_there_is_said() {
    let rig = Rig::with("one\n");
    for step in ["show", "accept", "reject"] {
        rig.run(["review", step, "p7"]).assert_failed(2, &["no proposal p7"]);
        rig.run(["review", step, "x"]).assert_failed(2, &["`x` names no proposal"]);
        assert!(rig.run(["review", step, "--help"]).out.contains("Examples:"));
    }
    assert_eq!(rig.json(["review"]).1["proposals"], serde_json::json!([]));
}
