//! The journal, in a real database.

use slipstitch::SqliteJournal;
use slipstitch_core::change::{Base, FileChange, LineTotals, Lines, PathChange, Place, PlacedEdit, Rung};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{
    Aftereffects, ChangeKind, ChangeState, FileRecord, Filter, Journal, JournalErrorKind, LastText, Proposal,
    ProposalDecision, ProposalId, ProposalNotes, RejectedHunk, Summary, UndoFilter, UndoneChanges,
};
use slipstitch_core::text::ContentHash;
use slipstitch_core::text::{Span, Splice, Splices};

use crate::support::{file, file_change, open_database, open_journal, record, record_done};

fn edit_of(path: &str) -> FileRecord {
    let splices = Splices::new(
        9,
        vec![
            Splice { at: Span::new(1, 1), insert: [0, 0xff].into() },
            Splice { at: Span::new(4, 9), insert: [].into() },
        ],
    );
    let (base, after) = (Base::Content(ContentHash::of(b"after")), Some(ContentHash::of(b"before")));
    let inverse = file_change(path, base, PathChange::Keep, splices.unwrap(), after);
    FileRecord { rung: Some(Rung::Exact), ..FileRecord::new(inverse) }
}

fn done(journal: &SqliteJournal, kind: ChangeKind) -> ChangeId {
    record_done(journal, &record(kind, vec![edit_of("x")]))
}

fn summary(journal: &SqliteJournal, id: ChangeId) -> Summary {
    journal.entry(id).unwrap().unwrap().summary
}

fn ids(journal: &SqliteJournal, filter: Filter) -> Vec<ChangeId> {
    journal.list(&filter).unwrap().into_iter().map(|summary| summary.id).collect()
}

fn picks(journal: &SqliteJournal, undo: UndoFilter) -> Vec<ChangeId> {
    ids(journal, Filter { undo: Some(undo), ..Filter::default() })
}

#[test]
fn an_entry_has_everything_that_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let mut gone = edit_of("gone");
    gone.inverse = FileChange { base: Base::Absent, mode: Some(0o4755), ..gone.inverse };
    gone.rung = None;
    let mut made = edit_of("made");
    made.inverse = FileChange { path_change: PathChange::Delete, after: None, ..made.inverse };
    let mut moved = edit_of("to/there");
    moved.inverse.path_change = PathChange::Move(file("from"));
    moved.rung = Some(Rung::Stated);
    let files = vec![edit_of("ü x"), gone, made, moved];
    let id = journal.begin(&record(ChangeKind::Edit, files.clone())).unwrap();
    let entry = journal.entry(id).unwrap().unwrap();
    assert_eq!(entry.files, files);
    assert_eq!(entry.diff, "--- a\n+++ b\n");
    assert_eq!(entry.summary.origin, record(ChangeKind::Edit, vec![]).origin);
    assert_eq!(entry.summary.description.as_deref(), Some("why"));
    assert_eq!(entry.summary.approval, "auto");
    assert_eq!((entry.summary.state, entry.summary.kind), (ChangeState::Pending, ChangeKind::Edit));
    assert!(entry.summary.at > 1_700_000_000_000);
    let listed = journal.list(&Filter::default()).unwrap();
    assert_eq!(listed[0].files, entry.summary.files);
    let paths: Vec<_> =
        listed[0].files.iter().map(|f| (f.path_before.clone(), f.path_after.clone())).collect();
    assert_eq!(paths[1], (Some(file("gone")), None));
    assert_eq!(paths[2], (None, Some(file("made"))));
    assert_eq!(paths[3], (Some(file("from")), Some(file("to/there"))));
}

