//! The tables, and how older ones become them.

use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

/// Each step brings a database from the version that is its index to the next one. Steps are
/// only ever added. Choices are written with `OR`: for a list SQLite makes a table of its own in every insert.
const STEPS: &[&str] = &[
    "
    CREATE TABLE changes (
        id          INTEGER PRIMARY KEY AUTOINCREMENT,
        root        TEXT NOT NULL,
        at          INTEGER NOT NULL,
        session     TEXT NOT NULL,
        agent       TEXT,
        dialect     TEXT NOT NULL,
        tool        TEXT NOT NULL,
        kind        TEXT NOT NULL CHECK (kind = 'edit' OR kind = 'undo' OR kind = 'redo'),
        of          INTEGER REFERENCES changes (id),
        description TEXT,
        approval    TEXT NOT NULL,
        state       TEXT NOT NULL CHECK (state = 'pending' OR state = 'done' OR state = 'abandoned'),
        undone_by   INTEGER REFERENCES changes (id),
        diff        TEXT NOT NULL,
        CHECK ((kind = 'edit') = (of IS NULL))
    ) STRICT;
    CREATE INDEX changes_by_root ON changes (root, id);

    -- One row per file: the change that takes it back, so `base` is the content after.
    CREATE TABLE files (
        change   INTEGER NOT NULL REFERENCES changes (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        path     TEXT NOT NULL,
        base     TEXT,
        fate     TEXT NOT NULL CHECK (fate = 'stays' OR fate = 'moves' OR fate = 'goes'),
        moved_to TEXT,
        after    TEXT,
        mode     INTEGER,
        rung     TEXT,
        splices  BLOB NOT NULL,
        PRIMARY KEY (change, position),
        CHECK ((fate = 'moves') = (moved_to IS NOT NULL))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX files_by_path ON files (path);
    CREATE INDEX files_by_target ON files (moved_to) WHERE moved_to IS NOT NULL;
",
    "
    CREATE TABLE memory (
        root    TEXT NOT NULL,
        session TEXT NOT NULL,
        name    TEXT NOT NULL,
        text    TEXT NOT NULL,
        PRIMARY KEY (root, session, name)
    ) STRICT, WITHOUT ROWID;
",
    "
    CREATE TABLE proposals (
        id          INTEGER PRIMARY KEY AUTOINCREMENT,
        root        TEXT NOT NULL,
        at          INTEGER NOT NULL,
        session     TEXT NOT NULL,
        agent       TEXT,
        dialect     TEXT NOT NULL,
        tool        TEXT NOT NULL,
        description TEXT,
        why         TEXT NOT NULL,
        diff        TEXT NOT NULL,
        verdict     TEXT NOT NULL DEFAULT 'waiting' CHECK (verdict = 'waiting' OR verdict = 'accepted' OR verdict = 'rejected'),
        settled_by  TEXT,
        reason      TEXT,
        change      INTEGER REFERENCES changes (id),
        CHECK ((verdict = 'waiting') = (settled_by IS NULL)),
        CHECK ((verdict = 'accepted') = (change IS NOT NULL))
    ) STRICT;
    CREATE INDEX proposals_that_wait ON proposals (root, id) WHERE verdict = 'waiting';

    -- One row per file: the change that is proposed, so `base` is the content before.
    CREATE TABLE proposal_files (
        proposal INTEGER NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        path     TEXT NOT NULL,
        base     TEXT,
        fate     TEXT NOT NULL CHECK (fate = 'stays' OR fate = 'moves' OR fate = 'goes'),
        moved_to TEXT,
        after    TEXT,
        mode     INTEGER,
        rung     TEXT,
        splices  BLOB NOT NULL,
        PRIMARY KEY (proposal, position),
        CHECK ((fate = 'moves') = (moved_to IS NOT NULL))
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE files ADD COLUMN executable INTEGER;
    ALTER TABLE proposal_files ADD COLUMN executable INTEGER;
",
    "
    -- What an undo or a redo takes back, in the order in which it does; `changes.of` is the first of them.
    CREATE TABLE taken_back (
        change   INTEGER NOT NULL REFERENCES changes (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        of       INTEGER NOT NULL REFERENCES changes (id),
        PRIMARY KEY (change, position)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO taken_back SELECT id, 0, of FROM changes WHERE of IS NOT NULL;

    -- A forgotten change has no files and no diff any more; its row stays as long as others name it.
    ALTER TABLE changes ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE changes ADD COLUMN intent TEXT;
    ALTER TABLE memory ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
    UPDATE memory SET at = unixepoch() * 1000;

    -- So that the removal of a change finds what names it.
    CREATE INDEX taken_back_by_what ON taken_back (of);
    CREATE INDEX changes_by_of ON changes (of) WHERE of IS NOT NULL;
    CREATE INDEX changes_by_undone_by ON changes (undone_by) WHERE undone_by IS NOT NULL;
    CREATE INDEX proposals_by_change ON proposals (change) WHERE change IS NOT NULL;
    CREATE INDEX changes_that_wait ON changes (root, id) WHERE state = 'pending';

    -- What someone else did to the file before this change; what the file holds after it, as long as it is the last.
    ALTER TABLE files ADD COLUMN gap BLOB;
    ALTER TABLE files ADD COLUMN gap_left TEXT;
    ALTER TABLE files ADD COLUMN text BLOB;
    CREATE INDEX files_with_text ON files (path, change) WHERE text IS NOT NULL;
",
    "
    -- One row per call, for statistics: how it ended, and no path or text of a file.
    CREATE TABLE calls (
        id      INTEGER PRIMARY KEY,
        root    TEXT NOT NULL,
        at      INTEGER NOT NULL,
        session TEXT NOT NULL,
        agent   TEXT,
        dialect TEXT NOT NULL,
        tool    TEXT NOT NULL,
        status  TEXT NOT NULL,
        code    TEXT NOT NULL,
        cause   TEXT,
        rung    TEXT,
        classes TEXT
    ) STRICT;
",
    "
    -- What is said of a proposal and of each of its files once it is made, as JSON.
    ALTER TABLE proposals ADD COLUMN remarks TEXT;
    ALTER TABLE proposal_files ADD COLUMN remarks TEXT;
",
    "
    -- The proposal that a call became, so that its end can be noted once a person has decided.
    ALTER TABLE calls ADD COLUMN proposal INTEGER;
",
    "
    -- What a file holds after our last change of it: a row per path, written over by the next change.
    CREATE TABLE texts (
        id     INTEGER PRIMARY KEY,
        root   TEXT NOT NULL,
        path   TEXT NOT NULL,
        change INTEGER NOT NULL,
        hash   TEXT NOT NULL,
        text   BLOB NOT NULL,
        UNIQUE (root, path)
    ) STRICT;
    INSERT INTO texts (root, path, change, hash, text)
        SELECT changes.root, files.path, files.change, files.base, files.text
        FROM files JOIN changes ON changes.id = files.change
        WHERE files.text IS NOT NULL AND files.base IS NOT NULL AND changes.state = 'done'
        ORDER BY files.change
        ON CONFLICT DO UPDATE SET change = excluded.change, hash = excluded.hash, text = excluded.text;
    DROP INDEX files_with_text;
    -- The column stays: a process of an older program may have the journal open, and writes to it.
    UPDATE files SET text = NULL WHERE text IS NOT NULL;
",
];

#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("it has version {found}, and this program knows versions up to {known}; use a newer one")]
    Newer { found: usize, known: usize },
}

/// Sets a connection up and brings its database to the present version.
pub(super) fn prepare(connection: &mut Connection, busy: Duration) -> Result<(), SchemaError> {
    connection.busy_timeout(busy)?;
    // A call uses more statements than are kept by default.
    connection.set_prepared_statement_cache_capacity(64);
    // Plans do not depend on the values that are bound: else SQLite makes a kept statement anew for every call.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Before anything is written: a database of a newer program stays as it is.
    version(connection)?;
    use_wal(connection, busy)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for step in &STEPS[found..] {
        transaction.execute_batch(step)?;
    }
    if found < STEPS.len() {
        transaction.pragma_update(None, "user_version", STEPS.len() as i64)?;
    }
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection) -> Result<usize, SchemaError> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let found = usize::try_from(found).unwrap_or(usize::MAX);
    if found > STEPS.len() {
        return Err(SchemaError::Newer { found, known: STEPS.len() });
    }
    Ok(found)
}

/// Two processes that make the database at once get in each other's way here, and SQLite does not
/// wait by itself in this one place.
fn use_wal(connection: &Connection, busy: Duration) -> rusqlite::Result<()> {
    let deadline = Instant::now() + busy;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}

/// Whether another process was in the way.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_of_the_first_days_keeps_what_it_knew() {
        let mut connection = Connection::open_in_memory().unwrap();
        for step in &STEPS[..4] {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "user_version", 4).unwrap();
        let change = "INSERT INTO changes (root, at, session, dialect, tool, kind, of, approval, state, undone_by, diff)
                      VALUES ('/', 1, 's', 'd', 't', ?1, ?2, 'auto', 'done', NULL, '')";
        connection.execute(change, rusqlite::params!["edit", None::<i64>]).unwrap();
        connection.execute(change, rusqlite::params!["undo", 1]).unwrap();
        connection.execute("UPDATE changes SET undone_by = 2 WHERE id = 1", []).unwrap();
        connection.execute("INSERT INTO memory VALUES ('/', 's', 'clipboard/x', 'text')", []).unwrap();
        prepare(&mut connection, Duration::from_secs(1)).unwrap();
        let one = |query: &str| connection.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(one("SELECT of FROM taken_back WHERE change = 2"), 1);
        assert_eq!(one("SELECT count(*) FROM taken_back"), 1);
        assert_eq!(one("SELECT sum(forgotten) FROM changes"), 0);
        assert!(one("SELECT at FROM memory") > 1_700_000_000_000, "its age counts from now");
        assert_eq!(one("SELECT count(*) FROM changes WHERE intent IS NULL"), 2);
    }

    #[test]
    fn the_last_texts_of_files_move_to_their_own_table() {
        let mut connection = Connection::open_in_memory().unwrap();
        for step in &STEPS[..8] {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "user_version", 8).unwrap();
        let change = "INSERT INTO changes (root, at, session, dialect, tool, kind, approval, state, diff)
                      VALUES ('/', 1, 's', 'd', 't', 'edit', 'auto', ?1, '')";
        let file = "INSERT INTO files (change, position, path, base, fate, splices, text)
                    VALUES (?1, 0, ?2, 'b3:1', 'stays', x'', ?3)";
        for (id, state, path, text) in [
            (1, "done", "a", None),
            (2, "done", "a", Some(&b"left"[..])),
            (3, "pending", "a", Some(&b"not yet"[..])),
            (4, "done", "b", None),
        ] {
            connection.execute(change, [state]).unwrap();
            connection.execute(file, rusqlite::params![id, path, text]).unwrap();
        }
        prepare(&mut connection, Duration::from_secs(1)).unwrap();
        let all = "SELECT group_concat(path || change || hash || CAST(text AS TEXT)) FROM texts";
        let texts: String = connection.query_row(all, [], |row| row.get(0)).unwrap();
        assert_eq!(texts, "a2b3:1left");
        let old: i64 = connection.query_row("SELECT count(text) FROM files", [], |row| row.get(0)).unwrap();
        assert_eq!(old, 0);
    }
}
