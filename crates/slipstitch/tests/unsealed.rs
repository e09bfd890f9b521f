//! A change that is in the files while the journal could not be told so.

use std::fs;
use std::path::Path;

use serde_json::json;
use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::ChangeState;
use slipstitch::core::report::Report;
use slipstitch::{Fsync, Workspace};

struct Rig {
    folder: tempfile::TempDir,
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::write(folder.path().join("root/a.txt"), "one\ntwo\n").unwrap();
        fs::write(folder.path().join("config.toml"), "").unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn open(&self) -> Workspace {
        let builder = Workspace::builder(self.path().join("root")).state_dir(self.path().join("state"));
        builder.config(self.path().join("config.toml")).fsync(Fsync::Off).open().unwrap()
    }

    /// Runs SQL on the journal behind the workspace's back.
    fn sql(&self, text: &str) {
        let journal = self.path().join("state/journal.db");
        rusqlite::Connection::open(journal).unwrap().execute_batch(text).unwrap();
    }
}

fn edit(workspace: &Workspace, old: &str, new: &str) -> Report {
    let arguments = json!({"path": "a.txt", "old_text": old, "new_text": new});
    let report = workspace.call("native", "edit_file", arguments).report;
    assert!(report.is_success(), "{report:?}");
    report
}

const NO_SEAL: &str = "CREATE TRIGGER no BEFORE UPDATE OF state ON changes WHEN new.state = 'done'
                       BEGIN SELECT RAISE(ABORT, 'no room'); END";

#[test]
fn the_next_change_of_its_files_finds_out_that_it_was_made() {
    let rig = Rig::new();
    let workspace = rig.open();
    rig.sql(NO_SEAL);
    let report = edit(&workspace, "one", "1");
    assert!(report.warnings.iter().any(|warning| warning.contains("no room")), "{:?}", report.warnings);
    rig.sql("DROP TRIGGER no");
    edit(&workspace, "1", "eins");
    for id in [1, 2] {
        let state = workspace.change(ChangeId(id)).unwrap().unwrap().summary.state;
        assert_eq!(state, ChangeState::Done, "c{id}");
    }
    for _ in 0..2 {
        assert!(workspace.call("native", "undo_edit", json!({})).report.is_success());
    }
    assert_eq!(fs::read_to_string(rig.path().join("root/a.txt")).unwrap(), "one\ntwo\n");
}

#[test]
fn a_journal_without_room_for_texts_does_without_them() {
    let rig = Rig::new();
    let workspace = rig.open();
    rig.sql("CREATE TRIGGER no BEFORE INSERT ON texts BEGIN SELECT RAISE(ABORT, 'no room'); END");
    let report = edit(&workspace, "one", "1");
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    assert_eq!(workspace.change(ChangeId(1)).unwrap().unwrap().summary.state, ChangeState::Done);
}
