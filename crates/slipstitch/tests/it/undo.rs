//! Undo and redo, on real files.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use serde_json::json;
use slipstitch::Workspace;
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::{Direction, OtherSessionsConsent, Plan, Run, Target, UndoPlan};
#[cfg(unix)]
use slipstitch::core::plan::{EditPlan, EditRules, FilePlan, Operation, Overwriting, Which};
use slipstitch::core::ports::journal::Filter;
use slipstitch::core::report::Report;

#[cfg(unix)]
use crate::support::file;
use crate::support::{TestWorkspace, edit};

fn revert(workspace: &Workspace, target: Target, direction: Direction, run: Run) -> Report {
    workspace
        .run(Plan::Undo(UndoPlan { target, direction, run, others: OtherSessionsConsent::Given }), "undo")
}

#[cfg(unix)]
fn plan_for(path: &str, operation: Operation) -> FilePlan {
    FilePlan { path: file(path), version: None, operations: vec![operation] }
}

#[cfg(unix)]
#[test]
fn undo_changes_the_file_and_not_the_new_target_of_a_symlink() {
    let test = TestWorkspace::new();
    test.put("first", "one\n");
    symlink("first", test.at("link")).unwrap();
    let edit = json!({"path": "link", "old_text": "one", "new_text": "two"});
    assert_eq!(test.call("edit_file", edit).status(), Status::Applied);
    assert!(test.at("link").is_symlink());
    test.put("second", "two\n");
    fs::remove_file(test.at("link")).unwrap();
    symlink("second", test.at("link")).unwrap();
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!((test.text("first").as_str(), test.text("second").as_str()), ("one\n", "two\n"));
    let of_first = Filter { path: Some(file("first")), ..Filter::default() };
    assert_eq!(test.workspace.log(&of_first).unwrap().len(), 2, "the log has the path of the target");
}

#[cfg(unix)]
#[test]
fn undo_restores_several_files_with_their_modes() {
    let test = TestWorkspace::new();
    for (name, mode) in [("run", 0o755), ("gone", 0o640), ("old", 0o600)] {
        test.put_with_mode(name, "text\n", mode);
    }
    let plan = EditPlan::new(
        vec![
            plan_for("run", Operation::InsertLines { after: 0.into(), text: "more".into() }),
            plan_for("gone", Operation::Delete),
            plan_for("old", Operation::Move { to: file("deep/new"), overwriting: Overwriting::Refused }),
            plan_for("made", Operation::Create { content: "made\n".into() }),
        ],
        EditRules::NATIVE,
    );
    let report = test.workspace.run(Plan::Edit(plan), "test");
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(test.text("run"), "more\ntext\n");
    assert!(!test.at("gone").exists() && !test.at("old").exists() && test.at("deep/new").exists());
    assert_eq!(test.undo().status(), Status::Applied);
    for (name, mode) in [("run", 0o755), ("gone", 0o640), ("old", 0o600)] {
        assert_eq!(test.text(name), "text\n", "{name}");
        assert_eq!(test.mode(name), mode, "{name}");
    }
    assert!(!test.at("made").exists() && !test.at("deep/new").exists());
}

#[test]
fn a_damaged_record_is_not_undone() {
    let test = TestWorkspace::new();
    test.put("a", "one\n");
    let edit = json!({"path": "a", "old_text": "one", "new_text": "two"});
    assert_eq!(test.call("edit_file", edit).status(), Status::Applied);
    let journal = test.database();
    let blob: Vec<u8> = journal.query_row("SELECT splices FROM files", [], |row| row.get(0)).unwrap();
    let mut other = blob.clone();
    let last = other.len() - 1;
    other[last] ^= 1;
    journal.execute("UPDATE files SET splices = ?1", [other]).unwrap();
    let report = test.undo();
    assert_eq!((report.status(), report.code()), (Status::Failed, "journal_error"), "{report:?}");
    assert_eq!(test.text("a"), "two\n");
}

#[cfg(unix)]
#[test]
fn refuses_one_file_under_two_paths() {
    let test = TestWorkspace::new();
    test.put("a", "one two\n");
    symlink("a", test.at("b")).unwrap();
    let replace = |path: &str, old: &str| {
        let (old, new) = (old.into(), "x".into());
        plan_for(path, Operation::Replace { old, new, which: Which::Unique, within: None })
    };
    let files = vec![replace("a", "one"), replace("b", "two")];
    let plan = EditPlan { run: Run::Dry, ..EditPlan::new(files, EditRules::NATIVE) };
    assert_eq!(test.workspace.run(Plan::Edit(plan), "test").code(), "same_file");
}

