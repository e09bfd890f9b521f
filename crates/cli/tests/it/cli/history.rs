//! `slipstitch log`, `show`, `undo` and `redo`.

use super::rig::{Rig, Run};

/// c1 changes `a.txt`; c2 creates `b.txt` in another session.
fn rig_with_two_changes() -> Rig {
    let rig = Rig::with("one\n");
    rig.run(["edit", "a.txt", "--old", "one", "--new", "1", "--description", "digits\nonly"]).assert_done();
    rig.run(["--session", "agent", "--agent", "robot", "write", "b.txt", "--content", "b\n"]).assert_done();
    rig
}

fn ids(run: &Run) -> Vec<&str> {
    run.assert_done();
    run.out.lines().map(|line| line.split(' ').next().unwrap()).collect()
}

#[test]
fn log_lists_changes_newest_first() {
    let rig = rig_with_two_changes();
    let run = rig.run(["log"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(ids(&run), ["c2", "c1"]);
    assert!(
        lines[0].contains("agent") && lines[0].contains("write") && lines[0].contains("created b.txt"),
        "{run:?}"
    );
    assert!(lines[1].contains("cli") && lines[1].contains("changed a.txt"), "{run:?}");
    assert!(lines[1].ends_with("digits\\nonly"), "{run:?}");
    let date = lines[0].split_whitespace().nth(1).unwrap();
    assert!(date.len() == 10 && date.starts_with("20"), "{date}");
}

#[test]
fn log_filters_by_path_session_agent_and_time() {
    let rig = rig_with_two_changes();
    assert_eq!(ids(&rig.run(["log", "--path", "a.txt"])), ["c1"]);
    assert_eq!(ids(&rig.run(["log", "--session", "agent"])), ["c2"]);
    assert_eq!(ids(&rig.run(["--session", "cli", "log"])), ["c1"]);
    assert_eq!(ids(&rig.run(["log", "--agent", "robot"])), ["c2"]);
    assert_eq!(ids(&rig.run(["log", "--since", "1h", "--until", "2100-01-01"])), ["c2", "c1"]);
    assert_eq!(ids(&rig.run(["log", "--since", "2100-01-01T00:00:00Z"])), [""; 0]);
    assert_eq!(ids(&rig.run(["log", "--until", "1h"])), [""; 0]);
    assert_eq!(ids(&rig.run(["log", "--all"])), ["c2", "c1"]);
    let run = rig.run(["log", "--limit", "1"]);
    assert_eq!(ids(&run), ["c2"]);
    assert!(run.err.contains("older changes"), "{run:?}");
    // The environment variables of a script do not filter the log.
    let run = Run::of(rig.command().env("SLIPSTITCH_SESSION", "cli").env("SLIPSTITCH_AGENT", "x").arg("log"));
    assert_eq!(ids(&run), ["c2", "c1"]);
}

#[test]
fn log_rejects_invalid_arguments() {
    let rig = rig_with_two_changes();
    rig.run(["log", "--since", "whenever"]).assert_failed(2, &["`whenever`", "2h or 3d"]);
    rig.run(["log", "--limit", "x"]).assert_failed(2, &["'x'"]);
    rig.run(["log", "--limit", "3", "--all"]).assert_failed(2, &["cannot be used with"]);
    rig.run(["log", "--path", "../x"]).assert_failed(2, &["outside the project root"]);
}

#[test]
fn log_prints_one_json_object() {
    let rig = rig_with_two_changes();
    let (code, log) = rig.json(["log", "--all"]);
    assert_eq!((code, log["changes"].as_array().unwrap().len()), (0, 2));
    assert_eq!(log["changes"][0]["id"], "c2");
    assert_eq!(log["changes"][0]["agent"], "robot");
    assert_eq!(log["changes"][1]["description"], "digits\nonly");
}

#[test]
fn reads_the_session_from_the_environment() {
    let rig = Rig::with("one\n");
    let edit = ["edit", "a.txt", "--old", "one", "--new", "1"];
    Run::of(rig.command().env("SLIPSTITCH_SESSION", "s").env("SLIPSTITCH_AGENT", "a").args(edit))
        .assert_done();
    let (_, log) = rig.json(["log"]);
    assert_eq!((&log["changes"][0]["session"], &log["changes"][0]["agent"]), (&"s".into(), &"a".into()));
}

#[test]
fn show_prints_a_change_with_its_diff() {
    let rig = rig_with_two_changes();
    let run = rig.run(["show", "c1"]);
    run.assert_done();
    for part in [
        "change c1\n",
        "session: cli\n",
        "tool: edit (native)\n",
        "description: digits\n  only\n",
        "file: changed a.txt\n",
        "\n\ndiff --git a/a.txt b/a.txt\n--- a/a.txt\n",
        "-one\n+1\n",
    ] {
        assert!(run.out.contains(part), "{part}: {run:?}");
    }
    let (code, shown) = rig.json(["show", "2"]);
    assert_eq!((code, shown["change"]["id"].as_str()), (0, Some("c2")));
    assert!(shown["diff"].as_str().unwrap().contains("+b\n"), "{shown}");
    rig.run(["show", "c99"]).assert_failed(2, &["no change c99", "slipstitch log"]);
    rig.run(["show", "x"]).assert_failed(2, &["`x` is not a change id"]);
}

#[test]
fn undoes_and_redoes_changes() {
    let rig = rig_with_two_changes();
    rig.allow_unattended_review();
    let run = rig.run(["undo"]);
    run.assert_done();
    assert!(run.out.contains("-1\n+one\n") && run.err.contains("Undid c1"), "{run:?}");
    assert_eq!(rig.get("a.txt"), "one\n");
    let log = rig.run(["log"]).out;
    assert!(log.contains("undo of c1: changed a.txt") && log.contains("[undone by c3]"), "{log}");
    rig.run(["redo", "--dry-run"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
    rig.run(["redo"]).assert_done();
    assert_eq!(rig.get("a.txt"), "1\n");
    rig.run(["undo", "c2"]).assert_done();
    assert!(!rig.root().join("b.txt").exists());
    rig.run(["redo", "c2"]).assert_done();
    assert_eq!(rig.get("b.txt"), "b\n");
}

#[test]
fn the_suggested_undo_command_works() {
    let rig = Rig::with("one\n");
    rig.allow_unattended_review();
    let said = rig.run(["edit", "a.txt", "--old", "one", "--new", "1"]).err;
    let suggestion = said.split("undo with: slipstitch ").nth(1).unwrap().trim_end_matches([')', '\n']);
    let said = rig.run(["--session", "other"].into_iter().chain(suggestion.split(' ')));
    said.assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
    let suggestion = said.err.split("undo with: slipstitch ").nth(1).unwrap().trim_end_matches([')', '\n']);
    rig.run(suggestion.split(' ')).assert_done();
    assert_eq!(rig.get("a.txt"), "1\n");
}

#[test]
fn refuses_an_undo_that_would_lose_later_work() {
    let rig = rig_with_two_changes();
    rig.put("a.txt", "other\nlater\n");
    rig.run(["undo"])
        .assert_failed(1, &["changed after c1", "after c1, in `a.txt`:\n      1\n", "      other\n"]);
    assert_eq!(rig.get("a.txt"), "other\nlater\n");
    rig.run(["undo", "c99"]).assert_failed(2, &["no change c99"]);
    Rig::new().run(["undo"]).assert_failed(1, &["nothing to undo"]);
    Rig::new().run(["redo"]).assert_failed(1, &["nothing to redo"]);
    let (code, report) = Rig::new().json(["undo"]);
    assert_eq!((code, report["code"].as_str()), (1, Some("nothing_to_undo")));
}

#[test]
fn undo_keeps_later_changes_elsewhere() {
    let rig = Rig::with("one\ntwo\nthree\n");
    rig.run(["edit", "a.txt", "--old", "one", "--new", "1"]).assert_done();
    rig.run(["edit", "a.txt", "--old", "three", "--new", "3"]).assert_done();
    let dry = rig.run(["undo", "c1", "--dry-run"]);
    dry.assert_done();
    let run = rig.run(["undo", "c1"]);
    run.assert_done();
    assert_eq!(run.out, dry.out);
    assert_eq!(rig.get("a.txt"), "one\ntwo\n3\n");
}

#[test]
fn undoes_and_redoes_a_whole_session() {
    let rig = Rig::with("one\ntwo\n");
    rig.allow_unattended_review();
    rig.run(["edit", "a.txt", "--old", "one", "--new", "1"]).assert_done();
    rig.run(["--session", "agent", "write", "b.txt", "--content", "b\n"]).assert_done();
    rig.run(["edit", "a.txt", "--old", "two", "--new", "2"]).assert_done();
    rig.run(["undo", "--all", "--dry-run"]).assert_done();
    rig.run(["undo", "--all"]).assert_failed(1, &["2 changes are selected (c3, c1)", "--yes"]);
    let run = rig.run(["undo", "--all", "--yes"]);
    run.assert_done();
    assert!(run.err.contains("Undid c3, c1"), "{run:?}");
    assert_eq!((rig.get("a.txt").as_str(), rig.get("b.txt").as_str()), ("one\ntwo\n", "b\n"));
    assert!(rig.run(["log"]).out.contains("undo of c3, c1: changed a.txt"));
    rig.run(["redo"]).assert_done();
    assert_eq!(rig.get("a.txt"), "1\n2\n");
    rig.run(["undo", "--session", "agent", "--all", "--yes"]).assert_done();
    assert!(!rig.root().join("b.txt").exists());
    rig.run(["undo", "--session", "nobody"]).assert_failed(1, &["nothing to undo", "`nobody`"]);
    rig.run(["undo", "--session", "nobody", "--all"]).assert_failed(1, &["no change to undo matches"]);
    // With an id, --session only says which session to record.
    rig.run(["undo", "c1", "--session", "agent"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n2\n");
}

#[test]
fn an_agent_selects_whose_changes_are_undone() {
    let rig = Rig::with("one\ntwo\nthree\n");
    rig.allow_unattended_review();
    let edit = |agent: &str, old: &str, new: &str| {
        rig.run(["--agent", agent, "--session", agent, "edit", "a.txt", "--old", old, "--new", new])
            .assert_done();
    };
    edit("bot", "one", "1");
    edit("ada", "two", "2");
    edit("bot", "three", "3");
    rig.run(["undo", "--agent", "bot"]).assert_failed(1, &["2 changes are selected (c3, c1)"]);
    rig.run(["undo", "--agent", "bot", "--since", "1h", "--yes"]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n2\nthree\n", "the change of someone else is kept");
    let change = rig.json(["show", "c4"]).1["change"].take();
    assert_eq!((change["session"].as_str(), &change["agent"]), (Some("cli"), &serde_json::Value::Null));
    rig.run(["undo", "--agent", "nobody", "--yes"]).assert_failed(1, &["no change to undo matches"]);
    rig.run(["redo"]).assert_done();
    assert_eq!(rig.get("a.txt"), "1\n2\n3\n");
    rig.run(["undo", "c1", "c2..c3", "--dry-run"]).assert_done();
    rig.run(["undo", "c2", "--agent", "bot"]).assert_failed(2, &["ids cannot be combined"]);
    // The option and the variable name the same session.
    rig.run(["--session", "ada", "undo"]).assert_done();
    assert_eq!(rig.get("a.txt"), "1\ntwo\n3\n");
    Run::of(rig.command().env("SLIPSTITCH_SESSION", "ada").arg("redo")).assert_done();
    assert_eq!(rig.get("a.txt"), "1\n2\n3\n");
}

#[test]
fn the_project_is_found_from_a_folder_inside_it() {
    let rig = Rig::with("one\n");
    std::fs::create_dir_all(rig.root().join("src/deep")).unwrap();
    std::fs::create_dir(rig.root().join(".git")).unwrap();
    rig.put("src/deep/b.txt", "b\n");
    let from = |folder: &str, arguments: &[&str]| {
        let run = Run::of(rig.command().current_dir(rig.root().join(folder)).args(arguments));
        run.assert_done();
        run
    };
    from("src/deep", &["edit", "b.txt", "--old", "b", "--new", "B"]);
    from("src/deep", &["edit", "../../a.txt", "--old", "one", "--new", "1"]);
    assert_eq!((rig.get("src/deep/b.txt").as_str(), rig.get("a.txt").as_str()), ("B\n", "1\n"));
    let log = from("", &["log"]).out;
    assert!(log.contains("changed src/deep/b.txt") && log.contains("changed a.txt"), "{log}");
    assert_eq!(from("src", &["log", "--file", "deep"]).out.lines().count(), 1);
    from("", &["undo", "c1"]);
    from("src", &["undo", "c2"]);
    assert_eq!((rig.get("src/deep/b.txt").as_str(), rig.get("a.txt").as_str()), ("b\n", "one\n"));
    let outside = Run::of(rig.command().current_dir(rig.root().join("src")).args(["read", "../../x"]));
    outside.assert_failed(2, &["../../x"]);
}

#[test]
fn sessions_lists_who_changed_files() {
    let rig = Rig::with("one\n");
    rig.run(["--session", "s1", "--agent", "bot", "edit", "a.txt", "--old", "one", "--new", "1"])
        .assert_done();
    rig.run(["edit", "a.txt", "--old", "1", "--new", "2"]).assert_done();
    let listed = rig.json(["sessions"]).1["sessions"].take();
    assert_eq!((listed[0]["session"].as_str(), listed[1]["agent"].as_str()), (Some("cli"), Some("bot")));
    assert_eq!(rig.run(["sessions"]).out.lines().count(), 2);
}

/// The journal of one root does not know what was done with another, so it must not say who did it.
#[test]
fn a_change_made_with_an_outer_root_is_not_said_to_come_from_elsewhere() {
    let rig = Rig::new();
    std::fs::create_dir(rig.root().join("inner")).unwrap();
    rig.put("slipstitch.toml", "");
    rig.put("inner/slipstitch.toml", "");
    rig.put("inner/a.txt", "one\n");
    let inner = rig.root().join("inner");
    let inner = inner.to_str().unwrap();
    rig.run(["--root", inner, "edit", "a.txt", "--old", "one", "--new", "two"]).assert_done();
    rig.run(["edit", "inner/a.txt", "--old", "two", "--new", "three"]).assert_done();
    let undo = rig.run(["--root", inner, "undo", "c1"]);
    undo.assert_failed(
        1,
        &["so undoing c1 would lose that change", "changed since by c2, made with the root"],
    );
    let log = rig.run(["--root", inner, "log"]);
    assert!(log.out.contains("~ a.txt was changed since c1 by c2, made with the root"), "{log:?}");
    for run in [undo, log] {
        assert!(!format!("{run:?}").contains("outside"), "{run:?}");
    }
}

#[test]
fn log_marks_changes_that_are_not_recorded() {
    let rig = Rig::with("one\n");
    rig.run(["edit", "a.txt", "--old", "one", "--new", "1"]).assert_done();
    rig.put("a.txt", "1\nby hand\n");
    rig.run(["edit", "a.txt", "--old", "by hand", "--new", "by tool"]).assert_done();
    rig.put("a.txt", "1\nby hand again\n");
    let log = rig.run(["log"]).out;
    let starts: Vec<&str> = log.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(starts, ["~", "c2", "~", "c1"], "{log}");
    assert!(log.contains("~ a.txt was changed since c2 by something not recorded here\n"), "{log}");
    assert!(log.contains("~ a.txt was changed between c1 and c2 by something not recorded here\n"), "{log}");
    let (_, log) = rig.json(["log", "--path", "a.txt"]);
    assert_eq!(log["foreign"][0]["path"], "a.txt");
    assert_eq!(log["foreign"].as_array().unwrap().len(), 2);
}

#[test]
fn gc_drops_old_changes_and_reports_them() {
    let rig = Rig::with("one\n");
    rig.run(["edit", "a.txt", "--old", "one", "--new", "1"]).assert_done();
    let run = rig.run(["gc"]);
    run.assert_done();
    assert!(run.out.contains("within its limits"), "{run:?}");
    std::fs::write(rig.outside().join("tight.toml"), "[journal]\nmax_age_days = 0\n").unwrap();
    let config = rig.outside().join("tight.toml");
    // Another settings file could not shorten the journal, so this has to be the user's.
    std::fs::write(rig.outside().join("state/settings-file"), config.to_str().unwrap()).unwrap();
    let tight = |arguments: &[&str]| Run::of(rig.command().arg("--config").arg(&config).args(arguments));
    std::thread::sleep(std::time::Duration::from_millis(5));
    let dry = tight(&["gc", "--dry-run"]);
    assert!(dry.out.starts_with("Would drop 1 change, 1 stored file text."), "{dry:?}");
    rig.run(["show", "c1"]).assert_done();
    let object = tight(&["gc", "--json"]).object();
    assert_eq!((object["changes"].as_u64(), object["dry_run"].as_bool()), (Some(1), Some(false)));
    rig.run(["show", "c1"]).assert_failed(1, &["c1 is no longer in the journal"]);
    rig.run(["undo", "c1"]).assert_failed(1, &["c1 is no longer in the journal"]);
    assert_eq!(rig.json(["undo", "c1"]).1["code"], "forgotten_change");
    rig.run(["undo"]).assert_failed(1, &["nothing to undo"]);
    rig.run(["show", "c2"]).assert_failed(2, &["no change c2"]);
}

#[test]
fn rebases_or_refuses_an_edit_for_an_earlier_version() {
    let rig = Rig::with("one\ntwo\nthree\nfour\n");
    let version = rig.json(["info", "a.txt"]).1["files"][0]["version"].as_str().unwrap().to_owned();
    rig.run(["lines", "a.txt", "1", "--new", "1\n1.5\n"]).assert_done();
    let run = rig.run(["lines", "a.txt", "3", "--new", "3\n", "--version", &version]);
    run.assert_done();
    assert!(run.err.contains("carried over"), "{run:?}");
    assert_eq!(rig.get("a.txt"), "1\n1.5\ntwo\n3\nfour\n");
    rig.run(["lines", "a.txt", "1", "--new", "x\n", "--version", &version])
        .assert_failed(1, &["has changed since the given version"]);
    assert_eq!(rig.get("a.txt"), "1\n1.5\ntwo\n3\nfour\n");
}
