//! What queries cost as the journal grows, counted in steps of SQLite's virtual machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use slipstitch_core::change::{Base, FileChange, PathChange};
use slipstitch_core::engine::history::find_foreign_changes;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::journal::{
    Aftereffects, ChangeKind, FileRecord, Filter, Journal, LastText, Origin, Record, UndoFilter,
};
use slipstitch_core::text::{ContentHash, Span, Splices};

use super::*;
use crate::Fsync;

const SMALL: usize = 60;
const LARGE: usize = 10 * SMALL;

/// A folder with a journal of two roots. Each has `count` changes of the same path, each followed by a foreign change.
struct GrownJournal {
    _folder: tempfile::TempDir,
    journal: SqliteJournal,
    steps: Arc<AtomicUsize>,
}

fn path() -> FilePath {
    FilePath::from_record("src/main.rs").unwrap()
}

fn hash(number: usize) -> ContentHash {
    ContentHash::of(&number.to_le_bytes())
}

/// Records the change of a session from the text `number` to a text that no other change starts with.
fn record_edit(journal: &SqliteJournal, session: &str, number: usize) {
    let inverse = FileChange {
        path: path(),
        base: Base::Content(hash(number + 1_000_000)),
        path_change: PathChange::Keep,
        splices: Splices::one(3, Span::new(1, 2), b"x".to_vec()),
        after: Some(hash(number)),
        mode: None,
        executable: None,
        restore: Default::default(),
        edits: Vec::new(),
        notes: Vec::new(),
        totals: None,
    };
    let record = Record {
        origin: Origin { session: session.into(), agent: None, dialect: "native".into(), tool: "t".into() },
        kind: ChangeKind::Edit,
        description: None,
        labels: None,
        approval: "auto".into(),
        files: vec![FileRecord::new(inverse)],
        diff: String::new(),
        intent: None,
    };
    let id = journal.begin(&record).unwrap();
    let text = LastText::Short { text: number.to_le_bytes().to_vec(), hash: hash(number) };
    journal.seal(id, &Aftereffects { memory: Vec::new(), texts: vec![(path(), text)] }).unwrap();
}

impl GrownJournal {
    fn new(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = |root: &str| SqliteJournal::open(folder.path(), root).unwrap().with_fsync(Fsync::Off);
        let (journal, other) = (open("/a"), open("/b"));
        for number in 0..count {
            record_edit(&journal, "s", number);
        }
        // Those of the other root are newer, and must not be in the way.
        for number in 0..count {
            record_edit(&other, "s", number);
        }
        let steps = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&steps);
        let count_step = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            false
        };
        journal.connection.lock().unwrap().progress_handler(1, Some(count_step)).unwrap();
        Self { _folder: folder, journal, steps }
    }

    fn steps_of(&self, work: impl Fn(&SqliteJournal)) -> usize {
        // The first run prepares the statements.
        work(&self.journal);
        self.steps.store(0, Ordering::Relaxed);
        work(&self.journal);
        self.steps.load(Ordering::Relaxed)
    }
}

/// As `slipstitch log` does it.
fn log(journal: &SqliteJournal, filter: &Filter) {
    let changes = journal.list(filter).unwrap();
    let foreign = find_foreign_changes(journal, &changes, |_| Some(None)).unwrap();
    assert!(foreign.len() + 1 >= changes.len(), "each change follows a foreign one");
}

/// A named query.
type Query = (&'static str, fn(&SqliteJournal));

#[test]
fn queries_with_a_limit_cost_the_same_in_a_large_journal() {
    let queries: [Query; 7] = [
        ("log of the last changes", |journal| log(journal, &Filter { limit: Some(5), ..Filter::default() })),
        ("log of a file", |journal| {
            log(journal, &Filter { path: Some(path()), limit: Some(5), ..Filter::default() });
        }),
        ("log of a session", |journal| {
            log(journal, &Filter { session: Some("s".into()), limit: Some(5), ..Filter::default() });
        }),
        ("undo in a fresh session", |journal| {
            for undo in [UndoFilter::Undoable, UndoFilter::Redoable] {
                let session = Some("fresh".into());
                let filter = Filter { session, undo: Some(undo), limit: Some(1), ..Filter::default() };
                assert!(journal.list(&filter).unwrap().is_empty());
            }
        }),
        ("redo in a busy session", |journal| {
            let (session, undo) = (Some("s".into()), Some(UndoFilter::Redoable));
            assert!(
                journal
                    .list(&Filter { session, undo, limit: Some(1), ..Filter::default() })
                    .unwrap()
                    .is_empty()
            );
        }),
        ("pending changes of other roots", |journal| {
            assert!(journal.pending_elsewhere(&["/"]).unwrap().is_empty());
        }),
        ("last text of a file", |journal| {
            assert!(journal.last_text(&path(), hash(7_000_000)).unwrap().is_some());
        }),
    ];
    let (small, large) = (GrownJournal::new(SMALL), GrownJournal::new(LARGE));
    for (name, query) in queries {
        let (few, many) = (small.steps_of(query), large.steps_of(query));
        assert!(many <= few + few / 5 + 20, "{name}: {few} steps with {SMALL} changes, {many} with {LARGE}");
    }
}

#[test]
fn listing_everything_is_linear() {
    let all = |journal: &SqliteJournal| log(journal, &Filter::default());
    let (few, many) = (GrownJournal::new(SMALL).steps_of(all), GrownJournal::new(LARGE).steps_of(all));
    assert!(many <= 13 * few, "{few} steps with {SMALL} changes, {many} with {LARGE}");
}
