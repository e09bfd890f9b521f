//! Changes that are in the files although the journal could not be updated.

use slipstitch::core::plan::ChangeId;
use slipstitch::core::ports::journal::ChangeState;

use crate::support::{TestWorkspace, edit};

fn workspace() -> TestWorkspace {
    let test = TestWorkspace::new();
    test.put("a.txt", "one\ntwo\n");
    test
}

const REFUSE_DONE: &str = "CREATE TRIGGER refuse BEFORE UPDATE OF state ON changes WHEN new.state = 'done'
                           BEGIN SELECT RAISE(ABORT, 'no room'); END";

#[test]
fn the_next_change_of_the_file_marks_it_as_done() {
    let test = workspace();
    test.database().execute_batch(REFUSE_DONE).unwrap();
    let report = edit(&test.workspace, "a.txt", "one", "1");
    assert!(report.warnings.iter().any(|warning| warning.contains("no room")), "{:?}", report.warnings);
    test.database().execute_batch("DROP TRIGGER refuse").unwrap();
    edit(&test.workspace, "a.txt", "1", "eins");
    for id in [1, 2] {
        let state = test.workspace.change(ChangeId(id)).unwrap().unwrap().summary.state;
        assert_eq!(state, ChangeState::Done, "c{id}");
    }
    for _ in 0..2 {
        assert!(test.undo().status().is_success());
    }
    assert_eq!(test.text("a.txt"), "one\ntwo\n");
}

#[test]
fn a_text_that_cannot_be_stored_does_not_fail_the_change() {
    let test = workspace();
    let refuse =
        "CREATE TRIGGER refuse BEFORE INSERT ON last_texts BEGIN SELECT RAISE(ABORT, 'no room'); END";
    test.database().execute_batch(refuse).unwrap();
    let report = edit(&test.workspace, "a.txt", "one", "1");
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    assert_eq!(test.workspace.change(ChangeId(1)).unwrap().unwrap().summary.state, ChangeState::Done);
}
