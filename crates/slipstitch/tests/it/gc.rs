//! What the journal forgets, and what it keeps.

use std::path::Path;

use slipstitch::SqliteJournal;
use slipstitch::journal::{Collected, Retention};
use slipstitch_core::change::{Base, PathChange};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::plan::Run;
use slipstitch_core::ports::journal::{
    Aftereffects, ChangeKind, FileRecord, Filter, Journal, LastText, Proposal, ProposalDecision, Record,
};
use slipstitch_core::text::ContentHash;
use slipstitch_core::text::{Span, Splices};

use crate::support::{self, file, file_change, open_database, open_journal, record_done};

const NO_LIMIT: u64 = 1 << 40;

fn open(folder: &Path, max_bytes: u64, max_age_days: Option<u64>) -> SqliteJournal {
    open_journal(folder).with_retention(Retention { max_bytes, max_age_days })
}

/// A record whose splices and diff have about `bytes` bytes each.
fn record(kind: ChangeKind, bytes: usize) -> Record {
    let text = vec![b'x'; bytes];
    let (base, after) = (Base::Content(ContentHash::of(b"")), Some(ContentHash::of(&text)));
    let inverse = file_change("x", base, PathChange::Keep, Splices::one(0, Span::new(0, 0), text), after);
    let record = support::record(kind, vec![FileRecord::new(inverse)]);
    Record { diff: "-a\n+b\n".repeat(bytes / 6), ..record }
}

fn done(journal: &SqliteJournal, kind: ChangeKind, bytes: usize) -> ChangeId {
    record_done(journal, &record(kind, bytes))
}

/// Records a change of `session` and marks it as done.
fn done_by(journal: &SqliteJournal, session: &str, kind: ChangeKind) -> ChangeId {
    let mut record = record(kind, 50_000);
    record.origin.session = session.into();
    record_done(journal, &record)
}

fn proposal() -> Proposal {
    let record = record(ChangeKind::Edit, 50_000);
    let files = record.files.into_iter().map(|file| file.inverse).collect();
    Proposal {
        text: Default::default(),
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

fn size(folder: &Path) -> u64 {
    std::fs::metadata(folder.join("journal.db")).unwrap().len()
}

#[test]
fn a_session_keeps_what_undo_and_redo_need_next() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), NO_LIMIT, None);
    let by = |session: &str, kind: ChangeKind| done_by(&journal, session, kind).0;
    let only = by("early", ChangeKind::Edit);
    let older: Vec<u64> = (0..5).map(|_| by("late", ChangeKind::Edit)).collect();
    let next = by("late", ChangeKind::Edit);
    let undone = by("late", ChangeKind::Edit);
    let undo = by("late", ChangeKind::Undo(ChangeId(undone).into()));
    let tiny = open(folder.path(), 1, None);
    tiny.collect(Run::Real).unwrap();
    assert_eq!(ids(&tiny), [undo, next, only], "{older:?} are forgotten");
    for id in [undo, next, only] {
        assert!(tiny.entry(ChangeId(id)).unwrap().is_some(), "c{id} can be undone");
    }
    tiny.collect(Run::Real).unwrap();
    assert_eq!(ids(&tiny).len(), 3, "they are kept the next time, too");
}

#[test]
fn deletes_texts_before_it_forgets_changes() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), NO_LIMIT, None);
    for number in 0..20 {
        let id = journal.begin(&record(ChangeKind::Edit, 600)).unwrap();
        let text = vec![b'x'; 100_000];
        let hash = ContentHash::of(&text);
        let texts = vec![(file(&format!("f{number}")), LastText::Short { text, hash })];
        journal.seal(id, &Aftereffects { texts, ..Aftereffects::default() }).unwrap();
    }
    journal.flush_calls().unwrap();
    let small = open(folder.path(), 1_000_000, None);
    let dry = small.collect(Run::Dry).unwrap();
    let real = small.collect(Run::Real).unwrap();
    assert_eq!(dry, real);
    assert_eq!((real.changes, ids(&small).len()), (0, 20), "{real:?}");
    assert!(real.texts >= 10 && real.texts < 20 && real.bytes_after <= 1_000_000, "{real:?}");
}

#[test]
fn many_sessions_do_not_lift_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), NO_LIMIT, None);
    for number in 0..60 {
        done_by(&journal, &format!("s{number}"), ChangeKind::Edit);
    }
    let small = open(folder.path(), 3_600_000, None);
    let real = small.collect(Run::Real).unwrap();
    assert!(real.bytes_after <= 3_600_000, "{real:?}");
    assert_eq!(ids(&small).first(), Some(&60));
}

