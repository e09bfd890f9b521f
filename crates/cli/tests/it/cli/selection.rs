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
        if options.contains(&"--file") {
            continue;
        }
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
