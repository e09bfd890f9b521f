//! The texts that sessions saw, in the journal.

use std::time::{Duration, Instant};

use serde_json::json;
use slipstitch::SqliteJournal;
use slipstitch::journal::Retention;
use slipstitch_core::outcome::Status;
use slipstitch_core::plan::Run;
use slipstitch_core::ports::journal::{Journal, ShownTexts};
use slipstitch_core::text::ContentHash;

use crate::support::{TestFolder, file, open_database, open_journal};

fn note(journal: &SqliteJournal, session: &str, path: &str, text: &[u8]) {
    journal.note_shown(session, &file(path), ContentHash::of(text), text).unwrap();
}

fn shown(journal: &SqliteJournal, session: &str, path: &str) -> Vec<String> {
    let found = journal.shown(session, &file(path)).unwrap();
    let check = |(hash, text): (ContentHash, Vec<u8>)| {
        assert_eq!(hash, ContentHash::of(&text));
        String::from_utf8(text).unwrap()
    };
    found.into_iter().map(check).collect()
}

#[test]
fn texts_are_kept_by_session_and_path_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    note(&journal, "s", "a.txt", b"1");
    note(&journal, "s", "b.txt", b"other");
    for text in 2..12 {
        note(&journal, "s", "a.txt", text.to_string().as_bytes());
    }
    note(&journal, "s", "a.txt", b"9");
    note(&journal, "s", "a.txt", &vec![b'x'; ShownTexts::MAX_BYTES + 1]);
    assert_eq!(shown(&journal, "s", "a.txt"), ["9", "11", "10", "8", "7", "6", "5", "4"]);
    assert_eq!(shown(&journal, "s", "b.txt"), ["other"]);
    assert!(shown(&journal, "t", "a.txt").is_empty());
    let elsewhere = SqliteJournal::open(folder.path(), "/elsewhere").unwrap();
    assert!(shown(&elsewhere, "s", "a.txt").is_empty());
    // Another process of the same session sees the same.
    assert_eq!(shown(&open_journal(folder.path()), "s", "b.txt"), ["other"]);
}

#[test]
fn the_last_text_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    note(&journal, "s", "a.txt", b"1");
    let last = || {
        journal.flush_calls().unwrap();
        let database = open_database(folder.path());
        database.query_row("SELECT max(id) FROM shown", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let before = last();
    note(&journal, "s", "a.txt", b"1");
    assert_eq!(last(), before);
}

#[test]
fn all_texts_together_take_up_no_more_than_their_share() {
    let folder = tempfile::tempdir().unwrap();
    let max_bytes = 800_000;
    let journal = open_journal(folder.path()).with_retention(Retention { max_bytes, max_age_days: None });
    for number in 0..200 {
        note(&journal, &format!("s{number}"), "a.txt", format!("{number:05}").repeat(2_000).as_bytes());
    }
    journal.flush_calls().unwrap();
    let database = open_database(folder.path());
    let total: u64 = database
        .query_row("SELECT sum(length(text)) FROM shown", [], |row| row.get::<_, i64>(0))
        .unwrap() as u64;
    // Checked now and then, so a few more may have been added since.
    assert!(total <= max_bytes / 8 + 33 * 10_000, "{total}");
    assert!(shown(&journal, "s0", "a.txt").is_empty());
    assert_eq!(shown(&journal, "s199", "a.txt").len(), 1);
}

#[test]
fn old_texts_are_collected_and_a_full_journal_drops_texts_first() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    note(&journal, "s", "old.txt", b"old");
    journal.flush_calls().unwrap();
    open_database(folder.path()).execute("UPDATE shown SET at = 0", []).unwrap();
    note(&journal, "s", "new.txt", b"new");
    assert_eq!(journal.collect(Run::Real).unwrap().texts, 1);
    assert!(shown(&journal, "s", "old.txt").is_empty());
    assert_eq!(shown(&journal, "s", "new.txt"), ["new"]);
    let full = open_journal(folder.path()).with_retention(Retention { max_bytes: 1, max_age_days: None });
    assert_eq!(full.collect(Run::Real).unwrap().texts, 1);
    assert!(shown(&journal, "s", "new.txt").is_empty());
}

#[test]
fn a_busy_journal_neither_fails_nor_delays_a_read() {
    let test = TestFolder::new();
    test.put("a.txt", "one\ntwo\n");
    let workspace = test.open_session("s");
    let mut other = test.database();
    let held = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let start = Instant::now();
    let report = workspace.call("native", "read_file", json!({"path": "a.txt"})).report;
    assert_eq!(report.status(), Status::Shown, "{report:?}");
    // Far less than the time that a change would wait.
    assert!(start.elapsed() < Duration::from_secs(5));
    drop(held);
    workspace.call("native", "read_file", json!({"path": "a.txt"}));
    let version = ContentHash::of(b"one\ntwo\n").to_string();
    test.put("a.txt", "zero\none\ntwo\n");
    let edit = json!({"path": "a.txt", "start_line": 2, "new_text": "2\n", "version": version});
    assert_eq!(workspace.call("native", "edit_lines", edit).report.status(), Status::Applied);
    assert_eq!(test.text("a.txt"), "zero\none\n2\n");
}

#[cfg(unix)]
#[test]
fn a_text_read_through_a_symlink_is_a_version_of_the_file_itself() {
    let test = TestFolder::new();
    test.put("a.txt", "one\ntwo\n");
    std::os::unix::fs::symlink("a.txt", test.at("link.txt")).unwrap();
    let workspace = test.open_session("s");
    workspace.call("native", "read_file", json!({"path": "link.txt"}));
    test.put("a.txt", "zero\none\ntwo\n");
    let version = ContentHash::of(b"one\ntwo\n").to_string();
    let edit = json!({"path": "a.txt", "start_line": 2, "new_text": "2\n", "version": version});
    assert_eq!(workspace.call("native", "edit_lines", edit).report.status(), Status::Applied);
    let after = ContentHash::of(b"zero\none\n2\n").to_string();
    test.put("a.txt", "zero\none\n2\nthree\n");
    let edit = json!({"path": "link.txt", "start_line": 1, "new_text": "0\n", "version": after});
    assert_eq!(workspace.call("native", "edit_lines", edit).report.status(), Status::Applied);
    assert_eq!(test.text("a.txt"), "0\none\n2\nthree\n");
}

#[test]
fn a_journal_that_cannot_store_a_text_does_not_fail_the_read_or_the_edit() {
    let test = TestFolder::new();
    test.put("a.txt", "one\n");
    let workspace = test.open_session("s");
    test.database()
        .execute_batch(
            "CREATE TRIGGER refuse BEFORE INSERT ON shown BEGIN SELECT RAISE(ABORT, 'no room'); END",
        )
        .unwrap();
    let read = workspace.call("native", "read_file", json!({"path": "a.txt"})).report;
    assert_eq!((read.status(), read.warnings.len()), (Status::Shown, 0));
    let edit = json!({"path": "a.txt", "old_text": "one", "new_text": "two"});
    let report = workspace.call("native", "edit_file", edit).report;
    assert_eq!((report.status(), report.warnings.len()), (Status::Applied, 0));
}
