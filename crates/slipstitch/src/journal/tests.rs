use slipstitch_core::ports::journal::{ChangeKind, Origin};

use super::*;

#[cfg(unix)]
#[test]
fn symlinked_files_are_refused_and_not_followed() {
    for suffix in ["", "-wal", "-shm"] {
        let folder = tempfile::tempdir().unwrap();
        let (state, target) = (folder.path().join("state"), folder.path().join("target"));
        std::fs::create_dir(&state).unwrap();
        std::fs::write(&target, "").unwrap();
        drop(SqliteJournal::open(&state, "/").unwrap());
        let name = format!("{FILE}{suffix}");
        let _ = std::fs::remove_file(state.join(&name));
        std::os::unix::fs::symlink(&target, state.join(&name)).unwrap();
        let error = SqliteJournal::open(&state, "/").unwrap_err().to_string();
        assert!(error.contains(&format!("{name}` must be a regular file but is a symlink")), "{error}");
        assert_eq!(std::fs::read(&target).unwrap(), b"", "{name}");
    }
}

/// The locks that this process has on a file.
#[cfg(target_os = "linux")]
fn count_locks(file: &Path) -> usize {
    let inode = std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap());
    let (process, inode) = (format!(" {} ", std::process::id()), format!(":{inode} "));
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    locks.lines().filter(|line| line.contains(&process) && line.contains(&inode)).count()
}

#[cfg(target_os = "linux")]
#[test]
fn opening_a_journal_again_keeps_the_locks_of_the_first_connection() {
    let folder = tempfile::tempdir().unwrap();
    let first = SqliteJournal::open(folder.path(), "/").unwrap();
    first.list(&Filter::default()).unwrap();
    assert!(count_locks(&folder.path().join(FILE)) > 0, "SQLite locks the database while it is open");
    create_private(&folder.path().join(FILE)).unwrap();
    assert!(count_locks(&folder.path().join(FILE)) > 0, "nothing is opened and closed");
    drop(SqliteJournal::open(folder.path(), "/other").unwrap());
    assert!(count_locks(&folder.path().join(FILE)) > 0, "another journal was opened and closed");
}

#[test]
fn a_locked_journal_is_reported_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path(), "/").unwrap();
    let mut other = Connection::open(folder.path().join(FILE)).unwrap();
    let held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let memory = [("name".to_owned(), "text".to_owned())];
    let remember = || journal.remember("s", &memory);
    let error = journal.patience.at_most(Duration::from_millis(20), remember).unwrap_err().to_string();
    assert!(error.contains("another process has locked it"), "{error}");
    assert!(error.contains("then try again") && !error.contains("database is locked"), "{error}");
    drop(held);
    journal.remember("s", &memory).unwrap();
}

fn empty_record() -> Record {
    let text = String::from;
    Record {
        origin: Origin { session: text("s"), agent: None, dialect: text("native"), tool: text("edit_file") },
        kind: ChangeKind::Edit,
        description: None,
        labels: None,
        approval: text("auto"),
        files: Vec::new(),
        diff: String::new(),
        intent: None,
    }
}

#[test]
fn a_cancelled_call_does_not_end_the_wait_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path(), "/").unwrap();
    let mut other = Connection::open(folder.path().join(FILE)).unwrap();
    let held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let (wanted, unwanted) = (CancelToken::default(), CancelToken::default());
    let begin = |call: &CancelToken| journal.begin_unless_cancelled(&empty_record(), call);
    let pause = || std::thread::sleep(Duration::from_millis(40));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| begin(&wanted));
        pause();
        let second = scope.spawn(|| begin(&unwanted));
        pause();
        assert!(unwanted.cancel());
        pause();
        assert!(!first.is_finished(), "it still waits");
        drop(held);
        assert!(first.join().unwrap().unwrap().is_some());
        assert_eq!(second.join().unwrap().unwrap(), None);
    });
    assert_eq!(journal.list(&Filter::default()).unwrap().len(), 1);
}

#[test]
fn what_needs_no_lock_is_read_while_another_call_waits_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path(), "/").unwrap();
    let mut other = Connection::open(folder.path().join(FILE)).unwrap();
    let held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| journal.remember("s", &[("name".into(), "text".into())]));
        std::thread::sleep(Duration::from_millis(40));
        assert_eq!(journal.recall("s", "").unwrap(), []);
        assert!(!waiting.is_finished());
        drop(held);
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn old_sessions_keep_only_their_mode() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path(), "/").unwrap();
    let text = |name: &str| (name.to_owned(), "text".to_owned());
    journal.remember("gone", &[text("clipboard/x"), text("mode")]).unwrap();
    journal.remember("here", &[text("clipboard/x")]).unwrap();
    {
        let connection = journal.connection.lock().unwrap();
        connection.execute("UPDATE session_memory SET at = 5 WHERE session = 'gone'", []).unwrap();
        checksum::SESSION_MEMORY.update_sums_where(&connection, "TRUE", []).unwrap();
    }
    assert_eq!(journal.collect(Run::Real).unwrap().memories, 1);
    assert_eq!(journal.recall("gone", "").unwrap(), [text("mode")]);
    assert_eq!(journal.recall("here", "").unwrap().len(), 1);
}