#[test]
fn a_change_is_pending_until_it_is_done_or_abandoned() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let kept = journal.begin(&record(ChangeKind::Edit, vec![])).unwrap();
    let lost = journal.begin(&record(ChangeKind::Edit, vec![])).unwrap();
    journal.seal(kept, &Aftereffects::default()).unwrap();
    journal.abandon(lost).unwrap();
    assert_eq!(summary(&journal, kept).state, ChangeState::Done);
    assert_eq!(summary(&journal, lost).state, ChangeState::Abandoned);
    assert_eq!(ids(&journal, Filter::default()), [kept]);
    let error = journal.seal(lost, &Aftereffects::default()).unwrap_err().to_string();
    assert!(error.contains("c2 is not pending but abandoned"), "{error}");
    assert!(journal.abandon(kept).is_err());
    assert!(
        journal
            .seal(ChangeId(77), &Aftereffects::default())
            .unwrap_err()
            .reason
            .contains("there is no change c77")
    );
}

#[test]
fn undo_and_redo_update_undone_by() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let edit = done(&journal, ChangeKind::Edit);
    assert_eq!(picks(&journal, UndoFilter::Undoable), [edit]);

    let undo = journal.begin(&record(ChangeKind::Undo(edit.into()), vec![])).unwrap();
    assert_eq!(summary(&journal, edit).undone_by, None, "an undo takes effect when it is done");
    assert!(picks(&journal, UndoFilter::Redoable).is_empty());
    journal.seal(undo, &Aftereffects::default()).unwrap();
    assert_eq!(summary(&journal, edit).undone_by, Some(undo));
    assert!(picks(&journal, UndoFilter::Undoable).is_empty());
    assert_eq!(picks(&journal, UndoFilter::Redoable), [undo]);

    let redo = done(&journal, ChangeKind::Redo(undo));
    assert_eq!(summary(&journal, undo).undone_by, Some(redo));
    assert_eq!(summary(&journal, edit).undone_by, None);
    assert_eq!(picks(&journal, UndoFilter::Undoable), [edit]);
    assert!(picks(&journal, UndoFilter::Redoable).is_empty());

    let again = done(&journal, ChangeKind::Undo(edit.into()));
    assert_eq!(summary(&journal, edit).undone_by, Some(again));
    assert_eq!(picks(&journal, UndoFilter::Redoable), [again]);
}

#[test]
fn undoing_a_redo_puts_the_undo_in_force_again() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let edit = done(&journal, ChangeKind::Edit);
    let undo = done(&journal, ChangeKind::Undo(edit.into()));
    let redo = done(&journal, ChangeKind::Redo(undo));
    let back = done(&journal, ChangeKind::Undo(redo.into()));
    let by = |id| summary(&journal, id).undone_by;
    assert_eq!((by(edit), by(undo), by(redo), by(back)), (Some(undo), None, Some(back), None));
}

#[test]
fn an_abandoned_undo_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let edit = done(&journal, ChangeKind::Edit);
    let undo = journal.begin(&record(ChangeKind::Undo(edit.into()), vec![])).unwrap();
    journal.abandon(undo).unwrap();
    assert_eq!(picks(&journal, UndoFilter::Undoable), [edit]);
    assert!(journal.begin(&record(ChangeKind::Undo(ChangeId(99).into()), vec![])).is_err());
    assert!(journal.begin(&record(ChangeKind::Undo(ChangeId(u64::MAX).into()), vec![])).is_err());
}

#[test]
fn a_pending_edit_is_listed_but_cannot_be_undone() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let done = done(&journal, ChangeKind::Edit);
    let pending = journal.begin(&record(ChangeKind::Edit, vec![])).unwrap();
    assert_eq!(picks(&journal, UndoFilter::Undoable), [done]);
    assert_eq!(journal.list(&Filter::default()).unwrap()[0].id, pending);
}

