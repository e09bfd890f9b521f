//! `incise log`, `show`, `undo` and `redo`.

use crate::rig::{Rig, Run};

/// Two changes: c1 to `a.txt`, and c2, which makes `b.txt`, in another session.
fn changed() -> Rig {
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
fn the_log_has_one_line_for_each_change_newest_first() {
    let rig = changed();
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
fn the_log_can_be_narrowed() {
    let rig = changed();
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
    // What a script sets for its own changes does not hide the changes of others.
    let run = Run::of(rig.command().env("INCISE_SESSION", "cli").env("INCISE_AGENT", "x").arg("log"));
    assert_eq!(ids(&run), ["c2", "c1"]);
}

#[test]
fn the_log_s_arguments_are_checked() {
    let rig = changed();
    rig.run(["log", "--since", "whenever"]).assert_failed(2, &["`whenever`", "2h or 3d"]);
    rig.run(["log", "--limit", "x"]).assert_failed(2, &["'x'"]);
    rig.run(["log", "--limit", "3", "--all"]).assert_failed(2, &["cannot be used with"]);
    rig.run(["log", "--path", "../x"]).assert_failed(2, &["outside the root"]);
}

#[test]
fn the_log_is_one_object_for_programs() {
    let rig = changed();
    let (code, log) = rig.json(["log", "--all"]);
    assert_eq!((code, log["changes"].as_array().unwrap().len()), (0, 2));
    assert_eq!(log["changes"][0]["id"], "c2");
    assert_eq!(log["changes"][0]["agent"], "robot");
    assert_eq!(log["changes"][1]["description"], "digits\nonly");
}

#[test]
fn the_session_comes_from_the_environment() {
    let rig = Rig::with("one\n");
    let edit = ["edit", "a.txt", "--old", "one", "--new", "1"];
    Run::of(rig.command().env("INCISE_SESSION", "s").env("INCISE_AGENT", "a").args(edit)).assert_done();
    let (_, log) = rig.json(["log"]);
    assert_eq!((&log["changes"][0]["session"], &log["changes"][0]["agent"]), (&"s".into(), &"a".into()));
}

#[test]
fn a_change_is_shown_with_its_diff() {
    let rig = changed();
    let run = rig.run(["show", "c1"]);
    run.assert_done();
    for part in [
        "change c1\n",
        "session: cli\n",
        "tool: edit (incise)\n",
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
    rig.run(["show", "c99"]).assert_failed(2, &["no change c99", "incise log"]);
    rig.run(["show", "x"]).assert_failed(2, &["`x` names no change"]);
}

#[test]
fn undo_and_redo_go_back_and_forth() {
    let rig = changed();
    let run = rig.run(["undo"]);
    run.assert_done();
    assert!(run.out.contains("-1\n+one\n") && run.err.contains("Took back c1"), "{run:?}");
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
fn what_an_edit_suggests_takes_it_back() {
    let rig = Rig::with("one\n");
    let said = rig.run(["edit", "a.txt", "--old", "one", "--new", "1"]).err;
    let suggestion = said.split("undo with: incise ").nth(1).unwrap().trim_end_matches([')', '\n']);
    let said = rig.run(["--session", "other"].into_iter().chain(suggestion.split(' ')));
    said.assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
    let suggestion = said.err.split("undo with: incise ").nth(1).unwrap().trim_end_matches([')', '\n']);
    rig.run(suggestion.split(' ')).assert_done();
    assert_eq!(rig.get("a.txt"), "1\n");
}

#[test]
fn an_undo_that_would_lose_later_work_is_refused() {
    let rig = changed();
    rig.put("a.txt", "1\nlater\n");
    rig.run(["undo"]).assert_failed(1, &["changed after c1"]);
    assert_eq!(rig.get("a.txt"), "1\nlater\n");
    rig.run(["undo", "c99"]).assert_failed(2, &["no change c99"]);
    Rig::new().run(["undo"]).assert_failed(1, &["nothing to undo"]);
    Rig::new().run(["redo"]).assert_failed(1, &["nothing to redo"]);
    let (code, report) = Rig::new().json(["undo"]);
    assert_eq!((code, report["code"].as_str()), (1, Some("nothing_to_undo")));
}
