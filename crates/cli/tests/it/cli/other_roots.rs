//! What an agent did in a folder of the project, and a person in the project around it.

use super::rig::{Rig, Run};

/// A project with a change that an agent made in a folder of it, which was its root.
fn rig() -> Rig {
    let rig = Rig::new();
    rig.allow_unattended_review();
    rig.put("slipstitch.toml", "");
    std::fs::create_dir(rig.root().join("part")).unwrap();
    rig.put("part/a.txt", "one\n");
    let call = r#"{"path": "a.txt", "old_text": "one", "new_text": "two"}"#;
    in_part(&rig, &["call", "edit_file", call, "--session", "s1", "--agent", "bot"]).assert_done();
    rig
}

/// Runs the program in the folder.
fn in_part(rig: &Rig, arguments: &[&str]) -> Run {
    Run::of(rig.command().current_dir(rig.root().join("part")).args(arguments))
}

#[test]
fn a_change_of_an_agent_in_a_folder_is_found_from_the_project() {
    for run in [|rig: &Rig, arguments: &[&str]| rig.run(arguments), in_part] {
        let rig = rig();
        let root = rig.root().join("part");
        let log = run(&rig, &["log"]);
        let note =
            format!("changes were also made with the root `{}`; select them with `--root ", root.display());
        assert!(log.err.contains(&note), "{log:?}");
        assert!(!run(&rig, &["log", "--agent", "other"]).err.contains("also made"));
        let such = format!("Such changes were also made with the root `{}`", root.display());
        run(&rig, &["undo", "--agent", "bot", "--yes"]).assert_failed(1, &["no change to undo", &such]);
        let shown = run(&rig, &["show", "c1"]);
        let relative = format!("paths are relative to the root `{}`", root.display());
        assert!(shown.out.contains("file: changed a.txt") && shown.out.contains(&relative), "{shown:?}");
        assert!(run(&rig, &["log", "c1"]).err.contains(&relative));
        run(&rig, &["undo", "c1"]).assert_done();
        assert_eq!(rig.get("part/a.txt"), "one\n");
        run(&rig, &["redo", "c1"]).assert_done();
        assert_eq!(rig.get("part/a.txt"), "two\n");
    }
}

#[test]
fn a_change_of_the_project_is_found_from_a_folder_that_is_a_project_too() {
    let rig = rig();
    rig.run(["edit", "part/a.txt", "--old", "two", "--new", "three"]).assert_done();
    rig.put("part/slipstitch.toml", "");
    in_part(&rig, &["undo", "c2"]).assert_done();
    assert_eq!(rig.get("part/a.txt"), "two\n");
}

#[test]
fn what_is_in_the_way_of_an_undo_is_named_with_its_root() {
    let rig = rig();
    rig.run(["edit", "part/a.txt", "--old", "two", "--new", "three"]).assert_done();
    let undo = rig.run(["undo", "c1"]);
    let root = rig.root();
    let named =
        format!("changed since by c2, made with the root `{}`: see `slipstitch show c2`", root.display());
    undo.assert_failed(1, &["so undoing c1 would lose that change", &named]);
    let log = rig.run(["--root", "part", "log"]);
    let line = format!("~ a.txt was changed since c1 by c2, made with the root `{}`\n", root.display());
    assert!(log.out.contains(&line), "{log:?}");
    // What was taken back since is in nobody's way.
    rig.run(["undo", "c2"]).assert_done();
    rig.put("part/a.txt", "by hand\n");
    let undo = rig.run(["undo", "c1"]);
    undo.assert_failed(1, &["something not recorded here"]);
    assert!(!undo.err.contains("made with the root"), "{undo:?}");
    rig.put("part/a.txt", "two\n");
    rig.run(["undo", "c1"]).assert_done();
}