#[test]
fn filters_narrow_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let mut moved = edit_of("new");
    moved.inverse.path_change = PathChange::Move(file("old"));
    let one = journal.begin(&record(ChangeKind::Edit, vec![edit_of("a"), moved])).unwrap();
    let mut other = record(ChangeKind::Edit, vec![edit_of("a"), edit_of("b")]);
    other.origin.session = "s2".into();
    other.origin.agent = None;
    let two = journal.begin(&other).unwrap();
    let all = Filter::default();
    let by_path = |path| Filter { path: Some(file(path)), ..all.clone() };
    assert_eq!(ids(&journal, all.clone()), [two, one]);
    assert_eq!(ids(&journal, by_path("a")), [two, one]);
    assert_eq!(ids(&journal, by_path("b")), [two]);
    assert_eq!(ids(&journal, by_path("old")), [one]);
    assert_eq!(ids(&journal, by_path("new")), [one]);
    assert_eq!(ids(&journal, by_path("c")), []);
    assert_eq!(ids(&journal, Filter { session: Some("s2".into()), ..all.clone() }), [two]);
    assert_eq!(ids(&journal, Filter { agent: Some("agent".into()), ..all.clone() }), [one]);
    assert_eq!(ids(&journal, Filter { limit: Some(1), ..all.clone() }), [two]);
    assert_eq!(ids(&journal, Filter { limit: Some(0), ..all.clone() }), []);
    let at = summary(&journal, two).at;
    assert_eq!(ids(&journal, Filter { since: Some(at + 1), ..all.clone() }), []);
    assert_eq!(ids(&journal, Filter { since: Some(at), limit: Some(1), ..all.clone() }), [two]);
    assert!(!ids(&journal, Filter { until: Some(at), ..all.clone() }).contains(&two));
    assert_eq!(ids(&journal, Filter { until: Some(at + 1), ..all }), [two, one]);
}

#[test]
fn roots_share_ids_but_not_changes() {
    let folder = tempfile::tempdir().unwrap();
    let mine = open_journal(folder.path());
    let theirs = SqliteJournal::open(folder.path(), "/other").unwrap();
    let one = done(&mine, ChangeKind::Edit);
    let two = done(&theirs, ChangeKind::Edit);
    assert_ne!(one, two);
    assert_eq!(ids(&mine, Filter::default()), [one]);
    assert_eq!(ids(&theirs, Filter::default()), [two]);
    assert!(theirs.entry(one).unwrap().is_none());
    assert!(theirs.entry(ChangeId(u64::MAX)).unwrap().is_none());
    assert!(theirs.begin(&record(ChangeKind::Undo(one.into()), vec![])).is_err());
    let pending = mine.begin(&record(ChangeKind::Edit, vec![])).unwrap();
    assert!(theirs.seal(pending, &Aftereffects::default()).is_err());
}

#[test]
fn eight_connections_share_a_new_database() {
    const EDITS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let ids: Vec<ChangeId> = std::thread::scope(|threads| {
        let work = |_| {
            threads.spawn(|| {
                let journal = open_journal(folder.path());
                let mut own = Vec::new();
                for round in 0..EDITS {
                    let edit = done(&journal, ChangeKind::Edit);
                    own.push(edit);
                    if round % 4 == 3 {
                        own.push(done(&journal, ChangeKind::Undo(edit.into())));
                    }
                }
                own
            })
        };
        let running: Vec<_> = (0..8).map(work).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let journal = open_journal(folder.path());
    let all = journal.list(&Filter::default()).unwrap();
    assert_eq!(all.len(), 8 * (EDITS + EDITS / 4));
    assert!(all.iter().all(|change| change.state == ChangeState::Done));
    assert!(all.windows(2).all(|pair| pair[0].id > pair[1].id));
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "no id is assigned twice");
    assert_eq!(picks(&journal, UndoFilter::Undoable).len(), 8 * (EDITS - EDITS / 4));
}

#[test]
fn one_undo_can_revert_several_changes_and_be_redone() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let edits: Vec<ChangeId> = (0..3).map(|_| done(&journal, ChangeKind::Edit)).collect();
    let newest_first = vec![edits[2], edits[0]];
    let taken = UndoneChanges::new(newest_first.clone()).unwrap();
    let undo = done(&journal, ChangeKind::Undo(taken.clone()));
    assert_eq!(summary(&journal, undo).kind, ChangeKind::Undo(taken));
    let by = |journal: &SqliteJournal| -> Vec<Option<ChangeId>> {
        edits.iter().map(|&id| summary(journal, id).undone_by).collect()
    };
    assert_eq!(by(&journal), [Some(undo), None, Some(undo)]);
    assert_eq!(picks(&journal, UndoFilter::Undoable), [edits[1]]);
    let json = serde_json::to_value(summary(&journal, undo)).unwrap();
    assert_eq!((json["kind"].as_str(), &json["of"]), (Some("undo"), &serde_json::json!(["c3", "c1"])));
    done(&journal, ChangeKind::Redo(undo));
    assert_eq!(by(&journal), [None, None, None]);
    let single = done(&journal, ChangeKind::Undo(edits[1].into()));
    let json = serde_json::to_value(summary(&journal, single)).unwrap();
    assert_eq!(json["of"], "c2", "a single id is not a list");
}