#[test]
fn a_dry_run_predicts_the_result() {
    let test = TestWorkspace::new();
    test.put("a", "one\n");
    let edit = |dry: bool| json!({"path": "a", "old_text": "one", "new_text": "two", "dry_run": dry});
    assert_eq!(test.call("edit_file", edit(true)).status(), Status::WouldApply);
    fs::hard_link(test.at("a"), test.at("other name")).unwrap();
    let (dry, real) = (test.call("edit_file", edit(true)), test.call("edit_file", edit(false)));
    assert_eq!((dry.code(), &dry.message), (real.code(), &real.message));
    assert_eq!(dry.code(), "cannot_keep");
    assert_eq!(test.text("a"), "one\n");
    assert_eq!(fs::read_dir(test.at("")).unwrap().count(), 2, "no leftovers");
}

#[test]
fn undoing_a_session_is_one_change_and_keeps_the_work_of_others() {
    let test = TestWorkspace::new();
    test.put("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    test.put("gone", "old\n");
    let (mine, theirs) = (test.open_session("mine"), test.open_session("theirs"));
    edit(&mine, "a", "2", "two");
    edit(&theirs, "a", "9", "nine");
    edit(&mine, "a", "two", "zwei");
    mine.call("native", "write_file", json!({"path": "new", "content": "x\n", "mode": "create"}));
    edit(&mine, "new", "x", "y");
    let delete = "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
    assert_eq!(mine.call("native", "patch", json!({"patch": delete})).report.status(), Status::Applied);
    mine.call("native", "write_file", json!({"path": "gone", "content": "anew\n", "mode": "create"}));
    let before = test.text("a");

    let dry = revert(&mine, Target::Session, Direction::Undo, Run::Dry);
    assert_eq!((dry.status(), test.text("a")), (Status::WouldApply, before.clone()));
    let report = revert(&mine, Target::Session, Direction::Undo, Run::Real);
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(report.diff, dry.diff, "a dry run predicts the result");
    assert_eq!(test.text("a"), "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    assert_eq!(test.text("gone"), "old\n");
    assert!(!test.at("new").exists());
    let log = mine.log(&Filter::default()).unwrap();
    assert_eq!(log.len(), 8, "one change reverts them all");
    assert_eq!(serde_json::to_value(&log[0]).unwrap()["of"], json!(["c7", "c6", "c5", "c4", "c3", "c1"]));
    assert_eq!(revert(&mine, Target::Session, Direction::Undo, Run::Real).code(), "nothing_to_undo");

    edit(&theirs, "a", "5", "five");
    assert_eq!(
        revert(&mine, Target::Last { path: None }, Direction::Redo, Run::Real).status(),
        Status::Applied
    );
    assert_eq!(test.text("a"), "1\nzwei\n3\n4\nfive\n6\n7\n8\nnine\n");
    assert_eq!((test.text("new").as_str(), test.text("gone").as_str()), ("y\n", "anew\n"));
    // Undo the redo by its id.
    let redo = mine.log(&Filter::default()).unwrap()[0].id;
    let again = revert(&mine, Target::Change(redo), Direction::Undo, Run::Real);
    assert_eq!(again.status(), Status::Applied, "{again:?}");
    assert_eq!(test.text("a"), "1\n2\n3\n4\nfive\n6\n7\n8\nnine\n");
    assert_eq!(revert(&mine, Target::Change(redo), Direction::Undo, Run::Real).code(), "already_undone");
}

#[test]
fn a_session_is_undone_completely_or_not_at_all() {
    let test = TestWorkspace::new();
    test.put("a", "one\n");
    test.put("b", "one\n");
    let (mine, theirs) = (test.open_session("mine"), test.open_session("theirs"));
    edit(&mine, "a", "one", "two");
    edit(&mine, "b", "one", "two");
    edit(&theirs, "a", "two", "three");
    let report = revert(&mine, Target::Session, Direction::Undo, Run::Real);
    assert_eq!((report.status(), report.code()), (Status::Refused, "changed_since"), "{report:?}");
    assert!(report.message.contains("c1") && report.message.contains("c3"), "{report:?}");
    assert_eq!((test.text("a").as_str(), test.text("b").as_str()), ("three\n", "two\n"));
    assert_eq!(mine.log(&Filter::default()).unwrap().len(), 3);
}

#[test]
fn reports_foreign_changes_between_and_after_ours() {
    let test = TestWorkspace::new();
    test.put("a", "one\n");
    edit(&test.workspace, "a", "one", "two");
    let foreign = |test: &TestWorkspace| {
        let log = test.workspace.log(&Filter::default()).unwrap();
        serde_json::to_value(test.workspace.foreign(&log).unwrap()).unwrap()
    };
    assert_eq!(foreign(&test), json!([]));
    test.put("a", "two\nmore\n");
    assert_eq!(foreign(&test), json!([{"path": "a", "after": "c1", "before": null}]));
    edit(&test.workspace, "a", "two", "three");
    assert_eq!(foreign(&test), json!([{"path": "a", "after": "c1", "before": "c2"}]));
    fs::remove_file(test.at("a")).unwrap();
    let both =
        json!([{"path": "a", "after": "c1", "before": "c2"}, {"path": "a", "after": "c2", "before": null}]);
    assert_eq!(foreign(&test), json!([both[0], both[1]]));
}

#[test]
fn our_moves_and_deletions_are_not_foreign() {
    let test = TestWorkspace::new();
    test.put("a", "one\n");
    edit(&test.workspace, "a", "one", "two");
    let rename = "diff --git a/a b/b\nrename from a\nrename to b\n";
    assert_eq!(test.call("patch", json!({"patch": rename})).status(), Status::Applied);
    edit(&test.workspace, "b", "two", "three");
    let delete = "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-three\n";
    assert_eq!(test.call("patch", json!({"patch": delete})).status(), Status::Applied);
    assert_eq!(test.undo().status(), Status::Applied);
    let log = test.workspace.log(&Filter::default()).unwrap();
    assert_eq!(test.workspace.foreign(&log).unwrap(), []);
}

#[cfg(unix)]
#[test]
fn a_stale_edit_through_a_symlink_is_rebased() {
    let test = TestWorkspace::new();
    test.put("a", "one\ntwo\nthree\n");
    symlink("a", test.at("link")).unwrap();
    let version = test.call("get_file_info", json!({"path": "link"})).files[0].version.unwrap().to_string();
    edit(&test.workspace, "a", "three", "3");
    let call = json!({"path": "link", "old_text": "one", "new_text": "1", "version": version});
    let report = test.call("edit_file", call.clone());
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert!(report.warnings[0].contains("carried over"), "{report:?}");
    assert_eq!(test.text("a"), "1\ntwo\n3\n");
    // Sent again, it has nothing to do.
    assert_eq!(test.call("edit_file", call).code(), "no_change");
}

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

#[test]
fn undo_keeps_foreign_changes_nearby() {
    let test = TestWorkspace::new();
    test.put("a", LINES);
    edit(&test.workspace, "a", "two", "TWO");
    edit(&test.workspace, "a", "seven", "SEVEN");
    test.put("a", &test.text("a").replace("four", "FOUR"));
    edit(&test.workspace, "a", "eight", "EIGHT");
    test.put("a", &test.text("a").replace("five\n", ""));
    let undone = test.call("undo_edit", json!({"change": "c1"}));
    assert!(undone.status().is_success(), "{}", undone.message);
    assert_eq!(test.text("a"), "one\ntwo\nthree\nFOUR\nsix\nSEVEN\nEIGHT\n");
    for change in ["c2", "c3"] {
        let undone = test.call("undo_edit", json!({"change": change}));
        assert!(undone.status().is_success(), "{change}: {}", undone.message);
    }
    assert_eq!(test.text("a"), "one\ntwo\nthree\nFOUR\nsix\nseven\neight\n");
}

#[test]
fn undo_refuses_if_the_same_lines_changed_since() {
    let test = TestWorkspace::new();
    test.put("a", LINES);
    edit(&test.workspace, "a", "two", "TWO");
    test.put("a", &test.text("a").replace("TWO", "2"));
    let undone = test.undo();
    assert_eq!(undone.code(), "changed_since");
    assert!(undone.message.contains("something not recorded here"), "{}", undone.message);
    assert_eq!(test.text("a"), LINES.replace("two", "2"));
}

#[test]
fn an_edit_is_rebased_over_foreign_changes() {
    let test = TestWorkspace::new();
    test.put("a", LINES);
    let first = test.call("edit_file", json!({"path": "a", "old_text": "two", "new_text": "TWO"}));
    let version = first.files[0].version.unwrap().to_string();
    test.put("a", &test.text("a").replace("one\n", "zero\none\n"));
    let lines = json!({"path": "a", "start_line": 7, "end_line": 7, "new_text": "SEVEN", "version": version});
    let carried = test.call("edit_lines", lines);
    assert!(carried.status().is_success(), "{}", carried.message);
    assert_eq!(test.text("a"), "zero\none\nTWO\nthree\nfour\nfive\nsix\nSEVEN\neight\n");
}

#[test]
fn undo_of_a_creation_removes_its_folders_unless_they_are_used() {
    let test = TestWorkspace::new();
    let create = || test.workspace.edit("a/b/f").create("text\n").apply().unwrap();
    create();
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(test.listing(), Vec::<String>::new());
    create();
    test.put("a/theirs", "kept\n");
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(test.listing(), ["a/", "a/theirs"]);
    // A folder that was there before stays.
    create();
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!(test.listing(), ["a/", "a/theirs"]);
}

#[test]
fn undo_of_a_move_removes_the_folders_that_were_created_for_it() {
    let test = TestWorkspace::new();
    test.put("f", "text\n");
    test.workspace
        .patch("*** Begin Patch\n*** Update File: f\n*** Move to: a/b/g\n@@\n-text\n+new\n*** End Patch\n")
        .apply()
        .unwrap();
    assert_eq!(test.text("a/b/g"), "new\n");
    assert_eq!(test.undo().status(), Status::Applied);
    assert_eq!((test.text("f").as_str(), test.listing()), ("text\n", vec!["f".to_owned()]));
}