#[test]
fn proposals_of_a_folder_are_decided_from_the_project() {
    let rig = rig();
    let call = r#"{"path": ".envrc", "content": "x", "mode": "create"}"#;
    in_part(&rig, &["call", "write_file", call]);
    let list = rig.run(["review", "list"]);
    assert!(
        list.err.contains("Nothing to review.\nnote: proposals were also made with the root"),
        "{list:?}"
    );
    assert!(rig.run(["review", "show", "p1"]).out.contains("file: create .envrc"));
    rig.run(["review", "accept", "p1"]).assert_done();
    assert_eq!(rig.get("part/.envrc"), "x");
}

#[test]
fn what_shows_one_root_names_the_others() {
    let rig = rig();
    let root = rig.root().join("part");
    let note = format!("changes were also made with the root `{}`", root.display());
    for command in
        [&["stats"][..], &["sessions"], &["stats", "--agent", "bot"], &["sessions", "--since", "1h"]]
    {
        let shown = rig.run(command);
        assert!(shown.err.contains(&note), "{command:?}: {shown:?}");
    }
    for command in [&["stats", "--agent", "other"][..], &["sessions", "--session", "other"]] {
        let shown = rig.run(command);
        assert!(!shown.err.contains("also made"), "{command:?}: {shown:?}");
    }
    assert!(!in_part(&rig, &["--root", ".", "sessions"]).err.contains("also made"));
    let of_session = format!("Changes of this session were also made with the root `{}`", root.display());
    rig.run(["undo", "--session", "s1"]).assert_failed(1, &["nothing to undo", &of_session]);
    let such = format!("Such changes were also made with the root `{}`", root.display());
    rig.run(["forget", "--session", "s1", "--dry-run"]).assert_failed(1, &["nothing", &such]);
}

#[test]
fn ids_of_a_folder_are_forgotten_from_the_project() {
    let rig = rig();
    let message = format!("c1 is a change of another root, `{}`", rig.root().join("part").display());
    rig.run(["forget", "--root", ".", "c1", "--yes"]).assert_failed(2, &[&message]);
    rig.run(["edit", "part/a.txt", "--old", "two", "--new", "three"]).assert_done();
    rig.run(["forget", "c1", "c2", "--yes"]).assert_failed(2, &["c1 is a change of the root"]);
    let call = r#"{"path": ".envrc", "content": "x", "mode": "create"}"#;
    rig.run(["call", "write_file", call]);
    for ids in [["c1", "p1"], ["p1", "c1"]] {
        let [one, other] = ids;
        rig.run(["forget", one, other, "--yes"]).assert_failed(2, &["one root at a time"]);
    }
    let forgotten = rig.run(["forget", "c1", "--yes"]);
    forgotten.assert_done();
    assert!(forgotten.out.contains("Forgot 1 change (c1)"), "{forgotten:?}");
    assert!(forgotten.err.contains("paths are relative to the root"), "{forgotten:?}");
    rig.run(["show", "c1"]).assert_failed(1, &["c1"]);
    rig.run(["show", "c2"]).assert_done();
    rig.run(["review", "show", "p1"]).assert_done();
}

#[test]
fn a_change_of_another_project_is_said_to_be_one() {
    let rig = rig();
    let other = rig.outside().join("other");
    std::fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    let message = format!("c1 is a change of another root, `{}`", rig.root().join("part").display());
    for command in ["undo", "redo", "show", "log"] {
        rig.run([command, "--root", other, "c1"]).assert_failed(2, &[&message, "or with `--root "]);
    }
    // `--root` says which root is meant.
    rig.run(["undo", "--root", ".", "c1"]).assert_failed(2, &[&message, "or with `--root part`"]);
    rig.run(["edit", "part/a.txt", "--old", "two", "--new", "three"]).assert_done();
    rig.run(["undo", "c1", "c2"]).assert_failed(2, &["c1 is a change of the root", "one root at a time"]);
    assert_eq!(rig.get("part/a.txt"), "three\n");
}
