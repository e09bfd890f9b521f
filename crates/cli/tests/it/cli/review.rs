//! `slipstitch review`.

use super::rig::Rig;

const PROPOSE: &str = r#"{"path": "a.txt", "new_content": "1\ntwo\n", "description": "count by numbers"}"#;

fn rig_with_proposal() -> Rig {
    let rig = Rig::with("one\ntwo\n");
    rig.allow_unattended_review();
    let run = rig.run(["--session", "agent", "call", "--dialect", "agent-q", "propose_file_edit", PROPOSE]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    assert!(run.out.contains("p1") && !run.out.contains("slipstitch review"), "{run:?}");
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
    rig
}

#[test]
fn lists_and_shows_proposals() {
    let rig = rig_with_proposal();
    let run = rig.run(["review"]);
    run.assert_done();
    for part in ["p1  ", "agent", "change a.txt", "count by numbers", "propose_file_edit"] {
        assert!(run.out.contains(part), "{part}: {run:?}");
    }
    let run = rig.run(["review", "show", "p1"]);
    run.assert_done();
    for part in
        ["proposal p1\n", "description: count by numbers", "state: pending", "\nhunk 1\n", "-one\n+1\n"]
    {
        assert!(run.out.contains(part), "{part}: {run:?}");
    }
    let (code, shown) = rig.json(["review", "show", "1"]);
    assert_eq!((code, shown["proposal"]["id"].as_str()), (0, Some("p1")));
    assert_eq!(rig.json(["review"]).1["proposals"][0]["session"], "agent");
    let run = rig.run(["review", "--session", "other"]);
    assert_eq!(
        (run.code, run.out.as_str(), run.err.as_str()),
        (0, "", "No pending proposals match these options.\n")
    );
}

// Shows: 002-review-accept
#[test]
fn an_accepted_proposal_belongs_to_the_session_that_proposed_it() {
    let rig = rig_with_proposal();
    let (code, report) = rig.json(["review", "accept", "p1", "--by", "ada"]);
    assert_eq!(
        (code, report["status"].as_str(), report["change"].as_str()),
        (0, Some("applied"), Some("c1"))
    );
    assert_eq!(rig.get("a.txt"), "1\ntwo\n");
    let change = rig.json(["show", "c1"]).1["change"].take();
    assert_eq!(
        (change["session"].as_str(), change["approval"].as_str()),
        (Some("agent"), Some(Rig::ada().as_str()))
    );
    assert_eq!(change["description"], "count by numbers");
    assert!(rig.json(["review"]).1["proposals"].as_array().unwrap().is_empty());
    rig.run(["review", "accept", "p1"]).assert_failed(1, &[&format!("accepted by {} as c1", Rig::ada())]);
    rig.run(["review", "reject", "p1"]).assert_failed(1, &[&format!("accepted by {} as c1", Rig::ada())]);
    rig.run(["--session", "agent", "undo"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
}

// Shows: 002-review-reject
#[test]
fn a_rejected_proposal_keeps_its_reason_and_is_never_applied() {
    let rig = rig_with_proposal();
    rig.run(["review", "reject", "p1", "--reason", "not now", "--by", "ada"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
    let settled = rig.json(["review", "show", "p1"]).1["proposal"]["settled"].take();
    assert_eq!(
        (settled["verdict"].as_str(), settled["reason"].as_str()),
        (Some("rejected"), Some("not now"))
    );
    rig.run(["review", "accept", "p1"]).assert_failed(1, &[&format!("rejected by {}: not now", Rig::ada())]);
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
}

/// A file of twenty lines, with a proposal that changes the first and the last.
fn rig_with_two_hunks() -> Rig {
    let text: String = (1..=20).map(|number| format!("{number}\n")).collect();
    let rig = Rig::with(&text);
    rig.allow_unattended_review();
    let new = text.replace("1\n2\n", "one\n2\n").replace("\n20\n", "\ntwenty\n");
    let call = serde_json::json!({"path": "a.txt", "new_content": new}).to_string();
    let run = rig.run(["call", "--dialect", "agent-q", "propose_file_edit", &call]);
    assert_eq!(run.code, 0, "{run:?}");
    rig
}

// Shows: 002-review-hunks
#[test]
fn hunks_are_numbered_and_accepted_one_by_one() {
    let rig = rig_with_two_hunks();
    let shown = rig.run(["review", "show", "p1"]).out;
    let (first, second) = shown.split_once("\nhunk 2\n").unwrap();
    assert!(
        first.contains("\nhunk 1\ndiff --git") && first.contains("+one\n") && second.contains("+twenty\n"),
        "{shown}"
    );
    let (code, report) = rig.json(["review", "accept", "p1", "--hunk", "2", "--by", "ada"]);
    assert_eq!((code, report["status"].as_str()), (0, Some("applied")), "{report}");
    assert_eq!(report["left_out"], serde_json::json!([{"hunk": 1, "by": Rig::ada()}]));
    let text = rig.get("a.txt");
    assert!(text.starts_with("1\n2\n") && text.ends_with("19\ntwenty\n"), "{text}");
    let settled = rig.json(["review", "show", "p1"]).1["proposal"]["settled"].take();
    assert_eq!(settled["left_out"][0]["hunk"], 1);
    assert!(
        rig.run(["review", "show", "p1"]).out.contains(&format!("hunk 1, not applied ({})\n", Rig::ada()))
    );
    let (_, change) = rig.json(["show", "c1"]);
    assert_eq!((&change["proposal"], &change["left_out"][0]["hunk"]), (&"p1".into(), &1.into()), "{change}");
    assert!(rig.run(["show", "c1"]).out.contains("\nproposal: p1, without hunk 1\n"));
}

// Shows: 002-review-hunks
#[test]
fn a_rejected_hunk_is_left_out_when_the_rest_is_accepted() {
    let rig = rig_with_two_hunks();
    rig.run(["review", "reject", "p1", "--hunk", "1", "--reason", "keep it", "--by", "ada"]).assert_done();
    let (_, shown) = rig.json(["review", "show", "p1"]);
    assert_eq!(shown["hunks"][0]["rejected"], serde_json::json!({"by": Rig::ada(), "reason": "keep it"}));
    assert_eq!(
        (&shown["hunks"][1]["rejected"], &shown["hunks"][1]["hunk"]),
        (&serde_json::Value::Null, &2.into())
    );
    assert_eq!(rig.json(["review"]).1["proposals"].as_array().unwrap().len(), 1);
    let run = rig.run(["review", "accept", "p1"]);
    run.assert_done();
    assert!(
        run.err.contains(&format!("not applied: hunk 1 at a.txt:1 (rejected by {}: keep it)", Rig::ada())),
        "{run:?}"
    );
    assert!(rig.get("a.txt").starts_with("1\n2\n") && rig.get("a.txt").ends_with("twenty\n"));
    rig.run(["review", "accept", "p1", "--hunk", "1"]).assert_failed(1, &["accepted by"]);
    let shown = rig.run(["show", "c1"]).out;
    assert!(
        shown.contains(&format!("\nproposal: p1, without hunk 1 (rejected by {}: keep it)\n", Rig::ada())),
        "{shown}"
    );
    let rig = rig_with_two_hunks();
    rig.run(["review", "accept", "p1", "--hunk", "1,3"]).assert_failed(2, &["p1 has 2 hunks", "no hunk 3"]);
}

// Shows: 002-review-stale
#[test]
fn refuses_a_proposal_for_another_version_of_the_file() {
    let rig = rig_with_proposal();
    rig.put("a.txt", "One\ntwo\nthree\n");
    rig.run(["review", "accept", "p1"]).assert_failed(1, &["`a.txt`", "line 1", "p1 would write", "hint:"]);
    assert_eq!(rig.json(["review", "accept", "p1"]).1["code"], "stale_file");
    assert_eq!(rig.get("a.txt"), "One\ntwo\nthree\n");
    // A change of other lines is kept.
    rig.put("a.txt", "one\ntwo\nthree\n");
    rig.run(["review", "accept", "p1"]).assert_done();
    assert_eq!(rig.get("a.txt"), "1\ntwo\nthree\n");
}

#[test]
fn a_process_without_a_terminal_cannot_accept() {
    let rig = rig_with_proposal();
    std::fs::remove_dir_all(rig.outside().join(".config")).unwrap();
    rig.run(["review", "accept", "p1", "--by", "ada"])
        .assert_failed(1, &["only be accepted at a terminal", "A person has to approve this at a terminal"]);
    assert_eq!(rig.get("a.txt"), "one\ntwo\n");
    assert_eq!(rig.json(["review"]).1["proposals"].as_array().unwrap().len(), 1);
}

#[test]
fn another_settings_file_cannot_relax_the_rules() {
    let rig = rig_with_proposal();
    let own = rig.outside().join(".config");
    std::fs::rename(&own, rig.outside().join("given")).unwrap();
    std::fs::create_dir_all(rig.outside().join("home")).unwrap();
    std::fs::rename(rig.outside().join("given"), rig.outside().join("home/.config")).unwrap();
    let given = rig.outside().join("home/.config/slipstitch/config.toml");
    std::fs::write(&given, "[review]\nunattended = true\n[protected]\nrule = \"allow\"\n").unwrap();
    let home = rig.outside().join("home");
    let variables = [("HOME", home.clone()), ("XDG_CONFIG_HOME", home.join(".config")), ("X", home.clone())];
    std::fs::create_dir(rig.root().join(".git")).unwrap();
    rig.put(".git/config", "[core]\n");
    for (name, value) in variables {
        let run = |words: &[&str]| {
            let mut command = rig.command();
            command.env(name, &value).args(words);
            if name == "X" {
                command.arg("--config").arg(&given);
            }
            super::rig::Run::of(&mut command)
        };
        run(&["review", "accept", "p1"]).assert_failed(1, &["only be accepted at a terminal"]);
        run(&["edit", ".git/config", "--old", "core", "--new", "user", "--yes"]).assert_failed(
            1,
            &["`.git/config` is protected", "2 settings in", "are ignored", "config check"],
        );
        let call = r#"{"path": ".git/config", "old_text": "core", "new_text": "user"}"#;
        assert!(run(&["call", "edit_file", call]).out.contains("waiting for review"), "{name}");
        let page = run(&["review", "--web"]);
        page.assert_failed(1, &["only be opened at a terminal"]);
    }
    assert_eq!((rig.get("a.txt").as_str(), rig.get(".git/config").as_str()), ("one\ntwo\n", "[core]\n"));
}

#[test]
fn several_proposals_are_decided_at_once() {
    let rig = rig_with_proposal();
    rig.put("b.txt", "x\n");
    let call = r#"{"path": "b.txt", "new_content": "y\n"}"#;
    rig.run(["call", "--dialect", "agent-q", "propose_file_edit", call]);
    let shown = rig.run(["review", "show", "p1..p7"]);
    shown.assert_done();
    assert!(shown.out.contains("proposal p1\n") && shown.out.contains("proposal p2\n"), "{shown:?}");
    rig.run(["review", "show", "p5..p7"]).assert_failed(1, &["none of these proposals is pending"]);
    rig.run(["review", "show", "p2..p1"]).assert_failed(2, &["p1 is older than p2"]);
    let run = rig.run(["review", "accept", "p1..p2"]);
    run.assert_done();
    assert!(run.err.contains("Accepted p1") && run.err.contains("Accepted p2"), "{run:?}");
    assert_eq!((rig.get("a.txt").as_str(), rig.get("b.txt").as_str()), ("1\ntwo\n", "y\n"));
    rig.run(["review", "accept", "p1", "p2", "--hunk", "1"])
        .assert_failed(2, &["`--hunk` is for one proposal"]);
}

#[test]
fn plain_review_goes_through_the_hunks() {
    let rig = rig_with_two_hunks();
    let run = rig.run_fed(["review", "--plain"], "?\na\nr\nkeep twenty\n");
    run.assert_done();
    for part in ["Proposal p1 (1 of 1)", "Hunk 1 of 2", "accept this hunk", "Decided 1 of 1"] {
        assert!(run.err.contains(part), "{part}: {run:?}");
    }
    let text = rig.get("a.txt");
    assert!(text.starts_with("one\n2\n") && text.ends_with("\n20\n"), "{text}");
    let settled = rig.json(["review", "show", "p1"]).1["proposal"]["settled"].take();
    assert_eq!(settled["left_out"][0]["reason"], "keep twenty");
    let rig = rig_with_two_hunks();
    rig.run_fed(["review", "--plain"], "a\nq\n").assert_done();
    assert_eq!(
        rig.json(["review"]).1["proposals"].as_array().unwrap().len(),
        1,
        "nothing is decided halfway"
    );
}

#[test]
fn plain_review_takes_only_the_answers_that_it_lists() {
    for answer in ["n", "y"] {
        let rig = rig_with_two_hunks();
        let run = rig.run_fed(["review", "--plain"], format!("{answer}\n\nq\n"));
        run.assert_done();
        assert!(run.err.contains("accept this hunk") && !run.err.contains("Reason for the agent"), "{run:?}");
        assert!(!run.err.contains("Hunk 2 of 2"), "{run:?}");
    }
}

#[test]
fn a_rejection_without_an_answer_to_why_decides_nothing() {
    for answers in ["r\n", "R\n", "a\nr\n"] {
        let rig = rig_with_two_hunks();
        let run = rig.run_fed(["review", "--plain"], answers);
        assert!(run.err.contains("Nothing was rejected.") && run.err.contains("Decided 0 of 1"), "{run:?}");
        assert_eq!(rig.json(["review"]).1["proposals"].as_array().unwrap().len(), 1, "{answers}");
    }
}

/// At a terminal, more can follow.
#[cfg(unix)]
#[test]
fn more_can_be_decided_after_a_rejection_without_an_answer_to_why() {
    let rig = rig_with_two_hunks();
    let person = super::terminal::Terminal::new(&rig).answer("Hunk 1 of 2", "r\n").answer("Reason", "\u{4}");
    let person = person.answer("Hunk 1 of 2", "a\n").answer("Hunk 2 of 2", "a\n").run(&["review", "--plain"]);
    person.assert_shows(&["Nothing was rejected.", "Decided 1 of 1"]);
    let text = rig.get("a.txt");
    assert!(text.starts_with("one\n2\n") && text.ends_with("\ntwenty\n"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_hunk_is_edited_in_plain_review() {
    let rig = rig_with_two_hunks();
    let run = |editor: &str, answers: &str| {
        let mut command = rig.command();
        command.env("EDITOR", editor).env("PATH", "/usr/bin:/bin").args(["review", "--plain"]);
        super::rig::Run::of(command.write_stdin(answers))
    };
    // What the editor leaves alone or fails to write is asked about again.
    let done = run("true", "e\nq\n");
    assert!(done.err.contains("The hunk is as it was."), "{done:?}");
    let done = run("false", "e\nq\n");
    assert!(done.err.contains("`false` ended with"), "{done:?}");
    let done = run("sed -i s/one/uno/", "e\na\n");
    done.assert_done();
    assert!(done.err.contains("e  edit") || done.err.contains("[a,r,e,A,R,s,q,?]"), "{done:?}");
    let text = rig.get("a.txt");
    assert!(text.starts_with("uno\n2\n") && text.ends_with("\ntwenty\n"), "{text}");
    let settled = rig.json(["review", "show", "p1"]).1["proposal"]["settled"].take();
    assert_eq!(settled["edited"], serde_json::json!([1]), "{settled}");
}

/// The tool's answer has several lines, like the server's.
#[test]
fn the_answer_about_an_edited_hunk_shows_lines() {
    for (dialect, tool, call) in [
        ("native", "edit_file", r#"{"path": "a.txt", "old_text": "one", "new_text": "1"}"#),
        (
            "codex",
            "apply_patch",
            r#"{"input": "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch\n"}"#,
        ),
        ("nexus3", "edit_file", r#"{"path": "a.txt", "old_string": "one", "new_string": "1"}"#),
    ] {
        let rig = Rig::with("one\ntwo\n");
        rig.write_settings("[review]\nunattended = true\n[[rules]]\nverdict = \"ask\"\n");
        let send = || rig.run(["call", "--dialect", dialect, tool, call]);
        assert!(send().out.contains("p1"), "{dialect}");
        let mut command = rig.command();
        command.env("EDITOR", "sed -i s/1/uno/").env("PATH", "/usr/bin:/bin").args(["review", "--plain"]);
        super::rig::Run::of(command.write_stdin("e\na\n")).assert_done();
        let told = send();
        assert!(told.out.contains("this was written:\n") && told.out.contains("\n-one\n+uno\n"), "{told:?}");
        assert!(!told.out.contains("\\n"), "{dialect}: {told:?}");
    }
}

#[test]
fn reports_unknown_proposals() {
    let rig = Rig::with("one\n");
    rig.allow_unattended_review();
    for action in ["show", "accept", "reject"] {
        rig.run(["review", action, "p7"]).assert_failed(2, &["no proposal p7"]);
        rig.run(["review", action, "x"]).assert_failed(2, &["`x` is not a proposal id"]);
        assert!(rig.run(["review", action, "--help"]).out.contains("Examples:"));
    }
    assert_eq!(rig.json(["review"]).1["proposals"], serde_json::json!([]));
}

#[test]
fn lists_are_limited_to_a_file() {
    let rig = rig_with_proposal();
    rig.put("b.txt", "x\n");
    rig.run([
        "call",
        "--dialect",
        "agent-q",
        "propose_file_edit",
        r#"{"path": "b.txt", "new_content": "y\n"}"#,
    ]);
    for words in [&["review", "list", "--file", "b.txt"][..], &["review", "--file", "b.txt", "list"]] {
        let run = rig.run(words);
        assert!(run.out.contains("p2") && !run.out.contains("p1"), "{run:?}");
    }
    assert_eq!(rig.json(["review", "list", "--since", "1h"]).1["proposals"].as_array().unwrap().len(), 2);
}

/// What the page and the full-screen view say about a proposal is said here, too.
#[test]
fn a_conflict_is_shown_before_anybody_decides() {
    let rig = rig_with_proposal();
    rig.put("a.txt", "One\ntwo\n");
    let shown = rig.run(["review", "show", "p1"]);
    for part in
        ["note: Cannot be applied now", "it was made for", "one", "p1 would write", "now, at line 1", "One"]
    {
        assert!(shown.out.contains(part), "{part}: {shown:?}");
    }
    let notes = rig.json(["review", "show", "p1"]).1["notes"].take();
    assert!(notes[0].as_str().unwrap().contains("Cannot be applied now"), "{notes}");
    let plain = rig.run_fed(["review", "--plain"], "s\n");
    assert!(plain.err.contains("Cannot be applied now") && plain.err.contains("now, at line 1"), "{plain:?}");
}
