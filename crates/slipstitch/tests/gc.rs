//! What the journal forgets, and what it never does.

use std::path::Path;

use slipstitch::journal::{Collected, Retention};
use slipstitch::{Fsync, SqliteJournal};
use slipstitch_core::change::{Base, Fate, FileChange};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::plan::Run;
use slipstitch_core::ports::journal::{
    Aftereffects, ChangeKind, FileRecord, Filter, Journal, LastText, Origin, Proposal, ProposalDecision,
    Record,
};
use slipstitch_core::text::ContentHash;
use slipstitch_core::text::{Span, Splices};

fn open(folder: &Path, max_bytes: u64, max_age_days: Option<u64>) -> SqliteJournal {
    let journal = SqliteJournal::open(folder, "/root").unwrap().with_fsync(Fsync::Off).unwrap();
    journal.with_retention(Retention { max_bytes, max_age_days })
}

const PLENTY: u64 = 1 << 40;

fn record(kind: ChangeKind, bytes: usize) -> Record {
    let inverse = FileChange {
        path: FilePath::from_record("x").unwrap(),
        base: Base::Content(ContentHash::of(b"")),
        fate: Fate::Keep,
        splices: Splices::one(0, Span::new(0, 0), vec![b'x'; bytes]),
        after: Some(ContentHash::of(&vec![b'x'; bytes])),
        mode: None,
        executable: None,
        edits: Vec::new(),
        notes: Vec::new(),
        totals: None,
    };
    Record {
        intent: None,
        origin: Origin { session: "s".into(), agent: None, dialect: "native".into(), tool: "t".into() },
        kind,
        description: Some("what for".into()),
        approval: "auto".into(),
        files: vec![FileRecord::new(inverse)],
        diff: "-a\n+b\n".repeat(bytes / 6),
    }
}

fn done(journal: &SqliteJournal, kind: ChangeKind, bytes: usize) -> ChangeId {
    let id = journal.begin(&record(kind, bytes)).unwrap();
    journal.seal(id, &Aftereffects::default()).unwrap();
    id
}

fn proposal() -> Proposal {
    let record = record(ChangeKind::Edit, 50_000);
    let files = record.files.into_iter().map(|file| file.inverse).collect();
    Proposal {
        origin: record.origin,
        description: None,
        reason: "long".into(),
        files,
        diff: record.diff,
        notes: Default::default(),
    }
}

fn ids(journal: &SqliteJournal) -> Vec<u64> {
    journal.list(&Filter::default()).unwrap().iter().map(|change| change.id.0).collect()
}

fn raw(folder: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.join("journal.db")).unwrap()
}

fn size(folder: &Path) -> u64 {
    std::fs::metadata(folder.join("journal.db")).unwrap().len()
}

#[test]
fn however_little_room_there_is_a_session_keeps_what_undo_and_redo_need_next() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), PLENTY, None);
    let by = |session: &str, kind: ChangeKind| {
        let mut record = record(kind, 50_000);
        record.origin.session = session.into();
        let id = journal.begin(&record).unwrap();
        journal.seal(id, &Aftereffects::default()).unwrap();
        id.0
    };
    let only = by("early", ChangeKind::Edit);
    let older: Vec<u64> = (0..5).map(|_| by("late", ChangeKind::Edit)).collect();
    let next = by("late", ChangeKind::Edit);
    let taken_back = by("late", ChangeKind::Edit);
    let undo = by("late", ChangeKind::Undo(ChangeId(taken_back).into()));
    let tiny = open(folder.path(), 1, None);
    tiny.collect(Run::Real).unwrap();
    assert_eq!(ids(&tiny), [undo, next, only], "{older:?} are gone");
    for id in [undo, next, only] {
        assert!(tiny.entry(ChangeId(id)).unwrap().is_some(), "c{id} has what takes it back");
    }
    tiny.collect(Run::Real).unwrap();
    assert_eq!(ids(&tiny).len(), 3, "nor are they forgotten the next time");
}

#[test]
fn texts_of_files_go_before_changes() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), PLENTY, None);
    for number in 0..20 {
        let id = journal.begin(&record(ChangeKind::Edit, 600)).unwrap();
        let text = vec![b'x'; 100_000];
        let hash = ContentHash::of(&text);
        let path = FilePath::from_record(&format!("f{number}")).unwrap();
        journal
            .seal(
                id,
                &Aftereffects {
                    texts: vec![(path, LastText::Short { text, hash })],
                    ..Aftereffects::default()
                },
            )
            .unwrap();
    }
    let small = open(folder.path(), 1_000_000, None);
    let dry = small.collect(Run::Dry).unwrap();
    let real = small.collect(Run::Real).unwrap();
    assert_eq!(dry, real);
    assert_eq!((real.changes, ids(&small).len()), (0, 20), "{real:?}");
    assert!(real.texts >= 10 && real.texts < 20 && real.bytes_after <= 1_000_000, "{real:?}");
}

#[test]
fn very_many_sessions_do_not_lift_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), PLENTY, None);
    for number in 0..60 {
        let mut record = record(ChangeKind::Edit, 50_000);
        record.origin.session = format!("s{number}");
        let id = journal.begin(&record).unwrap();
        journal.seal(id, &Aftereffects::default()).unwrap();
    }
    let small = open(folder.path(), 3_600_000, None);
    let real = small.collect(Run::Real).unwrap();
    assert!(real.bytes_after <= 3_600_000, "{real:?}");
    assert_eq!(ids(&small).first(), Some(&60));
}

