//! Undo on a real disk: the same bytes, the same file, the same mode.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};
use slipstitch::core::outcome::Status;
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::{
    Direction, EditPlan, EditRules, FilePlan, Operation, Overwriting, Plan, Run, Target, UndoPlan,
};
use slipstitch::core::ports::journal::Filter;
use slipstitch::core::report::Report;
use slipstitch::{Fsync, Workspace};

struct Rig {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        let builder = Workspace::builder(folder.path().join("root")).state_dir(folder.path().join("state"));
        let workspace = builder.fsync(Fsync::Off).open().unwrap();
        Self { folder, workspace }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("root").join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    fn call(&self, tool: &str, arguments: Value) -> Report {
        self.workspace.call("native", tool, arguments).report
    }

    fn undo(&self) -> Report {
        self.call("undo_edit", json!({}))
    }
}

fn path(name: &str) -> FilePath {
    FilePath::from_record(name).unwrap()
}

#[test]
fn undo_goes_to_the_file_and_not_where_a_symlink_leads_now() {
    let rig = Rig::new();
    rig.put("first", "one\n");
    symlink("first", rig.at("link")).unwrap();
    let edit = json!({"path": "link", "old_text": "one", "new_text": "two"});
    assert_eq!(rig.call("edit_file", edit).status(), Status::Applied);
    assert!(rig.at("link").is_symlink());
    rig.put("second", "two\n");
    fs::remove_file(rig.at("link")).unwrap();
    symlink("second", rig.at("link")).unwrap();
    assert_eq!(rig.undo().status(), Status::Applied);
    assert_eq!((rig.text("first").as_str(), rig.text("second").as_str()), ("one\n", "two\n"));
    let of_first = Filter { path: Some(path("first")), ..Filter::default() };
    assert_eq!(rig.workspace.log(&of_first).unwrap().len(), 2, "the log knows the file by its own name");
}