#[test]
fn lists_changes_between_two_ids() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let made: Vec<ChangeId> = (0..4).map(|_| done(&journal, ChangeKind::Edit)).collect();
    let filter = Filter { after: Some(made[0]), before: Some(made[3]), ..Filter::default() };
    assert_eq!(ids(&journal, filter), [made[2], made[1]]);
}

#[test]
fn a_pending_change_is_visible_to_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let id = open_journal(folder.path()).begin(&record(ChangeKind::Edit, vec![edit_of("x")])).unwrap();
    let entry = open_journal(folder.path()).entry(id).unwrap().unwrap();
    assert_eq!(entry.summary.state, ChangeState::Pending);
    assert_eq!(entry.files, [edit_of("x")]);
}

#[test]
fn a_damaged_change_is_named_and_the_rest_can_be_used() {
    for damage in [
        "UPDATE files SET splices = x'0109' WHERE change = 2",
        "UPDATE files SET splices = x'' WHERE change = 2",
        "UPDATE files SET path = 'y' WHERE change = 2",
        "UPDATE files SET base = 'b3:12' WHERE change = 2",
        "UPDATE files SET mode = 511 WHERE change = 2",
        "UPDATE files SET rung = CAST(x'ff' AS TEXT) WHERE change = 2",
        "DELETE FROM files WHERE change = 2",
        "UPDATE changes SET diff = 'x' WHERE id = 2",
        "UPDATE changes SET session = CAST(x'ff' AS TEXT) WHERE id = 2",
        "UPDATE changes SET kind = 'redo' WHERE id = 2",
        "UPDATE changes SET sum = x'0102030405060708' WHERE id = 2",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let journal = open_journal(folder.path());
        let all: Vec<ChangeId> = (0..3).map(|_| done(&journal, ChangeKind::Edit)).collect();
        open_database(folder.path()).execute(damage, []).unwrap();
        let error = journal.entry(all[1]).unwrap_err();
        assert_eq!(error.kind, JournalErrorKind::Damaged, "{damage}");
        let text = error.to_string();
        assert!(text.starts_with("the journal cannot show a change: the record of c2"), "{damage}: {text}");
        for intact in [all[0], all[2]] {
            assert_eq!(journal.entry(intact).unwrap().unwrap().files, [edit_of("x")], "{damage}");
        }
        let listed = journal.list(&Filter::default()).unwrap();
        let state = |change: &Summary| (change.id.0, change.damage.is_some());
        // The list does not read texts.
        let is_text = damage.contains("splices") || damage.contains("diff");
        assert_eq!(
            listed.iter().map(state).collect::<Vec<_>>(),
            [(3, false), (2, !is_text), (1, false)],
            "{damage}"
        );
        let found = journal.check().unwrap().damage;
        assert!(found.iter().any(|problem| problem.contains("the record of c2")), "{damage}: {found:?}");
    }
}

#[test]
fn an_intact_journal_has_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let edit = done(&journal, ChangeKind::Edit);
    done(&journal, ChangeKind::Undo(edit.into()));
    journal.remember("s", &[("clipboard/a".into(), "text".into())]).unwrap();
    journal.note_shown("s", &file("x"), ContentHash::of(b"text"), b"text").unwrap();
    assert_eq!(journal.check().unwrap().damage, [""; 0]);
}

