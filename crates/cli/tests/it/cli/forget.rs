//! `slipstitch forget`.

use super::rig::Rig;

const SECRET: &str = "hunter2-horse-battery";

fn rig_with_secret() -> Rig {
    let rig = Rig::with("one\ntwo\n");
    rig.allow_unattended_review();
    rig.run(["edit", "a.txt", "--old", "one", "--new", SECRET]).assert_done();
    rig.run(["edit", "a.txt", "--old", SECRET, "--new", "1"]).assert_done();
    rig.run(["--session", "agent", "write", "b.txt", "--content", "b\n"]).assert_done();
    rig
}

#[test]
fn forgets_a_file_after_confirmation() {
    let rig = rig_with_secret();
    let refused = rig.run(["forget", "--file", "a.txt"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("needs confirmation") && refused.err.contains("--yes"), "{refused:?}");
    let preview = rig.run(["forget", "--file", "a.txt", "--dry-run"]);
    preview.assert_done();
    assert!(preview.out.starts_with("Would forget 2 changes (c1, c2)"), "{preview:?}");
    assert!(rig.run(["show", "c1"]).out.contains(SECRET));
    let done = rig.run(["forget", "--file", "a.txt", "--yes"]);
    done.assert_done();
    assert!(done.out.starts_with("Forgot 2 changes (c1, c2)"), "{done:?}");
    let shown = rig.run(["show", "c1"]);
    assert!(shown.code == 1 && shown.err.contains("erased with `slipstitch forget`"), "{shown:?}");
    assert_eq!(rig.run(["log", "--all"]).out.lines().count(), 1);
    assert_eq!(rig.run(["forget", "--file", "a.txt", "--yes"]).code, 1, "there is nothing left");
    rig.run(["doctor"]).assert_done();
}

#[test]
fn a_selection_is_required_and_ids_are_checked() {
    let rig = rig_with_secret();
    assert_eq!(rig.run(["forget", "--yes"]).code, 2);
    assert_eq!(rig.run(["forget", "x7", "--yes"]).code, 2);
    for (id, code, answer) in [
        ("c99", "unknown_change", "there is no change c99 in this root's journal"),
        ("p99", "unknown_proposal", "there is no proposal p99 in this root's journal"),
    ] {
        let unknown = rig.run(["forget", "c1", id, "--yes", "--json"]);
        assert_eq!(unknown.code, 2, "{unknown:?}");
        assert!(unknown.out.contains(code) && unknown.out.contains(answer), "{unknown:?}");
        assert!(!unknown.out.contains("state folder"), "{unknown:?}");
    }
    assert_eq!(rig.run(["undo", "c99"]).code, 2, "the same as for undo");
    let one = rig.run(["forget", "c1", "--yes"]);
    assert!(one.out.contains("may contain the same text: c2"), "{one:?}");
    let again = rig.run(["forget", "c1", "--yes", "--json"]);
    assert!(again.code == 1 && again.out.contains("forgotten_change"), "{again:?}");
    let session = rig.run(["forget", "--session", "agent", "--yes", "--json"]);
    session.assert_done();
    assert!(session.out.contains("\"changes\":[\"c3\"]"), "{session:?}");
}

#[test]
fn what_another_process_keeps_in_use_is_erased_later() {
    let rig = rig_with_secret();
    let journal = rig.outside().join("state/journal.db");
    let reader = rusqlite::Connection::open(&journal).unwrap();
    let hold = || reader.execute_batch("BEGIN; SELECT count(*) FROM changes").unwrap();
    let is_left = || {
        ["journal.db", "journal.db-wal"].iter().any(|name| {
            let bytes = std::fs::read(rig.outside().join("state").join(name)).unwrap_or_default();
            bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
        })
    };
    for finish in [&["forget", "--file", "a.txt", "--yes"][..], &["gc"]] {
        rig.put("a.txt", "one\n");
        rig.run(["edit", "a.txt", "--old", "one", "--new", SECRET]).assert_done();
        rig.run(["edit", "a.txt", "--old", SECRET, "--new", "1"]).assert_done();
        hold();
        let run = rig.run(["forget", "--file", "a.txt", "--yes"]);
        assert_eq!(run.code, 3, "{run:?}");
        assert!(run.err.contains("Forgot 2 changes") || run.err.contains("Forgot 4 changes"), "{run:?}");
        assert!(run.err.contains("Deleted text is still in the journal's files"), "{run:?}");
        assert!(is_left());
        let again = rig.run(["forget", "--file", "a.txt", "--yes"]);
        assert!(again.code == 3 && again.err.contains("still in the journal's files"), "{again:?}");
        let doctor = rig.run(["doctor"]);
        assert!(doctor.code == 3 && doctor.out.contains("forgotten text is still"), "{doctor:?}");
        reader.execute_batch("ROLLBACK").unwrap();
        let run = rig.run(finish);
        run.assert_done();
        assert!(run.out.contains("Erased what an earlier `slipstitch forget`"), "{run:?}");
        assert!(!is_left());
        assert!(!rig.run(["doctor"]).out.contains("forgotten text is still"));
    }
}