#[test]
fn several_files_come_back_with_their_modes() {
    let rig = Rig::new();
    for (name, mode) in [("run", 0o755), ("gone", 0o640), ("old", 0o600)] {
        rig.put(name, "text\n");
        fs::set_permissions(rig.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let file =
        |name: &str, operation| FilePlan { path: path(name), version: None, operations: vec![operation] };
    let plan = EditPlan::new(
        vec![
            file("run", Operation::InsertLines { after: 0.into(), text: "more".into() }),
            file("gone", Operation::Delete),
            file("old", Operation::Move { to: path("deep/new"), over: Overwriting::Refused }),
            file("made", Operation::Create { content: "made\n".into() }),
        ],
        EditRules::NATIVE,
    );
    let report = rig.workspace.run(Plan::Edit(plan), "test");
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(rig.text("run"), "more\ntext\n");
    assert!(!rig.at("gone").exists() && !rig.at("old").exists() && rig.at("deep/new").exists());
    assert_eq!(rig.undo().status(), Status::Applied);
    for (name, mode) in [("run", 0o755), ("gone", 0o640), ("old", 0o600)] {
        assert_eq!(rig.text(name), "text\n", "{name}");
        assert_eq!(fs::metadata(rig.at(name)).unwrap().permissions().mode() & 0o7777, mode, "{name}");
    }
    assert!(!rig.at("made").exists() && !rig.at("deep/new").exists());
}

#[test]
fn a_damaged_record_restores_nothing() {
    let rig = Rig::new();
    rig.put("a", "one\n");
    let edit = json!({"path": "a", "old_text": "one", "new_text": "two"});
    assert_eq!(rig.call("edit_file", edit).status(), Status::Applied);
    let journal = rusqlite::Connection::open(rig.folder.path().join("state/journal.db")).unwrap();
    let blob: Vec<u8> = journal.query_row("SELECT splices FROM files", [], |row| row.get(0)).unwrap();
    let mut other = blob.clone();
    let last = other.len() - 1;
    other[last] ^= 1;
    journal.execute("UPDATE files SET splices = ?1", [other]).unwrap();
    let report = rig.undo();
    assert_eq!((report.status(), report.code()), (Status::Failed, "journal_error"), "{report:?}");
    assert_eq!(rig.text("a"), "two\n");
}

#[test]
fn two_names_of_one_file_in_one_request_are_refused() {
    let rig = Rig::new();
    rig.put("a", "one two\n");
    symlink("a", rig.at("b")).unwrap();
    let edit = |name: &str, old: &str| FilePlan {
        path: path(name),
        version: None,
        operations: vec![Operation::Replace {
            old: old.into(),
            new: "x".into(),
            which: slipstitch::core::plan::Which::Unique,
            within: None,
        }],
    };
    let plan = EditPlan {
        run: Run::Dry,
        ..EditPlan::new(vec![edit("a", "one"), edit("b", "two")], EditRules::NATIVE)
    };
    assert_eq!(rig.workspace.run(Plan::Edit(plan), "test").code(), "same_file");
}

#[test]
fn a_dry_run_says_what_the_run_does() {
    let rig = Rig::new();
    rig.put("a", "one\n");
    let edit = |dry: bool| json!({"path": "a", "old_text": "one", "new_text": "two", "dry_run": dry});
    assert_eq!(rig.call("edit_file", edit(true)).status(), Status::WouldApply);
    fs::hard_link(rig.at("a"), rig.at("other name")).unwrap();
    let (dry, real) = (rig.call("edit_file", edit(true)), rig.call("edit_file", edit(false)));
    assert_eq!((dry.code(), &dry.message), (real.code(), &real.message));
    assert_eq!(dry.code(), "cannot_keep");
    assert_eq!(rig.text("a"), "one\n");
    assert_eq!(fs::read_dir(rig.at("")).unwrap().count(), 2, "nothing is left behind");
}

/// A workspace of another session on the same root.
fn session(rig: &Rig, name: &str) -> Workspace {
    let builder = Workspace::builder(rig.at("")).state_dir(rig.folder.path().join("state"));
    builder.session(name).fsync(Fsync::Off).open().unwrap()
}

fn edit(workspace: &Workspace, name: &str, old: &str, new: &str) {
    let call = json!({"path": name, "old_text": old, "new_text": new});
    let report = workspace.call("native", "edit_file", call).report;
    assert_eq!(report.status(), Status::Applied, "{report:?}");
}

fn step(workspace: &Workspace, target: Target, direction: Direction, run: Run) -> Report {
    workspace.run(Plan::Undo(UndoPlan { target, direction, run }), "undo")
}

#[test]
fn a_session_is_undone_as_one_change_and_others_keep_their_work() {
    let rig = Rig::new();
    rig.put("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    rig.put("gone", "old\n");
    let (mine, theirs) = (session(&rig, "mine"), session(&rig, "theirs"));
    edit(&mine, "a", "2", "two");
    edit(&theirs, "a", "9", "nine");
    edit(&mine, "a", "two", "zwei");
    mine.call("native", "write_file", json!({"path": "new", "content": "x\n", "mode": "create"}));
    edit(&mine, "new", "x", "y");
    let delete = "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
    assert_eq!(mine.call("native", "patch", json!({"patch": delete})).report.status(), Status::Applied);
    mine.call("native", "write_file", json!({"path": "gone", "content": "anew\n", "mode": "create"}));
    let before = rig.text("a");

    let dry = step(&mine, Target::Session, Direction::Undo, Run::Dry);
    assert_eq!((dry.status(), rig.text("a")), (Status::WouldApply, before.clone()));
    let report = step(&mine, Target::Session, Direction::Undo, Run::Real);
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(report.diff, dry.diff, "what a dry run says is what the run does");
    assert_eq!(rig.text("a"), "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    assert_eq!(rig.text("gone"), "old\n");
    assert!(!rig.at("new").exists());
    let log = mine.log(&Filter::default()).unwrap();
    assert_eq!(log.len(), 8, "one change takes them all back");
    assert_eq!(serde_json::to_value(&log[0]).unwrap()["of"], json!(["c7", "c6", "c5", "c4", "c3", "c1"]));
    assert_eq!(step(&mine, Target::Session, Direction::Undo, Run::Real).code(), "nothing_to_undo");

    edit(&theirs, "a", "5", "five");
    assert_eq!(
        step(&mine, Target::Last { path: None }, Direction::Redo, Run::Real).status(),
        Status::Applied
    );
    assert_eq!(rig.text("a"), "1\nzwei\n3\n4\nfive\n6\n7\n8\nnine\n");
    assert_eq!((rig.text("new").as_str(), rig.text("gone").as_str()), ("y\n", "anew\n"));
    // And once more, by the name of the redo.
    let redo = mine.log(&Filter::default()).unwrap()[0].id;
    let again = step(&mine, Target::Change(redo), Direction::Undo, Run::Real);
    assert_eq!(again.status(), Status::Applied, "{again:?}");
    assert_eq!(rig.text("a"), "1\n2\n3\n4\nfive\n6\n7\n8\nnine\n");
    assert_eq!(step(&mine, Target::Change(redo), Direction::Undo, Run::Real).code(), "already_undone");
}

#[test]
fn a_session_that_cannot_be_undone_as_a_whole_is_not_undone_at_all() {
    let rig = Rig::new();
    rig.put("a", "one\n");
    rig.put("b", "one\n");
    let (mine, theirs) = (session(&rig, "mine"), session(&rig, "theirs"));
    edit(&mine, "a", "one", "two");
    edit(&mine, "b", "one", "two");
    edit(&theirs, "a", "two", "three");
    let report = step(&mine, Target::Session, Direction::Undo, Run::Real);
    assert_eq!((report.status(), report.code()), (Status::Refused, "changed_since"), "{report:?}");
    assert!(report.message.contains("c1") && report.message.contains("c3"), "{report:?}");
    assert_eq!((rig.text("a").as_str(), rig.text("b").as_str()), ("three\n", "two\n"));
    assert_eq!(mine.log(&Filter::default()).unwrap().len(), 3);
}

#[test]
fn foreign_changes_are_seen_in_between_and_since() {
    let rig = Rig::new();
    rig.put("a", "one\n");
    edit(&rig.workspace, "a", "one", "two");
    let foreign = |rig: &Rig| {
        let log = rig.workspace.log(&Filter::default()).unwrap();
        serde_json::to_value(rig.workspace.foreign(&log).unwrap()).unwrap()
    };
    assert_eq!(foreign(&rig), json!([]));
    rig.put("a", "two\nmore\n");
    assert_eq!(foreign(&rig), json!([{"path": "a", "after": "c1", "before": null}]));
    edit(&rig.workspace, "a", "two", "three");
    assert_eq!(foreign(&rig), json!([{"path": "a", "after": "c1", "before": "c2"}]));
    fs::remove_file(rig.at("a")).unwrap();
    let both =
        json!([{"path": "a", "after": "c1", "before": "c2"}, {"path": "a", "after": "c2", "before": null}]);
    assert_eq!(foreign(&rig), json!([both[0], both[1]]));
}

#[test]
fn moves_and_deletions_of_ours_are_not_foreign() {
    let rig = Rig::new();
    rig.put("a", "one\n");
    edit(&rig.workspace, "a", "one", "two");
    let rename = "diff --git a/a b/b\nrename from a\nrename to b\n";
    assert_eq!(rig.call("patch", json!({"patch": rename})).status(), Status::Applied);
    edit(&rig.workspace, "b", "two", "three");
    let delete = "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-three\n";
    assert_eq!(rig.call("patch", json!({"patch": delete})).status(), Status::Applied);
    assert_eq!(rig.undo().status(), Status::Applied);
    let log = rig.workspace.log(&Filter::default()).unwrap();
    assert_eq!(rig.workspace.foreign(&log).unwrap(), []);
}

#[test]
fn a_stale_edit_through_a_symlink_is_carried_over() {
    let rig = Rig::new();
    rig.put("a", "one\ntwo\nthree\n");
    symlink("a", rig.at("link")).unwrap();
    let version = rig.call("get_file_info", json!({"path": "link"})).files[0].hash.unwrap().to_string();
    edit(&rig.workspace, "a", "three", "3");
    let call = json!({"path": "link", "old_text": "one", "new_text": "1", "version": version});
    let report = rig.call("edit_file", call.clone());
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert!(report.warnings[0].contains("carried over"), "{report:?}");
    assert_eq!(rig.text("a"), "1\ntwo\n3\n");
    // The same again finds that it was done.
    assert_eq!(rig.call("edit_file", call).code(), "no_change");
}

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

#[test]
fn what_an_editor_did_close_by_is_kept() {
    let rig = Rig::new();
    rig.put("a", LINES);
    edit(&rig.workspace, "a", "two", "TWO");
    edit(&rig.workspace, "a", "seven", "SEVEN");
    rig.put("a", &rig.text("a").replace("four", "FOUR"));
    edit(&rig.workspace, "a", "eight", "EIGHT");
    rig.put("a", &rig.text("a").replace("five\n", ""));
    let undone = rig.call("undo_edit", json!({"change": "c1"}));
    assert!(undone.status().is_success(), "{}", undone.message);
    assert_eq!(rig.text("a"), "one\ntwo\nthree\nFOUR\nsix\nSEVEN\nEIGHT\n");
    for change in ["c2", "c3"] {
        let undone = rig.call("undo_edit", json!({"change": change}));
        assert!(undone.status().is_success(), "{change}: {}", undone.message);
    }
    assert_eq!(rig.text("a"), "one\ntwo\nthree\nFOUR\nsix\nseven\neight\n");
}

#[test]
fn what_an_editor_did_in_the_same_place_is_a_conflict() {
    let rig = Rig::new();
    rig.put("a", LINES);
    edit(&rig.workspace, "a", "two", "TWO");
    rig.put("a", &rig.text("a").replace("TWO", "2"));
    let undone = rig.undo();
    assert_eq!(undone.code(), "changed_since");
    assert!(undone.message.contains("outside the journal"), "{}", undone.message);
    assert_eq!(rig.text("a"), LINES.replace("two", "2"));
}

#[test]
fn an_edit_for_what_a_change_left_is_carried_over_what_an_editor_did() {
    let rig = Rig::new();
    rig.put("a", LINES);
    let first = rig.call("edit_file", json!({"path": "a", "old_text": "two", "new_text": "TWO"}));
    let version = first.files[0].hash.unwrap().to_string();
    rig.put("a", &rig.text("a").replace("one\n", "zero\none\n"));
    let lines = json!({"path": "a", "start_line": 7, "end_line": 7, "new_text": "SEVEN", "version": version});
    let carried = rig.call("edit_lines", lines);
    assert!(carried.status().is_success(), "{}", carried.message);
    assert_eq!(rig.text("a"), "zero\none\nTWO\nthree\nfour\nfive\nsix\nSEVEN\neight\n");
}