#[test]
fn damaged_texts_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let id = journal.begin(&record(ChangeKind::Edit, vec![edit_of("x")])).unwrap();
    let text = LastText::Short { text: b"after".to_vec(), hash: ContentHash::of(b"after") };
    journal.seal(id, &Aftereffects { memory: vec![], texts: vec![(file("x"), text)] }).unwrap();
    journal.note_shown("s", &file("x"), ContentHash::of(b"seen"), b"seen").unwrap();
    journal.remember("s", &[("clipboard/a".into(), "cut".into())]).unwrap();
    let other = ContentHash::of(b"other");
    assert_eq!(journal.last_text(&file("x"), other).unwrap().as_deref(), Some(&b"after"[..]));
    assert_eq!(journal.shown("s", &file("x")).unwrap().len(), 1);
    let database = open_database(folder.path());
    database
        .execute_batch(
            "UPDATE last_texts SET text = x'61'; UPDATE shown SET text = x'61';
             UPDATE session_memory SET text = 'cup'",
        )
        .unwrap();
    assert_eq!(journal.last_text(&file("x"), other).unwrap(), None);
    assert!(journal.shown("s", &file("x")).unwrap().is_empty());
    assert!(journal.recall("s", "clipboard/").unwrap_err().reason.contains("session `s`"));
    let found = journal.check().unwrap().damage;
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().filter(|problem| problem.contains("`x`")).count() == 2, "{found:?}");
}

#[test]
fn a_file_that_is_not_a_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("journal.db"), "not a database, but long enough to look".repeat(50))
        .unwrap();
    let error = SqliteJournal::open(folder.path(), "/root").unwrap_err().to_string();
    let path = std::path::absolute(folder.path().join("journal.db")).unwrap();
    let expected = format!(
        "the journal cannot be opened: `{}` is not a journal; move the file away to start a new journal",
        path.display()
    );
    assert_eq!(error, expected);
    assert!(SqliteJournal::open(&folder.path().join("missing"), "/root").is_err());
}

#[test]
fn another_schema_version_is_refused_and_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    open_database(folder.path()).pragma_update(None, "user_version", 99).unwrap();
    let path = folder.path().join("journal.db");
    let before = std::fs::read(&path).unwrap();
    let error = SqliteJournal::open(folder.path(), "/root").unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "the journal cannot be opened: `{}` has schema version 99, but this program needs version 3; update the \
             program, or move the file away to start a new journal",
            path.display()
        )
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
    std::fs::rename(&path, folder.path().join("old.db")).unwrap();
    done(&open_journal(folder.path()), ChangeKind::Edit);
}

#[cfg(unix)]
#[test]
fn uses_wal_and_is_private_to_the_user() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path(), "/root").unwrap();
    done(&journal, ChangeKind::Edit);
    let mode: String =
        open_database(folder.path()).pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    for name in ["journal.db", "journal.db-wal"] {
        let mode = std::fs::metadata(folder.path().join(name)).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_session_remembers_texts_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path(), "/root").unwrap();
    let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    journal.remember("a", &[text("clip/x", "1"), text("clip/y", "2"), text("mode", "m")]).unwrap();
    journal.remember("a", &[text("clip/x", "3")]).unwrap();
    journal.remember("b", &[text("clip/x", "other")]).unwrap();
    let again = SqliteJournal::open(folder.path(), "/root").unwrap();
    assert_eq!(again.recall("a", "clip/").unwrap(), [text("clip/x", "3"), text("clip/y", "2")]);
    assert_eq!(again.recall("b", "").unwrap(), [text("clip/x", "other")]);
    let elsewhere = SqliteJournal::open(folder.path(), "/other").unwrap();
    assert!(elsewhere.recall("a", "").unwrap().is_empty());
}