#[test]
fn the_oldest_go_first_and_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), PLENTY, None);
    for _ in 0..20 {
        done(&journal, ChangeKind::Edit, 50_000);
    }
    assert!(journal.collect(Run::Real).unwrap().is_nothing());
    assert_eq!(ids(&journal).len(), 20);

    let small = open(folder.path(), 1_000_000, None);
    let dry = small.collect(Run::Dry).unwrap();
    assert_eq!(ids(&small).len(), 20, "a dry run forgets nothing");
    let real = small.collect(Run::Real).unwrap();
    assert_eq!(dry, real, "what a dry run says is what the run does");
    assert!(real.changes > 5 && real.changes < 20 && real.bytes_after <= 1_000_000, "{real:?}");
    assert!(size(folder.path()) <= 1_000_000, "the space goes back to the disk");
    let left = ids(&small);
    assert_eq!(left.first(), Some(&20));
    assert_eq!(left.last().copied(), Some(real.changes as u64 + 1), "the newest stay");
    for id in 1..=20 {
        let id = ChangeId(id);
        assert_eq!(small.entry(id).unwrap().is_none(), small.was_pruned(id).unwrap(), "{id}");
    }
    assert!(!small.was_pruned(ChangeId(21)).unwrap() && !small.was_pruned(ChangeId(u64::MAX)).unwrap());
    assert_eq!(done(&small, ChangeKind::Edit, 10), ChangeId(21), "numbers are given once");
}

#[test]
fn what_is_pending_or_waits_stays() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), 1, None);
    let pending = {
        let journal = open(folder.path(), PLENTY, None);
        let pending = journal.begin(&record(ChangeKind::Edit, 50_000)).unwrap();
        done(&journal, ChangeKind::Edit, 50_000);
        done(&journal, ChangeKind::Edit, 50_000);
        pending
    };
    let (waiting, rejected) = (journal.propose(&proposal()).unwrap(), journal.propose(&proposal()).unwrap());
    let no = ProposalDecision::Rejected { by: "ada".into(), reason: None };
    journal.record_decision(rejected, &no).unwrap();
    let Collected { changes, proposals, .. } = journal.collect(Run::Real).unwrap();
    assert_eq!((changes, proposals), (1, 1));
    assert_eq!(journal.entry(pending).unwrap().unwrap().files[0].inverse.splices.new_len(), 50_000);
    assert!(journal.proposal(waiting).unwrap().is_some() && journal.proposal(rejected).unwrap().is_none());
    journal.seal(pending, &Aftereffects::default()).unwrap();
}

#[test]
fn what_others_name_can_still_be_brought_back() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), PLENTY, Some(1));
    let edit = done(&journal, ChangeKind::Edit, 100);
    let undo = done(&journal, ChangeKind::Undo(edit.into()), 100);
    raw(folder.path()).execute("UPDATE changes SET at = 5 WHERE id = 1", []).unwrap();
    assert_eq!(journal.collect(Run::Real).unwrap().changes, 1);
    assert!(journal.was_pruned(edit).unwrap() && journal.entry(edit).unwrap().is_none());
    assert_eq!(ids(&journal), [undo.0]);
    let redo = done(&journal, ChangeKind::Redo(undo), 100);
    assert_eq!(ids(&journal), [redo.0, undo.0], "what was forgotten does not come back");

    raw(folder.path()).execute("UPDATE changes SET at = 5", []).unwrap();
    assert_eq!(journal.collect(Run::Real).unwrap().changes, 2);
    let rows = raw(folder.path()).query_row("SELECT count(*) FROM changes", [], |row| row.get::<_, i64>(0));
    assert_eq!(rows.unwrap(), 0, "nobody names them any more");
    assert!(journal.was_pruned(edit).unwrap(), "and it is still known that they were there");
}

#[test]
fn sessions_long_gone_forget_all_but_their_mode() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), PLENTY, None);
    let text = |name: &str| (name.to_owned(), "text".to_owned());
    journal.remember("gone", &[text("clipboard/x"), text("mode")]).unwrap();
    journal.remember("here", &[text("clipboard/x")]).unwrap();
    raw(folder.path()).execute("UPDATE memory SET at = 5 WHERE session = 'gone'", []).unwrap();
    assert_eq!(journal.collect(Run::Real).unwrap().memories, 1);
    assert_eq!(journal.recall("gone", "").unwrap(), [text("mode")]);
    assert_eq!(journal.recall("here", "").unwrap().len(), 1);
}

#[test]
fn the_limit_is_kept_without_being_asked() {
    let folder = tempfile::tempdir().unwrap();
    {
        let journal = open(folder.path(), PLENTY, None);
        for _ in 0..20 {
            done(&journal, ChangeKind::Edit, 50_000);
        }
    }
    let journal = open(folder.path(), 1_000_000, None);
    let newest = done(&journal, ChangeKind::Edit, 10);
    let left = ids(&journal);
    assert!(left.len() < 15 && left.first() == Some(&newest.0), "{left:?}");
    assert!(journal.collect(Run::Dry).unwrap().is_nothing(), "nothing is left to do");
}
