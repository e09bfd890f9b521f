//! Undo on a real disk: the same bytes, the same file, the same mode.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use incise::core::journal::Filter;
use incise::core::path::FilePath;
use incise::core::plan::{EditPlan, FilePlan, Manner, Operation, Over, Plan, Run};
use incise::core::report::{Report, Status};
use incise::{Fsync, Workspace};
use serde_json::{Value, json};

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
        self.workspace.call("incise", tool, arguments).report
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
    assert_eq!(rig.call("edit_file", edit).status, Status::Applied);
    assert!(rig.at("link").is_symlink());
    rig.put("second", "two\n");
    fs::remove_file(rig.at("link")).unwrap();
    symlink("second", rig.at("link")).unwrap();
    assert_eq!(rig.undo().status, Status::Applied);
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
            file("run", Operation::InsertLines { after: 0, text: "more".into() }),
            file("gone", Operation::Delete),
            file("old", Operation::Move { to: path("deep/new"), over: Over::Refused }),
            file("made", Operation::Create { content: "made\n".into() }),
        ],
        Manner::NATIVE,
    );
    let report = rig.workspace.run(Plan::Edit(plan), "test");
    assert_eq!(report.status, Status::Applied, "{report:?}");
    assert_eq!(rig.text("run"), "more\ntext\n");
    assert!(!rig.at("gone").exists() && !rig.at("old").exists() && rig.at("deep/new").exists());
    assert_eq!(rig.undo().status, Status::Applied);
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
    assert_eq!(rig.call("edit_file", edit).status, Status::Applied);
    let journal = rusqlite::Connection::open(rig.folder.path().join("state/journal.db")).unwrap();
    let blob: Vec<u8> = journal.query_row("SELECT splices FROM files", [], |row| row.get(0)).unwrap();
    let mut other = blob.clone();
    let last = other.len() - 1;
    other[last] ^= 1;
    journal.execute("UPDATE files SET splices = ?1", [other]).unwrap();
    let report = rig.undo();
    assert_eq!((report.status, report.code), (Status::Failed, "journal_error"), "{report:?}");
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
            which: incise::core::plan::Which::Unique,
            within: None,
        }],
    };
    let plan =
        EditPlan { run: Run::Dry, ..EditPlan::new(vec![edit("a", "one"), edit("b", "two")], Manner::NATIVE) };
    assert_eq!(rig.workspace.run(Plan::Edit(plan), "test").code, "same_file");
}

#[test]
fn a_dry_run_says_what_the_run_does() {
    let rig = Rig::new();
    rig.put("a", "one\n");
    let edit = |dry: bool| json!({"path": "a", "old_text": "one", "new_text": "two", "dry_run": dry});
    assert_eq!(rig.call("edit_file", edit(true)).status, Status::WouldApply);
    fs::hard_link(rig.at("a"), rig.at("other name")).unwrap();
    let (dry, real) = (rig.call("edit_file", edit(true)), rig.call("edit_file", edit(false)));
    assert_eq!((dry.code, &dry.message), (real.code, &real.message));
    assert_eq!(dry.code, "cannot_keep");
    assert_eq!(rig.text("a"), "one\n");
    assert_eq!(fs::read_dir(rig.at("")).unwrap().count(), 2, "nothing is left behind");
}
