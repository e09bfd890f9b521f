//! One selection language: the same options mean the same changes in `log`, `undo`, `redo`, `sessions` and `stats`.

use serde_json::Value;

use super::rig::Rig;

/// Two agents and two sessions, each with a change of its own file.
fn rig() -> Rig {
    let rig = Rig::new();
    rig.allow_unattended_review();
    for name in ["a.txt", "b.txt", "c.txt"] {
        rig.put(name, "old\n");
    }
    let call = |path: &str, session: &str, agent: &str| {
        let arguments = format!(r#"{{"path": "{path}", "old_text": "old", "new_text": "new"}}"#);
        rig.run(["call", "edit_file", &arguments, "--session", session, "--agent", agent]).assert_done();
    };
    call("a.txt", "s1", "claude-code");
    call("b.txt", "s2", "codex");
    call("c.txt", "s2", "claude-code");
    rig
}

fn ids(rig: &Rig, options: &[&str]) -> Vec<String> {
    let (_, log) = rig.json([&["log"], options].concat());
    let changes = log["changes"].as_array().unwrap().iter();
    changes.map(|change| change["id"].as_str().unwrap().to_owned()).collect()
}

/// Options, and the changes that they select.
const SELECTIONS: &[(&[&str], &[&str])] = &[
    (&["--agent", "claude-code"], &["c3", "c1"]),
    (&["--session", "s2"], &["c3", "c2"]),
    (&["--session", "s2", "--agent", "claude-code"], &["c3"]),
    (&["--file", "b.txt"], &["c2"]),
    (&["--file", "."], &["c3", "c2", "c1"]),
    (&["--agent", "codex", "--file", "b.txt", "--since", "1h"], &["c2"]),
    (&["--since", "1h"], &["c3", "c2", "c1"]),
    (&["--until", "2001-01-01"], &[]),
    (&["--agent", "nobody"], &[]),
];

#[test]
fn undo_takes_back_exactly_what_log_lists() {
    for (options, selected) in SELECTIONS {
        let rig = rig();
        assert_eq!(ids(&rig, options), *selected, "{options:?}");
        let undo = rig.run([&["undo", "--yes", "--all"], *options].concat());
        if selected.is_empty() {
            undo.assert_failed(1, &["no change to undo matches these options"]);
        } else {
            undo.assert_done();
        }
        for (name, id) in [("a.txt", "c1"), ("b.txt", "c2"), ("c.txt", "c3")] {
            let want = if selected.contains(&id) { "old\n" } else { "new\n" };
            assert_eq!(rig.get(name), want, "{options:?}: {name}");
        }
    }
}

#[test]
fn stats_and_sessions_count_what_log_lists() {
    let rig = rig();
    for (options, selected) in SELECTIONS {
        let (_, sessions) = rig.json([&["sessions"], *options].concat());
        let counted =
            sessions["sessions"].as_array().unwrap().iter().map(|one| one["changes"].as_u64().unwrap());
        assert_eq!(counted.sum::<u64>(), selected.len() as u64, "{options:?}");
        let (_, stats) = rig.json([&["stats"], *options].concat());
        assert_eq!(stats["total"]["applied"], selected.len(), "{options:?}");
    }
}

#[test]
fn an_agent_that_undoes_is_not_the_agent_that_is_selected() {
    let rig = rig();
    rig.put("d.txt", "old\n");
    rig.run(["edit", "d.txt", "--old", "old", "--new", "mine"]).assert_done();
    rig.run(["undo", "--agent", "codex", "--yes"]).assert_done();
    assert_eq!(rig.get("d.txt"), "mine\n", "my own change stays");
    let (_, log) = rig.json(["log", "--limit", "1"]);
    assert_eq!(log["changes"][0]["agent"], Value::Null, "{log}");
}

#[test]
fn redo_selects_in_the_same_way() {
    let rig = rig();
    rig.run(["undo", "c1"]).assert_done();
    rig.run(["undo", "c2"]).assert_done();
    rig.run(["redo", "--file", "a.txt"]).assert_done();
    assert_eq!((rig.get("a.txt").as_str(), rig.get("b.txt").as_str()), ("new\n", "old\n"));
    rig.run(["redo", "--file", "c.txt"]).assert_failed(1, &["no change to redo matches these options"]);
}

#[test]
fn redo_selects_what_was_undone_by_someone_else() {
    let rig = rig();
    let options = ["--agent", "claude-code", "--since", "1h"];
    rig.run([&["undo", "--yes"], &options[..]].concat()).assert_done();
    assert_eq!((rig.get("a.txt").as_str(), rig.get("c.txt").as_str()), ("old\n", "old\n"));
    rig.run([&["redo"], &options[..]].concat()).assert_done();
    assert_eq!((rig.get("a.txt").as_str(), rig.get("c.txt").as_str()), ("new\n", "new\n"));
    // An undo that reverted more than the selection is left alone.
    rig.run(["undo", "c1", "c2"]).assert_done();
    rig.run(["redo", "--agent", "codex"]).assert_failed(1, &["no change to redo matches these options"]);
    rig.run(["redo", "c1", "c2"]).assert_done();
    assert_eq!((rig.get("a.txt").as_str(), rig.get("b.txt").as_str()), ("new\n", "new\n"));
    rig.run(["undo", "c1"]).assert_done();
    rig.run(["undo", "c2"]).assert_done();
    rig.run(["redo", "c1..c2"]).assert_failed(2, &["not undone together", "one at a time"]);
}

#[test]
fn several_ids_are_listed_and_shown() {
    let rig = rig();
    let listed = |options: &[&str]| ids(&rig, options);
    assert_eq!(listed(&["c1", "c3"]), ["c3", "c1"]);
    assert_eq!(listed(&["c2..c9"]), ["c3", "c2"]);
    rig.run(["log", "c1", "c9"]).assert_failed(2, &["there is no change c9"]);
    rig.run(["log", "c1", "--agent", "codex"]).assert_failed(2, &["ids cannot be combined"]);
    let (_, shown) = rig.json(["show", "c1", "c2..c3"]);
    let shown: Vec<&Value> =
        shown["changes"].as_array().unwrap().iter().map(|one| &one["change"]["id"]).collect();
    assert_eq!(shown, ["c1", "c2", "c3"]);
    assert_eq!(rig.json(["show"]).1["change"]["id"], "c3", "the last one");
}

#[test]
fn a_name_that_nobody_has_is_explained() {
    let rig = rig();
    let known = "No changes here are from the agent `claude`; known: `claude-code`, `codex`.";
    rig.run(["undo", "--agent", "claude", "--yes"]).assert_failed(1, &[known]);
    rig.run(["undo", "--session", "s3", "--all", "--yes"]).assert_failed(1, &["known: `s1`, `s2`."]);
    let log = rig.run(["log", "--agent", "claude"]);
    log.assert_done();
    assert!(log.err.contains("No changes match these options.") && log.err.contains(known), "{log:?}");
    assert!(rig.run(["sessions", "--agent", "claude"]).err.contains(known));
    assert!(rig.run(["stats", "--agent", "x"]).err.contains("No calls match these options."));
    assert!(rig.run(["review", "list", "--agent", "x"]).err.contains("match these options"));
    rig.run(["log", "--file", "a.tx"]).assert_failed(2, &["Did you mean `a.txt`?"]);
    rig.run(["stats", "--file", "a.tx"]).assert_failed(2, &["Did you mean `a.txt`?", "no recorded call"]);
}

#[test]
fn session_as_an_option_and_as_a_variable_is_the_same() {
    for by_variable in [false, true] {
        let rig = rig();
        let mut command = rig.command();
        match by_variable {
            true => command.env("SLIPSTITCH_SESSION", "s1").arg("undo"),
            false => command.args(["--session", "s1", "undo"]),
        };
        assert_eq!(command.output().unwrap().status.code(), Some(0));
        assert_eq!((rig.get("a.txt").as_str(), rig.get("c.txt").as_str()), ("old\n", "new\n"));
    }
}
