use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

/// A log with several transactions of several pages each, as a killed process leaves it.
fn write_log(folder: &TempDir) -> (PathBuf, Vec<u8>) {
    let at = |name: &str| folder.path().join(name);
    let connection = Connection::open(at("original.db")).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
        .unwrap();
    for number in 0..4 {
        connection.execute("INSERT INTO t (x) VALUES (?)", [format!("{number}").repeat(9_000)]).unwrap();
    }
    let bytes = fs::read(at("original.db-wal")).unwrap();
    drop(connection);
    (at("log"), bytes)
}

/// The offset of each frame, and whether it ends a transaction.
fn frames(log: &[u8]) -> Vec<(usize, bool)> {
    let size = FRAME_HEADER + read_u32(log, 8) as usize;
    (HEADER..log.len()).step_by(size).map(|at| (at, read_u32(log, at + 4) != 0)).collect()
}

#[test]
fn an_intact_log_and_an_interrupted_write_are_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let (wal, log) = write_log(&folder);
    let frames = frames(&log);
    let (last, _) = *frames.last().unwrap();
    let mut torn_page = log.clone();
    torn_page[last + FRAME_HEADER + 100] ^= 1;
    let cases = [
        log.clone(),
        Vec::new(),
        log[..20].to_vec(),
        log[..HEADER].to_vec(),
        log[..last].to_vec(),
        log[..last + 10].to_vec(),
        log[..last + FRAME_HEADER + 7].to_vec(),
        torn_page,
    ];
    for bytes in cases {
        for cause in [Interruption::Kill, Interruption::PowerCut] {
            fs::write(&wal, &bytes).unwrap();
            assert_eq!(find_damage(&wal, cause).unwrap(), None, "{cause:?}, {} bytes", bytes.len());
        }
    }
    // A power cut can lose any page that was not flushed.
    let commits: Vec<usize> = (0..frames.len()).filter(|&at| frames[at].1).collect();
    let start = commits[commits.len() - 2] + 1;
    assert!(start + 1 < frames.len(), "it has several pages");
    let mut lost_page = log.clone();
    lost_page[frames[start].0..frames[start + 1].0].fill(0);
    fs::write(&wal, &lost_page).unwrap();
    assert_eq!(find_damage(&wal, Interruption::PowerCut).unwrap(), None);
    assert!(find_damage(&wal, Interruption::Kill).unwrap().is_some(), "a kill cannot");
}

#[test]
fn a_bit_that_flips_before_the_end_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (wal, log) = write_log(&folder);
    let frames = frames(&log);
    let last_page = frames[frames.len() - 1].0;
    for at in (0..last_page).step_by(97).chain(HEADER..HEADER + FRAME_HEADER) {
        let mut flipped = log.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&wal, &flipped).unwrap();
        assert!(find_damage(&wal, Interruption::Kill).unwrap().is_some(), "byte {at} of {}", log.len());
    }
}

#[test]
fn pages_of_an_older_log_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let connection = Connection::open(at("db")).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").unwrap();
    let insert = || connection.execute("INSERT INTO t VALUES (?)", ["x".repeat(20_000)]).unwrap();
    for _ in 0..3 {
        insert();
    }
    connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
    insert();
    let log = fs::read(at("db-wal")).unwrap();
    assert!(
        frames(&log).iter().any(|(frame, _)| log[frame + 8..frame + 16] != log[16..24]),
        "some are older"
    );
    assert_eq!(find_damage(&at("db-wal"), Interruption::Kill).unwrap(), None);
}

#[test]
fn only_the_first_to_open_a_journal_examines_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let (wal, mut log) = write_log(&folder);
    let first = OpenMark::take(folder.path(), &wal).unwrap();
    log[HEADER + FRAME_HEADER + 9] ^= 4;
    fs::write(&wal, &log).unwrap();
    let second = OpenMark::take(folder.path(), &wal).unwrap();
    assert_eq!(noted_damage(folder.path()), Vec::<String>::new(), "the log is in use");
    drop((first, second));
    drop(OpenMark::take(folder.path(), &wal).unwrap());
    let damage = noted_damage(folder.path());
    if slipstitch_platform::process::boot_id().is_empty() {
        // It may have been a power cut, after which pages can be missing in any order.
        assert_eq!(damage, Vec::<String>::new());
        return;
    }
    assert!(damage[0].contains("page 1 is damaged"), "{damage:?}");
    fs::remove_file(&wal).unwrap();
    drop(OpenMark::take(folder.path(), &wal).unwrap());
    assert_eq!(noted_damage(folder.path()), damage, "it stays until someone has seen it");
}