#[test]
fn forgets_the_oldest_changes_first() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), NO_LIMIT, None);
    for _ in 0..20 {
        done(&journal, ChangeKind::Edit, 50_000);
    }
    assert!(journal.collect(Run::Real).unwrap().is_empty());
    assert_eq!(ids(&journal).len(), 20);

    let small = open(folder.path(), 1_000_000, None);
    let dry = small.collect(Run::Dry).unwrap();
    assert_eq!(ids(&small).len(), 20, "a dry run forgets nothing");
    let real = small.collect(Run::Real).unwrap();
    assert_eq!(dry, real, "a dry run predicts the result");
    assert!(real.changes > 5 && real.changes < 20 && real.bytes_after <= 1_000_000, "{real:?}");
    assert!(size(folder.path()) <= 1_000_000, "the space is returned to the file system");
    let left = ids(&small);
    assert_eq!(left.first(), Some(&20));
    assert_eq!(left.last().copied(), Some(real.changes as u64 + 1), "the newest are kept");
    for id in 1..=20 {
        let id = ChangeId(id);
        assert_eq!(small.entry(id).unwrap().is_none(), small.was_pruned(id).unwrap(), "{id}");
    }
    assert!(!small.was_pruned(ChangeId(21)).unwrap() && !small.was_pruned(ChangeId(u64::MAX)).unwrap());
    assert_eq!(done(&small, ChangeKind::Edit, 10), ChangeId(21), "ids are not reused");
}

#[test]
fn keeps_pending_changes_and_proposals() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), 1, None);
    let pending = {
        let journal = open(folder.path(), NO_LIMIT, None);
        let pending = journal.begin(&record(ChangeKind::Edit, 50_000)).unwrap();
        done(&journal, ChangeKind::Edit, 50_000);
        done(&journal, ChangeKind::Edit, 50_000);
        pending
    };
    let (rejected, pending_proposal) =
        (journal.propose(&proposal()).unwrap(), journal.propose(&proposal()).unwrap());
    let no = ProposalDecision::Rejected { by: "ada".into(), reason: None };
    journal.record_decision(rejected, &no).unwrap();
    let Collected { changes, proposals, .. } = journal.collect(Run::Real).unwrap();
    assert_eq!((changes, proposals), (1, 1));
    assert_eq!(journal.entry(pending).unwrap().unwrap().files[0].inverse.splices.new_len(), 50_000);
    assert!(
        journal.proposal(pending_proposal).unwrap().is_some()
            && journal.proposal(rejected).unwrap().is_none()
    );
    journal.seal(pending, &Aftereffects::default()).unwrap();
}

#[test]
fn a_forgotten_edit_can_still_be_redone() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path(), NO_LIMIT, Some(1));
    let edit = done(&journal, ChangeKind::Edit, 100);
    let undo = done(&journal, ChangeKind::Undo(edit.into()), 100);
    open_database(folder.path()).execute("UPDATE changes SET at = 5 WHERE id = 1", []).unwrap();
    assert_eq!(journal.collect(Run::Real).unwrap().changes, 1);
    assert!(journal.was_pruned(edit).unwrap() && journal.entry(edit).unwrap().is_none());
    assert_eq!(ids(&journal), [undo.0]);
    let redo = done(&journal, ChangeKind::Redo(undo), 100);
    assert_eq!(ids(&journal), [redo.0, undo.0], "a forgotten change is not listed again");

    open_database(folder.path()).execute("UPDATE changes SET at = 5", []).unwrap();
    assert_eq!(journal.collect(Run::Real).unwrap().changes, 2);
    let rows = open_database(folder.path())
        .query_row("SELECT count(*) FROM changes", [], |row| row.get::<_, i64>(0));
    assert_eq!(rows.unwrap(), 1, "only the newest, which no row refers to any more");
    assert!(journal.was_pruned(edit).unwrap(), "it is still known that they existed");
}

#[test]
fn enforces_the_limit_automatically() {
    let folder = tempfile::tempdir().unwrap();
    {
        let journal = open(folder.path(), NO_LIMIT, None);
        for _ in 0..20 {
            done(&journal, ChangeKind::Edit, 50_000);
        }
    }
    let journal = open(folder.path(), 1_000_000, None);
    let newest = done(&journal, ChangeKind::Edit, 10);
    let left = ids(&journal);
    assert!(left.len() < 15 && left.first() == Some(&newest.0), "{left:?}");
    assert!(journal.collect(Run::Dry).unwrap().is_empty(), "nothing more to forget");
}