#[test]
fn a_proposal_is_pending_until_it_is_decided_once() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let mut moved = edit_of("from").inverse;
    moved.path_change = PathChange::Move(file("to"));
    let lines = |start, count| Lines { start, count };
    let place = Place { before: lines(1, 1), after: lines(1, 2) };
    moved.edits = vec![PlacedEdit {
        edit: 1,
        rung: Rung::Exact,
        differences: vec![],
        occurrences: 1,
        places: vec![place],
    }];
    moved.notes = vec!["a note".into()];
    moved.totals = Some(LineTotals { before: 1, after: 2 });
    let proposal = Proposal {
        origin: record(ChangeKind::Edit, vec![]).origin,
        description: Some("what for".into()),
        reason: "it is long".into(),
        files: vec![edit_of("x").inverse, moved],
        text: Default::default(),
        diff: "--- a\n".into(),
        notes: ProposalNotes { message: Some("a message".into()), context: 7, ..ProposalNotes::default() },
    };
    let first = journal.propose(&proposal).unwrap();
    let second = journal.propose(&Proposal { description: None, ..proposal.clone() }).unwrap();
    let third = journal.propose(&proposal).unwrap();
    let found = open_journal(folder.path()).proposal(first).unwrap().unwrap();
    assert_eq!((found.id, &found.proposal, &found.decision), (first, &proposal, &None));
    assert!(found.at > 1_700_000_000_000);

    let change = done(&journal, ChangeKind::Edit);
    let hunk = RejectedHunk { hunk: 2, by: "bob".into(), reason: Some("why".into()) };
    journal.record_rejected_hunks(third, std::slice::from_ref(&hunk)).unwrap();
    assert_eq!(journal.proposal(third).unwrap().unwrap().rejected_hunks, std::slice::from_ref(&hunk));
    let accepted =
        ProposalDecision::Accepted { by: "ada".into(), change, left_out: vec![hunk], edited: vec![3] };
    let rejected = ProposalDecision::Rejected { by: "ada".into(), reason: Some("no".into()) };
    journal.record_decision(first, &accepted).unwrap();
    journal.record_decision(second, &rejected).unwrap();
    assert_eq!(journal.proposal(first).unwrap().unwrap().decision, Some(accepted));
    assert_eq!(journal.proposal(second).unwrap().unwrap().decision, Some(rejected.clone()));
    let pending: Vec<_> = journal.proposals().unwrap().into_iter().map(|found| found.id).collect();
    assert_eq!(pending, [third]);

    let error = journal.record_decision(first, &rejected).unwrap_err().to_string();
    assert!(error.contains("the proposal p1 is not pending"), "{error}");
    let elsewhere = SqliteJournal::open(folder.path(), "/other").unwrap();
    assert!(elsewhere.proposals().unwrap().is_empty() && elsewhere.proposal(third).unwrap().is_none());
    assert!(elsewhere.record_decision(third, &rejected).is_err());
    assert!(journal.proposal(ProposalId(u64::MAX)).unwrap().is_none());
    open_database(folder.path()).execute("UPDATE proposal_files SET splices = x'01'", []).unwrap();
    assert!(journal.proposal(third).unwrap_err().reason.contains("the record of p3 (`x`"));
}

#[test]
fn the_last_text_of_a_file_is_kept_until_the_next_change() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open_journal(folder.path());
    let other = ContentHash::of(b"something else");
    let seal = |path: &str, text: LastText| {
        let id = journal.begin(&record(ChangeKind::Edit, vec![edit_of(path)])).unwrap();
        journal
            .seal(id, &Aftereffects { texts: vec![(file(path), text)], ..Aftereffects::default() })
            .unwrap();
    };
    let short = |text: &[u8]| LastText::Short { text: text.to_vec(), hash: ContentHash::of(text) };
    let left = |path: &str, but| journal.last_text(&file(path), but).unwrap();

    seal("a", short(b"one"));
    seal("b", short(b"two"));
    assert_eq!(left("a", other).unwrap(), b"one");
    assert_eq!(left("a", ContentHash::of(b"one")), None, "the file has this text");
    seal("a", short(b"three, and longer"));
    assert_eq!(left("a", other).unwrap(), b"three, and longer");
    assert_eq!(left("b", other).unwrap(), b"two");

    // A change that is recovered after its process died stores no text.
    let id = journal.begin(&record(ChangeKind::Edit, vec![edit_of("a")])).unwrap();
    assert_eq!(left("a", other).unwrap(), b"three, and longer", "it is not done yet");
    journal.seal(id, &Aftereffects::default()).unwrap();
    assert_eq!(left("a", other), None);

    seal("b", LastText::Unknown);
    assert_eq!(left("b", other), None);
}
